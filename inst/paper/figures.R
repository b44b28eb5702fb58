# Figures 1, 2 and 3 of the paper, all drawn from fits.

# Each figure in its own PNG file.
as_png <- function(file, width, height, draw) {
  grDevices::png(file, width, height, res = 110)
  on.exit(grDevices::dev.off())
  draw()
  invisible(file)
}

draw_figures <- function(folder, data = figure_cohort()) {
  as_png(file.path(folder, "figure1.png"), 1000, 560, figure1)
  as_png(file.path(folder, "figure2.png"), 1300, 800, function() figure2(data))
  as_png(file.path(folder, "figure3.png"), 1300, 760, function() figure3(data))
}

# The paper shows 30ADNC.
figure_cohort <- function() {
  set.seed(2001)
  n2gfl::simulate_cohort("30ADNC", space = "phantom")
}

# ---- Figure 1: the flow of a small total variation problem ---------------------------------------

flow_example <- function() {
  graph <- n2gfl::graph_edges(c(1, 2, 3, 4, 2), c(2, 3, 4, 5, 4))
  z <- c(2.2, 2, -0.5, 0.9, -1)
  lambda <- 0.5
  answer <- n2gfl::tv_denoise(z, graph, lambda, dual = TRUE)
  net <- numeric(5)
  for (e in seq_along(graph$from)) {
    net[graph$from[e]] <- net[graph$from[e]] + answer$flow[e]
    net[graph$to[e]] <- net[graph$to[e]] - answer$flow[e]
  }
  capacity <- lambda * graph$weight
  around <- vapply(1:5, function(i) sum(capacity[graph$from == i | graph$to == i]), 0)
  # In the paper's sign xi is what comes into a node, and the flow goes to the larger value.
  list(graph = graph, z = z, beta = answer$beta, flow = -answer$flow, net = net,
       capacity = capacity, gamma = pmax(abs(z), around))
}

figure1 <- function(example = flow_example()) {
  old <- graphics::par(mar = c(0.5, 0.5, 2, 0.5))
  on.exit(graphics::par(old))
  x <- 2 * 1:5
  graphics::plot(NULL, xlim = c(0.6, 11.4), ylim = c(-3.2, 3.2), axes = FALSE, xlab = "", ylab = "",
                 main = "Total variation as a minimum quadratic cost flow")
  number <- function(value) formatC(value, format = "f", digits = 2)
  for (i in 1:5) {
    draw_arrow(c(6, 2.8), c(x[i], 0.35), "grey50")
    draw_arrow(c(x[i], -0.35), c(6, -2.8), "grey50")
  }
  at <- function(from, to, share) from + share * (to - from)
  label(at(6, x, 0.4), at(2.8, 0.35, 0.4), number(example$gamma))
  label(at(x, 6, 0.45), at(-0.35, -2.8, 0.45), number(example$net + example$gamma))
  label(at(x, 6, 0.45), at(-0.35, -2.8, 0.45) - 0.3, number(example$beta^2 / 2), "red3")
  draw_node_edges(example, x, number)
  graphics::symbols(c(6, 6), c(2.95, -2.95), circles = c(0.25, 0.25), inches = FALSE, add = TRUE,
                    bg = "grey90")
  graphics::text(c(6, 6), c(2.95, -2.95), c("s", "t"), font = 3)
  shade <- grDevices::hcl.colors(9, "Blues 3")[4 + rank(-example$beta, ties.method = "min")]
  graphics::symbols(x, numeric(5), circles = rep(0.33, 5), inches = FALSE, add = TRUE, bg = shade)
  graphics::text(x, 0, 1:5, font = 2)
  graphics::text(x + 0.42, -0.02, paste0("z = ", number(example$z), "\nb = ", number(example$beta)),
                 adj = c(0, 1.2), cex = 0.75)
  graphics::legend("topleft", bty = "n", cex = 0.8, lwd = c(2, 1), col = c("steelblue", "grey50"),
                   legend = c("flow / capacity", "forced flow into a node, and out of it"))
  graphics::legend("bottomleft", bty = "n", cex = 0.8, text.col = "red3",
                   legend = "cost of the flow to t: b^2 / 2")
}

# Numbers on lines need a background.
label <- function(x, y, text, col = "grey20") {
  half <- graphics::strwidth(text, cex = 0.75) / 2
  graphics::rect(x - half, y - 0.13, x + half, y + 0.13, col = "white", border = NA)
  graphics::text(x, y, text, cex = 0.75, col = col)
}

draw_arrow <- function(from, to, col, lwd = 1) {
  graphics::arrows(from[1], from[2], to[1], to[2], length = 0.08, col = col, lwd = lwd)
}

# Straight for neighbours in the row, an arc over the node between for the others.
draw_node_edges <- function(example, x, number) {
  for (e in seq_along(example$flow)) {
    ends <- c(example$graph$from[e], example$graph$to[e])
    if (example$flow[e] < 0) ends <- rev(ends)
    text <- paste0(number(abs(example$flow[e])), " / ", number(example$capacity[e]))
    if (abs(diff(ends)) == 1) {
      side <- 0.36 * sign(diff(ends))
      draw_arrow(c(x[ends[1]] + side, 0.1), c(x[ends[2]] - side, 0.1), "steelblue", 2)
      label(mean(x[ends]), 0.3, text, "steelblue4")
    } else {
      turn <- seq(0.12, pi - 0.12, length.out = 40)
      side <- -sign(diff(ends))
      path <- cbind(mean(x[ends]) + side * 2 * cos(turn), 0.3 + 0.9 * sin(turn))
      graphics::lines(path[-40, ], col = "steelblue", lwd = 2)
      draw_arrow(path[39, ], path[40, ], "steelblue", 2)
      label(mean(x[ends]), 1.35, text, "steelblue4")
    }
  }
}

# ---- Figure 2: what each model selects -----------------------------------------------------------

# One column per model: a glass brain, and two cuts. The parameters are the most accurate ones.
figure2 <- function(data, models = comparators()[c("MLDA", "LapL", "lasso", "GFL", "n2GFL")]) {
  maps <- selected_maps(data, models)
  old <- graphics::par(mfrow = c(3, length(maps)), mar = c(0, 0, 1.5, 0), oma = c(0, 0, 0, 0))
  on.exit(graphics::par(old))
  cuts <- fixed_cuts(data, maps$n2GFL)
  for (name in names(maps)) {
    title <- sprintf("%s (%d voxels)", name, sum(maps[[name]] != 0))
    n2gfl::plot_map(maps[[name]], like = data$images, type = "3d", views = "oblique", main = title,
                    legend = FALSE)
  }
  for (type in names(cuts)) {
    for (map in maps) {
      n2gfl::plot_map(map, like = data$images, type = type, cuts = cuts[[type]], legend = FALSE)
    }
  }
}

# Coefficients of the fit to all rows at the most accurate parameters.
selected_maps <- function(data, models, nfolds = 10) {
  set.seed(1)
  foldid <- n2gfl::make_folds(data$y, nfolds)
  lapply(models, function(model) {
    cv <- cross_validate(model, data$x, data$y, data$graph, foldid)
    as.numeric(cv$full$beta[, cv$row])
  })
}

# The same cuts for all models: through the middle of the selection of the last one.
fixed_cuts <- function(data, map) {
  space <- data$images$space
  if (is.null(map) || !any(map != 0)) map <- rep(1, sum(space$mask))
  voxels <- which(space$mask, arr.ind = TRUE)[map != 0, , drop = FALSE] - 1
  mm <- space$affine %*% rbind(t(voxels), 1)
  list(axial = stats::median(mm[3, ]), coronal = stats::median(mm[2, ]))
}

# ---- Figure 3: what each fold selects ------------------------------------------------------------

figure3 <- function(data, nfolds = 10) {
  set.seed(1)
  foldid <- n2gfl::make_folds(data$y, nfolds)
  call_with <- function(f, ...) f(data$images, data$y, family = "binomial", ...)
  validate <- function(...) {
    call_with(n2gfl::cv.n2gfl, type.measure = "class", foldid = foldid, ...)
  }
  # The grid of the comparators: four lambda2. A cross-validation would refine it.
  fused <- function(sign) {
    lambda2 <- unique(call_with(n2gfl::n2gfl, sign = sign, nlambda1 = 1, nlambda2 = 4)$grid$lambda2)
    validate(sign = sign, lambda2 = lambda2, nlambda1 = 15)
  }
  models <- suppressWarnings(list(
    lasso = validate(sign = "free", lambda2 = 0, nlambda1 = 30), GFL = fused("free"),
    n2GFL = fused("nonnegative")
  ))
  n2gfl::plot_folds(models, s = "lambda.min")
}
