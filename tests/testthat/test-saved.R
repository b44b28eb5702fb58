# Objects that an older version saved are used as they are. fixtures/make-saved.R made them.

files <- dir(test_path("fixtures"), "^saved-.*[.]rds$", full.names = TRUE)

test_that("there is a file of at least one version", {
  expect_gt(length(files), 0)
})

for (file in files) {
  saved <- readRDS(file)
  said <- saved$said

  test_that(paste("coefficients and predictions of a saved fit are kept:", saved$made$version), {
    expect_equal(as.matrix(coef(saved$fit)), said$coef)
    given <- function(type) predict(saved$fit, saved$images, newcovariates = saved$age, type = type)
    expect_equal(given("response"), said$response)
    expect_identical(given("class"), said$class)
    expect_identical(predict(saved$fit, type = "nonzero"), said$nonzero)
    expect_equal(as.matrix(coef(saved$cv, s = "lambda.1se")), said$cv_coef)
    expect_equal(predict(saved$cv, saved$images$x, s = "lambda.1se"), said$cv_predict)
  })

  test_that(paste("a saved fit is printed, summarised and drawn:", saved$made$version), {
    shown <- capture.output(print(saved$fit), print(saved$cv), print(saved$selection))
    expect_identical(setdiff(said$printed, shown), character())  # new lines may have come
    shown <- capture.output(print(summary(saved$fit)), print(summary(saved$cv)))
    expect_identical(setdiff(said$summary, shown), character())
    expect_equal(region_table(saved$fit, row = 2), said$regions, ignore_attr = "choice")
    expect_identical(saved$selection$selected, said$selected)
    local_device()
    expect_silent(plot(saved$fit))
    expect_silent(plot(saved$cv))
    expect_silent(plot(saved$selection))
    expect_silent(plot(saved$images))
    expect_silent(plot_map(saved$fit, row = 2))
  })

  test_that(paste("a saved fit gives the same as one of today:", saved$made$version), {
    fit <- saved$fit
    y <- predict(saved$fit, saved$images, newcovariates = saved$age, type = "class")[, 2]
    today <- n2gfl(saved$images, y, family = "binomial", lambda1 = fit$grid$lambda1,
                   lambda2 = fit$grid$lambda2[1], covariates = saved$age)
    expect_identical(setdiff(names(fit), names(today)), character())  # new parts may have come
    expect_identical(names(today$grid), names(fit$grid))
    map <- withr::local_tempfile(fileext = ".nii.gz")
    write_map(fit, map, row = 2)
    expect_equal(as.vector(RNifti::readNifti(map))[as.vector(fit$space$mask)],
                 as.vector(fit$beta[, 2]), tolerance = 1e-6)
  })
}
