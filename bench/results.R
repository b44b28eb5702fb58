# Reads the tables that the scripts leave in bench/results; for figure.R and readme.R.

# All ratios to peers in the tables of a markdown file, as one data frame. A table has the columns
# `peer`, `ratio` and `bar`, or for several peers `<peer> ratio` and `<peer> bar`.
read_ratios <- function(file) {
  lines <- grep("^\\|", readLines(file), value = TRUE)
  cells <- lapply(strsplit(sub("^\\| ?", "", sub(" ?\\|$", "", lines)), " ?\\| ?"), trimws)
  heads <- which(vapply(cells, function(row) row[1] == "problem", NA))
  tables <- Map(function(from, to) {
    body <- cells[seq(from + 2, length.out = max(0, to - from - 2))]
    do.call(rbind, lapply(body, as_ratios, head = cells[[from]]))
  }, heads, c(heads[-1], length(cells) + 1))
  do.call(rbind, tables)
}

# One row of a table: as many ratios as it has peers.
as_ratios <- function(row, head) {
  if (all(c("ratio", "peer") %in% head))
    return(as_ratio(row, head, row[match("peer", head)], "ratio", "bar"))
  peers <- sub(" ratio$", "", grep(" ratio$", head, value = TRUE))
  do.call(rbind, lapply(peers, function(peer) {
    as_ratio(row, head, peer, paste(peer, "ratio"), paste(peer, "bar"))
  }))
}

# The number is NA if the peer did not run.
as_ratio <- function(row, head, peer, ratio, bar) {
  cell <- function(name) row[match(name, head)]
  number <- suppressWarnings(as.numeric(sub("^[<>] *", "", cell(ratio))))
  data.frame(problem = cell("problem"), peer = peer, other = cell("of the peer's"),
             ratio = cell(ratio), number = number, bar = cell(bar), gap = cell("worst gap"))
}

# The scripts whose tables have peers, in the order of bench/README.md.
ratio_rows <- function(folder) {
  files <- file.path(folder, paste0(c("least_squares", "logistic", "families", "tv"), ".md"))
  do.call(rbind, c(list(data.frame()), lapply(Filter(file.exists, files), read_ratios)))
}

# The line of the results that names the machine and the versions: the first one of those with the
# most lassos.
machine_line <- function(folder) {
  files <- list.files(folder, "\\.md$", full.names = TRUE)
  lines <- unlist(lapply(files, readLines))
  has_version <- function(peer) grepl(paste(peer, "[0-9]"), lines)
  lines <- lines[order(-Reduce(`+`, lapply(c("glmnet", "adelie", "biglasso"), has_version)))]
  sub("\\. One thread.*", "", grep("^[0-9-]+, .*, R [0-9.]+, n2gfl", lines, value = TRUE)[1])
}
