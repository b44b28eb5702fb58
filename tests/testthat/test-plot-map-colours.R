# Which colour a value has, and the bar that says so.

# A map as plot_map() makes it.
a_map <- function(values, name = "value", ...) {
  list(values = values, name = name, threshold = 0, ...)
}

test_that("the bar is from zero for one sign, two-sided for both, 0 to 1 for probabilities", {
  expect_identical(map_limits(a_map(c(0, 1, 3))), c(0, 3))
  expect_identical(map_limits(a_map(c(0, -1, -3))), c(-3, 0))
  expect_identical(map_limits(a_map(c(-1, 0, 3))), c(-3, 3))
  expect_identical(map_limits(a_map(c(0, 0.2), "probability")), c(0, 1))
  expect_identical(map_limits(a_map(c(0, 0))), c(0, 1))
  bar <- picture_scale(a_map(c(0, 1, 3)), label = "atrophy")$bar
  expect_identical(range(bar$ticks), c(0, 3))
  expect_identical(bar$title, "atrophy")
  expect_null(picture_scale(a_map(c(0, 0)))$bar)
})

test_that("colours are warm above zero, cold below, nothing at zero", {
  both <- picture_scale(a_map(c(-2, 2)))$paint
  colours <- both(c(-2, -1, 0, 1, 2, NA))
  expect_identical(is.na(colours), c(FALSE, FALSE, TRUE, FALSE, FALSE, TRUE))
  expect_identical(colours[c(1, 5)], c(cold_colours[4], warm_colours[4]))
  # Values beyond the limit take the colour at the limit.
  expect_identical(both(c(-9, 9)), colours[c(1, 5)])
  expect_identical(picture_scale(a_map(c(0, 2)))$paint(c(2, 1e-9)), warm_colours[c(4, 1)])
  expect_identical(picture_scale(a_map(c(0, -2)))$paint(c(-2, -1e-9)), cold_colours[c(4, 1)])
  bar <- picture_scale(a_map(c(-2, 2)))$bar
  expect_equal(bar$ticks, -rev(bar$ticks))
  expect_identical(bar$labels[1], "-2")
})

test_that("zlim, palette and threshold are obeyed", {
  map <- a_map(c(-1, 0, 3))
  scale <- picture_scale(map, zlim = c(0, 2))
  expect_identical(scale$paint(c(-1, 3)), c(NA, warm_colours[4]))
  expect_identical(scale$bar$limits, c(0, 2))
  mine <- picture_scale(map, palette = c("#000000", "#FFFFFF"))$paint
  expect_identical(mine(c(-3, 3)), c("#000000", "#FFFFFF"))
  expect_identical(check_palette("viridis"), grDevices::hcl.colors(100, "viridis"))
  expect_identical(check_palette(grDevices::heat.colors), grDevices::heat.colors(100))
  cut <- over_threshold(a_map(c(-3, -1, 0.5, 2, 3)), 2)
  expect_identical(cut$values, c(-3, 0, 0, 2, 3))
  bar <- picture_scale(cut)$bar
  expect_identical(bar$colours(c(-1, 1)), c("grey85", "grey85"))
  expect_true(all(c(-2, 2) %in% bar$ticks))
  negative <- picture_scale(over_threshold(a_map(c(-3, -1)), 2))$bar
  expect_true(-2 %in% negative$ticks)
  expect_true(all(negative$ticks >= -3 & negative$ticks <= 0))
  expect_identical(over_threshold(c(a_map(c(0.5, 0.7, 0.8)), cutoff = 0.7), NULL)$values,
                   c(0, 0.7, 0.8))
})

test_that("anatomy shows through a large map", {
  expect_identical(map_alpha(NULL, a_map(c(1, rep(0, 9)))), 0.85)
  expect_identical(map_alpha(NULL, a_map(rep(1, 10))), 0.55)
  expect_identical(map_alpha(1, a_map(rep(1, 10))), 1)
  expect_identical(see_through(c("#FF0000", NA), 0.5), c("#FF000080", NA))
})

test_that("label images have one colour and one name per number", {
  local_device()
  map <- a_map(c(0, 3, 3, 17, 17, 17))
  map$codes <- label_codes(map, TRUE)
  expect_identical(map$codes, c(3, 17))
  names <- c(`3` = "Caudate", `17` = "Hippocampus")
  scale <- picture_scale(map, labels = names)
  expect_named(scale$bar$key, unname(names))
  expect_identical(scale$paint(c(3, 17, 0)), c(unname(scale$bar$key), NA))
  # The larger one first; those that are not in the picture are left out.
  shown <- function(values) {
    mesh <- new_surface(list(coords = diag(3), faces = rbind(1:3)), mask = TRUE)
    shown_labels(scale, list(values = values, space = mesh))$bar
  }
  expect_named(shown(c(17, 17, 3))$key, unname(rev(names)))
  expect_named(shown(c(0, 3, 0))$key, "Caudate")
  expect_identical(shown(c(0, 0, 17))$key, scale$bar$key[2])
  expect_null(shown(c(0, 0, 0)))
  expect_named(picture_scale(map, labels = TRUE)$bar$key, c("3", "17"))
  expect_null(label_codes(map, NULL))
  expect_length(unique(label_colours(7)[1:7]), 7)
  expect_length(unique(label_colours(30)[1:30]), 30)
  # The header of a map of regions says that it holds labels.
  images <- stored_images()
  region <- RNifti::asNifti(array(0:1, images$space$dim), reference = images$space$header)
  expect_false(map_of(region)$is_label)
  header <- RNifti::niftiHeader(region)
  header$intent_code <- 1002L
  region <- RNifti::asNifti(array(0:1, images$space$dim), reference = header)
  expect_true(map_of(region)$is_label)
  expect_true(map_of(oro.nifti::nii2oro(region))$is_label)
  texts <- drawn_texts(plot_map(region, labels = "Thalamus"))
  expect_true("Thalamus" %in% texts)
})

# A label image of 1 mm voxels: blocks of 3 x 3 x 3 voxels, numbered from 1.
label_image <- function(blocks) {
  codes <- array(seq_len(prod(blocks)), blocks)
  volume <- codes[rep(seq_len(blocks[1]), each = 3), rep(seq_len(blocks[2]), each = 3),
                  rep(seq_len(blocks[3]), each = 3), drop = FALSE]
  RNifti::asNifti(volume, reference = space_header(dim(volume), diag(4)))
}

test_that("labels that the picture shows have distinct colours, however many the image has", {
  local_device()
  image <- label_image(c(5, 4, 5))
  map <- over_threshold(map_of(image), NULL)
  map$codes <- label_codes(map, TRUE)
  where <- list(cuts = 4)
  stage <- volume_stage(map, "axial", NULL, where)
  scale <- expect_silent(shown_labels(picture_scale(map, labels = TRUE), map, stage))
  expect_setequal(names(scale$bar$key), 21:40)
  expect_length(unique(scale$bar$key), 20)
  expect_identical(scale$paint(21:40), unname(scale$bar$key[as.character(21:40)]))
  # The user's own colours stay.
  own <- grDevices::hcl.colors(100)
  mine <- shown_labels(picture_scale(map, palette = own, labels = TRUE), map, stage)
  expect_identical(mine$paint(21:40), own[21:40])
})

test_that("colours repeat only if there are too few, never between neighbours, and that is said", {
  image <- label_image(c(9, 8, 1))
  map <- over_threshold(map_of(image), NULL)
  map$codes <- label_codes(map, TRUE)
  local_device(4, 3)
  graphics::plot.new()
  expect_message(plot_map(image, labels = TRUE), "shows 72 labels in 34 colours: several labels")
  stage <- volume_stage(map, "axial", NULL, list())
  scale <- suppressMessages(shown_labels(picture_scale(map, labels = TRUE), map, stage))
  colours <- matrix(scale$paint(1:72), 9)
  expect_false(any(colours[-1, ] == colours[-9, ]))
  expect_false(any(colours[, -1] == colours[, -8]))
  # All colours are used about equally often.
  expect_lte(max(table(colours)), 3)
  texts <- suppressMessages(drawn_texts(plot_map(image, labels = TRUE), 4, 3))
  expect_true("colours repeat" %in% texts)
  expect_true(any(grepl("^and [0-9]+ more$", texts)))
  # The lines at the end of the key are wider than its names, and are on the page.
  expect_gt(bar_width(scale$bar, 1),
            graphics::strwidth("colours repeat", units = "inches", cex = 0.85))
  # The same in three dimensions and on a mesh.
  deep <- volume_numbers(map, list(layers = map_layers(map), type = "3d"))
  expect_true(all(c(1, 2) %in% deep$values) && any(deep$pairs[, 1] == 2 & deep$pairs[, 2] == 1))
  egg <- egg_mesh(8, 12)
  mesh <- list(values = seq_len(egg$n), codes = seq_len(egg$n),
               space = feature_space(egg, "like"))
  key <- suppressMessages(shown_labels(label_scale(mesh, NULL, TRUE), mesh))
  ends <- matrix(key$paint(egg$faces), ncol = 3)
  expect_false(any(ends[, 1] == ends[, 2] | ends[, 2] == ends[, 3] | ends[, 1] == ends[, 3]))
})

test_that("labels of another atlas get one warning", {
  local_device()
  image <- label_image(c(3, 2, 1))
  names <- function(codes) stats::setNames(paste("area", codes), codes)
  said <- function(codes) testthat::capture_warnings(plot_map(image, labels = names(codes)))
  warnings <- c(said(2001:2090), said(c(5, 1002)))
  expect_snapshot(cat(warnings, sep = "\n"))
  expect_identical(c(said(1:6), said(0:90), said(4:6)), character(0))
  expect_silent(plot_map(image, labels = TRUE))
})

# ---- colour vision -------------------------------------------------------------------------------

# Machado, Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color
# vision deficiency", severity 1.0: matrices for linear RGB.
vision <- list(
  normal = diag(3),
  protanopia = rbind(c(0.152286, 1.052583, -0.204868), c(0.114503, 0.786281, 0.099216),
                     c(-0.003882, -0.048116, 1.051998)),
  deuteranopia = rbind(c(0.367322, 0.860646, -0.227968), c(0.280085, 0.672501, 0.047413),
                       c(-0.011820, 0.042940, 0.968881)),
  tritanopia = rbind(c(1.255528, -0.076749, -0.178779), c(-0.078411, 0.930809, 0.147602),
                     c(0.004733, 0.691367, 0.303900))
)

# Positions in CIELAB as somebody with that vision sees the colours.
seen_lab <- function(colours, matrix) {
  rgb <- t(grDevices::col2rgb(colours)) / 255
  linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  linear <- pmin(pmax(linear %*% t(matrix), 0), 1)
  rgb <- ifelse(linear <= 0.0031308, 12.92 * linear, 1.055 * linear^(1 / 2.4) - 0.055)
  grDevices::convertColor(rgb, "sRGB", "Lab")
}

distances <- function(colours, matrix) as.matrix(stats::dist(seen_lab(colours, matrix)))

test_that("the colours of signs are distinct for all kinds of colour vision, and from greys", {
  greys <- c("white", themes$white$plain, "#8C8C8C", "#404040")
  for (kind in names(vision)) {
    apart <- distances(c(sign_colours, greys), vision[[kind]])[1:3, ]
    expect_gt(min(apart[apart > 0]), 30, label = kind)
  }
  # The test would have rejected brown, blue and green.
  old <- c("#B5651D", "#2C5FA8", "#2E8B3D")
  expect_lt(min(distances(old, vision$protanopia)[c(2, 3, 6)]), 15)
})

test_that("warm and cold are distinct for all kinds of colour vision, where values are not small", {
  for (kind in names(vision)) {
    apart <- distances(c(warm_colours[2:4], cold_colours[2:4]), vision[[kind]])[1:3, 4:6]
    expect_gt(min(diag(apart)), 25, label = kind)
  }
})
