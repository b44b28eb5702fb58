# Fills the part of README.md between <!-- bench --> and <!-- /bench --> with a table from
# bench/results. Rows are short, so that README.md needs no sideways scrolling; there are no links
# to bench/, which is not part of the built package.
#
#   Rscript bench/readme.R [folder of the tables, bench/results] [file, README.md]
source("bench/helpers.R")
source("bench/results.R")

# The rows of the table, by the name of their problem and their peer; their words for the README.
lines_wanted <- list(
  list("d = 10000, regions, nonnegative, f = 0.1", "glmnet",
       "one least-squares fit, signal in one region"),
  list("d = 10000, random, nonnegative, f = 0.1", "glmnet", "the same, random signal"),
  list("d 223,000, 10 rows, smooth", "glmnet", "10 logistic fits, smooth images"),
  list("d 223,000, 10 rows, smooth", "adelie", "the same"),
  list("d 223,000, 100 rows, smooth", "glmnet", "100 logistic fits, smooth images"),
  list("d 223,000, 100 rows, smooth", "adelie", "the same"),
  list("d 223,000, 10 rows", "glmnet", "10 logistic fits, noisy images"),
  list("d 223,000, 10 rows", "adelie", "the same"),
  list("d 223,000, 100 rows", "glmnet", "100 logistic fits, noisy images"),
  list("d 223,000, 100 rows", "adelie", "the same"),
  list("512 x 512, lambda 1", "flsa", "denoising of 512^2 pixels (flsa: 128^2)"),
  list("64^3, lambda 1", "igraph", "denoising of 64^3 voxels (igraph: one cut, 32^3)")
)

# Rows that were not run, and peers that did not run, are left out.
table_lines <- function(rows) {
  body <- lapply(lines_wanted, function(wanted) {
    row <- rows[rows$problem == wanted[[1]] & rows$peer == wanted[[2]] & !is.na(rows$number), ]
    if (nrow(row)) sprintf("| %s | %s | %s |", wanted[[3]], wanted[[2]], row$ratio[1])
  })
  c("| problem | peer | time / peer's |", "|---|---|---|", unlist(body))
}

bench_text <- function(folder) {
  rows <- ratio_rows(folder)
  if (!nrow(rows)) return(NULL)
  text <- paste0(
    "n2gfl's processor time over that of its peers. Least squares has d = 10,000 features and ",
    "N = 5,000 observations, logistic paths have d = 223,000 and N = 200; glmnet and adelie fit ",
    "the lasso, without fusion and without a certificate, adelie also without the sign. Measured ",
    "by `make bench` (", machine_line(folder), "); all tables are in bench/results of the sources.")
  c(table_lines(rows), "", strwrap(text, 80))
}

fill <- function(file, text) {
  lines <- readLines(file)
  from <- match("<!-- bench -->", lines)
  to <- match("<!-- /bench -->", lines)
  if (is.na(from) || is.na(to)) stop(file, " has no lines <!-- bench --> and <!-- /bench -->.")
  writeLines(c(lines[seq_len(from)], text, lines[to:length(lines)]), file)
}

arguments <- commandArgs(trailingOnly = TRUE)
folder <- c(arguments, "bench/results")[1]
file <- c(arguments[-1], "README.md")[1]
text <- bench_text(folder)
if (is.null(text)) {
  cat("No ratios in", folder, "yet:", file, "stays as it is.\n")
} else {
  fill(file, text)
  cat("Filled:", file, "\n")
}
