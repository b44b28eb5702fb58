# Everything that a reader of the vignettes and of README.md sees must run when it is pasted into a
# new session. Hidden chunks are left out, so visible code cannot depend on them.

is_hidden <- function(header) grepl("(echo|include) *= *FALSE", header)

# The lines of an R Markdown file without its hidden chunks.
without_hidden_chunks <- function(lines) {
  starts <- grep("^```\\{r", lines)
  ends <- vapply(starts, function(start) start + match("```", lines[-seq_len(start)]), 0)
  hidden <- unlist(Map(seq, starts, ends)[vapply(lines[starts], is_hidden, NA)])
  if (length(hidden)) lines[-hidden] else lines
}

visible_code <- function(file) {
  text <- withr::local_tempfile(lines = without_hidden_chunks(readLines(file)), fileext = ".Rmd")
  code <- withr::local_tempfile(fileext = ".R")
  knitr::purl(text, code, documentation = 0, quiet = TRUE)
  readLines(code)
}

# The lines between ```r and ``` in a markdown file.
fenced_code <- function(file) {
  lines <- readLines(file)
  inside <- cumsum(lines == "```r") > cumsum(lines == "```")
  lines[inside & lines != "```r"]
}

# Runs code in a session of its own, in an empty folder. Returns the output if it fails.
output_if_failed <- function(code) {
  folder <- withr::local_tempdir()
  script <- withr::local_tempfile(lines = code, fileext = ".R")
  withr::local_dir(folder)
  log <- withr::local_tempfile()
  status <- system2(file.path(R.home("bin"), "Rscript"), shQuote(script), stdout = log,
                    stderr = log, env = paste0("R_LIBS=", shQuote(.libPaths()[1])))
  if (status == 0) NULL else utils::tail(readLines(log), 8)
}

skip_without_documents <- function() {
  skip_in_check()  # slow, and the sources are not there
  skip_on_covr()
  skip_if_not_installed("knitr")
}

for (name in c("get-started", "brain-images", "which-map", "outcomes", "how-it-works", "inside",
               "paper")) {
  test_that(paste("the visible code runs in a new session: vignette", name), {
    skip_without_documents()
    code <- visible_code(test_path("..", "..", "vignettes", paste0(name, ".Rmd")))
    expect_gt(length(code), 5)
    expect_true(any(code == "library(n2gfl)"))
    expect_null(output_if_failed(code))
  })
}

test_that("the R code of README.md runs in a new session", {
  skip_without_documents()
  code <- fenced_code(test_path("..", "..", "README.md"))
  expect_gt(length(code), 5)
  expect_null(output_if_failed(code))
})

test_that("code that needs a hidden chunk is found", {
  skip_without_documents()
  file <- withr::local_tempfile(fileext = ".Rmd", lines = c(
    "```{r, include = FALSE}", "secret <- 1", "```", "text `r secret`", "```{r}", "secret + 1",
    "```", "```{r, eval = FALSE}", "stop()", "```"))
  code <- visible_code(file)
  expect_false(any(grepl("<- 1", code)))
  expect_match(output_if_failed(code), "object 'secret' not found", all = FALSE)
})

test_that("README.md has no relative link that leaves the built package and no long line of code", {
  skip_without_documents()
  root <- test_path("..", "..")
  lines <- readLines(file.path(root, "README.md"))
  links <- unlist(regmatches(lines, gregexpr("(?<=\\]\\()[^)]*", lines, perl = TRUE)))
  relative <- grep("^https?://", links, value = TRUE, invert = TRUE)
  expect_identical(relative, "man/figures/README-map.png")
  expect_true(all(file.exists(file.path(root, relative))))
  expect_lt(file.size(file.path(root, relative)), 150e3)
  expect_lte(max(nchar(fenced_code(file.path(root, "README.md")))), 80)
})

test_that("the summary of the paper's page says what its tables say", {
  skip_without_documents()
  folder <- test_path("..", "..", "inst", "paper", "results")
  nested <- utils::read.csv(file.path(folder, "table2.csv"))
  stable <- utils::read.csv(file.path(folder, "table3.csv"))
  lowest <- tapply(seq_len(nrow(nested)), nested$task, function(rows) {
    nested$model[rows][which.min(nested$nested[rows])]
  })
  expect_identical(as.vector(lowest[c("15ADNC", "30ADNC")]), c("n2GFL", "n2GFL"))
  mdc <- function(model) stable$mdc[stable$model == model & stable$at == "matched"]
  expect_true(all(mdc("LapL") >= mdc("n2GFL") & mdc("MLDA") >= mdc("n2GFL")))
  page <- paste(readLines(test_path("..", "..", "vignettes", "paper.Rmd")), collapse = " ")
  expect_match(page, "least accurate of the seven models on both AD tasks", fixed = TRUE)
  expect_match(page, "LapL and MLDA are at least as +stable at matched sparsity")
})
