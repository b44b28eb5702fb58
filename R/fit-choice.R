# Which rows of the grid are meant: by name, by penalties or by number. The default of all functions
# that predicts from a cross-validation, maps, draws or tabulates it is defined here and nowhere
# else.

# The row that `s = NULL` means for a cross-validation. Not glmnet's "lambda.1se": counted in
# regions, the sparsest row can be one region that fills the whole mask. Not "lambda.min": it jumps
# when the data change a little, and the map with it.
default_choice <- "lambda.stable"

# The names that `s` can be, in the order in which tables list them.
choice_names <- c("lambda.min", "lambda.1se", "lambda.es", "lambda.stable")

is_cv <- function(object) inherits(object, "n2gfl_cv")

is_selection <- function(object) inherits(object, "n2gfl_stability_selection")

# What a cross-validation's `s` and `row` mean for its fit: list(s, row), one of them NULL.
cv_choice <- function(object, s = NULL, row = NULL) {
  if (is.null(s) && is.null(row)) s <- usual_choice(object)
  if (!is.character(s)) return(list(s = s, row = row))
  if (!is.null(row)) stop_bad("`s` and `row` must not both be given.")
  s <- match_choice_name(s)
  index <- object$index[sub("lambda.", "", s, fixed = TRUE)]
  if (is.na(index)) {
    known <- paste0("lambda.", names(object$index)[!is.na(object$index)])
    stop_bad("`s` must be one of ", quoted(known), " here, not ", quoted(s),
             ", because the cross-validation has no such row.")
  }
  list(s = NULL, row = index[[1]])
}

# The default for an object. One that an older version saved has no row of that name.
usual_choice <- function(object) {
  if (sub("lambda.", "", default_choice, fixed = TRUE) %in% names(object$index)) default_choice else
    "lambda.min"
}

# The full name, of the beginning of one.
match_choice_name <- function(s) {
  if (!is.character(s) || length(s) != 1 || is.na(pmatch(s, choice_names))) {
    stop_bad("`s` must be one of ", quoted(choice_names), ", not ", describe(s), ".")
  }
  choice_names[pmatch(s, choice_names)]
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

# ---- rows by their penalties or numbers ----------------------------------------------------------

# The rows of the grid that `s` or `row` ask for; all of them, if neither is given. `exact`: should
# the message for an `s` off the grid suggest `exact = TRUE`?
choose_rows <- function(object, s, row, exact = TRUE) {
  if (is.null(s)) return(check_row(row, nrow(object$grid)))
  if (!is.null(row)) stop_bad("`s` and `row` must not both be given.")
  s <- check_s(s, object$grid)
  row <- find_rows(object$grid, s)
  if (anyNA(row)) stop_off_grid(object$grid, s[is.na(row), , drop = FALSE][1, ], exact)
  row
}

# A data frame with columns lambda1 and lambda2. Plain numbers are values of lambda1, as in glmnet,
# if the grid has only one lambda2.
check_s <- function(s, grid) {
  if (is.numeric(s) && is.null(dim(s))) {
    lambda2 <- unique(grid$lambda2)
    plain <- is.null(names(s)) && length(s) && length(lambda2) == 1
    s <- if (plain) cbind(lambda1 = s, lambda2 = lambda2) else t(s)
  }
  wanted <- c("lambda1", "lambda2")
  if (!(is.data.frame(s) || is.matrix(s)) || !all(wanted %in% colnames(s)) || !nrow(s)) {
    stop_bad("`s` must be c(lambda1 = , lambda2 = ) or have columns with these names, not ",
             describe(if (is.matrix(s) && nrow(s) == 1) s[1, ] else s), ".")
  }
  data.frame(lambda1 = check_lambda_values(s[, "lambda1"], "s"),
             lambda2 = check_lambda_values(s[, "lambda2"], "s"))
}

check_row <- function(row, rows) {
  if (is.null(row)) return(seq_len(rows))
  bad <- if (is.numeric(row) && length(row)) which(is.na(row) | !row %in% seq_len(rows))[1] else 1
  if (!is.na(bad)) {
    stop_bad("`row` must hold row numbers of the grid, from 1 to ", rows, ", not ",
             if (length(row) > 1) describe(row[bad]) else describe(row), ".")
  }
  row
}

# The grid's row for each row of `s`, or NA. The tolerance only allows for rounding errors.
find_rows <- function(grid, s) {
  same <- function(a, b) abs(a - b) <= 1e-10 * pmax(a, b)
  find_one <- function(lambda1, lambda2) {
    which(same(grid$lambda1, lambda1) & same(grid$lambda2, lambda2))[1]
  }
  mapply(find_one, s$lambda1, s$lambda2)
}

stop_off_grid <- function(grid, s, exact = TRUE) {
  # Relative distances, because grids are geometric; zero has distance 1 from all other values.
  apart <- function(a, b) abs(a - b) / pmax(a, b, .Machine$double.xmin)
  near <- order(apart(grid$lambda1, s$lambda1) + apart(grid$lambda2, s$lambda2))
  near <- sort(utils::head(near, 2))
  stop_bad("`s` must be in the grid of the fit, but (", lambda_text(s), ") is not; the nearest ",
           if (length(near) == 1) "is " else "are ",
           paste0("row ", near, " (", lambda_text(grid[near, ]), ")", collapse = " and "),
           ": give `row`", if (exact) ", or `exact = TRUE` with the data", ".")
}

lambda_text <- function(rows) {
  paste0("lambda1 = ", number_text_each(rows$lambda1), ", lambda2 = ",
         number_text_each(rows$lambda2))
}

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

# Notes on chosen rows that may surprise the user: a row without features, a "sparsest" row with
# more features than the best row, a most stable map that is nearly everywhere.
choice_notes <- function(object) {
  index <- object$index[!is.na(object$index)]
  nonzero <- stats::setNames(object$grid$nonzero[index], paste0("lambda.", names(index)))
  empty <- names(nonzero)[nonzero == 0]
  more <- "lambda.1se" %in% names(nonzero) && nonzero[["lambda.1se"]] > nonzero[["lambda.min"]]
  c(
    stable_notes(object),
    if (length(empty)) {
      paste0(paste(empty, collapse = ", "), ": no feature is selected, the map is empty.")
    },
    if (more) {
      paste0("lambda.1se has at most as many regions as lambda.min, but more features (",
             nonzero[["lambda.1se"]], " against ", nonzero[["lambda.min"]], ").")
    },
    if (isTRUE(object$scale.check$advised)) {
      paste0(measured_scale_text(object$scale.check, object$name), ": see `scale` in ?n2gfl.")
    }
  )
}

# What limits the choice of lambda.stable. An object of an older version says nothing of it.
stable_notes <- function(object) {
  share <- object$stable$share
  reason <- object$stable$reason %or% ""
  limit <- object$rule$max.share
  whole <- if (is.null(kept_in(object, "space"))) "features" else "mask"
  c(
    if (reason == "no evidence") {
      paste0("On the scores, smoothed over the grid, no fit is better than the model without ",
             "features by more than 1 standard error: the data are no evidence for a map.")
    },
    if (!is.null(share) && share > limit) {
      paste0("The most stable fit uses ", percent(share), " of the ", whole, ": the effect is ",
             "global; `covariates = ~ global` shows what is local beyond it.")
    },
    if (reason == "size") {
      paste0("All fits that are about as accurate as the best use more than ", percent(limit),
             " of the ", whole, "; lambda.stable is the most accurate of the smaller ones.")
    }
  )
}

percent <- function(share) paste(round(100 * share), "%")
