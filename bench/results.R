# Reads the tables that the scripts leave in bench/results; for figure.R and readme.R.

# All tables of a markdown file that have a column `ratio` and a column `peer`, as one data frame.
read_ratios <- function(file) {
  lines <- grep("^\\|", readLines(file), value = TRUE)
  cells <- lapply(strsplit(sub("^\\| ?", "", sub(" ?\\|$", "", lines)), " ?\\| ?"), trimws)
  heads <- which(vapply(cells, function(row) row[1] == "problem", NA))
  tables <- Map(function(from, to) {
    head <- cells[[from]]
    body <- cells[seq(from + 2, length.out = max(0, to - from - 2))]
    if (!all(c("ratio", "peer") %in% head)) return(NULL)
    do.call(rbind, lapply(body, as_ratio, head = head))
  }, heads, c(heads[-1], length(cells) + 1))
  do.call(rbind, tables)
}

as_ratio <- function(row, head) {
  cell <- function(name) row[match(name, head)]
  data.frame(problem = cell("problem"), peer = cell("peer"), other = cell("of the peer's"),
             ratio = cell("ratio"), number = as.numeric(sub("^[<>] *", "", cell("ratio"))),
             bar = cell("bar"), gap = cell("worst gap"))
}

# The scripts whose tables have peers, in the order of bench/README.md.
ratio_rows <- function(folder) {
  files <- file.path(folder, paste0(c("least_squares", "logistic", "tv"), ".md"))
  do.call(rbind, c(list(data.frame()), lapply(Filter(file.exists, files), read_ratios)))
}

# The first line of the results that names the machine and the versions, glmnet's among them if any.
machine_line <- function(folder) {
  files <- list.files(folder, "\\.md$", full.names = TRUE)
  lines <- unlist(lapply(files, readLines))
  lines <- lines[order(!grepl("glmnet [0-9]", lines))]
  sub("\\. One thread.*", "", grep("^[0-9-]+, .*, R [0-9.]+, n2gfl", lines, value = TRUE)[1])
}
