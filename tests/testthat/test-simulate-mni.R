# Cohorts on the MNI template: where things are, and how large. Numbers are those that
# ?simulate_cohort states. Large cohorts are made once.

cohen <- function(values, patient) {
  spread <- sqrt((var(values[patient]) * (sum(patient) - 1) +
                  var(values[!patient]) * (sum(!patient) - 1)) / (length(values) - 2))
  (mean(values[!patient]) - mean(values[patient])) / spread
}

# What is left after the covariates, with the difference between the groups kept.
adjusted <- function(values, data, patient) {
  fit <- lm(values ~ age + sex + log(tiv) + site + patient, data)
  residuals(fit) + coef(fit)[["patientTRUE"]] * patient
}

withr::with_seed(20, {
  ad <- simulate_cohort(c(200, 200))
})
withr::with_seed(21, {
  mci <- simulate_cohort("15MCINC")
})
anatomies <- lapply(c(8, 6, 4, 2), mni_anatomy, variant = "local")

region_mm <- function(anatomy, name) {
  mm <- voxel_mm(anatomy$grid$affine, which(anatomy$mask, arr.ind = TRUE))
  mm[which(anatomy$region == name), , drop = FALSE]
}

# The value of a volume at a point in millimetres.
value_at <- function(volume, affine, point) {
  index <- round(solve(affine, c(point, 1))[1:3]) + 1
  volume[rbind(index)]
}

test_that("the default is the MNI template, with the paper's class sizes", {
  expect_identical(c(table(mci$y)), c(MCI = 208L, NC = 90L))
  expect_identical(levels(ad$y), c("patient", "control"))
  expect_identical(mci$images$space$header$sform_code, 4L)
  expect_equal(mci$images$space$affine[cbind(1:3, 1:3)], c(8, 8, 8))
  expect_gt(ncol(mci$x), 2400)
  expect_lt(ncol(mci$x), 3200)
  expect_identical(check_cohort_size("15ADNC", "binomial", "mni")$size, c(64, 90))
  expect_identical(check_cohort_size("30ADNC", "binomial", "mni")$size, c(66, 110))
  expect_identical(dim(mci$x), c(298L, sum(mci$mask)))
  expect_identical(mci$graph, graph_mask(mci$mask))
  expect_identical(mci$images$x, mci$x)
  expect_identical(mci$truth > 0, !is.na(mci$region))
  expect_true(all(mci$loss >= mci$truth))
  expect_identical(mci$regions$region, levels(mci$region))
  expect_identical(mci$regions$voxels, as.vector(table(mci$region)))
  expect_equal(mci$regions$loss, c(0.242, 0.231, 0.2, 0.2, 0.12, 0.12) / 2)
  expect_true(all(sign(mci$regions$x) == c(-1, 1)))
  expect_false(any(mci$artefact))
  expect_identical(mci$atlas > 0, mci$mask)
  expect_named(mci$data, c("subject", "diagnosis", "score", "age", "sex", "tiv", "site"))
  expect_true(all(is.finite(mci$x)) && all(mci$x >= 0))
})

test_that("regions lie at their coordinates, left on the left, at all sizes of voxels", {
  # Centres in the AAL atlas, and how far ours may be from them.
  centres <- list(Hippocampus = c(25, -21, -10, 7), ParaHippocampal = c(21, -16, -21, 10),
                  PosteriorCingulate = c(5, -43, 25, 5))
  for (anatomy in anatomies) {
    for (name in names(centres)) {
      wanted <- centres[[name]]
      left <- colMeans(region_mm(anatomy, paste0(name, "_L")))
      right <- colMeans(region_mm(anatomy, paste0(name, "_R")))
      expect_lt(sqrt(sum((left - c(-1, 1, 1) * wanted[1:3])^2)), wanted[4])
      expect_lt(sqrt(sum((right - wanted[1:3])^2)), wanted[4])
      expect_lte(max(region_mm(anatomy, paste0(name, "_L"))[, 1]), 0)
      expect_gt(min(region_mm(anatomy, paste0(name, "_R"))[, 1]), 0)
    }
  }
  # Grids are parts of each other, with a voxel at the origin of MNI space.
  for (anatomy in anatomies) {
    expect_true(all(anatomy$grid$affine[1:3, 4] %% anatomy$grid$voxel_size == 0))
  }
})

test_that("grey matter is where the template has it", {
  fine <- anatomies[[4]]
  at <- function(...) value_at(fine$template, fine$grid$affine, c(...))
  in_atlas <- function(...) {
    fine$labels$name[value_at(fine$atlas, fine$grid$affine, c(...))]
  }
  for (side in c(-1, 1)) {
    letter <- if (side < 0) "_L" else "_R"
    expect_identical(in_atlas(side * 26, -20, -16), paste0("Hippocampus", letter))
    expect_gt(at(side * 26, -20, -16), 0.6)
    expect_gt(at(side * 40, 4, 2), 0.5)      # insula
    expect_gt(at(side * 8, -82, 4), 0.5)     # calcarine cortex
    expect_gt(at(side * 12, 10, 10), 0.4)    # caudate nucleus
    expect_lt(at(side * 26, -32, 32), 0.1)   # white matter
    expect_identical(in_atlas(side * 40, -66, -36), paste0("Cerebellum", letter))
  }
  expect_lt(at(0, -40, 4), 0.3)              # fluid
  # The brain alone: nothing of eyes, skin and skull. About the volume of the template's brain.
  brain <- mni_brain(mni_layer()$volume)
  expect_gt(sum(brain) * 0.008, 1600)
  expect_lt(sum(brain) * 0.008, 1900)
  # Left and right differ little.
  both <- intersect(fine$grid$affine[1, 4] + 2 * (seq_len(dim(brain)[1]) - 1), -60:60)
  column <- (both - fine$grid$affine[1, 4]) / 2 + 1
  expect_gt(cor(as.vector(fine$template[column, , ]), as.vector(fine$template[rev(column), , ])),
            0.97)
})

test_that("more is lost on the left, also in files and by their own affine", {
  dir <- withr::local_tempdir()
  cohort <- withr::with_seed(1, simulate_cohort(n = 3, dir = dir))
  truth <- RNifti::readNifti(cohort$files[["truth"]])
  affine <- RNifti::xform(truth)
  expect_identical(RNifti::niftiHeader(cohort$files[["truth"]])$sform_code, 4L)
  expect_identical(RNifti::niftiHeader(cohort$data$file[1])$sform_code, 4L)
  expect_identical(RNifti::orientation(truth), "RAS")
  share <- as.array(truth) / anatomies[[1]]$template
  index <- which(as.array(truth) > 0, arr.ind = TRUE)
  x <- (cbind(index - 1, 1) %*% t(affine))[, 1]
  hippocampus <- as.array(RNifti::readNifti(cohort$files[["atlas"]]))[index] %in% 1:2
  lost <- share[index]
  ratio <- sum(lost[hippocampus & x < 0]) / sum(lost[hippocampus & x > 0])
  expect_equal(ratio, 0.242 / 0.231, tolerance = 0.02)
  again <- read_images(cohort$data$file, mask = cohort$files[["mask"]], verbose = FALSE)
  expect_equal(again$x, cohort$x, tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("the loss is the stated share of the tissue, before it is smoothed", {
  fine <- anatomies[[4]]
  # All that is lost of one side, over all that this side has: smoothing keeps sums.
  for (k in 1:2) {
    lost <- sum(fine$share[, k] * as.vector(fine$template))
    tissue <- lost / c(0.242, 0.231)[k] * 0.008
    expect_gt(tissue, 3)                     # ml: a hippocampus has 3 to 5
    expect_lt(tissue, 5)
    expect_lt(max(fine$share[, k]), c(0.242, 0.231)[k])
    expect_gt(max(fine$share[, k]), 0.16)
  }
})

test_that("smaller voxels show the same subjects, and the generator stands at the same place", {
  made <- lapply(c(8, 4, 2), function(size) {
    withr::local_seed(5)
    cohort <- simulate_cohort(n = 2, voxel_size = size)
    list(cohort = cohort, seed = .Random.seed)
  })
  mm <- lapply(made, function(each) {
    apply(space_mm(each$cohort$images$space), 1, paste, collapse = " ")
  })
  for (k in 2:3) {
    expect_identical(made[[k]]$cohort$data, made[[1]]$cohort$data)
    expect_identical(made[[k]]$seed, made[[1]]$seed)
    same <- match(mm[[1]], mm[[k]])
    expect_false(anyNA(same))
    expect_equal(made[[k]]$cohort$x[, same], made[[1]]$cohort$x, tolerance = 1e-12)
  }
})

test_that("the seed determines the cohort, with and without files", {
  withr::local_seed(6)
  one <- simulate_cohort(n = 3, variant = "pet")
  after <- .Random.seed
  two <- simulate_cohort(n = 3, variant = "pet")
  expect_false(identical(two$x, one$x))
  withr::local_seed(6)
  files <- simulate_cohort(n = 3, variant = "pet", dir = withr::local_tempdir())
  expect_identical(.Random.seed, after)
  expect_identical(files$x, one$x)
  expect_length(files$files, 3 + 6)
  expect_equal(read.csv(files$files[["regions"]]), files$regions)
})

# ---- smoothness ----------------------------------------------------------------------------------

test_that("fields on the lattice have variance 1 and the stated width, at all sizes of voxels", {
  for (anatomy in anatomies) {
    for (fwhm in c(8, 25, 40)) {
      sd <- fwhm / (2 * sqrt(2 * log(2)))
      kernels <- lattice_kernels(anatomy$grid, anatomy$box, fwhm)
      for (k in 1:3) {
        at <- anatomy$grid$voxel_size[k] * seq_len(anatomy$grid$dim[k])
        # White noise smoothed with a kernel of this width has this correlation.
        expect_equal(tcrossprod(kernels[[k]]), exp(-outer(at, at, "-")^2 / (4 * sd^2)),
                     tolerance = 0.004)
        expect_equal(rowSums(kernels[[k]]^2), rep(1, length(at)))
      }
    }
  }
})

test_that("residuals have a full width at half maximum of about 10 mm", {
  cohort <- withr::with_seed(7, simulate_cohort(n = 60, voxel_size = 4, variant = "global"))
  patient <- cohort$y == "patient"
  rest <- lm(cohort$x ~ age + sex + log(tiv) + site + patient, cohort$data)$residuals
  rest <- sweep(rest, 2, sqrt(colMeans(rest^2)), "/")
  column <- replace(array(0L, dim(cohort$mask)), cohort$mask, seq_len(ncol(rest)))
  n <- dim(column)
  beside <- list(list(column[-1, , ], column[-n[1], , ]), list(column[, -1, ], column[, -n[2], ]),
                 list(column[, , -1], column[, , -n[3]]))
  widths <- vapply(beside, function(pair) {
    both <- pair[[1]] > 0 & pair[[2]] > 0
    close <- mean(rest[, pair[[1]][both]] * rest[, pair[[2]][both]])
    # The correlation of neighbours that smoothed white noise of this width would have.
    sqrt(-2 * log(2) * 4^2 / log(close))
  }, 1)
  expect_true(all(widths > 8.5 & widths < 11.5))
})

test_that("blur_volume() keeps sums away from the border, and has the stated width", {
  volume <- array(0, c(31, 27, 29))
  volume[16, 14, 15] <- 1
  blurred <- blur_volume(volume, 2, 8)
  expect_equal(sum(blurred), 1, tolerance = 1e-3)
  expect_equal(blurred[18, 14, 15] / blurred[16, 14, 15], 0.5)      # half at half of the width
  expect_equal(blurred[16, 16, 15] / blurred[16, 14, 15], 0.5)
  expect_equal(blurred[16, 14, 17] / blurred[16, 14, 15], 0.5)
  expect_equal(blur_volume(volume * 0 + 3, 2, 8), volume * 0 + 3)
  expect_identical(blur_volume(volume * 0, 2, 8), volume * 0)
})

# ---- sizes of effects ----------------------------------------------------------------------------

test_that("effects have the sizes that the help page states", {
  size <- function(cohort, name, adjust) {
    patient <- as.integer(cohort$y) == 1
    values <- rowMeans(cohort$x[, which(cohort$region == name)])
    cohen(if (adjust) adjusted(values, cohort$data, patient) else values, patient)
  }
  # Means of 8 cohorts of each kind; the standard error of one is 0.12 to 0.13.
  expect_equal(size(ad, "Hippocampus_L", FALSE), 1.4, tolerance = 0.25 / 1.4)
  expect_equal(size(ad, "Hippocampus_L", TRUE), 2, tolerance = 0.3 / 2)
  expect_equal(size(mci, "Hippocampus_L", FALSE), 0.7, tolerance = 0.3 / 0.7)
  expect_equal(size(mci, "Hippocampus_L", TRUE), 0.95, tolerance = 0.3 / 0.95)
  expect_lt(size(ad, "PosteriorCingulate_L", TRUE), size(ad, "Hippocampus_L", TRUE))
  patient <- ad$y == "patient"
  voxels <- apply(ad$x, 2, cohen, patient)
  inside <- mean(voxels[which(ad$region == "Hippocampus_L")]) / size(ad, "Hippocampus_L", FALSE)
  expect_gt(inside, 0.6)
  expect_lt(inside, 0.85)
  # Elsewhere nothing.
  expect_lt(abs(mean(voxels[ad$loss < 0.001])), 0.2)
  # Each voxel varies by about 12 %.
  rest <- lm(ad$x ~ age + sex + log(tiv) + site + patient, ad$data)$residuals
  expect_equal(median(apply(rest, 2, sd) / colMeans(ad$x)), 0.125, tolerance = 0.15)
})

test_that("truth is what patients have lost", {
  difference <- colMeans(ad$x[ad$y == "control", ]) - colMeans(ad$x[ad$y == "patient", ])
  inside <- ad$truth > 0
  expect_equal(sum(difference[inside]) / sum(ad$truth[inside]), 1, tolerance = 0.15)
  expect_equal(max(mci$truth) / max(ad$truth), 0.5)
  none <- withr::with_seed(2, simulate_cohort(n = 2, effect = 0))
  expect_true(all(none$truth == 0) && all(none$loss == 0))
})

test_that("covariates work as stated", {
  log_mean <- log(rowMeans(ad$x))
  data <- cbind(ad$data, y = ad$y)
  effects <- coef(summary(lm(log_mean ~ log(tiv) + age + sex + site + y, data)))
  within <- function(name, wanted) {
    abs(effects[name, "Estimate"] - wanted) < 4 * effects[name, "Std. Error"]
  }
  expect_true(within("log(tiv)", 0.8) && effects["log(tiv)", "Std. Error"] < 0.05)
  expect_true(within("age", -0.004) && effects["age", "Std. Error"] < 0.0006)
  expect_true(within("sexM", -0.01))
  tiv <- tapply(ad$data$tiv, ad$data$sex, mean)
  expect_equal(tiv[["M"]] / tiv[["F"]], 1.6 / 1.42, tolerance = 0.03)
  # The hippocampus loses more with age: about 0.85 % a year.
  hippocampus <- log(rowMeans(ad$x[, grep("Hippocampus", ad$region)]))
  slope <- coef(lm(hippocampus ~ age + log(tiv) + sex + site + y, data))[["age"]]
  expect_gt(-slope, 0.005)
  expect_lt(-slope, 0.010)
})

test_that("sites differ in location and scale as stated", {
  how <- mni_variation$grey
  spread <- sqrt(sum(how$fields[, 2]^2))
  many <- withr::with_seed(3, draw_sites(60, how, anatomies[[1]]))
  expect_equal(sd(many$location), 0.3 * spread, tolerance = 0.1)
  expect_equal(sd(log(many$scale)), 0.12, tolerance = 0.25)
  # The same draws as in the cohort: their marks are found in its images.
  withr::local_seed(20)
  subjects <- simulate_subjects(check_cohort_size(c(200, 200), "binomial", "mni"))
  expect_identical(subjects$table, ad$data)
  sites <- draw_sites(4, how, anatomies[[1]])
  patient <- ad$y == "patient"
  fit <- lm(log(ad$x) ~ 0 + site + age + sex + log(tiv) + patient, ad$data)
  far <- ad$loss < 0.001 & colMeans(ad$x) > 0.3
  shift <- coef(fit)[1:4, far] - rep(colMeans(coef(fit)[1:4, far]), each = 4)
  wanted <- t(sites$location[as.vector(ad$mask), ][far, ] + rep(sites$gain, each = sum(far)))
  wanted <- wanted - rep(colMeans(wanted), each = 4)
  expect_gt(cor(as.vector(shift), as.vector(wanted)), 0.8)
  expect_equal(unname(coef(lm(as.vector(shift) ~ as.vector(wanted)))[2]), 1, tolerance = 0.15)
  scale <- vapply(levels(ad$data$site), function(s) {
    sqrt(mean(residuals(fit)[ad$data$site == s, far]^2))
  }, 1)
  expect_equal(unname(scale / mean(scale)), sites$scale / mean(sites$scale), tolerance = 0.08)
})

# ---- variants ------------------------------------------------------------------------------------

test_that("without noise, images are the template and what is lost", {
  cohort <- withr::with_seed(8, simulate_cohort(n = 4, noise = 0, effect = 0, variant = "global"))
  template <- mni_anatomy(8, "global")$template[cohort$mask]
  expect_equal(cohort$x, matrix(template, 4, length(template), byrow = TRUE))
})

test_that("global atrophy is everywhere", {
  cohort <- withr::with_seed(9, simulate_cohort(n = 200, variant = "global"))
  expect_true(all(cohort$truth > 0))
  expect_equal(cohort$truth, 0.06 * mni_anatomy(8, "global")$template[cohort$mask])
  expect_identical(levels(cohort$region), "GreyMatter")
  patient <- cohort$y == "patient"
  total <- rowMeans(cohort$x)
  size <- cohen(adjusted(total, cohort$data, patient), patient)
  expect_gt(size, 0.7)
  expect_lt(size, 1.6)
})

test_that("PET images are on different scales, with less uptake where AD has less", {
  cohort <- withr::with_seed(10, simulate_cohort(n = 200, variant = "pet"))
  patient <- cohort$y == "patient"
  # Standard deviation of the log gain: 20 % between subjects, 5 % between sites.
  expect_equal(sd(log(rowMeans(cohort$x))), 0.2, tolerance = 0.2)
  scaled <- cohort$x / rowMeans(cohort$x)
  sizes <- vapply(split(seq_along(cohort$region), cohort$region), function(columns) {
    cohen(rowMeans(scaled[, columns]), patient)
  }, 1)
  expect_true(all(sizes > 0.7 & sizes < 2.4))
  expect_gt(sizes[["PosteriorCingulate_L"]], sizes[["MiddleTemporal_L"]])
  # On their own scales the images hide it.
  expect_lt(cohen(rowMeans(cohort$x[, which(cohort$region == "PosteriorCingulate_L")]), patient),
            sizes[["PosteriorCingulate_L"]])
  anatomy <- mni_anatomy(2, "pet")
  at <- function(...) value_at(anatomy$template, anatomy$grid$affine, c(...))
  # Grey matter, white matter, fluid.
  expect_gt(at(-46, -60, 36), 1.3 * at(-26, -32, 32))
  expect_gt(at(-26, -32, 32), 1.5 * at(0, -40, 4))
  # Where the regions are: angular gyrus and precuneus by their centres in AAL.
  expect_lt(sqrt(sum((colMeans(region_mm(anatomy, "Angular_L")) - c(-44, -61, 36))^2)), 5)
  expect_lt(sqrt(sum((colMeans(region_mm(anatomy, "Precuneus_R")) - c(10, -56, 44))^2)), 9)
})

test_that("a linear classifier is about as accurate as published", {
  skip_if_not_installed("e1071")
  # Cuingnet and others (2011): 81 % sensitivity, 95 % specificity for AD; MCI in between.
  accuracy <- function(cohort) {
    fold <- withr::with_seed(1, make_folds(cohort$y, 5))
    centred <- sweep(cohort$x, 2, colMeans(cohort$x))
    right <- vapply(1:5, function(k) {
      train <- fold != k
      fit <- e1071::svm(centred[train, ], cohort$y[train], kernel = "linear", scale = FALSE,
                        cost = 0.1)
      sum(predict(fit, centred[!train, ]) == cohort$y[!train])
    }, 1)
    sum(right) / length(cohort$y)
  }
  some <- c(1:65, 201:310)
  small <- list(x = ad$x[some, ], y = ad$y[some])
  expect_gt(accuracy(small), 0.78)
  expect_lt(accuracy(small), 0.95)
  expect_gt(accuracy(mci), 0.6)
  expect_lt(accuracy(mci), 0.82)
})

# ---- words ---------------------------------------------------------------------------------------

test_that("print describes a cohort in MNI space", {
  withr::local_seed(11)
  expect_snapshot(simulate_cohort(n = 4))
  expect_snapshot(simulate_cohort(n = 4, variant = "pet", family = "gaussian"))
})

test_that("bad input is named", {
  expect_snapshot(refusal(simulate_cohort(space = "talairach")))
  expect_snapshot(refusal(simulate_cohort(variant = "diffuse")))
  expect_snapshot(refusal(simulate_cohort(dim = c(12, 12), space = "mni")))
  expect_snapshot(refusal(simulate_cohort(voxel_size = 7)))
  expect_snapshot(refusal(simulate_cohort(voxel_size = c(8, 8, 4))))
  expect_snapshot(refusal(simulate_cohort(voxel_size = 1)))
  expect_snapshot(refusal(simulate_cohort(voxel_size = 24)))
  expect_snapshot(refusal(simulate_cohort(space = "phantom", variant = "pet")))
  local_replaced("mni_layer", function() NULL)
  kept <- mni_kept$head
  mni_kept$head <- NULL
  withr::defer(mni_kept$head <- kept)
  expect_snapshot(refusal(simulate_cohort()))
})
