# What is drawn below a map.

test_that("anatomy is bright where values are high, from the 2nd to the 98th percentile", {
  values <- c(seq(0, 100, length.out = 1001), 1e6)
  expect_equal(contrast_range(values), c(2, 98), tolerance = 0.01)
  shades <- grDevices::col2rgb(grey_colours(c(-50, 2, 50, 98, 1e6), c(2, 98)))[1, ]
  expect_false(is.unsorted(shades))
  expect_identical(shades[1:2], shades[c(1, 1)])
  expect_lt(shades[2], 30)
  expect_gt(shades[4], 220)
  # Never the colour of the paper.
  expect_true(all(shades > 0 & shades < 255))
  expect_identical(grey_colours(NA, c(0, 1)), NA_character_)
  expect_gt(diff(contrast_range(rep(3, 5))), 0)
})

test_that("paper is around the head, not in it", {
  slice <- matrix(1, 9, 9)
  slice[3:7, 3:7] <- 100
  slice[5, 5] <- 0
  outside <- outside_head(slice, 10)
  expect_false(outside[5, 5])
  expect_identical(sum(!outside), 25L)
  expect_true(outside[1, 5])
  layer <- with_air(list(volume = array(slice, c(9, 9, 3)), mm = list()))
  expect_gt(layer$air, 1)
  expect_lt(layer$air, 50)
})

test_that("noise in the air and the dark rim of the head are not drawn, its edge is faded", {
  slice <- matrix(1, 21, 21)
  slice[4:18, 4:18] <- 40   # skin blurred into air
  slice[5:17, 5:17] <- 100
  slice[9:12, 9:12] <- 40   # dark inside
  slice[1, 20] <- 50        # noise
  expect_identical(sum(!outside_head(slice, 10)), 225L)
  expect_true(outside_head(slice, 10)[1, 20])
  opacity <- head_opacity(slice, air = 10, dark = 60, width = 2)
  expect_true(all(opacity[4, ] == 0) && opacity[1, 20] == 0)
  expect_true(all(opacity[5, 5:17] == 0.5) && all(opacity[6:16, 6:16] == 1))
  # Bright tissue stops the rim; where the image ends there is no air.
  expect_identical(head_opacity(slice[, 9:21], 10, 60, 2)[6:16, 1], rep(1, 11))
  # A second part that is large stays.
  slice[4:18, 10:11] <- 1
  expect_identical(sum(!outside_head(slice, 10)), 195L)
  colours <- c("#000000", NA, "#FFFFFF")
  expect_identical(fade_edge(colours, c(0.5, 0, 1)), c("#00000080", NA, "#FFFFFF"))
  expect_identical(fade_edge("#000000", NULL), "#000000")
})

test_that("the rim of the template is not dark on white paper", {
  layer <- mni_layer()
  skip_if(is.null(layer), "oro.nifti has no template")
  slice <- without_air(cut_layer(layer, plane_axes$axial, 12, 1), layer$air, c(26, 191))
  edge <- slice$values[slice$opacity == 0.5]
  expect_gt(stats::quantile(edge, 0.1), 75)
  # One part, without specks.
  expect_identical(max(connected_components(graph_mask(slice$opacity > 0))), 1L)
})

test_that("letters, captions and cross are readable on black", {
  local_device()
  map <- stored_map()
  images <- stored_images()
  apart <- function(a, b) max(abs(grDevices::col2rgb(a) - grDevices::col2rgb(b)))
  for (theme in themes) {
    expect_gt(apart(theme$paper, theme$text), 200)
    expect_gt(apart(theme$paper, theme$soft), 100)
    expect_gt(apart(theme$paper, theme$note), 75)
  }
  expect_silent(plot_map(map$values, like = images, background = "black"))
})

# ---- the MNI template ----------------------------------------------------------------------------

test_that("the header of the template says where left is, and the letters in it agree", {
  path <- system.file("nifti", "mniRL.nii.gz", package = "oro.nifti")
  skip_if(!nzchar(path), "oro.nifti has no template")
  image <- RNifti::readNifti(path)
  header <- RNifti::niftiHeader(image)
  expect_identical(header$sform_code, 4L)
  # Indices and mm rise together: the first voxel is the leftmost.
  expect_equal(header_affine(header), rbind(c(2, 0, 0, -90), c(0, 2, 0, -126), c(0, 0, 2, -72),
                                            c(0, 0, 0, 1)))
  expect_identical(RNifti::orientation(image), "RAS")
  opened <- read_array(path, "template")
  layer <- as_layer(opened$values, opened$affine)
  expect_equal(layer$volume, as.array(image), ignore_attr = TRUE)
  # An L is painted on the left and an R on the right: the foot of the L is wide and its top is
  # narrow; the R has a bowl and covers more pixels.
  painted <- painted_columns(layer$volume)
  left <- painted[layer$mm$x < 0, ]
  right <- painted[layer$mm$x > 0, ]
  expect_gt(sum(right), 1.3 * sum(left))
  rows <- which(colSums(left) > 0)
  expect_gt(mean(colSums(left)[rows[1:5]]), 2.5 * mean(colSums(left)[rev(rows)[1:5]]))
  expect_gt(mean(colSums(right)[rev(rows)[3:7]]), mean(colSums(right)[rows[3:7]]))
  # The other file of the same head is stored from right to left, and is the same in mm.
  other <- system.file("nifti", "mniLR.nii.gz", package = "oro.nifti")
  skip_if(!nzchar(other), "oro.nifti has one template")
  opened <- read_array(other, "template")
  expect_lt(opened$affine[1, 1], 0)
  expect_equal(as_layer(opened$values, opened$affine), layer)
})

test_that("the letters are taken out of the template, and nothing else is changed", {
  template <- mni_layer()
  skip_if(is.null(template), "oro.nifti has no template")
  opened <- read_array(system.file("nifti", "mniRL.nii.gz", package = "oro.nifti"), "template")
  painted <- painted_columns(opened$values)
  expect_gt(sum(painted), 1000)
  # The strips that the page of plot_map() gives: painted on both sides, so interpolated.
  both <- which(painted & painted[91:1, ], arr.ind = TRUE)
  x <- abs(template$mm$x[both[, 1]])
  y <- template$mm$y[both[, 2]]
  expect_identical(range(x[x < 36]), c(16, 30))
  expect_identical(range(y[x < 36]), c(-56, 14))
  expect_identical(range(x[x > 36]), c(42, 54))
  expect_identical(range(y[x > 36]), c(-60, -44))
  once <- which(painted & !painted[91:1, ], arr.ind = TRUE)
  x <- template$mm$x[once[, 1]]
  y <- template$mm$y[once[, 2]]
  expect_identical(c(range(x[x < 0]), range(y[x < 0])), c(-70, -16, -60, 16))
  expect_identical(c(range(x[x > 0]), range(y[x > 0])), c(4, 54, -58, 14))
  kept <- array(!painted, dim(opened$values))
  expect_identical(template$volume[kept], as.double(opened$values[kept]))
  expect_false(any(painted_columns(template$volume)))
  # Inside the paint there is white matter: the values are those of the other side.
  brain <- template$volume[, , 45]
  expect_lt(max(brain[painted]), 230)
  expect_lt(stats::median(abs(brain[painted] - brain[91:1, ][painted])), 15)
  expect_true(template$air > 10 && template$air < 60)
})

test_that("interpolation fills a hole smoothly", {
  plane <- outer(1:9, 1:8, function(i, j) 2 * i + 3 * j)
  volume <- array(c(plane, -plane), c(9, 8, 2))
  hole <- matrix(FALSE, 9, 8)
  hole[3:6, 4:6] <- TRUE
  expect_equal(interpolate_columns(replace(volume, array(hole, dim(volume)), 99), hole), volume)
  expect_identical(interpolate_columns(volume, hole & FALSE), volume)
  expect_identical(without_letters(volume), volume)
})

test_that("maps in MNI space are drawn on the template, others on their mean", {
  skip_if(is.null(mni_layer()), "oro.nifti has no template")
  local_device()
  map <- stored_map()
  images <- stored_images()
  grid <- function(...) {
    length(plot_map(map$values, ..., type = "axial", cuts = 8)[[1]]$under$across)
  }
  expect_identical(grid(like = images), 6L)
  expect_identical(grid(like = images, space = "mni"), 91L)
  coded <- function(sform, qform) {
    images$space$header$sform_code <- sform
    images$space$header$qform_code <- qform
    images
  }
  expect_identical(grid(like = coded(4L, 0L)), 91L)
  expect_identical(grid(like = coded(0L, 4L)), 91L)
  expect_identical(grid(like = coded(2L, 4L)), 6L)
  expect_identical(grid(like = coded(4L, 0L), space = "native"), 6L)
  expect_identical(grid(like = coded(4L, 0L), template = images), 6L)
  # The images themselves are their own anatomy.
  expect_length(plot_map(coded(4L, 0L))[[1]]$under$across, 6)
  # An image with that code, as both packages have it.
  image <- RNifti::asNifti(array(map$values[1:100], c(5, 5, 4)),
                           reference = coded(4L, 0L)$space$header)
  expect_length(plot_map(image, type = "axial", cuts = 0, zlim = c(0, 1))[[1]]$under$across, 91)
})

test_that("without the template the mean is drawn", {
  local_device()
  map <- stored_map()
  local_replaced("mni_layer", function() NULL)
  panel <- plot_map(map$values, like = stored_images(), space = "mni")[[1]]
  expect_length(panel$under$across, 6)
})

test_that("the simulated head overlaps the template in mm", {
  template <- mni_layer()
  skip_if(is.null(template), "oro.nifti has no template")
  grid <- phantom_grid(NULL, 8)
  mask <- phantom_anatomy(grid)$mask
  mm <- voxel_mm(grid$affine, which(mask, arr.ind = TRUE))
  mm <- round(sweep(mm, 2, c(-90, -126, -72)) / 2)
  head <- template$volume[mm + 1]
  expect_gt(mean(head > template$air), 0.99)
  # Brain, not scalp or skull: most of it is bright.
  expect_gt(mean(head > 100), 0.85)
})

# ---- images of other packages --------------------------------------------------------------------

test_that("images of both packages are in the right place, and flipped ones are refused", {
  local_device()
  map <- stored_map("LAS")
  volume <- replace(array(0, map$space$dim), map$space$mask, map$values)
  image <- RNifti::asNifti(volume, reference = map$space$header)
  at <- function(image) vapply(plot_map(image), `[[`, 0, "at")
  expect_equal(at(image), c(-14, -12, 8))
  expect_equal(at(oro.nifti::nii2oro(image)), c(-14, -12, 8))
  flipped <- oro.nifti::nii2oro(image)
  flipped@reoriented <- TRUE
  expect_error(plot_map(flipped), "must hold images as they are stored")
  expect_error(plot_map(map$values, like = stored_images("LAS"), template = flipped),
               "must hold images as they are stored")
})

test_that("images without orientation have no letters", {
  local_device()
  images <- stored_images()
  expect_identical(plot_map(images)[[1]]$corners, c("L", "R"))
  images$space$header$sform_code <- images$space$header$qform_code <- 0L
  expect_identical(plot_map(images)[[1]]$corners, c("", ""))
  expect_identical(plot_map(images, cuts = c(4, 0, 0))[[2]]$caption, "x = 4 mm")
})

test_that("plot(images) is plot_map() with an outline", {
  local_device()
  images <- stored_images()
  expect_identical(expect_invisible(plot(images)), images)
  at <- NULL
  draw <- function(x, cuts, outline, ...) at <<- list(cuts = cuts, outline = outline, ...)
  local_replaced("plot_map", draw)
  plot(images, at = c(4, 2, 0), background = "black")
  expect_identical(at, list(cuts = c(4, 2, 0), outline = TRUE, background = "black"))
  plot(images)
  expect_equal(at$cuts, colMeans(space_mm(images$space)))
  plot(images, type = "mosaic", outline = FALSE)
  expect_identical(at, list(cuts = NULL, outline = FALSE, type = "mosaic"))
  expect_error(plot(images, at = 1), "`at` must have one value per axis")
})

test_that("the outline goes round the mask", {
  slice <- list(values = matrix(c(0, 1, 1, 1), 2), across = c(0, 2), up = c(0, 2), half = c(1, 1))
  side <- border_sides(slice)
  # Three squares in the shape of an L have eight sides of the length of a voxel.
  expect_identical(nrow(side), 8L)
  expect_equal(abs(side[, 3] - side[, 1]) + abs(side[, 4] - side[, 2]), rep(2, 8))
  # The inner corner is where the missing voxel is, left and below.
  expect_true(any(side[, 1] == 1 & side[, 3] == 1 & pmin(side[, 2], side[, 4]) == -1))
  expect_false(any(side[, 1] == -1 & side[, 3] == -1 & pmin(side[, 2], side[, 4]) == -1))
})

test_that("a template that nobody asked for is announced, one that was is not", {
  skip_if(is.null(mni_layer()), "oro.nifti has no template")
  local_device()
  map <- RNifti::asNifti(array(stats::runif(1000), c(10, 10, 10)))
  RNifti::sform(map) <- structure(diag(c(8, 8, 8, 1)), code = 4L)
  expect_message(plot_map(map), "MNI template of oro.nifti")
  expect_no_message(plot_map(map, space = "mni"))
  expect_no_message(plot_map(map, space = "native"))
})

test_that("one warning tells of a map that lies beside the head", {
  skip_if(is.null(mni_layer()), "oro.nifti has no template")
  local_device()
  map <- function(corner) {
    volume <- array(0, c(10, 10, 10))
    volume[3:8, 3:8, 3:8] <- 1
    image <- RNifti::asNifti(volume)
    affine <- diag(c(4, 4, 4, 1))
    affine[1:3, 4] <- corner
    RNifti::sform(image) <- structure(affine, code = 4L)
    image
  }
  said <- function(...) testthat::capture_warnings(suppressMessages(plot_map(...)))
  template <- map(c(100, 0, 0))
  warnings <- c(said(map(c(100, 0, 0))), said(map(c(68, -20, 0))),
                said(map(c(0, 0, 0)), template = template))
  expect_snapshot(cat(warnings, sep = "\n"))
  for (fine in list(said(map(c(0, -20, 0))), said(map(c(100, 0, 0)), space = "native"),
                    said(map(c(100, 0, 0)), template = template))) {
    expect_identical(fine, character(0))
  }
  # The middle of a hollow head is inside of it.
  shell <- array(1, c(10, 10, 10))
  shell[3:8, 3:8, 3:8] <- 0
  shell <- RNifti::asNifti(shell, reference = map(c(0, 0, 0)))
  expect_identical(said(map(c(0, 0, 0)), template = shell), character(0))
})

test_that("the outline of the mask is drawn over the template that is asked for", {
  skip_if(is.null(mni_layer()), "oro.nifti has no template")
  local_device()
  images <- stored_images()
  shown <- function(...) length(plot_map(images, ...)[[1]]$under$across)
  expect_identical(c(shown(), shown(space = "mni"), shown(space = "native")), c(6L, 91L, 6L))
  # The bar is that of the mean, so it is not drawn.
  expect_true("mean" %in% drawn_texts(plot(images)))
  expect_false("mean" %in% drawn_texts(plot(images, space = "mni")))
  images$space$affine[1, 4] <- 200
  expect_warning(plot(images, space = "mni"), "none of the voxels of the map lie in that head")
})

test_that("the glass around an image without a mask is the template's head, or nothing", {
  skip_without_misc3d()
  skip_if(is.null(mni_layer()), "oro.nifti has no template")
  local_device()
  map <- stored_map()
  volume <- replace(array(0, map$space$dim), map$space$mask, map$values)
  image <- RNifti::asNifti(volume, reference = map$space$header)
  hull <- function(space) glass_hull(map_layers(map_of(image), NULL, space))
  expect_identical(nrow(hull("native")), 0L)
  expect_true(all(abs(apply(hull("mni"), 2, range) - cbind(c(-90, 90), c(-126, 90), c(-72, 100))) <
                    16))
  # Without glass the picture holds the map, from x = -16 to 24 mm.
  top <- plot_map(image, type = "3d", space = "native", views = "top")[[1]]
  expect_lt(top$origin[1], -16)
  expect_gt(top$origin[1] + top$width, 24)
  expect_lt(top$width, 70)
  expect_gt(plot_map(image, type = "3d", space = "mni", views = "top")[[1]]$width, 150)
})
