# Rare cases: unusual forms of input, and messages about unusual results.

test_that("signals may be arrays, and bad weights and factors are refused", {
  withr::local_seed(501)
  z <- matrix(rnorm(12), 3)
  graph <- graph_grid(c(3, 4))
  expect_identical(as.vector(fused_prox(z, graph, 0.1, 0.2)),
                   fused_prox(as.vector(z), graph, 0.1, 0.2))
  expect_identical(dim(fused_prox(z, graph, 0.1, 0.2)), c(3L, 4L))
  expect_error(fused_prox(z, graph, 0.1, 0.2, weights = c(rep(1, 11), 0)),
               "`weights` must hold positive numbers, but element 12 is 0.", fixed = TRUE)
  expect_error(fused_prox(z, graph, 0.1, 0.2, penalty.factor = c(-1, rep(1, 11))),
               "but element 1 is -1.", fixed = TRUE)
})

test_that("a large image is denoised exactly: the dual flow proves it", {
  withr::local_seed(502)
  size <- c(25, 25, 25)
  z <- array(rnorm(prod(size)), size)
  z[5:15, 5:15, 5:15] <- z[5:15, 5:15, 5:15] + 3
  graph <- graph_grid(size)
  one <- rep(1, length(z))
  for (lambda2 in c(0.2, 1)) {
    tv <- tv_denoise(z, graph, lambda2, dual = TRUE)
    gap <- prox_gap(tv$beta, tv$flow, as.vector(z), graph, 0, lambda2, one, one, "free")
    expect_lt(abs(gap), 1e-12)
    sparse <- fused_prox(z, graph, 0.3, lambda2, dual = TRUE)
    gap <- prox_gap(sparse$beta, sparse$flow, as.vector(z), graph, 0.3, lambda2, one, one,
                    "nonnegative")
    expect_lt(abs(gap), 1e-12)
  }
})

test_that("a sparse x has a key of its own, and covariates may be a Matrix", {
  withr::local_seed(503)
  data <- cv_problem("gaussian")
  data$x[abs(data$x) < 0.5] <- 0
  sparse <- methods::as(data$x, "CsparseMatrix")
  folder <- withr::local_tempdir()
  first <- without_call(quick_cv(replace(data, "x", list(sparse)), checkpoint = folder))
  expect_identical(without_call(quick_cv(replace(data, "x", list(sparse)), checkpoint = folder)),
                   first)
  expect_error(quick_cv(data, checkpoint = folder), "holds work on other data")
  expect_error(quick_cv(replace(data, "x", list(2 * sparse)), checkpoint = folder),
               "holds work on other data")
  age <- cbind(age = rnorm(60))
  fit <- function(z) n2gfl(data$x, data$y, data$graph, covariates = z, lambda1 = 0.1, lambda2 = 0.1)
  expect_identical(fit(Matrix::Matrix(age))$beta, fit(age)$beta)
})

test_that("files may be a factor, names may repeat, and blocks of one voxel change nothing", {
  folder <- withr::local_tempdir()
  eggs <- withr::with_seed(504, egg_images(2))
  at <- file.path(folder, c("a/s/x.nii", "b/s/x.nii"))
  for (k in 1:2) {
    dir.create(dirname(at[k]), recursive = TRUE)
    make_nifti(eggs[[k]], at[k])
  }
  images <- read_images(factor(at))
  expect_identical(images$subjects, at)
  expect_identical(read_images(at, coarsen = c(1, 1, 1)), read_images(at))
  expect_identical(images[], images)
  expect_identical(images[, ], images)
})

test_that("a compressed pair with many subjects is refused", {
  folder <- withr::local_tempdir()
  pair <- file.path(folder, "many.img")
  make_nifti(array(runif(54), c(3, 3, 3, 2)), pair)
  for (ending in c("img", "hdr")) {
    plain <- file.path(folder, paste0("many.", ending))
    write_bytes(readBin(plain, "raw", 1e5), paste0(plain, ".gz"))
    unlink(plain)
  }
  expect_error(read_images(paste0(pair, ".gz")), "not the compressed pair")
})

test_that("components of a mask are counted when images are printed", {
  values <- array(0, c(13, 3, 3, 2))
  for (k in seq(1, 13, by = 2)) values[k, , , ] <- withr::with_seed(k, runif(18, 1, 2))
  images <- read_images(values)
  expect_output(print(images), "7 separate components (9, 9, 9, 9, 9, ...)", fixed = TRUE)
})

test_that("maps of probabilities, flat images and images with empty dimensions are drawn", {
  withr::local_seed(505)
  local_device()
  images <- read_images(array(rnorm(6 * 6 * 4 * 20, 2), c(6, 6, 4, 20)), threshold = 0)
  y <- rowSums(images$x[, 20:23]) + rnorm(20)
  selection <- stability_selection(images, y, q = 8, cutoff = 0.7, B = 3)
  expect_silent(plot_map(selection, template = images, threshold = 0))
  volume <- RNifti::asNifti(array(rnorm(64), c(4, 4, 4, 1)))
  expect_silent(plot_map(volume))
  expect_error(plot_map(volume, cuts = numeric(0)), "`cuts` must have at least one number, but it")
  folder <- withr::local_tempdir()
  atlas <- make_nifti(array(1:128, c(4, 4, 4, 2)), file.path(folder, "atlas.nii"), type = "int16")
  fit <- n2gfl(images, y, lambda1 = 0.1, lambda2 = 0.01)
  expect_error(region_table(fit, atlas = atlas),
               "`atlas` must have 3 dimensions, not 4 with 2 volumes.", fixed = TRUE)
  expect_output(print(region_table(fit), rows = 1), "more rows")
})

test_that("fits that did not converge are counted in summaries and refits", {
  withr::local_seed(506)
  data <- cv_problem("gaussian")
  cv <- suppressWarnings(quick_cv(data, maxit = 1, thresh = 1e-15, algorithm = "ista"))
  expect_output(print(summary(cv)), "some fits did not converge")
})

test_that("a refit under the Laplacian penalty takes every feature as its own", {
  withr::local_seed(507)
  data <- cv_problem("gaussian")
  fit <- n2gfl(data$x, data$y, data$graph, lambda1 = 0.3, lambda2 = 0.1, penalty = "laplacian")
  chosen <- which(fit$beta[, 1] != 0)
  refitted <- coef(fit, refit = TRUE, row = 1, x = data$x, y = data$y, graph = data$graph)
  plain <- stats::coef(stats::lm(data$y ~ data$x[, chosen]))
  # the sign still holds, so the two agree where least squares obey it, as they do here
  expect_true(all(plain[-1] > 0))
  expect_equal(as.vector(refitted[c(1, chosen + 1), 1]), unname(plain), tolerance = 1e-5)
})

test_that("the error about a missing package names it and says how to install it", {
  expect_error(need_package("no.such.package", "to try this"),
               "^The package \"no.such.package\" is needed to try this: install.packages")
})

test_that("the first thing that a new session reads may be a mask, an atlas or a template", {
  skip_in_check()
  folder <- normalizePath(withr::local_tempdir())
  make_nifti(array(1:27, c(3, 3, 3)), file.path(folder, "image.nii.gz"), type = "int16")
  images <- read_images(file.path(folder, "image.nii.gz"), threshold = 0)
  fit <- make_fit(matrix(rep(0:1, c(20, 7)), 27, 1), images$graph, 1, 1)
  fit$space <- images$space
  code <- list(quote(graph_mask(file)$n), quote(nrow(region_table(given, atlas = file))),
               quote(is.list(plot_map(given, template = file))))
  for (one in code) {
    start_child(folder, fit, bquote({
      grDevices::pdf(NULL)
      file <- file.path(folder, "image.nii.gz")
      .(one)
    }))
    child_ended(folder)
    expect_identical(readLines(file.path(folder, "ended")), "0", label = child_log(folder))
  }
})

test_that("too little memory gives a clear error", {
  none <- function(...) {
    stop(structure(class = c("std::bad_alloc", "C++Error", "error", "condition"),
                   list(message = "std::bad_alloc", call = NULL)))
  }
  real <- fit_grid_cpp
  utils::assignInNamespace("fit_grid_cpp", none, "n2gfl")
  withr::defer(utils::assignInNamespace("fit_grid_cpp", real, "n2gfl"))
  expect_error(n2gfl(diag(4), 1:4, graph_chain(4)),
               "^There is not enough memory for the fit: .* each of 4 features and 3 edges[.]$")
})
