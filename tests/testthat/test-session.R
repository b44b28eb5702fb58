# The package leaves a user's session as it finds it: options, graphics, folders, files, random
# numbers, variables of the environment, connections and devices.

session_state <- function() {
  known <- options()
  # other packages' own, set when they are loaded
  known <- known[!grepl("^(future|progressr|parallelly|callr|nifti|testthat|rgl)", names(known))]
  par <- graphics::par(no.readonly = TRUE)
  par[c("usr", "xaxp", "yaxp")] <- NULL  # these belong to the last plot
  list(options = known, par = par, folder = getwd(),
       environment = Sys.getenv(), files = dir(tempdir(), all.files = TRUE), here = dir("."),
       connections = nrow(showConnections()), devices = grDevices::dev.list(),
       attached = search(), generator = RNGkind(), global = ls(globalenv()))
}

expect_same_session <- function(code) {
  before <- session_state()
  force(code)
  after <- session_state()
  for (part in names(before)) expect_identical(after[[part]], before[[part]], label = part)
}

# A page's example, as R CMD check runs it.
run_example <- function(page) {
  file <- tempfile(fileext = ".R")
  tools::Rd2ex(page, file)
  if (!file.exists(file)) return(0)
  lines <- parse(file, encoding = "UTF-8", keep.source = FALSE)
  unlink(file)
  place <- new.env(parent = globalenv())
  show <- function(line) {
    shown <- withVisible(eval(line, place))
    if (shown$visible) print(shown$value)
  }
  time <- system.time(utils::capture.output(suppressMessages(suppressWarnings(
    for (line in lines) show(line)))))
  sum(time[c("user.self", "sys.self", "user.child", "sys.child")], na.rm = TRUE)
}

test_that("all examples together leave the session as it was, and none takes long", {
  skip_in_check()  # which runs them itself
  withr::local_dir(withr::local_tempdir())
  local_device()
  withr::local_seed(1)
  # changes made by a first plot or a first suggested package are not the package's own
  graphics::plot(1)
  for (name in c("misc3d", "ggplot2", "gifti", "igraph", "generics", "oro.nifti")) {
    suppressWarnings(requireNamespace(name, quietly = TRUE))
  }
  pages <- tools::Rd_db("n2gfl")
  seconds <- numeric()
  expect_same_session(for (name in names(pages)) seconds[name] <- run_example(pages[[name]]))
  expect_gt(length(seconds), 30)
  expect_identical(names(seconds)[seconds > 5], character(0))  # CRAN's limit
})

test_that("one thread unless more are asked for", {
  expect_identical(formals(n2gfl)$threads, 1)
  expect_identical(n2gfl(matrix(c(1, 2, 4, 3), 4), 1:4, graph_chain(1))$control$threads, 1L)
})

test_that("the core neither prints nor ends the process nor draws random numbers", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  root <- test_path("..", "..")
  files <- setdiff(dir(file.path(root, "src"), "[.](cpp|hpp|h)$", recursive = TRUE,
                       full.names = TRUE),
                   file.path(root, "src", "RcppExports.cpp"))
  expect_gt(length(files), 30)
  banned <- paste0("std::c(out|err)|\\bprintf|\\bputs\\(|\\bexit\\(|\\babort\\(|\\brand\\(|",
                   "\\brandom_device")
  found <- unlist(lapply(files, function(file) {
    lines <- grep(banned, sub("//.*", "", readLines(file)), value = TRUE)
    if (length(lines)) paste(basename(file), lines)
  }))
  expect_null(found)
})
