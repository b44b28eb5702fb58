# Runs: the coefficients of K fits to perturbed versions of the same data, a sparse d x K matrix.
# Every stability measure takes them in this form, wherever they come from.

# ---- from the user's objects ---------------------------------------------------------------------

# What the measures need from an object: its grid (NULL if there is none), the runs of each row, and
# what was stored with them.
run_source <- function(object, graph = NULL) {
  if (is_run_object(object)) return(grid_source(object))
  if (is_selection(object)) {
    return(list(runs = function(row) object$runs, graph = object$graph, space = object$space))
  }
  runs <- as_runs(object)
  if (!is.null(graph)) graph <- check_graph(graph, nrow(runs), "feature of `object`")
  list(runs = function(row) runs, graph = graph)
}

is_run_object <- function(object) inherits(object, c("n2gfl_cv", "n2gfl_perturbed"))

grid_source <- function(object) {
  fold.fits <- object$fold.fits
  if (!is.list(fold.fits) || !length(fold.fits)) {
    stop_bad("`object` must hold the coefficients of its folds in `fold.fits`, but there are none.")
  }
  list(grid = object$grid, runs = function(row) runs_at(fold.fits, row), es = object$es,
       what = perturbation_text(object),
       cvm = object$cvm, cvsd = object$cvsd, name = object$name, index = object$index,
       larger = !is.null(object$cvm) && larger_is_better(object$type.measure),
       graph = kept_in(object, "graph"), space = kept_in(object, "space"))
}

# What was done to the data for each run.
perturbation_text <- function(object) {
  if (is.null(object$perturb)) return("folds of a cross-validation, at the same penalties")
  words <- c(cv = "folds", bootstrap = "bootstrap samples", jackknife = "one row or group left out",
             subsample = "subsamples", halves = "halves")
  paste0(words[[object$perturb]], ", at the same penalties")
}

# A sparse d x K matrix from a list of coefficient vectors or a matrix.
as_runs <- function(object) {
  if (is.list(object) && !is.object(object)) return(runs_from_list(object))
  if (!(is.matrix(object) || inherits(object, "Matrix"))) {
    stop_bad("`object` must be a cv.n2gfl() object, a list of coefficient vectors or a matrix ",
             "with one column per run, not ", describe(object), ".")
  }
  runs <- check_matrix(object, "object")
  if (nrow(runs) < 1) stop_bad("`object` must have at least 1 row, not 0.")
  if (!is_dgc(runs)) runs <- as_plain_matrix(as(runs, "CsparseMatrix"))
  dimnames(runs) <- list(NULL, NULL)
  if (any(runs@x == 0)) Matrix::drop0(runs) else runs
}

runs_from_list <- function(object) {
  if (!length(object)) stop_bad("`object` must have at least 1 run, not 0.")
  columns <- lapply(seq_along(object), function(k) run_vector(object[[k]], k))
  d <- vapply(columns, `[[`, 1L, "d")
  other <- which(d != d[1])[1]
  if (!is.na(other)) {
    stop_bad("`object` must have runs over the same features, but run 1 has ",
             count_of(d[1], "feature"), " and run ", other, " has ", d[other], ".")
  }
  if (d[1] < 1) stop_bad("`object` must have runs with at least 1 feature, not 0.")
  sparse_columns(columns, d[1])
}

# One run of a list: a vector, or a matrix with one column such as coef() gives.
run_vector <- function(value, k) {
  name <- paste0("object[[", k, "]]")
  if (inherits(value, "Matrix") && ncol(value) == 1) {
    value <- as_plain_matrix(value)
    if (is_dgc(value)) {
      check_finite(value@x, name)
      return(c(column_entries(value, 1L), d = nrow(value)))
    }
  }
  value <- check_vector(value, name)
  check_finite(value, name)
  at <- which(value != 0)
  list(i = at - 1L, x = value[at], d = length(value))
}

# The rows of the grid that `s` or `row` ask for; all of them when neither is given.
run_rows <- function(source, s, row) {
  if (is.null(source$grid)) {
    if (!is.null(s) || !is.null(row)) {
      stop_bad("`s` and `row` must not be given for runs without a grid of penalties.")
    }
    return(1L)
  }
  if (is.character(s)) {
    if (is.null(source$index)) {
      stop_bad("`s` must be c(lambda1 = , lambda2 = ) for runs without a cross-validation, not ",
               describe(s), ".")
    }
    return(cv_choice(source, s, row)$row)
  }
  choose_rows(source, s, row, exact = FALSE)
}

# ---- as a matrix ---------------------------------------------------------------------------------

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

# x times the runs, N x K. Only columns of the supports are read.
run_predictors <- function(x, runs, rows = seq_len(nrow(x))) linear_predictor_cpp(x, runs, rows)
