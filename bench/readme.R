# Fills the part of README.md between <!-- bench --> and <!-- /bench --> from the tables in
# bench/results: one table and the picture of bench/figure.R.
#
#   Rscript bench/readme.R [folder of the tables, bench/results] [file, README.md]
source("bench/helpers.R")
source("bench/results.R")

# The rows of the table, by the name of their problem and their peer; their words for the README.
lines_wanted <- list(
  list("d = 10000, regions, nonnegative, f = 0.1", "glmnet",
       "one least-squares fit, d = 10,000, N = 5,000, the signal one region"),
  list("d = 10000, random, nonnegative, f = 0.1", "glmnet",
       "the same, random signal (the paper's experiment)"),
  list("d 223,000, 10 rows, smooth", "glmnet",
       "path of 10 logistic fits, d = 223,000, N = 200, smooth images"),
  list("d 223,000, 100 rows, smooth", "glmnet", "path of 100 logistic fits, the same images"),
  list("d 223,000, 10 rows", "glmnet", "path of 10 logistic fits, images with white noise on top"),
  list("d 223,000, 100 rows", "glmnet", "path of 100 logistic fits, the same images"),
  list("512 x 512, lambda 1", "flsa",
       "exact denoising of 512 x 512 pixels, over flsa's of 128 x 128"),
  list("64^3, lambda 1", "igraph",
       "exact denoising of 64^3 voxels, over igraph's single cut of 32^3")
)

# A row that was not run is left out: no number is made up.
table_lines <- function(rows) {
  body <- lapply(lines_wanted, function(wanted) {
    row <- rows[rows$problem == wanted[[1]] & rows$peer == wanted[[2]], ]
    if (nrow(row)) sprintf("| %s | %s | %s |", wanted[[3]], wanted[[2]], row$ratio[1])
  })
  c("| problem | peer | n2gfl's time / peer's |", "|---|---|---|", unlist(body))
}

bench_text <- function(folder) {
  rows <- ratio_rows(folder)
  if (!nrow(rows)) return(NULL)
  picture <- file.path(folder, "speed.png")
  c(table_lines(rows), "",
    paste0("Measured by `make bench` (", machine_line(folder), "); glmnet fits the lasso, without ",
           "fusion and without a certificate. [All tables](bench/results)."), "",
    if (file.exists(picture)) sprintf("![n2gfl's time over that of its peers](%s)", picture))
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
