# Covariates as formula and data: coded as model.matrix() does, learnt on the training rows only.

subjects <- function(n = 24) {
  data.frame(age = 50 + (seq_len(n) * 7) %% 31 + seq_len(n) / 10,
             sex = rep(c("F", "M", "M"), length.out = n),
             site = factor(rep(c("a", "b", "c", "b"), length.out = n), levels = letters[1:4]))
}

small_data <- function(n = 24, d = 6) {
  x <- matrix(stats::rnorm(n * d), n, d)
  list(x = x, y = rowSums(x[, 1:3]) + stats::rnorm(n), graph = graph_chain(d))
}

test_that("a formula is coded as model.matrix() codes it, without the intercept", {
  data <- subjects()
  for (formula in list(~ age + sex, ~ sex * age + site, ~ 0 + site, ~ poly(age, 2), ~ I(age^2) - 1,
                       ~ ., ~ log(age), ~ 1, ~ factor(sex):age)) {
    coded <- code_covariates(covariate_coder(formula, data, 24))
    full <- droplevels(data)
    terms <- terms(formula, data = full)
    attr(terms, "intercept") <- 1
    expected <- model.matrix(terms, full)[, -1, drop = FALSE]
    expect_equal(matrix(coded, 24), matrix(expected, 24), info = deparse(formula))
    expect_identical(colnames(coded), if (ncol(expected)) colnames(expected))
  }
})

test_that("a matrix passes through", {
  z <- cbind(age = 1:5 + 0.5)
  expect_identical(code_covariates(covariate_coder(z, NULL, 5), c(1, 1, 0, 0, 1)), z)
  expect_identical(dim(code_covariates(covariate_coder(NULL, NULL, 5))), c(5L, 0L))
})

test_that("coding is learnt on the training rows alone", {
  data <- subjects()
  train <- rep(c(TRUE, FALSE), c(18, 6))
  coder <- covariate_coder(~ poly(age, 2) + scale(age) + sex, data, 24)
  coded <- code_covariates(coder, train)
  expect_equal(matrix(coded[train, ], 18),
               matrix(model.matrix(~ poly(age, 2) + scale(age) + sex, data[train, ])[, -1], 18))
  strange <- data
  strange$age[!train] <- 1e4
  strange$sex[!train] <- "F"
  other <- code_covariates(covariate_coder(~ poly(age, 2) + scale(age) + sex, strange, 24), train)
  expect_identical(other[train, ], coded[train, ])
  expect_equal(other[24, "scale(age)"],
               (1e4 - mean(data$age[train])) / sd(data$age[train]), ignore_attr = TRUE)
})

test_that("the contrasts of the user are used and stored", {
  data <- subjects()
  withr::local_options(contrasts = c("contr.sum", "contr.poly"))
  coder <- covariate_coder(~ sex, data, 24)
  options(contrasts = c("contr.treatment", "contr.poly"))
  expect_equal(as.vector(code_covariates(coder)), ifelse(data$sex == "F", 1, -1))
  data$site <- droplevels(data$site)
  contrasts(data$site) <- contr.helmert(3)
  coded <- code_covariates(covariate_coder(~ site, data, 24))
  expect_equal(matrix(coded, 24), matrix(model.matrix(~ site, data)[, -1], 24))
})

test_that("variables may come from the environment of the formula", {
  age <- 1:10 + 0.5
  degree <- 2
  coder <- covariate_coder(~ poly(age, degree), NULL, 10)
  expect_equal(dim(code_covariates(coder)), c(10L, 2L))
})

test_that("a formula gives the fit of its matrix, and codes new data in the same way", {
  withr::local_seed(1)
  small <- small_data()
  data <- subjects()
  z <- model.matrix(~ poly(age, 2) + sex, data)[, -1]
  by_formula <- n2gfl(small$x, small$y, small$graph, covariates = ~ poly(age, 2) + sex, data = data,
                      lambda2 = 0.05, nlambda1 = 5)
  by_matrix <- n2gfl(small$x, small$y, small$graph, covariates = z, lambda2 = 0.05, nlambda1 = 5)
  expect_equal(coef(by_formula), coef(by_matrix))
  expect_true(all(by_formula$grid$converged))
  new <- c(3, 20, 7)
  expect_equal(predict(by_formula, small$x[new, ], newcovariates = data[new, ]),
               predict(by_matrix, small$x[new, ], newcovariates = z[new, ]), ignore_attr = TRUE)
  one <- predict(by_formula, small$x[3, , drop = FALSE], newcovariates = data[3, ])
  expect_equal(as.vector(one), as.vector(predict(by_formula, small$x, newcovariates = data)[3, ]))
})

test_that("each fold codes its own covariates", {
  withr::local_seed(2)
  small <- small_data()
  data <- subjects()
  foldid <- rep(1:4, 6)
  cv <- cv.n2gfl(small$x, small$y, small$graph, covariates = ~ scale(age), data = data,
                 foldid = foldid, lambda2 = 0.05, nlambda1 = 4, keep = TRUE)
  train <- foldid != 2
  z <- (data$age - mean(data$age[train])) / sd(data$age[train])
  fit <- n2gfl(small$x[train, ], small$y[train], small$graph, covariates = cbind(z[train]),
               lambda1 = cv$grid$lambda1, lambda2 = 0.05, thresh = 1e-9)
  held <- predict(fit, small$x[!train, ], newcovariates = cbind(z[!train]))
  expect_equal(unname(cv$fit.preval[!train, ]), unname(held), tolerance = 1e-3)
  expect_equal(cv$fold.fits[[2]]$gamma[1, ], fit$gamma[1, ], tolerance = 1e-3)
})

test_that("bad formulas and data are refused", {
  data <- subjects(10)
  coded <- function(formula, data = subjects(10), train = NULL) {
    code_covariates(covariate_coder(formula, data, 10), train)
  }
  expect_snapshot(refusal(coded(y ~ age)))
  expect_snapshot(refusal(coded(~ age + offset(age))))
  expect_snapshot(refusal(coded(~ height)))
  expect_snapshot(refusal(coded(~ height, NULL)))
  expect_snapshot(refusal(coded(~ age, data[-1, ])))
  expect_snapshot(refusal(coded(~ age, as.list(data))))
  expect_snapshot(refusal(coded(~ age, transform(data, age = replace(age, 4, NA)))))
  expect_snapshot(refusal(coded(~ sex, transform(data, sex = replace(sex, 7, NA)))))
  expect_snapshot(refusal(coded(~ I(1 / (sex == "M")))))
  expect_snapshot(refusal(coded(~ site, train = data$site != "c")))
  expect_snapshot(refusal(coded(~ sex, train = data$sex == "M")))
  small <- withr::with_seed(1, small_data(10))
  fit <- n2gfl(small$x, small$y, small$graph, covariates = ~ age + site, data = data,
               lambda1 = 0.1, lambda2 = 0.1)
  expect_snapshot(refusal(predict(fit, small$x, newcovariates = transform(data, site = "z"))))
  expect_snapshot(refusal(predict(fit, small$x, newcovariates = data[-1, ])))
  expect_snapshot(refusal(predict(fit, small$x, newcovariates = data["age"])))
})

test_that("a fit does not take the environment of its formula along", {
  fit_in <- function() {
    x <- matrix(stats::rnorm(40 * 500), 40)
    degree <- 2
    data <- data.frame(y = x[, 1] + stats::rnorm(40), age = stats::rnorm(40))
    list(by_formula = n2gfl(x, y ~ poly(age, degree), lambda2 = 0, data = data, nlambda1 = 2),
         by_call = do.call(n2gfl, list(x, y ~ age, lambda2 = 0, data = data, nlambda1 = 2)),
         x = x, data = data)
  }
  made <- withr::with_seed(3, any_sign(fit_in()))
  for (fit in made[1:2]) {
    expect_lt(length(serialize(fit, NULL)), 0.5 * length(serialize(made$x, NULL)))
    # What the formula needs is still there.
    expect_identical(dim(predict(fit, made$x, newcovariates = made$data)), c(40L, 2L))
  }
})
