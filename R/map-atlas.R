# Atlases: the number of a structure at each position, and the names of these numbers.

open_atlas <- function(atlas) {
  if (is.character(atlas) && !inherits(atlas, "niftiImage") && length(atlas) == 1 &&
      !is.na(atlas)) {
    opened <- open_nifti(atlas, "atlas")
    opened$values <- read_values(opened, name = "atlas", numbers = TRUE)
  } else if (inherits(atlas, "niftiImage") || is_oro(atlas)) {
    opened <- open_image(atlas, "atlas")
  } else {
    stop_bad("`atlas` must be the path of a NIfTI file or an image of class \"nifti\" or ",
             "\"niftiImage\", not ", describe(atlas), ".")
  }
  if (opened$volumes > 1) {
    stop_bad("`atlas` must have 3 dimensions, not 4 with ", opened$volumes, " volumes.")
  }
  values <- as.vector(opened$values)
  if (!all(is.finite(values)) || any(values != round(values))) {
    stop_bad("`atlas` must hold whole numbers, but it has ",
             number_text(values[which(!is.finite(values) | values != round(values))[1]]), ".")
  }
  opened$values <- array(as.integer(values), opened$dim)
  opened
}

atlas_names <- function(code, labels) {
  if (is.null(labels)) return(ifelse(code == 0, "none", as.character(code)))
  labels <- check_labels(labels, code)
  name <- labels$name[match(code, labels$code)]
  name[is.na(name) & code == 0] <- "none"
  ifelse(is.na(name), as.character(code), name)
}

# A table with the names of few of the atlas's numbers is probably that of another atlas.
warn_other_labels <- function(labels, numbers, where = "`atlas`") {
  named <- sum(numbers %in% labels$code)
  if (named >= length(numbers) / 2) return(invisible())
  warning("`labels` names ", if (named) named else "none", " of the ",
          count_of(length(numbers), "number"), " in ", where, " (", some_numbers(sort(numbers)),
          "), but has names of ", some_numbers(sort(labels$code)),
          ": is it the table of another atlas?", call. = FALSE)
}

# ---- names of numbers ----------------------------------------------------------------------------

# A data frame with columns code and name. `found` are the numbers that are to be named.
check_labels <- function(labels, found) {
  if (is_label_path(labels)) labels <- read_labels(labels)
  if (is.character(labels)) {
    code <- if (is.null(names(labels))) seq_along(labels) else names(labels)
    labels <- data.frame(code = code, name = unname(labels))
  }
  columns <- if (is.data.frame(labels)) label_columns(labels, found)
  if (length(columns) != 2) {
    stop_bad("`labels` must be a data frame with a column of whole numbers and one of names, a ",
             "character vector or the path of a text file, not ", describe(labels), ".")
  }
  data.frame(code = as.numeric(as.character(labels[[columns[1]]])),
             name = as.character(labels[[columns[2]]]))
}

# One string is a path, unless it cannot be one: a misspelt path must not become a name.
is_label_path <- function(labels) {
  if (!is.character(labels) || length(labels) != 1 || !is.null(names(labels)) || is.na(labels)) {
    return(FALSE)
  }
  if (file.exists(labels) && !dir.exists(labels)) return(TRUE)
  if (grepl("[/\\\\]|\\.(txt|csv|tsv|xml|lut|label|labels|ctab)$", labels, ignore.case = TRUE)) {
    stop_bad("`labels` must name a file that exists, but there is no file ", quoted(labels), ".")
  }
  FALSE
}

# A column of distinct whole numbers and the first column of words. If several columns have numbers
# (AAL has two), the one with most of the numbers in `found` is taken, the first if there are ties.
label_columns <- function(labels, found) {
  numbers <- lapply(labels, function(column) suppressWarnings(as.numeric(as.character(column))))
  is_code <- vapply(numbers, function(value) {
    length(value) > 0 && !anyNA(value) && all(value == round(value))
  }, NA)
  if (!any(is_code) || all(is_code)) return(NULL)
  codes <- which(is_code)
  distinct <- codes[!vapply(numbers[codes], anyDuplicated, 0L)]
  if (length(distinct)) codes <- distinct
  found <- setdiff(found, 0)
  hits <- vapply(numbers[codes], function(value) sum(found %in% value), 0)
  c(codes[which.max(hits)], which(!is_code)[1])
}

# A label file as a data frame: code, name and, if there is a second number, other.
read_labels <- function(path) {
  lines <- readLines(path, warn = FALSE)
  text <- paste(lines, collapse = "\n")
  labels <- if (grepl("<label[ >]", text, useBytes = TRUE)) xml_labels(text) else text_labels(lines)
  if (!nrow(labels)) {
    stop_bad("`labels` must have a number and a name in its lines, but the file ", quoted(path),
             " has no such line.")
  }
  labels
}

# Lines of number and name, separated by anything; or of name and number, as in ROI_MNI_V4.txt.
# Other lines are comments or headings.
text_labels <- function(lines) {
  lines <- lines[grepl("[^[:space:]]", lines) & !grepl("^[[:space:]]*(#|//)", lines)]
  first <- "^[[:space:]\"]*([0-9]+)\"?[[:space:],;:]+(.*[^0-9.[:space:],;].*)$"
  last <- "^(.*[^0-9.[:space:],;].*)[[:space:],;]\"?([0-9]+)[[:space:]\"]*$"
  if (sum(grepl(first, lines)) >= sum(grepl(last, lines)[!grepl(first, lines)])) {
    lines <- grep(first, lines, value = TRUE)
    rest <- sub(first, "\\2", lines)
    return(split_names(as.numeric(sub(first, "\\1", lines)), rest))
  }
  lines <- grep(last, lines, value = TRUE)
  # The name follows an abbreviation, if there is one.
  name <- sub("^.*[\t,;]", "", trimws(sub(last, "\\1", lines), whitespace = "[\t ,;\"]"))
  data.frame(code = as.numeric(sub(last, "\\2", lines)), name = trimws(name, whitespace = "[ \"]"))
}

# The names in the text after the codes: without colours before them (ITK-SNAP) or after them
# (FreeSurfer), and without AAL's second code. Numbers at the ends of names are part of them ("Area
# 17") unless every line has one and the names are still distinct without it.
split_names <- function(code, rest) {
  rest <- sub("^([0-9.]+[[:space:],;]+)+(?=[^0-9.[:space:],;])", "", rest, perl = TRUE)
  quoted <- grepl("^\"", rest)
  name <- ifelse(quoted, sub("^\"([^\"]*)\".*$", "\\1", rest),
                 sub("^([^\",;\t]*[^\",;\t[:space:]]).*$", "\\1", rest))
  numbers <- "([[:space:]]+[0-9]+(\\.[0-9]+)?)"
  colours <- paste0(numbers, "{3,4}[[:space:]]*$")
  if (length(rest) && all(grepl(colours, rest))) {
    return(data.frame(code = code, name = sub(colours, "", name)))
  }
  labels <- data.frame(code = code, name = name)
  second <- "^(.*[^[:space:],;\"])[[:space:],;\"]+([0-9]+)[[:space:]]*$"
  if (!all(grepl(second, rest))) return(labels)
  short <- trimws(sub("[\t,;].*$", "", sub(second, "\\1", rest)), whitespace = "[ \"]")
  if (anyDuplicated(short) > 0 && !anyDuplicated(name)) return(labels)
  data.frame(code = code, name = short, other = as.numeric(sub(second, "\\2", rest)))
}

# <label index="3" ...>name</label> of FSL, or <label><index>3</index><name>name</name></label> of
# SPM. The index of a probabilistic atlas of FSL counts its volumes from 0; images of the most
# probable label have the index plus 1, because 0 is the background.
xml_labels <- function(text) {
  text <- gsub("(?s)<!--.*?-->", "", text, perl = TRUE)
  label <- regmatches(text, gregexpr("(?s)<label[ >].*?</label>", text, perl = TRUE))[[1]]
  part <- function(pattern) {
    found <- regmatches(label, regexec(pattern, label, perl = TRUE))
    vapply(found, function(match) if (length(match)) match[2] else NA_character_, "")
  }
  index <- part("<label[^>]*\\sindex\\s*=\\s*[\"']\\s*([0-9]+)")
  fsl <- !is.na(index)
  code <- as.numeric(ifelse(fsl, index, part("<index>\\s*([0-9]+)\\s*</index>")))
  name <- ifelse(fsl, part("(?s)^<label[^>]*>(.*)</label>$"), part("(?s)<name>(.*?)</name>"))
  probabilistic <- grepl("<type>\\s*probabilistic", text, ignore.case = TRUE, perl = TRUE)
  labels <- data.frame(code = code + (fsl & probabilistic), name = decode_entities(trimws(name)))
  labels[!is.na(labels$code) & !is.na(labels$name) & nzchar(labels$name), ]
}

decode_entities <- function(text) {
  for (code in unique(unlist(regmatches(text, gregexpr("&#[0-9]+;", text))))) {
    text <- gsub(code, intToUtf8(as.integer(gsub("[^0-9]", "", code))), text, fixed = TRUE)
  }
  named <- c("&lt;" = "<", "&gt;" = ">", "&quot;" = "\"", "&apos;" = "'", "&amp;" = "&")
  for (entity in names(named)) text <- gsub(entity, named[[entity]], text, fixed = TRUE)
  text
}
