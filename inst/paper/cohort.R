# The tables and figures of the paper for a folder of your own grey-matter images.
#
#   Rscript cohort.R DIR subjects.csv [FOLDER]
#
# DIR has one NIfTI file per subject, all on one grid (for ADNI: modulated, normalised grey matter
# after DARTEL). The table has one row per subject with the columns `file` (name in DIR) and
# `diagnosis` (two classes; that of the controls is called NC, CN, HC, control or the like, or comes
# last in the alphabet). Voxels below 6 mm are averaged to about 8 mm, as in the paper. The mask is
# mask.nii.gz in DIR if there is one, otherwise the voxels whose mean exceeds 0.2. Where a
# simulation wrote truth.nii.gz, it gives sensitivity and precision. Results go to FOLDER
# (out/cohort).

this_script <- function() {
  file <- grep("^--file=", commandArgs(), value = TRUE)
  normalizePath(if (length(file)) sub("^--file=", "", file[1]) else "cohort.R")
}

# Only if run as a script: code that sources this file has sourced the others.
if (sys.nframe() == 0) {
  for (name in c("comparators", "evaluate", "tables", "figures", "report")) {
    source(file.path(dirname(this_script()), paste0(name, ".R")))
  }
}

read_cohort <- function(dir, table) {
  subjects <- utils::read.csv(if (file.exists(table)) table else file.path(dir, table))
  lacking <- setdiff(c("file", "diagnosis"), names(subjects))
  if (length(lacking)) stop("The table must have a column `", lacking[1], "`.", call. = FALSE)
  files <- file.path(dir, subjects$file)
  mask <- file.path(dir, "mask.nii.gz")
  images <- n2gfl::read_images(files, mask = if (file.exists(mask)) mask,
                               coarsen = paper_coarsening(files[1]), data = subjects)
  list(x = images$x, y = controls_last(subjects$diagnosis), graph = images$graph, images = images,
       truth = read_truth(dir, images))
}

# Blocks of about 8 mm for images finer than 6 mm.
paper_coarsening <- function(file) {
  size <- RNifti::pixdim(RNifti::readNifti(file, internal = TRUE))[1:3]
  if (min(size) >= 6) NULL else pmax(round(8 / size), 1)
}

# The paper's direction: more grey matter raises the probability of the later level.
controls_last <- function(diagnosis) {
  classes <- sort(unique(as.character(diagnosis)))
  if (length(classes) != 2) {
    stop("`diagnosis` must have two classes, not ", length(classes), ".", call. = FALSE)
  }
  control <- grepl("^(nc|cn|hc|nl|ctl|con|control|controls|healthy|normal)$", classes,
                   ignore.case = TRUE)
  factor(diagnosis, if (sum(control) == 1) c(classes[!control], classes[control]) else classes)
}

# Only on the grid of the images themselves.
read_truth <- function(dir, images) {
  file <- file.path(dir, "truth.nii.gz")
  if (!file.exists(file)) return(NULL)
  truth <- n2gfl::read_images(file, mask = images$space$mask)
  as.vector(truth$x > 0)
}

run_user_cohort <- function(dir, table, folder = file.path("out", "cohort"), ...) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  data <- read_cohort(dir, table)
  set.seed(1)
  results <- cbind(task = basename(dir), cohort = 1, compare_models(data, ...))
  write_whole(results, file.path(folder, "models.csv"))
  results$task <- factor(results$task)
  results$model <- factor(results$model, unique(results$model))
  accuracy <- table2(results)
  stability <- table3(results)
  utils::write.csv(accuracy, file.path(folder, "table2.csv"), row.names = FALSE)
  utils::write.csv(stability, file.path(folder, "table3.csv"), row.names = FALSE)
  as_png(file.path(folder, "figure2.png"), 1300, 800, function() figure2(data))
  as_png(file.path(folder, "figure3.png"), 1300, 760, function() figure3(data))
  writeLines(c(paste("# Models on", basename(dir)), comparison_sections(accuracy, stability), "",
               "![](figure2.png)", "![](figure3.png)"), file.path(folder, "cohort.md"))
}

if (sys.nframe() == 0) {
  arguments <- commandArgs(trailingOnly = TRUE)
  if (!length(arguments) %in% 2:3) stop("Usage: Rscript cohort.R DIR subjects.csv [FOLDER]")
  do.call(run_user_cohort, as.list(arguments))
}
