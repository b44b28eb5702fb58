# A whole path of n2gfl() beside glmnet's nonnegative lasso on the same data.
#
#   Rscript bench/fit_path.R            all problems
#   Rscript bench/fit_path.R small      those whose name contains "small"
#
# glmnet solves an easier problem (no fusion) and gives no proof of optimality;
# it is the peer that users know.
source("bench/helpers.R")

# An ellipsoid about as large as a brain at the given voxel size.
brain_mask <- function(axes) {
  square <- function(a) (seq(-a, a) / (a + 0.5))^2
  outer(outer(square(axes[1]), square(axes[2]), "+"), square(axes[3]), "+") <= 1
}

# Two classes that differ in three balls of voxels, normal noise everywhere.
logistic_data <- function(axes, n = 200) {
  set.seed(1)
  mask <- brain_mask(axes)
  voxels <- which(mask, arr.ind = TRUE)
  y <- rep(c(-1, 1), length.out = n)
  x <- matrix(rnorm(n * nrow(voxels)), n)
  for (k in 1:3) {
    centre <- voxels[round(nrow(voxels) * k / 4), ]
    ball <- which(colSums((t(voxels) - centre)^2) <= (min(axes) / 5)^2)
    x[, ball] <- x[, ball] + 0.2 * y
  }
  list(x = x, y = y, graph = n2gfl::graph_mask(mask), family = "binomial")
}

# The paper's timing experiment, N = d / 2 on a square grid with almost no noise, with a disc of
# ones that covers a share of the grid as the signal.
paper_data <- function(side, share) {
  set.seed(1)
  d <- side^2
  x <- matrix(rnorm(d * d / 2), d / 2)
  centre <- outer((1:side - 0.3 * side)^2, (1:side - 0.4 * side)^2, "+")
  y <- drop(x %*% as.numeric(centre <= share * d / pi)) + 0.01 * rnorm(d / 2)
  list(x = x, y = y, graph = n2gfl::graph_grid(c(side, side)), family = "gaussian")
}

# ratio: the smallest lambda1 as a share of the largest.
problems <- list(
  "logistic, small mask, 10 lambda1" =
    list(data = function() logistic_data(c(17, 21, 17)), rows = 10, ratio = 0.02, thresh = 1e-6),
  "logistic, small mask, 100 lambda1" =
    list(data = function() logistic_data(c(17, 21, 17)), rows = 100, ratio = 0.02, thresh = 1e-6),
  "logistic, large mask, 10 lambda1" =
    list(data = function() logistic_data(c(34, 42, 36)), rows = 10, ratio = 0.02, thresh = 1e-6),
  "logistic, large mask, 100 lambda1" =
    list(data = function() logistic_data(c(34, 42, 36)), rows = 100, ratio = 0.02, thresh = 1e-6),
  "least squares, paper, signal in 10 %" =
    list(data = function() paper_data(100, 0.1), rows = 1, ratio = 0.1, thresh = 1e-9),
  "least squares, paper, signal in 1 %" =
    list(data = function() paper_data(100, 0.01), rows = 1, ratio = 0.1, thresh = 1e-9)
)

# Largest lambda1 of the nonnegative lasso. lambda2 is a tenth of it along a path,
# and as large as lambda1 in a single fit.
largest_lambda1 <- function(data) {
  n2gfl::lambda_max(data$x, data$y, data$graph, lambda2 = 0, family = data$family)
}

lambda1_path <- function(problem, top) {
  if (problem$rows == 1) return(top * problem$ratio)
  top * problem$ratio^seq(0, 1, length.out = problem$rows)
}

run_method <- function(method, problem, file) {
  data <- problem$data()
  top <- largest_lambda1(data)
  lambda2 <- top * if (problem$rows == 1) problem$ratio else 0.1
  if (method == "n2gfl") {
    if (problem$rows > 1)
      top <- n2gfl::lambda_max(data$x, data$y, data$graph, lambda2 = lambda2, family = data$family)
    measure(function() {
      fit <- n2gfl::n2gfl(data$x, data$y, data$graph, family = data$family,
                          lambda1 = lambda1_path(problem, top), lambda2 = lambda2,
                          thresh = problem$thresh)
      list(d = ncol(data$x), n = nrow(data$x), gap = max(fit$grid$gap),
           converged = all(fit$grid$converged))
    }, file)
  } else {
    measure(function() {
      glmnet::glmnet(data$x, data$y, family = data$family, lambda = lambda1_path(problem, top),
                     lower.limits = 0, standardize = FALSE)
      NULL
    }, file)
  }
}

main <- function(part = "") {
  cat("\n### Paths of fits\n\n")
  print_machine()
  print_head("problem", "d", "N", "n2gfl s", "worst gap", "peak MB",
             "glmnet s", "peak MB", "glmnet / n2gfl")
  limit <- 600
  for (name in grep(part, names(problems), value = TRUE, fixed = TRUE)) {
    ours <- run_child("bench/fit_path.R", c("run", shQuote(name), "n2gfl"), limit)
    peer <- run_child("bench/fit_path.R", c("run", shQuote(name), "glmnet"), limit)
    if (is.null(ours)) {
      print_row(name, "", "", seconds(ours, limit))
      next
    }
    print_row(name, ours$answer$d, ours$answer$n, seconds(ours, limit),
              paste0(format(signif(ours$answer$gap, 2)), if (!ours$answer$converged) " (not met)"),
              megabytes(ours), seconds(peer, limit), megabytes(peer), ratio(peer, ours, limit))
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (identical(arguments[1], "run")) {
  run_method(arguments[3], problems[[arguments[2]]], arguments[4])
} else {
  do.call(main, as.list(arguments))
}
