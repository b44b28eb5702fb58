# Families: what each must have, that no other file asks for their names, and that a family that is
# only registered, and whose response is of another kind, passes through the whole package.

# ---- the contract --------------------------------------------------------------------------------

# What a family lacks or has too much, as text; character(0) if it keeps the contract.
family_faults <- function(family) {
  fault <- function(slot) {
    wanted <- family_contract[[slot]]
    value <- family[[slot]]
    kinds <- c("character", "logical", "list")
    if (length(wanted) == 1 && wanted %in% kinds) {
      if (!identical(typeof(value), wanted)) paste(slot, "is not of type", wanted)
    } else if (!is.function(value) || !identical(names(formals(value)), wanted)) {
      paste0(slot, " is not a function of (", paste(wanted, collapse = ", "), ")")
    }
  }
  measures <- vapply(family$measures, function(measure) {
    takes <- names(formals(measure))
    identical(setdiff(takes, "held"), c("y", "link", "weights", "own"))
  }, NA)
  predictions <- vapply(family$predictions, function(prediction) {
    identical(names(formals(prediction))[1:3], c("link", "own", "fit")) &&
      all(names(formals(prediction))[-(1:3)] %in% names(formals(predict.n2gfl)))
  }, NA)
  c(unlist(lapply(names(family_contract), fault)),
    sprintf("not in the contract: %s", setdiff(names(family), names(family_contract))),
    sprintf("unknown measure: %s", setdiff(names(family$measures), names(cv_measures))),
    sprintf("not a measure: %s", names(measures)[!measures]),
    sprintf("not a prediction: %s", names(predictions)[!predictions]))
}

test_that("every family keeps the contract, under its own name", {
  for (name in names(families())) {
    family <- family_of(name)
    expect_identical(family_faults(family), character(0), label = name)
    expect_identical(family$name, name)
    expect_true(all(family$predict_types %in% c("link", "response", "class")))
    expect_true(all(names(family$predictions) %in% eval(formals(predict.n2gfl)$type)))
    expect_true(all(family$residual_types %in% eval(formals(residuals.n2gfl)$type)))
  }
})

test_that("the checker finds what is missing", {
  family <- gaussian_family()
  family$mean <- function(link) link
  family$code <- NULL
  family$colour <- "red"
  family$measures$cosine <- function(y) 0
  family$predictions$half <- function(link, own, fit, share) link / 2
  expect_identical(family_faults(family), c(
    "code is not a function of (y, weights)", "mean is not a function of (link, own)",
    "not in the contract: colour", "unknown measure: cosine", "not a measure: cosine",
    "not a prediction: half"))
})

test_that("link and mean are inverse to each other", {
  for (family in families()) {
    if (family$own_terms) next  # the mean depends on cut points
    mean <- cbind(c(0.2, 0.5, 0.9), c(0.7, 0.1, 0.3))
    expect_equal(family$mean(family$link(mean), NULL), mean)
  }
})

test_that("an unknown family stops with one sentence, wherever it comes from", {
  x <- matrix(c(1, 2, 3, 4, 2, 5), 6)
  fit <- n2gfl(x, 1:6, lambda1 = 0, lambda2 = 0)
  fit$family <- "huber"
  expect_snapshot(error = TRUE, {
    n2gfl(x, 1:6, family = "huber", lambda2 = 0)
    lambda_max(x, 1:6, family = "huber")
    cv.n2gfl(x, 1:6, family = c("binomial", "gaussian"), lambda2 = 0)
    n2gfl(x, 1:6, family = NULL, lambda2 = 0)
    predict(fit, x, type = "response")
    print(fit)
    logLik(fit)
    assess(fit, x, 1:6, row = 1)
  })
})

test_that("the default in the usage is that of the registry", {
  shown <- eval(formals(n2gfl)$family)
  expect_identical(eval(formals(lambda_max)$family), shown)
  expect_true(all(shown %in% names(families())))
  expect_identical(check_family(shown), "gaussian")
  expect_identical(check_family("bin"), "binomial")
})

# ---- the sources ---------------------------------------------------------------------------------

# Comparisons with a family, and names of families, in the code of a file; not in the defaults of
# arguments, which users read.
family_questions <- function(file) {
  compare <- c("==", "!=", "%in%", "switch", "identical", "match.arg", "match_choice")
  look <- function(code) {
    if (is.character(code)) return(intersect(code, names(families())))
    if (!is.call(code)) return(NULL)
    if (identical(code[[1]], quote(`function`))) return(look(code[[3]]))
    asked <- as.character(code[[1]])[1] %in% compare &&
      any(grepl("\\bfamily$", vapply(as.list(code[-1]), deparse1, "")))
    c(if (asked) deparse1(code), unlist(lapply(as.list(code), look)))
  }
  as.character(unlist(lapply(as.list(parse(file, keep.source = FALSE)), look)))
}

test_that("only the files of the families ask for their names", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  files <- dir(test_path("..", "..", "R"), pattern = "\\.R$", full.names = TRUE)
  expect_gt(length(files), 10)
  # simulate_cohort() makes data of two kinds; its argument is no family of a fit.
  others <- files[!grepl("^family|^simulate\\.R$", basename(files))]
  for (file in others) {
    expect_identical(family_questions(file), character(0), label = basename(file))
  }
})

test_that("questions for a name are found", {
  file <- withr::local_tempfile(lines = c(
    "f <- function(fit, family = c(\"gaussian\", \"binomial\")) {",
    "  if (fit$family == \"gaussian\") 1 else if (fit$family != other) 2",
    "  switch(family, huber = 3)", "  g(family, family_of(family)$outcome == 1)", "}"))
  expect_identical(family_questions(file), c(
    "fit$family == \"gaussian\"", "gaussian", "fit$family != other",
    "switch(family, huber = 3)"))
})

# ---- a family that is only registered ------------------------------------------------------------

# Times of which some are censored: a response with two columns, a model without intercept, a score
# for whole folds, no residuals, and a parameter of its own that is added to the link.
toy_family <- function() {
  shifted <- function(link, own) sweep(link, 2, own, "+")
  with_slots(gaussian_family(), list(
    name = "toy", outcome = "durations", intercept = FALSE, residual_types = character(0),
    measures = list(mae = function(y, link, weights, own) {
      colMeans(abs(y[, "time"] - shifted(link, own)))
    }),
    code = function(y, weights) {
      check_length(y$time, "y", length(weights), "row of `x`")
      list(y = cbind(time = y$time, status = y$status), classnames = NULL)
    },
    numbers = function(y) y[, "time"],
    strata = function(y) factor(y[, "status"]),
    check_fold = function(data, fold) {
      if (!any(data$y[fold$held, "status"] == 1)) stop_bad("no event in fold ", fold$name)
    },
    check_run = function(y, classnames, k, advice) {
      if (!any(y[, "status"] == 1)) stop_bad("no event in run ", k)
    },
    keep = function(data, link) list(saturated = sum(data$y), largest = max(link)),
    mean = shifted,
    own_names = function(classnames) "shift",
    own_terms = TRUE,
    log_likelihood = function(deviance, fit) fit$saturated - deviance / 2,
    predictions = list(double = function(link, own, fit, times = 2) times * shifted(link, own)),
    extra_parameters = function(fit) 0
  ))
}

with_slots <- function(family, slots) replace(family, names(slots), slots)

# The core does not know this family: it fits the times by least squares, and returns the number of
# nonzero coefficients as the family's own parameter.
local_toy_family <- function(frame = parent.frame()) {
  real <- core_fits
  local_replaced("families", function() {
    list(gaussian = gaussian_family(), toy = toy_family())
  }, frame)
  local_replaced("core_fits", function(view, ...) {
    view$data$y <- view$data$y[, "time"]
    view$control$family <- "gaussian"
    fits <- real(view, ...)
    fits$own <- rbind(shift = fits$nonzero + 0)
    fits
  }, frame)
}

toy_problem <- function(n = 40, d = 8) {
  x <- matrix(stats::rnorm(n * d), n)
  y <- list(time = rowSums(x[, 1:3]) + stats::rnorm(n), status = rep(c(1, 1, 0, 1), length.out = n))
  list(x = x, y = structure(y, class = "toy"), graph = graph_chain(d), family = "toy")
}

test_that("the toy family keeps the contract", {
  expect_identical(family_faults(toy_family()), character(0))
})

test_that("a registered family is fitted and predicts, with its own parameters", {
  withr::local_seed(911)
  local_toy_family()
  p <- toy_problem()
  fit <- n2gfl(p$x, p$y, p$graph, family = "toy", lambda1 = c(0.5, 0.1), lambda2 = 0.05)
  expect_identical(fit$family, "toy")
  expect_identical(unname(fit$a0), c(0, 0))
  expect_identical(fit$own, rbind(shift = c(s1 = 1, s2 = 1) * fit$grid$nonzero))
  expect_equal(fit$largest, max(predict(fit, p$x)))
  expect_identical(unname(coef(fit)["shift", ]), fit$grid$nonzero + 0)
  expect_false(fit$control$intercept)
  link <- predict(fit, p$x)
  expect_identical(predict(fit, p$x, type = "response"), sweep(link, 2, fit$own, "+"))
  expect_identical(predict(fit, p$x, type = "double"), 2 * sweep(link, 2, fit$own, "+"))
  expect_identical(predict(fit, p$x, type = "double", times = 3), 3 * sweep(link, 2, fit$own, "+"))
  expect_identical(predict(fit, p$x, row = 2, type = "response"),
                   link[, 2, drop = FALSE] + fit$own[[2]])
  s <- c(lambda1 = 0.3, lambda2 = 0.05)
  exact <- predict(fit, p$x, s = s, type = "response", exact = TRUE, x = p$x, y = p$y)
  again <- n2gfl(p$x, p$y, p$graph, family = "toy", lambda1 = 0.3, lambda2 = 0.05)
  expect_equal(unname(exact), unname(predict(again, p$x, type = "response")))
  expect_equal(as.numeric(logLik(fit)),
               sum(p$y$time) + sum(p$y$status) - deviance(fit) / 2)
  expect_identical(attr(logLik(fit), "df"), fit$grid$df + 1)
  expect_output(print(fit), "Family toy")
  refused <- list(quote(residuals(fit, p$x, p$y)), quote(predict(fit, p$x, type = "class")),
                  quote(assess(fit, p$x, p$y, row = 1)))
  said <- vapply(refused, function(code) conditionMessage(tryCatch(eval(code), error = identity)),
                 "")
  expect_identical(said, c(
    "residuals() are not defined for family \"toy\".",
    "`type` must be \"link\" or \"response\" or \"double\" for family \"toy\", not \"class\".",
    "assess() has no measures for family \"toy\", which predicts durations."))
})

test_that("a registered family is cross-validated by its own score, stratified and checked", {
  withr::local_seed(912)
  local_toy_family()
  p <- toy_problem()
  cv <- quick_cv(p, foldid = NULL, nfolds = 4, keep = TRUE, nested = TRUE)
  expect_identical(cv$type.measure, "mae")
  expect_identical(cv$y, p$y$time)
  # ten censored times in four folds
  expect_setequal(c(table(cv$foldid[p$y$status == 0])), c(2, 3))
  mae <- t(vapply(1:4, function(k) {
    held <- cv$foldid == k
    mean <- sweep(cv$fit.preval[held, ], 2, cv$fold.fits[[k]]$own, "+")
    colMeans(abs(p$y$time[held] - mean))
  }, numeric(nrow(cv$grid))))
  expect_equal(cv$cvm, apply(mae, 2, stats::weighted.mean, w = c(table(cv$foldid))))
  expect_true(all(is.finite(cv$nested$estimate$cvm)))
  expect_error(assess(cv), "assess() has no measures for family \"toy\"", fixed = TRUE)
  bad <- ifelse(p$y$status == 1, rep(2:4, length.out = 40), 1)
  expect_error(quick_cv(p, foldid = bad), "no event in fold 1")
  runs <- perturb_fits(p$x, p$y, p$graph, family = "toy", perturb = "subsample", B = 3,
                       nlambda1 = 3, lambda2 = 0.05)
  expect_identical(unique(colSums(runs$runs[p$y$status == 0, ])), 5L + 0)
})

test_that("a measure may need the training rows; rows of weight 0 have no part in it", {
  withr::local_seed(913)
  local_toy_family()
  from_centre <- function(y, link, weights, own, held) {
    centre <- colSums(weights[!held] * link[!held, , drop = FALSE]) / sum(weights[!held])
    away <- sweep(link[held, , drop = FALSE], 2, centre)
    list(scores = colMeans(abs(y[held, "time"] - away)), weight = sum(weights[held])^2)
  }
  local_replaced("families", function() {
    list(toy = with_slots(toy_family(), list(measures = list(mae = from_centre))))
  })
  p <- toy_problem()
  expect_identical(family_faults(family_of("toy")), character(0))
  w <- replace(stats::runif(40, 0.5, 2), 38:40, 0)
  cv <- quick_cv(p, weights = w, nested = TRUE, foldid = rep(1:5, 8))
  by_hand <- vapply(1:5, function(k) {
    link <- unname(as.matrix(p$x %*% cv$fold.fits[[k]]$beta))
    held <- cv$foldid == k & w > 0
    train <- cv$foldid != k
    centre <- colSums(cv$weights[train] * link[train, ]) / sum(cv$weights[train])
    colMeans(abs(p$y$time[held] - sweep(link[held, ], 2, centre)))
  }, numeric(nrow(cv$grid)))
  share <- c(tapply(cv$weights, cv$foldid, sum))^2
  expect_equal(cv$cvm, drop(by_hand %*% share) / sum(share))
  spread <- (by_hand - cv$cvm)^2 %*% share / sum(share) / 4
  expect_equal(cv$cvsd, sqrt(drop(spread)))
  expect_true(all(is.finite(cv$nested$estimate$cvm)))
})

test_that("lambda_max() is the smallest lambda1 of an empty fit in every family", {
  withr::local_seed(914)
  for (family in names(families())) {
    p <- cv_problem(family)
    most <- lambda_max(p$x, p$y, p$graph, lambda2 = c(0.05, 0), family = family)
    for (k in 1:2) {
      fit <- any_sign(n2gfl(p$x, p$y, p$graph, family = family, lambda2 = c(0.05, 0)[k],
                            lambda1 = most[k] * c(1.0001, 0.999), thresh = 1e-12))
      expect_identical(fit$grid$nonzero == 0, c(TRUE, FALSE), label = family)
    }
  }
})

test_that("fits and cross-validations of every family are printed, drawn and made tables", {
  skip_if_not_installed("generics")
  withr::local_seed(916)
  withr::local_pdf(NULL)
  for (family in names(families())) {
    p <- cv_problem(family)
    cv <- quick_cv(p)
    fit <- full_fit(cv)
    expect_output(print(fit), paste("Family", family))
    expect_output(print(summary(fit)), "best BIC")
    expect_output(print(cv), measure_label("deviance", family), fixed = TRUE)
    expect_output(print(summary(cv)), "Best row of each lambda2")
    expect_output(print(assess(cv)), "Held-out predictions")
    expect_no_error(plot(fit))
    expect_no_error(plot(cv))
    for (object in list(fit, cv)) {
      expect_s3_class(generics::tidy(object), "data.frame")
      expect_identical(nrow(generics::glance(object)), 1L)
    }
    expect_identical(nrow(generics::augment(cv, p$x)), 60L)
    expect_equal(stability(cv)$mdc, cv$mdc)
    expect_length(BIC(fit), nrow(fit$grid))
  }
})

test_that("all algorithms and both penalties fit every family", {
  withr::local_seed(915)
  for (family in c("poisson", "cox", "ordinal")) {
    p <- cv_problem(family)
    for (penalty in c("fused", "laplacian")) {
      fits <- lapply(c("pursuit", "fista", "ista"), function(algorithm) {
        any_sign(n2gfl(p$x, p$y, p$graph, family = family, penalty = penalty, thresh = 1e-8,
                       algorithm = algorithm, lambda1 = c(0.1, 0.02), lambda2 = 0.02))
      })
      for (fit in fits) {
        expect_true(all(fit$grid$converged), label = paste(family, penalty))
        expect_equal(as.matrix(fit$beta), as.matrix(fits[[1]]$beta), tolerance = 1e-3)
      }
    }
  }
})

test_that("a loss for each observation is scored with the parameters of its fold", {
  local_replaced("families", function() {
    list(toy = with_slots(toy_family(), list(measures = list(
      mae = function(y, link, weights, own) abs(y - sweep(link, 2, own, "+"))))))
  })
  link <- cbind(c(1, 2, 3, 4, 5, 6), 0)
  own <- list(cbind(1, 10), cbind(2, 20))
  weights <- c(1, 1, 2, 1, 1, 2)
  fits <- lapply(own, function(own) list(own = own))
  scores <- fold_scores("mae", link, rep(0, 6), weights, c(1, 2, 1, 2, 1, 2), "toy", fits)
  expect_equal(unname(scores$scores), rbind(c((2 + 2 * 4 + 6) / 4, 10),
                                            c((4 + 6 + 2 * 8) / 4, 20)))
})
