# Cross-validates any comparator in the same way on the same folds, and measures the results.

# Linear predictors of the rows `held` of x, one column for each row of the grid.
held_out <- function(fit, x, held) {
  as.matrix(x[held, , drop = FALSE] %*% fit$beta) + rep(fit$a0, each = length(held))
}

# Fits without each fold, and their predictions for the rows of the fold.
fit_folds <- function(model, x, y, graph, grid, foldid) {
  link <- matrix(NA_real_, nrow(x), nrow(grid))
  fits <- lapply(seq_len(max(foldid)), function(k) {
    train <- foldid != k
    model$fit(x[train, , drop = FALSE], y[train], graph, grid)
  })
  for (k in seq_along(fits)) {
    held <- which(foldid == k)
    link[held, ] <- held_out(fits[[k]], x, held)
  }
  list(fits = fits, link = link)
}

is_right <- function(link, y) (link > 0) == (as.integer(droplevels(factor(y))) == 2)

# The most accurate row; the grids run from the strongest penalty to the weakest, so ties go to the
# stronger one, as in cv.n2gfl().
most_accurate <- function(link, y) which.max(colMeans(is_right(link, y)))

# The paper's way: the best accuracy on the grid.
cross_validate <- function(model, x, y, graph, foldid) {
  full <- model$fit(x, y, graph)
  cv <- fit_folds(model, x, y, graph, full$grid, foldid)
  row <- most_accurate(cv$link, y)
  sizes <- do.call(rbind, lapply(cv$fits, function(fit) Matrix::colSums(fit$beta != 0)))
  list(grid = full$grid, folds = cv$fits, link = cv$link, full = full, row = row,
       accuracy = colMeans(is_right(cv$link, y)), size = unname(colMeans(sizes)))
}

# Without selection bias: grid and row are chosen by a cross-validation inside the training rows of
# each fold. `inner` has the folds of the training rows for each fold, 0 for the rows held out.
nested_link <- function(model, x, y, graph, foldid, inner) {
  link <- numeric(nrow(x))
  for (k in seq_len(max(foldid))) {
    train <- which(foldid != k)
    held <- which(foldid == k)
    xt <- x[train, , drop = FALSE]
    fit <- model$fit(xt, y[train], graph)
    inside <- fit_folds(model, xt, y[train], graph, fit$grid, inner[[k]][train])
    link[held] <- held_out(fit, x, held)[, most_accurate(inside$link, y[train])]
  }
  link
}

# Folds inside the training rows of each fold, drawn once for all models.
make_inner_folds <- function(y, foldid, nfolds) {
  lapply(seq_len(max(foldid)), function(k) {
    inner <- integer(length(y))
    inner[foldid != k] <- n2gfl::make_folds(y[foldid != k], nfolds)
    inner
  })
}

# ---- measures ------------------------------------------------------------------------------------

# All measures of one row of the grid: stability over the folds, and the selection of the fit to
# all rows against the truth (NULL if it is not known).
measure_selection <- function(cv, row, x, truth, selects) {
  runs <- do.call(cbind, lapply(cv$folds, function(fit) as.numeric(fit$beta[, row])))
  es <- function(...) as.numeric(n2gfl::ES(runs, x, ...))
  panel <- data.frame(
    tuning = paste(names(cv$grid), signif(unlist(cv$grid[row, ]), 3), sep = " = ", collapse = ", "),
    accuracy = cv$accuracy[row], voxels = cv$size[row], es_coef = es(),
    es_fit = es(normalize = "fit", center = TRUE), mdc = NA_real_, nogueira = NA_real_,
    mdc_top50 = NA_real_, sensitivity = NA_real_, precision = NA_real_
  )
  panel$mdc_top50 <- as.numeric(n2gfl::mDC(runs, top = 50))
  if (!selects) return(panel)  # a model without zeros selects nothing
  panel$mdc <- as.numeric(n2gfl::mDC(runs))
  panel$nogueira <- n2gfl::stability(runs, measures = "nogueira")$nogueira
  if (!is.null(truth)) {
    selected <- as.numeric(cv$full$beta[, row]) != 0
    panel$sensitivity <- mean(selected[truth])
    panel$precision <- if (any(selected)) mean(truth[selected]) else NA_real_
  }
  panel
}

# The paper's footnote: the same level of sparsity. Among the rows within a fifth of the wanted
# number of voxels the most accurate one; the nearest row if there is none.
row_of_size <- function(cv, wanted) {
  distance <- abs(log(pmax(cv$size, 0.5) / wanted))
  near <- which(distance <= log(1.2))
  if (length(near)) near[which.max(cv$accuracy[near])] else which.min(distance)
}

# All models on one cohort: list(x, y, graph, truth). One row per model and way to choose.
compare_models <- function(cohort, models = comparators(), nfolds = 10, ninner = 5) {
  x <- cohort$x
  y <- droplevels(factor(cohort$y))
  foldid <- n2gfl::make_folds(y, nfolds)
  inner <- make_inner_folds(y, foldid, ninner)
  runs <- lapply(models, function(model) {
    time <- system.time({
      cv <- cross_validate(model, x, y, cohort$graph, foldid)
      right <- is_right(nested_link(model, x, y, cohort$graph, foldid, inner), y)
    })
    list(cv = cv, right = right, seconds = time[["elapsed"]])
  })
  reference <- runs[[length(runs)]]
  wanted <- reference$cv$size[reference$cv$row]
  rows <- Map(model_rows, runs, names(models), models,
              MoreArgs = list(x = x, truth = cohort$truth, wanted = wanted,
                              reference = reference$right))
  do.call(rbind, unname(rows))
}

# `better` and `worse` count the subjects that only the reference, or only this model, classifies
# correctly.
model_rows <- function(run, name, model, x, truth, wanted, reference) {
  at <- c(accurate = run$cv$row, matched = if (model$selects) row_of_size(run$cv, wanted))
  panels <- lapply(at, measure_selection, cv = run$cv, x = x, truth = truth,
                   selects = model$selects)
  data.frame(model = name, at = names(at), nested = mean(run$right),
             better = sum(reference & !run$right), worse = sum(!reference & run$right),
             do.call(rbind, unname(panels)), seconds = round(run$seconds, 1), row.names = NULL)
}
