# Matrices on disk give the results of the same values in memory, to the last bit, wherever `x` is
# an argument.

disk_data <- function(n = 40, d = 12) {
  x <- matrix(stats::rnorm(n * d), n)
  x[, 1:3] <- x[, 1:3] + stats::rnorm(n)
  covariates <- data.frame(age = stats::rnorm(n, 70, 5), site = rep(c("a", "b"), n / 2))
  list(x = x, y = rowSums(x[, 1:4]) + stats::rnorm(n), graph = graph_chain(d),
       data = covariates, family = "gaussian")
}

local_file <- function(name = "x.bin", envir = parent.frame()) {
  file.path(withr::local_tempdir(.local_envir = envir), name)
}

# x in a file that lives as long as the test, of a type that can hold its values.
on_disk <- function(x, type = "double", envir = parent.frame()) {
  write_disk_matrix(x, local_file(envir = envir), type)
}

quietly <- function(code) suppressWarnings(suppressMessages(code))

# Calls f(x) with the matrix in memory and on disk. Calls are compared elsewhere.
expect_same_on_disk <- function(x, f, type = "double") {
  strip <- function(value) {
    if (!is.list(value) || is.data.frame(value)) return(value)
    value$call <- NULL
    if (inherits(value, "formula")) value else lapply(unclass(value), strip)
  }
  alone <- withr::with_seed(1, quietly(f(x)))
  disk <- withr::with_seed(1, quietly(f(on_disk(x, type))))
  expect_identical(strip(disk), strip(alone))
  invisible(disk)
}

small_fit <- function(p, x, ...) {
  n2gfl(x, p$y, p$graph, family = p$family, lambda2 = c(0.1, 0.03), nlambda1 = 4, ...)
}

# ---- types ---------------------------------------------------------------------------------------

# Whole numbers that a type can hold, its ends among them.
numbers_of <- function(type, n, d) {
  ends <- unlist(disk_types[type, c("least", "most")], use.names = FALSE)
  if (anyNA(ends)) return(matrix(stats::rnorm(n * d), n))
  between <- round(ends[1] + stats::runif(n * d - 2) * diff(ends))
  matrix(c(ends, between), n)
}

test_that("every type holds its values, and fits are those of the values in memory", {
  withr::local_seed(2101)
  for (type in rownames(disk_types)) {
    values <- numbers_of(type, 30, 7)
    disk <- on_disk(values, type)
    in_memory <- as.matrix(disk)
    if (type == "float") expect_equal(in_memory, values, tolerance = 1e-7)
    else expect_identical(in_memory, values)
    expect_identical(file.size(disk$file), 30 * 7 * disk_types[type, "bytes"])
    y <- values[, 2] / max(abs(values)) + stats::rnorm(30) / 10
    fits <- lapply(list(in_memory, disk), function(x) {
      fit <- n2gfl(x, y, graph_chain(7), sign = "free", lambda2 = 0, nlambda1 = 5)
      fit[setdiff(names(fit), "call")]
    })
    expect_identical(fits[[2]], fits[[1]])
    expect_true(all(fits[[2]]$grid$gap <= 1e-6))
  }
})

test_that("slope, intercept, offset and the code of missing values", {
  withr::local_seed(2102)
  stored <- matrix(sample(-300:300, 60), 12)
  stored[3, 2] <- -32768
  file <- local_file()
  connection <- file(file, "wb")
  writeBin(charToRaw("eighteen bytes ..."), connection)
  writeBin(as.integer(stored), connection, size = 2)
  close(connection)
  disk <- disk_matrix(file, 12, 5, "short", slope = 0.5, intercept = -7, offset = 18)
  expect_identical(as.matrix(disk), stored * 0.5 - 7)
  coded <- disk_matrix(file, 12, 5, "short", slope = 0.5, intercept = -7, offset = 18, na = -32768)
  expect_identical(as.matrix(coded), replace(stored * 0.5 - 7, 15, NA))
  expect_true(all_finite_cpp(disk))
  expect_false(all_finite_cpp(coded))
  written <- write_disk_matrix(stored * 0.5 - 7, local_file(), "short", slope = 0.5, intercept = -7)
  expect_identical(as.matrix(written), stored * 0.5 - 7)
  # multiples of a slope that is not exact
  tenths <- matrix(c(0.1, 0.2, 0.3, -0.7), 2)
  expect_equal(as.matrix(write_disk_matrix(tenths, local_file(), "short", slope = 0.1)), tenths)
})

# ---- every function that takes x -----------------------------------------------------------------

test_that("fits of all families, with a certificate that is checked", {
  for (family in c("gaussian", "binomial", "poisson", "cox", "ordinal")) {
    p <- withr::with_seed(2103, family_problem(family))
    p$x <- as.matrix(on_disk(p$x, "float"))
    fit <- expect_same_on_disk(p$x, function(x) small_fit(p, x), "float")
    expect_true(all(fit$grid$gap <= 1e-6))
    expect_true(all(fit$grid$converged))
  }
  p <- withr::with_seed(2104, disk_data())
  fit <- small_fit(p, on_disk(p$x), sign = "nonnegative")
  expect_kkt(fit, reference_problem(p$x, p$y, p$graph))
})

test_that("all that a view does to x", {
  p <- withr::with_seed(2105, disk_data())
  p$x <- p$x + 5
  settings <- list(
    list(standardize = TRUE), list(scale = "mean"), list(covariates = ~ age + global),
    list(harmonize = ~ site), list(covariates = ~ age, deconfound = "controls", controls = p$y < 0),
    list(weights = rep(0:2, length.out = 40), sign = "nonpositive"),
    list(penalty = "laplacian"), list(algorithm = "fista"))
  for (setting in settings) {
    expect_same_on_disk(p$x, function(x) {
      do.call(small_fit, c(list(p, x, data = p$data), setting))
    })
  }
  expect_same_on_disk(p$x, function(x) lambda_max(x, p$y, p$graph, lambda2 = c(0, 0.1)))
})

test_that("predictions, residuals and refits", {
  p <- withr::with_seed(2106, disk_data())
  p$x <- p$x + 5
  fit <- small_fit(p, p$x, scale = "mean", sign = "free")
  off_grid <- c(lambda1 = 0.2, lambda2 = 0.1)
  expect_same_on_disk(p$x, function(x) {
    list(predict(fit, x), predict(fit, newx = x, row = 3), fitted(fit, x), residuals(fit, x, p$y),
         coef(fit, row = 3:4, refit = TRUE, x = x, y = p$y),
         coef(fit, s = off_grid, exact = TRUE, x = x, y = p$y),
         generics::augment(fit, x, p$y, row = 2))
  })
})

test_that("cross-validation, stability, perturbations and stability selection", {
  p <- withr::with_seed(2107, disk_data())
  cv <- quietly(quick_cv(p))
  expect_same_on_disk(p$x, function(x) {
    p$x <- x
    list(quick_cv(p, nested = TRUE, keep = TRUE), quick_cv(p, lambda2 = NULL, nlambda2 = 3),
         perturb_fits(x, p$y, p$graph, lambda1 = 0.2, lambda2 = 0.1, B = 3),
         stability_selection(x, p$y, p$graph, lambda2 = 0.1, q = 3, cutoff = 0.75, B = 4),
         ES(cv, x, normalize = "fit"), ES(cv, x, center = TRUE),
         assess(cv, newx = x, newy = p$y))
  })
})

test_that("sign and scale are checked as for values in memory", {
  p <- withr::with_seed(2108, disk_data(60, 30))
  x <- exp(matrix(stats::rnorm(60), 60, 30) + p$x / 10)
  y <- -rowSums(x[, 1:6])
  for (f in list(function(x) n2gfl(x, y, p$graph, lambda1 = 0.1, lambda2 = 0.1))) {
    warned <- function(x) testthat::capture_warnings(f(x))
    expect_identical(warned(on_disk(x)), warned(x))
    expect_length(warned(x), 2)
  }
})

test_that("rows are matched by the names of the rows", {
  p <- withr::with_seed(2109, disk_data())
  rownames(p$x) <- paste0("sub-", sprintf("%02d", 1:40))
  p$y <- stats::setNames(p$y, rownames(p$x))
  fit <- expect_same_on_disk(p$x, function(x) {
    n2gfl(x, rev(p$y), p$graph, lambda1 = 0.3, lambda2 = 0.1)
  })
  alone <- n2gfl(unname(p$x), unname(p$y), p$graph, lambda1 = 0.3, lambda2 = 0.1)
  expect_identical(as.matrix(fit$beta), as.matrix(alone$beta))
})

# ---- parts ---------------------------------------------------------------------------------------

test_that("parts of a matrix are those of the matrix in memory", {
  x <- matrix(as.double(1:20), 4, dimnames = list(letters[1:4], LETTERS[1:5]))
  disk <- on_disk(x)
  expect_identical(dim(disk), dim(x))
  expect_identical(dimnames(disk), dimnames(x))
  expect_identical(disk[, ], x)
  expect_identical(disk[2, ], x[2, ])
  expect_identical(disk[, "C"], x[, "C"])
  expect_identical(disk[3, 2], x[3, 2])
  expect_identical(disk[c(4, 1, 1), -2], x[c(4, 1, 1), -2])
  expect_identical(disk[c(TRUE, FALSE), c("E", "A"), drop = FALSE],
                   x[c(TRUE, FALSE), c("E", "A"), drop = FALSE])
  expect_identical(disk[0, ], x[0, ])
  expect_identical(on_disk(unname(x))[, 2:3], unname(x)[, 2:3])
  expect_identical(as.matrix(on_disk(Matrix::Matrix(x, sparse = TRUE))), x)
  expect_identical(as.matrix(write_disk_matrix(disk, local_file(), "raw")), x)
  expect_snapshot(refusal(disk[1]))
  expect_snapshot(refusal(disk[1, 2, 3]))
  expect_snapshot(refusal(disk[5, ]))
  expect_snapshot(refusal(disk[, "F"]))
  expect_snapshot(refusal(on_disk(unname(x))["a", ]))
})

test_that("a matrix on disk is printed in two lines", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "x.bin")
  shown <- function(text) gsub(normalizePath(folder, "/"), "<folder>", text, fixed = TRUE)
  expect_snapshot(write_disk_matrix(matrix(1:6, 2), file, "float"), transform = shown)
  expect_snapshot(print(disk_matrix(file)), transform = shown)
  expect_snapshot(print(disk_matrix(file, 2, 6, "short", slope = 0.1)), transform = shown)
})

# ---- sidecars ------------------------------------------------------------------------------------

test_that("a file is opened by its sidecar, in another folder too", {
  x <- matrix(as.double(1:6), 2, dimnames = list(NULL, c("a\nb", "\u00fc", "")))
  file <- local_file("with blanks \u00fc \u4e2d.bin")
  written <- write_disk_matrix(x, file, "short", slope = 0.5)
  opened <- disk_matrix(file, verify = TRUE)
  expect_identical(opened, written)
  expect_identical(as.matrix(opened), x)
  moved <- withr::local_tempdir()
  file.copy(paste0(file, c("", ".n2gfl")), moved)
  expect_identical(as.matrix(disk_matrix(file.path(moved, basename(file)))), x)
  # nothing else is left in the folder
  expect_setequal(dir(dirname(file)), basename(paste0(file, c("", ".n2gfl"))))
  expect_snapshot(refusal(write_disk_matrix(x, "x.bin", "raw", slope = 0.3)))
})

test_that("a sidecar that does not fit is refused", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  shown <- function(text) gsub(normalizePath(folder, "/"), "<folder>", text, fixed = TRUE)
  expect_refused <- function(code) expect_snapshot(refusal(code), transform = shown)
  write_disk_matrix(matrix(1:6, 2), "x.bin", "short")
  bytes <- readBin("x.bin.n2gfl", "raw", 1e5)
  known <- read_sidecar("x.bin.n2gfl")
  forge <- function(...) {
    body <- encode_data(utils::modifyList(known, list(...), keep.null = TRUE))
    writeBin(c(body, charToRaw(hash_cpp(body))), "x.bin.n2gfl")
  }
  forge(version = "n2gfl disk matrix 9")
  expect_refused(disk_matrix("x.bin"))
  forge(endian = if (.Platform$endian == "little") "big" else "little")
  expect_error(disk_matrix("x.bin"), "must have this machine's order of bytes")
  forge(type = "complex")
  expect_refused(disk_matrix("x.bin"))
  forge(nrow = -1)
  expect_refused(disk_matrix("x.bin"))
  for (damaged in list(raw(0), utils::head(bytes, -3), rev(bytes), replace(bytes, 20, as.raw(9)))) {
    writeBin(damaged, "x.bin.n2gfl")
    expect_error(disk_matrix("x.bin"), "x.bin.n2gfl\" is damaged", fixed = TRUE)
  }
  unlink("x.bin.n2gfl")
  expect_refused(disk_matrix("x.bin"))
})

test_that("values that were changed afterwards are found", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  shown <- function(text) gsub(normalizePath(folder, "/"), "<folder>", text, fixed = TRUE)
  write_disk_matrix(matrix(1:6, 2), "x.bin", "short")
  writeBin(6:1, "x.bin", size = 2)
  expect_snapshot(refusal(disk_matrix("x.bin", verify = TRUE)), transform = shown)
  Sys.setFileTime("x.bin", Sys.time() + 100)
  expect_error(disk_matrix("x.bin"), "the checksum of")
  writeBin(1:6, "x.bin", size = 2)
  Sys.setFileTime("x.bin", Sys.time() + 100)
  expect_silent(disk_matrix("x.bin"))
})

# ---- bad input -----------------------------------------------------------------------------------

test_that("wrong arguments get one sentence", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  shown <- function(text) gsub(normalizePath(folder, "/"), "<folder>", text, fixed = TRUE)
  expect_refused <- function(code) expect_snapshot(refusal(code), transform = shown)
  writeBin(as.double(1:6), "x.bin")
  dir.create("folder")
  expect_refused(disk_matrix("missing.bin", 2, 3))
  expect_refused(disk_matrix("folder", 2, 3))
  expect_refused(disk_matrix(NA, 2, 3))
  expect_refused(disk_matrix("x.bin", 2))
  expect_refused(disk_matrix("x.bin", type = "float"))
  expect_refused(disk_matrix("x.bin", 2, 4))
  expect_refused(disk_matrix("x.bin", 2, 2, offset = 8))
  expect_refused(disk_matrix("x.bin", 2, 3, offset = 3))
  expect_refused(disk_matrix("x.bin", 2, 3, "float"))
  expect_refused(disk_matrix("x.bin", 2, 3, "complex"))
  expect_refused(disk_matrix("x.bin", 2, 3e9))
  expect_refused(disk_matrix("x.bin", 2e9, 2e9))
  expect_refused(disk_matrix("x.bin", 2, 3, slope = 0))
  expect_refused(disk_matrix("x.bin", 2, 3, intercept = NA))
  expect_refused(disk_matrix("x.bin", 2, 3, na = "-1"))
  expect_refused(disk_matrix("x.bin", 2, 3, dimnames = list(1:3, 1:2)))
  expect_refused(disk_matrix("x.bin", 2, 3, verify = TRUE))
  x <- matrix(1:6, 2)
  write_disk_matrix(x, "y.bin")
  expect_refused(disk_matrix("y.bin", type = "float"))
  expect_refused(write_disk_matrix(x, "y.bin"))
  expect_refused(write_disk_matrix(x, "folder"))
  expect_refused(write_disk_matrix(x, file.path("missing", "x.bin")))
  expect_refused(write_disk_matrix(x[0, ], "new.bin"))
  expect_refused(write_disk_matrix(x + 0.5, "new.bin", "short"))
  expect_refused(write_disk_matrix(x - 2, "new.bin", "raw"))
  expect_refused(write_disk_matrix(x * 1e39, "new.bin", "float"))
  expect_refused(write_disk_matrix(replace(x, 5, NA), "new.bin"))
  expect_refused(write_disk_matrix(letters, "new.bin"))
  expect_refused(n2gfl(structure(list(1), class = "other"), 1:2, lambda2 = 0))
  expect_false(file.exists("new.bin"))
})

test_that("a folder that cannot be written to is refused, and nothing is left there", {
  skip_on_os("windows")
  folder <- withr::local_tempdir()
  Sys.chmod(folder, "500")
  withr::defer(Sys.chmod(folder, "700"))
  if (file.access(folder, 2) == 0) folder <- "/proc"  # where root cannot write
  before <- dir(folder)
  expect_error(write_disk_matrix(matrix(1:6, 2), file.path(folder, "x.bin")),
               "^`file` must be in a folder .*(that can be written to|could not be written)")
  if (folder != "/proc") expect_identical(dir(folder), before)
})

test_that("a file that cannot be written leaves the old one", {
  withr::local_dir(withr::local_tempdir())
  x <- matrix(as.double(1:6), 2)
  write_disk_matrix(x, "x.bin")
  fail <- function(connection) writeBin(as.raw(1:3), connection)
  expect_error(write_then_rename("x.bin", 48, fail), "room for 48 bytes, but \"x.bin\" could not")
  expect_error(write_disk_matrix(x * NA, "x.bin", overwrite = TRUE), "finite")
  expect_identical(as.matrix(disk_matrix("x.bin", verify = TRUE)), x)
  write_disk_matrix(x + 1, "x.bin", overwrite = TRUE)
  expect_identical(as.matrix(disk_matrix("x.bin", verify = TRUE)), x + 1)
  expect_length(dir("."), 2)
})

test_that("values that no fit takes are refused as in memory", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  stored <- matrix(as.integer(c(1, 5, 2, 4, 3, 9)), 3)
  writeBin(as.vector(stored), "x.bin", size = 2)
  x <- disk_matrix("x.bin", 3, 2, "short", na = 4)
  y <- c(1, 2, 4)
  expect_snapshot(refusal(n2gfl(x, y, graph_chain(2))))
  expect_snapshot(refusal(predict(n2gfl(stored, y, graph_chain(2)), x)))
  expect_snapshot(refusal(cv.n2gfl(x, y, graph_chain(2), nfolds = 3)))
  writeBin(numeric(6), "zero.bin")
  expect_snapshot(refusal(n2gfl(disk_matrix("zero.bin", 3, 2), y, graph_chain(2))))
  expect_snapshot(refusal(n2gfl(disk_matrix("zero.bin", 1, 6), 1, graph_chain(6))))
})

test_that("a file that changes after it was opened is refused", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  shown <- function(text) gsub(normalizePath(folder, "/"), "<folder>", text, fixed = TRUE)
  expect_refused <- function(code) expect_snapshot(refusal(code), transform = shown)
  values <- matrix(sin(1:60), 10)
  y <- cos(1:10)
  fit_on <- function(x) n2gfl(x, y, graph_chain(6), lambda1 = 0.1, lambda2 = 0.1)
  x <- write_disk_matrix(values, "x.bin")
  fit <- fit_on(x)
  view <- problem_at(check_problem(fit_arguments(list(x = x, y = y, graph = graph_chain(6)))))
  writeBin(values[1:50], "x.bin")
  expect_refused(fit_on(x))
  expect_refused(solve_view(view))
  expect_refused(predict(fit, x))
  expect_refused(x[1, 1])
  expect_refused(disk_matrix("x.bin"))
  unlink("x.bin")
  expect_refused(fit_on(x))
})

# ---- checkpoints and workers ---------------------------------------------------------------------

test_that("a checkpoint knows the file without reading it, and not by its name", {
  withr::local_dir(withr::local_tempdir())
  values <- matrix(sin(1:60), 10)
  x <- write_disk_matrix(values, "x.bin")
  file.copy(c("x.bin", "x.bin.n2gfl"), c("y.bin", "y.bin.n2gfl"))
  Sys.setFileTime("y.bin", Sys.time() - 1000)
  key <- work_key(x)
  expect_identical(work_key(disk_matrix("y.bin")), key)
  expect_identical(work_key(list(data = list(x = x))), work_key(list(data = list(x = x))))
  # without a sidecar the time of the last change tells files apart
  plain <- function(file) work_key(disk_matrix(file, 10, 6))
  expect_identical(plain("x.bin"), plain("x.bin"))
  expect_false(plain("x.bin") == plain("y.bin"))
  expect_false(work_key(disk_matrix("x.bin", 10, 6, slope = 2)) == plain("x.bin"))
  Sys.setFileTime("x.bin", Sys.time() + 1000)
  expect_false(work_key(x) == key)
  write_disk_matrix(values + 1, "x.bin", overwrite = TRUE)
  expect_false(work_key(disk_matrix("x.bin")) == key)
})

test_that("a run is resumed from its checkpoint", {
  p <- withr::with_seed(2110, disk_data())
  folder <- withr::local_tempdir()
  p$x <- on_disk(p$x)
  first <- quick_cv(p, checkpoint = folder)
  removed <- dir(folder, "^Fold-2.*piece$", full.names = TRUE)
  expect_length(removed, 1)
  unlink(removed)
  expect_identical(without_call(quick_cv(p, checkpoint = folder)), without_call(first))
  write_disk_matrix(as.matrix(p$x) + 1, p$x$file, overwrite = TRUE)
  p$x <- disk_matrix(p$x$file)
  expect_error(quick_cv(p, checkpoint = folder), "holds work on other data")
})

test_that("workers of other sessions map the same file", {
  skip_if_not_installed("future")
  skip_in_check()
  p <- withr::with_seed(2111, disk_data())
  p$x <- on_disk(p$x, "float")
  run <- function() withr::with_seed(1, without_call(quick_cv(p, nested = TRUE)))
  alone <- run()
  withr::local_envvar(R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  old <- future::plan("multisession", workers = 2)
  withr::defer(future::plan(old))
  expect_identical(run(), alone)
})

# ---- x of other packages -------------------------------------------------------------------------

test_that("an FBM of bigstatsr is taken by its file", {
  skip_if_not_installed("bigstatsr")
  p <- withr::with_seed(2112, disk_data())
  folder <- withr::local_tempdir()
  fbm <- function(values, type) {
    suppressWarnings(bigstatsr::FBM(nrow(values), ncol(values), type, init = values,
                                    backingfile = file.path(folder, type)))
  }
  for (type in c("double", "float", "integer", "unsigned short", "raw")) {
    values <- if (type %in% c("double", "float")) p$x else round(100 + 20 * p$x)
    values[] <- pmax(0, values)
    x <- fbm(values, type)
    disk <- as_disk_matrix(x)
    expect_s3_class(disk, "disk_matrix")
    expect_identical(as.matrix(disk), matrix(as.double(x[]), 40))
    fit <- n2gfl(x, p$y, p$graph, lambda2 = 0.1, nlambda1 = 4, sign = "free")
    alone <- n2gfl(as.matrix(disk), p$y, p$graph, lambda2 = 0.1, nlambda1 = 4, sign = "free")
    expect_identical(without_call(fit), without_call(alone))
    expect_identical(predict(fit, x), predict(alone, as.matrix(disk)))
    expect_identical(residuals(fit, x, p$y), residuals(alone, as.matrix(disk), p$y))
  }
  unlink(file.path(folder, "integer.bk"))
  x <- fbm(replace(values, 45, NA), "integer")
  expect_snapshot(refusal(n2gfl(x, p$y, p$graph)))
  codes <- bigstatsr::FBM.code256(40, 12, rep(1, 256), init = 1,
                                  backingfile = file.path(folder, "codes"))
  expect_snapshot(refusal(n2gfl(codes, p$y, p$graph)))
  unlink(x$backingfile)
  expect_error(n2gfl(x, p$y, p$graph), "`x` must have its file, but")
})

test_that("a file-backed big.matrix of bigmemory is taken by its file", {
  skip_if_not_installed("bigmemory")
  loadNamespace("bigmemory")
  p <- withr::with_seed(2113, disk_data())
  folder <- withr::local_tempdir()
  big <- function(values, type, name = type, ...) {
    if (type == "raw") mode(values) <- "raw"
    suppressWarnings(bigmemory::as.big.matrix(values, type, backingpath = folder, ...,
                                              backingfile = name,
                                              descriptorfile = paste0(name, ".desc")))
  }
  for (type in c("double", "float", "integer", "short", "raw")) {
    values <- if (type %in% c("double", "float")) p$x else round(100 + 20 * p$x)
    rownames(values) <- paste0("sub-", 1:40)
    values[] <- pmin(pmax(0, values), 255)
    x <- big(values, type)
    disk <- as_disk_matrix(x)
    expect_equal(as.matrix(disk), values, tolerance = 1e-7)
    y <- stats::setNames(p$y, rownames(values))
    fit <- quietly(n2gfl(x, rev(y), p$graph, lambda2 = 0.1, nlambda1 = 4, sign = "free"))
    alone <- n2gfl(as.matrix(disk), y, p$graph, lambda2 = 0.1, nlambda1 = 4, sign = "free")
    expect_identical(without_call(fit), without_call(alone))
    expect_identical(fitted(fit, x), fitted(alone, as.matrix(disk)))
  }
  for (type in c("integer", "short", "float")) {
    x <- big(replace(unname(values), 45, NA), type, paste0(type, "-na"))
    expect_error(n2gfl(x, p$y, p$graph), "`x` must hold finite numbers, but x[5, 2] is NA.",
                 fixed = TRUE)
  }
  expect_refused <- function(x) expect_snapshot(refusal(n2gfl(x, p$y, p$graph)))
  expect_refused(suppressWarnings(bigmemory::as.big.matrix(values, "double")))
  expect_refused(big(values %% 100, "char"))
  expect_refused(bigmemory::sub.big.matrix(x, firstCol = 2))
  expect_refused(big(unname(values), "double", "separated", separated = TRUE))
})
