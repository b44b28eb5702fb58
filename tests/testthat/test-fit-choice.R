# One default row for everything that reads a cross-validation, and notes about chosen rows.

chosen_cv <- function() {
  withr::local_seed(6)
  cohort <- simulate_cohort(n = 40, dim = c(12, 14))
  cv.n2gfl(cohort$images, cohort$y, family = "binomial", nlambda1 = 6, lambda2 = c(0.02, 0.002),
           nfolds = 4)
}

test_that("every reader takes the default row", {
  cv <- chosen_cv()
  x <- matrix(stats::rnorm(5 * cv$n2gfl.fit$dim[1]), 5)
  row <- cv$index[["stable"]]
  # Otherwise the default would not show.
  expect_false(row == cv$index[["min"]])
  expect_identical(coef(cv), coef(cv, row = row))
  expect_identical(predict(cv, x), predict(cv, x, row = row))
  expect_identical(fitted(cv, x), fitted(cv, x, row = row))
  expect_identical(deviance(cv), deviance(cv, row = row))
  expect_identical(logLik(cv), logLik(cv, row = row))
  expect_identical(generics::augment(cv, x), generics::augment(cv, x, row = row))
  expect_identical(as_nifti(cv)@.Data, as_nifti(cv, row = row)@.Data)
  expect_identical(region_table(cv), region_table(cv, row = row))
  expect_identical(stable_regions(cv), stable_regions(cv, row = row))
  other <- compare_stability(cv, cv, s1 = unlist(cv$grid[row, 1:2]))
  expect_identical(compare_stability(cv, cv)$estimate, other$estimate)
  # No signature has a default of its own.
  for (fun in list(coef.n2gfl_cv, predict.n2gfl_cv, fitted.n2gfl_cv, residuals.n2gfl_cv,
                   deviance.n2gfl_cv, logLik.n2gfl_cv, augment.n2gfl_cv, write_map, as_nifti,
                   region_table, plot_map, plot_folds, stable_regions)) {
    expect_null(formals(fun)$s)
  }
})

test_that("print names the default row and its penalties", {
  cv <- chosen_cv()
  shown <- paste(utils::capture.output(print(cv)), collapse = "\n")
  expect_match(shown, "`s` is \"lambda.stable\"", fixed = TRUE)
  expect_match(shown, lambda_text(cv$grid[cv_choice(cv)$row, ]), fixed = TRUE)
})

test_that("notes report an empty chosen map, and a sparsest row with more features", {
  cv <- chosen_cv()
  cv$index[] <- c(3, 1, 3, 3)
  cv$grid$nonzero[c(1, 3)] <- c(0, 12)
  expect_output(print(cv), "lambda.1se: no feature is selected, the map is empty")
  expect_output(print(summary(cv)), "lambda.1se: no feature is selected, the map is empty")
  cv$grid$nonzero[c(1, 3)] <- c(40, 12)
  expect_output(print(cv), "more features (40 against 12)", fixed = TRUE)
  cv$grid$nonzero[c(1, 3)] <- c(10, 12)
  expect_null(choice_notes(cv))
})

test_that("rows are named by the rule that chose them", {
  cv <- chosen_cv()
  cv$index[] <- c(3, 5, 3, 6)
  expect_identical(row_name(cv, 3), "lambda.min, lambda.es")
  expect_identical(row_name(cv, 6), "lambda.stable")
  expect_identical(row_name(cv, 4), "row 4")
  expect_identical(row_name(cv$n2gfl.fit, 4), "row 4")
  expect_match(choice_text(cv, 5), "^lambda.1se: lambda1 = [0-9.e-]+, lambda2 = 0.02$")
})

test_that("the note about a best row on the edge says which value to try", {
  grid <- data.frame(lambda1 = rep(c(0.4, 0.2, 0.1), 2), lambda2 = rep(c(0.3, 0.1), each = 3),
                     nonzero = 3)
  expect_identical(n2gfl:::grid_edges(grid, 5), c(`smallest lambda2` = "try lambda2 down to 0.033"))
  expect_identical(n2gfl:::grid_edges(grid, 1),
                   c(`largest lambda1` = "try lambda1 up to 0.8",
                     `largest lambda2` = "try lambda2 up to 0.9"))
  expect_identical(n2gfl:::grid_edges(grid, 3)[["smallest lambda1"]],
                   "try lambda1 down to 0.02 (lambda.min.ratio = 0.05)")
})

test_that("what to try beyond an edge agrees with the sequence of lambda1", {
  grid <- data.frame(lambda1 = c(1, 0.1, 0.01), lambda2 = 0.1, nonzero = 3)
  expect_identical(n2gfl:::grid_edges(grid, 3, made = FALSE)[["smallest lambda1"]],
                   "try lambda1 down to 0.001")
  expect_identical(n2gfl:::grid_edges(grid, 3)[["smallest lambda1"]],
                   "try lambda1 down to 0.001 (lambda.min.ratio = 0.001)")
  withr::local_seed(1)
  x <- matrix(stats::rnorm(400), 40)
  y <- rowSums(x)
  run <- function(...) cv.n2gfl(x, y, lambda2 = 0, nfolds = 3, ...)$edge[["smallest lambda1"]]
  expect_identical(run(lambda1 = c(1, 0.1, 0.01)), "try lambda1 down to 0.001")
  expect_match(run(nlambda1 = 3), "(lambda.min.ratio", fixed = TRUE)
})

test_that("the fit inside of an object, and what is kept with it", {
  fit <- make_fit(cbind(c(1, 0, 0), c(1, 1, 0)), graph_chain(3), 2:1, 1)
  fit$space <- "here"
  cv <- structure(list(n2gfl.fit = fit, graph = NULL), class = "n2gfl_cv")
  for (object in list(fit, cv, structure(unclass(cv), class = "n2gfl_perturbed"))) {
    expect_identical(fit_inside(object), fit)
    expect_identical(full_fit(object), fit)
    expect_identical(kept_in(object, "graph"), fit$graph)
    expect_identical(kept_in(object, "space"), "here")
  }
  own <- structure(list(graph = graph_chain(2)), class = "n2gfl_stability_selection")
  expect_identical(kept_in(own, "graph"), graph_chain(2))
  expect_null(kept_in(own, "space"))
  for (object in list(own, list(), 1:3, "a", NULL)) {
    expect_null(fit_inside(object))
    expect_error(full_fit(object), "must be a fit from n2gfl")
  }
})
