# make demo: a small simulated cohort, a grid of fits, the best one beside the truth.
.libPaths(c(normalizePath(file.path("out", "lib")), .libPaths()))
library(n2gfl)
folder <- "demo-output"
dir.create(folder, showWarnings = FALSE)

# ---- data: 200 subjects to fit, 100 to choose a fit, 100 to judge it ----------
set.seed(2015)
cohort <- simulate_cohort(n = 400, dim = c(20, 20, 20))
part <- rep(c("fit", "choose", "judge"), c(200, 100, 100))
cat("Simulated", nrow(cohort$x), "brain-like images of", ncol(cohort$x), "voxels;",
    max(cohort$region), "regions tell controls from patients.\n\n")

# ---- fit ---------------------------------------------------------------------
seconds <- system.time(
  fit <- n2gfl(cohort$x[part == "fit", ], cohort$y[part == "fit"], cohort$graph,
               family = "binomial")
)[["elapsed"]]
print(fit, rows = 10)
cat(sprintf("\n%d fits in %.1f s, worst relative duality gap %.1e.\n",
            nrow(fit$grid), seconds, max(fit$grid$gap)))

# ---- choose and judge --------------------------------------------------------
# One number per fit: how surprised it is by these subjects' classes.
log_loss <- function(rows) {
  control <- predict(fit, cohort$x[rows, ], type = "response")
  is_patient <- cohort$y[rows] == "patient"
  -colMeans(log(abs(is_patient - control)))
}
best <- which.min(log_loss(part == "choose"))
predicted <- predict(fit, cohort$x[part == "judge", ], row = best, type = "class")
accuracy <- mean(predicted == cohort$y[part == "judge"])
estimate <- as.numeric(fit$beta[, best])
cat(sprintf(paste0("Chosen: lambda1 = %.3g, lambda2 = %.3g, %d regions, %d voxels; ",
                   "it is right for %.0f %% of new subjects.\n"),
            fit$grid$lambda1[best], fit$grid$lambda2[best], fit$grid$regions[best],
            fit$grid$nonzero[best], 100 * accuracy))

# ---- pictures ----------------------------------------------------------------
colours <- c("grey92", hcl.colors(63, "YlOrRd", rev = TRUE))

draw_slice <- function(values, level, title) {
  image <- array(NA_real_, dim(cohort$mask))
  image[cohort$mask] <- values
  image(image[, , level], zlim = c(0, max(values, 1e-12)), col = colours, asp = 1, axes = FALSE,
        main = title)
}

# One column of slices through the middle of each true region.
draw_maps <- function(file) {
  png(file, width = 900, height = 640)
  on.exit(dev.off())
  centres <- round(tapply(cohort$graph$coords[, 3], cohort$region, mean))[-1]
  par(mfcol = c(2, length(centres)), mar = c(1, 1, 3, 1))
  for (level in centres) {
    draw_slice(cohort$beta, level, paste("truth, slice", level))
    draw_slice(estimate, level, paste("estimate, slice", level))
  }
}

draw_path <- function(file) {
  png(file, width = 900, height = 480)
  on.exit(dev.off())
  par(mfrow = c(1, 2))
  lines <- split(fit$grid, factor(fit$grid$lambda2, unique(fit$grid$lambda2)))
  palette <- hcl.colors(length(lines), "Viridis")
  for (column in c("regions", "nonzero")) {
    plot(range(fit$grid$lambda1), range(fit$grid[[column]]), type = "n", log = "x",
         xlim = rev(range(fit$grid$lambda1)), xlab = "lambda1",
         ylab = c(regions = "regions", nonzero = "voxels that are not zero")[[column]])
    for (k in seq_along(lines)) {
      lines(lines[[k]]$lambda1, lines[[k]][[column]], type = "o", pch = 20, col = palette[k])
    }
    points(fit$grid$lambda1[best], fit$grid[[column]][best], cex = 2)
  }
  legend("topleft", legend = signif(as.numeric(names(lines)), 2), title = "lambda2",
         col = palette, lty = 1, bty = "n")
}

draw_maps(file.path(folder, "maps.png"))
draw_path(file.path(folder, "path.png"))
cat("\nPictures in ", normalizePath(folder), ":\n",
    "  maps.png  true and estimated coefficients, slice by slice\n",
    "  path.png  how regions and voxels enter along the grid; the circle is the chosen fit\n",
    sep = "")
