# harmonize = : what ComBat of the package sva makes of all rows at once, and in folds what it makes
# of the training rows alone.

combat <- utils::read.csv(test_path("fixtures", "combat.csv"))
combat_of <- function(kind) unname(as.matrix(combat[paste0(kind, ".", 1:8)]))

# The features as a fit sees them: the linear predictors of fits with one unpenalised feature each,
# less their intercepts, divided by their coefficients.
seen_features <- function(...) {
  x <- combat_of("x")
  vapply(1:8, function(j) {
    fit <- n2gfl(x, seq_len(30)^2, sign = "free", lambda1 = 0, lambda2 = 0, data = combat,
                 penalty.factor = replace(rep(Inf, 8), j, 1), thresh = 1e-12, ...)
    (predict(fit, x, newdata = combat)[, 1] - fit$a0) / fit$beta[j, 1]
  }, numeric(30))
}

test_that("features are those of sva's ComBat, alone, with covariates and with a reference", {
  agree <- function(kind, ...) {
    expect_equal(seen_features(harmonize = ~ site, ...), combat_of(kind), tolerance = 1e-8)
  }
  agree("plain")
  agree("kept", preserve = ~ age + sex)
  agree("to_b", reference = "b")
  agree("both", preserve = ~ age + sex, reference = "b")
  # ... of which one feature is constant at a site, and stays as it is
  expect_equal(combat_of("plain")[, 3], combat_of("x")[, 3])
})

# Parametric empirical Bayes for the rows in `used`, in R: an independent implementation for folds.
by_hand <- function(x, site, used = rep(TRUE, nrow(x)), z = NULL, reference = NULL) {
  site <- factor(site)
  design <- cbind(stats::model.matrix(~ 0 + site), z)
  b <- qr.coef(qr(design[used, ]), x[used, ])
  rest <- (x - design %*% b)[used, ]
  sites <- levels(site)
  size <- table(site[used])
  at <- seq_along(sites)
  mean <- if (is.null(reference)) colSums(b[at, ] * as.vector(size)) / sum(size)
    else b[match(reference, sites), ]
  sd <- sqrt(colMeans(if (is.null(reference)) rest^2 else rest[site[used] == reference, ]^2))
  clean <- x
  for (k in at) {
    if (identical(sites[k], reference)) next
    n <- size[[k]]
    g_hat <- g <- (b[k, ] - mean) / sd
    d_hat <- d <- colSums(rest[site[used] == sites[k], ]^2) / sd^2 / (n - 1)
    s2 <- stats::var(d_hat)
    a <- (2 * s2 + mean(d_hat)^2) / s2
    scale <- (mean(d_hat) * s2 + mean(d_hat)^3) / s2
    repeat {
      old <- c(g, d)
      g <- (stats::var(g_hat) * n * g_hat + d * mean(g_hat)) / (stats::var(g_hat) * n + d)
      d <- (0.5 * ((n - 1) * d_hat + n * (g_hat - g)^2) + scale) / (n / 2 + a - 1)
      if (max(abs(c(g, d) - old) / old) <= 1e-4) break
    }
    rows <- site == sites[k]
    kept <- matrix(mean, nrow(x), ncol(x), byrow = TRUE) +
      if (is.null(z)) 0 else z %*% b[-at, , drop = FALSE]
    clean[rows, ] <- (kept + sweep(sweep(x - kept, 2, g * sd), 2, sqrt(d), "/"))[rows, ]
  }
  clean
}

test_that("the independent implementation agrees with sva", {
  x <- combat_of("x")[, -3]
  z <- as.matrix(combat[c("age", "sex")])
  expect_equal(by_hand(x, combat$site), combat_of("plain")[, -3], tolerance = 1e-8)
  expect_equal(by_hand(x, combat$site, z = z), combat_of("kept")[, -3], tolerance = 1e-8)
  expect_equal(by_hand(x, combat$site, z = z, reference = "b"), combat_of("both")[, -3],
               tolerance = 1e-8)
})

scanned <- function(n = 60, d = 24) {
  site <- rep(c("a", "b", "b", "c", "a"), length.out = n)
  y <- factor(rep(c("NC", "AD", "AD", "NC"), length.out = n), levels = c("NC", "AD"))
  age <- stats::rnorm(n, 65, 8)
  x <- matrix(stats::rnorm(n * d), n) + outer(age / 20, stats::runif(d)) + 2
  x[, 3:6] <- x[, 3:6] + (y == "AD")
  x <- x * c(a = 1, b = 1.6, c = 0.7)[site] + c(a = 0, b = 1, c = -0.5)[site]
  list(x = x, y = y, graph = graph_chain(d), data = data.frame(site, age))
}

fit_scanned <- function(p, x = p$x, ..., fun = n2gfl) {
  suppressWarnings(suppressMessages(fun(
    x, p$y, p$graph, family = "binomial", data = p$data, lambda1 = c(0.05, 0.01), lambda2 = 0.01,
    thresh = 1e-10, ...)))
}

test_that("a fit is that of the harmonised features, for every storage, algorithm and remedy", {
  withr::local_seed(21)
  p <- scanned()
  z <- cbind(p$data$age)
  clean <- by_hand(p$x, p$data$site, z = z)
  controls <- p$y == "NC"
  sparse <- methods::as(p$x, "CsparseMatrix")
  for (how in list(list(), list(algorithm = "fista"), list(penalty = "laplacian", sign = "free"),
                   list(standardize = TRUE), list(covariates = ~ age),
                   list(covariates = ~ age, deconfound = "controls", sign = "nonpositive"))) {
    ours <- do.call(fit_scanned, c(list(p, harmonize = ~ site, preserve = ~ age), how))
    plain <- do.call(fit_scanned, c(list(p, clean), how))
    expect_true(all(ours$grid$converged))
    expect_equal(as.matrix(ours$beta), as.matrix(plain$beta), tolerance = 1e-4)
    expect_equal(ours$grid$dev.ratio, plain$grid$dev.ratio, tolerance = 1e-7)
    new <- 5:20
    expect_equal(predict(ours, p$x[new, ], newdata = p$data[new, ]),
                 predict(plain, clean[new, ], newcovariates = if (!is.null(how$covariates)) {
                   p$data[new, ]
                 }), tolerance = 1e-4)
    of_sparse <- do.call(fit_scanned, c(list(p, sparse, harmonize = ~ site, preserve = ~ age), how))
    expect_equal(as.matrix(of_sparse$beta), as.matrix(ours$beta), tolerance = 1e-4)
  }
  # ... after scaling, as estimated among the controls, and with sites that are numbers
  among <- by_hand(p$x / rowMeans(p$x), p$data$site, controls)
  p$data$site <- match(p$data$site, c("a", "b", "c"))
  ours <- fit_scanned(p, harmonize = ~ site, harmonize.among = "controls", scale = "mean",
                      controls = "NC")
  expect_equal(as.matrix(ours$beta), as.matrix(fit_scanned(p, among)$beta), tolerance = 1e-4)
})

test_that("held-out rows have no influence, and are harmonised with what the others say", {
  withr::local_seed(22)
  p <- scanned(60, 30)
  foldid <- rep(1:4, 15)
  held <- foldid == 3
  run <- function(p, ...) {
    fit_scanned(p, foldid = foldid, keep = TRUE, nested = TRUE, harmonize = ~ site,
                preserve = ~ scale(age), fun = cv.n2gfl, ...)
  }
  before <- run(p)
  strange <- p
  strange$x[held, ] <- stats::rnorm(sum(held) * 30, 50, 30)
  strange$data$age[held] <- stats::rnorm(sum(held), 1000, 300)
  strange$y[held] <- rev(p$y[held])
  after <- run(strange)
  expect_identical(after$fold.fits[[3]], before$fold.fits[[3]])
  expect_false(identical(after$fold.fits[[1]]$beta, before$fold.fits[[1]]$beta))
  expect_identical(after$nested$lambda[after$nested$lambda$fold == 3, ],
                   before$nested$lambda[before$nested$lambda$fold == 3, ])
  # The fold by hand
  clean <- by_hand(p$x, p$data$site, !held, cbind(p$data$age))
  train <- list(x = clean[!held, ], y = p$y[!held], graph = p$graph, data = p$data[!held, ])
  fit <- fit_scanned(train)
  expect_equal(as.matrix(before$fold.fits[[3]]$beta), as.matrix(fit$beta), tolerance = 1e-4)
  expect_equal(unname(before$fit.preval[held, ]), unname(predict(fit, clean[held, ])),
               tolerance = 1e-3)
})

test_that("noise with sites that predict the outcome gives no accuracy away", {
  withr::local_seed(23)
  p <- scanned(80, 60)
  p$x <- matrix(stats::rnorm(80 * 60), 80) * c(a = 1, b = 1.5, c = 0.8)[p$data$site]
  p$y <- factor(sample(rep(c("NC", "AD"), 40)), c("NC", "AD"))
  cv <- suppressWarnings(suppressMessages(cv.n2gfl(
    p$x, p$y, p$graph, family = "binomial", data = p$data, harmonize = ~ site, scale = NULL,
    lambda2 = 0.02, nlambda1 = 6, nfolds = 5, nested = TRUE, type.measure = "auc")))
  expect_lt(cv$nested$estimate["min", "cvm"], 0.7)
})

test_that("stability is that of the harmonised features of each run", {
  withr::local_seed(24)
  p <- scanned()
  foldid <- rep(1:3, 20)
  cv <- fit_scanned(p, foldid = foldid, harmonize = ~ site, fun = cv.n2gfl)
  predictors <- vapply(1:3, function(k) {
    by_hand(p$x, p$data$site, foldid != k) %*% as.vector(cv$fold.fits[[k]]$beta[, 2])
  }, numeric(60))
  centred <- scale(predictors, scale = FALSE)
  mean <- rowMeans(centred)
  expect_equal(cv$es[[2, "fit"]], sum((centred - mean)^2) / 3 / sum(mean^2), tolerance = 1e-6)
  same <- perturb_fits(p$x, p$y, p$graph, family = "binomial", data = p$data, harmonize = ~ site,
                       lambda1 = c(0.05, 0.01), lambda2 = 0.01, perturb = "jackknife",
                       group = foldid)
  expect_equal(same$es, cv$es, tolerance = 1e-2)

})

test_that("a fit keeps the estimates of the features that it uses, and works with them again", {
  withr::local_seed(25)
  p <- scanned(60, 400)
  clean <- by_hand(p$x, p$data$site)
  fit <- fit_scanned(p, harmonize = ~ site)
  plain <- fit_scanned(p, clean)
  used <- sort(unique(fit$beta@i))
  expect_identical(fit$harmonize$estimates$index, used)
  expect_identical(dim(fit$harmonize$estimates$scale), c(3L, length(used)))
  again <- list(x = p$x, y = p$y, data = p$data)
  by_hand <- list(x = clean, y = p$y)
  off <- data.frame(lambda1 = c(0.03, 0.004), lambda2 = 0.01)
  for (how in list(list(row = 2, refit = TRUE), list(s = off, exact = TRUE),
                   list(s = off, exact = TRUE, refit = TRUE))) {
    ours <- suppressWarnings(do.call(predict, c(list(fit, p$x[1:9, ], newdata = p$data[1:9, ]), how,
                                                again)))
    theirs <- suppressWarnings(do.call(predict, c(list(plain, clean[1:9, ]), how, by_hand)))
    if (!isTRUE(how$refit)) expect_equal(ours, theirs, tolerance = 1e-4)
    else expect_equal(cor(as.vector(ours), as.vector(theirs)), 1, tolerance = 1e-3)
  }
  expect_equal(fitted(fit, p$x, data = p$data), fitted(plain, clean), tolerance = 1e-5)
  expect_equal(residuals(fit, p$x, p$y, data = p$data), residuals(plain, clean, p$y),
               tolerance = 1e-5)
  empty <- n2gfl(p$x, p$y, p$graph, family = "binomial", data = p$data, lambda1 = 9, lambda2 = 0.1,
                 harmonize = ~ site, preserve = ~ age)
  expect_equal(unname(predict(empty, p$x[1:2, ], newdata = p$data[1:2, ])[, 1]),
               rep(unname(empty$a0), 2))
})

test_that("a subset of the table's expressions can say the site, and global can be preserved", {
  withr::local_seed(26)
  p <- scanned()
  p$data$scanner <- rep(c("x", "x", "y"), 20)
  both <- fit_scanned(p, harmonize = ~ interaction(site, scanner), preserve = ~ global)
  clean <- by_hand(p$x, paste0(p$data$site, ".", p$data$scanner), z = cbind(rowMeans(p$x)))
  expect_equal(as.matrix(both$beta), as.matrix(fit_scanned(p, clean)$beta), tolerance = 1e-4)
  expect_equal(predict(both, p$x[1:4, ], newdata = p$data[1:4, c("scanner", "site")]),
               predict(fit_scanned(p, clean), clean[1:4, ]), tolerance = 1e-4)
})

test_that("runs that are resumed or parallel give the same", {
  withr::local_seed(29)
  p <- scanned(60, 60)
  foldid <- rep(1:3, 20)
  run <- function(...) {
    set.seed(1)  # for the inner folds
    fit_scanned(p, foldid = foldid, harmonize = ~ site, preserve = ~ age, nested = TRUE,
                fun = cv.n2gfl, ...)
  }
  plain <- run()
  folder <- withr::local_tempdir()
  for (time in 1:2) {
    expect_identical(without_call(run(checkpoint = folder)), without_call(plain))
    expect_length(dir(folder, "^Fold-2"), 1)
    unlink(dir(folder, "^(Fold-2|all-rows)", full.names = TRUE))
  }
  skip_if_not(future::supportsMulticore())
  old <- future::plan(future::multicore, workers = 2)
  withr::defer(future::plan(old))
  expect_identical(without_call(run()), without_call(plain))
})

test_that("images bring the sites of their subjects", {
  withr::local_seed(30)
  p <- scanned(60, 60)

  array <- aperm(array(p$x, c(60, 4, 5, 3)), c(2, 3, 4, 1))
  images <- suppressMessages(read_images(array, threshold = 0, data = p$data))
  fit <- suppressWarnings(suppressMessages(n2gfl(
    images, p$y, family = "binomial", lambda1 = 0.02, lambda2 = 0.01, harmonize = ~ site)))
  expect_gt(fit$grid$nonzero, 0)
  expect_output(print(fit), "Features without effects of 3 sites")
  expect_identical(predict(fit, images[3:7]),
                   predict(fit, images[3:7], newdata = p$data[3:7, ]))
})

test_that("a site that is new is an error, or its rows stay as they are", {
  withr::local_seed(27)
  p <- scanned()
  held <- p$data$site == "c"
  cv <- fit_scanned(p, group = p$data$site, foldid = match(p$data$site, c("a", "b", "c")),
                    harmonize = ~ site, new.site = "pooled", keep = TRUE, fun = cv.n2gfl)
  train <- list(y = p$y[!held], graph = p$graph, data = p$data[!held, ])
  fit <- fit_scanned(train, by_hand(p$x[!held, ], p$data$site[!held]))
  expect_equal(unname(cv$fit.preval[held, ]), unname(predict(fit, p$x[held, ])), tolerance = 1e-4)
  ours <- fit_scanned(c(train, list(x = p$x[!held, ])), harmonize = ~ site)
  expect_equal(predict(ours, p$x[held, ], newdata = p$data[held, ], new.site = "pooled"),
               predict(fit, p$x[held, ]), tolerance = 1e-4)
  rownames(p$x) <- sprintf("sub-%02d", 1:60)
  withr::local_options(width = 200)
  expect_snapshot({
    refusal(predict(ours, p$x[1:9, ], newdata = p$data[1:9, ]))
    refusal(predict(ours, p$x[1:9, ]))
    refusal(predict(ours, p$x[1:2, ], newdata = p$data[1:2, ], new.site = "new"))
    refusal(fit_scanned(p, foldid = match(p$data$site, c("a", "b", "c")), harmonize = ~ site,
                        fun = cv.n2gfl))
  })
})

test_that("harmonising that cannot be done is refused", {
  p <- withr::with_seed(28, scanned(20))
  p$data$outcome <- p$y
  p$data$number <- seq_len(20)
  p$data$rare <- replace(rep(c("a", "b"), 10), 7, "c")
  fit <- function(..., x = p$x) refusal(fit_scanned(p, x, ...))
  withr::local_options(width = 200)
  expect_snapshot({
    fit(harmonize = "site")
    fit(harmonize = y ~ site)
    fit(harmonize = ~ site + rare)
    fit(harmonize = ~ scanner)
    fit(harmonize = ~ number)
    fit(harmonize = ~ rare)
    fit(harmonize = ~ c("a", "b"))
    fit(harmonize = ~ replace(site, TRUE, "a"))
    fit(harmonize = ~ site, preserve = "age")
    fit(harmonize = ~ site, preserve = ~ age + outcome)
    fit(harmonize = ~ outcome)
    fit(harmonize = ~ site, preserve = ~ site)
    fit(harmonize = ~ site, preserve = ~ height)
    fit(harmonize = ~ site, reference = "d")
    fit(harmonize = ~ site, harmonize.among = "patients")
    fit(harmonize = ~ site, harmonize.among = "controls", controls = p$data$site == "a")
    fit(harmonize = ~ site, new.site = TRUE)
    fit(preserve = ~ age)
    fit(reference = "a")
    fit(new.site = "pooled")
    fit(harmonize.among = "controls")
    fit(harmonize = ~ site, x = replace(p$x, 30, NA))
    fit(harmonize = ~ site, x = matrix(match(p$data$site, letters), 20, 24))
    p$data$site[3] <- NA
    fit(harmonize = ~ site)
  })
})
