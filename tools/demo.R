# make demo: from image files to a map in three lines, on a simulated cohort.
.libPaths(c(normalizePath(file.path("out", "lib")), .libPaths()))
library(n2gfl)
started <- proc.time()[["elapsed"]]
folder <- "demo-output"
unlink(folder, recursive = TRUE)
dir.create(folder)
path <- function(name) file.path(folder, name)

# ---- files on disk: as many patients and controls as in the paper's 30ADNC ----------------------
set.seed(2015)
cohort <- simulate_cohort("30ADNC", dir = path("cohort"))
subjects <- read.csv(cohort$files[["subjects"]])
subjects$file <- file.path(folder, "cohort", subjects$file)
# More grey matter is healthier: NC is the later level, so coefficients are positive.
subjects$diagnosis <- factor(subjects$diagnosis, levels = c("AD", "NC"))
print(cohort)

# ---- the three lines -----------------------------------------------------------------------------
cat("\nimages <- read_images(files, mask, data = subjects)\n")
images <- read_images(subjects$file, mask = cohort$files[["mask"]], data = subjects,
                      verbose = FALSE)
print(images)

cat("\nfit <- cv.n2gfl(images, diagnosis ~ age + sex + tiv, family = \"binomial\")\n")
fit <- cv.n2gfl(images, diagnosis ~ age + sex + tiv, family = "binomial", type.measure = "class",
                nlambda2 = 3)
print(fit)
print(assess(fit))

cat("\nwrite_map(fit, \"map.nii.gz\"); plot_map(fit)\n")
write_map(fit, path("map.nii.gz"))

# ---- pictures and tables -------------------------------------------------------------------------
picture <- function(name, width, height, draw) {
  png(path(name), width, height, units = "in", res = 120)
  on.exit(dev.off())
  draw
}
# The files are in MNI space, so their maps are drawn over the MNI template. Asked for by name, it
# comes without the message that explains it.
picture("map.png", 8, 3.2, plot_map(fit, main = "n2GFL", space = "mni"))
picture("truth.png", 8, 3.2, plot_map(cohort$truth, like = images, main = "Truth", space = "mni"))
picture("native.png", 8, 3.2, plot_map(fit, space = "native"))
picture("axial.png", 9, 2.6, plot_map(fit, type = "axial", space = "mni"))
picture("mosaic.png", 8, 7, plot_map(fit, type = "mosaic", space = "mni"))
picture("glass.png", 9, 3.6, plot_map(fit, type = "3d", space = "mni"))
picture("folds.png", 10, 2.2, plot_folds(fit, space = "mni"))
picture("cv.png", 7, 5, plot(fit))

regions <- region_table(fit, atlas = cohort$files[["atlas"]],
                        labels = cohort$labels)
cat("\n")
print(regions)
write.csv(regions, path("regions.csv"), row.names = FALSE)

# ---- what was left where -------------------------------------------------------------------------
selected <- as.numeric(coef(fit))[-(1:4)] != 0
cat(sprintf("\nOf %d selected voxels %d are in the diseased regions, worst duality gap %.1e.\n",
            sum(selected), sum(selected & cohort$truth > 0), max(fit$n2gfl.fit$grid$gap)))
cat(sprintf("\n%.1f s. In %s:\n", proc.time()[["elapsed"]] - started, normalizePath(folder)),
    "  cohort/      the images, subjects.csv, mask, atlas and the true map\n",
    "  map.nii.gz   the coefficients, for any viewer\n",
    "  regions.csv  one row per region, with names from the atlas\n",
    "  map.png, axial.png, mosaic.png, glass.png   the map on the MNI template\n",
    "  native.png   the same on the mean of the images\n",
    "  truth.png    what it should show\n",
    "  folds.png    what each fold selects;  cv.png   how the penalties were chosen\n", sep = "")
