# A grid of penalties that refines itself.
#
# Without `lambda2` a cross-validation works in rounds. The first one is a coarse sweep over
# lambda2, with 0 at its end, and over every second lambda1. Each later round adds paths where they
# can change the choice: beyond the edge of the grid if a chosen row lies on it, between two lambda2
# if one of them has rows within one standard error of the best, and between the lambda1 of a chosen
# row and its neighbours. It ends when a round has not changed the chosen rows, or when `nlambda2`
# paths are spent. What is added depends on the scores alone, so it is the same under every plan and
# when a run is resumed, and it is repeated inside of outer folds. The last path of the budget goes
# through the centre of the rows that the rule weighs, where lambda.stable is.

default_budget <- 12
coarse_count <- 5       # positive lambda2 of the first round
refining_rounds <- 3    # how many rounds the rest of the budget is spread over
finest_ratio <- 1.5     # neighbouring lambda2 whose ratio is below this are close enough
close_enough <- 0.02    # decades between the centre and a row that serves for it
lowest_share <- 1e-4    # lambda1 is not extended below this share of the largest

# What a search starts from: list(budget, spent, lambda2), or NULL if the user gave `lambda2`.
start_search <- function(view) {
  if (length(view$lambda2)) return(NULL)
  budget <- view$control$nlambda2
  largest <- start_facts(view, 0)$lambda2_max
  count <- max(1, min(coarse_count, budget - 1))
  lambda2 <- c(geometric(largest, 0.01, count), if (budget > 1) 0)
  list(budget = budget, spent = length(lambda2), lambda2 = lambda2,
       step = if (count > 1) 100^(1 / (count - 1)) else 10)
}

# The view whose own penalties are those of the coarse sweep. If that is all that the budget allows,
# the sweep has every lambda1.
coarse_view <- function(view, search) {
  view$lambda2 <- search$lambda2
  if (search$budget > search$spent) view$control$nlambda1 <- coarse_nlambda1(view$control)
  view
}

coarse_nlambda1 <- function(control) {
  if (control$nlambda1 < 3) control$nlambda1 else control$nlambda1 %/% 2 + 1
}

# How many paths a search may fit to one set of rows; one of the user's own counts as one.
path_units <- function(problem) if (length(problem$lambda2)) 1 else problem$control$nlambda2

geometric <- function(first, ratio, count) {
  if (count == 1) first else first * ratio^((seq_len(count) - 1) / (count - 1))
}

# The paths to add in the next round: a list of list(lambda1, lambda2), empty if the search is over.
# `cv` has been chosen from; `before` are the penalties that the round before it chose.
paths_to_add <- function(cv, view, search, before) {
  left <- search$budget - search$spent - 1  # the last one goes through the centre
  if (is.null(search) || left < 1) return(list())
  edges <- edge_paths(cv, view, search)
  if (!length(edges) && identical(chosen_penalties(cv), before)) return(list())
  most <- min(left, ceiling((search$budget - coarse_count - 1) / refining_rounds))
  found <- drop_empty(c(
    edges, gap_paths(cv, view, search$step), lapply(unique_paths(cv), denser_path, cv, view),
    gap_paths(cv, view, finest_ratio)
  ))
  new <- !duplicated(vapply(found, function(path) path$lambda2[1], 1))
  utils::head(found[new], max(1, most))
}

# The rows that end the search when they stop changing.
leading_rows <- function(cv) unique(stats::na.omit(unname(cv$index[c("stable", "min")])))

chosen_penalties <- function(cv) {
  rows <- leading_rows(cv)
  list(cv$full$lambda1[rows], cv$full$lambda2[rows])
}

# ---- beyond the edges ----------------------------------------------------------------------------

edge_paths <- function(cv, view, search) {
  full <- cv$full
  largest <- max(full$lambda2)
  # A chosen row without features says nothing about where to look.
  rows <- Filter(function(row) full$nonzero[row] > 0, leading_rows(cv))
  beyond <- any(full$lambda2[rows] == largest) && largest > 0 &&
    !only_whole_components(full, largest, view$data$graph)
  c(lapply(Filter(function(row) ends_its_path(row, full, view), rows), longer_path, full, view),
    if (beyond) list(whole_path(largest * search$step, view)))
}

drop_empty <- function(paths) Filter(Negate(is.null), paths)

# The lambda1 of a path that the package makes, from the largest one down; NULL if no coefficient
# can leave zero, because there is no map with such a lambda2.
whole_path <- function(lambda2, view) {
  largest <- start_facts(view, lambda2)$lambda_max
  if (!(largest > 0)) return(NULL)
  control <- view$control
  lambda1 <- if (length(view$lambda1)) view$lambda1 else {
    geometric(largest, control$lambda.min.ratio, coarse_nlambda1(control))
  }
  list(lambda1 = lambda1, lambda2 = rep(lambda2, length(lambda1)))
}

ends_its_path <- function(row, full, view) {
  path <- full$lambda1[full$lambda2 == full$lambda2[row]]
  !length(view$lambda1) && length(path) > 1 && full$lambda1[row] == min(path) &&
    min(path) > lowest_share * max(path)
}

# A third as many rows again, with smaller lambda1.
longer_path <- function(row, full, view) {
  more <- ceiling(coarse_nlambda1(view$control) / 3)
  list(lambda1 = full$lambda1[row] * coarse_step(view$control)^seq_len(more),
       lambda2 = rep(full$lambda2[row], more))
}

# The ratio of neighbouring lambda1 in the coarse sweep.
coarse_step <- function(control) control$lambda.min.ratio^(1 / (coarse_nlambda1(control) - 1))

# Are all maps with this lambda2 empty or made of whole components of the graph, each with one
# value? A larger lambda2 changes nothing then.
only_whole_components <- function(full, lambda2, graph) {
  rows <- which(full$lambda2 == lambda2)
  whole <- vapply(rows, function(row) {
    inside <- full$beta[, row] != 0
    full$df[row] == full$regions[row] && all(inside[graph$from] == inside[graph$to])
  }, NA)
  all(whole)
}

# ---- between the rows ----------------------------------------------------------------------------

# New paths in the middle of gaps between neighbouring positive lambda2 whose ratio is at least
# `least`: wide gaps first, then those beside a chosen row, then those of large lambda2.
gap_paths <- function(cv, view, least) {
  full <- cv$full
  lambda2 <- sort(unique(full$lambda2[full$lambda2 > 0]), decreasing = TRUE)
  upper <- lambda2[-length(lambda2)]
  lower <- lambda2[-1]
  beside <- function(rows) upper %in% full$lambda2[rows] | lower %in% full$lambda2[rows]
  open <- which(upper / lower > 0.999 * least & beside(cv$near))
  width <- round(8 * log(upper / lower))
  open <- open[order(-width[open], !beside(leading_rows(cv))[open], -upper[open])]
  lapply(open, function(k) gap_path(c(upper[k], lower[k]), cv, view))
}

# The path goes down to where its neighbours have rows within one standard error, not much further.
gap_path <- function(neighbours, cv, view) {
  path <- whole_path(sqrt(prod(neighbours)), view)
  if (is.null(path) || length(view$lambda1) || view$control$nlambda1 == 1) return(path)
  near <- cv$full$lambda1[intersect(cv$near, which(cv$full$lambda2 %in% neighbours))]
  kept <- path$lambda1 >= min(near) * coarse_step(view$control)^2
  lapply(path, `[`, kept)
}

# One leading row for each path that has some.
unique_paths <- function(cv) {
  rows <- leading_rows(cv)
  rows[!duplicated(cv$full$lambda2[rows])]
}

# Rows between those of a path, where they are within one standard error; NULL if they are close
# already.
denser_path <- function(row, cv, view) {
  if (length(view$lambda1) || view$control$nlambda1 < 3) return(NULL)
  lambda2 <- cv$full$lambda2[row]
  path <- sort(cv$full$lambda1[cv$full$lambda2 == lambda2], decreasing = TRUE)
  near <- range(cv$full$lambda1[intersect(cv$near, which(cv$full$lambda2 == lambda2))],
                cv$full$lambda1[row])
  upper <- path[-length(path)]
  lower <- path[-1]
  # Half of a coarse step, in logarithms, is close enough.
  open <- log(lower / upper) < 0.75 * log(coarse_step(view$control)) & lower <= near[2] &
    upper >= near[1]
  if (any(open)) list(lambda1 = sqrt(upper * lower)[open], lambda2 = rep(lambda2, sum(open)))
}

# The path through the centre: NULL if the budget is spent, if there is no centre, if a row is so
# close that another would change nothing, or if no map is left there.
centre_path <- function(cv, view, search) {
  if (search$spent >= search$budget || is.null(cv$centre)) return(NULL)
  full <- cv$full
  plane <- grid_plane(full$lambda1, full$lambda2)
  if (min(distance_to(cv$centre, plane)) < close_enough) return(NULL)
  centre <- penalties_at(cv$centre, full$lambda1)
  column <- which.min(abs(plane$y - cv$centre[["y"]]))
  if (abs(plane$y[column] - cv$centre[["y"]]) < close_enough) {
    # That column is there already, and lacks only this row.
    return(if (!length(view$lambda1)) list(lambda1 = centre$lambda1,
                                           lambda2 = full$lambda2[column]))
  }
  path <- whole_path(centre$lambda2, view)
  if (is.null(path) || length(view$lambda1)) return(path)
  if (centre$lambda1 >= path$lambda1[1]) return(NULL)
  kept <- path$lambda1 >= min(full$lambda1[cv$near], centre$lambda1)
  lambda1 <- sort(unique(c(path$lambda1[kept], centre$lambda1)), decreasing = TRUE)
  list(lambda1 = lambda1, lambda2 = rep(centre$lambda2, length(lambda1)))
}

# ---- rounds put together -------------------------------------------------------------------------

# The rows of several paths as one grid.
join_paths <- function(paths) {
  list(lambda1 = unlist(lapply(paths, `[[`, "lambda1")),
       lambda2 = unlist(lapply(paths, `[[`, "lambda2")))
}

# The fits of two rounds, see fit_round(), whose rows are put into the order of a grid, by lambda2,
# then by lambda1, both decreasing.
join_rounds <- function(old, new) {
  lambda1 <- c(old$full$lambda1, new$full$lambda1)
  lambda2 <- c(old$full$lambda2, new$full$lambda2)
  order <- order(-lambda2, -lambda1)
  full <- join_fits(old$full, new$full, order)
  full$npasses <- old$full$npasses + new$full$npasses
  list(full = full, folds = Map(join_fits, old$folds, new$folds, MoreArgs = list(order = order)),
       es = rbind(old$es, new$es)[order, , drop = FALSE], mdc = c(old$mdc, new$mdc)[order])
}

# What has one element, or one column, for each row of the grid. The other fields are the same in
# both rounds.
row_fields <- c("a0", "gamma", "beta", "own", "lambda1", "lambda2", "df", "regions", "nonzero",
                "dev_ratio", "gap", "iter", "converged", "link")

join_fits <- function(old, new, order) {
  names <- intersect(row_fields, names(old))
  old[names] <- Map(join_rows, old[names], new[names], MoreArgs = list(order = order))
  old$sites <- merge_estimates(old$sites, new$sites)
  if (!is.null(old$score)) {
    old$score$scores <- join_rows(old$score$scores, new$score$scores, order)
  }
  old
}

join_rows <- function(old, new, order) {
  if (is.null(dim(old))) {
    joined <- c(old, new)[order]
    if (!is.null(names(old))) names(joined) <- paste0("s", seq_along(order))
    return(joined)
  }
  joined <- cbind(old, new)[, order, drop = FALSE]
  if (!is.null(colnames(old))) colnames(joined) <- paste0("s", seq_along(order))
  joined
}
