# Damaged files: read as they should be, or refused in a sentence; never read as something else.
# `make torture TRIAL=nifti` tries many more.

quietly <- function(code) {
  # niftilib writes to the terminal itself if a file is truncated
  sink <- file(withr::local_tempfile(), "w")
  sink(sink, type = "message")
  on.exit({
    sink(type = "message")
    close(sink)
  })
  code
}

test_that("damaged files are read right or refused in a sentence, five of each kind", {
  folder <- withr::local_tempdir()
  verdicts <- vapply(1:65, function(seed) {
    mutant <- make_mutant(seed, folder)
    paste0(mutant$kind, ": ", quietly(judge_mutant(mutant)))
  }, "")
  expect_identical(grep(": (read|refused)$", verdicts, value = TRUE, invert = TRUE), character(0))
  # the check itself works: undamaged files are read, and some of the damaged ones are not
  expect_identical(sum(verdicts == "none: read"), 5L)
  expect_identical(sum(verdicts %in% c("cut: refused", "noise: refused")), 10L)
})

# A compressed file of `dim` with one bit turned in its middle, too large for one piece of zlib's.
damaged_gzip <- function(file, dim = c(30, 30, 30)) {
  withr::local_seed(1)
  make_nifti(array(sample(0:100, prod(dim), replace = TRUE), dim), file, type = "int16")
  bytes <- readBin(file, "raw", 1e6)
  middle <- length(bytes) %/% 2
  writeBin(replace(bytes, middle, xor(bytes[middle], as.raw(16))), file)
  file
}

test_that("a compressed file damaged in its middle is refused, wherever it is given", {
  folder <- withr::local_tempdir()
  at <- function(name) file.path(folder, name)
  broken <- damaged_gzip(at("broken.nii.gz"))
  expect_gt(file.size(broken), 2^14)
  many <- damaged_gzip(at("many.nii.gz"), c(20, 20, 20, 4))
  whole <- make_nifti(array(1:27000, c(30, 30, 30)), at("whole.nii.gz"), type = "int16")
  images <- read_images(whole)
  fit <- make_fit(matrix(0, 27000, 1), images$graph, 1, 1)
  fit$space <- images$space
  damaged <- "` must hold whole files, but \".*\" is truncated or damaged: its data cannot be read"
  calls <- alist(files = read_images(broken), files = read_images(many),
                 mask = read_images(whole, mask = broken), mask = graph_mask(broken),
                 template = plot_map(fit, template = broken),
                 atlas = region_table(fit, atlas = broken))
  for (k in seq_along(calls)) {
    expect_error(quietly(eval(calls[[k]])), paste0("^`", names(calls)[k], damaged))
  }
  expect_identical(dir(tempdir(), "[.]nii$"), character(0))
})

test_that("compressed files in pieces, with trailing data or in big-endian are read", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "image.nii.gz")
  values <- withr::with_seed(2, array(sample(1:100, 27000, replace = TRUE), c(30, 30, 30)))
  expected <- as.double(values)
  check <- function() expect_identical(as.vector(read_images(file, threshold = 0)$x), expected)
  for (endian in c("little", "big")) {
    plain <- make_nifti(values, file.path(folder, "plain.nii"), type = "int16", endian = endian)
    bytes <- readBin(plain, "raw", 1e6)
    write_bytes(bytes, file)
    check()
    write_bytes(c(bytes, as.raw(1:9)), file)
    check()
    pieces <- c(pack_bytes(bytes[1:5000]), pack_bytes(bytes[-(1:5000)]))
    writeBin(pieces, file)
    check()
    writeBin(replace(pieces, 9000, xor(pieces[9000], as.raw(1))), file)
    expect_error(quietly(read_images(file)), "is truncated or damaged")
  }
})

test_that("a magic word without its final zero is refused: scale factors would be lost", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "image.nii")
  make_nifti(array(1:27, c(3, 3, 3)), file, type = "int16", slope = 0.5)
  whole <- readBin(file, "raw", 1e4)
  for (word in list(charToRaw("n+1x"), as.raw(c(0x6e, 0, 0x2b, 0x31)))) {
    writeBin(replace(whole, 344 + 1:4, word), file)
    expect_error(read_images(file), "is an ANALYZE file")
  }
})

test_that("numbers that R has no integer for count as damage", {
  folder <- withr::local_tempdir()
  file <- file.path(folder, "image.nii")
  worst <- as.raw(c(0, 0, 0, 0x80))
  whole <- readBin(make_nifti2(array(1:27, c(3, 3, 3)), file), "raw", 1e4)
  writeBin(replace(whole, 1:4, worst), file)
  expect_error(read_images(file), "is not a NIfTI file[.]$")
  writeBin(replace(whole, 16 + 8 + 1:4, worst), file)
  expect_error(read_images(file), "^`files` must hold")
  # an unknown code of the affine means that there is none
  writeBin(replace(whole, 348 + 1:4, worst), file)
  expect_identical(read_images(file)$space$affine, diag(4))
})
