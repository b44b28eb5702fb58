# Rows by name. Tables and named vectors are put into the order of the rows of `x`, so that subjects
# do not get each other's values if a table and the images have different orders.

# ---- names of rows -------------------------------------------------------------------------------

# The names of the rows of `x`, or NULL if they have none: the files of images, or the subjects, or
# the row names of a matrix.
row_labels <- function(x) {
  if (!is_images(x)) return(rownames(x))
  if (is.null(x[["files"]])) x$subjects else x$files
}

# The last parts of paths, which stay the same when a folder is moved.
path_tail <- function(parts) {
  function(names) {
    split <- strsplit(path.expand(names), "[/\\\\]+")
    vapply(split, function(path) paste(utils::tail(path, parts), collapse = "/"), "")
  }
}

# The shortest ends of paths that tell them apart, for messages.
short_names <- function(labels) {
  for (parts in 1:4) {
    short <- path_tail(parts)(labels)
    if (!anyDuplicated(short)) return(short)
  }
  labels
}

# Ways to write the same name, the most specific first: a path, the end of it, the file's name with
# and without its ending, the participant "sub-01" of the BIDS standard, its label "01", and that as
# a number.
name_forms <- list(
  whole = function(names) names,
  tail4 = path_tail(4), tail3 = path_tail(3), tail2 = path_tail(2), file = path_tail(1),
  stem = function(names) file_stem(names),
  participant = function(names) bids_participant(names),
  label = function(names) sub("^sub-", "", bids_participant(names)),
  number = function(names) {
    sub("^(sub-)?0*(?=[0-9])", "", bids_participant(names), perl = TRUE)
  }
)

file_stem <- function(paths) {
  sub("\\.((nii|hdr|img)(\\.gz)?|[a-z]+\\.gii|gii|mgh|mgz)$", "", basename(paths),
      ignore.case = TRUE)
}

# "sub-01" of a path or a name that has it; other names stay as they are.
bids_participant <- function(names) {
  stem <- file_stem(names)
  in_name <- regmatches(stem, regexpr("sub-[A-Za-z0-9]+", stem))
  found <- grepl("sub-[A-Za-z0-9]+", stem)
  stem[found] <- in_name
  stem
}

# For each of `wanted` the position of that name in `given`, in the form that finds most of them:
# list(rows, found). A form in which two of `wanted` are equal is skipped, and a name that occurs
# twice in `given` is not found. Bare numbers may be R's own row numbers: they count as names of
# participants only if `numbers` is TRUE.
match_names <- function(wanted, given, numbers = FALSE) {
  best <- list(rows = rep(NA_integer_, length(wanted)), found = 0L)
  bare <- !numbers && all(grepl("^[0-9.]*$", given))
  for (form in if (bare) name_forms["whole"] else name_forms) {
    key <- form(wanted)
    value <- form(given)
    if (anyDuplicated(key)) next
    rows <- match(key, value)
    rows[key %in% value[duplicated(value)]] <- NA
    found <- sum(!is.na(rows))
    if (found > best$found) best <- list(rows = rows, found = found)
    if (found == length(wanted)) break
  }
  best
}

# ---- tables --------------------------------------------------------------------------------------

# The columns of a table that may name its rows (first those with a name such as "subject") and its
# row names if they are text. Numbers are names only in a column with such a name: an age may look
# like a participant's number.
naming_columns <- function(data) {
  is_text <- vapply(data, function(column) is.character(column) || is.factor(column), NA)
  says_so <- is_naming(names(data))
  columns <- lapply(c(data[says_so], data[is_text & !says_so]), as.character)
  if (is.character(attr(data, "row.names"))) columns$`row names` <- rownames(data)
  Filter(function(values) !anyNA(values), columns)
}

is_naming <- function(column) {
  grepl("^(participant|subject|sub|id|file|filename|path|image|scan)([._]?id)?$", column,
        ignore.case = TRUE)
}

# A table with its rows in the order of `labels`: list(data, rows, moved, given). `rows` are these
# rows' numbers in the table as it was given.
align_table <- function(data, labels, of_images, name = "data", per = "row of `x`") {
  if (!is.data.frame(data) || is.null(labels)) return(list(data = data, moved = FALSE))
  columns <- naming_columns(data)
  matches <- Map(function(values, column) match_names(labels, values, is_naming(column)), columns,
                 names(columns))
  found <- vapply(matches, `[[`, 0L, "found")
  best <- if (length(found)) which.max(found)
  if (!length(found) || found[best] == 0) {
    if (of_images && nrow(data) == length(labels)) say_taken_in_order(name, labels, per)
    return(list(data = data, moved = FALSE))
  }
  by <- column_text(names(columns)[best])
  rows <- matches[[best]]$rows
  missing <- which(is.na(rows))[1]
  if (!is.na(missing)) {
    stop_bad("`", name, "` must have one row for every ", per, ", but its ", by,
             if (by == "row names") " do" else " does", " not have ",
             quoted(short_names(labels)[missing]), " exactly once.")
  }
  moved <- !identical(rows, seq_len(nrow(data)))
  if (moved) say_matched(name, by, rows, nrow(data), per = per)
  list(data = data[rows, , drop = FALSE], rows = rows, moved = moved, given = data)
}

column_text <- function(column) {
  if (column == "row names") "row names" else paste0("column `", column, "`")
}

say_matched <- function(name, by, rows, given, what = "rows", per = "row of `x`") {
  message("`", name, "`: ", what, " matched to the ", plural(per), " by ", by,
          if (length(rows) < given) {
            paste0("; ", length(rows), " of its ", given, " ", what, " are used")
          } else {
            ", because they are in another order"
          }, ".")
}

say_taken_in_order <- function(name, labels, per) {
  message("`", name, "`: no column and no row names match the names of the ", plural(per), " (",
          quoted(short_names(labels)[1]), ", ...), so its rows are taken in the order of the ",
          plural(per), ".")
}

# "rows of `x`" of "row of `x`", "images" of "image".
plural <- function(per) sub("^(row|image)", "\\1s", per)

# ---- vectors -------------------------------------------------------------------------------------

# A vector, factor or matrix with one value (row) per row of x, ordered by its names. Without names
# it is ordered like the table if it is one of its columns. `table` comes from align_table().
align_vector <- function(value, name, labels, table = list(moved = FALSE)) {
  if (is.null(labels) || is.null(value) || is.data.frame(value) || is.language(value)) return(value)
  names <- if (length(dim(value)) == 2) rownames(value) else names(value)
  if (is.null(names)) return(align_unnamed(value, name, table))
  match <- match_names(labels, names)
  if (match$found == 0) {
    message("`", name, "`: its names are not those of the rows of `x` (",
            quoted(short_names(labels)[1]), ", ...), so it is taken in the order of `x`.")
    return(value)
  }
  missing <- which(is.na(match$rows))[1]
  if (!is.na(missing)) {
    stop_bad("`", name, "` must have a value for every row of `x`, but its names do not have ",
             quoted(short_names(labels)[missing]), " exactly once.")
  }
  if (!identical(match$rows, seq_along(names))) {
    say_matched(name, "its names", match$rows, length(names), "values")
  }
  take_rows(value, match$rows)
}

take_rows <- function(value, rows) {
  if (length(dim(value)) == 2) value[rows, , drop = FALSE] else value[rows]
}

# Decides the order of a vector without names if the rows of the table had to be moved: the order
# of the table as it was given, or that of x.
align_unnamed <- function(value, name, table) {
  if (!table$moved || NROW(value) != nrow(table$given)) return(value)
  if (length(unique(as.vector(value))) == 1) return(value)
  same <- function(column) identical(as.character(column), as.character(value))
  if (any(vapply(table$data, same, NA))) return(value)
  column <- which(vapply(table$given, same, NA))[1]
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
# those that come later (group, foldid).
align_arguments <- function(arguments) {
  labels <- row_labels(arguments$x)
  of_images <- is_images(arguments$x)
  table <- align_table(arguments$data, labels, of_images)
  if (!is.null(arguments$data)) {
    arguments$data <- table$data
  } else if (of_images) {
    arguments$data <- arguments$x$data
  }
  rows <- list(labels = labels, table = table)
  for (name in c("y", "weights", "offset", "covariates", "controls")) {
    arguments[name] <- list(align_rows(arguments[[name]], name, rows))
  }
  arguments$rows <- rows
  arguments
}

align_rows <- function(value, name, rows) align_vector(value, name, rows$labels, rows$table)

# The same for one argument with other images or another matrix: new covariates, for instance.
align_new <- function(value, name, x) {
  labels <- row_labels(x)
  if (!is.data.frame(value)) return(align_vector(value, name, labels))
  align_table(value, labels, is_images(x), name)$data
}

# ---- the outcome by its name ---------------------------------------------------------------------

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
  arguments["y"] <- list(formula_outcome(formula, arguments$data, n))
  right <- formula[-2]
  if (length(attr(stats::terms(right), "term.labels"))) arguments$covariates <- right
  arguments
}

formula_outcome <- function(formula, data, n) {
  for (variable in all.vars(formula[[2]])) {
    known <- variable %in% names(data) || exists(variable, environment(formula))
    if (!known) stop_no_variable(variable, data, "data", "`y`")
  }
  y <- eval(formula[[2]], data, environment(formula))
  check_length(y, "y", n, "row of `x`")
  y
}

# ---- messages about the outcome ------------------------------------------------------------------

# Text has no order of its own, and two numbers may be classes.
announce_outcome <- function(y, response, family) {
  if (family == "binomial" && is.character(y)) {
    message("Modelling the probability of ", quoted(response$classnames[2]), " (against ",
            quoted(response$classnames[1]), "); make `y` a factor to set the order.")
  }
  if (family == "gaussian" && length(unique(response$y)) == 2) {
    message("`y` has only the two values ", paste(number_text_each(sort(unique(response$y))),
                                                  collapse = " and "),
            ": if they are classes, use family = \"binomial\".")
  }
}
