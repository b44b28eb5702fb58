# R CMD build and R CMD check --as-cran. Fails on every error and warning, and
# on every note that is not allowed below.

# Notes about the machine or the date, not about the package.
allowed <- c(
  "New submission",
  "unable to verify current time",
  "Skipping checking (HTML validation|math rendering)"
)

has_program <- function(name) nzchar(Sys.which(name))

# Switches off what --as-cran would ask the network, and what depends on this machine's R.
Sys.setenv(
  MAKEFLAGS = "-j2",
  "_R_CHECK_CRAN_INCOMING_REMOTE_" = "false",
  "_R_CHECK_SYSTEM_CLOCK_" = "false",
  "_R_CHECK_FORCE_SUGGESTS_" = "false",
  # Debian compiles R, and therefore all packages, with these flags.
  "_R_CHECK_COMPILATION_FLAGS_KNOWN_" = "-Wformat -Werror=format-security -Wdate-time"
)

# Debug symbols are ten times as large as the code, and R CMD check measures the size.
without_debug_symbols <- function() {
  file <- "Makevars"
  writeLines("CXX17FLAGS := $(filter-out -g,$(CXX17FLAGS))", file)
  Sys.setenv(R_MAKEVARS_USER = normalizePath(file))
}

r_cmd <- function(...) {
  status <- system2(file.path(R.home("bin"), "R"), c("CMD", ...))
  if (status != 0) cat("R CMD", ..., "ended with status", status, "\n")
  status
}

# Each "* checking ..." line of the log with the lines that follow it.
blocks_of <- function(log) {
  start <- cumsum(grepl("^\\* ", log))
  vapply(split(log, start), paste, "", collapse = "\n")
}

# A note may contain several remarks; each of its lines must be allowed.
is_allowed <- function(note) {
  lines <- strsplit(note, "\n")[[1]][-1]
  lines <- lines[nzchar(trimws(lines)) & !grepl("^Maintainer:", lines)]
  length(lines) > 0 && all(grepl(paste(allowed, collapse = "|"), lines))
}

main <- function() {
  root <- getwd()
  dir.create(file.path("out", "check"), recursive = TRUE, showWarnings = FALSE)
  setwd(file.path("out", "check"))
  unlink(dir(pattern = "^n2gfl"), recursive = TRUE)
  without_debug_symbols()
  if (r_cmd("build", shQuote(root)) != 0) return(FALSE)

  latex <- has_program("pdflatex")
  if (!latex) cat("No LaTeX here: the PDF manual is not checked.\n")
  r_cmd("check", "--as-cran", if (!latex) "--no-manual", dir(pattern = "^n2gfl_.*gz$"))
  log <- file.path("n2gfl.Rcheck", "00check.log")
  if (!file.exists(log)) return(FALSE)

  blocks <- blocks_of(readLines(log, encoding = "UTF-8"))
  found <- function(kind) blocks[grepl(paste0("\\.\\.\\. ?(\\[[^]]*\\] ?)?", kind), blocks)]
  notes <- found("NOTE")
  accepted <- vapply(notes, is_allowed, logical(1))
  if (any(accepted)) cat("Accepted notes:", notes[accepted], sep = "\n")
  bad <- c(found("ERROR"), found("WARNING"), notes[!accepted])
  if (length(bad)) cat("Not accepted:", bad, sep = "\n")
  finished <- any(grepl("^Status: ", blocks)) || any(grepl("\\* DONE", blocks))
  length(bad) == 0 && finished
}

passed <- main()
cat(if (passed) "make check: passed\n" else "make check: failed\n")
quit(status = if (passed) 0 else 1)
