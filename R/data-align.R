# Tables and named vectors are brought into the order of the rows of `x`, so that a table in another
# order than the images cannot give each subject the values of another one. data-row-names.R knows
# how rows are named.

# ---- tables --------------------------------------------------------------------------------------

# A table with its rows in the order of `labels`: list(data, rows, moved, given). `rows` says which
# rows of the given table these are, NULL if nothing names them, which `must_match` forbids.
align_table <- function(data, labels, of_images, name = "data", per = "row of `x`",
                        must_match = FALSE) {
  if (is.data.frame(data) && !length(labels)) say_sorted(data, name)
  if (!is.data.frame(data) || !length(labels)) return(list(data = data, moved = FALSE))
  best <- best_naming(data, labels, of_images, name)
  n <- length(labels[[1]])
  if (is.null(best) && must_match) {
    stop_bad("`", name, "` must have the path of every image in its column `file`, but the column ",
             "does not identify the row of ", quoted(short_names(labels)[1]), ".")
  }
  if (is.null(best)) {
    known <- of_images || any(is_naming(names(data))) || contradicts(data, labels)
    if (known && nrow(data) == n) take_in_order(data, labels, name, per)
    return(list(data = data, moved = FALSE))
  }
  missing <- which(is.na(best$rows))[1]
  if (!is.na(missing)) {
    stop_bad("`", name, "` must have one row for every ", per, ", but its ", column_text(best$by),
             " not have ", quoted(short_names(labels)[missing]), " exactly once.")
  }
  moved <- !identical(best$rows, seq_len(nrow(data)))
  # Running numbers may have nothing to do with those in the names of files.
  by_number <- best$form == match("number", names(name_forms))
  if (moved || by_number) say_matched(name, best, nrow(data), moved, per)
  list(data = data[best$rows, , drop = FALSE], rows = best$rows, moved = moved, given = data)
}

column_text <- function(column, does = TRUE) {
  if (column == "row names") return(paste0("row names", if (does) " do"))
  several <- grepl("` and `", column, fixed = TRUE)
  paste0(if (several) "columns" else "column", " `", column, "`",
         if (does) if (several) " do" else " does")
}

say_matched <- function(name, best, given, moved, per) {
  used <- length(best$rows)
  message("`", name, "`: rows matched to the ", plural(per), " by ", column_text(best$by, FALSE),
          if (used < given) paste0("; ", used, " of its ", given, " rows are used")
          else if (moved) ", because they are in another order"
          else ", by number", ".")
}

# Nothing names the rows: they are taken in order, unless the participants say otherwise.
take_in_order <- function(data, labels, name, per) {
  if (contradicts(data, labels)) {
    stop_bad("`", name, "` must name each ", per, ", but it has participants in another order ",
             "than the ", plural(per), " and does not say which of their images a row ",
             "belongs to: add a column `file` or `session_id`.")
  }
  message("`", name, "`: no column and no row names match the names of the ", plural(per), " (",
          quoted(short_names(labels)[1]), ", ...), so its rows are taken in the order of the ",
          plural(per), ".")
}

# The row numbers of a data frame that was sorted tell so; `x` cannot, if it has no row names.
say_sorted <- function(data, name) {
  rows <- attr(data, "row.names")
  if (!is.integer(rows) || !is.unsorted(rows)) return(invisible())
  message("`", name, "`: its row numbers say that it was sorted, and `x` has no row names, so its ",
          "rows are taken in the order of `x`, one by one.")
}

# "rows of `x`" of "row of `x`", "images" of "image".
plural <- function(per) sub("^(row|image)", "\\1s", per)

# ---- vectors -------------------------------------------------------------------------------------

# A vector, factor or matrix with one value (row) per row of x, ordered by its names. Without names
# it is ordered like the table if it is one of its columns. `table` comes from align_table().
align_vector <- function(value, name, labels, table = list(moved = FALSE)) {
  if (!length(labels) || is.null(value) || is.language(value)) return(value)
  if (is.data.frame(value)) return(align_table(value, labels, FALSE, name)$data)
  names <- if (length(dim(value)) == 2) rownames(value) else names(value)
  if (is.null(names)) return(align_unnamed(value, name, table))
  match <- match_names(labels, names)
  missing <- which(is.na(match$rows))[1]
  if (match$found == 0 && !any(unlist(labels) %in% names)) {
    message("`", name, "`: its names are not those of the rows of `x` (",
            quoted(short_names(labels)[1]), ", ...), so it is taken in the order of `x`.")
    return(value)
  }
  if (!is.na(missing)) {
    stop_bad("`", name, "` must have one value for every row of `x`, but its names do not have ",
             quoted(short_names(labels)[missing]), " exactly once.")
  }
  if (!identical(match$rows, seq_along(names))) {
    used <- length(match$rows)
    message("`", name, "`: values matched to the rows of `x` by its names",
            if (used < length(names)) paste0("; ", used, " of its ", length(names), " are used")
            else ", because they are in another order", ".")
  }
  take_rows(value, match$rows)
}

take_rows <- function(value, rows) {
  taken <- if (length(dim(value)) == 2) value[rows, , drop = FALSE] else value[rows]
  # The strata of a Surv object are an attribute, which only its own package would keep.
  strata <- attr(value, "strata")
  if (!is.null(strata)) attr(taken, "strata") <- strata[rows]
  taken
}

# Decides the order of a vector without names if the rows of the table had to be moved: the order of
# the table as it was given, or that of x.
align_unnamed <- function(value, name, table) {
  if (!table$moved || NROW(value) < 2 || length(unique(as.vector(value))) == 1) return(value)
  same <- function(column) identical(as.character(column), as.character(value))
  if (any(vapply(table$data, same, NA))) return(value)
  column <- which(vapply(table$given, same, NA))[1]
  if (is.na(column) && !is.unsorted(table$rows)) return(value)
  if (is.na(column)) {
    stop_bad("`", name, "` must have names, or be a column of `data`, because `data` is in ",
             "another order than `x`, and it is unknown in which order `", name, "` is.")
  }
  message("`", name, "`: put into the order of `x` like `data`, because it is its column `",
          names(table$given)[column], "`.")
  take_rows(value, table$rows)
}

# ---- all arguments of a fit ----------------------------------------------------------------------

# The arguments of n2gfl() in the order of the rows of x. `rows` is what align_rows() needs for
# those that come later (group, foldid, variables of a formula that are not in `data`).
align_arguments <- function(arguments) {
  if (isS4(arguments$x)) arguments$x <- as_disk_matrix(arguments$x)
  labels <- row_labels(arguments$x)
  of_images <- is_images(arguments$x)
  table <- if (of_images && is.null(arguments$data)) {
    attached_table(arguments$x)
  } else {
    check_covariate_data(arguments$data)
    align_table(arguments$data, labels, of_images)
  }
  if (!is.null(table$data)) arguments$data <- table$data
  rows <- list(labels = labels, table = table)
  for (name in c("y", "weights", "offset", "covariates", "controls", "scale")) {
    arguments[name] <- list(align_rows(arguments[[name]], name, rows))
  }
  if (of_images) say_order_of_outcome(arguments$y, arguments$x, table$data)
  arguments$rows <- rows
  arguments
}

# The table that came with the images is in their order. If read_images() had to move its rows, its
# attribute says from where, because vectors of the user may still be in the old order.
attached_table <- function(images) {
  rows <- attr(images$data, "table_rows")
  table <- list(data = images$data, rows = rows, moved = !is.null(rows))
  if (table$moved) table$given <- images$data[order(rows), , drop = FALSE]
  table
}

# A plain vector as outcome beside images that know their files is where rows get mixed up.
say_order_of_outcome <- function(y, images, data) {
  own <- if (length(dim(y)) == 2) rownames(y) else names(y)
  plain <- (is.atomic(y) || is.factor(y)) && NROW(y) == nrow(images$x) && is.null(own) &&
    NROW(y) > 1 && !is.null(images[["files"]])
  same <- function(column) identical(as.character(column), as.character(y))
  if (!plain || any(vapply(data, same, NA))) return(invisible())
  message("`y` has no names, so it is taken in the order of the images; a formula such as ",
          "diagnosis ~ age, with the subjects' table as `data`, would be matched to them.")
}

align_rows <- function(value, name, rows) {
  if (name != "foldid") return(align_vector(value, name, rows$labels, rows$table))
  # Folds are not data: those of another fit come without names, in the order of x.
  unnamed <- is.null(if (length(dim(value)) == 2) rownames(value) else names(value))
  if (!is.null(value) && unnamed && rows$table$moved && is.unsorted(rows$table$rows)) {
    message("`foldid` has no names, so it is taken in the order of `x`, not in that of `data`.")
  }
  align_vector(value, name, rows$labels)
}

# The same for one argument with other images or another matrix: new covariates, for instance.
align_new <- function(value, name, x) {
  if (is.data.frame(value)) new_table(value, x, name)$data
  else align_vector(value, name, row_labels(x))
}

# The table beside other data, as align_table() gives it: vectors without names may be in the order
# that it had.
new_table <- function(covariates, x, name) {
  if (!is.data.frame(covariates)) {
    return(if (is_images(x)) attached_table(x) else list(moved = FALSE))
  }
  if (is_images(x) && identical(covariates, x$data)) return(attached_table(x))
  per <- if (startsWith(name, "new")) "row of `newx`" else "row of `x`"
  align_table(covariates, row_labels(x), is_images(x), name, per)
}
