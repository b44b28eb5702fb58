# One small volume in several storage orders: the same brain, the same millimetres.

# Space and values of a 6 x 7 x 5 grid with 8 mm voxels, stored as `storage` says: the direction of
# each array axis, R or L, A or P, S or I, in any order.
stored_map <- function(storage = "RAS") {
  mm <- list(R = seq(-20, 20, by = 8), A = seq(-30, 18, by = 8), S = seq(-16, 16, by = 8))
  volume <- array(0, lengths(mm))
  volume[2, 3, 4] <- 2
  volume[2, 4, 4] <- 1
  volume[6, 7, 1] <- -0.5
  mask <- array(TRUE, dim(volume))
  mask[1, 1, ] <- FALSE
  mean <- array(seq_along(volume) / length(volume), dim(volume))
  letters <- strsplit(storage, "")[[1]]
  axis <- match(letters, c("R", "A", "S"))
  flipped <- is.na(axis)
  axis[flipped] <- match(letters[flipped], c("L", "P", "I"))
  affine <- matrix(0, 4, 4)
  affine[4, 4] <- 1
  for (k in 1:3) {
    at <- mm[[axis[k]]]
    affine[axis[k], k] <- if (flipped[k]) -8 else 8
    affine[axis[k], 4] <- if (flipped[k]) max(at) else min(at)
  }
  stored <- function(array) {
    array <- aperm(array, axis)
    index <- Map(function(n, flip) if (flip) n:1 else 1:n, dim(array), flipped)
    array[index[[1]], index[[2]], index[[3]]]
  }
  mask <- stored(mask)
  space <- new_space(mask, affine, stored(mean)[mask])
  list(space = space, values = stored(volume)[mask])
}

# How cuts are drawn, for functions that make panels.
plain_look <- function(...) {
  utils::modifyList(list(paint = function(values) rep(NA, length(values)), alpha = 1,
                         radiological = FALSE, outline = FALSE, style = "voxels",
                         theme = themes$white), list(...))
}

# What a panel shows, without the functions that draw it.
drawn <- function(panels) lapply(panels, function(panel) panel[names(panel) != "draw"])

stored_images <- function(storage = "RAS") {
  map <- stored_map(storage)
  x <- rbind(map$space$mean, map$space$mean)
  new_images(x, graph_mask(map$space$mask), map$space, c("a", "b"))
}

# A closed mesh shaped like a head: rings of vertices with a pole at each end.
egg_mesh <- function(rings = 8, sectors = 12) {
  height <- seq(0, pi, length.out = rings + 2)[-c(1, rings + 2)]
  turn <- 2 * pi * seq_len(sectors) / sectors
  ring <- expand.grid(turn = turn, height = height)
  coords <- with(ring, cbind(60 * cos(turn) * sin(height), 80 * sin(turn) * sin(height),
                             50 * cos(height)))
  coords <- rbind(coords, c(0, 0, 50), c(0, 0, -50))
  id <- function(i, j) (i - 1) %% sectors + 1 + (j - 1) * sectors
  side <- expand.grid(i = seq_len(sectors), j = seq_len(rings - 1))
  faces <- with(side, rbind(cbind(id(i, j), id(i + 1, j), id(i, j + 1)),
                            cbind(id(i + 1, j), id(i + 1, j + 1), id(i, j + 1))))
  i <- seq_len(sectors)
  faces <- rbind(faces, cbind(nrow(coords) - 1, id(i, 1), id(i + 1, 1)),
                 cbind(nrow(coords), id(i + 1, rings), id(i, rings)))
  graph_mesh(faces, coords = coords)
}

# The texts that a picture writes, as its PDF has them.
drawn_texts <- function(code, width = 7, height = 4) {
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file, width, height, compress = FALSE)
  device <- grDevices::dev.cur()
  tryCatch(force(code), finally = grDevices::dev.off(device))
  lines <- readLines(file, warn = FALSE)
  lines <- grep("T[jJ]$", lines, value = TRUE, useBytes = TRUE)
  # Kerning splits a text into pieces: "(fo) 30 (ld) TJ".
  lines <- sub("^.*? Tm ", "", lines, useBytes = TRUE)
  pieces <- regmatches(lines, gregexpr("\\([^()]*\\)", lines, useBytes = TRUE))
  vapply(pieces, function(piece) paste(gsub("[()]", "", piece), collapse = ""), "")
}

# A device that leaves nothing behind.
local_device <- function(width = 7, height = 4, env = parent.frame()) {
  grDevices::pdf(NULL, width, height)
  device <- grDevices::dev.cur()
  withr::defer(grDevices::dev.off(device), envir = env)
}

# misc3d loads the toolkit Tk, which complains when there is no screen.
skip_without_misc3d <- function() suppressWarnings(testthat::skip_if_not_installed("misc3d"))
