# Prints the share of lines that the R tests run, per file and in all, and the lines that no test
# runs. Works on a copy: covr compiles with other flags and would leave its objects in src.
copy <- file.path("out", "coverage")
unlink(copy, recursive = TRUE)
dir.create(copy, recursive = TRUE)
parts <- intersect(c("DESCRIPTION", "NAMESPACE", "R", "src", "inst", "man", "tests"), dir())
invisible(file.copy(parts, copy, recursive = TRUE))

# 1, 2, 3, 7 as "1-3 7"
line_ranges <- function(lines) {
  lines <- sort(unique(lines))
  group <- cumsum(c(TRUE, diff(lines) > 1))
  ends <- function(part) if (length(part) > 1) paste(range(part), collapse = "-") else part
  paste(tapply(lines, group, ends), collapse = " ")
}

# Without any optimisation Eigen takes a quarter of an hour; -Og keeps the lines apart.
flags <- getOption("covr.flags", c())
compile <- c("CFLAGS", "CXXFLAGS", "CXX11FLAGS", "CXX14FLAGS", "CXX17FLAGS")
flags[compile] <- "-Og -g --coverage"
flags["LDFLAGS"] <- "--coverage"
options(covr.flags = flags)
Sys.setenv(NOT_CRAN = "true", TESTTHAT_MAX_FAILS = "Inf")
coverage <- covr::package_coverage(copy, type = "tests", clean = FALSE)
saveRDS(coverage, file.path("out", "coverage.rds"))

# How often each line of C++ was run, summed over all objects: for a header, covr keeps the count
# of the last object only, although the linker may take a function from any of them.
cpp_lines <- function(objects) {
  parts <- lapply(objects, function(object) {
    lines <- system2("gcov", c("--stdout", "--preserve-paths", shQuote(object)),
                     stdout = TRUE, stderr = FALSE)
    begin <- "^ *-: +0:Source:"
    sources <- c(NA, sub(begin, "", grep(begin, lines, value = TRUE)))
    source <- sources[1 + cumsum(grepl(begin, lines))]
    count <- trimws(sub(":.*", "", lines))
    number <- suppressWarnings(as.integer(sub("^[^:]*: *([0-9]+):.*", "\\1", lines)))
    used <- !is.na(number) & number > 0 & grepl("^([0-9]+[*]?|#+|=+)$", count)
    data.frame(filename = source[used], line = number[used],
               value = suppressWarnings(as.numeric(sub("[*]", "", count[used]))))
  })
  all <- do.call(rbind, parts)
  all$value[is.na(all$value)] <- 0
  own <- !grepl("/", all$filename) | grepl("^core/", all$filename)
  all <- all[own & !grepl("RcppExports", all$filename), ]
  stats::aggregate(value ~ filename + line, all, sum)
}

r_lines <- covr::tally_coverage(coverage, by = "line")
r_lines <- r_lines[grepl("^R/", r_lines$filename), c("filename", "line", "value")]
home <- setwd(file.path(copy, "src"))
cpp <- cpp_lines(dir(".", "[.]gcda$", recursive = TRUE))
setwd(home)
counts <- rbind(r_lines, cpp)
share <- tapply(counts$value > 0, counts$filename, mean)
cat(sprintf("%6.1f %%  %s\n", 100 * share, names(share)), sep = "")
missed <- split(counts$line[counts$value == 0], counts$filename[counts$value == 0])
cat("Lines that no test runs:\n")
cat(sprintf("  %s: %s\n", names(missed), vapply(missed, line_ranges, "")), sep = "")
cat(sprintf("coverage: %.1f %% of %d lines (R %.1f %%, C++ %.1f %%)\n",
            100 * mean(counts$value > 0), nrow(counts), 100 * mean(r_lines$value > 0),
            100 * mean(cpp$value > 0)))
