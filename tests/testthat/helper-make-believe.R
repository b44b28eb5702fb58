# Objects with invented numbers, for tests of the functions that read them: pictures and printed
# tables must not change with the last digits of a solver.

# A fit with the given coefficients, one column per row of the grid.
make_fit <- function(beta, graph, lambda1, lambda2, family = "gaussian") {
  grid <- expand.grid(lambda1 = lambda1, lambda2 = lambda2)
  beta <- methods::as(beta, "CsparseMatrix")
  label <- label_parts(beta, graph, beta@x, 0)
  column <- factor(rep(seq_len(ncol(beta)), diff(beta@p)), seq_len(ncol(beta)))
  pieces <- vapply(split(label, column), function(k) max(0L, k), 1L)
  rows <- nrow(grid)
  grid <- data.frame(
    grid, df = unname(pieces), regions = unname(pieces), nonzero = diff(beta@p),
    dev.ratio = seq(0, 0.9, length.out = rows), gap = 1e-7, iter = 3L, converged = TRUE
  )
  structure(
    list(a0 = rep(0, rows), gamma = NULL, beta = beta, grid = grid, nulldev = 100, nobs = 40L,
         dim = dim(beta), classnames = if (family == "binomial") c("a", "b"), family = family,
         sign = "free", penalty = "fused", penalty.factor = rep(1, nrow(beta)),
         control = list(standardize = FALSE, intercept = TRUE, algorithm = "pursuit",
                        thresh = 1e-6, maxit = 1000L, threads = 1L),
         offset = FALSE, weighted = FALSE, call = quote(n2gfl(x = x, y = y, graph = graph)),
         graph = graph),
    class = "n2gfl"
  )
}

# Three regions on a chain of 12 that grow, split and merge along 6 values of lambda1.
path_fit <- function(lambda2 = 0.1) {
  beta <- matrix(0, 12, 6)
  beta[2:4, 2] <- 0.5
  beta[2:4, 3] <- 1
  beta[8:9, 3] <- -0.4
  beta[2:3, 4] <- 1.4
  beta[4, 4] <- 1.1
  beta[8:9, 4] <- -0.8
  beta[2:3, 5] <- 1.6
  beta[4:5, 5] <- 1
  beta[8:10, 5] <- -1
  beta[12, 5] <- 0.3
  beta[2:5, 6] <- 1.5
  beta[8:10, 6] <- -1.2
  beta[12, 6] <- 0.6
  all <- do.call(cbind, lapply(seq_along(lambda2), function(k) k * beta))
  make_fit(all, graph_chain(12), 2^-(0:5), lambda2)
}

# A cross-validation of a fit: a parabola as score, unless given.
make_cv <- function(fit, index = c(min = 5L, `1se` = 3L, es = 4L, stable = 2L),
                    type.measure = "mse",
                    cvm = 1 + ((seq_len(nrow(fit$grid)) - index[["min"]]) / nrow(fit$grid))^2,
                    foldid = rep_len(1:3, fit$nobs), edge = NULL, nested = NULL) {
  rows <- nrow(fit$grid)
  sd <- rep(0.05, rows)
  pair <- function(which) unlist(fit$grid[index[which], c("lambda1", "lambda2")])
  fold <- c(fit[c("a0", "gamma", "beta")], fit$grid[c("gap", "converged")])
  structure(
    list(call = quote(cv.n2gfl(x = x, y = y, graph = graph)), grid = fit$grid, cvm = cvm,
         cvsd = sd, cvup = cvm + sd, cvlo = cvm - sd, nzero = fit$grid$nonzero,
         es = cbind(coef = rep(0.2, rows), fit = rep(0.1, rows)), mdc = rep(0.5, rows),
         lambda.min = pair("min"), lambda.1se = pair("1se"), lambda.es = pair("es"),
         lambda.stable = pair("stable"), index = index,
         stable = list(share = 0.4, reason = NULL), rule = stable_rule(),
         edge = edge, type.measure = type.measure,
         name = measure_label(type.measure, fit$family), foldid = foldid,
         fold.fits = rep(list(fold), 3), fit.preval = NULL, n2gfl.fit = fit, nested = nested),
    class = "n2gfl_cv"
  )
}
