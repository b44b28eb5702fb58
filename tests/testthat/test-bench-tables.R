# The README's table and picture are made from the tables of bench/results.
source_bench_results <- function(env = parent.frame()) {
  source(test_path("..", "..", "bench", "results.R"), local = env)
}

read_bench_ratios <- function(lines) {
  source_bench_results()
  read_ratios(withr::local_tempfile(lines = lines))
}

test_that("a table with one peer a row gives one ratio a row", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  rows <- read_bench_ratios(c(
    "text", "| problem | peer | ratio | bar | met |", "| --- | --- | --- | --- | --- |",
    "| a | glmnet | 0.5 | 1 | yes |", "| b | flsa | < 0.25 |  |  |"))
  expect_identical(rows$problem, c("a", "b"))
  expect_identical(rows$peer, c("glmnet", "flsa"))
  expect_identical(rows$number, c(0.5, 0.25))
  expect_identical(rows$ratio, c("0.5", "< 0.25"))
  expect_identical(rows$bar, c("1", ""))
})

test_that("a table with several peers a row gives one ratio for each, NA for those without a run", {
  skip_in_check()
  skip_on_covr()
  rows <- read_bench_ratios(c(
    "| problem | glmnet CPU s | glmnet ratio | glmnet bar | adelie CPU s | adelie ratio | met |",
    "| --- | --- | --- | --- | --- | --- | --- |", "| a | 2 | 0.5 | 0.6 | - | - | yes |", "",
    "| problem | s |", "| --- | --- |", "| other | 1 |"))
  expect_identical(rows$problem, c("a", "a"))
  expect_identical(rows$peer, c("glmnet", "adelie"))
  expect_identical(rows$number, c(0.5, NA))
  expect_identical(rows$bar, c("0.6", NA))
})

test_that("the line of the machine is the first one that names most lassos", {
  skip_in_check()
  skip_on_covr()
  source_bench_results()
  folder <- withr::local_tempdir()
  machine <- function(name, peers) {
    line <- paste0("2026-01-01, CPU, R 4.2.2, n2gfl 0.1.0, ", peers, ". One thread")
    writeLines(c("text", line), file.path(folder, paste0(name, ".md")))
  }
  machine("a", "glmnet 5.2, adelie 1.0, biglasso (not installed)")
  machine("b", "glmnet 5.2, adelie 1.0, biglasso 1.7")
  machine("c", "glmnet 5.3, adelie 1.0, biglasso 1.7")
  expect_identical(machine_line(folder),
                   "2026-01-01, CPU, R 4.2.2, n2gfl 0.1.0, glmnet 5.2, adelie 1.0, biglasso 1.7")
})
