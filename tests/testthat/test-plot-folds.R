# A cross-validation by hand: `selected` says which features each fold selects, with their signs.
made_up_cv <- function(images, selected, rows = 2) {
  d <- ncol(images$x)
  beta <- function(values) {
    Matrix::sparseMatrix(i = abs(values), j = rep(rows, length(values)), x = sign(values),
                         dims = c(d, rows))
  }
  all <- beta(Reduce(union, selected))
  fit <- structure(list(beta = all, space = images$space, graph = images$graph,
                        grid = data.frame(lambda1 = rows:1, lambda2 = 0)), class = "n2gfl")
  structure(list(n2gfl.fit = fit, index = c(min = rows, `1se` = 1L, es = NA),
                 fold.fits = lapply(selected, function(values) list(beta = beta(values)))),
            class = "n2gfl_cv")
}

test_that("the overlap is what all folds select, not only those that are drawn", {
  local_device()
  images <- stored_images()
  cv <- made_up_cv(images, list(c(3, 4, 10), c(3, 4), c(3, 4, -20), c(3, 9), c(4, 3)))
  expect_identical(plot_folds(cv, folds = c(1, 3), type = "axial"), list(3L))
  expect_identical(plot_folds(cv, row = 1, type = "axial"), list(integer(0)))
  signs <- made_up_cv(images, list(c(3, -4), c(-3, -4), c(3, -4, 5)))
  expect_identical(plot_folds(list(a = cv, b = signs), type = "coronal"),
                   list(a = 3L, b = c(3L, 4L)))
})

test_that("each panel shows its fold, in two colours, and the overlap in a third", {
  images <- stored_images()
  cv <- made_up_cv(images, list(c(3, 4), c(3, -20)))
  beta <- fold_coefficients(cv, NULL, NULL, images$space)
  expect_identical(dim(beta), c(ncol(images$x), 2L))
  expect_identical(which(beta[, 2] != 0), c(3L, 20L))
  draw <- fold_drawer(images$space, list(beta), list(type = "axial"), plain_look())
  panel <- draw(beta[, 2], sign_colours)
  feature <- which(images$space$mask)[c(3, 20)]
  index <- arrayInd(feature, images$space$dim)
  # Both lie in the first slice, where the cut goes.
  expect_identical(index[, 3], c(1L, 1L))
  expect_equal(panel$at, -16)
  expect_identical(panel$over$values[index[, 1:2]], c(1, -1))
  key <- fold_key(list(beta), list(3L))$key
  expect_identical(unname(key), unname(sign_colours))
  expect_named(key, c("positive", "negative", "in all folds"))
  expect_identical(fold_key(list(abs(beta)), list(integer(0)))$key, sign_colours["positive"])
})

test_that("no panel is too small to be read: fewer folds are drawn, and a message says so", {
  images <- stored_images()
  cv <- made_up_cv(images, list(3, c(3, 4), 3, 3, 3, 3, 3, 3, 3))
  local_device(7, 3)
  expect_silent(plot_folds(cv, type = "axial"))
  local_device(1.8, 1)
  said <- testthat::capture_messages(plot_folds(list(a = cv, b = cv), type = "axial"))
  expect_snapshot(cat(said, sep = ""))
  expect_identical(suppressMessages(plot_folds(cv, type = "axial")), list(3L))
})

test_that("the title of fold pictures says which row is drawn", {
  cv <- made_up_cv(stored_images(), list(3, c(3, 4)))
  expect_true(any(grepl("lambda.min", drawn_texts(plot_folds(cv, type = "axial")))))
  expect_false(any(grepl("lambda.min", drawn_texts(plot_folds(cv, type = "axial", main = "")))))
  expect_true(any(grepl("no fold selects", drawn_texts(plot_folds(cv, type = "axial", row = 1)))))
})

test_that("folds of a real cross-validation are drawn", {
  skip_without_misc3d()
  local_device()
  withr::local_seed(21)
  cohort <- simulate_cohort(n = 30, dim = c(12, 12))
  cv <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nlambda1 = 4,
                 nlambda2 = 1, nfolds = 4)
  common <- plot_folds(cv, like = cohort, main = "Folds")
  row <- cv$index[["stable"]]
  in_all <- Reduce(`&`, lapply(cv$fold.fits, function(fold) fold$beta[, row] != 0))
  expect_identical(common, list(unname(which(in_all))))
  volume <- simulate_cohort(n = 30, voxel_size = 14, space = "phantom")
  cv <- cv.n2gfl(volume$x, volume$y, volume$graph, family = "binomial", nlambda1 = 3,
                 nlambda2 = 1, nfolds = 3)
  expect_length(plot_folds(list(one = cv, two = cv), like = volume$images, folds = 2), 2)
})

test_that("a mesh has folds too", {
  local_device()
  mesh <- egg_mesh(5, 8)
  images <- list(x = matrix(0, 2, mesh$n), graph = mesh, space = NULL)
  cv <- made_up_cv(images, list(1:6, 2:7, c(2:6, -9)))
  expect_identical(plot_folds(cv, view = "top"), list(2:6))
})

test_that("plot_folds checks its arguments", {
  local_device()
  images <- stored_images()
  cv <- made_up_cv(images, list(c(3, 4), 3))
  small <- made_up_cv(list(x = matrix(0, 2, 9)), list(1, 2))
  expect_snapshot(refusal(plot_folds(1:3)))
  expect_snapshot(refusal(plot_folds(list())))
  expect_snapshot(refusal(plot_folds(list(cv, 1))))
  expect_snapshot(refusal(plot_folds(list(cv, small))))
  expect_snapshot(refusal(plot_folds(small)))
  expect_snapshot(refusal(plot_folds(cv, folds = c(1, 3))))
  expect_snapshot(refusal(plot_folds(cv, folds = "all")))
  expect_snapshot(refusal(plot_folds(cv, type = "mosaic")))
  expect_snapshot(refusal(plot_folds(cv, view = "inside")))
  expect_snapshot(refusal(plot_folds(cv, type = "axial", cut = NA)))
  expect_snapshot(refusal(plot_folds(cv, s = "lambda.es")))
})
