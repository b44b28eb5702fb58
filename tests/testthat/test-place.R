# Places of features: what each kind must have, that no other file asks for the kind, and that a
# kind that is only registered passes through the whole package.

# ---- the contract --------------------------------------------------------------------------------

# What a kind lacks or has too much, as text; character(0) if it keeps the contract.
place_faults <- function(place) {
  fault <- function(slot) {
    wanted <- place_contract[[slot]]
    value <- place[[slot]]
    if (identical(wanted, "character")) {
      if (!is.character(value)) paste(slot, "is not text")
    } else if (!is.function(value) || !identical(names(formals(value)), wanted)) {
      paste0(slot, " is not a function of (", paste(wanted, collapse = ", "), ")")
    }
  }
  c(unlist(lapply(names(place_contract), fault)),
    sprintf("not in the contract: %s", setdiff(names(place), names(place_contract))))
}

test_that("every kind of place keeps the contract", {
  for (name in names(places())) {
    expect_identical(place_faults(places()[[name]]), character(0), label = name)
    expect_length(places()[[name]]$units, 2)
    expect_true(places()[[name]]$mean_as %in% c("anatomy", "map"))
  }
  bad <- surface_place()
  bad$size <- function(mesh) 1
  bad$called <- NULL
  bad$colour <- "red"
  expect_identical(place_faults(bad), c("called is not text", "size is not a function of (space)",
                                        "not in the contract: colour"))
})

test_that("each kind has as many positions and sizes as features", {
  egg <- egg_mesh(5, 8)
  kept <- egg$coords[, 3] > -20
  for (space in list(stored_map("LPI")$space, new_surface(egg, kept, seq_len(sum(kept))))) {
    place <- place_of(space)
    expect_identical(dim(place$coords(space)), c(place$count(space), 3L))
    expect_length(place$size(space), place$count(space))
    expect_length(space$mean, place$count(space))
  }
})

test_that("only the files of the kinds ask for the class of a space", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  files <- dir(test_path("..", "..", "R"), pattern = "\\.R$", full.names = TRUE)
  expect_gt(length(files), 10)
  look <- function(code) {
    if (is.character(code)) return(intersect(code, names(places())))
    if (is.call(code)) unlist(lapply(as.list(code), look))
  }
  # image-space.R makes the spaces of volumes.
  for (file in files[!grepl("^place|^image-space\\.R$", basename(files))]) {
    lines <- as.list(parse(file, keep.source = FALSE))
    expect_identical(as.character(unlist(lapply(lines, look))), character(0),
                     label = basename(file))
  }
})

# ---- spaces of objects ---------------------------------------------------------------------------

test_that("an unknown place stops with one sentence, wherever it comes from", {
  images <- stored_images()
  x <- images$x + cbind(c(0, 1), 0, matrix(0, 2, ncol(images$x) - 2))
  images$x <- rbind(x, colMeans(x))
  fit <- n2gfl(images, c(1, 2, 4), lambda1 = 0.1, lambda2 = 0.1)
  class(fit$space) <- class(images$space) <- "n2gfl_torus"
  sentence <- paste0("The package has no place of class \"n2gfl_torus\" for features, only ",
                     "\"n2gfl_space\", \"n2gfl_surface\".")
  asks <- list(quote(print(images)), quote(plot(images)), quote(region_table(fit)),
               quote(write_map(fit, "map.nii")), quote(as_nifti(fit)), quote(plot_map(fit)),
               quote(predict(fit, images)), quote(read_images("a.nii", like = fit)))
  said <- vapply(asks, function(code) conditionMessage(tryCatch(eval(code), error = identity)), "")
  expect_identical(unique(said), sentence)
})

test_that("a mesh as graph decides over voxels, but not over a surface", {
  egg <- egg_mesh(3, 4)
  expect_identical(feature_space(egg, "like"), new_surface(egg))
  # Values of vertices can come in NIfTI files: a column of voxels, one for each vertex.
  column <- new_space(array(TRUE, c(egg$n, 1, 1)), diag(4), numeric(egg$n))
  images <- new_images(matrix(0, 2, egg$n), egg, column, c("a", "b"))
  expect_identical(feature_space(images, "like"), new_surface(egg))
  # Then the mm are those of the mesh.
  expect_identical(node_coords(egg, column), egg$coords)
  kept <- seq_len(egg$n) > 3
  part <- new_images(matrix(0, 2, egg$n - 3), part_of_mesh(egg, kept), new_surface(egg, kept, 1),
                     c("a", "b"))
  expect_identical(feature_space(part, "like"), part$space)
})

test_that("the stability of surfaces is measured in mm", {
  withr::local_seed(51)
  egg <- egg_mesh(5, 8)
  x <- matrix(stats::rnorm(30 * egg$n), 30)
  cv <- cv.n2gfl(read_surface(x, egg), rowSums(x[, 1:4]) + stats::rnorm(30), lambda1 = 0.3,
                 lambda2 = 0.05, nfolds = 3)
  panel <- stability(cv, measures = "distance")
  expect_identical(panel$reason, "")
  expect_equal(panel$centre.distance,
               stability(as.matrix(runs_at(cv$fold.fits, 1)), measures = "distance",
                         graph = egg)$centre.distance)
})

# ---- a place that is only registered -------------------------------------------------------------

# Sensors on a head: points, drawn as small triangles from above.
sensor_place <- function() {
  panel <- function(space, values, look) {
    corners <- rbind(c(0, 0, 0), c(5, 0, 0), c(0, 5, 0))
    n <- nrow(space$at)
    points <- space$at[rep(seq_len(n), each = 3), ] + corners[rep(1:3, n), ]
    colour <- look$paint(values)
    colour[is.na(colour)] <- look$theme$plain
    view_panel("top", points, list(function(turn) {
      list(points = points, size = 3, colour = colour, border = colour)
    }))
  }
  list(
    called = "Recordings", units = c("sensors", "cm2"), endings = ".csv", mean_as = "map",
    count = function(space) nrow(space$at),
    coords = function(space) space$at,
    graph_mm = function(space, coords) 10 * coords,
    frame = function(space) "mm from the nose",
    size = function(space) rep(1.5, nrow(space$at)),
    check_new = function(new, object, name) {
      if (!identical(new$at, object$space$at)) stop_bad("`", name, "` must have the same sensors.")
    },
    count_text = function(count) count_of(count, "sensor"),
    shape_text = function(space) paste("Net:", space$net),
    atlas_flaw = function(space) "sensors: they are outside of the head",
    write = function(map, space, file) utils::write.csv(cbind(space$at, map$values), file),
    cuts = function(space) NULL,
    stage = function(map, type, template, where) list(own = TRUE),
    panels = function(map, stage, look) list(panel(map$space, map$values, look)),
    shown_numbers = function(map, stage) list(values = map$values, pairs = matrix(0, 0, 2)),
    fold_drawer = function(space, often, how, look) {
      function(values, look) panel(space, rep_len(values, length(often)), look)
    }
  )
}

local_sensor_images <- function(frame = parent.frame()) {
  real <- places
  local_replaced("places", function() c(real(), list(n2gfl_sensors = sensor_place())), frame)
  graph <- graph_grid(c(4, 3, 2))
  x <- matrix(stats::rnorm(40 * graph$n), 40)
  space <- structure(list(at = 10 * graph$coords, net = "a cap", mean = colMeans(x)),
                     class = "n2gfl_sensors")
  new_images(x, graph, space, sprintf("s%02d", 1:40))
}

test_that("a registered place is printed, fitted, tabulated and written", {
  withr::local_seed(52)
  images <- local_sensor_images()
  expect_identical(place_faults(sensor_place()), character(0))
  expect_output(print(images), "Recordings: 40 subjects, 24 sensors\nNet: a cap\nMask: connected")
  expect_output(print(summary(images)), "24 sensors")
  y <- rowSums(images$x[, 1:3]) + stats::rnorm(40) / 4
  fit <- n2gfl(images, y, lambda1 = 0.2, lambda2 = 0.05)
  table <- region_table(fit)
  expect_identical(table$cm2, 1.5 * table$sensors)
  expect_null(table$voxels)
  expect_output(print(table), "sensors; positions in mm from the nose")
  expect_output(print(table), "region +sensors +cm2")
  file <- withr::local_tempfile(fileext = ".csv")
  write_map(fit, file)
  expect_equal(utils::read.csv(file)[[5]], unname(fit$beta[, 1]))
  other <- images
  other$space$at[1] <- 0
  said <- function(code) conditionMessage(tryCatch(code, error = identity))
  expect_identical(c(
    said(region_table(fit, atlas = "atlas.nii")), said(write_map(fit, "map.nii")),
    said(as_nifti(fit)), said(read_images("a.nii", like = fit)), said(predict(fit, other))
  ), c(
    "`atlas` must be NULL for sensors: they are outside of the head.",
    "`file` must be the name of a file that ends in .csv, not \"map.nii\".",
    "`object` must be made from images, with voxels, not from recordings.",
    "`like` must be made from images, with voxels, not from recordings.",
    "`newx` must have the same sensors."))
  expect_equal(predict(fit, images), predict(fit, images$x))
})

test_that("a registered place is drawn, and its distances are in mm", {
  withr::local_seed(53)
  images <- local_sensor_images()
  y <- rowSums(images$x[, 1:3]) + stats::rnorm(40) / 4
  cv <- cv.n2gfl(images, y, lambda1 = c(0.4, 0.2), lambda2 = 0.05, nfolds = 4)
  local_device()
  expect_length(plot_map(cv), 1)
  expect_length(plot_map(cv$n2gfl.fit, row = 1, main = "Sensors"), 1)
  expect_true("mean" %in% drawn_texts(plot(images)))
  expect_true("Thumb" %in% drawn_texts(plot_map(rep(0:1, 12), like = images, labels = "Thumb")))
  expect_length(plot_folds(cv, folds = 1:2), 1)
  expect_error(plot_map(1:3, like = images), "one value per feature of `like` \\(24\\)")
  panel <- stability(cv, row = 2, measures = "distance")
  voxels <- stability(as.matrix(runs_at(cv$fold.fits, 2)), measures = "distance",
                      graph = images$graph)
  expect_equal(panel$centre.distance, 10 * voxels$centre.distance)
})
