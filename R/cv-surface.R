# Scores and stability as smooth surfaces over the grid of penalties. A score of one row is noisy,
# because few rows of data are held out; its neighbours in the grid are held out with it and know
# nearly the same. The rows of lambda.stable are weighed on the smooth surface.

# Where the rows of a grid lie: the logarithms of both penalties, a data frame with x and y, and the
# `area` of the plane that each row stands for, so that a refined part of the grid does not count
# more than a coarse one. A lambda2 that is small against lambda1 has no effect, and the logarithm
# of nothing is far away: so a small number is added to it first.
grid_plane <- function(lambda1, lambda2) {
  x <- log_position(lambda1)
  y <- position_of_lambda2(lambda2, max(lambda1))
  width <- function(position) {
    edges <- cell_edges(position)
    edges$right - edges$left
  }
  columns <- sort(unique(y))
  height <- width(columns)[match(y, columns)]
  data.frame(x = x, y = y, area = height * stats::ave(x, y, FUN = width))
}

position_of_lambda2 <- function(lambda2, largest) log10(lambda2 + without_effect * largest)

# The penalties at a position in the plane of a grid with these lambda1.
penalties_at <- function(centre, lambda1) {
  nothing <- without_effect * max(lambda1)
  lambda2 <- 10^centre[["y"]] - nothing
  list(lambda1 = 10^centre[["x"]], lambda2 = if (lambda2 > nothing / 10) lambda2 else 0)
}

without_effect <- 0.003  # the share of the largest lambda1 below which lambda2 has no effect

# The value of the surface at each row where `value` is known, NA elsewhere: local regression of
# second degree on the share `span` of the rows. As it is, if there are too few rows for that.
smooth_over_grid <- function(value, plane, span) {
  known <- which(is.finite(value))
  data <- data.frame(value = value, plane)[known, ]
  axes <- Filter(function(axis) length(unique(data[[axis]])) > 3, c("x", "y"))
  # Few columns, or few rows of columns, are no surface: each is smoothed by itself, because the
  # same lambda1 means another model at another lambda2.
  lines <- if (length(axes) == 1) data[[setdiff(c("x", "y"), axes)]] else rep(1, length(known))
  smooth <- rep(NA_real_, length(value))
  for (line in split(seq_along(known), lines)) {
    smooth[known[line]] <- smooth_rows(data[line, ], axes, span)
  }
  smooth
}

smooth_rows <- function(data, axes, span) {
  few <- span * nrow(data) < 4 * 3^length(axes)
  if (few || !length(axes)) data$value else local_regression(data, axes, span)
}

# Too few neighbours in one direction make a local parabola arbitrary, and loess() warns: then a
# local plane is fitted.
local_regression <- function(data, axes, span) {
  fit <- function(degree) {
    model <- stats::loess(stats::reformulate(axes, "value"), data, span = span, degree = degree,
                          control = stats::loess.control(surface = "direct"))
    unname(stats::fitted(model))
  }
  tryCatch(fit(2), warning = function(w) suppressWarnings(fit(1)))
}
