# Reading images: read_images() against RNifti's own reads of the same files, and peak memory.
#
#   Rscript bench/images.R [number of images, 200]
#
# The images are grey-matter-like: 91 x 109 x 91 float32 .nii.gz, a smooth random field inside a
# brain-shaped volume, zero outside. The files go to a temporary folder and are removed.
source("bench/helpers.R")

dim <- c(91, 109, 91)

smooth <- function(x) {
  for (axis in 1:3) {
    order <- c(axis, setdiff(1:3, axis))
    flat <- matrix(aperm(x, order), dim[axis])
    rows <- seq_len(dim[axis])
    before <- pmax(rows - 1, 1)
    after <- pmin(rows + 1, dim[axis])
    for (k in 1:2) flat <- (flat + flat[before, ] + flat[after, ]) / 3
    x <- aperm(array(flat, dim[order]), order(order))
  }
  x
}

write_cohort <- function(folder, count) {
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

methods <- list(
  "RNifti::readNifti()" = function(files, mask) for (file in files) RNifti::readNifti(file),
  "read_images(files, mask)" = function(files, mask) n2gfl::read_images(files, mask = mask),
  "read_images(files)" = function(files, mask) n2gfl::read_images(files),
  "read_images(files, coarsen = 2)" = function(files, mask) n2gfl::read_images(files, coarsen = 2)
)

# Elapsed and processor seconds: on a busy machine only the second is a fair comparison. The median
# of three counts; the memory is what the first call added.
run_method <- function(method, folder, file) {
  files <- list.files(folder, "nii.gz$", full.names = TRUE)
  mask <- readRDS(file.path(folder, "mask.rds"))
  invisible(RNifti::readNifti(files[1]))
  invisible(loadNamespace("n2gfl"))
  before <- reset_peak_memory()
  times <- matrix(0, 3, 2)
  for (k in 1:3) {
    time <- system.time(result <- methods[[method]](files, mask))
    times[k, ] <- c(time[["elapsed"]], time[["user.self"]] + time[["sys.self"]])
    if (k == 1) peak <- peak_memory() - before
    matrix <- if (is.null(result)) 0 else as.numeric(utils::object.size(result$x)) / 2^20
    rm(result)
    gc()
  }
  saveRDS(list(seconds = stats::median(times[, 1]), cpu = stats::median(times[, 2]), peak = peak,
               matrix = matrix), file)
}

# With and without a mask the matrix is the same.
compare <- function(count) {
  folder <- tempfile("images")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  files <- write_cohort(folder, count)
  saveRDS(n2gfl::read_images(files)$space$mask, file.path(folder, "mask.rds"))
  size <- format(mean(file.size(files)) / 2^20, digits = 2)
  print_title(sprintf("Reading %d images of %s voxels, %s MB a file", count,
                      paste(dim, collapse = " x "), size),
              "Memory is the peak beyond the process before the call.")
  print_machine("RNifti")
  print_head("", "seconds", "CPU seconds", "of RNifti's", "peak MB", "matrix MB")
  reference <- NULL
  for (method in names(methods)) {
    run <- run_child("bench/images.R", c(method, folder))
    if (is.null(reference)) reference <- run$cpu
    print_row(method, sprintf("%.2f", c(run$seconds, run$cpu, run$cpu / reference)),
              sprintf("%.0f", c(run$peak, run$matrix)))
  }
}

arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) == 3) {
  run_method(arguments[1], arguments[2], arguments[3])
} else {
  compare(as.integer(c(arguments, if (small) 10 else 200)[1]))
  keep_results("images", c(arguments, "")[1])
}
