# Which row of the grid is meant. The default of every function that predicts from a
# cross-validation, maps, draws or tabulates it is defined here and nowhere else.

# The row that `s = NULL` means for a cross-validation. Not glmnet's "lambda.1se": counted in
# regions, the sparsest row can be one region that fills the whole mask.
default_choice <- "lambda.min"

# The names that `s` can be, in the order in which tables list them.
choice_names <- c("lambda.min", "lambda.1se", "lambda.es")

is_cv <- function(object) inherits(object, "cv.n2gfl")

# What a cross-validation's `s` and `row` mean for its fit: list(s, row), one of them NULL.
cv_choice <- function(object, s = NULL, row = NULL) {
  if (is.null(s) && is.null(row)) s <- default_choice
  if (!is.character(s)) return(list(s = s, row = row))
  if (!is.null(row)) stop_bad("`s` and `row` must not both be given.")
  if (length(s) != 1 || is.na(pmatch(s, choice_names))) {
    stop_bad("`s` must be one of ", quoted(choice_names), ", not ", describe(s), ".")
  }
  s <- choice_names[pmatch(s, choice_names)]
  index <- object$index[sub("lambda.", "", s, fixed = TRUE)]
  if (is.na(index)) {
    stop_bad("`s` must be \"lambda.1se\" or \"lambda.min\" here, not \"", s,
             "\", because the cross-validation has no such row.")
  }
  list(s = NULL, row = index[[1]])
}

# The one row of the grid that `s` or `row` means, for a map or a table.
map_row <- function(object, s, row) {
  fit <- full_fit(object)
  chosen <- !is.null(object$index)
  if (is.null(s) && is.null(row) && !chosen) {
    if (nrow(fit$grid) == 1) return(1L)
    stop_bad("`row` or `s` must choose one of the ", nrow(fit$grid), " fits.")
  }
  if (is.character(s) && !chosen) {
    stop_bad("`s` must be c(lambda1 = , lambda2 = ) for a fit without cross-validation, not ",
             describe(s), ".")
  }
  choice <- if (chosen) cv_choice(object, s, row) else list(s = s, row = row)
  row <- choose_rows(fit, choice$s, choice$row, exact = FALSE)
  if (length(row) != 1) stop_bad("`row` or `s` must choose one fit, not ", length(row), ".")
  row
}

# ---- the fit inside of an object -----------------------------------------------------------------

# The fit to all rows: the object itself, or what a cross-validation or perturbed runs keep; NULL if
# there is none. No other function knows where it is kept.
fit_inside <- function(object) {
  if (inherits(object, "n2gfl")) return(object)
  if (is.list(object)) object[["n2gfl.fit"]]
}

full_fit <- function(object) {
  fit <- fit_inside(object)
  if (!inherits(fit, "n2gfl")) {
    stop_bad("`object` must be a fit from n2gfl() or cv.n2gfl(), not ", describe(object), ".")
  }
  fit
}

# What an object keeps under this name, such as "graph" or "space": itself, or in the fit inside.
kept_in <- function(object, name) object[[name]] %or% fit_inside(object)[[name]]

# ---- words for titles and tables -----------------------------------------------------------------

# What a row is called: "lambda.min" or "lambda.min, lambda.1se" if the cross-validation chose it,
# else "row 12".
row_name <- function(object, row) {
  chosen <- paste0("lambda.", names(object$index)[object$index %in% row])
  if (is.null(object$index) || !any(object$index %in% row)) paste("row", row) else {
    paste(chosen, collapse = ", ")
  }
}

# "lambda.min: lambda1 = 0.0123, lambda2 = 0.0045", for printed tables.
choice_text <- function(object, row) {
  lambda <- lambda_label(unlist(full_fit(object)$grid[row, c("lambda1", "lambda2")]))
  paste0(row_name(object, row), ": lambda1 = ", lambda[1], ", lambda2 = ", lambda[2])
}

# The same for the title of a picture, with the Greek letter.
choice_title <- function(object, row) {
  lambda <- lambda_label(unlist(full_fit(object)$grid[row, c("lambda1", "lambda2")]))
  bquote(.(row_name(object, row)) * ":" ~ lambda[1] == .(lambda[[1]]) * "," ~
           lambda[2] == .(lambda[[2]]))
}

# Notes on chosen rows that may surprise the user: a row without features, or a "sparsest" row with
# more features than the best row.
choice_notes <- function(object) {
  index <- object$index[!is.na(object$index)]
  nonzero <- stats::setNames(object$grid$nonzero[index], paste0("lambda.", names(index)))
  empty <- names(nonzero)[nonzero == 0]
  more <- "lambda.1se" %in% names(nonzero) && nonzero[["lambda.1se"]] > nonzero[["lambda.min"]]
  c(
    if (length(empty)) {
      paste0(paste(empty, collapse = ", "), ": no feature is selected, the map is empty.")
    },
    if (more) {
      paste0("lambda.1se has at most as many regions as lambda.min, but more features (",
             nonzero[["lambda.1se"]], " against ", nonzero[["lambda.min"]], ").")
    }
  )
}
