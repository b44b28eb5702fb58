# The models of inst/paper, each against an implementation that shares no code with it.

test_that("all comparators have one interface", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("glmnet")
  paper <- paper_scripts()
  withr::local_seed(1)
  data <- paper_data()
  for (name in names(paper$comparators())) {
    model <- paper$comparators()[[name]]
    fit <- model$fit(data$x, data$y, data$graph)
    expect_equal(length(fit$a0), nrow(fit$grid), info = name)
    expect_equal(dim(fit$beta), c(ncol(data$x), nrow(fit$grid)), info = name)
    again <- model$fit(data$x, data$y, data$graph, fit$grid)
    expect_equal(as.matrix(again$beta), as.matrix(fit$beta), tolerance = 1e-3,
                 ignore_attr = TRUE, info = name)
    # The least penalised fit tells the classes apart better than the larger class alone.
    right <- paper$is_right(paper$held_out(fit, data$x, seq_len(nrow(data$x))), data$y)
    expect_gt(max(colMeans(right)), mean(data$y == "control"))
    expect_equal(model$selects, any(as.matrix(fit$beta) == 0), info = name)
  }
})

test_that("lasso, GFL, n2GFL and LapL are n2gfl() itself", {
  paper <- paper_scripts()
  withr::local_seed(2)
  data <- paper_data()
  expect_same <- function(name, ...) {
    ours <- paper$comparators()[[name]]$fit(data$x, data$y, data$graph)
    direct <- n2gfl(data$x, data$y, data$graph, family = "binomial", ...)
    expect_identical(ours$beta, direct$beta)
    expect_identical(ours$a0, direct$a0)
    expect_lte(max(direct$grid$gap), 1e-6)
  }
  expect_same("lasso", sign = "free", lambda2 = 0, nlambda1 = 30)
  expect_same("GFL", sign = "free", nlambda1 = 15, nlambda2 = 4)
  expect_same("n2GFL", nlambda1 = 15, nlambda2 = 4)
  expect_same("LapL", sign = "free", penalty = "laplacian", lambda2 = c(0.1, 0.03, 0.01, 0.001),
              nlambda1 = 12, lambda.min.ratio = 0.05)
})

test_that("the most accurate row is that of cv.n2gfl()", {
  paper <- paper_scripts()
  withr::local_seed(3)
  data <- paper_data()
  foldid <- make_folds(data$y, 5)
  ours <- paper$cross_validate(paper$comparators()$n2GFL, data$x, data$y, data$graph, foldid)
  lambda2 <- unique(paper$comparators()$n2GFL$fit(data$x, data$y, data$graph)$grid$lambda2)
  expect_length(lambda2, 4)
  cv <- suppressWarnings(cv.n2gfl(data$x, data$y, data$graph, family = "binomial", nlambda1 = 15,
                                  lambda2 = lambda2, foldid = foldid, type.measure = "class"))
  # cv.n2gfl() averages over folds, which are of one size here.
  expect_equal(1 - ours$accuracy, cv$cvm, ignore_attr = TRUE)
  expect_equal(ours$row, cv$index[["min"]])
  expect_equal(ours$size[ours$row],
               mean(vapply(cv$fold.fits, function(fit) sum(fit$beta[, ours$row] != 0), 0)))
})

test_that("MLDA follows its definition", {
  paper <- paper_scripts()
  withr::local_seed(4)
  x <- matrix(rnorm(12 * 6), 12)
  y <- factor(rep(c("a", "b"), c(5, 7)))
  x[y == "b", 2:3] <- x[y == "b", 2:3] + 2
  # By hand: t-tests, scatter matrix, eigenvalues raised, discriminant direction.
  p <- apply(x, 2, function(column) t.test(column ~ y, var.equal = TRUE)$p.value)
  chosen <- sort(order(p)[1:4])
  means <- rowsum(x[, chosen], y) / c(5, 7)
  centred <- x[, chosen] - means[as.integer(y), ]
  parts <- eigen(crossprod(centred) / 10, symmetric = TRUE)
  raised <- pmax(parts$values, mean(parts$values))
  inverse <- parts$vectors %*% diag(1 / raised) %*% t(parts$vectors)
  beta <- drop(inverse %*% (means[2, ] - means[1, ]))
  a0 <- log(7 / 5) - sum(beta * colMeans(means))

  fit <- paper$comparators()$MLDA$fit(x, y, NULL, data.frame(count = 4))
  expect_equal(fit$a0, a0)
  expect_equal(fit$beta[chosen, 1], beta)
  expect_true(all(fit$beta[-chosen, 1] == 0))
  # More features than subjects: the eigenvalues of the null space are raised as well.
  wide <- matrix(rnorm(12 * 20), 12)
  rule <- paper$uncertain_lda(wide, y == "b")
  means <- rowsum(wide, y) / c(5, 7)
  parts <- eigen(crossprod(wide - means[as.integer(y), ]) / 10, symmetric = TRUE)
  raised <- pmax(parts$values, mean(parts$values))
  along <- crossprod(parts$vectors, means[2, ] - means[1, ])
  expect_equal(rule$beta, drop(parts$vectors %*% (along / raised)))
})

test_that("SVM and ridge fits in the space of the rows are those of all features", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("glmnet")
  paper <- paper_scripts()
  withr::local_seed(5)
  x <- matrix(rnorm(20 * 30), 20)
  y <- factor(rep(c("a", "b"), 10))
  for (first in c("a", "b")) {  # whichever class the first row has
    rows <- order(y != first)
    svm <- paper$fit_svm(x[rows, ], y[rows], NULL, data.frame(cost = 0.5))
    unit <- mean(rowSums(scale(x, scale = FALSE)^2))
    direct <- e1071::svm(x[rows, ], y[rows], kernel = "linear", cost = 0.5 / unit, scale = FALSE)
    predicted <- drop(x %*% svm$beta) + svm$a0 > 0
    expect_identical(unname(predicted), unname(predict(direct, x) == "b"))
    expect_equal(abs(drop(svm$beta)), abs(drop(crossprod(direct$SV, direct$coefs))),
                 tolerance = 1e-2, ignore_attr = TRUE)
  }
  ridge <- paper$fit_ridge(x, y, NULL, data.frame(lambda = c(1, 0.1)))
  lambda <- c(1, 0.1) * unit / 20
  direct <- glmnet::glmnet(x, y, family = "binomial", alpha = 0, lambda = lambda,
                           standardize = FALSE, thresh = 1e-12)
  expect_equal(ridge$beta, as.matrix(direct$beta), tolerance = 1e-4, ignore_attr = TRUE)
  expect_equal(ridge$a0, direct$a0, tolerance = 1e-4, ignore_attr = TRUE)
})

test_that("held-out rows have no influence on a nested prediction", {
  paper <- paper_scripts()
  withr::local_seed(6)
  data <- paper_data(30, c(8, 10))
  foldid <- make_folds(data$y, 3)
  inner <- paper$make_inner_folds(data$y, foldid, 3)
  model <- paper$comparators()$lasso
  before <- paper$nested_link(model, data$x, data$y, data$graph, foldid, inner)
  held <- which(foldid == 2)
  wrong <- data$y
  wrong[held] <- rev(levels(wrong))[as.integer(wrong[held])]
  after <- paper$nested_link(model, data$x, wrong, data$graph, foldid, inner)
  expect_identical(after[held], before[held])
  expect_false(identical(after[-held], before[-held]))
})
