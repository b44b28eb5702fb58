#' Simulate a cohort of brain images
#'
#' Makes grey-matter images of phantom heads from formulas, without data of real people. Patients
#' have lost grey matter in the hippocampus and the parahippocampal gyrus of both sides. The cohort
#' comes as a matrix with its graph, as an images object, or as NIfTI files on disk.
#'
#' @details
#' The head is made of formulas in millimetres: two hemispheres with a folded ribbon of cortex,
#' white matter, ventricles, deep nuclei and a cerebellum, left and right mirrored. An image of a
#' subject is the template times
#'
#' * a global factor: total intracranial volume (larger in men), age (0.4 % of grey matter a year),
#'   scanner site, unexplained variation (standard deviation 3 %), and a diffuse loss of 2.5 %
#'   with the disease;
#' * one plus smooth noise: a broad field (kernel of 14 mm, standard deviation 6 %) and a fine field
#'   (5 mm, 10 %);
#' * one minus the atrophy. It is the severity of the subject's disease times 26 % in the
#'   hippocampus and 20 % in the parahippocampal gyrus, slightly different on each side, and also
#'   grows with age. Severity is about 1 in patients, about 0 in controls, and varies in both;
#' * one plus 10 % of the severity in a few false regions, where the segmentation is misled by wider
#'   ventricles and sulci: there patients seem to have more grey matter.
#'
#' A little white noise is added. The mask holds the voxels where the template is above 0.2.
#'
#' **Directions.** More grey matter means healthier. For `"binomial"` the outcome is a factor whose
#' later level is the control, the class that [n2gfl()] models, and for `"gaussian"` it is a score
#' that falls with severity; so coefficients of the diseased regions are positive and the default
#' `sign = "nonnegative"` is right. With the levels the other way round it would be wrong.
#'
#' **Presets** have the class sizes of the three tasks of Xin and others (2015), and at 8 mm a mask
#' of about 2,500 voxels, as they had: `"15ADNC"` (64 patients, 90 controls), `"30ADNC"` (66 and
#' 110, a little less noise: the stronger scanner) and `"15MCINC"` (208 and 90; mild cognitive
#' impairment: severity 0.4 on average, and more variable).
#'
#' Random numbers come from the session's generator: call [set.seed()] first to get the same cohort
#' again. The numbers are the same with and without files.
#' @param n Number of subjects (half of them patients), or two numbers (patients, controls), or the
#'   name of a preset.
#' @param dim Size of the images, two or three whole numbers. Two make one axial slice through the
#'   hippocampus: small, and quick to fit. `NULL`: as `voxel_size` says.
#' @param voxel_size Size of the voxels in millimetres, one or three numbers; not with `dim`.
#' @param effect How strong the atrophy is, 1 as described below; 0 makes patients like controls.
#' @param noise How strong the noise and the differences between subjects are, 1 as described below.
#' @param family Kind of outcome: `"binomial"` (a diagnosis) or `"gaussian"` (a score).
#' @param dir Folder to write to, which is created if it does not exist, or `NULL`. It gets one
#'   NIfTI file per subject, `subjects.csv`, `mask.nii.gz`, `truth.nii.gz`, `atlas.nii.gz` and
#'   `labels.csv`.
#' @param ... Must be empty.
#' @return A list of class `n2gfl_cohort`:
#'   \item{x}{Matrix with one row per subject and one column per voxel of the mask.}
#'   \item{y}{The outcome: a factor for `"binomial"`, numbers for `"gaussian"`.}
#'   \item{graph}{The graph of the mask, from [graph_mask()].}
#'   \item{truth}{For each column of `x` the grey matter that a patient of severity 1 has lost:
#'     positive in the diseased regions, 0 elsewhere.}
#'   \item{region}{Which diseased region each column is in, a factor; `NA` for none.}
#'   \item{artefact}{Is the column in a false region?}
#'   \item{mask}{Logical array.}
#'   \item{data}{Data frame of the subjects: `subject`, `diagnosis`, `score`, `age`, `sex`, `tiv` in
#'     litres, `site`, and `file` when files were written.}
#'   \item{images}{The same `x` and `graph` with their positions in space: give it to [n2gfl()] as
#'     `x`, which then needs no `graph`.}
#'   \item{atlas, labels}{Integer array with a number for each structure and side, and the table of
#'     `index` and `name`.}
#'   \item{files}{Named character vector of the files written, or `NULL`.}
#' @seealso [n2gfl()], [plot_map()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 40, dim = c(18, 22))
#' cohort
#' plot_map(cohort$truth, like = cohort$images)
#' table(cohort$y)
#'
#' # The same as files, to be read with read_images()
#' folder <- tempfile()
#' cohort <- simulate_cohort(n = 4, voxel_size = 12, dir = folder)
#' basename(cohort$files)
#' unlink(folder, recursive = TRUE)
#' @export
simulate_cohort <- function(n = 100, dim = NULL, voxel_size = if (is.null(dim)) 8, effect = 1,
                            noise = 1, family = c("binomial", "gaussian"), dir = NULL, ...) {
  check_empty_dots(...)
  family <- match_choice(family, "family", c("binomial", "gaussian"))
  design <- check_cohort_size(n, family)
  dim <- check_phantom_dim(dim, voxel_size)
  voxel_size <- check_voxel_size(voxel_size, dim)
  design$effect <- design$effect * check_nonnegative(effect, "effect")
  design$noise <- design$noise * check_nonnegative(noise, "noise")
  dir <- check_cohort_dir(dir)

  grid <- phantom_grid(dim, voxel_size)
  anatomy <- phantom_anatomy(grid)
  check_phantom(anatomy, grid)
  subjects <- simulate_subjects(design)
  x <- simulate_images(subjects, anatomy, grid, design, dir)
  cohort <- new_cohort(x, subjects, anatomy, grid, design)
  if (!is.null(dir)) cohort <- write_cohort(cohort, dir)
  cohort
}

new_cohort <- function(x, subjects, anatomy, grid, design) {
  mask <- anatomy$mask
  if (grid$flat) dim(mask) <- dim(mask)[1:2]
  graph <- graph_mask(mask)
  space <- new_space(anatomy$mask, grid$affine, colMeans(x))
  images <- new_images(x, graph, space, subjects$table$subject, subjects$table)
  labels <- phantom_labels()
  diseased <- labels$index[labels$index <= 2 * max(phantom_diseased)]
  structure(
    list(x = x, y = subjects$table[[design$outcome]], graph = graph,
         truth = drop(atrophy_map(anatomy, design)$mean),
         region = factor(anatomy$atlas[anatomy$mask], diseased, labels$name[diseased]),
         artefact = as.vector(anatomy$artefact[anatomy$mask]), mask = mask,
         data = subjects$table, images = images, atlas = anatomy$atlas, labels = labels,
         files = NULL),
    class = "n2gfl_cohort"
  )
}

#' @method print n2gfl_cohort
#' @export
print.n2gfl_cohort <- function(x, ...) {
  size <- signif(sqrt(colSums(x$images$space$affine[1:3, 1:3]^2)), 3)
  cat("Simulated cohort: ", nrow(x$x), " images of ", paste(dim(x$mask), collapse = " x "),
      " voxels (", paste(unique(size), collapse = " x "), " mm), ", ncol(x$x), " in the mask\n",
      sep = "")
  if (is.factor(x$y)) {
    cat("Outcome: ", paste(table(x$y), levels(x$y), collapse = ", "), "\n", sep = "")
  } else {
    cat("Outcome: score from ", paste(number_text(range(x$y)), collapse = " to "), "\n", sep = "")
  }
  structure <- sub("_[LR]$", "", x$region)
  cat("Diseased voxels: ", paste(table(structure), "in", names(table(structure)), collapse = ", "),
      ", on both sides\n", sep = "")
  if (!is.null(x$files)) cat("Files:", length(x$files), "in", basename(dirname(x$files[1])), "\n")
  invisible(x)
}

# ---- arguments -----------------------------------------------------------------------------------

cohort_presets <- list(
  "15ADNC" = list(size = c(64, 90), classes = c("AD", "NC"), effect = 1, spread = 0.35, noise = 1),
  "30ADNC" = list(size = c(66, 110), classes = c("AD", "NC"), effect = 1, spread = 0.35,
                  noise = 0.92),
  "15MCINC" = list(size = c(208, 90), classes = c("MCI", "NC"), effect = 0.4, spread = 0.9,
                   noise = 1)
)

# list(size = patients and controls, classes, effect, spread of the severity, noise, outcome)
check_cohort_size <- function(n, family) {
  outcome <- c(binomial = "diagnosis", gaussian = "score")[[family]]
  if (is.character(n)) {
    if (length(n) != 1 || !n %in% names(cohort_presets)) {
      stop_bad("`n` must be numbers or one of the presets ", quoted(names(cohort_presets)),
               ", not ", describe(n), ".")
    }
    return(c(cohort_presets[[n]], outcome = outcome))
  }
  if (is.numeric(n) && length(n) == 2) {
    size <- vapply(n, check_count, 1L, name = "n")
  } else {
    n <- check_count(n, "n", 2L)
    size <- c(n %/% 2, n - n %/% 2)
  }
  list(size = size, classes = c("patient", "control"), effect = 1, spread = 0.35, noise = 1,
       outcome = outcome)
}

check_phantom_dim <- function(dim, voxel_size) {
  if (is.null(dim)) return(NULL)
  if (!is.null(voxel_size)) stop_bad("`dim` and `voxel_size` must not both be given.")
  dim <- check_dim(dim)
  if (length(dim) == 1 || any(dim < 6)) {
    stop_bad("`dim` must be two or three whole numbers of at least 6, not (",
             paste(dim, collapse = ", "), ").")
  }
  dim
}

check_voxel_size <- function(voxel_size, dim) {
  if (!is.null(dim)) return(NULL)
  voxel_size <- check_vector(voxel_size, "voxel_size")
  if (!length(voxel_size) %in% c(1, 3) || !all(is.finite(voxel_size)) ||
      !all(voxel_size >= 0.5 & voxel_size <= 25)) {
    stop_bad("`voxel_size` must be one or three numbers between 0.5 and 25 (mm), not ",
             describe(voxel_size), ".")
  }
  voxel_size
}

check_cohort_dir <- function(dir) {
  if (is.null(dir)) return(NULL)
  if (!is.character(dir) || length(dir) != 1 || is.na(dir) || !nzchar(dir)) {
    stop_bad("`dir` must be the path of a folder or NULL, not ", describe(dir), ".")
  }
  if (!dir.exists(dir) && !dir.create(dir, recursive = TRUE, showWarnings = FALSE)) {
    stop_bad("`dir` must be a folder that can be created, not ", quoted(dir), ".")
  }
  normalizePath(dir, winslash = "/")
}

# If voxels are so coarse that a diseased region has none, the cohort has no truth.
check_phantom <- function(anatomy, grid) {
  wanted <- seq_len(2 * max(phantom_diseased))
  if (!all(wanted %in% anatomy$atlas)) {
    stop_bad("`dim` or `voxel_size` must give voxels small enough for the hippocampus, but at ",
             paste(signif(grid$voxel_size, 3), collapse = " x "), " mm no voxel is left of it.")
  }
}

# ---- subjects ------------------------------------------------------------------------------------

# The table, and what it does not show: severity, and each subject's global factor.
simulate_subjects <- function(design) {
  n <- sum(design$size)
  # In random order, so that the first hundred subjects are a random part of the cohort.
  patient <- rep(c(TRUE, FALSE), design$size)[sample.int(n)]
  severity <- if (design$outcome == "diagnosis") {
    pmax(patient + stats::rnorm(n, sd = ifelse(patient, design$spread, 0.2)), -0.3)
  } else {
    stats::runif(n, 0, 1.3)
  }
  age <- pmin(pmax(stats::rnorm(n, 75.5, 6), 55), 92)
  sex <- factor(ifelse(stats::runif(n) < 0.5, "F", "M"))
  tiv <- stats::rnorm(n, ifelse(sex == "M", 1.6, 1.42), 0.11)
  site <- factor(paste0("site", sample.int(4, n, replace = TRUE)), paste0("site", 1:4))
  scanner <- c(-0.015, 0, 0.005, 0.015)[site]
  own <- stats::rnorm(n, sd = 0.03)
  global <- 0.4 * (tiv / 1.51 - 1) - 0.004 * (age - 75) + scanner + own
  score <- 29 - 6 * severity * design$effect + stats::rnorm(n, sd = 1.2)
  table <- data.frame(
    subject = sprintf("sub-%03d", seq_len(n)),
    diagnosis = factor(design$classes[2 - patient], levels = design$classes),
    score = round(score, 1), age = round(age, 1), sex = sex, tiv = round(tiv, 3), site = site
  )
  if (design$outcome == "score") table$diagnosis <- NULL
  list(table = table, severity = severity * design$effect, age = age, global = global)
}

# ---- images --------------------------------------------------------------------------------------

# Share of grey matter that a patient of severity 1 loses, voxels of the mask by sides and
# structures; `mean` in units of the images.
atrophy_map <- function(anatomy, design) {
  code <- anatomy$atlas[anatomy$mask]
  sides <- seq_len(2 * max(phantom_diseased))
  share <- outer(code, sides, "==") * rep(rep(c(0.26, 0.20), each = 2), each = length(code))
  list(share = share, mean = design$effect * rowSums(share) * anatomy$template[anatomy$mask])
}

# One subject after the other: draw the whole volume, keep what is inside the mask.
simulate_images <- function(subjects, anatomy, grid, design, dir) {
  n <- nrow(subjects$table)
  broad <- field_kernels(grid, 14)
  fine <- field_kernels(grid, 5)
  share <- atrophy_map(anatomy, design)$share
  x <- matrix(0, n, sum(anatomy$mask))
  for (i in seq_len(n)) {
    severity <- subjects$severity[i]
    change <- design$noise * (subjects$global[i] + 0.06 * random_field(broad) +
                              0.10 * random_field(fine)) - 0.025 * severity
    own <- severity * (1 + stats::rnorm(ncol(share), sd = 0.25)) + 0.02 * (subjects$age[i] - 75)
    loss <- replace(numeric(length(change)), anatomy$mask, share %*% own)
    error <- 0.10 * severity * anatomy$artefact
    volume <- anatomy$template * pmax(1 + change, 0) * (1 - pmin(loss, 0.9)) * (1 + error)
    grain <- stats::rnorm(length(volume)) * (anatomy$template > 0.02)
    volume <- volume + 0.012 * design$noise * grain
    volume <- pmax(volume, 0)
    if (!is.null(dir)) write_volume(volume, grid$affine, cohort_file(dir, subjects, i))
    x[i, ] <- volume[anatomy$mask]
  }
  x
}

# One matrix per axis. Rows have norm 1, so that smoothed white noise has variance 1 everywhere, at
# the border too.
field_kernels <- function(grid, millimetres) {
  lapply(which(grid$dim > 1), function(k) {
    at <- grid$voxel_size[k] * seq_len(grid$dim[k])
    kernel <- exp(-outer(at, at, "-")^2 / (2 * millimetres^2))
    kernel / sqrt(rowSums(kernel^2))
  })
}

# Smooths along the first axis, then makes it the last one; after all axes, they are in the old
# order.
random_field <- function(kernels) {
  field <- stats::rnorm(prod(vapply(kernels, nrow, 1L)))
  for (kernel in kernels) field <- t(kernel %*% matrix(field, nrow(kernel)))
  as.vector(field)
}

# ---- files ---------------------------------------------------------------------------------------

cohort_file <- function(dir, subjects, i) {
  file.path(dir, paste0(subjects$table$subject[i], "_gm.nii.gz"))
}

write_volume <- function(volume, affine, file, datatype = "float") {
  image <- RNifti::asNifti(volume, reference = space_header(dim(volume), affine))
  RNifti::writeNifti(image, file, datatype = datatype)
}

# Adds the table and the maps beside the images, and their names to the cohort.
write_cohort <- function(cohort, dir) {
  space <- cohort$images$space
  path <- function(name) file.path(dir, name)
  truth <- replace(array(0, space$dim), space$mask, cohort$truth)
  write_volume(array(as.integer(space$mask), space$dim), space$affine, path("mask.nii.gz"), "uint8")
  write_volume(truth, space$affine, path("truth.nii.gz"))
  write_volume(cohort$atlas, space$affine, path("atlas.nii.gz"), "int16")
  utils::write.csv(cohort$labels, path("labels.csv"), row.names = FALSE)
  files <- paste0(cohort$data$subject, "_gm.nii.gz")
  cohort$data$file <- path(files)
  cohort$images$data <- cohort$data
  # Names without the folder, so that it can be moved.
  utils::write.csv(cbind(cohort$data[names(cohort$data) != "file"], file = files),
                   path("subjects.csv"), row.names = FALSE)
  maps <- c(mask = "mask.nii.gz", truth = "truth.nii.gz", atlas = "atlas.nii.gz",
            labels = "labels.csv", subjects = "subjects.csv")
  cohort$files <- c(stats::setNames(path(files), cohort$data$subject),
                    stats::setNames(path(maps), names(maps)))
  cohort
}
