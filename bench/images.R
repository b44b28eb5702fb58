# Reading images: read_images() against RNifti's own reads of the same files, and peak memory.
#
#   Rscript bench/images.R [number of images, 200]
#
# The images are grey-matter-like: 91 x 109 x 91 float32 .nii.gz, a smooth random field inside a
# brain-shaped volume, zero outside. The files go to a temporary folder and are removed.

.libPaths(c(file.path("out", "lib"), .libPaths()))
suppressPackageStartupMessages(library(n2gfl))
invisible(loadNamespace("RNifti"))

count <- as.integer(c(commandArgs(trailingOnly = TRUE), 200)[1])
dim <- c(91, 109, 91)
folder <- tempfile("images")
dir.create(folder)

smooth <- function(x) {
  for (axis in 1:3) {
    order <- c(axis, setdiff(1:3, axis))
    flat <- matrix(aperm(x, order), dim[axis])
    rows <- seq_len(dim[axis])
    for (k in 1:2) flat <- (flat + flat[pmax(rows - 1, 1), ] + flat[pmin(rows + 1, dim[axis]), ]) / 3
    x <- aperm(array(flat, dim[order]), order(order))
  }
  x
}

write_cohort <- function() {
  set.seed(1)
  grid <- lapply(dim, function(n) (seq_len(n) - (n + 1) / 2) / (n / 2))
  radius <- sqrt(outer(outer((grid[[1]] / 0.86)^2, (grid[[2]] / 0.88)^2, "+"),
                       (grid[[3]] / 0.84)^2, "+"))
  template <- pmax(0, pmin(1, 2.2 * (1 - radius))) * (0.75 + 0.25 * cos(14 * radius))
  fields <- lapply(1:10, function(k) smooth(array(rnorm(prod(dim)), dim)))
  affine <- rbind(c(-2, 0, 0, 90), c(0, 2, 0, -126), c(0, 0, 2, -72), c(0, 0, 0, 1))
  vapply(seq_len(count), function(i) {
    values <- template * (1 + fields[[1 + i %% 10]] * runif(1, 0.5, 1.5) + rnorm(1, 0, 0.05))
    values[template == 0] <- 0
    image <- RNifti::asNifti(pmax(values, 0))
    RNifti::sform(image) <- structure(affine, code = 4L)
    file <- file.path(folder, sprintf("sub-%03d.nii.gz", i))
    RNifti::writeNifti(image, file, datatype = "float", compression = 1)
    file
  }, "")
}

# Peak of this process since the last reset, in MB (Linux).
reset_peak <- function() {
  invisible(gc(full = TRUE))
  try(suppressWarnings(writeLines("5", "/proc/self/clear_refs")), silent = TRUE)
  resident("VmRSS")
}
resident <- function(field) {
  status <- tryCatch(readLines("/proc/self/status"), error = function(e) character(0))
  line <- grep(paste0("^", field), status, value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA
}

# Seconds by the clock and of the processor: on a busy machine only the second is a fair comparison.
measure <- function(label, code) {
  before <- reset_peak()
  time <- system.time(result <- code())
  peak <- resident("VmHWM") - before
  cpu <- time[["user.self"]] + time[["sys.self"]]
  if (is.null(result)) reference <<- min(reference, cpu)
  cat(sprintf("| %-32s | %6.1f | %6.1f | %5.2f | %5.0f | %4.0f |\n", label, time[["elapsed"]], cpu,
              cpu / reference, peak, if (is.null(result)) 0 else object.size(result$x) / 2^20))
  result
}
reference <- Inf

read_all <- function(files) {
  function() {
    for (file in files) image <- RNifti::readNifti(file)
    NULL
  }
}

cat("Writing", count, "images\n")
files <- write_cohort()
cat(sprintf("%.1f MB a file\n", mean(file.size(files)) / 2^20))
invisible(read_all(files)())  # the disk's cache is warm for all
cat("| | seconds | CPU seconds | of RNifti's | peak MB more | matrix MB |\n|---|---|---|---|---|---|\n")
invisible(measure("RNifti::readNifti() alone", read_all(files)))
invisible(measure("RNifti::readNifti() again", read_all(files)))
mask <- measure("read_images(), no mask", function() read_images(files))$space$mask
invisible(measure("read_images(), mask", function() read_images(files, mask = mask)))
invisible(measure("read_images(), coarsen = 2", function() read_images(files, coarsen = 2)))
unlink(folder, recursive = TRUE)
