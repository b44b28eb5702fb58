# How similar K sets of features are. The sets are the supports of the runs. Everything follows from
# the sizes of the sets and of their intersections, and from how many sets contain each feature.

# p features, sizes of the sets, K x K sizes of the intersections, share of sets with each feature.
set_counts <- function(runs) {
  sets <- as_sets(runs)
  list(p = nrow(sets), sizes = as.double(diff(sets@p)),
       common = as.matrix(Matrix::crossprod(sets)),
       share = tabulate(sets@i + 1L, nrow(sets)) / ncol(sets), sets = sets)
}

# The same matrix with 1 for every entry.
as_sets <- function(runs) {
  runs@x <- rep(1, length(runs@i))
  runs
}

# Positions of the pairs i < j in a K x K matrix.
pair_index <- function(k) which(upper.tri(matrix(0, k, k)), arr.ind = TRUE)

# A value and, if it is NA, the reason. NaN can only come from 0/0 here.
measured <- function(value, reason) {
  value[is.nan(value)] <- NA_real_
  list(value = value, reason = if (anyNA(value)) reason else "")
}

one_run <- "there is only one run"

# ---- pairs of sets -------------------------------------------------------------------------------

# The mean over all pairs, see pair_measure(); NA if any pair has no value, because a mean without
# it would be optimistically biased.
mean_of_pairs <- function(counts, value, reason) {
  if (length(counts$sizes) < 2) return(measured(NA_real_, one_run))
  pairs <- pair_index(length(counts$sizes))
  values <- value(counts$sizes[pairs[, 1]], counts$sizes[pairs[, 2]], counts$common[pairs],
                  counts$p)
  measured(mean(values), reason)
}

# ---- all sets at once ----------------------------------------------------------------------------

mdc_of_runs <- function(runs, sign = FALSE) {
  signs <- if (sign) base::sign(runs@x) else rep(1, length(runs@i))
  up <- tabulate(runs@i[signs > 0] + 1L, nrow(runs))
  down <- tabulate(runs@i[signs < 0] + 1L, nrow(runs))
  ncol(runs) * sum(pmax(up, down) == ncol(runs)) / length(runs@i)
}

mdc_measured <- function(runs, sign = FALSE) {
  if (ncol(runs) < 2) return(measured(NA_real_, one_run))
  measured(mdc_of_runs(runs, sign), "all sets are empty")
}

# Nogueira's measure and its influence values, one per run: the variance comes from these.
nogueira_of_sets <- function(counts) {
  k <- length(counts$sizes)
  size <- counts$sizes / counts$p
  mean_size <- mean(size)
  chance <- mean_size * (1 - mean_size)
  estimate <- 1 - k / (k - 1) * mean(counts$share * (1 - counts$share)) / chance
  agreement <- as.vector(Matrix::crossprod(counts$sets, counts$share)) / counts$p
  influence <- (agreement - size * mean_size +
                  estimate / 2 * (2 * size * mean_size - size - mean_size + 1)) / chance
  list(estimate = estimate, influence = influence - mean(influence))
}

influence_error <- function(influence) sqrt(4 * sum(influence^2)) / length(influence)

# The estimate, its standard error and the interval.
nogueira_measured <- function(counts, level) {
  nothing <- rep(NA_real_, 4)
  if (length(counts$sizes) < 2) return(measured(nothing, one_run))
  if (all(counts$sizes == 0) || all(counts$sizes == counts$p)) {
    return(measured(nothing, "all sets are empty or all are full"))
  }
  phi <- nogueira_of_sets(counts)
  error <- influence_error(phi$influence)
  half <- stats::qnorm((1 + level) / 2) * error
  measured(c(phi$estimate, error, phi$estimate - half, phi$estimate + half), "")
}

# ---- coefficients --------------------------------------------------------------------------------

# Mean correlation of the coefficient vectors, zeros included.
correlation_of_runs <- function(runs) {
  if (ncol(runs) < 2) return(measured(NA_real_, one_run))
  means <- Matrix::colMeans(runs)
  covariance <- as.matrix(Matrix::crossprod(runs)) / nrow(runs) - outer(means, means)
  spread <- sqrt(constant_as_zero(diag(covariance), Matrix::colMeans(runs^2)))
  correlations <- covariance / outer(spread, spread)
  measured(mean(pmin(1, pmax(-1, correlations[pair_index(ncol(runs))]))),
           "the coefficients of a run are all equal")
}

# Variances that are only rounding errors become zero.
constant_as_zero <- function(variance, scale) {
  ifelse(variance <= 1e-12 * scale, 0, variance)
}
