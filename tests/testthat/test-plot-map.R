# Which voxel is drawn where. The value 2 sits at x = -12, y = -14, z = 8: left, behind, above.

test_that("storage order does not matter: the same is drawn in the same place", {
  local_device()
  for (type in c("ortho", "mosaic", "sagittal")) {
    pictures <- lapply(c("RAS", "LAS", "LPI", "ASR", "IRP"), function(storage) {
      drawn(plot_map(stored_map(storage)$values, like = stored_images(storage), type = type))
    })
    for (other in pictures[-1]) expect_identical(other, pictures[[1]])
  }
})

test_that("volumes are put into the order of the millimetres", {
  for (storage in c("RAS", "LAS", "IPR")) {
    map <- stored_map(storage)
    layers <- map_layers(map, NULL)
    expect_identical(layers$over$mm, list(x = seq(-20, 20, by = 8), y = seq(-30, 18, by = 8),
                                          z = seq(-16, 16, by = 8)))
    expect_identical(which(layers$over$volume == 2, arr.ind = TRUE)[1, ],
                     c(dim1 = 2L, dim2 = 3L, dim3 = 4L))
    expect_equal(layers$bounds, rbind(low = c(x = -26, y = -36, z = -22), high = c(26, 24, 22)))
  }
})

test_that("left is on the left, and on the right in radiological convention", {
  local_device()
  map <- stored_map("LAS")
  images <- stored_images("LAS")
  for (type in c("axial", "coronal")) {
    at <- if (type == "axial") 8 else -14
    panel <- plot_map(map$values, like = images, type = type, cuts = at)[[1]]
    expect_identical(panel$corners, c("L", "R"))
    expect_equal(panel$over$across[which(panel$over$values == 2, arr.ind = TRUE)[1]], -12)
    turned <- plot_map(map$values, like = images, type = type, cuts = at, radiological = TRUE)[[1]]
    expect_identical(turned$corners, c("R", "L"))
    expect_equal(turned$over$across[which(turned$over$values == 2, arr.ind = TRUE)[1]], 12)
    expect_identical(turned$origin, c(-26, panel$origin[2]))
  }
  # A sagittal cut has no left and right in it, but a side that it is on.
  side <- plot_map(map$values, like = images, type = "sagittal", cuts = -12,
                   radiological = TRUE)[[1]]
  expect_identical(side$corners, c("P", "A"))
  expect_identical(side$caption, "L, x = -12 mm")
  expect_equal(side$over$across[which(side$over$values == 2, arr.ind = TRUE)[1]], -14)
})

test_that("pixels are where their millimetres are", {
  map <- stored_map()
  panel <- cut_panel(map_layers(map, NULL), "axial", 8, plain_look())
  picture <- layer_picture(panel$over, ifelse(panel$over$values == 2, "red", "white"))
  expect_identical(picture$across, c(-24, 24))
  expect_identical(picture$up, c(-34, 22))
  # 6 pixels across, 7 up; row 1 is the front (y = 18)
  expect_identical(dim(picture$raster), c(7L, 6L))
  expect_identical(which(as.matrix(picture$raster) == "red", arr.ind = TRUE),
                   cbind(row = 5L, col = 2L))
})

test_that("cuts go through the largest regions and say where they are", {
  local_device()
  map <- stored_map()
  images <- stored_images()
  ortho <- plot_map(map$values, like = images)
  expect_identical(vapply(ortho, `[[`, "", "plane"), c("coronal", "sagittal", "axial"))
  expect_equal(vapply(ortho, `[[`, 0, "at"), c(-14, -12, 8))
  expect_identical(vapply(ortho, `[[`, "", "caption"),
                   c("y = -14 mm", "L, x = -12 mm", "z = 8 mm"))
  # The two regions first; the rest of the mask only when it is asked for.
  axial <- plot_map(map$values, like = images, type = "axial", ncuts = 3)
  expect_equal(vapply(axial, `[[`, 0, "at"), c(-16, 8))
  expect_length(plot_map(map$values, like = images, type = "axial", ncuts = 1), 1)
  expect_length(plot_map(map$values, like = images, type = "mosaic"), 5)
  expect_equal(plot_map(map$values, like = images, type = "mosaic", ncuts = 2)[[2]]$at, 16)
  mine <- plot_map(map$values, like = images, cuts = c(4, 10, -8))
  expect_equal(vapply(mine, `[[`, 0, "at"), c(10, 4, -8))
  # An empty map is cut through the middle, at voxels.
  empty <- suppressMessages(plot_map(0 * map$values, like = images))
  expect_equal(vapply(empty, `[[`, 0, "at"), c(-6, -4, 0))
})

test_that("the picture and one message tell of an empty map or a cut outside the image", {
  local_device()
  map <- stored_map()
  images <- stored_images()
  said <- testthat::capture_warnings({
    panels <- plot_map(map$values, like = images, type = "axial", cuts = c(8, 99, -70))
  })
  expect_snapshot(cat(said, sep = "\n"))
  expect_null(panels[[2]]$over$values)
  expect_identical(lapply(panels, `[[`, "note"), list(NULL, "outside the image",
                                                      "outside the image"))
  expect_message(plot_map(0 * map$values, like = images), "^An empty map: all values are zero")
  texts <- suppressMessages(drawn_texts(plot_map(0 * map$values, like = images)))
  expect_true("empty map: all values are zero" %in% texts)
  expect_identical(suppressMessages(empty_note(list(name = "coefficient", values = c(0, 0),
                                                    empty = "no feature is selected"))),
                   "empty map: no feature is selected")
  expect_null(empty_note(list(name = "coefficient", values = c(0, 1))))
  expect_silent(plot_map(images))
  cohort <- stored_images()
  fit <- structure(list(beta = Matrix::Matrix(0, ncol(cohort$x), 1, sparse = TRUE),
                        space = cohort$space, graph = cohort$graph,
                        grid = data.frame(lambda1 = 1, lambda2 = 0)), class = "n2gfl")
  expect_message(plot_map(fit), "An empty map: no feature is selected.", fixed = TRUE)
  expect_message(plot_map(fit, threshold = 3), "An empty map: no feature is selected.",
                 fixed = TRUE)
  fit$beta[3, 1] <- -0.9712
  expect_message(plot_map(fit, threshold = 100),
                 "An empty map: no value reaches the threshold 100 (largest 0.971).", fixed = TRUE)
  expect_no_message(plot_map(fit, threshold = 0.9))
})

test_that("a mosaic has no blank slice, and as many as the page has room for", {
  mask <- array(FALSE, c(20, 24, 30))
  for (k in 4:27) {
    wide <- min(9, 1 + (k - 4) %/% 2, 1 + (27 - k) %/% 2)
    mask[10 + -wide:wide, 12 + -wide:wide, k] <- TRUE
  }
  affine <- diag(c(1, 1, 1, 1))
  map <- list(values = seq_len(sum(mask)), space = new_space(mask, affine, rep(1, sum(mask))))
  layers <- map_layers(map)
  for (size in list(c(7, 6), c(3.3, 2.8), c(2, 1))) {
    local_device(size[1], size[2])
    panels <- cut_panels(layers, "mosaic", choose_cuts(layers, "mosaic", NULL), plain_look())
    expect_true(all(vapply(panels, function(panel) any(panel$over$values > 0), NA)))
    expect_gte(length(panels), 4)
    place <- draw_panels(panels)
    # Full rows, of panels that can be read.
    expect_length(unique(table(place$row)), 1)
    if (size[1] > 3) expect_gte(min(place$right - place$left), least_panel)
  }
  # 1 mm slices beside the mask are not part of it.
  expect_equal(range(choose_cuts(layers, "axial", 30L)), c(3, 26))
})

test_that("the cuts of a mosaic are a constant number of slices apart and show the map", {
  for (all in list(c(1, 20), c(3, 22))) for (ncuts in 1:17) {
    fair <- all + c(2, -1)
    slices <- even_slices(ncuts, fair, all, rep(1, 25))
    expect_length(slices, ncuts)
    expect_true(all(slices >= all[1] & slices <= all[2]))
    expect_lte(length(unique(diff(slices))), 1)
    # The widest step that fits: one more would leave the image or be too wide.
    step <- c(diff(slices), 1)[1]
    expect_true(ncuts == 1 || (step + 1) * (ncuts - 1) > diff(fair) - 0.5 * (ncuts - 1))
  }
  # Of 20 slices, 5 cuts can begin at slice 1 to 4.
  at <- function(k) even_slices(5, c(1, 20), c(1, 20), replace(numeric(20), k, 1))
  for (k in 1:20) expect_true(k %in% at(k))
  expect_identical(at(integer(0))[1], 2)
  # 6 mm voxels, as they are drawn.
  local_device(7, 4)
  mask <- array(TRUE, c(10, 12, 13))
  affine <- diag(c(6, 6, 6, 1))
  affine[1:3, 4] <- c(-27, -33, -41)
  values <- replace(numeric(length(mask)), c(770, 771), 1)
  images <- new_images(matrix(0, 2, length(mask)), graph_mask(mask),
                       new_space(mask, affine, rep(1, length(mask))), c("a", "b"))
  for (ncuts in list(3, 5, 6, NULL)) {
    panels <- plot_map(values, like = images, type = "mosaic", ncuts = ncuts)
    at <- vapply(panels, `[[`, 0, "at")
    expect_length(unique(diff(at)), 1)
    expect_true(any(vapply(panels, function(panel) any(panel$over$values != 0), NA)))
    expect_gte(max(at) - min(at), 48)
  }
})

test_that("regions are ranked by weight and met by their cut", {
  layer <- list(volume = array(0, c(5, 5, 5)), mm = list(x = 1:5, y = 1:5, z = 1:5))
  layer$volume[1, 1, 1:4] <- 1
  layer$volume[4, 4, 4] <- -5
  ring <- cbind(c(3, 3, 3, 4, 5, 5, 5, 4), c(1, 2, 3, 3, 3, 2, 1, 1), 1)
  layer$volume[ring] <- 0.25
  centres <- region_voxels(layer)
  expect_equal(centres[1, ], c(4, 4, 4))
  expect_equal(centres[2, 1:2], c(1, 1))
  # The middle of a ring is not in the ring, but the cut goes through it.
  expect_false(layer$volume[rbind(centres[3, ])] == 0)
  expect_identical(dim(region_voxels(list(volume = 0 * layer$volume, mm = layer$mm))), c(0L, 3L))
})

test_that("fits, cross-validations and images are drawn at the right row", {
  local_device()
  withr::local_seed(12)
  cohort <- simulate_cohort(n = 30, dim = c(12, 12))
  cv <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nlambda1 = 5,
                 lambda2 = 0.3 * lambda_max(cohort$x, cohort$y, cohort$graph, family = "binomial"),
                 nfolds = 3)
  fit <- cv$n2gfl.fit
  shown <- function(...) sort(unlist(plot_map(..., like = cohort)[[1]]$over$values))
  at_row <- function(row) sort(c(rep(0, 144 - ncol(cohort$x)), as.numeric(fit$beta[, row])))
  expect_equal(shown(cv), at_row(cv$index[["stable"]]))
  expect_equal(shown(cv, "lambda.min"), at_row(cv$index[["min"]]))
  expect_equal(shown(cv, "lambda.1se"), at_row(cv$index[["1se"]]))
  expect_equal(shown(cv, row = 4), at_row(4))
  expect_equal(shown(fit, row = 5), at_row(5))
  expect_equal(shown(fit, s = unlist(fit$grid[3, c("lambda1", "lambda2")])), at_row(3))
  # A fit that knows its space needs no `like`.
  fit$space <- cohort$images$space
  expect_equal(drawn(plot_map(fit, row = 5)), drawn(plot_map(fit, row = 5, like = cohort)))
  expect_equal(range(plot_map(cohort$images)[[1]]$under$values, na.rm = TRUE),
               range(colMeans(cohort$x)))
})

test_that("images of other packages are drawn as they are", {
  local_device()
  map <- stored_map("LAS")
  volume <- replace(array(0, map$space$dim), map$space$mask, map$values)
  image <- RNifti::asNifti(volume, reference = map$space$header)
  expected <- lapply(plot_map(map$values, like = stored_images("LAS")), function(p) p$over$values)
  expect_identical(lapply(plot_map(image), function(p) p$over$values), expected)
  expect_identical(lapply(plot_map(oro.nifti::nii2oro(image)), function(p) p$over$values), expected)
})

test_that("the path of a file is drawn as the image in it", {
  local_device()
  map <- stored_map("LAS")
  volume <- replace(array(0, map$space$dim), map$space$mask, map$values)
  header <- map$space$header
  image <- RNifti::asNifti(volume, reference = header)
  file <- withr::local_tempfile(fileext = ".nii.gz")
  RNifti::writeNifti(image, file, datatype = "double")
  expect_equal(drawn(plot_map(file)), drawn(plot_map(image)))
  expect_false(map_of(file)$is_label)
  header$intent_code <- 1002L
  RNifti::writeNifti(RNifti::asNifti(array(0:1, dim(volume)), reference = header), file)
  expect_true(map_of(file)$is_label)
  RNifti::writeNifti(array(0, c(2, 2, 2, 2)), file)
  expect_snapshot(refusal(plot_map(file)))
})

test_that("a template has its own grid", {
  local_device()
  map <- stored_map()
  fine <- array(stats::runif(20 * 20 * 20, 0.5, 1), c(20, 20, 20))
  affine <- diag(c(4, 4, 4, 1))
  affine[1:3, 4] <- c(-38, -46, -38)
  template <- RNifti::asNifti(fine, reference = space_header(dim(fine), affine))
  at_8 <- function(template) {
    plot_map(map$values, like = stored_images(), type = "axial", cuts = 8, template = template)[[1]]
  }
  panel <- at_8(template)
  expect_equal(panel$under$across, seq(-38, 38, by = 4))
  # z = 8 lies between the slices at 6 and 10
  expect_equal(panel$under$values, fine[, , 12], tolerance = 1e-6)
  expect_equal(panel$over$across, seq(-20, 20, by = 8))
  file <- withr::local_tempfile(fileext = ".nii.gz")
  RNifti::writeNifti(template, file)
  expect_equal(at_8(file)$under, panel$under, tolerance = 1e-6)
})

test_that("views show the side in their name", {
  for (view in c(view_names, "oblique front")) {
    turn <- view_matrix(view)
    expect_equal(turn %*% t(turn), diag(3), ignore_attr = TRUE)
    expect_equal(det(turn), 1)
  }
  # The side that is named faces the viewer.
  side <- list(left = c(-1, 0, 0), right = c(1, 0, 0), top = c(0, 0, 1), bottom = c(0, 0, -1),
               front = c(0, 1, 0), back = c(0, -1, 0))
  for (view in names(side)) expect_equal(view_matrix(view)[3, ], side[[view]])
  expect_identical(view_corners("top"), c("L", "R"))
  expect_identical(view_corners("back"), c("L", "R"))
  expect_identical(view_corners("front"), c("R", "L"))
  expect_identical(view_corners("bottom"), c("R", "L"))
  expect_identical(view_corners("left"), c("A", "P"))
  expect_identical(view_corners("right"), c("P", "A"))
  expect_identical(view_corners("oblique"), c("L", "R"))
  expect_identical(check_views(NULL, TRUE), c("oblique front", "bottom", "front"))
})

test_that("the faces of voxels enclose them", {
  map <- stored_map()
  layer <- map_layers(map, NULL)$over
  shape <- voxel_faces(layer$volume > 0, layer)
  faces <- shape$points
  # The value 1 is in front of the value 2: five faces each.
  expect_identical(shape$value[order(faces[seq(1, 40, 4), 2])][c(1, 10)], c(2, 1))
  expect_identical(as.vector(table(shape$value)), c(5L, 5L))
  # two voxels side by side have ten faces of four corners
  expect_identical(dim(faces), c(40L, 3L))
  expect_equal(apply(faces, 2, range), cbind(c(-16, -8), c(-18, -2), c(4, 12)))
  centre <- colMeans(unique(faces))
  normal <- polygon_normals(faces, 4)
  expect_equal(rowSums(abs(normal)), rep(1, 10))
})

test_that("a glass brain and a mesh are drawn from each side", {
  skip_without_misc3d()
  local_device()
  map <- stored_map()
  panels <- plot_map(map$values, like = stored_images(), type = "3d")
  expect_identical(vapply(panels, `[[`, "", "view"), c("oblique", "top", "back"))
  # The hull is about as large as the mask's box.
  expect_lt(abs(panels[[2]]$width - 48), 16)
  surface <- plot_map(map$values, like = stored_images(), type = "3d", style = "surface",
                      views = "left")
  expect_identical(surface[[1]]$caption, "from the left")
  mesh <- egg_mesh()
  value <- as.numeric(mesh$coords[, 1] < -40)
  panels <- plot_map(value, like = mesh)
  expect_identical(panels[[1]]$view, "left")
  top <- plot_map(value, like = mesh, views = "top")[[1]]
  expect_equal(top$width, diff(range(mesh$coords[, 1])) + 4)
})

test_that("a glass brain shows magnitude by colour, with a bar", {
  skip_without_misc3d()
  layer <- map_layers(stored_map())$over
  paint <- picture_scale(c(stored_map(), name = "value", threshold = 0))$paint
  for (style in c("voxels", "surface")) {
    part <- signed_surface(1, layer, style)
    expect_identical(sort(unique(part$value)), c(1, 2))
    expect_length(part$value, nrow(part$points) / part$size)
    # The larger value lies behind: y = -14 against y = -6.
    y <- colMeans(matrix(part$points[, 2], part$size))
    expect_lt(mean(y[part$value == 2]), mean(y[part$value == 1]))
    shape <- solid_shape(part, paint, view_matrix("top"))
    expect_gt(length(unique(shape$colour)), 1)
  }
  # What zlim leaves out is not drawn.
  hidden <- picture_scale(c(stored_map(), name = "value", threshold = 0), zlim = c(-1, 0))$paint
  expect_null(solid_shape(part, hidden, view_matrix("top")))
})

test_that("a surface is first seen from the side of its largest region", {
  mesh <- egg_mesh(20, 30)
  at <- function(side) {
    values <- as.numeric(drop(mesh$coords %*% view_matrix(side)[3, ]) >
                           0.85 * max(mesh$coords %*% view_matrix(side)[3, ]))
    map <- list(values = values, space = feature_space(mesh, "like"))
    mesh_views(NULL, FALSE, map)
  }
  for (side in c("left", "right", "top", "bottom", "front", "back")) {
    expect_identical(at(side)[1], side)
    expect_length(unique(at(side)), 4)
  }
  # Empty or everywhere: the usual four.
  whole <- list(values = rep(1, mesh$n), space = feature_space(mesh, "like"))
  expect_identical(mesh_views(NULL, FALSE, whole), c("left", "right", "top", "bottom"))
  expect_identical(mesh_views("front", FALSE, whole), "front")
})

test_that("a region that another part of the surface covers is not counted as seen", {
  egg <- egg_mesh(12, 20)
  # A small egg in front of a large one.
  coords <- rbind(egg$coords, sweep(1.5 * egg$coords, 2, c(0, 240, 0)))
  mesh <- list(coords = coords, faces = rbind(egg$faces, egg$faces + egg$n))
  marked <- c(rep(FALSE, egg$n), egg$coords[, 2] > 60)
  seen <- visible_area(c("front", "top"), mesh, marked)
  expect_lt(seen[["front"]], 0.5 * seen[["top"]])
})

test_that("one scale bar is drawn, and captions do not touch", {
  skip_without_misc3d()
  local_device(3.3, 1.4)
  map <- stored_map()
  panels <- plot_map(map$values, like = stored_images(), type = "3d")
  place <- draw_panels(panels)
  texts <- drawn_texts(plot_map(map$values, like = stored_images(), type = "3d"), 3.3, 1.4)
  expect_identical(sum(grepl("^[0-9]+ mm$", texts)), 9L)  # eight times the rim and the text itself
  captions <- panel_captions(panels, place, 1)
  width <- graphics::strwidth(captions$text, units = "inches", cex = captions$cex)
  expect_true(all(width < place$right - place$left))
  local_device(1.6, 1.2)
  panels <- plot_map(map$values, like = stored_images(), type = "mosaic")
  place <- draw_panels(panels)
  expect_identical(panel_captions(panels, place, 1)$text[1], "z = -16")
})

test_that("captions fit on a device that rounds the size of letters to whole points", {
  local_device(3.3, 2)
  graphics::plot.new()
  for (width in seq(0.3, 0.9, 0.05)) {
    captions <- panel_captions(list(list(caption = "x = -12 mm")), list(left = 0, right = width), 1)
    expect_lte(graphics::strwidth(captions$text, units = "inches", cex = captions$cex), 0.9 * width)
  }
})

test_that("titles say which row is drawn, and fit on a narrow page", {
  withr::local_seed(12)
  cohort <- simulate_cohort(n = 30, dim = c(12, 12))
  cv <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nlambda1 = 5,
                 lambda2 = 0.3 * lambda_max(cohort$x, cohort$y, cohort$graph, family = "binomial"),
                 nfolds = 3)
  local_device(3.3, 2)
  row <- cv$index[["stable"]]
  expect_identical(map_of(cv, like = cohort)$title, choice_title(cv, row))
  expect_identical(map_of(cv$n2gfl.fit, row = 2, like = cohort)$title,
                   choice_title(cv$n2gfl.fit, 2))
  expect_null(map_of(cohort$truth, like = cohort)$title)
  size <- graphics::par("fin")
  title <- wrapped_title(paste(rep("a long title", 8), collapse = " "), size[1], 1)
  expect_gt(length(title), 1)
  width <- vapply(title, graphics::strwidth, 0, units = "inches", font = 2)
  expect_true(all(width <= size[1]))
  expect_null(wrapped_title("", 3, 1))
  texts <- function(...) drawn_texts(plot_map(cv, like = cohort, ...))
  expect_true(any(grepl("Mine", texts(main = "Mine"))))
  expect_true(any(grepl("lambda.stable", texts())))
  expect_false(any(grepl("lambda.", texts(main = ""), fixed = TRUE)))
})

test_that("vertices without a feature are drawn without a value", {
  local_device()
  mesh <- egg_mesh(5, 8)
  kept <- mesh$coords[, 3] > -20
  space <- new_surface(mesh, kept, seq_len(sum(kept)))
  images <- new_images(matrix(0, 2, sum(kept)), NULL, space, c("a", "b"))
  expect_identical(feature_space(images, "like"), space)
  expect_length(plot_map(as.numeric(seq_len(sum(kept)) < 5), like = images), 4)
  expect_length(plot_map(images, views = c("left", "front")), 2)
  expect_error(plot_map(1:3, like = images), "one value per feature")
})

test_that("smooth surfaces go round the voxels", {
  skip_without_misc3d()
  layer <- map_layers(stored_map(), NULL)$over
  points <- signed_surface(1, layer, "surface")$points
  range <- apply(points, 2, range)
  expect_true(all(abs(range - cbind(c(-16, -8), c(-18, -2), c(4, 12))) < 4))
  expect_null(signed_surface(1, list(volume = array(0, c(2, 2, 2)), mm = layer$mm), "surface"))
})

test_that("a picture fills one cell of the page and leaves the session as it was", {
  local_device(8, 6)
  withr::local_seed(13)
  old <- graphics::par(mfrow = c(2, 2), mar = c(4, 3, 2, 1))
  before <- graphics::par(no.readonly = TRUE)
  seed <- .Random.seed
  map <- stored_map()
  plot_map(map$values, like = stored_images(), main = "a")
  expect_identical(graphics::par("mfg")[1:2], c(1L, 1L))
  plot_map(map$values, like = stored_images(), type = "mosaic", legend = FALSE)
  expect_identical(graphics::par("mfg")[1:2], c(1L, 2L))
  plot(1:3)
  expect_identical(graphics::par("mfg")[1:2], c(2L, 1L))
  same <- c("mar", "xpd", "mfrow", "cex")
  expect_identical(graphics::par(same), before[same])
  expect_identical(.Random.seed, seed)
})

test_that("panels never overlap and stay on the page, however small", {
  map <- stored_map()
  for (size in list(c(7, 4), c(2, 6), c(1.2, 1), c(9, 1.5))) {
    local_device(size[1], size[2])
    panels <- plot_map(map$values, like = stored_images(), type = "mosaic", main = "A long title")
    place <- draw_panels(panels)
    expect_true(all(place$left >= 0 & place$right <= size[1]))
    expect_true(all(place$bottom >= 0 & place$top <= size[2]))
    for (a in seq_along(panels)) for (b in seq_len(a - 1)) {
      apart <- place$right[a] <= place$left[b] || place$right[b] <= place$left[a] ||
        place$top[a] <= place$bottom[b] || place$top[b] <= place$bottom[a]
      expect_true(apart)
    }
    # One scale for all, the same both ways.
    scale <- (place$right - place$left) / vapply(panels, `[[`, 0, "width")
    expect_equal(scale, (place$top - place$bottom) / vapply(panels, `[[`, 0, "height"))
    expect_equal(scale, rep(scale[1], length(scale)))
  }
})

test_that("pictures are unchanged", {
  skip_if_not_installed("vdiffr")
  map <- stored_map("LAS")
  images <- stored_images("LAS")
  vdiffr::expect_doppelganger("three cuts", function() {
    plot_map(map$values, like = images, main = "Three cuts")
  })
  vdiffr::expect_doppelganger("axial cuts, radiological", function() {
    plot_map(map$values, like = images, type = "axial", radiological = TRUE, background = "black")
  })
  mesh <- egg_mesh(5, 8)
  vdiffr::expect_doppelganger("a mesh", function() {
    plot_map(as.numeric(mesh$coords[, 1] < -20) - (mesh$coords[, 2] > 50), like = mesh)
  })
  skip_without_misc3d()
  vdiffr::expect_doppelganger("a glass brain", function() {
    plot_map(map$values, like = images, type = "3d", views = "oblique")
  })
})

test_that("plot_map checks its arguments", {
  local_device()
  map <- stored_map()
  images <- stored_images()
  x <- matrix(c(1, 2, 3, 4, 2, 2, 5, 1, 0), 3)
  fit <- n2gfl(x, 1:3, graph_chain(3), lambda1 = c(0.2, 0.1), lambda2 = 0.1)
  image <- RNifti::asNifti(array(1, c(3, 3, 3, 2)))
  expect_snapshot(refusal(plot_map("map.nii")))
  expect_snapshot(refusal(plot_map(map$values)))
  expect_snapshot(refusal(plot_map(1:5, like = images)))
  expect_snapshot(refusal(plot_map(replace(map$values, 3, NA), like = images)))
  expect_snapshot(refusal(plot_map(fit, row = 1)))
  expect_snapshot(refusal(plot_map(fit)))
  expect_snapshot(refusal(plot_map(fit, row = 1, like = images)))
  expect_snapshot(refusal(plot_map(fit, s = "lambda.min")))
  expect_snapshot(refusal(plot_map(image)))
  expect_snapshot(refusal(plot_map(map$values, like = 1:3)))
  expect_snapshot(refusal(plot_map(map$values, like = images, type = "4d")))
  expect_snapshot(refusal(plot_map(map$values, like = images, cuts = 1:2)))
  expect_snapshot(refusal(plot_map(map$values, like = images, type = "axial", cuts = "top")))
  expect_snapshot(refusal(plot_map(map$values, like = images, ncuts = 0)))
  expect_snapshot(refusal(plot_map(map$values, like = images, limit = 2)))
  expect_snapshot(refusal(plot_map(map$values, like = images, tresh = 2)))
  expect_snapshot(refusal(plot_map(map$values, like = images, zlim = 3)))
  expect_snapshot(refusal(plot_map(map$values, like = images, zlim = c(1, 1))))
  expect_snapshot(refusal(plot_map(map$values, like = images, threshold = -1)))
  expect_snapshot(refusal(plot_map(map$values, like = images, alpha = 0)))
  expect_snapshot(refusal(plot_map(map$values, like = images, palette = "reddish")))
  expect_snapshot(refusal(plot_map(map$values, like = images, labels = c("a", "b"))))
  expect_snapshot(refusal(plot_map(map$values, like = images, label = 1)))
  expect_snapshot(refusal(plot_map(map$values, like = images, space = "talairach")))
  expect_snapshot(refusal(plot_map(map$values, like = images, background = "red")))
  expect_snapshot(refusal(plot_map(map$values, like = images, outline = 1)))
  expect_snapshot(refusal(plot_map(map$values, like = images, radiological = NA)))
  expect_snapshot(refusal(plot_map(map$values, like = images, views = "inside", type = "3d")))
  expect_snapshot(refusal(plot_map(map$values, like = images, main = 1:2)))
  expect_snapshot(refusal(plot_map(map$values, like = images, template = "none.nii")))
  expect_snapshot(refusal(plot_map(map$values, like = images, template = 1:3)))
  expect_snapshot(refusal(plot_map(map$values, like = images, template = image)))
})
