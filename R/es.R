# ES in both forms for the predictors of the runs; `centre` takes the columns' means out of x, which
# is the same as taking them out of x times the coefficients.
es_of_runs <- function(runs, predictors, normalize, centre) {
  if (centre) predictors <- sweep(predictors, 2, colMeans(predictors))
  mean_predictor <- rowMeans(predictors)
  spread <- sum((predictors - mean_predictor)^2)
  size <- if (normalize == "fit") sum(mean_predictor^2) else sum(Matrix::rowMeans(runs)^2)
  spread / (ncol(runs) * size)
}

# ---- in the cv object ----------------------------------------------------------------------------

# What cv.n2gfl() keeps for each row of the grid: the paper's ES, the form of Lim and Yu on centred
# x, and the multi-set Dice coefficient.
stability_columns <- function(fold.fits, x, graph) {
  rows <- seq_len(ncol(fold.fits[[1]]$beta))
  values <- vapply(rows, function(row) {
    runs <- runs_at(fold.fits, row)
    predictors <- run_predictors(x, runs)
    c(es_of_runs(runs, predictors, "coef", centre = FALSE),
      es_of_runs(runs, predictors, "fit", centre = TRUE), mdc_of_runs(runs))
  }, numeric(3))
  values[is.nan(values)] <- NA
  list(es = cbind(coef = values[1, ], fit = values[2, ]), mdc = values[3, ])
}

# The row of lambda.es: the smallest ES among the rows within one standard error of the best score
# that have no more regions than the best row.
choose_es <- function(cvm, cvsd, grid, index_min, es_fit, bigger_is_better) {
  loss <- if (bigger_is_better) cvm[index_min] - cvm else cvm - cvm[index_min]
  near <- loss <= cvsd[index_min] & grid$df <= grid$df[index_min]
  rows <- which(near & !is.na(es_fit))
  if (!length(rows)) return(index_min)
  rows[order(es_fit[rows], -grid$lambda2[rows], -grid$lambda1[rows])[1]]
}
