# The simulated data of the benchmarks, with their graphs. They are made once, in out/bench, so
# that the processes of the methods read them quickly and hold nothing else: what making them
# leaves in the process would hide a part of what a fit adds.

# A change of this file, or of graphs, makes them anew.
cached <- function(name, make) {
  sums <- tools::md5sum(c(file.path("bench", "data.R"), file.path("R", "graph.R")))
  version <- paste(substr(sums, 1, 6), collapse = "")
  file <- file.path("out", "bench", sprintf("%s-%s.rds", name, version))
  if (!file.exists(file)) {
    dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)
    half <- paste0(file, ".", Sys.getpid())
    saveRDS(make(), half, compress = FALSE)
    file.rename(half, file)
  }
  readRDS(file)
}

# ---- least squares: the paper's timing experiment --------------------------------

# N = d / 2, almost no noise, on a square grid. Two signals: a disc of ones over a tenth of the
# grid, and standard normal coefficients.
square_data <- function(d) cached(paste0("square-", d), function() {
  set.seed(1)
  side <- round(sqrt(d))
  n <- d %/% 2
  x <- matrix(rnorm(n * d), n)
  centre <- outer((1:side - 0.3 * side)^2, (1:side - 0.4 * side)^2, "+")
  signals <- list(regions = as.numeric(centre <= 0.1 * d / pi), random = rnorm(d))
  y <- lapply(signals, function(beta) drop(x %*% beta) + 0.01 * rnorm(n))
  list(x = x, y = y, products = lapply(y, function(y) drop(crossprod(x, y)) / n),
       graph = n2gfl::graph_grid(c(side, side)))
})

# ---- logistic: correlated fields in an ellipsoid shell ----------------------------

shell_sizes <- list("d 28,000" = c(18, 22, 18), "d 223,000" = c(36, 45, 36))
if (small) shell_sizes <- list("d 28,000" = c(6, 8, 6), "d 223,000" = c(9, 11, 9))

# The voxels whose squared distance from the centre, in half axes, is above 1/4 and at most 1.
shell_mask <- function(axes) {
  square <- function(a) (seq(-a, a) / (a + 0.5))^2
  distance <- outer(outer(square(axes[1]), square(axes[2]), "+"), square(axes[3]), "+")
  distance > 0.25 & distance <= 1
}

# Two kinds of fields: "rough" ones are smoothed by three 3-point means along each axis (a full
# width at half maximum of about 3 voxels) and have 0.3 sd of white noise on top; "smooth" ones by
# 17 (8 voxels, as in tissue maps smoothed for group studies), without noise.
field_kinds <- list(rough = list(passes = 3, noise = 0.3), smooth = list(passes = 17, noise = 0))

# White noise of `n` subjects, smoothed. Subjects are the fastest index: a shift by one voxel is a
# shift of the whole vector, which comes back at the other end of the box.
smooth_fields <- function(n, mask, kind) {
  values <- rnorm(n * length(mask))
  length <- length(values)
  for (stride in n * cumprod(c(1, dim(mask)[-3]))) for (pass in seq_len(kind$passes)) {
    ahead <- c(values[(stride + 1):length], values[1:stride])
    behind <- c(values[(length - stride + 1):length], values[1:(length - stride)])
    values <- values + ahead + behind
  }
  inside <- matrix(values, n)[, which(mask)]
  inside <- inside / sqrt(mean(inside^2))
  if (kind$noise > 0) inside + kind$noise * rnorm(length(inside)) else inside
}

# Two classes: the sign of the standardised sum over three balls, with noise. Fifty subjects at a
# time, for memory. `covariates` are two columns of noise.
shell_data <- function(size, n = 200, kind = "rough") {
  axes <- shell_sizes[[size]]
  cached(paste(c("shell", kind, axes, n), collapse = "-"), function() {
    set.seed(1)
    mask <- shell_mask(axes)
    x <- do.call(rbind, lapply(rep(50, n / 50), smooth_fields, mask = mask,
                              kind = field_kinds[[kind]]))
    voxels <- t(which(mask, arr.ind = TRUE))
    centres <- round(ncol(voxels) * c(0.25, 0.5, 0.75))
    inside <- function(k) colSums((voxels - voxels[, k])^2) <= (min(axes) / 5)^2
    score <- rowSums(x[, rowSums(vapply(centres, inside, logical(ncol(voxels)))) > 0])
    signal <- drop(scale(score))
    y <- sign(signal + 0.7 * rnorm(n))
    list(x = x, y = y, covariates = matrix(rnorm(2 * n), n), graph = n2gfl::graph_mask(mask),
         products = null_products(x, y > 0), others = other_outcomes(x, signal))
  })
}

# Outcomes of the same fields for other families: counts with a mean of about 3; times of which
# about two thirds are events; three levels of equal size, as noisy as the two classes.
other_outcomes <- function(x, signal) {
  n <- length(signal)
  counts <- rpois(n, exp(1 + 0.5 * signal))
  event <- rexp(n) * exp(-signal)
  censored <- 2 * rexp(n)
  times <- cbind(time = pmin(event, censored), status = as.numeric(event <= censored))
  latent <- rank(signal + 0.7 * rnorm(n))
  levels <- factor(ceiling(3 * latent / n), ordered = TRUE)
  outcome <- function(y, residuals) list(y = y, products = drop(crossprod(x, residuals)) / n)
  list(poisson = outcome(counts, counts - mean(counts)), cox = outcome(times, martingales(times)),
       ordinal = outcome(levels, 2 * rank(levels) / n - 1 - 1 / n))
}

# Events less what is expected of rows that are all alike. No two times are equal.
martingales <- function(times) {
  order <- order(times[, "time"])
  status <- times[order, "status"]
  status[order(order)] - cumsum(status / rev(seq_along(status)))[order(order)]
}

# The outcome of a family, with X'r / N for the residuals r of its null model.
shell_outcome <- function(data, family) {
  if (family != "binomial") return(data$others[[family]])
  list(y = as.numeric(data$y > 0), products = data$products)
}

# X'r / N with the residuals of the model that has only an intercept: the same for both families.
null_products <- function(x, y) drop(crossprod(x, y - mean(y))) / nrow(x)

# ---- least squares on grids --------------------------------------------------------

# White noise in x and three blocks of signal. With `fill` below 1 that share of x is not zero.
block_data <- function(n, dims, neighbours = NULL, fill = 1) {
  name <- paste(c("blocks", n, dims, neighbours, fill), collapse = "-")
  cached(name, function() {
    set.seed(1)
    d <- prod(dims)
    x <- matrix(rnorm(n * d), n)
    if (fill < 1) x[runif(length(x)) > fill] <- 0
    at <- grid_positions(dims)
    block <- function(k) rowSums(abs(at - c(0.25, 0.5, 0.75)[k]) > 0.07) == 0
    signal <- which(rowSums(vapply(1:3, block, logical(d))) > 0)
    eta <- rowSums(x[, signal, drop = FALSE]) / sqrt(fill * length(signal))
    y <- 2 * eta + rnorm(n)
    list(x = x, y = y, graph = n2gfl::graph_grid(dims, neighbours), products = null_products(x, y))
  })
}

grid_positions <- function(dims) {
  (arrayInd(seq_len(prod(dims)), dims) - 0.5) / rep(dims, each = prod(dims))
}
