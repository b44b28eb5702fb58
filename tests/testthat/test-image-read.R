# Images from files and memory into a matrix, and where their voxels are.

local_folder <- function(env = parent.frame()) {
  normalizePath(withr::local_tempdir(.local_envir = env))
}

write_eggs <- function(folder, n = 4, ending = ".nii.gz", order = "RAS", ...) {
  eggs <- withr::with_seed(7, egg_images(n))
  files <- file.path(folder, paste0("sub-", seq_len(n), ending))
  for (i in seq_len(n)) {
    stored <- store_as(eggs[[i]], order)
    make_nifti(stored, files[i], stored_affine(order, dim(stored)), ...)
  }
  files
}

test_that("every integer type, both floats and both byte orders are read", {
  folder <- local_folder()
  values <- lapply(1:3, function(i) array((seq_len(60) * i) %% 101, c(3, 4, 5)))
  for (type in names(nifti_types)) for (endian in c("little", "big")) {
    files <- file.path(folder, paste0(type, endian, 1:3, c(".nii", ".nii.gz", ".img")))
    for (i in 1:3) make_nifti(values[[i]], files[i], type = type, endian = endian)
    images <- read_images(files, threshold = -Inf)
    expected <- unname(t(vapply(values, as.vector, numeric(60))))
    expect_identical(unname(images$x), expected[, as.vector(images$space$mask)],
                     info = paste(type, endian))
  }
})

test_that("large and negative values survive", {
  folder <- local_folder()
  extremes <- list(uint8 = c(0, 255), int8 = c(-128, 127), int16 = c(-32768, 32767),
                   uint16 = c(0, 65535), int32 = c(-2147483647, 2147483647),
                   uint32 = c(0, 4294967295), float32 = c(-2^100, 2^-100),
                   float64 = c(-pi * 1e200, pi / 1e200), int64 = c(-2^53 + 1, 2^53 - 1),
                   uint64 = c(0, 2^63 + 2^40))
  for (type in names(extremes)) {
    files <- file.path(folder, paste0(type, 1:2, ".nii"))
    make_nifti(array(extremes[[type]], c(2, 1, 1)), files[1], type = type)
    make_nifti(array(rev(extremes[[type]]), c(2, 1, 1)), files[2], type = type)
    x <- read_images(files, mask = array(TRUE, c(2, 1, 1)))$x
    expect_identical(unname(x), rbind(extremes[[type]], rev(extremes[[type]]), deparse.level = 0),
                     info = type)
  }
})

test_that("the second version of NIfTI is read as the first is", {
  folder <- local_folder()
  eggs <- withr::with_seed(5, egg_images(3))
  affine <- stored_affine("LAS", dim(eggs[[1]]))
  at <- function(name, i) file.path(folder, paste0(name, i, c(".nii", ".nii.gz", ".nii")[i]))
  for (type in c("float32", "float64", "int64")) for (endian in c("little", "big")) {
    for (i in 1:3) {
      values <- if (type == "int64") round(100 * eggs[[i]]) else eggs[[i]]
      make_nifti(values, at("one", i), affine, type = type, endian = endian, slope = 0.5)
      make_nifti2(values, at("two", i), affine, type = type, endian = endian, slope = 0.5)
    }
    one <- read_images(at("one", 1:3), threshold = 0.1)
    two <- read_images(at("two", 1:3), threshold = 0.1)
    info <- paste(type, endian)
    expect_identical(unname(two$x), unname(one$x), info = info)
    expect_identical(two$space[c("dim", "mask", "affine")], one$space[c("dim", "mask", "affine")],
                     info = info)
    expect_identical(read_images(at("two", 1:3), mask = one$space$mask)$x, two$x, info = info)
    expect_identical(read_images(at("two", 1:3), threshold = 0.1, coarsen = 2)$space$header$dim,
                     read_images(at("one", 1:3), threshold = 0.1, coarsen = 2)$space$header$dim)
  }
  # Both versions in one call; plain floats; four dimensions; a map in the same place.
  for (i in 1:3) {
    make_nifti(eggs[[i]], at("one", i), affine)
    make_nifti2(eggs[[i]], at("two", i), affine)
  }
  mixed <- read_images(c(at("one", 1), at("two", 2:3)))
  expect_identical(unname(mixed$x), unname(read_images(at("one", 1:3))$x))
  four <- make_nifti2(simplify2array(eggs), file.path(folder, "four.nii.gz"), affine)
  expect_identical(unname(read_images(four)$x), unname(mixed$x))
  expect_equal(header_affine(read_images(four)$space$header), affine)
})

test_that("a damaged file of the second version is refused", {
  folder <- local_folder()
  at <- function(name) file.path(folder, name)
  say <- function(...) file_refusal(read_images(...), folder)
  egg <- withr::with_seed(1, egg_images(1))[[1]]
  whole <- readBin(make_nifti2(egg, at("whole.nii")), "raw", 1e5)
  expect_snapshot(say(write_bytes(whole[1:1000], at("short.nii"))))
  expect_snapshot(say(make_nifti2(array(egg, c(7, 9, 2, 1, 3)), at("five.nii"))))
  expect_snapshot(say(make_nifti2(egg, at("foreign.nii"), magic = "abc")))
  changed <- whole
  changed[12 + 1:2] <- as.raw(c(0, 6))  # 1536, floats of 16 bytes
  expect_snapshot(say(write_bytes(changed, at("quad.nii"))))
})

test_that("there must be as many labels as images", {
  images <- read_images(withr::with_seed(2, egg_images(6)))
  y <- rep(0:1, 3)
  expect_snapshot(refusal(n2gfl(images, y[-1], family = "binomial")))
  expect_snapshot(refusal(cv.n2gfl(images, y[-1], family = "binomial")))
  expect_snapshot(refusal(cv.n2gfl(images, c(y, 1), family = "binomial")))
  expect_snapshot(refusal(cv.n2gfl(images, as.numeric(y[-1]))))
})

test_that("scale factors are applied, per file, with and without a mask", {
  folder <- local_folder()
  values <- array(seq_len(24) %% 7, c(2, 3, 4))
  files <- file.path(folder, paste0("s", 1:3, ".nii.gz"))
  make_nifti(values, files[1], type = "uint8", slope = 0.5, intercept = 2)
  make_nifti(values, files[2], type = "int16", slope = 0, intercept = 9)  # 0: not scaled
  make_nifti(values, files[3], type = "float32", slope = -2, intercept = 1)
  expected <- rbind(as.vector(0.5 * values + 2), as.vector(values), as.vector(-2 * values + 1))
  by_mean <- read_images(files, threshold = -Inf)
  by_mask <- read_images(files, mask = array(1, c(2, 3, 4)))
  expect_identical(unname(by_mean$x), expected[, by_mean$space$mask])
  expect_identical(by_mask$x, by_mean$x)
})

test_that("sform comes first, then qform, then voxel sizes; both are kept", {
  folder <- local_folder()
  dim <- c(3, 4, 5)
  values <- array(stats::rnorm(60), dim)
  s <- stored_affine("LAS", dim, c(3, 2, 4))
  read <- function(...) {
    file <- make_nifti(values, file.path(folder, "one.nii"), s, ...)
    suppressWarnings(read_images(file, mask = array(TRUE, dim)))$space
  }
  for (order in c("RAS", "LAS", "LPI", "PIR", "ASL")) {
    s <- stored_affine(order, dim, c(3, 2, 4))
    expect_equal(read(sform = 2, qform = 0)$affine, s, tolerance = 1e-6, info = order)
    expect_equal(read(sform = 0, qform = 1)$affine, s, tolerance = 1e-6, info = order)
    expect_equal(read(sform = 4, qform = 3)$affine, s, tolerance = 1e-6, info = order)
    expect_identical(storage_order(read()$affine), order)
  }
  both <- read(sform = 4, qform = 3)$header
  expect_identical(c(both$sform_code, both$qform_code), c(4L, 3L))
  none <- read(sform = 0, qform = 0)
  expect_equal(none$affine, diag(c(sqrt(colSums(s[1:3, 1:3]^2)), 1)), tolerance = 1e-6)
  expect_output(print(read_images(file.path(folder, "one.nii"), mask = array(TRUE, dim))),
                "left and right are not known")
})

test_that("results in millimetres do not depend on the order of storage", {
  folder <- local_folder()
  eggs <- withr::with_seed(1, egg_images(5))
  place <- function(order, coarsen) {
    files <- file.path(folder, paste0(order, 1:5, ".nii.gz"))
    for (i in 1:5) {
      stored <- store_as(eggs[[i]], order)
      make_nifti(stored, files[i], stored_affine(order, dim(stored), c(2, 3, 4)))
    }
    images <- read_images(files, threshold = 0.25, coarsen = coarsen)
    mm <- round(space_mm(images$space), 3)
    sorted <- order(mm[, 1], mm[, 2], mm[, 3])
    list(mm = mm[sorted, ], x = unname(images$x[, sorted]), edges = length(images$graph$from))
  }
  for (coarsen in list(NULL, 2, c(2, 4, 3), c(1, 2, 1))) {
    ras <- place("RAS", coarsen)
    for (order in c("LAS", "LPI", "RPS", "PIR", "SAL")) {
      other <- place(order, coarsen)
      expect_equal(other$mm, ras$mm, info = order)
      expect_equal(other$x, ras$x, tolerance = 1e-12, info = order)
      expect_identical(other$edges, ras$edges)
    }
  }
})

test_that("blocks are means, and the affine puts them where their voxels are", {
  folder <- local_folder()
  dim <- c(4, 5, 6)
  affine <- stored_affine("RAS", dim)
  values <- array(stats::runif(120), dim)
  for (k in 1:2) {
    file <- file.path(folder, paste0(k, ".nii"))
    make_nifti(values * k, file, affine, type = "float64", qform = 1)
  }
  images <- read_images(file.path(folder, c("1.nii", "2.nii")), threshold = -Inf,
                        coarsen = c(2, 2, 3))
  expect_identical(images$space$dim, c(2L, 3L, 2L))
  expect_equal(images$x[1, 1], mean(values[1:2, 1:2, 1:3]), ignore_attr = TRUE)
  # The last block along y is cut: the mean of what it holds.
  expect_equal(images$x[1, 12], mean(values[3:4, 5, 4:6]), ignore_attr = TRUE)
  expect_equal(voxel_mm(images$space$affine, c(1, 1, 1)),
               t(colMeans(voxel_mm(affine, as.matrix(expand.grid(1:2, 1:2, 1:3))))))
  expect_equal(header_affine(images$space$header), images$space$affine, tolerance = 1e-6)
  expect_equal(header_qform(images$space$header), images$space$affine, tolerance = 1e-6)
})

test_that("a voxel is inside if its mean exceeds the threshold, however files are read", {
  folder <- local_folder()
  eggs <- withr::with_seed(2, egg_images(30, c(5, 5, 5)))
  # The last images decide: in the first ones the last slice is empty.
  for (i in 1:30) eggs[[i]][, , 5] <- if (i > 20) 5 + i / 100 else 0
  for (type in c("float32", "float64")) {
    files <- file.path(folder, sprintf("%s-%02d.nii.gz", type, 1:30))
    for (i in 1:30) make_nifti(eggs[[i]], files[i], type = type)
    # The last slice also gives the late images another scale.
    expect_warning(images <- read_images(files, threshold = 0.4), "10 of 30 images have")
    stored <- if (type == "float64") eggs else lapply(seq_along(files), function(i) {
      as.array(RNifti::readNifti(files[i]))
    })
    mean <- Reduce(`+`, stored) / 30
    expect_identical(images$space$mask, array(mean > 0.4, c(5, 5, 5)))
    expect_true(all(images$space$mask[, , 5]))
    expect_equal(unname(images$x[17, ]), stored[[17]][images$space$mask])
    expect_equal(images$space$mean, mean[images$space$mask], tolerance = 1e-7)
  }
})

test_that("paths, pairs, four dimensions, arrays and both packages' images give the same result", {
  folder <- local_folder()
  eggs <- withr::with_seed(7, egg_images(4))
  files <- write_eggs(folder)
  expected <- read_images(files)
  pairs <- write_eggs(folder, ending = ".img")
  # Either file of a pair may be given.
  pairs[2] <- sub("img$", "hdr", pairs[2])
  expect_identical(read_images(pairs)$x, expected$x)
  expect_identical(read_images(write_eggs(folder, ending = ".nii"))$x, expected$x)
  whole <- array(unlist(eggs), c(7, 9, 6, 4))
  affine <- stored_affine("RAS", c(7, 9, 6))
  for (ending in c(".nii", ".nii.gz", ".img")) {
    four <- make_nifti(whole, file.path(folder, paste0("four", ending)), affine)
    images <- read_images(four)
    expect_identical(unname(images$x), unname(expected$x), info = ending)
    expect_equal(images$space$affine, affine, tolerance = 1e-6)
    expect_identical(images$subjects[3], "four_3")
  }
  in_memory <- list(
    read_images(whole), read_images(eggs), read_images(RNifti::asNifti(whole)),
    read_images(lapply(files, RNifti::readNifti)),
    read_images(lapply(files, RNifti::readNifti, internal = TRUE)),
    read_images(RNifti::readNifti(four)),
    read_images(lapply(files, oro.nifti::readNIfTI, reorient = FALSE))
  )
  for (images in in_memory) expect_equal(unname(images$x), unname(expected$x), tolerance = 1e-7)
  for (k in c(4, 5, 7)) {
    expect_equal(in_memory[[k]]$space$affine, expected$space$affine, info = k)
    expect_identical(in_memory[[k]]$space$header$sform_code, expected$space$header$sform_code)
  }
})

test_that("the column of paths may have other usual names", {
  folder <- local_folder()
  files <- write_eggs(folder)
  expected <- read_images(data.frame(file = files, age = seq_along(files)))
  for (name in c("path", "filename")) {
    table <- data.frame(age = seq_along(files), files)
    names(table)[2] <- name
    expect_silent(images <- read_images(table[order(-table$age), ]))
    expect_identical(images$data$age, rev(expected$data$age))
    expect_identical(images$x, expected$x[rev(seq_along(files)), ])
    expect_identical(images$files, rev(files))
  }
})

test_that("a map of probabilities as mask is mentioned", {
  eggs <- egg_images(4)
  mask <- array(seq(0, 1, length.out = 378), c(7, 9, 6))
  said <- tryCatch(read_images(eggs, mask = mask), message = conditionMessage)
  expect_snapshot(cat(said))
  expect_message(read_images(eggs, mask = round(100 * mask)), "mask > 50")
  for (plain in list(mask > 0.5, 1 * (mask > 0.5), 255L * (mask > 0.5), -1 * (mask > 0.5))) {
    expect_no_message(read_images(eggs, mask = plain))
  }
})

test_that("masks come as files, images and arrays, and are coarsened with the images", {
  folder <- local_folder()
  files <- write_eggs(folder, order = "LAS")
  inside <- array(FALSE, c(7, 9, 6))
  inside[2:5, 3:6, 3:4] <- TRUE
  affine <- stored_affine("LAS", c(7, 9, 6))
  file <- make_nifti(1 * inside, file.path(folder, "mask.nii.gz"), affine, type = "uint8")
  expected <- read_images(files, mask = inside)
  expect_identical(expected$space$mask, inside)
  for (mask in list(file, RNifti::readNifti(file), oro.nifti::readNIfTI(file, reorient = FALSE),
                    inside * 3L)) {
    expect_identical(read_images(files, mask = mask)$x, expected$x)
  }
  coarse <- read_images(files, mask = file, coarsen = 2)
  again <- read_images(files, mask = coarse$space$mask, coarsen = 2)
  expect_identical(again$x, coarse$x)
  share <- block_means_cpp(1 * inside, coarse_grid(image_source(files), 2)$block, 60)
  expect_identical(as.vector(coarse$space$mask), share >= 0.5)
})

test_that("voxels without variance are dropped and counted", {
  eggs <- withr::with_seed(3, egg_images(3))
  mask <- eggs[[1]] > 0
  for (i in 1:3) eggs[[i]][4, 5, 3] <- 0.7
  images <- read_images(eggs, mask = mask)
  expect_identical(images$dropped, 1L)
  expect_false(images$space$mask[4, 5, 3])
  expect_identical(ncol(images$x), sum(mask) - 1L)
  expect_output(print(images), "Dropped: 1 without variance")
  # A single subject has no variance, and is still read.
  expect_identical(ncol(read_images(eggs[1], mask = mask)$x), sum(mask))
})

test_that("values that are not finite are refused, set to zero or dropped, inside the mask only", {
  folder <- local_folder()
  eggs <- withr::with_seed(4, egg_images(4))
  mask <- eggs[[1]] > 0
  eggs[[2]][1, 1, 1] <- NaN  # outside
  eggs[[3]][4, 5, 3] <- NaN
  eggs[[3]][4, 5, 4] <- -Inf
  files <- file.path(folder, paste0("sub-", 1:4, ".nii.gz"))
  for (i in 1:4) make_nifti(eggs[[i]], files[i])
  expect_snapshot(file_refusal(read_images(files, mask = mask), folder))
  expect_snapshot(file_refusal(read_images(files, threshold = 0.2), folder))
  expect_snapshot(file_refusal(read_images(files, threshold = 0.2, coarsen = 2), folder))
  for (given in list(mask, NULL)) {
    zero <- read_images(files, mask = given, threshold = 0.2, na = "zero")
    at <- which(which(zero$space$mask) == 4 + 7 * 4 + 63 * 2)
    expect_identical(zero$x[["sub-3", at]], 0)
    dropped <- read_images(files, mask = given, threshold = 0.2, na = "drop")
    expect_identical(sum(zero$space$mask) - sum(dropped$space$mask), 2L)
    expect_false(dropped$space$mask[4, 5, 3])
    expect_true(all(is.finite(dropped$x)))
  }
})

test_that("subjects and their table are kept with the images", {
  folder <- local_folder()
  files <- write_eggs(folder)
  table <- data.frame(id = 4:1, file = rev(files), age = c(70, 60, 50, 40))
  images <- read_images(table)
  expect_identical(images$subjects, paste0("sub-", 4:1))
  expect_identical(images$data$age, table$age)
  # Rows are matched to the paths, also by name alone.
  matched <- read_images(files, data = transform(table, file = basename(file)))
  expect_identical(matched$data$age, rev(table$age))
  expect_identical(read_images(stats::setNames(files, letters[1:4]))$subjects, letters[1:4])
  some <- images[c(TRUE, FALSE, FALSE, TRUE)]
  expect_identical(some$subjects, c("sub-4", "sub-1"))
  expect_identical(some$data$age, c(70, 40))
  expect_identical(some$x, images$x[c(1, 4), ])
  expect_identical(images["sub-2", ]$x, images$x[3, , drop = FALSE])
  expect_identical(images[-1]$x, images$x[-1, ])
  expect_identical(dim(images), dim(images$x))
  # One folder a subject, the same name in each.
  dir.create(file.path(folder, "a"))
  dir.create(file.path(folder, "b"))
  same <- file.path(folder, c("a", "b"), "gm.nii.gz")
  file.copy(files[1:2], same)
  expect_identical(read_images(same)$subjects, c("a/gm", "b/gm"))
})

test_that("a table's files are matched by folder if file names alone are ambiguous", {
  folder <- local_folder()
  files <- write_eggs(folder, 3)
  same <- file.path(folder, c("a", "b", "c"), "anat", "gm.nii.gz")
  for (path in dirname(same)) dir.create(path, recursive = TRUE)
  file.copy(files, same)
  table <- data.frame(file = rev(same), age = c(30, 20, 10))
  expect_identical(read_images(same, data = table)$data$age, c(10, 20, 30))
  # The table was made where the images had another folder.
  elsewhere <- transform(table, file = sub(folder, "/data/study", file, fixed = TRUE))
  expect_identical(read_images(same, data = elsewhere)$data$age, c(10, 20, 30))
  more <- rbind(data.frame(file = "/data/study/d/anat/gm.nii.gz", age = 40), elsewhere)
  expect_identical(read_images(same[2:1], data = more)$data$age, c(20, 10))
  say <- function(...) file_refusal(read_images(...), folder)
  expect_snapshot(say(same, data = transform(table, file = basename(file))))
  moved <- transform(table, file = file.path(letters[5:7], "gm.nii.gz"))
  expect_snapshot(say(same[1], data = moved))
  expect_snapshot(say(files, data = data.frame(file = files[c(1, 2, 3, 2)], visit = c(1, 1, 1, 2))))
  expect_snapshot(say(same, data = table[-2, ]))
})

test_that("images remember their files", {
  folder <- local_folder()
  files <- write_eggs(folder)
  images <- read_images(stats::setNames(files, letters[1:4]))
  expect_identical(images$files, files)
  expect_identical(images[c("d", "b")]$files, files[c(4, 2)])
  expect_identical(images[-1]$files, files[-1])
  expect_identical(read_images(data.frame(file = rev(files)))$files, rev(files))
  expect_identical(read_images(files[2:3], like = images)$files, files[2:3])
  withr::local_dir(folder)
  expect_identical(read_images(basename(files))$files, basename(files))
  # One file of all subjects cannot tell one from another.
  four <- array(unlist(withr::with_seed(7, egg_images(4))), c(7, 9, 6, 4))
  expect_null(read_images(make_nifti(four, "four.nii"))$files)
  expect_null(read_images(four)[1:2]$files)
})

test_that("new images are read like old ones", {
  folder <- local_folder()
  files <- write_eggs(folder, n = 6)
  for (coarsen in list(NULL, 2)) {
    images <- read_images(files, threshold = 0.5, coarsen = coarsen)
    again <- read_images(files[5:6], like = images)
    expect_identical(again$x, images$x[5:6, ])
    expect_identical(again$space, images$space)
    fit <- n2gfl(images, 1:6, lambda1 = 0.01, lambda2 = 0.01, sign = "free")
    expect_identical(read_images(files[5:6], like = fit)$x, again$x)
    expect_identical(predict(fit, again), predict(fit, images$x[5:6, ]))
    expect_identical(fit$space, images$space)
  }
  other <- read_images(files, threshold = 0.7)
  expect_snapshot(refusal(predict(fit, other)))
  full <- n2gfl(read_images(files, threshold = 0.5), 1:6, lambda1 = 0.01, lambda2 = 0.01,
                sign = "free")
  expect_snapshot(refusal(predict(full, other)))
  plain <- n2gfl(images$x, 1:6, images$graph, lambda1 = 1, lambda2 = 1, sign = "free")
  expect_snapshot(refusal(predict(plain, images)))
})

test_that("images are printed, summarised and drawn", {
  folder <- local_folder()
  images <- read_images(write_eggs(folder, order = "LAS"), threshold = 0.5)
  expect_snapshot(images)
  expect_snapshot(read_images(write_eggs(folder), threshold = 0.5, coarsen = c(2, 1, 2))[2:3])
  expect_snapshot(summary(images))
  grDevices::pdf(NULL)
  withr::defer(grDevices::dev.off())
  before <- graphics::par("mfrow", "mar", "mgp", "cex")
  expect_invisible(plot(images))
  expect_identical(graphics::par("mfrow", "mar", "mgp", "cex"), before)
})

test_that("a bar is shown when asked for, on the message stream", {
  folder <- local_folder()
  files <- write_eggs(folder, 2)
  expect_silent(read_images(files))
  expect_message(read_images(files, verbose = TRUE), "image 2 of 2")
})

test_that("files that do not fit together are refused", {
  folder <- local_folder()
  files <- write_eggs(folder)
  at <- function(name) file.path(folder, name)
  say <- function(...) file_refusal(read_images(...), folder)
  egg <- withr::with_seed(1, egg_images(1))[[1]]
  affine <- stored_affine("RAS", c(7, 9, 6))
  make_nifti(egg[-1, , ], at("smaller.nii"), affine)
  moved <- affine
  moved[1, 4] <- moved[1, 4] + 0.002
  make_nifti(egg, at("moved.nii"), moved)
  make_nifti(egg, at("flipped.nii"), stored_affine("LAS", c(7, 9, 6)))
  near <- affine
  near[1, 4] <- near[1, 4] + 0.0005
  make_nifti(egg, at("near.nii"), near)
  expect_snapshot(say(c(files, at("smaller.nii"))))
  expect_snapshot(say(c(files, at("moved.nii"))))
  expect_snapshot(say(c(files, at("flipped.nii"))))
  expect_identical(nrow(read_images(c(files, at("near.nii")))$x), 5L)
  expect_snapshot(say(c(files, files[2])))
  expect_snapshot(say(c(at("near.nii"), file.path(folder, ".", "near.nii"))))
  expect_snapshot(say(files, mask = at("smaller.nii")))
  expect_snapshot(say(files, mask = at("flipped.nii")))
  expect_snapshot(say(files, mask = array(TRUE, c(7, 9, 5))))
  expect_snapshot(say(files, mask = array(0, c(7, 9, 6))))
  expect_snapshot(say(files, mask = array(seq_along(egg) == 100, dim(egg)), coarsen = 3))
  expect_snapshot(say(files, threshold = 2))
  expect_snapshot(say(files, data = data.frame(age = 1:3)))
  expect_snapshot(say(files, data = data.frame(file = files[1:3], age = 1:3)))
  expect_snapshot(say(files, data = 1:4))
  expect_snapshot(say(data.frame(image = files)))
  make_nifti(array(1, c(7, 9, 6, 2)), at("two.nii"), affine)
  expect_snapshot(say(c(files, at("two.nii"))))
  expect_snapshot(say(files[c(1, 1, 2)][-1], like = read_images(files, coarsen = 2), coarsen = 2))
  expect_snapshot(say(at("flipped.nii"), like = read_images(files)))
  expect_snapshot(say(files, like = read_images(files), na = "drop"))
  expect_snapshot(say(files, like = list()))
  expect_snapshot(say(rep(list(egg), 3), mask = egg > 0))
})

test_that("damaged files and files of other formats are refused before memory is allocated", {
  folder <- local_folder()
  at <- function(name) file.path(folder, name)
  say <- function(...) file_refusal(read_images(...), folder)
  egg <- withr::with_seed(1, egg_images(1))[[1]]
  whole <- readBin(make_nifti(egg, at("whole.nii"), diag(4)), "raw", 1e5)
  changed <- function(name, at_byte, bytes) {
    new <- whole
    new[at_byte + seq_along(bytes)] <- bytes
    write_bytes(new, at(name))
  }
  short <- function(values) writeBin(as.integer(values), raw(), size = 2)
  float <- function(values) writeBin(values, raw(), size = 4)
  expect_snapshot(say(at("nowhere.nii")))
  dir.create(at("folder"))
  expect_snapshot(say(at("folder")))
  expect_snapshot(say(write_bytes(charToRaw("not an image"), at("text.nii"))))
  expect_snapshot(say(write_bytes(raw(0), at("empty.nii.gz"))))
  expect_snapshot(say(write_bytes(rep(as.raw(7), 1000), at("sevens.nii"))))
  expect_snapshot(say(write_bytes(whole[1:1000], at("short.nii"))))
  expect_snapshot(say(write_bytes(whole[1:1000], at("short.nii.gz"))))
  # A compressed file that breaks off.
  packed <- readBin(write_bytes(whole, at("packed.nii.gz")), "raw", 1e5)
  writeBin(packed[seq_len(length(packed) - 300)], at("cut.nii.gz"))
  expect_error(read_images(at("cut.nii.gz")), "is truncated or damaged")
  expect_snapshot(say(changed("five.nii", 40, short(c(5, 7, 9, 2, 1, 3)))))
  expect_snapshot(say(changed("negative.nii", 40, short(c(3, 7, -9, 6)))))
  expect_snapshot(say(changed("rank.nii", 40, short(c(0, 7, 9, 6)))))
  expect_snapshot(say(changed("huge.nii", 40, short(c(3, 32767, 32767, 32767)))))
  expect_snapshot(say(changed("large.nii", 40, short(c(4, 1000, 1000, 1000, 30000)))))
  expect_snapshot(say(changed("large.nii.gz", 40, short(c(4, 1000, 1000, 1000, 30000)))))
  expect_snapshot(say(changed("complex.nii", 70, short(c(32, 64)))))
  expect_snapshot(say(changed("colour.nii", 70, short(c(128, 24)))))
  expect_snapshot(say(changed("nan.nii", 280, float(c(NaN, 0, 0, 0)))))
  expect_snapshot(say(changed("flat.nii", 280, float(c(0, 0, 0, 0)))))
  expect_snapshot(say(changed("analyze.nii", 344, raw(4))))
  file.copy(make_nifti(egg, at("pair.img")), at("single.img"))
  expect_snapshot(say(at("single.img")))
  # Trailing dimensions of size 1 do not count.
  changed("five-ok.nii", 40, short(c(5, 7, 9, 6, 1, 1)))
  expect_identical(dim(read_images(at("five-ok.nii"))), dim(read_images(at("whole.nii"))))
})

test_that("other inputs are refused in a sentence", {
  eggs <- withr::with_seed(1, egg_images(3))
  say <- function(...) refusal(read_images(...))
  expect_snapshot(say(character(0)))
  expect_snapshot(say(c("a.nii", NA)))
  expect_snapshot(say(list()))
  expect_snapshot(say(c(eggs, "a")))
  expect_snapshot(say(list(eggs[[1]], array(1, c(7, 9, 6, 2)))))
  expect_snapshot(say(3))
  expect_snapshot(say(array(1, rep(2, 5))))
  expect_snapshot(say(eggs, mask = 1:3))
  expect_snapshot(say(eggs, mask = "nowhere.nii"))
  expect_snapshot(say(eggs, mask = array(TRUE, c(7, 9, 6, 2))))
  expect_snapshot(say(eggs, threshold = "a"))
  expect_snapshot(say(eggs, coarsen = c(2, 2)))
  expect_snapshot(say(eggs, coarsen = 0.5))
  expect_snapshot(say(eggs, neighbours = 8))
  expect_snapshot(say(eggs, na = "ignore"))
  expect_snapshot(say(eggs, verbose = NA))
  expect_snapshot(say(eggs, treshold = 0.1))
  reoriented <- oro.nifti::nifti(eggs[[1]])
  reoriented@reoriented <- TRUE
  expect_snapshot(say(list(reoriented)))
  images <- read_images(eggs)
  expect_snapshot(refusal(images[7]))
  expect_snapshot(refusal(images["nobody"]))
  expect_snapshot(refusal(images[, 1:3]))
})
