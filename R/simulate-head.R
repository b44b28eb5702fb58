# What both heads share: sides, lobes, and how their atlases are numbered.

head_lobes <- c("Frontal", "Parietal", "Temporal", "Occipital", "Cerebellum")

# -1 left, 1 right; the middle plane counts as left.
head_side <- function(grid) {
  x <- grid$affine[1, 4] + grid$affine[1, 1] * (seq_len(grid$dim[1]) - 1)
  rep_len(ifelse(x > 1e-6, 1, -1), prod(grid$dim))
}

# Odd numbers are left, even ones right; outside the mask 0. `structure` numbers the first of
# `names`, other voxels belong to a lobe.
head_atlas <- function(structure, cerebellum, mask, grid, names) {
  at <- arrayInd(seq_along(mask), dim(mask))
  y <- grid$affine[2, 4] + grid$affine[2, 2] * (at[, 2] - 1)
  z <- grid$affine[3, 4] + grid$affine[3, 3] * (at[, 3] - 1)
  lobe <- ifelse(y < -70, "Occipital", ifelse(y > -20 & z > -12, "Frontal", "Parietal"))
  lobe[z < -4 & y > -70 & y < 30] <- "Temporal"
  lobe[z < -4 & y >= 30] <- "Frontal"
  lobe[cerebellum] <- "Cerebellum"
  part <- ifelse(structure > 0, structure, match(lobe, names))
  array(as.integer(ifelse(mask, 2 * part - (head_side(grid) < 0), 0)), dim(mask))
}

head_labels <- function(names) {
  data.frame(index = seq_len(2 * length(names)), name = paste0(rep(names, each = 2), c("_L", "_R")))
}
