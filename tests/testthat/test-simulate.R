test_that("presets have the paper's class sizes and about its number of voxels", {
  withr::local_seed(1)
  sizes <- list("15ADNC" = c(AD = 64L, NC = 90L), "30ADNC" = c(AD = 66L, NC = 110L),
                "15MCINC" = c(MCI = 208L, NC = 90L))
  for (preset in names(sizes)) {
    cohort <- simulate_cohort(preset, space = "phantom")
    expect_identical(c(table(cohort$y)), sizes[[preset]])
    expect_identical(levels(cohort$y)[2], "NC")
    expect_identical(dim(cohort$x), c(sum(sizes[[preset]]), sum(cohort$mask)))
    expect_gt(ncol(cohort$x), 2400)
    expect_lt(ncol(cohort$x), 2650)
    expect_equal(cohort$images$space$affine[cbind(1:3, 1:3)], c(8, 8, 8))
  }
})

test_that("the parts of a cohort agree with each other", {
  withr::local_seed(2)
  cohort <- simulate_cohort(n = c(5, 7), voxel_size = 10, space = "phantom")
  expect_s3_class(cohort, "n2gfl_cohort")
  expect_identical(as.vector(table(cohort$y)), c(5L, 7L))
  expect_true(is.unsorted(cohort$y) && is.unsorted(rev(cohort$y)))
  expect_identical(cohort$graph, graph_mask(cohort$mask))
  expect_identical(cohort$images$x, cohort$x)
  expect_identical(cohort$images$space$mask, cohort$mask)
  expect_identical(cohort$truth > 0, !is.na(cohort$region))
  expect_setequal(levels(cohort$region), c("Hippocampus_L", "Hippocampus_R", "ParaHippocampal_L",
                                           "ParaHippocampal_R"))
  expect_true(all(table(cohort$region) > 0))
  expect_false(any(cohort$artefact & cohort$truth > 0))
  expect_gt(sum(cohort$artefact), 0)
  expect_identical(cohort$atlas > 0, cohort$mask)
  expect_true(all(cohort$atlas[cohort$mask] %in% cohort$labels$index))
  expect_identical(cohort$data$diagnosis, cohort$y)
  expect_named(cohort$data, c("subject", "diagnosis", "score", "age", "sex", "tiv", "site"))
  expect_true(all(is.finite(cohort$x)) && all(cohort$x >= 0))
  expect_null(cohort$files)
})

test_that("the head is its own mirror image, with left regions on the left", {
  grids <- list(phantom_grid(NULL, 8), phantom_grid(NULL, c(7, 9, 9)),
                phantom_grid(c(15, 16), NULL))
  for (grid in grids) {
    anatomy <- phantom_anatomy(grid)
    mirror <- function(array) array[rev(seq_len(nrow(array))), , , drop = FALSE]
    expect_equal(anatomy$template, mirror(anatomy$template), tolerance = 1e-12)
    expect_identical(anatomy$mask, mirror(anatomy$mask))
    expect_identical(anatomy$artefact, mirror(anatomy$artefact))
    for (k in 1:2) expect_true(any(anatomy$atlas == 2 * k - 1) && any(anatomy$atlas == 2 * k))
    x <- voxel_mm(grid$affine, which(anatomy$atlas > 0, arr.ind = TRUE))[, 1]
    left <- anatomy$atlas[anatomy$atlas > 0] %% 2 == 1
    expect_true(all(x[left] <= 1e-6) && all(x[!left] > 0))
  }
})

test_that("atrophy is where the truth says, and the false regions go the other way", {
  withr::local_seed(3)
  cohort <- simulate_cohort(n = 200, voxel_size = 11, noise = 0.3, space = "phantom")
  control <- cohort$y == "control"
  difference <- colMeans(cohort$x[control, ]) - colMeans(cohort$x[!control, ])
  # Relative to the diffuse loss, that all voxels share.
  local <- difference / colMeans(cohort$x[control, ]) - 0.025
  expect_gt(min(local[cohort$truth > 0]), 0.1)
  expect_lt(max(local[cohort$artefact]), 0)
  expect_lt(max(abs(local[cohort$truth == 0 & !cohort$artefact])), 0.05)
  # truth is the loss in the units of the images
  expect_equal(mean(difference[cohort$truth > 0]) / mean(cohort$truth[cohort$truth > 0]), 1,
               tolerance = 0.15)
})

test_that("covariates work as described", {
  withr::local_seed(4)
  cohort <- simulate_cohort(n = 400, dim = c(10, 12), effect = 0, noise = 1)
  grey <- rowMeans(cohort$x)
  effects <- coef(summary(lm(grey / mean(grey) ~ age + tiv + sex + site, cohort$data)))
  expect_lt(effects["age", "t value"], -5)
  expect_gt(effects["tiv", "t value"], 5)
  expect_lt(abs(effects["sexM", "t value"]), 4)
  # no effect, no difference
  expect_gt(t.test(grey ~ cohort$y)$p.value, 0.001)
  expect_true(all(cohort$truth == 0))
})

test_that("a score falls with severity, and higher grey matter means a higher score", {
  withr::local_seed(5)
  cohort <- simulate_cohort(n = 120, dim = c(12, 12), family = "gaussian")
  expect_type(cohort$y, "double")
  expect_identical(cohort$y, cohort$data$score)
  expect_null(cohort$data$diagnosis)
  expect_gt(cor(cohort$y, rowMeans(cohort$x[, cohort$truth > 0])), 0.5)
})

test_that("the seed determines the cohort, and nothing else is drawn", {
  withr::local_seed(6)
  one <- simulate_cohort(n = 6, dim = c(10, 12))
  two <- simulate_cohort(n = 6, dim = c(10, 12))
  withr::local_seed(6)
  again <- simulate_cohort(n = 6, dim = c(10, 12))
  expect_identical(again, one)
  expect_false(identical(two$x, one$x))
  # The generator stands where the same calls would leave it with files too.
  after <- .Random.seed
  withr::local_seed(6)
  files <- simulate_cohort(n = 6, dim = c(10, 12), dir = withr::local_tempdir())
  expect_identical(.Random.seed, after)
  expect_identical(files$x, one$x)
  expect_identical(dim(one$mask), c(10L, 12L))
})

test_that("files contain the cohort", {
  withr::local_seed(7)
  dir <- file.path(withr::local_tempdir(), "new", "folder")
  cohort <- simulate_cohort(n = 4, voxel_size = 12, dir = dir, space = "phantom")
  expect_true(all(file.exists(cohort$files)))
  expect_setequal(basename(cohort$files), list.files(dir))
  first <- RNifti::readNifti(cohort$data$file[1])
  expect_equal(as.array(first)[cohort$mask], cohort$x[1, ], tolerance = 1e-6)
  expect_equal(RNifti::xform(first), cohort$images$space$affine, ignore_attr = TRUE)
  header <- RNifti::niftiHeader(cohort$data$file[1])
  expect_identical(header$sform_code, 2L)
  expect_identical(header$datatype, 16L)
  expect_identical(as.array(RNifti::readNifti(cohort$files[["mask"]])) != 0, cohort$mask,
                   ignore_attr = TRUE)
  expect_equal(as.array(RNifti::readNifti(cohort$files[["atlas"]])), cohort$atlas,
               ignore_attr = TRUE)
  expect_equal(as.array(RNifti::readNifti(cohort$files[["truth"]]))[cohort$mask], cohort$truth,
               tolerance = 1e-6)
  subjects <- read.csv(cohort$files[["subjects"]])
  expect_identical(subjects$file, basename(cohort$data$file))
  expect_identical(subjects$subject, cohort$data$subject)
  expect_identical(read.csv(cohort$files[["labels"]])$name, cohort$labels$name)
})

test_that("one slice equals that slice of the volume", {
  slice <- phantom_anatomy(phantom_grid(c(18, 23), NULL))
  expect_identical(dim(slice$mask), c(18L, 23L, 1L))
  expect_true(all(1:4 %in% slice$atlas))
  volume <- phantom_anatomy(phantom_grid(c(18, 23, 18), NULL))
  expect_gt(cor(as.vector(slice$template), as.vector(volume$template[, , 6])), 0.9)
})

test_that("print describes a cohort", {
  withr::local_seed(8)
  expect_snapshot(simulate_cohort(n = 6, dim = c(12, 14)))
  expect_snapshot(simulate_cohort(n = c(2, 3), voxel_size = 12, space = "phantom"))
  score <- simulate_cohort(n = 4, dim = c(12, 14), family = "gaussian")
  expect_match(capture.output(print(score))[2], "^Outcome: score from ")
})

test_that("simulate_cohort checks its arguments", {
  expect_snapshot(refusal(simulate_cohort(n = 1)))
  expect_snapshot(refusal(simulate_cohort(n = "15ADMCI")))
  expect_snapshot(refusal(simulate_cohort(n = c(4, 0))))
  expect_snapshot(refusal(simulate_cohort(n = 1:3)))
  expect_snapshot(refusal(simulate_cohort(dim = c(4, 0))))
  expect_snapshot(refusal(simulate_cohort(dim = 12)))
  expect_snapshot(refusal(simulate_cohort(dim = c(12, 12), voxel_size = 8)))
  expect_snapshot(refusal(simulate_cohort(voxel_size = 0.1)))
  expect_snapshot(refusal(simulate_cohort(voxel_size = c(8, 8))))
  expect_snapshot(refusal(simulate_cohort(voxel_size = NULL)))
  expect_snapshot(refusal(simulate_cohort(noise = -1)))
  expect_snapshot(refusal(simulate_cohort(effect = c(1, 2))))
  expect_snapshot(refusal(simulate_cohort(family = "cox")))
  expect_snapshot(refusal(simulate_cohort(dir = 7)))
  withr::local_dir(withr::local_tempdir())
  file.create("taken")
  expect_snapshot(refusal(simulate_cohort(dir = "taken")))
})
