# Covariates as formula and data. What is learnt from the data (factor levels, contrasts, the bases
# of poly() and scale()) is learnt from the training rows alone: held-out rows have no influence.

# What code_covariates() needs: list(matrix) for a plain matrix, else the formula with its data.
# `name` is the argument with the formula.
covariate_coder <- function(covariates, data = NULL, n, rows = NULL, name = "covariates") {
  if (!inherits(covariates, "formula")) {
    return(list(matrix = check_covariates(covariates, n)))
  }
  check_covariate_data(data, n)
  terms <- covariate_terms(covariates, data, name)
  frame <- covariate_frame(terms, data, n, "data", rows, name)
  list(terms = terms, frame = frame, n = n, contrasts = getOption("contrasts"), name = name)
}

# An n x q matrix with all rows; the coding is learnt from the rows in `train` (logical, or weights;
# NULL means all rows). `others` names the remaining rows in messages, such as "fold 3". The
# attribute "coding" is for new data, see code_new_covariates(); it is NULL for a plain matrix.
code_covariates <- function(coder, train = NULL, others = "rows that are not used for the fit") {
  if (is.null(coder$terms)) return(coder$matrix)
  train <- if (is.null(train)) rep(TRUE, coder$n) else train > 0
  coding <- learn_coding(coder, train)
  matrix <- apply_coding(coding, coder$frame, "data", others)
  structure(matrix, coding = coding)
}

# Covariates of new observations. A fit that had a formula takes a data frame, coded in the same
# way; a matrix is taken as coded already.
code_new_covariates <- function(newcovariates, coding, n) {
  if (is.null(coding) || !is.data.frame(newcovariates)) return(newcovariates)
  if (nrow(newcovariates) != n) {
    stop_bad("`newcovariates` must have one row per row of `newx` (", n, "), not ",
             nrow(newcovariates), ".")
  }
  code_rows(coding, newcovariates, n, "newcovariates")
}

# Other rows, coded as those of the fit; `name` is the argument that brought them.
code_rows <- function(coding, data, n, name) {
  frame <- covariate_frame(coding$terms, data, n, name, of = coding$name)
  apply_coding(coding, frame, name, paste0("`", name, "`"))
}

# ---- the formula and its data --------------------------------------------------------------------

check_covariate_data <- function(data, n = NULL) {
  if (!is.null(data) && !is.data.frame(data)) {
    stop_bad("`data` must be a data frame with one row per row of `x`, not ", describe(data), ".")
  }
  if (!is.null(data) && !is.null(n) && nrow(data) != n) {
    stop_bad("`data` must have one row per row of `x` (", n, "), not ", nrow(data), ".")
  }
}

# The model has its own intercept, so factors are coded as in a formula with one, even for ~ 0 + x.
covariate_terms <- function(formula, data, name = "covariates") {
  if (length(formula) != 2) {
    stop_bad("`", name, "` must be a formula without a left side, such as ~ age + sex, not ",
             paste(deparse(formula), collapse = " "), ".")
  }
  terms <- stats::terms(formula, data = data)
  if (!is.null(attr(terms, "offset"))) {
    stop_bad("`", name, "` must have no offset() term: give `offset` to n2gfl().")
  }
  attr(terms, "intercept") <- 1L
  environment(terms) <- small_environment(terms, names(data))
  terms
}

# The fit keeps its formula, and with it the environment where it was written, which may hold x
# itself. Only what the formula names, and `data` does not have, is taken along.
small_environment <- function(terms, known) {
  from <- environment(terms)
  if (is.null(from) || identical(from, globalenv())) return(globalenv())
  small <- new.env(parent = globalenv())
  for (name in setdiff(all.names(terms), known)) {
    value <- get0(name, from)
    if (!is.null(value) && !identical(value, get0(name, globalenv()))) assign(name, value, small)
  }
  small
}

# The raw variables of the formula: from the data, or vectors of that length from the formula's
# environment. Other objects (such as the degree of a polynomial) stay in that environment.
covariate_frame <- function(terms, data, n, name, rows = NULL, of = "covariates") {
  environment <- environment(terms)
  frame <- list()
  for (variable in objects_in(terms[[2]])) {
    value <- data[[variable]]
    if (is.null(value)) {
      value <- get0(variable, environment, inherits = TRUE)
      if (NROW(value) > 1) value <- align_rows(value, variable, rows)
    }
    if (is.null(value) || is.function(value)) {
      stop_no_variable(variable, data, name, paste0("`", of %or% "covariates", "`"))
    }
    if (NROW(value) == n && (n > 1 || variable %in% names(data))) frame[[variable]] <- value
    missing <- which(is.na(frame[[variable]]))
    if (length(missing)) {
      stop_bad("`", name, "` must have no missing values among the ",
               if ((of %or% "covariates") == "covariates") "covariates"
               else paste0("variables of `", of, "`"), ", but `", variable,
               "` is NA in row ", (missing[1] - 1) %% n + 1, ".")
    }
  }
  structure(frame, class = "data.frame", row.names = seq_len(n))
}

stop_no_variable <- function(variable, data, name, of = "`covariates`") {
  stop_bad("`", name, "` must have the variables of ", of, ", but there is no `", variable, "`",
           if (length(data)) paste0(" among ", quoted(names(data))), ".")
}

# ---- coding --------------------------------------------------------------------------------------

# list(terms, levels, contrasts): terms carry the bases that poly() and scale() need ("predvars").
learn_coding <- function(coder, train) {
  frame <- stats::model.frame(coder$terms, coder$frame[train, , drop = FALSE],
                              drop.unused.levels = TRUE)
  terms <- attr(frame, "terms")
  levels <- stats::.getXlevels(terms, frame)
  for (variable in names(levels)) {
    if (length(levels[[variable]]) < 2) {
      stop_bad("`", coder$name, "` must vary, but `", variable, "` has only the level ",
               quoted(levels[[variable]]), " in the rows used for the fit.")
    }
  }
  contrasts <- if (length(levels)) {
    lapply(frame[names(levels)], function(values) chosen_contrasts(values, coder$contrasts))
  }
  c(list(terms = terms, levels = levels, contrasts = contrasts),
    if (coder$name != "covariates") list(name = coder$name),
    if (isTRUE(coder$global)) list(global = TRUE))
}

# The variable's own contrasts, or those of the option when n2gfl() was called.
chosen_contrasts <- function(values, option) {
  own <- attr(values, "contrasts")
  if (!is.null(own)) own else option[[if (is.ordered(values)) 2 else 1]]
}

apply_coding <- function(coding, data, name, others) {
  frame <- stats::model.frame(coding$terms, data, na.action = stats::na.pass)
  for (variable in names(coding$levels)) {
    values <- frame[[variable]]
    check_known_levels(values, coding$levels[[variable]], variable, name, others)
    frame[[variable]] <- factor(values, coding$levels[[variable]], ordered = is.ordered(values))
  }
  matrix <- stats::model.matrix(coding$terms, frame, contrasts.arg = coding$contrasts)
  matrix <- matrix[, colnames(matrix) != "(Intercept)", drop = FALSE]
  plain <- matrix(as.double(matrix), nrow(matrix), dimnames = list(NULL, colnames(matrix)))
  check_covariates(plain, nrow(data), if (name == "data") coding$name %or% "covariates" else name)
}

check_known_levels <- function(values, known, variable, name, others) {
  row <- which(!as.character(values) %in% known)[1]
  if (is.na(row)) return(invisible())
  stop_bad("`", name, "` must have no level of a covariate that the fit has not seen, but level ",
           quoted(as.character(values[row])), " of `", variable, "` occurs only in ", others,
           " (row ", row, "): merge it with another level, or leave it out.")
}
