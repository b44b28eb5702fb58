# The files of R/ share one namespace: a name that is defined twice works until the files are read
# in another order.
test_that("no name is defined twice", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  files <- dir(test_path("..", "..", "R"), pattern = "\\.R$", full.names = TRUE)
  expect_gt(length(files), 10)
  names <- unlist(lapply(files, function(file) {
    assigned <- Filter(function(line) is.call(line) && identical(line[[1]], quote(`<-`)),
                       as.list(parse(file)))
    vapply(assigned, function(line) as.character(line[[2]])[1], "")
  }))
  expect_identical(names[duplicated(names)], character(0))
})

test_that("one function knows where an object keeps its fit", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  files <- dir(test_path("..", "..", "R"), pattern = "\\.R$", full.names = TRUE)
  uses <- unlist(lapply(files, function(file) {
    code <- sub("#.*", "", readLines(file))
    # the constructors name the field
    rep(basename(file), sum(grepl("n2gfl[.]fit\\b(?! = )", code, perl = TRUE)))
  }))
  expect_identical(uses, "fit-choice.R")
})
