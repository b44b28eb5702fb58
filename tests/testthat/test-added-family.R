# A family is added to a copy of the sources, in the way that CONTRIBUTING.md describes: Huber's
# loss, whose files are in fixtures/huber. The copy is installed into a library of its own and used
# in a new session: fits, cross-validation, residuals, likelihood, predictions, stability selection.
# Besides the new files only the lines change that name_huber() writes.

source_root <- function() test_path("..", "..")

skip_without_sources <- function() {
  skip_in_check()  # slow, and the sources are not there
  skip_on_covr()
}

# The package that is tested, and the copy of the sources that it was built from (Makefile).
built_copy <- function() {
  library <- Sys.getenv("N2GFL_LIBRARY", file.path(source_root(), "out", "lib"))
  file.path(dirname(normalizePath(library, mustWork = FALSE)), "pkg")
}

copy_sources <- function(to) {
  parts <- file.path(source_root(), c("DESCRIPTION", "NAMESPACE", "R", "inst", "src"))
  file.copy(parts, to, recursive = TRUE)
  objects <- dir(to, "[.](o|so|dll)$", recursive = TRUE, full.names = TRUE)
  unlink(objects)
}

# Object files that were compiled from the same sources save minutes.
reuse_objects <- function(to) {
  built <- file.path(built_copy(), "src")
  sources <- dir(file.path(to, "src"), "([.](cpp|hpp|h)|Makevars)$", recursive = TRUE)
  same <- unname(tools::md5sum(file.path(to, "src", sources)) ==
                   tools::md5sum(file.path(built, sources)))
  if (!isTRUE(all(same))) return(invisible())
  objects <- dir(built, "[.]o$", recursive = TRUE)
  file.copy(file.path(built, objects), file.path(to, "src", objects))
}

# Adds text to the only line of a file that has `mark`, before or after the mark.
add_to_line <- function(file, mark, text, after = FALSE) {
  lines <- readLines(file)
  at <- grep(mark, lines, fixed = TRUE)
  expect_length(at, 1)
  both <- if (after) paste0(mark, text) else paste0(text, mark)
  lines[at] <- sub(mark, both, lines[at], fixed = TRUE)
  writeLines(lines, file)
}

name_huber <- function(to) {
  families <- file.path(to, "src", "core", "loss", "families.cpp")
  add_to_line(families, "#include \"loss/gaussian_loss.hpp\"", "\n#include \"loss/huber_loss.hpp\"",
              after = TRUE)
  add_to_line(families, "  throw", paste0(
    "  if (family == \"huber\") return std::make_unique<HuberLoss>(response.col(0), weights);\n"))
  add_to_line(file.path(to, "src", "Makevars"), "core/loss/loss.o", "core/loss/huber_loss.o ")
  add_to_line(file.path(to, "R", "family.R"), "gaussian = gaussian_family(),",
              " huber = huber_family(),", after = TRUE)
}

add_huber <- function(to) {
  new <- test_path("fixtures", "huber")
  file.copy(file.path(new, c("huber_loss.hpp", "huber_loss.cpp")),
            file.path(to, "src", "core", "loss"))
  file.copy(file.path(new, "family-huber.R"), file.path(to, "R"))
  name_huber(to)
  unlink(file.path(to, "src", "core", "loss", "families.o"))
}

# Runs a program; its output becomes the failure's text if it fails.
expect_runs <- function(program, arguments) {
  log <- withr::local_tempfile()
  status <- system2(file.path(R.home("bin"), program), shQuote(arguments), stdout = log,
                    stderr = log)
  expect(status == 0, paste(c("it failed:", utils::tail(readLines(log), 30)), collapse = "\n"))
  status == 0
}

install_copy <- function(to, library) {
  dir.create(library)
  expect_runs("R", c("CMD", "INSTALL", "--no-docs", "--no-test-load", "--no-byte-compile",
                     paste0("--library=", library), to))
}

# Numbers with wild ones among them, and everything else that a fit takes.
huber_problem <- function(sign, penalty = "fused", ...) {
  x <- matrix(rnorm(50 * 12), 50)
  side <- if (sign == "nonpositive") -1 else 1
  y <- side * rowSums(x[, 4:6]) + rnorm(50)
  wild <- c(3, 20, 33, 41)
  y[wild] <- y[wild] + c(100, -50, 30, 1000)
  reference_problem(x, y, graph_grid(c(4, 3)), family = "huber", sign = sign, penalty = penalty,
                    ...)
}

huber_problems <- function() {
  list(
    huber_problem("nonnegative", weights = runif(50, 0.3, 2), offset = rnorm(50),
                  covariates = matrix(rnorm(50))),
    huber_problem("free", penalty = "laplacian"), huber_problem("nonpositive", standardize = TRUE),
    huber_problem("free", intercept = FALSE), huber_problem("nonnegative", weights = rep(0:4, 10))
  )
}

# What the new session gets: the arguments of n2gfl(), which the problem keeps, and penalties.
handed_over <- function(p, algorithm) {
  unit <- lambda_unit(p)
  list(args = c(p$args, list(algorithm = algorithm)), lambda1 = unit * c(0.5, 0.1, 0.02),
       lambda2 = unit * c(0.1, 0.01))
}

huber_deviance_of <- function(residual) {
  ifelse(abs(residual) <= 1, residual^2, 2 * abs(residual) - 1)
}

# Predictions, residuals and likelihood of the first fit, from the definitions.
expect_methods <- function(got, p) {
  fit <- got$fits[[1]]
  link <- vapply(seq_len(nrow(fit$grid)), function(k) {
    row <- fit_row(fit, k)
    linear_predictor(p, fit_free(p, row), row$beta)
  }, numeric(50))
  expect_equal(unname(got$link), link, tolerance = 1e-12)
  residual <- p$args$y - link
  expect_equal(unname(got$residuals$response), residual, tolerance = 1e-12)
  deviance <- colSums(50 * p$w * huber_deviance_of(residual))
  expect_equal(unname(colSums(got$residuals$deviance^2)), deviance)
  expect_equal(fit$nulldev * (1 - fit$grid$dev.ratio), deviance, tolerance = 1e-8)
  expect_equal(as.numeric(got$log_likelihood), -deviance / 2, tolerance = 1e-8)
}

expect_cross_validated <- function(cv, p, foldid) {
  expect_identical(cv$name, "Huber deviance")
  loss <- huber_deviance_of(p$args$y - cv$fit.preval)
  folds <- split(seq_along(foldid), foldid)
  means <- t(vapply(folds, function(i) colSums(p$w[i] * loss[i, ]) / sum(p$w[i]), numeric(2)))
  expect_equal(unname(cv$cvm), apply(means, 2, stats::weighted.mean, w = rowsum(p$w, foldid)))
  expect_true(all(is.finite(cv$nested$estimate$cvm)))
}

test_that("a family that is added to a copy of the sources goes through the whole package", {
  skip_without_sources()
  withr::local_seed(921)
  folder <- withr::local_tempdir()
  copy <- file.path(folder, "n2gfl")
  dir.create(copy)
  copy_sources(copy)
  reuse_objects(copy)
  add_huber(copy)
  if (!install_copy(copy, file.path(folder, "lib"))) return(invisible())

  problems <- huber_problems()
  algorithms <- c("pursuit", "pursuit", "fista", "pursuit", "pursuit")
  given <- list(problems = Map(handed_over, problems, algorithms),
                foldid = rep(1:4, length.out = 50))
  saveRDS(given, file.path(folder, "given.rds"))
  use <- test_path("fixtures", "huber", "use.R")
  if (!expect_runs("Rscript", c(use, folder))) return(invisible())
  got <- readRDS(file.path(folder, "got.rds"))

  expect_identical(got$slots$family, got$slots$contract)
  for (k in seq_along(problems)) {
    # the linear program of this check is less accurate than the fit if some residuals are huge
    expect_kkt(got$fits[[k]], problems[[k]], thresh = 1e-8)
    expect_gt(max(got$fits[[k]]$grid$nonzero), 0)
  }
  expect_methods(got, problems[[1]])
  expect_cross_validated(got$cv, problems[[1]], given$foldid)
  expect_s3_class(got$stable, "n2gfl_stability_selection")
  expect_true(any(grepl("huber", got$printed)))
  expect_match(got$refused, "huber", fixed = TRUE)
})
