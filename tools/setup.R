# Installs what a make target needs and this machine lacks. Base R only.
#
#   Rscript tools/setup.R demo|test|check|document|coverage|bench|paper|site|lint
#
# Binary packages of Debian are preferred (r-cran-*, by apt-get); the rest comes from
# CRAN. If nothing is missing, nothing is done and the network is not used. apt-get is called by
# root only, and sudo never: other users get packages from CRAN if they have a library to write to.
# Without the right to install, it says in one sentence what to install and exits with status 1.

# What each target needs beyond the targets before it. R packages that the
# package itself uses are read from DESCRIPTION, with their versions.
description <- read.dcf("DESCRIPTION")[1, ]
listed <- function(field) {
  entries <- trimws(strsplit(description[[field]], ",")[[1]])
  setdiff(entries, c("", "graphics", "grDevices", "methods", "stats", "utils"))
}
only_vignettes <- c("knitr", "rmarkdown")
packages <- list(
  demo = c(listed("Imports"), listed("LinkingTo"), "misc3d"),
  test = setdiff(listed("Suggests"), only_vignettes),
  check = only_vignettes,
  document = "roxygen2",
  coverage = "covr",
  bench = character(),
  paper = "scs",  # the second general solver of Table 1
  site = "pkgdown",
  lint = "lintr"
)
needs <- list(
  demo = "demo", test = c("demo", "test"), check = c("demo", "test", "check"),
  document = c("demo", "document"), coverage = c("demo", "test", "coverage"),
  bench = c("demo", "test", "bench"), paper = c("demo", "test", "paper"),
  site = c("demo", "test", "check", "site"), lint = c("demo", "lint")
)
# Programs, by the name of the command; Debian's packages have the same names.
programs <- list(check = c("pandoc", "qpdf", "tidy"), lint = "clang-tidy")
# Headers of libraries that src/ is linked to, by Debian's package. Elsewhere R brings them.
headers <- c("zlib1g-dev" = "/usr/include/zlib.h")

# R packages that Debian 12 does not have.
only_cran <- c("bigstatsr", "flsa", "genlasso", "gifti", "oro.nifti", "penalized", "RNifti",
               "stabm", "stabs")

# What only bench/ compares with. These packages get a library of their own, so that the tests keep
# the versions that they compare with; bench/helpers.R looks there first.
peers <- c("glmnet (>= 5.2)", "adelie", "biglasso")
peer_library <- file.path("out", "bench-lib")
# adelie uses std::atomic without including its header.
peer_flags <- c(adelie = "-include atomic")

log_file <- file.path("out", "setup.log")

say <- function(...) cat(..., "\n", sep = "")

quoted <- function(names) paste0('"', names, '"', collapse = ", ")

package_name <- function(entry) sub(" .*", "", entry)

# "testthat (>= 3.0.0)" -> is there, and new enough?
is_installed <- function(entry, libraries = NULL) {
  name <- package_name(entry)
  found <- suppressWarnings(utils::packageDescription(name, libraries, fields = "Version"))
  if (is.na(found)) return(FALSE)
  at_least <- sub(".*>= *([0-9.-]+).*", "\\1", entry)
  at_least == entry || package_version(found) >= at_least
}

missing_packages <- function(target) {
  entries <- unique(unlist(packages[needs[[target]]]))
  unique(package_name(Filter(Negate(is_installed), entries)))
}

missing_programs <- function(target) {
  names <- as.character(unlist(programs[needs[[target]]]))
  c(if (has_apt()) names(headers)[!file.exists(headers)], names[Sys.which(names) == ""])
}

# ---- Debian ----------------------------------------------------------------

# Debian's packages work with Debian's own R only.
has_apt <- function() {
  nzchar(Sys.which("apt-get")) && normalizePath(R.home()) == "/usr/lib/R"
}

succeeds <- function(command) {
  system(paste(command, ">/dev/null 2>&1 </dev/null")) == 0
}

may_apt <- function() has_apt() && system("id -u", intern = TRUE) == "0"

debian_name <- function(packages) sprintf("r-cran-%s", tolower(packages))

# Which of these R packages can apt-get install? It knows once its lists are there; until then our
# own short list of exceptions is used.
in_debian <- function(packages) {
  if (length(packages) == 0) return(logical())
  has_candidate <- function(name) {
    any(grepl("Candidate: *[0-9]", system(paste("apt-cache policy", name), intern = TRUE)))
  }
  if (!has_candidate("r-cran-rcpp")) return(!packages %in% only_cran)
  vapply(debian_name(packages), has_candidate, logical(1))
}

apt_get <- function(arguments) {
  system(paste0("env DEBIAN_FRONTEND=noninteractive apt-get -q -y ", arguments,
                " >>", log_file, " 2>&1 </dev/null"))
}

# Packages that only CRAN has need others, some of which Debian provides.
cran_dependencies <- function(packages) {
  if (length(packages) == 0) return(character())
  found <- try(tools::package_dependencies(packages, db = utils::available.packages(),
                                           recursive = TRUE), silent = TRUE)
  if (inherits(found, "try-error")) return(character())
  unique(as.character(unlist(found)))
}

install_with_apt <- function(wanted, commands) {
  apt_get("update")
  built <- in_debian(wanted)
  from_cran <- wanted[!built]
  helpers <- Filter(Negate(is_installed), setdiff(cran_dependencies(from_cran), wanted))
  helpers <- helpers[in_debian(helpers)]
  # Sources need compilers and libraries that r-base-dev brings.
  toolchain <- if (length(from_cran) && !succeeds("dpkg -s r-base-dev")) "r-base-dev"
  debs <- c(toolchain, debian_name(c(wanted[built], helpers)), commands)
  if (length(debs) == 0) return(invisible())
  say("Installing with apt-get: ", paste(debs, collapse = " "))
  apt_get(paste("install --no-install-recommends", paste(debs, collapse = " ")))
}

# ---- CRAN ------------------------------------------------------------------

writable_library <- function() {
  Filter(function(path) file.access(path, 2) == 0, .libPaths())[1]
}

use_some_cran_mirror <- function() {
  # R's own placeholder for "no mirror chosen yet"; number 1 is the cloud's.
  if (identical(unname(getOption("repos")["CRAN"]), "@CRAN@"))
    utils::chooseCRANmirror(ind = 1, local.only = TRUE)
  options(timeout = max(600, getOption("timeout")))
}

# `makevars` is a file with settings for the compiler, instead of the user's own.
install_from_cran <- function(wanted, library = writable_library(), jobs = 2, makevars = NULL) {
  say("Installing from CRAN into ", library, ": ", paste(wanted, collapse = " "))
  # In a separate R process, so that all output can go to the log.
  code <- sprintf(paste(
    'options(repos = c(CRAN = "%s"), timeout = 600); .libPaths(c("%s", .libPaths()));',
    'install.packages(c(%s), "%s", Ncpus = %d)'),
    getOption("repos")["CRAN"], library, quoted(wanted), library, jobs)
  system(paste(if (length(makevars)) paste0("R_MAKEVARS_USER=", shQuote(makevars)),
               shQuote(file.path(R.home("bin"), "Rscript")), "-e", shQuote(code),
               ">>", log_file, "2>&1 </dev/null"))
}

# ---- the peers of bench/ ---------------------------------------------------

missing_peers <- function() {
  there <- function(peer) is_installed(peer, c(peer_library, .libPaths()))
  Filter(Negate(there), peers)
}

# The user's settings for the compiler and these flags; NULL if there are no flags.
makevars_with <- function(flags) {
  if (is.na(flags)) return(NULL)
  file <- tempfile("Makevars")
  user <- tools::makevars_user()
  writeLines(c(if (length(user)) readLines(user), paste("CXX17FLAGS +=", flags)), file)
  file
}

# One package after the other, so that one that fails does not stop the others. The tables are made
# without the peers that cannot be installed, and with an older glmnet if there is one.
install_peers <- function() {
  wanted <- package_name(missing_peers())
  if (length(wanted) == 0) return(invisible())
  dir.create(peer_library, recursive = TRUE, showWarnings = FALSE)
  use_some_cran_mirror()
  say("Installing peers for `make bench`; this may take half an hour, details in ", log_file, ".")
  for (name in wanted)
    install_from_cran(name, normalizePath(peer_library), 1, makevars_with(peer_flags[name]))
  rest <- missing_peers()
  if (length(rest))
    say("Could not install ", paste(rest, collapse = ", "), " (see ", log_file,
        "): the tables are made with the peers that are there.")
}

# ---- the way through -------------------------------------------------------

commands_by_hand <- function(wanted, commands) {
  built <- if (has_apt()) in_debian(wanted) else rep(FALSE, length(wanted))
  debs <- c(debian_name(wanted[built]), commands)
  from_cran <- wanted[!built]
  paste(c(
    if (length(debs) && has_apt())
      paste0("`apt-get install ", paste(debs, collapse = " "), "` as root"),
    if (length(commands) && !has_apt()) paste("the programs", paste(commands, collapse = ", ")),
    if (length(from_cran)) paste0("`install.packages(c(", quoted(from_cran), "))` in R")
  ), collapse = " and ")
}

stop_with <- function(...) {
  say(...)
  quit(status = 1)
}

install_all <- function(target) {
  wanted <- missing_packages(target)
  commands <- missing_programs(target)
  if (length(wanted) == 0 && length(commands) == 0) return(invisible())

  if (!may_apt() && (length(commands) || is.na(writable_library())))
    stop_with("This user may not install what `make ", target, "` needs: please run ",
              commands_by_hand(wanted, commands), ".")

  dir.create("out", showWarnings = FALSE)
  say("Installing what `make ", target, "` needs (", paste(c(wanted, commands), collapse = ", "),
      "); this may take some minutes, details in ", log_file, ".")
  use_some_cran_mirror()
  if (may_apt()) install_with_apt(wanted, commands)
  rest <- missing_packages(target)
  if (length(rest) && !is.na(writable_library())) install_from_cran(rest)

  rest <- missing_packages(target)
  commands <- missing_programs(target)
  if (length(rest) || length(commands))
    stop_with("Could not install ", paste(c(rest, commands), collapse = ", "), " (see ", log_file,
              "): please run ", commands_by_hand(rest, commands), ".")
  say("Installed everything.")
}

main <- function(target) {
  if (!target %in% names(needs))
    stop_with("tools/setup.R: unknown target '", target, "', expected one of ",
              paste(names(needs), collapse = ", "), ".")
  install_all(target)
  if (target == "bench") install_peers()
}

main(commandArgs(trailingOnly = TRUE)[1])
