# Argument checks. One small function for each kind of argument: it returns the value in the form
# that the C++ core takes, or stops with one sentence that says what was expected and what was
# given. `name` is the argument's name as the user typed it.

# ---- words for the messages ----------------------------------------------------------------------

stop_bad <- function(...) stop(..., call. = FALSE)

count_of <- function(n, noun) paste(n, if (n == 1) noun else paste0(noun, "s"))

quoted <- function(values) paste0("\"", values, "\"", collapse = ", ")

or_quoted <- function(values) paste0("\"", values, "\"", collapse = " or ")

number_text <- function(value) format(value, digits = 6, trim = TRUE)

number_text_each <- function(values) vapply(values, number_text, "")

short_number <- function(values, digits) {
  trimws(formatC(values, digits = digits, format = "g"))
}

# What a value is, in a few words, for the end of a message.
describe <- function(value) {
  if (is.null(value)) return("NULL")
  if (is.data.frame(value)) return("a data frame")
  if (is.factor(value)) return("a factor")
  if (is.function(value)) return("a function")
  if (is.object(value) || !is.atomic(value)) {
    return(paste("an object of class", quoted(class(value)[1])))
  }
  if (length(dim(value)) > 1) {
    size <- paste(dim(value), collapse = " x ")
    return(paste("an array of type", typeof(value), "and size", size))
  }
  if (length(value) != 1) {
    return(paste("a vector of type", typeof(value), "and length", length(value)))
  }
  if (is.character(value) && !is.na(value)) quoted(value) else number_text(value)
}

# ---- single values -------------------------------------------------------------------------------

`%or%` <- function(value, default) if (is.null(value)) default else value

# match.arg() with a message that names the argument.
match_choice <- function(value, name, choices) {
  if (identical(value, choices)) return(choices[1])
  found <- if (is.character(value) && length(value) == 1) pmatch(value, choices) else NA
  if (is.na(found)) {
    stop_bad("`", name, "` must be one of ", quoted(choices), ", not ", describe(value), ".")
  }
  choices[found]
}

check_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) {
    stop_bad("`", name, "` must be TRUE or FALSE, not ", describe(value), ".")
  }
  value
}

is_number <- function(value) {
  is.numeric(value) && length(value) == 1 && !is.object(value) && !is.na(value)
}

check_count <- function(value, name, least = 1L) {
  whole <- is_number(value) && value >= least && value <= .Machine$integer.max &&
    value == round(value)
  if (!whole) {
    stop_bad("`", name, "` must be a whole number of at least ", least, ", not ",
             describe(value), ".")
  }
  as.integer(value)
}

check_positive <- function(value, name) {
  if (!is_number(value) || !is.finite(value) || value <= 0) {
    stop_bad("`", name, "` must be a positive number, not ", describe(value), ".")
  }
  as.double(value)
}

check_nonnegative <- function(value, name) {
  if (!is_number(value) || !is.finite(value) || value < 0) {
    stop_bad("`", name, "` must be a nonnegative number, not ", describe(value), ".")
  }
  as.double(value)
}

check_share <- function(value, name) {
  if (!is_number(value) || value <= 0 || value > 1) {
    stop_bad("`", name, "` must be a number above 0 and at most 1, not ", describe(value), ".")
  }
  as.double(value)
}

check_ratio <- function(value, name) {
  if (!is_number(value) || value <= 0 || value >= 1) {
    stop_bad("`", name, "` must be a number between 0 and 1, not ", describe(value), ".")
  }
  as.double(value)
}

check_trace <- function(value, name = "trace.it") {
  if (!(is_number(value) || isTRUE(value) || isFALSE(value)) || !value %in% c(0, 1)) {
    stop_bad("`", name, "` must be 0 or 1, not ", describe(value), ".")
  }
  value == 1
}

# ---- unknown arguments ---------------------------------------------------------------------------

# For functions whose `...` only serves to catch misspelt arguments.
check_empty_dots <- function(...) {
  check_no_dots(list(...), known = names(formals(sys.function(sys.parent()))))
}

# A misspelt argument is an error instead of being ignored. `known`: the function's arguments.
check_no_dots <- function(given, unless = "",
                          known = names(formals(sys.function(sys.parent())))) {
  if (!length(given)) return(invisible())
  what <- unknown_argument(given, known)
  stop_bad("`...` must be empty", unless, ", but there is an argument ", what,
           if (!endsWith(what, "?")) ".")
}

# "`lambda`; did you mean `lambda1` or `lambda2`?", or "`lambda`" if no known argument is similar.
unknown_argument <- function(given, known, unnamed = "without a name") {
  first <- names(given)[1]
  if (is.null(first) || first == "") return(unnamed)
  likely <- likely_arguments(first, setdiff(known, "..."))
  paste0("`", first, "`", if (length(likely)) {
    paste0("; did you mean ", paste0("`", likely, "`", collapse = " or "), "?")
  })
}

# Arguments that begin with this name, or differ from it by a typing error.
likely_arguments <- function(name, known) {
  begins <- known[startsWith(known, name)]
  near <- begins[nchar(begins) - nchar(name) <= 2]
  if (length(begins)) return(utils::head(if (length(near)) near else begins, 3))
  away <- drop(utils::adist(name, known, ignore.case = TRUE))
  utils::head(known[order(away)][sort(away) <= min(2, nchar(name) / 3)], 1)
}

# ---- suggested packages --------------------------------------------------------------------------

# A package in Suggests may not be installed.
need_package <- function(name, for_what) {
  if (!requireNamespace(name, quietly = TRUE)) {
    stop_bad("The package ", quoted(name), " is needed ", for_what,
             ": install.packages(", quoted(name), ") installs it.")
  }
}

# ---- vectors -------------------------------------------------------------------------------------

# A plain double vector with `n` finite numbers, one per `per` ("row of `x`").
check_numbers <- function(value, name, n, per) {
  value <- check_vector(value, name)
  check_length(value, name, n, per)
  check_finite(value, name)
  value
}

check_vector <- function(value, name) {
  if (is.matrix(value) && ncol(value) == 1) value <- drop(value)
  if (!(is.numeric(value) || is.logical(value)) || is.object(value) || length(dim(value)) > 1) {
    stop_bad("`", name, "` must be a numeric vector, not ", describe(value), ".")
  }
  as.double(value)
}

check_length <- function(value, name, n, per) {
  if (length(value) != n) {
    stop_bad("`", name, "` must have one value per ", per, " (", n, "), not ", length(value), ".")
  }
}

# The same for a vector or a matrix with several numbers per row.
check_rows <- function(value, name, n, per) check_length(seq_len(NROW(value)), name, n, per)

check_finite <- function(value, name) {
  bad <- which(!is.finite(value))
  if (length(bad)) {
    stop_bad("`", name, "` must hold finite numbers, but element ", bad[1], " is ",
             value[bad[1]], ".")
  }
}

check_no_negative <- function(value, name) {
  bad <- which(value < 0)
  if (length(bad)) {
    stop_bad("`", name, "` must hold nonnegative numbers, but element ", bad[1], " is ",
             number_text(value[bad[1]]), ".")
  }
}

# Observation weights, rescaled to mean 1 over the rows with positive weight. A row of weight 0 then
# changes nothing, not even the size of a deviance: it counts as left out, as for glm().
check_weights <- function(weights, n) {
  if (is.null(weights)) return(rep(1, n))
  weights <- check_numbers(weights, "weights", n, "row of `x`")
  check_no_negative(weights, "weights")
  if (sum(weights > 0) < 2) {
    stop_bad("`weights` must be positive for at least 2 rows of `x`, not for ",
             sum(weights > 0), ".")
  }
  weights <- weights / max(weights)
  weights / mean(weights[weights > 0])
}

check_offset <- function(offset, n) {
  if (is.null(offset)) return(numeric(n))
  check_numbers(offset, "offset", n, "row of `x`")
}

# Inf is allowed here (it excludes the feature), NA is not.
check_penalty_factor <- function(penalty.factor, d) {
  if (is.null(penalty.factor)) return(rep(1, d))
  penalty.factor <- check_vector(penalty.factor, "penalty.factor")
  check_length(penalty.factor, "penalty.factor", d, "column of `x`")
  bad <- which(is.na(penalty.factor))
  if (length(bad)) {
    stop_bad("`penalty.factor` must hold nonnegative numbers or Inf, but element ", bad[1],
             " is ", penalty.factor[bad[1]], ".")
  }
  check_no_negative(penalty.factor, "penalty.factor")
  if (all(penalty.factor == Inf)) {
    stop_bad("`penalty.factor` must be finite for at least one column of `x`, but all ", d,
             " are Inf.")
  }
  penalty.factor
}

# A user's own sequence of lambda1 or lambda2, largest first. NULL becomes an empty vector, and the
# core then makes a sequence.
check_lambda <- function(lambda, name) {
  if (is.null(lambda)) return(numeric(0))
  lambda <- check_lambda_values(lambda, name)
  bad <- which(diff(lambda) >= 0)
  if (length(bad)) {
    stop_bad("`", name, "` must be strictly decreasing, but element ", bad[1], " is ",
             number_text(lambda[bad[1]]), " and element ", bad[1] + 1, " is ",
             number_text(lambda[bad[1] + 1]), ".")
  }
  lambda
}

check_lambda_values <- function(lambda, name) {
  lambda <- check_vector(lambda, name)
  if (!length(lambda)) {
    stop_bad("`", name, "` must have at least one number, not 0.")
  }
  check_finite(lambda, name)
  check_no_negative(lambda, name)
  lambda
}

# ---- x -------------------------------------------------------------------------------------------

# x for a fit: at least two rows and a nonzero entry.
check_x <- function(x, finite) {
  x <- check_matrix(x, "x", finite)
  if (nrow(x) < 2) stop_bad("`x` must have at least 2 rows, not ", nrow(x), ".")
  if (is_all_zero(x)) stop_bad("`x` must have a nonzero entry, but all ", nrow(x), " x ", ncol(x),
                               " are zero.")
  x
}

# A double matrix, a dgCMatrix or a matrix on disk is returned unchanged, without a copy; anything
# else is converted. With `finite = FALSE` the core checks later whether all numbers are finite.
check_matrix <- function(x, name, finite = TRUE) {
  if (is.data.frame(x)) {
    stop_bad("`", name, "` must be a matrix, not a data frame: use as.matrix() or model.matrix().")
  }
  if (inherits(x, "n2gfl_cohort")) {
    stop_bad("`", name, "` must be a matrix or images, not a whole cohort: give its element ",
             "`images`, as in cohort$images.")
  }
  x <- as_disk_matrix(x, name)
  if (inherits(x, "Matrix")) {
    x <- as_plain_matrix(x)
  } else if (!is_disk(x) && !(is.matrix(x) && (is.numeric(x) || is.logical(x)))) {
    stop_bad("`", name, "` must be a numeric matrix, not ", describe(x), ".")
  }
  if (!is_dgc(x) && !is_disk(x) && !is.double(x)) storage.mode(x) <- "double"
  if (ncol(x) < 1) stop_bad("`", name, "` must have at least 1 column, not 0.")
  if (finite && !all_finite_cpp(x)) stop_not_finite(x, name)
  x
}

is_dgc <- function(x) inherits(x, "dgCMatrix")

# Sparse Matrix classes become dgCMatrix, dense ones an ordinary matrix.
as_plain_matrix <- function(x) {
  if (is_dgc(x)) return(x)
  if (!is(x, "sparseMatrix")) return(as.matrix(x))
  as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
}

# Stops at the first column with a nonzero entry (NaN counts as nonzero), to avoid a pass over x and
# a logical copy of it.
is_all_zero <- function(x) {
  if (is_dgc(x)) return(!length(x@x) || isTRUE(min(x@x) == 0 && max(x@x) == 0))
  for (j in seq_len(ncol(x))) {
    if (!isFALSE(any(x[, j] != 0))) return(FALSE)
  }
  TRUE
}

# Called only if there is a bad entry: finds it, column by column.
stop_not_finite <- function(x, name) {
  for (j in seq_len(ncol(x))) {
    bad <- which(!is.finite(x[, j]))
    if (length(bad)) {
      stop_bad("`", name, "` must hold finite numbers, but ", name, "[", bad[1], ", ", j, "] is ",
               x[bad[1], j], ".")
    }
  }
}

# ---- y -------------------------------------------------------------------------------------------

# The response as the core takes it: list(y, classnames), see `code` in family.R.
check_y <- function(y, family, weights) family_of(family)$code(y, weights)

# ---- covariates ----------------------------------------------------------------------------------

# An n x q double matrix with column names; q = 0 when there are none.
check_covariates <- function(covariates, n, name = "covariates", rows = "x") {
  if (is.null(covariates)) return(matrix(0, n, 0))
  if (is.data.frame(covariates)) {
    stop_bad("`", name, "` must be a matrix, not a data frame: use model.matrix() ",
             "without its intercept column.")
  }
  if (is.null(dim(covariates))) covariates <- as.matrix(covariates)
  if (inherits(covariates, "Matrix")) covariates <- as.matrix(covariates)
  if (!is.matrix(covariates) || !(is.numeric(covariates) || is.logical(covariates))) {
    stop_bad("`", name, "` must be a numeric matrix, not ", describe(covariates), ".")
  }
  storage.mode(covariates) <- "double"
  if (nrow(covariates) != n) {
    stop_bad("`", name, "` must have one row per row of `", rows, "` (", n, "), not ",
             nrow(covariates), ".")
  }
  if (!all(is.finite(covariates))) stop_not_finite(covariates, name)
  if (is.null(colnames(covariates)) && ncol(covariates)) {
    colnames(covariates) <- paste0("Z", seq_len(ncol(covariates)))
  }
  covariates
}

# Unpenalised columns must be independent as the loss sees them, or their coefficients are not
# defined.
check_rank <- function(covariates, y, weights, control) {
  if (!ncol(covariates)) return(invisible())
  intercept <- control$intercept
  columns <- if (intercept) cbind(1, covariates) else covariates
  seen <- family_of(control$family)$seen(columns, y, weights)
  rank <- qr(seen, tol = 1e-10)$rank
  if (rank < ncol(columns)) {
    stop_bad("`covariates` must be linearly independent", if (intercept) " of the intercept and",
             " of each other", attr(seen, "where"), ", but ", count_of(ncol(columns), "column"),
             if (intercept) " with the intercept", if (ncol(columns) == 1) " has" else " have",
             " rank ", rank, ".")
  }
}

# ---- graph and the whole problem -----------------------------------------------------------------

check_graph <- function(given, n, per = "column of `x`") {
  graph <- as_graph(given)
  if (graph$n != n) {
    stop_bad("`graph` must have one node per ", per, " (", n, "), not ", graph$n, ".",
             mask_hint(given))
  }
  graph
}

# Users may pass a mask where a graph is expected.
mask_hint <- function(given) {
  size <- dim(given)
  is_mask <- is.array(given) && (length(size) == 3 || is.logical(given) || all(given %in% 0:1))
  if (is_mask) " If it is a mask, give graph_mask(mask)."
}

# Without fusion (lambda2 = 0) the graph has no effect and need not be given.
check_fit_graph <- function(graph, lambda2, n) {
  if (!is.null(graph)) return(check_graph(graph, n))
  if (is.numeric(lambda2) && length(lambda2) && all(lambda2 %in% 0)) {
    return(new_graph(n, integer(0), integer(0), numeric(0), "edges"))
  }
  stop_bad("`graph` must say which columns of `x` are neighbours, see graph_mask(), ",
           "graph_grid(), graph_chain() and graph_mesh(); only lambda2 = 0 needs no graph.")
}

# The part of a graph that the core reads.
graph_list <- function(graph) unclass(graph)[c("n", "from", "to", "weight")]

# Every argument that describes the data, checked and ready for the core. x is not copied.
check_data <- function(arguments, control, finite) {
  x <- check_x(arguments$x, finite)
  graph <- check_fit_graph(arguments$graph, arguments$lambda2, ncol(x))
  weights <- check_weights(arguments$weights, nrow(x))
  response <- check_y(arguments$y, control$family, weights)
  offset <- check_offset(arguments$offset, nrow(x))
  check_covariate_data(arguments$data, nrow(x))
  means <- means_of(x)
  scaling <- check_scale(arguments$scale, arguments$data, nrow(x), means, arguments$rows)
  arguments <- add_global(arguments, means)
  coder <- covariate_coder(arguments$covariates, arguments$data, nrow(x), arguments$rows)
  coder$global <- arguments$global
  covariates <- code_covariates(coder, weights)
  check_rank(covariates, response$y, weights, control)
  harmony <- check_harmonize(arguments, nrow(x))
  deconfound <- check_deconfound(arguments$deconfound, arguments$controls, covariates,
                                 !is.null(harmony$among))
  penalty.factor <- check_penalty_factor(arguments$penalty.factor, ncol(x))
  c(list(x = x, y = response$y, classnames = response$classnames, graph = graph, weights = weights,
         offset = offset, covariates = covariates, penalty.factor = penalty.factor, coder = coder,
         controls = if (deconfound) find_controls(arguments$y, arguments$controls),
         space = arguments$space),
    if (!is.null(scaling)) list(scaling = scaling),
    if (!is.null(harmony)) list(harmony = harmony))
}
