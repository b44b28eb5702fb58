# Which row is whose: names of rows, in the ways in which files, participants and tables write them.

# What the rows of `x` are called: a list of character vectors, empty if nobody said so. Images have
# the names that the user gave and the files; a matrix has its row names.
row_labels <- function(x) {
  labels <- if (is_images(x)) list(x$subjects, x[["files"]]) else list(rownames(x))
  unique(Filter(Negate(is.null), labels))
}

# What messages call them: files if they are known, by the shortest ends that tell them apart.
short_names <- function(labels) {
  names <- labels[[length(labels)]]
  for (parts in 1:4) {
    short <- path_tail(parts)(names)
    if (!anyDuplicated(short)) return(short)
  }
  names
}

# ---- ways to write a name ------------------------------------------------------------------------

# The last parts of paths, which are the same in a folder that has moved.
path_tail <- function(parts) {
  pattern <- paste0("^.*?((?:[^/]+/){0,", parts - 1, "}[^/]*)$")
  function(names) sub(pattern, "\\1", gsub("[/\\\\]+", "/", path.expand(names)), perl = TRUE)
}

file_stem <- function(paths) {
  sub("\\.((nii|hdr|img)(\\.gz)?|[a-z]+\\.gii|gii|mgh|mgz)$", "", basename(paths),
      ignore.case = TRUE)
}

# The entity of a BIDS name, such as "sub-01" in its file name or else in its folders; NA if it has
# none.
bids_entity <- function(names, entity) {
  pattern <- paste0("(?<![a-z0-9])", entity, "-[a-z0-9]+")
  found <- function(text) {
    at <- regexpr(pattern, text, perl = TRUE)
    ifelse(at > 0, substring(text, at, at + attr(at, "match.length") - 1), NA)
  }
  in_file <- found(file_stem(names))
  ifelse(is.na(in_file), found(names), in_file)
}

bids_participant <- function(names) {
  participant <- bids_entity(names, "sub")
  ifelse(is.na(participant), file_stem(names), participant)
}

# The most specific first: a path, the end of it, the file's name with and without its ending,
# participant with session, participant ("sub-01" of the BIDS standard), its label "01", and that as
# a number. Upper and lower case are the same.
name_forms <- c(list(whole = identity), lapply(list(
  tail5 = path_tail(5), tail4 = path_tail(4), tail3 = path_tail(3), tail2 = path_tail(2),
  file = path_tail(1), stem = file_stem,
  session = function(names) paste0(bids_participant(names), "_", bids_entity(names, "ses")),
  participant = bids_participant,
  label = function(names) sub("^sub-", "", bids_participant(names)),
  number = function(names) sub("^(sub-)?0*(?=[0-9])", "", bids_participant(names), perl = TRUE)
), function(form) function(names) form(tolower(names))))

# ---- matching ------------------------------------------------------------------------------------

# For each of the rows the position of its name in `given`: list(rows, found, form), with the number
# of the form that finds most of them. A name that occurs twice identifies nobody. Bare numbers may
# be R's own row numbers: they count as names of participants only if `numbers` says so. `tokens`:
# look for names inside of paths, too, which takes longer.
match_names <- function(labels, given, numbers = FALSE, tokens = TRUE, keys = label_keys(labels)) {
  n <- length(labels[[1]])
  best <- list(rows = rep(NA_integer_, n), found = 0L, form = Inf)
  given <- ifelse(is.na(given), paste0("\001", seq_along(given)), trimws(given))
  bare <- !numbers && all(grepl("^[0-9.]*$", given))
  for (form in if (bare) 1L else seq_along(name_forms)) {
    values <- name_forms[[form]](given)
    for (key in keys[[form]]) {
      match <- match_keys(key, values)
      if (match$found > best$found) best <- c(match, form = form)
    }
    if (best$found == n) return(best)
  }
  token <- if (tokens && !bare) match_tokens(labels[[length(labels)]], tolower(given))
  if (is.null(token) || token$found <= max(best$found, n / 2)) return(best)
  c(token, form = length(name_forms) + 1)
}

# The names of the rows in each of the forms.
label_keys <- function(labels) lapply(name_forms, function(form) lapply(labels, form))

match_keys <- function(key, values) {
  if (anyDuplicated(key)) return(list(rows = NULL, found = 0L))
  rows <- match(key, values)
  rows[key %in% values[duplicated(values)]] <- NA
  list(rows = rows, found = sum(!is.na(rows)))
}

# Names that are a part of a path, from one separator to another: "001_S_1001" in
# "ADNI_001_S_1001_MR.nii", a folder's name. Each path must hold one of them (the longest counts),
# and no two paths the same.
match_tokens <- function(names, given) {
  names <- tolower(names)
  known <- given[!duplicated(given) & nchar(given) > 1]
  runs <- Map(word_runs, names, gregexpr("[a-z0-9]+", names))
  path <- rep(seq_along(runs), lengths(runs))
  runs <- unlist(runs, use.names = FALSE)
  hit <- which(runs %in% known)
  hit <- hit[order(path[hit], -nchar(runs[hit]))]
  hit <- hit[!duplicated(path[hit])]
  longest <- rep(NA_character_, length(names))
  longest[path[hit]] <- runs[hit]
  rows <- match(longest, given)
  rows[longest %in% c(longest[duplicated(longest)], given[duplicated(given)])] <- NA
  list(rows = rows, found = sum(!is.na(rows)))
}

# All parts of a text from the start of a word to the end of the same or one of the next five.
word_runs <- function(text, starts) {
  ends <- starts + attr(starts, "match.length") - 1
  from <- rep(seq_along(starts), each = 6)
  to <- from + 0:5
  use <- to <= length(starts)
  substring(text, starts[from[use]], ends[to[use]])
}

# ---- tables --------------------------------------------------------------------------------------

# The columns of a table that may name its rows, and its row names if they are text. Numbers are
# names only in a column that says so: an age may look like a participant's number.
naming_columns <- function(data) {
  is_text <- vapply(data, function(column) is.character(column) || is.factor(column), NA)
  columns <- lapply(data[is_naming(names(data)) | is_text], as.character)
  columns <- c(columns, session_column(data))
  if (is.character(attr(data, "row.names"))) columns$`row names` <- rownames(data)
  columns
}

is_naming <- function(column) {
  grepl(paste0("^(participant|patient|case|subject|subj|sub|pid|ptid|rid|eid|id|file|filename|",
               "path|image|scan)s?([._]?id)?$"), column, ignore.case = TRUE)
}

# Participant and session in two columns, as one name.
session_column <- function(data) {
  participant <- grep("^(participant|subject|sub)([._]?id)?$", names(data), ignore.case = TRUE)[1]
  session <- grep("^(session|ses|visit)([._]?id)?$", names(data), ignore.case = TRUE)[1]
  if (is.na(participant) || is.na(session)) return(NULL)
  entity <- function(values, name) {
    paste0(name, "-", sub(paste0("^", name, "-"), "", tolower(as.character(values))))
  }
  name <- paste(names(data)[c(participant, session)], collapse = "` and `")
  stats::setNames(list(paste0(entity(data[[participant]], "sub"), "_",
                              entity(data[[session]], "ses"))), name)
}

# The column that names most rows, in the most specific form: list(rows, found, form, by), or NULL.
# Columns with few different values, such as sex or site, cannot name rows.
best_column <- function(data, labels) {
  n <- length(labels[[1]])
  keys <- label_keys(labels)
  columns <- Filter(function(values) length(unique(values)) > n / 2, naming_columns(data))
  best <- NULL
  for (tokens in c(FALSE, TRUE)) {
    for (column in names(columns)) {
      match <- match_names(labels, columns[[column]], is_naming(column), tokens, keys)
      better <- is.null(best) || match$found > best$found ||
        (match$found == best$found && match$form < best$form)
      if (match$found > 0 && better) best <- c(match, by = column)
    }
    if (!is.null(best) && best$found == n) return(best)
  }
  # Row numbers of R that are some of the numbers of a column name nothing.
  if (all(grepl("^[0-9]*$", unlist(labels)))) NULL else best
}

# The rows of a matrix that was made from a data frame have the same row names, numbers or not. R's
# automatic numbers say nothing of the order, unless they are those of x. list(rows, found, form,
# by), or NULL.
by_row_names <- function(data, names) {
  if (!is.integer(attr(data, "row.names"))) return(NULL)
  rows <- match(names, as.character(attr(data, "row.names")))
  in_order <- identical(rows, seq_len(nrow(data)))
  if (anyNA(rows) || anyDuplicated(names)) return(NULL)
  automatic <- identical(as.integer(attr(data, "row.names")), seq_len(nrow(data)))
  if (automatic && !in_order) return(NULL)
  list(rows = rows, found = length(rows), form = 1, by = "row names")
}

# A matrix may be named in two ways: by row names that it shares with the table, and by a column. If
# one of them says that the table is in order, it is; if both move rows, and differently, nobody
# knows.
best_naming <- function(data, labels, of_images, name) {
  column <- best_column(data, labels)
  own <- if (!of_images) by_row_names(data, labels[[1]])
  if (is.null(own)) return(column)
  n <- length(labels[[1]])
  if (is.null(column) || column$found < n || identical(own$rows, column$rows)) return(own)
  in_order <- function(match) identical(match$rows, seq_len(nrow(data)))
  if (in_order(own)) return(own)
  if (in_order(column)) return(column)
  stop_bad("`", name, "` must name the rows of `x` in one way, but its row names and its ",
           column_text(column$by, FALSE), " put them in different orders: remove the row names of ",
           "`x` or of `", name, "`, or leave out the column.")
}

# Do the participants of the table contradict those of the rows? With several images each they
# cannot be matched, but they can be compared.
contradicts <- function(data, labels) {
  wanted <- bids_participant(tolower(labels[[length(labels)]]))
  for (values in naming_columns(data)) {
    given <- bids_participant(tolower(values))
    known <- sum(wanted %in% given)
    if (known > length(wanted) / 2 && !identical(given, wanted)) return(TRUE)
  }
  FALSE
}
