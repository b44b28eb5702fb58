# What a user can call has help, and the help has an example that runs (R CMD check runs them all).

test_that("every exported function has a runnable example", {
  pages <- tools::Rd_db("n2gfl")
  part <- function(page, tag) {
    found <- Filter(function(piece) identical(attr(piece, "Rd_tag"), tag), page)
    vapply(found, function(piece) paste(unlist(piece), collapse = ""), "")
  }
  aliases <- lapply(pages, part, tag = "\\alias")
  examples <- vapply(pages, function(page) {
    file <- tempfile()
    on.exit(unlink(file))
    tools::Rd2ex(page, file, commentDontrun = TRUE, commentDonttest = TRUE)
    if (!file.exists(file)) return("")
    lines <- readLines(file, encoding = "UTF-8")
    paste(lines[!grepl("^ *#|^ *$", lines)], collapse = "\n")
  }, "")
  has_example <- function(name) {
    page <- which(vapply(aliases, function(known) name %in% known, NA))
    length(page) == 1 && grepl(paste0("\\b", gsub(".", "\\.", name, fixed = TRUE), "\\("),
                               examples[page])
  }
  exported <- Filter(function(name) is.function(getExportedValue("n2gfl", name)),
                     getNamespaceExports("n2gfl"))
  expect_gt(length(exported), 20)
  expect_identical(exported[!vapply(exported, has_example, NA)], character(0))
})

test_that("every help page has a place in the reference of the web pages", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  config <- paste(readLines(test_path("..", "..", "_pkgdown.yml")), collapse = " ")
  inside <- regmatches(config, gregexpr("contents: \\[[^]]*\\]", config))[[1]]
  entries <- trimws(unlist(strsplit(gsub("contents: \\[|\\]", "", inside), ",")))
  starts <- sub('starts_with\\("(.*)"\\)', "\\1", grep("^starts_with", entries, value = TRUE))
  pages <- tools::Rd_db("n2gfl")
  named <- vapply(pages, function(page) {
    tags <- vapply(page, function(piece) as.character(attr(piece, "Rd_tag")), "")
    aliases <- vapply(page[tags == "\\alias"], function(piece) paste(unlist(piece)), "")
    any(aliases %in% entries) || any(outer(aliases, starts, startsWith))
  }, NA)
  expect_identical(setdiff(names(pages)[!named], "n2gfl-package.Rd"), character(0))
})
