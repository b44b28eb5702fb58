# What every trial needs: the package from out/lib, the helpers of the tests, and a line of results.

local({
  library <- normalizePath(file.path("out", "lib"))
  .libPaths(c(library, .libPaths()))
  Sys.setenv(R_LIBS = library, NOT_CRAN = "true")
})
suppressPackageStartupMessages({
  library(n2gfl)
  library(testthat)
})

# Helpers see the package's own functions, as they do in tests.
helpers <- new.env(parent = asNamespace("n2gfl"))
for (file in dir(file.path("tests", "testthat"), "^helper-", full.names = TRUE)) {
  sys.source(file, helpers)
}
attach(helpers, name = "helpers")

seconds <- 300  # time limit of what is repeated as often as possible
seed <- as.integer(Sys.getenv("SEED", "1"))
started <- Sys.time()
spent <- function() as.numeric(Sys.time() - started, units = "secs")

# Repeats `one` up to `count` times, as far as the time allows.
for_a_while <- function(count, one) {
  answers <- list()
  for (k in seq_len(count)) {
    if (spent() > seconds) break
    answers[[k]] <- one(k)
  }
  answers
}

failures <- 0

# Prints one line; the trial fails if `bad` is not 0.
report <- function(name, bad, ...) {
  failures <<- failures + bad
  cat(sprintf("%-28s %s, %d wrong, %.0f s\n", paste0(name, ":"), sprintf(...), bad, spent()))
}

finish <- function() quit(status = if (failures > 0) 1 else 0)

megabytes <- function(field) {
  line <- grep(paste0("^", field), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
