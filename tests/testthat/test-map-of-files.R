# CONTRIBUTING.md has a map of the files: a folder per line, and below it names without extension,
# separated by commas, with * for any text. Two or more spaces come before their description.
read_file_map <- function(file) {
  lines <- readLines(file)
  section <- lines[seq(match("## Where things are", lines), match("## Commands", lines))]
  entries <- grep("^ {4}( {2}){0,2}[^ ]", section, value = TRUE)
  indent <- attr(regexpr("^ +", entries), "match.length")
  text <- sub(" {2,}.*", "", trimws(entries))
  folder <- text[indent == 4][cumsum(indent == 4)]
  named <- strsplit(text, ", *")
  data.frame(folder = sub("/$", "", rep(folder, lengths(named))), name = unlist(named),
             is_file = rep(indent > 4, lengths(named)))
}

# Files of a folder without their extension, as the map names them.
files_in <- function(folder) {
  all <- dir(folder, all.files = FALSE)
  unique(tools::file_path_sans_ext(all[!dir.exists(file.path(folder, all)) &
                                         !grepl("[.](o|so|dll)$", all)]))
}

matches_name <- function(file, names) {
  any(vapply(names, function(name) grepl(utils::glob2rx(name), file), NA))
}

test_that("the map in CONTRIBUTING.md names every file, and none that does not exist", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  root <- test_path("..", "..")
  map <- read_file_map(file.path(root, "CONTRIBUTING.md"))
  expect_true(all(c("R", "src", "src/core", "inst/paper", "bench", "tools") %in%
                    map$folder[map$is_file]))
  core <- file.path("src", list.dirs(file.path(root, "src"), full.names = FALSE)[-1])
  expect_identical(setdiff(core, map$folder), character(0))
  for (folder in unique(map$folder[map$is_file])) {
    files <- files_in(file.path(root, folder))
    names <- map$name[map$is_file & map$folder == folder]
    missing <- files[!vapply(files, matches_name, NA, names = names)]
    expect_identical(unname(missing), character(0), label = paste("not in the map:", folder))
    gone <- names[!vapply(names, function(name) any(grepl(utils::glob2rx(name), files)), NA)]
    expect_identical(unname(gone), character(0), label = paste("in the map, but not in", folder))
  }
  folders <- unique(map$folder[!map$is_file])
  expect_identical(folders[!file.exists(file.path(root, folders))], character(0))
})

test_that("a folder of the core includes only itself and the folders above it in the map", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  root <- test_path("..", "..")
  folders <- unique(read_file_map(file.path(root, "CONTRIBUTING.md"))$folder)
  core <- basename(grep("^src/core/", folders, value = TRUE))
  expect_gt(length(core), 1)
  for (k in seq_along(core)) {
    files <- dir(file.path(root, "src/core", core[k]), "[.][ch]pp$", full.names = TRUE)
    lines <- grep('#include "', unlist(lapply(files, readLines)), value = TRUE)
    included <- sub('#include "([^/]*)/.*', "\\1", grep("/", lines, value = TRUE))
    expect_identical(setdiff(included, core[seq_len(k)]), character(0), label = core[k])
  }
})

# Makevars lists the objects one by one, because a pattern would need GNU make.
test_that("src/Makevars lists the object of every source file, and no other", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  src <- test_path("..", "..", "src")
  lines <- gsub("\\\\\n", " ", paste(readLines(file.path(src, "Makevars")), collapse = "\n"))
  objects <- sub("^OBJECTS *= *", "", grep("^OBJECTS", strsplit(lines, "\n")[[1]], value = TRUE))
  sources <- dir(src, "[.]cpp$", recursive = TRUE)
  expect_setequal(strsplit(trimws(objects), " +")[[1]], sub("[.]cpp$", ".o", sources))
})

test_that("the map of files is read as it is written", {
  file <- withr::local_tempfile(lines = c(
    "## Where things are", "", "    R/        text", "      one, *_two    more text",
    "                    that goes on", "        three   deeper", "    .ci/run   a file",
    "## Commands"))
  map <- read_file_map(file)
  expect_identical(map$name[map$is_file], c("one", "*_two", "three"))
  expect_identical(unique(map$folder), c("R", ".ci/run"))
  expect_true(matches_name("a_two", map$name))
  expect_false(matches_name("four", map$name))
})
