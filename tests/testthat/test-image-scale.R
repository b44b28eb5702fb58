# A warning names images of another scale; ordinary cohorts give none.

# Egg-shaped images, each with its own gain, as files of 0 to 1; those of `bad` are 0 to 255.
write_scaled <- function(folder, n, bad, type = "uint8") {
  eggs <- egg_images(n)
  files <- file.path(folder, sprintf("sub-%02d.nii", seq_len(n)))
  for (i in seq_len(n)) {
    egg <- eggs[[i]] * stats::rlnorm(1, -0.2, 0.05)
    egg[egg == 0] <- 0.02
    if (i %in% bad) make_nifti(round(255 * egg), files[i], type = type)
    else make_nifti(egg, files[i])
  }
  files
}

scale_warning <- function(code, folder = "no folder") {
  text <- tryCatch({
    force(code)
    "no warning"
  }, warning = conditionMessage)
  cat(gsub(paste0(folder, "/"), "", text, fixed = TRUE), "\n", sep = "")
}

test_that("one image of 0 to 255 among images of 0 to 1 is named in a warning", {
  folder <- normalizePath(withr::local_tempdir())
  withr::local_seed(1)
  files <- write_scaled(folder, 20, bad = 7)
  good <- read_images(files[-7])
  # It moves the mask: the background's 0.02 becomes 5.
  expect_warning(moved <- read_images(files), "sub-07")
  expect_gt(sum(moved$space$mask), sum(good$space$mask) + 100)
  expect_snapshot(scale_warning(read_images(files), folder))
  # With a mask, in blocks, and in memory as well.
  expect_snapshot(scale_warning(read_images(files, mask = good$space$mask), folder))
  expect_warning(read_images(files, coarsen = 2), "sub-07.nii\" \\(")
  expect_warning(read_images(lapply(files, RNifti::readNifti)), "element 7 \\(")
  # Images for predictions are compared with those of the fit, even a single one.
  expect_no_warning(read_images(files[1:2], like = good))
  expect_snapshot(scale_warning(read_images(files[7], like = good), folder))
  fit <- n2gfl(good, 1:19, lambda1 = 0.1, lambda2 = 0.01)
  expect_warning(read_images(files[7], like = fit), "`like`")
})

test_that("one warning names all images of another scale, even if they are half of them", {
  folder <- normalizePath(withr::local_tempdir())
  withr::local_seed(2)
  files <- write_scaled(folder, 12, bad = 3:7)
  mask <- array(TRUE, c(7, 9, 6))
  expect_snapshot(scale_warning(read_images(files, mask = mask), folder))
  expect_warning(read_images(files[1:4], mask = mask), "2 of 4 images have")
  expect_warning(read_images(files[2:3], mask = mask), "1 of 2 images has")
  expect_warning(read_images(files[3:8], mask = mask), "5 of 6 images have|1 of 6 images has")
})

# Is there a warning about a row of this matrix of images?
is_named <- function(x) {
  stats <- image_stats(x)
  groups <- scale_groups(stats)
  if (!is.null(groups)) return(seq_len(nrow(x)) %in% groups$rows)
  usual <- usual_scale(stats)
  if (is.null(usual)) rep(FALSE, nrow(x)) else scale_distance(stats, usual) > far_off
}

test_that("gains, offsets and empty images are found", {
  x <- withr::with_seed(3, matrix(stats::runif(40 * 300), 40) * stats::rlnorm(40, 0, 0.04))
  for (n in c(4, 10, 40)) {
    changed <- function(i, change) {
      x <- x[seq_len(n), ]
      x[i, ] <- change(x[i, ])
      which(is_named(x))
    }
    expect_identical(changed(2, function(v) 255 * v), 2L)
    expect_identical(changed(3, function(v) 100 * v), 3L)
    expect_identical(changed(4, function(v) v / 100), 4L)
    expect_identical(changed(1, function(v) v + 1000), 1L)
    expect_identical(changed(1, function(v) v - 1000), 1L)
    expect_identical(changed(1, function(v) 0 * v), 1L)
    if (n == 40) expect_identical(changed(5, function(v) 2 * v), 5L)
  }
  # Values of both signs, whose means are near 0.
  z <- withr::with_seed(4, matrix(stats::rnorm(30 * 300), 30))
  expect_identical(which(is_named(z * rep(c(1, 10), c(29, 1)))), 30L)
})

test_that("groups of images with other units are found, whatever their size", {
  withr::local_seed(8)
  for (n in c(20, 60)) for (share in c(0.1, 0.3, 0.5, 0.7, 0.9)) for (factor in c(4, 10, 0.1)) {
    x <- simulate_cohort(n = n, dim = c(18, 22))$x * stats::rlnorm(n, 0, 0.08)
    other <- sort(sample.int(n, n * share))
    x[other, ] <- factor * x[other, ]
    smaller <- if (share > 0.5) setdiff(seq_len(n), other) else other
    named <- which(is_named(x))
    expect_identical(named, if (share == 0.5 && factor < 1) setdiff(seq_len(n), other) else smaller)
  }
  # Values of both signs, and one image that differs from both groups.
  z <- matrix(stats::rnorm(40 * 300), 40) * rep(c(1, 8), each = 20)
  expect_identical(which(is_named(z)), 21:40)
  z[3, ] <- 1e4 * z[3, ]
  expect_identical(which(is_named(z)), setdiff(1:20, 3L))
  # No groups: lesions of some, patients with larger lesions, empty maps of controls.
  lesions <- matrix(stats::runif(60 * 400), 60) < rep(c(0.005, 0.2), each = 30)
  expect_false(any(is_named(1 * lesions)))
  lesions[1:30, ] <- FALSE
  expect_false(any(is_named(1 * lesions)))
})

test_that("half of a cohort with other units gives one warning with the factor", {
  withr::local_seed(9)
  one <- function() array(stats::runif(6 * 6 * 6, 0.3, 1), c(6, 6, 6))
  images <- replicate(60, one(), simplify = FALSE)
  images[31:60] <- lapply(images[31:60], `*`, 10)
  expect_snapshot(scale_warning(read_images(images)))
  expect_snapshot(scale_warning(read_images(images[11:45], mask = one() > 0)))
  images[11:60] <- lapply(images[11:60], `*`, 40)
  images[31:60] <- lapply(images[31:60], `/`, 10)
  expect_snapshot(scale_warning(read_images(images)))
})

test_that("ordinary cohorts give no warning", {
  withr::local_seed(5)
  quiet <- function(x) expect_false(any(is_named(x)))
  for (n in c(4, 20, 60)) for (noise in c(0.3, 3)) {
    x <- simulate_cohort(n = n, dim = c(18, 22), noise = noise)$x
    quiet(x)
    site <- sample(c(1, 1, 1, 0.8, 1.25), n, TRUE)  # gains of sites
    quiet(x * site)
    quiet(x * stats::rlnorm(n, 0, 0.12))            # volumes of heads
    quiet(x - rowMeans(x))                          # a constant mean
    quiet(t(scale(t(x))))
  }
  for (n in c(2, 3, 4, 10, 50, 200)) {
    x <- matrix(stats::rnorm(n * 400), n)
    quiet(x)
    quiet(x - rowMeans(x))
    quiet(exp(x))
    # Lesions: from none to a third of the brain.
    quiet(1 * (matrix(stats::runif(n * 400), n) < c(0, pmin(0.3, stats::rlnorm(n - 1, -3.5, 1.2)))))
    # Scanners with their own units.
    quiet(abs(x) * sample(c(300, 500, 800), n, TRUE))
    # One bright voxel.
    x[1, 5] <- 60
    quiet(x)
    quiet(matrix(c(rep(1, n - 1), 2), n, 1))
  }
  expect_null(usual_scale(image_stats(matrix(1, 3, 5))))
})

test_that("surfaces are compared, too", {
  withr::local_seed(6)
  coords <- matrix(stats::rnorm(60), 20)
  mesh <- graph_mesh(cbind(1:18, 2:19, 3:20), coords = coords)
  thickness <- matrix(stats::rnorm(200, 2.5, 0.4), 10)
  expect_no_warning(read_surface(thickness, mesh))
  thickness[4, ] <- 1000 * thickness[4, ]  # micrometres
  expect_snapshot(scale_warning(read_surface(thickness, mesh)))
})

test_that("statistics of images are those of R, without a copy of the images", {
  x <- withr::with_seed(7, matrix(stats::rnorm(12, c(1e4, -1e4, 0)), 3))
  each <- t(apply(x, 1, function(v) c(mean(v), stats::sd(v), min(v), max(v), mean(abs(v)))))
  expect_equal(unname(as.matrix(image_stats(x)[1:5])), each, tolerance = 1e-12)
  skip_on_cran()
  x <- matrix(0.5, 100, 2e5)
  # A system that is short of memory may have taken pages of x away, and their return counts: what
  # the call needs is the least of several peaks.
  peaks <- replicate(3, peak_memory(warn_scale(image_stats(x), paste(1:100))))
  if (!anyNA(peaks)) expect_lt(min(peaks), 2e7)
})
