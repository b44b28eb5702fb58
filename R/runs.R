# Runs: the coefficients of K fits to perturbed versions of the same data, a sparse d x K matrix.
# Every stability measure takes them in this form, wherever they come from.

# The fits of one row of the grid, one column per run.
runs_at <- function(fold.fits, row) {
  columns <- lapply(fold.fits, function(fit) column_entries(fit$beta, row))
  sparse_columns(columns, nrow(fold.fits[[1]]$beta))
}

# The entries of one column, from the slots: `[` would cost more than the measures themselves.
column_entries <- function(beta, column) {
  at <- seq.int(beta@p[column] + 1L, length.out = beta@p[column + 1L] - beta@p[column])
  at <- at[beta@x[at] != 0]
  list(i = beta@i[at], x = beta@x[at])
}

sparse_columns <- function(columns, d) {
  i <- lapply(columns, `[[`, "i")
  x <- lapply(columns, `[[`, "x")
  new("dgCMatrix", i = as.integer(unlist(i)), x = as.double(unlist(x)),
      p = c(0L, cumsum(lengths(i))), Dim = c(as.integer(d), length(columns)))
}

# Which run each entry belongs to, counted from 1.
entry_runs <- function(runs) rep.int(seq_len(ncol(runs)), diff(runs@p))

# Only the rows that are not zero everywhere: what is left fits in a small dense block.
nonzero_rows <- function(runs) sort(unique(runs@i)) + 1L

# x times the runs, N x K. Only columns of the supports are read, a few at a time.
run_predictors <- function(x, runs, block = 256L) {
  features <- nonzero_rows(runs)
  predictors <- matrix(0, nrow(x), ncol(runs))
  runs <- runs[features, , drop = FALSE]
  starts <- seq(1L, by = block, length.out = ceiling(length(features) / block))
  for (first in starts) {
    part <- first:min(first + block - 1L, length(features))
    product <- x[, features[part], drop = FALSE] %*% as.matrix(runs[part, , drop = FALSE])
    predictors <- predictors + as.matrix(product)
  }
  predictors
}
