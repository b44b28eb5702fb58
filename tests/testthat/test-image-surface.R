# Surfaces: a sphere from an octahedron, values on its vertices.

octahedron <- function() {
  coords <- 10 * rbind(diag(3), -diag(3))
  faces <- rbind(c(1, 2, 3), c(1, 3, 5), c(1, 5, 6), c(1, 6, 2), c(4, 3, 2), c(4, 5, 3), c(4, 6, 5),
                 c(4, 2, 6))
  list(coords = coords, faces = faces)
}

# A file with two arrays: the fields of one per array are put together.
write_mesh <- function(mesh, file) {
  image <- gifti_image(mesh$coords, "NIFTI_INTENT_POINTSET")
  faces <- gifti_image(mesh$faces - 1, "NIFTI_INTENT_TRIANGLE", integer = TRUE)
  for (part in c("data", "data_meta", "transformations")) {
    image[[part]] <- c(image[[part]], faces[[part]])
  }
  image$data_info <- rbind(image$data_info, faces$data_info)
  gifti::writegii(image, file)
  file
}

write_values <- function(values, file) {
  gifti::writegii(gifti_image(values, "NIFTI_INTENT_SHAPE"), file)
}

as_floats <- function(values) {
  readBin(writeBin(values, raw(), size = 4), "numeric", length(values), size = 4)
}

test_that("a mesh carries its triangles and positions", {
  mesh <- octahedron()
  graph <- graph_mesh(mesh$faces, coords = mesh$coords)
  expect_identical(graph$n, 6L)
  expect_identical(graph$coords, mesh$coords)
  expect_equal(graph$faces, mesh$faces)
  expect_length(graph$from, 12)
  expect_snapshot(refusal(graph_mesh(mesh$faces, coords = mesh$coords[, 1:2])))
  expect_snapshot(refusal(graph_mesh(mesh$faces, coords = replace(mesh$coords, 4, NA))))
})

test_that("GIFTI meshes and values are read, fitted and mapped", {
  skip_if_not_installed("gifti")
  folder <- withr::local_tempdir()
  mesh <- octahedron()
  surface <- write_mesh(mesh, file.path(folder, "lh.surf.gii"))
  withr::local_seed(1)
  values <- matrix(round(stats::rnorm(12 * 6, 3), 2), 12)
  values[, 4] <- 0  # the medial wall
  files <- file.path(folder, sprintf("sub-%02d.shape.gii", 1:12))
  for (i in 1:12) write_values(values[i, ], files[i])
  graph <- read_surface(mesh = surface)
  expect_equal(graph$coords, mesh$coords)
  expect_equal(graph$faces, mesh$faces)
  images <- read_surface(files, surface, data = data.frame(age = 1:12))
  expect_equal(unname(images$x), values[, -4], tolerance = 1e-7)
  expect_identical(images$dropped, 1L)
  expect_identical(images$subjects[3], "sub-03")
  expect_identical(images$graph$n, 5L)
  expect_identical(images$files, files)
  expect_identical(images[3:2]$files, files[3:2])
  expect_null(read_surface(values, graph)$files)
  expect_snapshot(images)
  y <- values[, 1] + values[, 2] + stats::rnorm(12, sd = 0.1)
  fit <- n2gfl(images, y, lambda1 = 0.05, lambda2 = 0.01)
  expect_true(fit$grid$converged)
  file <- file.path(folder, "map.func.gii")
  write_map(fit, file)
  back <- as.vector(gifti::readgii(file)$data[[1]])
  # exactly the 32-bit floats
  expect_identical(back[-4], as_floats(as.vector(fit$beta)))
  expect_identical(back[4], 0)
  write_map(fit, file, what = "region")
  back <- gifti::readgii(file)
  expect_identical(back$data_info$DataType, "NIFTI_TYPE_INT32")
  expect_equal(as.vector(back$data[[1]])[-4], map_values(fit, "region", NULL, NULL)$values)
  expect_match(back$data_meta[[1]][1, "vals"], "^n2gfl region lambda1=0.05 lambda2=0.01$")
  table <- region_table(fit)
  # Vertices and their area, not voxels: all regions together have that of their triangles.
  expect_null(table$voxels)
  expect_null(table$mm3)
  expect_identical(sum(table$vertices), sum(fit$beta != 0))
  expect_output(print(table), "vertices; positions in mm")
  expect_equal(vertex_area(images$space), rep(4 / 3 * sqrt(3) / 2 * 100, 6))
  expect_equal(sum(table$mm2), sum(fit$beta != 0) * 4 / 3 * sqrt(3) / 2 * 100)
  expect_equal(predict(fit, images), predict(fit, images$x))
  # The same from memory, and with a mask.
  same <- read_surface(values, graph)
  expect_equal(unname(same$x), unname(images$x), tolerance = 1e-7)
  masked <- read_surface(values, graph, mask = c(1, 1, 1, 0, 0, 1))
  expect_identical(ncol(masked$x), 4L)
  expect_identical(masked$dropped, 0L)
})

test_that("maps of surfaces keep every float, and every number of a region", {
  skip_if_not_installed("gifti")
  file <- withr::local_tempfile(fileext = ".func.gii")
  mapped <- function(values, integer) {
    map <- list(values = values, integer = integer, description = "n2gfl test <&>")
    write_surface_map(map, list(mask = rep(TRUE, length(values))), file)
    gifti::readgii(file)
  }
  withr::local_seed(2)
  # 100000 vertices: a size that R likes to write as 1e+05
  values <- c(0, 1 / 3, -1e-30, 123456.789, 1e30, stats::rnorm(99995))
  back <- mapped(values, FALSE)
  expect_identical(as.vector(back$data[[1]]), as_floats(values))
  expect_identical(back$data_meta[[1]][1, "vals"], c(vals = "n2gfl test <&>"))
  numbers <- c(0, 1, 2, 100000, 1234567)
  expect_identical(as.vector(mapped(numbers, TRUE)$data[[1]]), numbers)
})

test_that("surfaces that do not fit are refused", {
  skip_if_not_installed("gifti")
  folder <- withr::local_tempdir()
  folder <- normalizePath(folder)
  at <- function(name) file.path(folder, name)
  say <- function(...) file_refusal(read_surface(...), folder)
  mesh <- octahedron()
  surface <- write_mesh(mesh, at("lh.surf.gii"))
  graph <- graph_mesh(mesh$faces, coords = mesh$coords)
  write_values(1:5, at("five.shape.gii"))
  write_values(c(1:5, NA), at("na.shape.gii"))
  writeLines("text", at("text.gii"))
  expect_snapshot(say(matrix(1, 2, 6)))
  expect_snapshot(say(mesh = at("nowhere.surf.gii")))
  expect_snapshot(say(mesh = at("five.shape.gii")))
  expect_snapshot(say(mesh = at("text.gii")))
  expect_snapshot(say(mesh = graph_mesh(mesh$faces)))
  expect_snapshot(say(mesh = 1))
  expect_snapshot(say(at("five.shape.gii"), surface))
  expect_snapshot(say(at("na.shape.gii"), surface))
  expect_snapshot(say(surface, surface))
  expect_snapshot(say(rep(at("five.shape.gii"), 2), surface))
  expect_snapshot(say(matrix(1, 2, 5), surface))
  expect_snapshot(say(matrix(1, 2, 6), surface))
  expect_snapshot(say(matrix(1:12, 2), surface, mask = rep(0, 6)))
  expect_snapshot(say(matrix(1:12, 2), surface, data = data.frame(a = 1)))
  images <- read_surface(matrix(stats::rnorm(60), 10), graph)
  fit <- n2gfl(images, stats::rnorm(10), lambda1 = 0.01, lambda2 = 0.01, sign = "free")
  expect_snapshot(refusal(write_map(fit, "map.nii.gz")))
  expect_snapshot(refusal(as_nifti(fit)))
})
