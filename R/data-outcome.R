# The outcome by its name in the subjects' table, or by a formula.

# `y` as the name of a column of the subjects' table, or as outcome ~ covariates: both are replaced
# by what they mean.
resolve_outcome <- function(arguments) {
  y <- arguments$y
  if (inherits(y, "formula")) return(resolve_formula(arguments, y))
  if (is.character(y) && length(y) == 1 && is.null(dim(y)) && NROW(arguments$x) > 1) {
    arguments["y"] <- list(outcome_column(y, arguments$data))
  }
  arguments
}

outcome_column <- function(name, data) {
  if (is.null(data)) {
    stop_bad("`y` must be the outcome itself, because there is no `data` with a column ",
             quoted(name), ".")
  }
  if (is.null(data[[name]])) {
    stop_bad("`y` must be the outcome or the name of a column of `data`, but there is no column ",
             quoted(name), " among ", quoted(names(data)), ".")
  }
  data[[name]]
}

resolve_formula <- function(arguments, formula) {
  if (length(formula) != 3 || "." %in% all.vars(formula)) {
    stop_bad("`y` must be a formula with the outcome on its left and the covariates, by name, on ",
             "its right, such as diagnosis ~ age + sex, not ",
             paste(deparse(formula), collapse = " "), ".")
  }
  if (!is.null(arguments$covariates)) {
    stop_bad("`covariates` must not be given when `y` is a formula: its right side has them.")
  }
  n <- NROW(arguments$x)
  check_covariate_data(arguments$data, n)
  arguments["y"] <- list(formula_outcome(formula, arguments, n))
  right <- formula[-2]
  if (!is.null(attr(stats::terms(right), "offset"))) {
    stop_bad("`y` must have no offset() term in its formula: give `offset` to n2gfl().")
  }
  if (any(grepl("^(survival::)?strata\\(", attr(stats::terms(right), "term.labels")))) {
    stop_bad("`y` must have no strata() term in its formula: strata are a column `stratum` or an ",
             "attribute \"strata\" of the times on its left side.")
  }
  if (length(attr(stats::terms(right), "term.labels"))) arguments$covariates <- right
  arguments
}

surv_hint <- function(message) {
  if (grepl("\"Surv\"", message, fixed = TRUE)) " Write survival::Surv(), or attach the package."
}

formula_outcome <- function(formula, arguments, n) {
  data <- arguments$data
  variables <- objects_in(formula[[2]])
  for (variable in variables) {
    known <- variable %in% names(data) || exists(variable, environment(formula))
    if (!known) stop_no_variable(variable, data, "data", "`y`")
  }
  # Columns of the table are in order; other objects may be in the order that the table had.
  others <- setdiff(variables, names(data))
  tables <- Filter(is.data.frame, mget(others, environment(formula), inherits = TRUE))
  tables <- Map(align_rows, tables, names(tables), MoreArgs = list(rows = arguments$rows))
  y <- tryCatch(eval(formula[[2]], c(as.list(data), tables), environment(formula)),
                error = function(e) stop_bad("`y` could not be computed from its formula: ",
                                             sub("\\.?$", ".", conditionMessage(e)),
                                             surv_hint(conditionMessage(e))))
  if (length(others) > length(tables)) y <- align_rows(y, "y", arguments$rows)
  check_rows(y, "y", n, "row of `x`")
  y
}
