# Images and masks on other grids.

orders <- c("LAS", "LPI", "RPS", "PIR", "SAL")
sizes <- c(2, 3, 4)

write_egg <- function(egg, file, order = "RAS", ...) {
  stored <- store_as(egg, order)
  make_nifti(stored, file, stored_affine(order, dim(stored), sizes), ...)
}

test_that("images in another order of storage are read exactly", {
  folder <- normalizePath(withr::local_tempdir())
  withr::local_seed(1)
  eggs <- egg_images(6)
  at <- function(name) file.path(folder, paste0(name, 1:6, ".nii.gz"))
  mixed <- at("mixed")
  for (i in 1:6) {
    write_egg(eggs[[i]], at("ras")[i], type = "float64")
    write_egg(eggs[[i]], mixed[i], c("RAS", orders)[i], type = "float64", qform = 1)
  }
  for (coarsen in list(NULL, c(2, 1, 3))) {
    expected <- read_images(at("ras"), threshold = 0.3, coarsen = coarsen)
    images <- read_images(mixed, threshold = 0.3, coarsen = coarsen, resample = TRUE)
    expect_identical(unname(images$x), unname(expected$x))
    expect_identical(images$space[c("mask", "affine")], expected$space[c("mask", "affine")])
    # Each of them for a mask and a fit that are stored as RAS.
    for (i in 1:6) {
      again <- read_images(mixed[i], like = expected, resample = TRUE)
      expect_identical(unname(again$x), unname(expected$x[i, , drop = FALSE]))
    }
  }
  # In memory, and as volumes of one file.
  images <- read_images(lapply(mixed, RNifti::readNifti), threshold = 0.3, resample = TRUE)
  expected <- read_images(at("ras"), threshold = 0.3)
  expect_identical(unname(images$x), unname(expected$x))
  four <- simplify2array(lapply(eggs, store_as, "LPI"))
  file <- make_nifti(four, file.path(folder, "four.nii.gz"), type = "float64",
                     affine = stored_affine("LPI", dim(four)[1:3], sizes))
  again <- read_images(file, like = expected, resample = TRUE)
  expect_identical(unname(again$x), unname(expected$x))
  # Floats, too, and nothing changes where all is on one grid.
  for (i in 1:6) write_egg(eggs[[i]], mixed[i], c("RAS", orders)[i])
  for (i in 1:6) write_egg(eggs[[i]], at("ras")[i])
  expected <- read_images(at("ras"), threshold = 0.3)
  expect_identical(unname(read_images(mixed, threshold = 0.3, resample = TRUE)$x),
                   unname(expected$x))
  expect_identical(read_images(at("ras"), threshold = 0.3, resample = TRUE), expected)
})

test_that("masks in another order of storage or on another grid take the nearest value", {
  folder <- normalizePath(withr::local_tempdir())
  withr::local_seed(2)
  eggs <- egg_images(3)
  files <- file.path(folder, paste0(1:3, ".nii"))
  for (i in 1:3) write_egg(eggs[[i]], files[i])
  inside <- array(stats::runif(length(eggs[[1]])) > 0.5 & eggs[[1]] > 0, dim(eggs[[1]]))
  expected <- read_images(files, mask = inside)
  blocks <- read_images(files, mask = inside, coarsen = 2)
  for (order in orders) {
    mask <- write_egg(1 * inside, file.path(folder, "mask.nii"), order, type = "uint8")
    images <- read_images(files, mask = mask, resample = TRUE)
    expect_identical(images$space$mask, inside, info = order)
    expect_identical(images$x, expected$x)
    expect_identical(read_images(files, mask = RNifti::readNifti(mask), coarsen = 2,
                                 resample = TRUE)$space$mask, blocks$space$mask)
  }
  # Voxels of half the size, on a field of view that is shifted and smaller.
  fine <- array(0, c(9, 11, 7))
  fine[3:6, 4:9, 2:5] <- 1
  affine <- diag(c(sizes / 2, 1))
  affine[1:3, 4] <- c(0, -7, 3)
  mask <- make_nifti(fine, file.path(folder, "fine.nii"), affine, type = "uint8")
  images <- read_images(files, mask = mask, resample = TRUE)
  space <- images$space
  mm <- voxel_mm(space$affine, arrayInd(seq_along(space$mask), space$dim))
  index <- round(sweep(sweep(mm, 2, affine[1:3, 4]), 2, sizes / 2, "/") + 1e-4)
  within <- index[, 1] %in% 2:5 & index[, 2] %in% 3:8 & index[, 3] %in% 1:4
  varies <- apply(simplify2array(eggs), 1:3, stats::sd) > 0
  expect_identical(which(space$mask), which(within & varies))
})

test_that("other grids are interpolated linearly, through the affines", {
  folder <- normalizePath(withr::local_tempdir())
  # An image that is linear in millimetres is linear on every grid.
  plane <- function(mm, i) drop(10 + mm %*% c(0.2, -0.1, 0.05)) * i
  draw <- function(dim, affine, i) {
    array(plane(voxel_mm(affine, arrayInd(seq_len(prod(dim)), dim)), i), dim)
  }
  wide <- stored_affine("RAS", c(14, 16, 12))
  turned <- diag(4)
  turned[1:3, 1:3] <- cbind(c(1.4, 0.2, 0), c(-0.2, 1.4, 0.1), c(0, -0.1, 1.5))
  turned[1:3, 4] <- c(-20, -28, -12)
  files <- file.path(folder, c("first.nii", "wide.nii", "turned.nii"))
  small <- stored_affine("LAS", c(5, 6, 4), c(3, 3, 3))
  make_nifti(draw(c(5, 6, 4), small, 1), files[1], small, type = "float64")
  make_nifti(draw(c(14, 16, 12), wide, 2), files[2], wide, type = "float64")
  make_nifti(draw(c(30, 34, 26), turned, 3), files[3], turned, type = "float64")
  images <- read_images(files, threshold = -Inf, resample = TRUE)
  expected <- t(vapply(1:3, plane, numeric(120), mm = voxel_mm(small, arrayInd(1:120, c(5, 6, 4)))))
  expect_equal(unname(images$x), expected, tolerance = 1e-6)
  # An independent computation for an image that is not linear.
  wave <- array(sin(seq_len(14 * 16 * 12)), c(14, 16, 12))
  make_nifti(wave, files[2], wide, type = "float64")
  x <- read_images(files, threshold = -Inf, resample = TRUE)$x[2, ]
  at <- sweep(sweep(voxel_mm(small, arrayInd(1:120, c(5, 6, 4))), 2, wide[1:3, 4]), 2, 2, "/")
  by_hand <- apply(at, 1, function(p) {
    low <- floor(p + 1e-6)
    share <- p - low
    corner <- as.matrix(expand.grid(0:1, 0:1, 0:1))
    weight <- apply(corner, 1, function(up) prod(ifelse(up == 1, share, 1 - share)))
    keep <- weight > 1e-6
    sum(weight[keep] * wave[sweep(corner[keep, , drop = FALSE], 2, low + 1, "+")])
  })
  expect_equal(unname(x), by_hand, tolerance = 1e-5)
})

test_that("what lies outside of an image's field of view is an error, zero or dropped", {
  folder <- normalizePath(withr::local_tempdir())
  withr::local_seed(4)
  eggs <- egg_images(3)
  files <- file.path(folder, c("a.nii", "b.nii", "cut.nii"))
  affine <- stored_affine("RAS", dim(eggs[[1]]), sizes)
  for (i in 1:2) make_nifti(eggs[[i]], files[i], affine)
  # Without the first two slices from the left.
  cut <- affine
  cut[1, 4] <- cut[1, 4] + 2 * sizes[1]
  make_nifti(eggs[[3]][3:7, , ], files[3], cut)
  mask <- Reduce(`+`, eggs) > 0
  lost <- sum(mask[1:2, , ])
  expect_gt(lost, 0)
  expect_snapshot(file_refusal(read_images(files, mask = mask, resample = TRUE), folder))
  expect_snapshot(file_refusal(read_images(files, threshold = 0.2, resample = TRUE), folder))
  zero <- read_images(files, mask = mask, resample = TRUE, na = "zero")
  expect_identical(sum(zero$x[3, ] == 0), lost)
  expect_equal(unname(zero$x[3, ]), replace(eggs[[3]], slice.index(mask, 1) < 3, 0)[mask],
               tolerance = 1e-7)
  dropped <- read_images(files, mask = mask, resample = TRUE, na = "drop")
  expect_identical(sum(dropped$space$mask), sum(mask) - lost)
  # A mask that the image covers.
  expect_no_error(read_images(files, mask = mask & slice.index(mask, 1) > 2, resample = TRUE))
  expect_snapshot(file_refusal(read_images(files[3], like = zero, resample = TRUE), folder))
})

test_that("what cannot be resampled is refused, and other messages say how to resample", {
  folder <- normalizePath(withr::local_tempdir())
  say <- function(...) file_refusal(read_images(...), folder)
  withr::local_seed(5)
  eggs <- egg_images(3)
  at <- function(name) file.path(folder, name)
  write_egg(eggs[[1]], at("a.nii"))
  write_egg(eggs[[2]], at("las.nii"), "LAS")
  make_nifti(eggs[[3]], at("nowhere.nii"), sform = 0)
  expect_snapshot(say(at(c("a.nii", "las.nii"))))
  expect_snapshot(say(at("a.nii"), mask = at("las.nii")))
  expect_snapshot(say(at("las.nii"), like = read_images(at("a.nii"))))
  expect_snapshot(say(at(c("a.nii", "nowhere.nii"))))
  expect_snapshot(say(at(c("a.nii", "nowhere.nii")), resample = TRUE))
  expect_snapshot(say(at(c("nowhere.nii", "a.nii")), resample = TRUE))
  expect_snapshot(say(at("a.nii"), mask = at("nowhere.nii"), resample = TRUE))
  expect_snapshot(say(at("a.nii"), mask = array(1, c(3, 3, 3)), resample = TRUE))
  expect_snapshot(say(list(eggs[[1]], eggs[[2]][-1, , ]), resample = TRUE))
  far <- diag(4)
  far[1:3, 4] <- 1000
  make_nifti(eggs[[1]], at("far.nii"), far)
  expect_snapshot(say(at("a.nii"), mask = at("far.nii"), resample = TRUE))
  expect_snapshot(say(eggs, resample = "yes"))
})

test_that("a brain is resampled in well under a second, with few volumes in memory", {
  skip_on_cran()
  folder <- normalizePath(withr::local_tempdir())
  dim <- c(91, 109, 91)
  values <- array(stats::runif(prod(dim)), dim)
  files <- file.path(folder, paste0(1:12, ".nii"))
  las <- stored_affine("LAS", dim)
  shifted <- las
  shifted[1:3, 4] <- shifted[1:3, 4] + c(0.7, 0.3, -0.4)
  make_nifti(values, files[1], las)
  for (file in files[-1]) make_nifti(values * stats::runif(1, 1, 1.2), file, shifted)
  mask <- array(FALSE, dim)
  mask[40:50, 40:50, 40:50] <- TRUE
  read <- function() read_images(files, mask = mask, resample = TRUE, neighbours = 6)
  seconds <- system.time(read())[["elapsed"]]
  expect_lt(seconds, 12)  # 0.5 s where nothing else runs
  # In a session of its own: one that has run other tests lets more garbage gather.
  given <- list(files = files, mask = mask, peak = `environment<-`(peak_memory, globalenv()))
  start_child(folder, given, quote({
    read <- function() read_images(given$files, mask = given$mask, resample = TRUE, neighbours = 6)
    read()
    saveRDS(given$peak(read()), file.path(folder, "peak.rds"))
  }))
  child_ended(folder)
  peak <- readRDS(file.path(folder, "peak.rds"))
  if (!is.na(peak)) expect_lt(peak, 8 * 8 * prod(dim))
})
