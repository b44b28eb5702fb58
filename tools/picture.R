# make picture: the picture at the top of README.md, a map from a simulated cohort with voxels of
# 4 mm. Takes some seconds.
.libPaths(c(normalizePath(file.path("out", "lib")), .libPaths()))
library(n2gfl)
file <- file.path("man", "figures", "README-map.png")
dir.create(dirname(file), recursive = TRUE, showWarnings = FALSE)

set.seed(2015)
cohort <- simulate_cohort("30ADNC", voxel_size = 4)
fit <- cv.n2gfl(cohort$images, diagnosis ~ age + sex + tiv, family = "binomial")
png(file, width = 7, height = 2.8, units = "in", res = 110)
plot_map(fit, space = "mni")
invisible(dev.off())
cat(sprintf("%s: %.0f kB\n", file, file.size(file) / 1000))
