# Methods of a cross-validation, on made-up scores where they must not change, and on a real one.

real_cv <- local({
  withr::local_seed(33)
  x <- matrix(rnorm(60 * 16), 60)
  y <- rowSums(x[, 4:7]) + rnorm(60)
  graph <- graph_chain(16)
  cv <- cv.n2gfl(x, y, graph, nlambda1 = 8, lambda2 = c(0.3, 0.05), nfolds = 4, nested = TRUE)
  list(x = x, y = y, graph = graph, cv = cv)
})

test_that("coef and predict take the rows that were chosen, lambda.stable by default", {
  cv <- real_cv$cv
  fit <- cv$n2gfl.fit
  # Otherwise the default would not show.
  expect_false(cv$index[["min"]] == cv$index[["stable"]])
  expect_identical(coef(cv), coef(fit, row = cv$index[["stable"]]))
  expect_identical(coef(cv, s = "lambda.stable"), coef(fit, s = cv$lambda.stable))
  expect_identical(coef(cv, s = "lambda.min"), coef(fit, row = cv$index[["min"]]))
  expect_identical(coef(cv, s = "lambda.1se"), coef(fit, row = cv$index[["1se"]]))
  expect_identical(coef(cv, s = "lambda.es"), coef(fit, s = cv$lambda.es))
  expect_identical(coef(cv, s = cv$lambda.min), coef(cv, s = "lambda.min"))
  expect_identical(coef(cv, row = 2:3), coef(fit, row = 2:3))
  newx <- real_cv$x[1:4, ]
  expect_identical(predict(cv, newx), predict(fit, newx, row = cv$index[["stable"]]))
  expect_identical(predict(cv, newx, "lambda.min"), predict(fit, newx, s = cv$lambda.min))
  expect_identical(predict(cv, newx, row = 5, type = "response"), predict(fit, newx, row = 5))
  expect_identical(predict(cv, type = "nonzero", s = "lambda.min"),
                   predict(fit, type = "nonzero", s = cv$lambda.min))
})

test_that("exact and refit are passed to the fit inside", {
  s <- c(lambda1 = 0.07, lambda2 = 0.05)
  exact <- coef(real_cv$cv, s = s, exact = TRUE, x = real_cv$x, y = real_cv$y)
  direct <- n2gfl(real_cv$x, real_cv$y, real_cv$graph, lambda1 = 0.07, lambda2 = 0.05)
  expect_equal(unname(exact[, 1]), unname(coef(direct)[, 1]), tolerance = 1e-4)
  refitted <- predict(real_cv$cv, real_cv$x, refit = TRUE, x = real_cv$x, y = real_cv$y)
  expect_lt(sum((real_cv$y - refitted)^2), deviance(real_cv$cv))
})

test_that("the methods of stats take the chosen row", {
  cv <- real_cv$cv
  row <- cv$index[["stable"]]
  fit <- cv$n2gfl.fit
  expect_identical(deviance(cv), deviance(fit)[row])
  expect_identical(deviance(cv, s = "lambda.1se"), deviance(fit, s = cv$lambda.1se))
  expect_identical(logLik(cv), logLik(fit, row = row))
  expect_identical(BIC(cv), BIC(fit)[row])
  expect_identical(nobs(cv), 60L)
  expect_identical(fitted(cv, real_cv$x), fitted(fit, real_cv$x, row = row))
  r <- residuals(cv, real_cv$x, real_cv$y, s = "lambda.min")
  expect_equal(sum(r^2), deviance(cv, s = "lambda.min"), tolerance = 1e-8)
})

test_that("update runs the cross-validation again, and its fit can be updated alone", {
  list2env(real_cv[c("x", "y", "graph")], environment())
  again <- update(real_cv$cv, nested = FALSE, foldid = real_cv$cv$foldid)
  expect_null(again$nested)
  expect_identical(again$cvm, real_cv$cv$cvm)
  fit <- update(real_cv$cv$n2gfl.fit, lambda2 = 0.05, nlambda1 = 3)
  expect_s3_class(fit, "n2gfl", exact = TRUE)
  expect_identical(fit$call, quote(n2gfl(x = x, y = y, graph = graph, lambda2 = 0.05,
                                         nlambda1 = 3)))
})

test_that("print shows the choices, the honest estimate and the edge", {
  nested <- list(estimate = data.frame(cvm = c(1.2, 1.3, 1.25, 1.22), cvsd = 0.1,
                                       row.names = c("min", "1se", "es", "stable")))
  nested$stability <- data.frame(
    nonzero = c(8, 5.5, 6, 4), least = c(2L, 0L, 3L, 3L), most = c(12L, 8L, 9L, 5L),
    mdc = c(0.2, 0, 0.5, 0.75), nogueira = c(0.31234, -0.1, NA, 0.8),
    nogueira.lower = c(0.1, -0.3, NA, 0.6), nogueira.upper = c(0.5, 0.1, NA, 1),
    dice = c(0.4, NA, 0.6, 0.85), dice.dilated = c(0.5, NA, 0.7, 0.9), es.fit = c(3, 2, 1, 0.012),
    row.names = c("min", "1se", "es", "stable")
  )
  fit <- path_fit()
  expect_snapshot(print(make_cv(fit)))
  expect_snapshot(print(make_cv(fit, nested = nested)))
  repeats <- matrix(rep_len(1:4, 80), 40)
  fit$family <- "binomial"
  expect_snapshot(print(make_cv(fit, type.measure = "auc", cvm = c(5, 6, 7, 8, 9, 7) / 10,
                                foldid = repeats,
                                edge = c(`smallest lambda1` = "pass smaller values"))))
  expect_snapshot(print(make_cv(fit, c(min = 2L, `1se` = 2L), "class")))
})

test_that("summaries are tables, and print them", {
  fit <- path_fit(c(0.1, 0.05))
  short <- summary(fit)
  expect_s3_class(short, "n2gfl_summary")
  expect_identical(short$table$lambda2, c(0.1, 0.05))
  expect_identical(short$table$fits, c(6L, 6L))
  expect_equal(short$table$bic, c(min(BIC(fit)[1:6]), min(BIC(fit)[7:12])))
  expect_snapshot(print(short))
  fit$grid$converged[4] <- FALSE
  expect_snapshot(print(summary(fit)))
  cv <- summary(make_cv(path_fit(c(0.1, 0.05)), c(min = 5L, `1se` = 5L, es = 2L, stable = 7L)))
  expect_s3_class(cv, "n2gfl_cv_summary")
  expect_identical(cv$table$row, c(2L, 5L, 7L))
  expect_identical(cv$table$choice, c("es", "min, 1se", "stable"))
  expect_snapshot(print(cv))
})

test_that("summary takes the best row of each lambda2 in the direction of the measure", {
  fit <- path_fit(c(0.1, 0.05))
  fit$family <- "binomial"
  cvm <- c(1, 2, 9, 3, 2, 1, 4, 5, 3, 2, 1, 0) / 10
  rows <- summary(make_cv(fit, c(min = 3L, `1se` = 3L, es = 3L), "auc", cvm))$table$row
  expect_identical(rows, c(3L, 8L))
  rows <- summary(make_cv(fit, c(min = 12L, `1se` = 12L, es = 12L), "class", cvm))$table$row
  expect_identical(rows, c(1L, 12L))
})

test_that("a real cross-validation prints both of its estimates", {
  shown <- utils::capture.output(print(real_cv$cv))
  expect_match(shown, "Mean squared error (smaller is better), 4 folds", fixed = TRUE, all = FALSE)
  expect_match(shown, "Nested", all = FALSE)
  table <- read.table(text = shown[grep("^(min|1se|es|stable) +[0-9]+ +[0-9.]+ ", shown)])
  expect_identical(table$V2, unname(real_cv$cv$index))
  expect_equal(table$V9, real_cv$cv$nested$estimate$cvm, tolerance = 1e-3)
  expect_output(print(summary(real_cv$cv)), "Honest estimates")
})

test_that("bad choices are refused in a sentence", {
  cv <- real_cv$cv
  expect_snapshot(refusal(coef(cv, s = "lambda.max")))
  expect_snapshot(refusal(coef(cv, s = "lambda.min", row = 2)))
  expect_snapshot(refusal(coef(cv, row = 17)))
  expect_snapshot(refusal(coef(cv, s = c("lambda.min", "lambda.1se"))))
  expect_snapshot(refusal(predict(cv)))
  expect_snapshot(refusal(predict(cv, real_cv$x, type = "class")))
  expect_snapshot(refusal(predict(cv, real_cv$x, lambda = 0.1)))
  expect_snapshot(refusal(fitted(cv)))
  expect_snapshot(refusal(residuals(cv, real_cv$x)))
  cv$index <- cv$index[c("min", "1se")]
  expect_snapshot(refusal(coef(cv, s = "lambda.es")))
  chosen <- make_cv(path_fit())
  expect_snapshot(refusal(coef(chosen, s = c(lambda1 = 0.3, lambda2 = 0.1))))
})
