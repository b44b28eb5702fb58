# Maps written and read back, tables of regions, surfaces, and the check of the sign.

# Images on disk in some order of storage, with an effect in two places, and a fit.
map_cohort <- function(order = "LAS", n = 24, env = parent.frame(), coarsen = NULL, ...) {
  folder <- withr::local_tempdir(.local_envir = env)
  withr::local_seed(11)
  dim <- c(8, 9, 7)
  y <- rep(0:1, length.out = n)
  files <- file.path(folder, sprintf("sub-%02d.nii.gz", seq_len(n)))
  for (i in seq_len(n)) {
    image <- array(round(stats::runif(prod(dim), 0.4, 0.6), 3), dim)
    # Half of the patients have the effect here, half of them there: both places are needed.
    if (y[i] && i %% 4 == 0) image[2:3, 3:5, 2:4] <- image[2:3, 3:5, 2:4] + 0.2
    if (y[i] && i %% 4 == 2) image[6:7, 6:8, 5:6] <- image[6:7, 6:8, 5:6] + 0.2
    stored <- store_as(if (isTRUE(list(...)$type == "uint8")) round(255 * image) else image, order)
    make_nifti(stored, files[i], stored_affine(order, dim(stored), c(2, 3, 4)), ...)
  }
  list(images = read_images(files, coarsen = coarsen), y = y)
}

fit_cohort <- function(cohort, lambda1 = 0.002) {
  n2gfl(cohort$images, cohort$y, family = "binomial", lambda1 = lambda1, lambda2 = 0.002)
}

cv_cohort <- function(cohort) {
  cv.n2gfl(cohort$images, cohort$y, family = "binomial", lambda1 = c(0.01, 0.002), lambda2 = 0.002,
           foldid = rep(1:3, each = 8, length.out = length(cohort$y)), thresh = 1e-10)
}

test_that("maps read back identically in both packages, with the input's place and codes", {
  for (order in c("LAS", "RAS")) {
    # The images are stored as integers: the coefficients must not be.
    cohort <- map_cohort(order, sform = 4, qform = 1, type = "uint8", slope = 1 / 255)
    fit <- fit_cohort(cohort)
    expect_true(fit$grid$converged)
    for (ending in c(".nii", ".nii.gz")) {
      file <- withr::local_tempfile(fileext = ending)
      expect_identical(write_map(fit, file), file)
      header <- RNifti::niftiHeader(file)
      expected <- array(0, cohort$images$space$dim)
      expected[cohort$images$space$mask] <- fit$beta[, 1]
      expect_equal(as.array(RNifti::readNifti(file)), expected, tolerance = 1e-7,
                   ignore_attr = TRUE)
      oro <- oro.nifti::readNIfTI(file, reorient = FALSE)
      expect_equal(oro.nifti::img_data(oro), expected, tolerance = 1e-7, ignore_attr = TRUE)
      expect_identical(c(header$datatype, header$sform_code, header$qform_code), c(16L, 4L, 1L))
      expect_equal(header_affine(header), cohort$images$space$affine, tolerance = 1e-6)
      expect_equal(header_qform(header), cohort$images$space$affine, tolerance = 1e-6)
      expect_equal(c(header$cal_min, header$cal_max), range(expected), tolerance = 1e-6)
      expect_match(header$descrip, "^n2gfl coef lambda1=0.002 lambda2=0.002$")
      expect_identical(c(header$intent_code, header$intent_name), c("1001", "coef"))
    }
  }
})

test_that("maps of coarsened and of sform-only images are in the right place", {
  cohort <- map_cohort("LPI", coarsen = 2, qform = 0)
  fit <- fit_cohort(cohort)
  file <- withr::local_tempfile(fileext = ".nii.gz")
  write_map(fit, file)
  header <- RNifti::niftiHeader(file)
  expect_identical(header$dim[2:4], cohort$images$space$dim)
  expect_equal(header_affine(header), cohort$images$space$affine, tolerance = 1e-6)
  expect_identical(c(header$sform_code, header$qform_code), c(2L, 0L))
  # What was written is read like the images it came from.
  expect_true(same_grid(open_nifti(file), cohort$images$space))
})

test_that("coefficients, selection, regions and probabilities are mapped", {
  cohort <- map_cohort()
  cv <- cv_cohort(cohort)
  mask <- cohort$images$space$mask
  file <- withr::local_tempfile(fileext = ".nii.gz")
  read <- function(...) {
    write_map(cv, file, ...)
    as.array(RNifti::readNifti(file))[mask]
  }
  expect_equal(read(), cv$n2gfl.fit$beta[, cv$index[["min"]]], tolerance = 1e-6,
               ignore_attr = TRUE)
  expect_equal(read(row = 1), cv$n2gfl.fit$beta[, 1], tolerance = 1e-6, ignore_attr = TRUE)
  share <- rowMeans(vapply(cv$fold.fits, function(fold) as.vector(fold$beta[, 2] != 0),
                           numeric(sum(mask))))
  expect_equal(read(row = 2, what = "selection"), share, tolerance = 1e-6)
  region <- read(s = cv$grid[2, ], what = "region")
  expect_identical(RNifti::niftiHeader(file)$datatype, 8L)
  expect_identical(max(region), nrow(region_table(cv, row = 2)))
  expect_identical(as.vector(table(region[region > 0])), region_table(cv, row = 2)$voxels)
  fit <- fit_cohort(cohort)
  write_map(fit, file, what = "selection")
  expect_identical(as.array(RNifti::readNifti(file))[mask], as.numeric(fit$beta[, 1] != 0))
  chosen <- structure(list(prob = seq_len(sum(mask)) / sum(mask), graph = cohort$images$graph,
                           space = cohort$images$space), class = "n2gfl_stability_selection")
  write_map(chosen, file)
  expect_equal(as.array(RNifti::readNifti(file))[mask], chosen$prob, tolerance = 1e-6)
})

test_that("as_nifti() gives an image that oro.nifti draws", {
  cohort <- map_cohort()
  fit <- fit_cohort(cohort)
  image <- as_nifti(fit)
  expect_true(oro.nifti::is.nifti(image))
  expected <- array(0, cohort$images$space$dim)
  expected[cohort$images$space$mask] <- fit$beta[, 1]
  expect_equal(oro.nifti::img_data(image), expected, ignore_attr = TRUE)
  expect_identical(as.numeric(c(image@sform_code, image@qform_code)), c(2, 0))
  expect_equal(unname(rbind(image@srow_x, image@srow_y, image@srow_z)),
               cohort$images$space$affine[1:3, ], tolerance = 1e-6)
  expect_identical(as_nifti(fit, what = "region")@datatype, 8)
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  expect_no_error(oro.nifti::orthographic(image))
  # Written by oro.nifti itself, too.
  stem <- withr::local_tempfile()
  oro.nifti::writeNIfTI(image, stem)
  withr::defer(unlink(paste0(stem, ".nii.gz")))
  expect_equal(as.array(RNifti::readNifti(paste0(stem, ".nii.gz"))), expected, tolerance = 1e-6,
               ignore_attr = TRUE)
})

test_that("impossible maps are refused", {
  cohort <- map_cohort()
  fit <- fit_cohort(cohort, c(0.01, 0.002))
  file <- withr::local_tempfile(fileext = ".nii.gz")
  plain <- n2gfl(cohort$images$x, cohort$y, cohort$images$graph, lambda1 = 0.1, lambda2 = 0.1)
  expect_snapshot(refusal(write_map(fit, file)))
  expect_snapshot(refusal(write_map(fit, file, s = "lambda.min")))
  expect_snapshot(refusal(write_map(fit, file, s = c(lambda1 = 0.03, lambda2 = 0.002))))
  expect_snapshot(refusal(write_map(fit, file, row = 1:2)))
  expect_snapshot(refusal(write_map(fit, file, row = 1, s = fit$grid[1, ])))
  expect_snapshot(refusal(write_map(fit, file, row = 3)))
  expect_snapshot(refusal(write_map(fit, "map.txt", row = 1)))
  expect_snapshot(refusal(write_map(fit, "nowhere/map.nii", row = 1)))
  expect_snapshot(refusal(write_map(fit, 1, row = 1)))
  expect_snapshot(refusal(write_map(fit, file, row = 1, what = "probability")))
  expect_snapshot(refusal(write_map(fit, file, row = 1, what = "beta")))
  expect_snapshot(refusal(write_map(fit, file, row = 1, type = "coef")))
  expect_snapshot(refusal(write_map(plain, file)))
  expect_snapshot(refusal(as_nifti(plain)))
  expect_snapshot(refusal(write_map(1:3, file)))
  expect_snapshot(refusal(region_table(plain)))
  expect_snapshot(refusal(region_table(fit)))
  expect_snapshot(refusal(region_table(fit, row = 1, atlas = 3)))
  expect_snapshot(refusal(region_table(fit, row = 2, atlas = "nowhere.nii")))
  expect_snapshot(
    refusal(region_table(fit, row = 2, atlas = RNifti::asNifti(array(0.5, c(2, 2, 2)))))
  )
  expect_snapshot(refusal(region_table(fit, row = 2, atlas = RNifti::asNifti(array(1, c(2, 2, 2))),
                                       labels = 1:3)))
})

# ---- regions -------------------------------------------------------------------------------------

test_that("the table agrees with the map", {
  cohort <- map_cohort()
  fit <- fit_cohort(cohort)
  beta <- fit$beta[, 1]
  table <- region_table(fit)
  expect_identical(sum(table$voxels), sum(beta != 0))
  expect_identical(nrow(table), fit$grid$regions)
  expect_equal(table$mm3, table$voxels * 24)
  expect_equal(sum(table$weight), sum(beta))
  expect_false(is.unsorted(rev(abs(table$weight))))
  label <- numbered_regions(beta, fit$graph)
  mm <- space_mm(fit$space)
  for (k in seq_len(nrow(table))) {
    inside <- label == k
    expect_equal(table$coefficient[k], mean(beta[inside]))
    expect_equal(c(table$x[k], table$y[k], table$z[k]),
                 colSums(mm[inside, , drop = FALSE] * beta[inside]) / sum(beta[inside]))
    at <- which(mm[, 1] == table$peak.x[k] & mm[, 2] == table$peak.y[k] &
                  mm[, 3] == table$peak.z[k])
    expect_identical(beta[at], table$peak[k])
    expect_equal(abs(table$peak[k]), max(abs(beta[inside])))
  }
  # The two effects are where they were put.
  expect_lt(max(abs(c(table$x[2], table$y[2], table$z[2]) - voxel_mm(stored_affine(
    "RAS", c(8, 9, 7), c(2, 3, 4)), c(2.5, 4, 3)))), 2.5)
  expect_snapshot(table)
  nothing <- region_table(n2gfl(cohort$images, cohort$y, lambda1 = 100, lambda2 = 1))
  expect_identical(nrow(nothing), 0L)
  expect_identical(names(nothing), names(table))
  expect_snapshot(nothing)
  expect_output(print(table[1, c("region", "voxels", "peak")]), "1 region, 12 voxels")
})

test_that("stability selection has a table and a map of what passes the cutoff", {
  cohort <- map_cohort()
  withr::local_seed(5)
  selection <- stability_selection(cohort$images, cohort$y, family = "binomial", q = 40,
                                   cutoff = 0.75, B = 4)
  table <- region_table(selection)
  expect_identical(sum(table$voxels), length(selection$selected))
  expect_identical(nrow(table), nrow(selection$regions))
  expect_setequal(round(table$probability, 6), round(selection$regions$prob.mean, 6))
  expect_true(all(table$peak >= 0.75 & table$probability >= 0.75))
  expect_named(table, c("region", "voxels", "mm3", "probability", "peak", "peak.x", "peak.y",
                        "peak.z", "x", "y", "z"))
  expect_snapshot(table)
  expect_snapshot(refusal(region_table(selection, row = 1)))
  expect_snapshot(refusal(plot_map(selection, s = "lambda.min")))
  local_device()
  drawn <- unlist(lapply(plot_map(selection, type = "axial", ncuts = 99),
                         function(panel) panel$over$values))
  expect_equal(sort(drawn[drawn != 0]), sort(unname(selection$prob[selection$selected])))
  all <- unlist(lapply(plot_map(selection, type = "axial", ncuts = 99, threshold = 0),
                       function(panel) panel$over$values))
  expect_identical(sum(all != 0), sum(selection$prob > 0))
  selection$prob[] <- 0.5
  expect_identical(nrow(region_table(selection)), 0L)
  expect_message(plot_map(selection), "no probability reaches 0.75")
})

test_that("a table says which row of the grid it describes", {
  cohort <- map_cohort()
  cv <- cv_cohort(cohort)
  expect_output(print(region_table(cv)), choice_text(cv, cv$index[["min"]]), fixed = TRUE)
  expect_identical(attr(region_table(cv, row = 1), "choice"), choice_text(cv, 1))
})

test_that("tables do not depend on the order of storage, nor do atlas names", {
  folder <- withr::local_tempdir()
  atlas <- array(0L, c(5, 6, 5))
  atlas[1:2, , ] <- 1L
  atlas[4:5, 1:3, ] <- 2L
  atlas[4:5, 4:6, ] <- 3L
  table_in <- function(order, atlas_order, coarsen = NULL) {
    stored <- store_as(atlas, atlas_order)
    file <- make_nifti(stored, file.path(folder, "atlas.nii"), type = "uint8",
                       affine = stored_affine(atlas_order, dim(stored), c(3, 4, 6)))
    cohort <- map_cohort(order, coarsen = coarsen)
    region_table(cv_cohort(cohort), row = 2, atlas = file, labels = c("left", "front", "back"))
  }
  for (coarsen in list(NULL, 2)) {
    ras <- table_in("RAS", "RAS", coarsen)
    expect_gt(nrow(ras), 1)
    for (orders in list(c("LAS", "RAS"), c("RAS", "LPS"), c("PIR", "SAL"))) {
      other <- table_in(orders[1], orders[2], coarsen)
      expect_equal(as.data.frame(other), as.data.frame(ras), tolerance = 1e-4)
    }
  }
  expect_true(all(grepl("left|front|back|none", ras$name)))
  expect_true(all(ras$share > 0 & ras$share <= 1))
  expect_true(all(ras$selected >= 0 & ras$selected <= 1))
})
