# What the pictures show, computed once for base graphics and for ggplot2: regions followed along a
# path, positions on the axes, panels.

# ---- regions along a path ------------------------------------------------------------------------

# The regions of each fit: list(feature, region, value, size) for each row of the grid. `feature` is
# signed (a region that changes its sign counts as a new one) and parallel to `region`; `value` and
# `size` have an element per region.
row_regions <- function(fit, rows) {
  beta <- fit$beta[, rows, drop = FALSE]
  # If coefficients are not constant over regions (Laplacian, or coefficients converted back to the
  # scale of x), the components of the support are drawn, at their mean.
  constant <- makes_regions(fit) && !fit$control$standardize
  label <- label_parts(beta, fit$graph, beta@x, if (constant) 0 else Inf)
  lapply(seq_along(rows), function(k) {
    entries <- seq.int(beta@p[k] + 1, length.out = beta@p[k + 1] - beta@p[k])
    region <- label[entries]
    size <- tabulate(region, max(0L, region))
    value <- as.vector(rowsum(beta@x[entries], region, reorder = TRUE)) / size
    list(feature = (beta@i[entries] + 1L) * as.integer(sign(value[region])), region = region,
         value = value, size = size)
  })
}

# Pairs of sets that share features, the largest overlap first: list(old, new). Sets are given by
# their features, in any order; a feature may be in several sets.
overlaps <- function(old_feature, old_set, new_feature, new_set) {
  by_feature <- order(old_feature)
  runs <- rle(old_feature[by_feature])
  run <- match(new_feature, runs$values)
  found <- which(!is.na(run))
  times <- runs$lengths[run[found]]
  first <- (cumsum(runs$lengths) - runs$lengths + 1L)[run[found]]
  old <- old_set[by_feature[sequence(times, first)]]
  new <- rep(new_set[found], times)
  key <- complex(real = old, imaginary = new)
  pairs <- unique(key)
  sorted <- order(-tabulate(match(key, pairs), length(pairs)), Re(pairs), Im(pairs))
  list(old = as.integer(Re(pairs))[sorted], new = as.integer(Im(pairs))[sorted])
}

# Matches sets one to one, greedily: takes the pairs that are the first for both of their sets, then
# does the same with the sets that are left.
match_sets <- function(pairs) {
  old <- new <- integer(0)
  while (length(pairs$old)) {
    take <- !duplicated(pairs$old) & !duplicated(pairs$new)
    old <- c(old, pairs$old[take])
    new <- c(new, pairs$new[take])
    left <- !pairs$old %in% old & !pairs$new %in% new
    pairs <- list(old = pairs$old[left], new = pairs$new[left])
  }
  list(old = old, new = new)
}

# Regions followed from row to row by their overlap: a data frame with a line for each region and
# step. A region that splits off starts at its parent's value, one that merges ends at the value of
# the region it merged into; others start and end at zero.
follow_regions <- function(regions) {
  before <- list(feature = integer(0), region = integer(0), value = numeric(0), size = integer(0),
                 track = integer(0))
  tracks <- 0L
  steps <- vector("list", length(regions))
  for (k in seq_along(regions)) {
    now <- regions[[k]]
    pairs <- overlaps(before$feature, before$region, now$feature, now$region)
    kept <- match_sets(pairs)
    now$track <- integer(length(now$value))
    now$track[kept$new] <- before$track[kept$old]
    born <- which(now$track == 0L)
    now$track[born] <- tracks + seq_along(born)
    tracks <- tracks + length(born)
    gone <- setdiff(seq_along(before$value), kept$old)
    value_or_zero <- function(values, at) ifelse(is.na(at), 0, values[at])
    steps[[k]] <- rbind(
      if (k > 1) step_points(now$track[born], k - 1L, 0L,
                             value_or_zero(before$value, pairs$old[match(born, pairs$new)])),
      step_points(now$track, k, now$size, now$value),
      step_points(before$track[gone], k, 0L,
                  value_or_zero(now$value, pairs$new[match(gone, pairs$old)]))
    )
    regions[[k]] <- before <- now
  }
  lines <- do.call(rbind, steps)
  list(lines = lines[order(lines$region, lines$step), ], last = last_features(regions))
}

step_points <- function(region, step, size, value) {
  n <- length(region)
  data.frame(region = region, step = rep(step, n), size = rep_len(size, n), value = value)
}

# The features of each region in the last row that has it: list(feature, region). The regions of the
# last row come first.
last_features <- function(regions) {
  feature <- region <- integer(0)
  for (now in rev(regions)) {
    track <- now$track[now$region]
    new <- !track %in% region
    feature <- c(feature, now$feature[new])
    region <- c(region, track[new])
  }
  list(feature = feature, region = region)
}

# Regions of one panel get the numbers of the regions in the panel before that they overlap most.
join_panels <- function(panels) {
  before <- list(feature = integer(0), region = integer(0))
  most <- 0L
  for (k in seq_along(panels)) {
    last <- panels[[k]]$last
    pairs <- overlaps(before$feature, before$region, last$feature, last$region)
    same <- match_sets(pairs)
    number <- integer(max(0L, panels[[k]]$lines$region))
    number[same$new] <- same$old
    new <- which(number == 0L)
    number[new] <- most + seq_along(new)
    most <- max(most, number)
    panels[[k]]$lines$region <- number[panels[[k]]$lines$region]
    last$region <- number[last$region]
    # Regions that this panel does not have are kept for the next one.
    lost <- !before$region %in% last$region
    before <- list(feature = c(last$feature, before$feature[lost]),
                   region = c(last$region, before$region[lost]))
  }
  panels
}

# ---- panels --------------------------------------------------------------------------------------

# Which rows make up the panels of a grid, in the order of a path: list of list(rows, lambda), with
# `lambda` the values of the lambda that a panel holds fixed.
grid_panels <- function(grid, along) {
  fixed <- if (along == "lambda2") "lambda1" else "lambda2"
  group <- grid[[fixed]]
  # Each lambda2 may have its own sequence of lambda1; then their k-th values belong together.
  if (along == "lambda2" && !has_shared_lambda1(grid)) {
    group <- -stats::ave(grid$lambda1, grid$lambda2, FUN = seq_along)
  }
  panels <- split(seq_len(nrow(grid)), factor(group, sort(unique(group), decreasing = TRUE)))
  lapply(unname(panels), function(rows) list(rows = rows, lambda = unique(grid[[fixed]][rows])))
}

has_shared_lambda1 <- function(grid) {
  sequences <- split(grid$lambda1, grid$lambda2)
  all(vapply(sequences, identical, NA, sequences[[1]]))
}

# ---- positions -----------------------------------------------------------------------------------

# Logarithms of penalties; zero lies a step to the left of the smallest.
log_position <- function(lambda, all = lambda) {
  position <- log10(lambda)
  if (any(lambda == 0)) position[lambda == 0] <- zero_position(all)
  position
}

zero_position <- function(all) {
  positive <- sort(unique(log10(all[all > 0])))
  if (!length(positive)) return(0)
  step <- if (length(positive) > 1) diff(range(positive)) / (length(positive) - 1) else 0.5
  positive[1] - max(step, 0.1)
}

# Ticks of an axis of such positions: list(at, labels).
log_ticks <- function(all, count = 5) {
  positive <- all[all > 0]
  at <- if (length(unique(positive)) < 2) log10(unique(positive)) else {
    log10(grDevices::axisTicks(range(log10(positive)), log = TRUE, nint = count))
  }
  labels <- lambda_label(10^at)
  if (any(all == 0)) {
    at <- c(zero_position(all), at)
    labels <- c("0", labels)
  }
  list(at = at, labels = labels)
}

# ---- the data of a path picture ------------------------------------------------------------------

# Everything a picture of paths shows: `lines` (panel, region, row, x, value, size), `ends` (where a
# region's line ends, for its label), `counts` (number of regions at each x), `panels`, `ticks` of
# the x axis (NULL: ordinary), `all` (how many panels there could be), `fixed` (the lambda that the
# panels hold fixed), and whether the x axis runs backwards and is the same in all panels.
path_data <- function(fit, xvar, which = NULL, most = most_panels) {
  all_panels <- grid_panels(fit$grid, xvar)
  count <- length(all_panels)
  shown <- all_panels[if (is.null(which)) spread_panels(count, most) else check_which(which, count)]
  rows <- unlist(lapply(shown, `[[`, "rows"))
  x <- path_position(fit, xvar)
  followed <- join_panels(lapply(shown, function(panel) {
    follow_regions(row_regions(fit, panel$rows))
  }))
  lines <- do.call(rbind, lapply(seq_along(shown), function(k) {
    lines <- followed[[k]]$lines
    row <- shown[[k]]$rows[lines$step]
    data.frame(panel = rep(k, nrow(lines)), region = lines$region, row = row, x = x[row],
               value = lines$value, size = lines$size)
  }))
  last <- vapply(shown, function(panel) panel$rows[length(panel$rows)], 1L)
  lines$region <- number_by_size(lines, last)
  list(
    lines = lines, ends = lines[lines$row == last[lines$panel] & lines$size > 0, ],
    counts = data.frame(panel = rep(seq_along(shown), lengths(lapply(shown, `[[`, "rows"))),
                        row = rows, x = x[rows], df = drawn_regions(fit)[rows]),
    panels = shown, all = length(all_panels), fixed = if (xvar == "lambda2") 1 else 2,
    ticks = if (xvar %in% c("lambda1", "lambda2")) log_ticks(fit$grid[[xvar]][rows]),
    reversed = xvar %in% c("lambda1", "lambda2"), shared = xvar != "norm"
  )
}

path_position <- function(fit, xvar) {
  switch(xvar,
    norm = Matrix::colSums(abs(fit$beta)),
    dev = fit$grid$dev.ratio,
    log_position(fit$grid[[xvar]])
  )
}

# The number of regions on the upper axis: as many as there are lines.
drawn_regions <- function(fit) {
  constant <- makes_regions(fit) && !fit$control$standardize
  if (constant) fit$grid$df else fit$grid$regions
}

# Numbers for regions. Those that exist at the end of a panel come before the others, then the
# largest of each panel; a region's size is its sum of absolute coefficients.
number_by_size <- function(lines, last) {
  if (!nrow(lines)) return(integer(0))
  sum <- tapply(abs(lines$value) * lines$size, list(lines$region, lines$panel), max)
  rank <- apply(sum, 2, function(s) rank(-s, na.last = "keep", ties.method = "first"))
  rank <- apply(matrix(rank, nrow(sum)), 1, min, na.rm = TRUE)
  ended <- lines$region[lines$row == last[lines$panel] & lines$size > 0]
  gone <- !rownames(sum) %in% ended
  largest <- apply(sum, 1, max, na.rm = TRUE)
  match(as.character(lines$region), rownames(sum)[order(gone, rank, -largest)])
}

# ---- the data of a cross-validation's pictures ---------------------------------------------------

# `rows`: the grid with cvm and its limits, x positions and panels; `marks`: the chosen rows, one
# line each; `title`: the row that other functions take; `default`: the panels with chosen rows,
# that row's first; `target`: the line of one standard error; `notes`: remarks about chosen rows.
cv_plot_data <- function(object) {
  grid <- object$grid
  lambda2 <- sort(unique(grid$lambda2), decreasing = TRUE)
  rows <- data.frame(
    row = seq_len(nrow(grid)), lambda1 = grid$lambda1, lambda2 = grid$lambda2, df = grid$df,
    x = log_position(grid$lambda1), panel = match(grid$lambda2, lambda2),
    cvm = object$cvm, cvlo = object$cvlo, cvup = object$cvup
  )
  index <- object$index[!is.na(object$index)]
  marks <- cbind(rows[index, ], mark = names(index))
  row <- map_row(object, NULL, NULL)
  larger <- larger_is_better(object$type.measure)
  list(rows = rows, marks = marks, lambda2 = lambda2, name = object$name,
       title = choice_title(object, row), default = unique(c(rows$panel[row], marks$panel)),
       notes = choice_notes(object), ticks = log_ticks(grid$lambda1), target = one_se_line(object),
       target_title = paste("best", if (larger) "-" else "+", "1 standard error (bars)"))
}

# The same for some of the panels only: a mark or a title of a row that is not in them would be
# taken for one that is.
choices_among <- function(data, which) {
  drawn <- data$marks$panel %in% which
  if (!data$default[1] %in% which) data["title"] <- list(NULL)
  if (!all(drawn)) {
    hidden <- paste0("lambda.", data$marks$mark[!drawn], " (panel ", data$marks$panel[!drawn], ")")
    data$notes <- c(paste0("Not in ", if (length(which) == 1) "this panel: " else "these panels: ",
                           paste(hidden, collapse = ", "), "."), data$notes)
  }
  data$marks <- data$marks[drawn, ]
  data
}

# The worst value that is still within one standard error of the best.
one_se_line <- function(object) {
  limits <- if (larger_is_better(object$type.measure)) object$cvlo else object$cvup
  limits[object$index[["min"]]]
}

# The cells of a heat map in the order in which they are drawn, with their value. The largest
# lambda2 is the band on top. Rectangles that meet leave hairlines where a viewer smooths edges, so
# each cell reaches to the right end of its band, and into the band above as far as that covers it;
# what is drawn later hides this.
heat_cells <- function(rows) {
  bands <- lapply(unname(split(rows, -rows$panel)), function(part) {
    part <- part[order(part$x), ]
    edges <- cell_edges(part$x)
    y <- max(rows$panel) + 1 - part$panel
    data.frame(row = part$row, left = edges$left, right = max(edges$right), bottom = y - 0.5,
               top = y + 0.5, value = part$cvm)
  })
  do.call(rbind, lapply(seq_along(bands), function(k) {
    rbind(bands[[k]], if (k < length(bands)) under_band(bands[[k]], bands[[k + 1]]))
  }))
}

# The parts of a band's cells that extend under the band above it.
under_band <- function(cells, above) {
  cells$left <- pmax(cells$left, min(above$left))
  cells$right <- pmin(cells$right, max(above$right))
  cells$bottom <- cells$top - 0.25
  cells$top <- cells$top + 0.25
  cells[cells$left < cells$right, ]
}

# Edges of the cells of a heat map: halfway between neighbours, in each row of the picture.
cell_edges <- function(x) {
  order <- order(x)
  sorted <- x[order]
  middle <- (sorted[-1] + sorted[-length(x)]) / 2
  half <- if (length(x) > 1) diff(sorted)[c(1, length(x) - 1)] / 2 else c(0.1, 0.1)
  edges <- data.frame(left = c(sorted[1] - half[1], middle),
                      right = c(middle, sorted[length(x)] + half[2]))
  edges[order(order), ]
}
