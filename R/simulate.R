#' Simulate a cohort of brain images
#'
#' Makes images of patients and controls, without data of real people, on the MNI template or in a
#' head made of formulas. The cohort comes as a matrix with its graph, as an images object, or as
#' NIfTI files on disk, together with the truth.
#'
#' @details
#' # In MNI space
#' With `space = "mni"` the anatomy comes from the MNI152 template of the package oro.nifti: the
#' brain is cut out, grey matter is found by intensity, and the map is smoothed with 8 mm, as most
#' VBM studies do. An image of a subject is this map times
#'
#' * what covariates do: total intracranial volume (TIV) to the power of 0.8, because grey matter
#'   grows less than in proportion (de Jong and others 2017); age, -0.4 % a year, and about -0.85 %
#'   a year in the hippocampus (Fraser and others 2015); 1 % more in women at equal TIV (assumed).
#'   TIV is 13 % larger in men, with a standard deviation of about 9 % (Barnes and others 2010);
#' * the subject's own anatomy: a smooth field on the scale of logarithms, the sum of a fine part
#'   (full width at half maximum 8 mm, standard deviation 10 %), a broad part (25 mm, 6 %) and a
#'   constant (3 %). Residuals then have a width of about 10 mm, and each voxel varies by about
#'   12 %, as smoothed maps do. These percentages are chosen so that the effects have the sizes
#'   below;
#' * the site: four sites differ in location, by a smooth field of 0.3 standard deviations of the
#'   fields (width 40 mm), and in scale, by a factor whose logarithm has a standard deviation of
#'   0.12. These are the two effects that ComBat removes (Fortin and others 2018); their size is
#'   assumed;
#' * a gain of the scanner: standard deviation 2 % between subjects and 1 % between sites (assumed);
#' * one minus the loss of tissue.
#'
#' Correlated noise is added (8 mm, 0.01). The mask holds the voxels where the map is above 0.2.
#'
#' **What is lost.** Severity is 1 on average in Alzheimer's disease (AD; standard deviation 0.35),
#' 0.5 in mild cognitive impairment (MCI; 0.35) and 0 in controls (0.2). At severity 1,
#'
#' * `variant = "local"` takes 24.2 and 23.1 % of the left and right hippocampus, the averages of
#'   the meta-analysis of Shi and others (2009), where MCI has lost half of that; 20 % of the
#'   parahippocampal gyrus and 12 % of the posterior cingulate cortex, where VBM finds loss in most
#'   studies (Wang and others 2015; the two percentages are assumed). Each subject's loss
#'   differs between regions by 25 %. Smoothing mixes the tissue with its surroundings, so the
#'   loss in the images is smaller: about 16 % in the hippocampus;
#' * `variant = "global"` takes 6 % of all grey matter (assumed), and nothing else;
#' * `variant = "pet"` shows uptake of a tracer such as FDG instead of grey matter: 7 in grey
#'   matter, 0.4 of that in white matter, in units of the standardised uptake value. It takes 22 %
#'   of the uptake in the posterior cingulate cortex (Minoshima and others 1997), 18 % in the
#'   precuneus and the angular gyrus, and 12 % in the middle and inferior temporal gyrus (assumed).
#'   The gain varies between subjects by 20 % and between sites by 5 %, so raw images are on
#'   different scales. The fields have 6 % each, age takes 0.3 % a year, and TIV and sex do
#'   nothing. The mask holds the brain.
#'
#' Cohen's d of the mean of the left hippocampus is about 1.4 in AD, and about 2.0 after linear
#' adjustment for age, sex, TIV and site; 0.7 and 0.95 in MCI. Shi and others (2009) found 1.60 and
#' 0.92. Single voxels have about three quarters of that.
#'
#' The smoothing, the fields and the random numbers do not depend on the size of the voxels: with
#' the same seed, images of 8 mm are every fourth voxel of the images of 2 mm.
#'
#' Nothing here was chosen by how well a model does.
#'
#' # Phantoms
#' With `space = "phantom"` the head is made of formulas in millimetres: two hemispheres with a
#' folded ribbon of cortex, white matter, ventricles, deep nuclei and a cerebellum, left and right
#' mirrored. It needs no template, and may have any size, also two dimensions. An image of a subject
#' is the template times
#'
#' * a global factor: total intracranial volume (larger in men), age (0.4 % of grey matter a year),
#'   scanner site, unexplained variation (standard deviation 3 %), and a diffuse loss of 2.5 %
#'   with the disease;
#' * one plus smooth noise: a broad field (kernel of 14 mm, standard deviation 6 %) and a fine field
#'   (5 mm, 10 %);
#' * one minus the atrophy. It is the severity of the subject's disease times 26 % in the
#'   hippocampus and 20 % in the parahippocampal gyrus, slightly different on each side, and also
#'   grows with age. Severity is about 1 in patients (0.4 in MCI), about 0 in controls, and varies
#'   in both;
#' * one plus 10 % of the severity in a few false regions, where the segmentation is misled by wider
#'   ventricles and sulci: there patients seem to have more grey matter.
#'
#' A little white noise is added. The mask holds the voxels where the template is above 0.2.
#'
#' # Both
#' **Directions.** More grey matter, or more uptake, means healthier. For `"binomial"` the outcome
#' is a factor whose later level is the control, the class that [n2gfl()] models, and for
#' `"gaussian"` it is a score that falls with severity; so coefficients of the diseased regions are
#' positive and the default `sign = "nonnegative"` is right. With the levels the other way round it
#' would be wrong.
#'
#' **Presets** have the class sizes of the three tasks of Xin and others (2015), and at 8 mm a mask
#' of about 2,500 voxels (2,800 in MNI space), as they had: `"15ADNC"` (64 patients, 90 controls),
#' `"30ADNC"` (66 and 110; phantoms have a little less noise: the stronger scanner) and `"15MCINC"`
#' (208 and 90; mild cognitive impairment: less severe on average, and more variable).
#'
#' Random numbers come from the session's generator: call [set.seed()] first to get the same cohort
#' again. The numbers are the same with and without files.
#' @param n Number of subjects (half of them patients), or two numbers (patients, controls), or the
#'   name of a preset.
#' @param dim Size of the images of phantoms, two or three whole numbers. Two make one axial slice
#'   through the hippocampus: small, and quick to fit. `NULL`: as `voxel_size` says.
#' @param voxel_size Size of the voxels in millimetres, not with `dim`. In MNI space an even number,
#'   for example 8, 6, 4 or 2; for phantoms one or three numbers.
#' @param effect How strong the atrophy is, 1 as described below; 0 makes patients like controls.
#' @param noise How strong the noise and the differences between subjects are, 1 as described below.
#' @param family Kind of outcome: `"binomial"` (a diagnosis) or `"gaussian"` (a score).
#' @param dir Folder to write to, which is created if it does not exist, or `NULL`. It gets one
#'   NIfTI file per subject, `subjects.csv`, `mask.nii.gz`, `truth.nii.gz`, `truth.csv`,
#'   `atlas.nii.gz` and `labels.csv`.
#' @param space `"mni"` for images on the MNI template, `"phantom"` for a head made of formulas.
#'   The default is `"mni"`, or `"phantom"` if `dim` is given.
#' @param variant What the images show in MNI space: grey matter with `"local"` atrophy, grey matter
#'   with `"global"` atrophy, or `"pet"`.
#' @param ... Must be empty.
#' @return A list of class `n2gfl_cohort`:
#'   \item{x}{Matrix with one row per subject and one column per voxel of the mask.}
#'   \item{y}{The outcome: a factor for `"binomial"`, numbers for `"gaussian"`.}
#'   \item{graph}{The graph of the mask, from [graph_mask()].}
#'   \item{truth}{For each column of `x` what a patient of average severity has lost: positive in
#'     the diseased regions, 0 elsewhere.}
#'   \item{loss}{The same, with what smoothing spreads beyond the borders of the regions.}
#'   \item{region}{Which diseased region each column is in, a factor; `NA` for none.}
#'   \item{regions}{Data frame of the diseased regions: `region`, `loss` (the share of its tissue
#'     that a patient of average severity has lost, before smoothing), `voxels`, and `x`, `y` and
#'     `z` of its centre in millimetres.}
#'   \item{artefact}{Is the column in a false region? Only phantoms have them.}
#'   \item{mask}{Logical array.}
#'   \item{data}{Data frame of the subjects: `subject`, `diagnosis`, `score`, `age`, `sex`, `tiv` in
#'     litres, `site`, and `file` when files were written.}
#'   \item{images}{The same `x` and `graph` with their positions in space: give it to [n2gfl()] as
#'     `x`, which then needs no `graph`.}
#'   \item{atlas, labels}{Integer array with a number for each structure and side, and the table of
#'     `index` and `name`.}
#'   \item{files}{Named character vector of the files written, or `NULL`.}
#' @references
#' Barnes, J. and others (2010). Head size, age and gender adjustment in MRI studies: a necessary
#' nuisance? *NeuroImage*, 53, 1244--1255.
#'
#' de Jong, L. W. and others (2017). Allometric scaling of brain regions to intra-cranial volume: an
#' epidemiological MRI study. *Human Brain Mapping*, 38, 151--164.
#'
#' Fortin, J.-P. and others (2018). Harmonization of cortical thickness measurements across scanners
#' and sites. *NeuroImage*, 167, 104--120.
#'
#' Fraser, M. A., Shaw, M. E. and Cherbuin, N. (2015). A systematic review and meta-analysis of
#' longitudinal hippocampal atrophy in healthy human ageing. *NeuroImage*, 112, 364--374.
#'
#' Minoshima, S. and others (1997). Metabolic reduction in the posterior cingulate cortex in very
#' early Alzheimer's disease. *Annals of Neurology*, 42, 85--94.
#'
#' Shi, F., Liu, B., Zhou, Y., Yu, C. and Jiang, T. (2009). Hippocampal volume and asymmetry in mild
#' cognitive impairment and Alzheimer's disease: meta-analyses of MRI studies. *Hippocampus*, 19,
#' 1055--1064.
#'
#' Wang, W.-Y. and others (2015). Voxel-based meta-analysis of grey matter changes in Alzheimer's
#' disease. *Translational Neurodegeneration*, 4, 6.
#'
#' Xin, B., Hu, L., Wang, Y. and Gao, W. (2015). Stable feature selection from brain sMRI. *AAAI
#' Conference on Artificial Intelligence*, 1910--1916.
#' @seealso [n2gfl()], [plot_map()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 20)
#' cohort
#' plot_map(cohort$truth, like = cohort$images)
#'
#' # One slice of a phantom, quick to fit
#' slice <- simulate_cohort(n = 40, dim = c(18, 22))
#' table(slice$y)
#'
#' # As files, to be read with read_images()
#' folder <- tempfile()
#' cohort <- simulate_cohort(n = 4, dim = c(12, 14), dir = folder)
#' basename(cohort$files)
#' unlink(folder, recursive = TRUE)
#' @export
simulate_cohort <- function(n = 100, dim = NULL, voxel_size = if (is.null(dim)) 8, effect = 1,
                            noise = 1, family = c("binomial", "gaussian"), dir = NULL,
                            space = if (is.null(dim)) "mni" else "phantom",
                            variant = c("local", "global", "pet"), ...) {
  check_empty_dots(...)
  family <- match_choice(family, "family", c("binomial", "gaussian"))
  space <- match_choice(space, "space", names(cohort_spaces))
  variant <- match_choice(variant, "variant", c("local", "global", "pet"))
  design <- check_cohort_size(n, family, space)
  dim <- check_phantom_dim(dim, voxel_size)
  voxel_size <- check_voxel_size(voxel_size, dim)
  design$effect <- design$effect * check_nonnegative(effect, "effect")
  design$noise <- design$noise * check_nonnegative(noise, "noise")
  dir <- check_cohort_dir(dir)

  maker <- cohort_spaces[[space]]
  anatomy <- maker$anatomy(dim, voxel_size, variant)
  check_regions(anatomy)
  subjects <- simulate_subjects(design)
  x <- maker$images(subjects, anatomy, design, dir)
  cohort <- new_cohort(x, subjects, anatomy, design)
  if (!is.null(dir)) cohort <- write_cohort(cohort, dir)
  cohort
}

# For each space: what does not depend on the subjects, and the images of all subjects.
cohort_spaces <- list(
  mni = list(
    anatomy = function(dim, voxel_size, variant) {
      mni_anatomy(check_mni_size(dim, voxel_size), variant)
    },
    images = function(...) mni_images(...)
  ),
  phantom = list(
    anatomy = function(dim, voxel_size, variant) {
      if (variant != "local") {
        stop_bad("`variant` must be \"local\" with space = \"phantom\", not ", quoted(variant), ".")
      }
      phantom_anatomy(phantom_grid(dim, voxel_size))
    },
    images = function(...) phantom_images(...)
  )
)

new_cohort <- function(x, subjects, anatomy, design) {
  mask <- anatomy$mask
  if (anatomy$grid$flat) dim(mask) <- dim(mask)[1:2]
  graph <- graph_mask(mask)
  affine <- anatomy$grid$affine
  space <- new_space(anatomy$mask, affine, colMeans(x),
                     space_header(dim(anatomy$mask), affine, anatomy$code))
  images <- new_images(x, graph, space, subjects$table$subject, subjects$table)
  inside <- as.vector(anatomy$mask)
  loss <- (design$effect * rowSums(anatomy$share) * as.vector(anatomy$template))[inside]
  structure(
    list(x = x, y = subjects$table[[design$outcome]], graph = graph,
         truth = ifelse(is.na(anatomy$region), 0, loss), loss = loss, region = anatomy$region,
         regions = true_regions(anatomy, design),
         artefact = as.vector(anatomy$artefact[anatomy$mask]), mask = mask,
         data = subjects$table, images = images, atlas = anatomy$atlas, labels = anatomy$labels,
         files = NULL),
    class = "n2gfl_cohort"
  )
}

# What is lost where: a row for each diseased region.
true_regions <- function(anatomy, design) {
  mm <- voxel_mm(anatomy$grid$affine, arrayInd(which(anatomy$mask), dim(anatomy$mask)))
  number <- as.integer(anatomy$region)
  centre <- function(axis) round(as.vector(tapply(mm[, axis], anatomy$region, mean)), 1)
  data.frame(region = levels(anatomy$region), loss = design$effect * anatomy$losses,
             voxels = tabulate(number, nlevels(anatomy$region)),
             x = centre(1), y = centre(2), z = centre(3))
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
  where <- paste(table(structure), "in", names(table(structure)), collapse = ", ")
  cat(strwrap(paste0("Diseased voxels: ", where, ", on both sides"), 80, exdent = 2), sep = "\n")
  if (!is.null(x$files)) cat("Files:", length(x$files), "in", basename(dirname(x$files[1])), "\n")
  invisible(x)
}

# ---- arguments -----------------------------------------------------------------------------------

cohort_presets <- list(
  "15ADNC" = list(size = c(64, 90), classes = c("AD", "NC"), noise = 1),
  "30ADNC" = list(size = c(66, 110), classes = c("AD", "NC"), noise = 0.92),
  "15MCINC" = list(size = c(208, 90), classes = c("MCI", "NC"), noise = 1)
)

# Mean of the patients' severity, and its standard deviation as a share of the mean. In the
# meta-analysis of Shi and others (2009), MCI has lost half of what AD has (12.9 and 11.1 %, against
# 24.2 and 23.1 %).
cohort_severity <- list(
  mni = list(MCI = list(effect = 0.5, spread = 0.7), other = list(effect = 1, spread = 0.35)),
  phantom = list(MCI = list(effect = 0.4, spread = 0.9), other = list(effect = 1, spread = 0.35))
)

# list(size = patients and controls, classes, noise, outcome, effect, spread of the severity)
check_cohort_size <- function(n, family, space) {
  outcome <- c(binomial = "diagnosis", gaussian = "score")[[family]]
  if (is.character(n)) {
    if (length(n) != 1 || !n %in% names(cohort_presets)) {
      stop_bad("`n` must be numbers or one of the presets ", quoted(names(cohort_presets)),
               ", not ", describe(n), ".")
    }
    design <- cohort_presets[[n]]
    # Phantoms have less noise with the stronger scanner; measured differences are mostly anatomy.
    if (space == "mni") design$noise <- 1
  } else {
    if (is.numeric(n) && length(n) == 2) {
      size <- vapply(n, check_count, 1L, name = "n")
    } else {
      n <- check_count(n, "n", 2L)
      size <- c(n %/% 2, n - n %/% 2)
    }
    design <- list(size = size, classes = c("patient", "control"), noise = 1)
  }
  disease <- if (design$classes[1] == "MCI") "MCI" else "other"
  c(design, outcome = outcome, cohort_severity[[space]][[disease]])
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

# Images in MNI space are samples of a grid of 2 mm.
check_mni_size <- function(dim, voxel_size) {
  if (!is.null(dim)) {
    stop_bad("`dim` must be NULL with space = \"mni\", where `voxel_size` gives the size, not (",
             paste(dim, collapse = ", "), ").")
  }
  if (length(unique(voxel_size)) > 1 || voxel_size[1] %% 2 != 0) {
    stop_bad("`voxel_size` must be one even number of millimetres with space = \"mni\", for ",
             "example 8, 6, 4 or 2, not (", paste(signif(voxel_size, 3), collapse = ", "), ").")
  }
  voxel_size[1]
}

# If voxels are so coarse that a diseased region has none, the cohort has no truth.
check_regions <- function(anatomy) {
  empty <- setdiff(levels(anatomy$region), anatomy$region)
  if (length(empty)) {
    size <- paste(signif(anatomy$grid$voxel_size, 3), collapse = " x ")
    stop_bad("`dim` or `voxel_size` must give voxels small enough for the diseased regions, but ",
             "at ", size, " mm no voxel is left of ", quoted(empty[1]), ".")
  }
}

# ---- files ---------------------------------------------------------------------------------------

cohort_file <- function(dir, subjects, i) {
  file.path(dir, paste0(subjects$table$subject[i], "_gm.nii.gz"))
}

write_volume <- function(volume, affine, file, datatype = "float", code = 2L) {
  image <- RNifti::asNifti(volume, reference = space_header(dim(volume), affine, code))
  RNifti::writeNifti(image, file, datatype = datatype)
}

# Adds the table and the maps beside the images, and their names to the cohort.
write_cohort <- function(cohort, dir) {
  space <- cohort$images$space
  path <- function(name) file.path(dir, name)
  truth <- replace(array(0, space$dim), space$mask, cohort$truth)
  write <- function(volume, name, datatype) {
    write_volume(volume, space$affine, path(name), datatype, space$header$sform_code)
  }
  write(array(as.integer(space$mask), space$dim), "mask.nii.gz", "uint8")
  write(truth, "truth.nii.gz", "float")
  write(cohort$atlas, "atlas.nii.gz", "int16")
  utils::write.csv(cohort$labels, path("labels.csv"), row.names = FALSE)
  files <- paste0(cohort$data$subject, "_gm.nii.gz")
  cohort$data$file <- path(files)
  cohort$images$data <- cohort$data
  # Names without the folder, so that it can be moved.
  utils::write.csv(cbind(cohort$data[names(cohort$data) != "file"], file = files),
                   path("subjects.csv"), row.names = FALSE)
  utils::write.csv(cohort$regions, path("truth.csv"), row.names = FALSE)
  maps <- c(mask = "mask.nii.gz", truth = "truth.nii.gz", regions = "truth.csv",
            atlas = "atlas.nii.gz", labels = "labels.csv", subjects = "subjects.csv")
  cohort$files <- c(stats::setNames(path(files), cohort$data$subject),
                    stats::setNames(path(maps), names(maps)))
  cohort
}
