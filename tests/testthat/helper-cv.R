# A cross-validation with make-believe scores and real fits of the folds, made by weights 0 and 1:
# for tests of what reads such an object, which must not depend on how it is made.
make_cv <- function(x, y, graph, nfolds = 3, index = c(min = 5L, `1se` = 3L, es = 4L), ...,
                    cvm = NULL, name = c(deviance = "Deviance"), nested = NULL) {
  fit <- n2gfl(x, y, graph, ...)
  foldid <- rep_len(seq_len(nfolds), nrow(x))
  fold_fit <- function(k) {
    fold <- n2gfl(x, y, graph, ..., weights = as.numeric(foldid != k))
    list(a0 = fold$a0, gamma = fold$gamma, beta = fold$beta, gap = fold$grid$gap,
         converged = fold$grid$converged)
  }
  rows <- nrow(fit$grid)
  if (is.null(cvm)) cvm <- 1 + ((seq_len(rows) - index[["min"]]) / rows)^2
  sd <- rep(0.1, rows)
  pair <- function(which) unlist(fit$grid[index[[which]], c("lambda1", "lambda2")])
  structure(
    list(call = fit$call, grid = fit$grid, cvm = cvm, cvsd = sd, cvup = cvm + sd, cvlo = cvm - sd,
         nzero = fit$grid$nonzero, type.measure = names(name), name = name,
         es = cbind(coef = rep(0.2, rows), fit = rep(0.1, rows)), mdc = rep(0.5, rows),
         lambda.min = pair("min"), lambda.1se = pair("1se"),
         lambda.es = if ("es" %in% names(index)) pair("es"), index = index, foldid = foldid,
         fold.fits = lapply(seq_len(nfolds), fold_fit), n2gfl.fit = fit, nested = nested),
    class = "cv.n2gfl"
  )
}
