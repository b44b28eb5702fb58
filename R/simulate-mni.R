# A head made from the MNI152 template that comes with oro.nifti: tissue by intensity, regions by
# their coordinates in millimetres, smoothed as VBM smooths it. Numbers of intensities are those of
# this template, in which white matter has about 160 to 200.

# ---- regions -------------------------------------------------------------------------------------

# Tubes: a line through points of the right hemisphere (x, y, z in mm), and the radius. The left is
# its mirror image. The middle of each lies at the centre that the AAL atlas gives (Tzourio-Mazoyer
# 2002), for example 29, -20, -10 for the right hippocampus.
mni_structures <- list(
  Hippocampus = list(radius = 6, line = rbind(c(21, -10, -22), c(27, -15, -20), c(30, -22, -15),
                                              c(30, -29, -10), c(26, -36, -3))),
  ParaHippocampal = list(radius = 6, line = rbind(c(22, -4, -32), c(24, -16, -28), c(25, -24, -24),
                                                  c(24, -32, -17), c(20, -38, -10))),
  Amygdala = list(radius = 7, line = rbind(c(24, -1, -18))),
  Thalamus = list(radius = 7, line = rbind(c(8, -10, 8), c(13, -25, 8))),
  Caudate = list(radius = 5, line = rbind(c(11, 16, 3), c(13, 10, 12), c(15, 0, 18))),
  Putamen = list(radius = 6, line = rbind(c(24, 10, 0), c(27, 2, 3), c(29, -8, 4))),
  PosteriorCingulate = list(radius = 7, line = rbind(c(5, -36, 32), c(6, -46, 28), c(6, -53, 20))),
  Precuneus = list(radius = 10, line = rbind(c(7, -58, 50), c(8, -64, 38))),
  Angular = list(radius = 11, line = rbind(c(45, -60, 38), c(48, -60, 32))),
  MiddleTemporal = list(radius = 8, line = rbind(c(57, -22, -12), c(58, -37, -2), c(53, -54, 8))),
  InferiorTemporal = list(radius = 8, line = rbind(c(50, -14, -30), c(54, -31, -22),
                                                   c(54, -48, -16)))
)
# Nuclei and folds that the template's intensity shows badly: the letters were painted over the
# hippocampus, and the thalamus is nearly as bright as white matter.
mni_deep <- c("Hippocampus", "ParaHippocampal", "Amygdala", "Thalamus", "Caudate", "Putamen")
mni_names <- c(names(mni_structures), head_lobes)

# What a patient of severity 1 loses of each region, left and right. ?simulate_cohort gives the
# sources and says which of these numbers are assumed.
mni_losses <- list(
  local = list(Hippocampus = c(0.242, 0.231), ParaHippocampal = c(0.20, 0.20),
               PosteriorCingulate = c(0.12, 0.12)),
  global = list(GreyMatter = 0.06),
  pet = list(PosteriorCingulate = c(0.22, 0.22), Precuneus = c(0.18, 0.18),
             Angular = c(0.18, 0.18), MiddleTemporal = c(0.12, 0.12),
             InferiorTemporal = c(0.12, 0.12))
)

# Millimetres to the surface of a tube, negative inside.
tube_distance <- function(points, tube) {
  line <- tube$line
  from <- line[pmax(seq_len(nrow(line) - 1), 1), , drop = FALSE]
  to <- line[pmin(seq_len(nrow(from)) + 1, nrow(line)), , drop = FALSE]
  nearest <- Inf
  for (k in seq_len(nrow(from))) {
    along <- to[k, ] - from[k, ]
    away <- sweep(points, 2, from[k, ])
    share <- pmin(pmax(away %*% along / max(sum(along^2), 1e-9), 0), 1)
    nearest <- pmin(nearest, rowSums((away - share %*% along)^2))
  }
  sqrt(nearest) - tube$radius
}

# For each voxel the structure that it lies in, deepest if in several; 0 for none.
mni_parts <- function(mm) {
  part <- array(0L, lengths(mm))
  depth <- array(0, lengths(mm))
  for (k in seq_along(mni_structures)) {
    tube <- mni_structures[[k]]
    range <- rbind(apply(tube$line, 2, min) - tube$radius, apply(tube$line, 2, max) + tube$radius)
    near <- lapply(1:3, function(a) {
      at <- if (a == 1) abs(mm[[1]]) else mm[[a]]
      which(at >= range[1, a] & at <= range[2, a])
    })
    points <- as.matrix(expand.grid(abs(mm$x[near[[1]]]), mm$y[near[[2]]], mm$z[near[[3]]]))
    cell <- as.matrix(do.call(expand.grid, near))
    distance <- tube_distance(points, tube)
    deeper <- distance < depth[cell]
    part[cell[deeper, , drop = FALSE]] <- k
    depth[cell[deeper, , drop = FALSE]] <- distance[deeper]
  }
  part
}

# ---- tissue --------------------------------------------------------------------------------------

# The brain without skull, eyes and neck: bright voxels, cut off where the bridges to others are
# thinner than about 6 mm.
mni_brain <- function(volume) {
  bright <- volume > 95
  core <- largest_component(blur_volume(bright, 2, 12) > 0.95)
  largest_component(bright & blur_volume(core, 2, 12) > 0.03)
}

largest_component <- function(on) {
  component <- connected_components(graph_mask(on))
  replace(on, which(on)[component != which.max(tabulate(component))], FALSE)
}

# Shares of grey and white matter by intensity, relative to white matter nearby, because the
# template is darker at the back. Between fluid, grey and white the shares are linear: a voxel there
# holds some of both.
mni_tissue <- function(volume, brain) {
  inside <- brain | blur_volume(brain, 2, 12) > 0.5
  weight <- brain * (volume / 200)^12
  white <- blur_volume(weight * volume, 2, 40) / pmax(blur_volume(weight, 2, 40), 1e-12)
  ratio <- ifelse(inside, volume / white, 0)
  share <- function(low, high) pmin(pmax((ratio - low) / (high - low), 0), 1)
  list(grey = share(0.65, 0.82) - share(0.84, 0.97), white = share(0.84, 0.97), inside = inside)
}

# What an image shows where nobody is ill, before it is smoothed: grey matter, or the uptake of a
# tracer, whose ratio is about 1 : 0.4 : 0.1 in grey matter, white matter and fluid, in units of the
# standardised uptake value (SUV).
mni_signal <- function(head, variant) {
  deep <- array(head$part %in% match(mni_deep, mni_names), dim(head$part))
  grey <- pmax(head$grey, 0.75 * deep)
  if (variant != "pet") return(grey)
  white <- pmin(head$white, 1 - grey)
  7 * (grey + 0.4 * white + 0.1 * pmax(head$inside - grey - white, 0))
}

# ---- the anatomy ---------------------------------------------------------------------------------

# Tissue and regions of the head at 2 mm, the same for all cohorts: kept, because it takes a second.
mni_head <- function() {
  if (is.null(mni_kept$head)) mni_kept$head <- make_mni_head()
  mni_kept$head
}

mni_kept <- new.env(parent = emptyenv())

# In a box around the brain, with `mm` of its axes.
make_mni_head <- function() {
  head <- mni_layer()
  if (is.null(head)) {
    stop_bad("`space` must be \"phantom\", because \"mni\" needs the file nifti/mniRL.nii.gz of ",
             "the package oro.nifti, which is not there.")
  }
  brain <- mni_brain(head$volume)
  box <- lapply(1:3, function(k) {
    on <- range(which(apply(brain, k, any)))
    seq(max(on[1] - 4, 1), min(on[2] + 4, dim(brain)[k]))
  })
  mm <- Map(`[`, head$mm, box)
  tissue <- lapply(mni_tissue(head$volume, brain), function(v) v[box[[1]], box[[2]], box[[3]]])
  c(tissue, list(part = mni_parts(mm), mm = mm))
}

# Everything that does not depend on the subjects. All of it is computed at 2 mm; images of larger
# voxels are every second, third or fourth voxel of it, as when VBM writes larger voxels.
mni_anatomy <- function(voxel_size, variant) {
  head <- mni_head()
  signal <- mni_signal(head, variant)
  keep <- lapply(head$mm, function(at) which(at %% voxel_size == 0))
  sample <- function(volume) volume[keep[[1]], keep[[2]], keep[[3]], drop = FALSE]
  template <- blur_volume(signal, 2, mni_smoothing)
  share <- mni_shares(signal, template, head, variant, sample)
  template <- sample(template)
  mask <- template > if (variant == "pet") 2.8 else 0.2
  affine <- diag(c(rep(voxel_size, 3), 1))
  affine[1:3, 4] <- mapply(function(at, index) at[index[1]], head$mm, keep)
  grid <- list(dim = dim(template), affine = affine, voxel_size = rep(voxel_size, 3), flat = FALSE)
  atlas <- mni_atlas(sample(head$part), mask, grid)
  list(template = template, mask = mask, atlas = atlas, labels = head_labels(mni_names),
       artefact = array(FALSE, dim(mask)), grid = grid, share = share, variant = variant,
       losses = unlist(mni_losses[[variant]], use.names = FALSE), code = 4L,
       box = vapply(head$mm, range, numeric(2)),
       region = mni_regions(atlas, mask, colnames(share)))
}

# Full width at half maximum in mm, as most VBM studies smooth, and as ADNI smooths its PET images.
mni_smoothing <- 8

# The share of the image that is lost at severity 1, a column for each region and side. Smoothing
# mixes lost tissue with tissue nearby, inside and outside of the region.
mni_shares <- function(signal, template, head, variant, sample) {
  losses <- mni_losses[[variant]]
  part <- head$part
  if (variant == "global") {
    return(matrix(losses$GreyMatter, length(sample(template)), 1,
                  dimnames = list(NULL, "GreyMatter")))
  }
  left <- array(rep_len(head$mm$x <= 0, length(part)), dim(part))
  shares <- lapply(names(losses), function(name) {
    vapply(1:2, function(side) {
      here <- part == match(name, mni_names) & left == (side == 1)
      lost <- blur_volume(signal * here, 2, mni_smoothing) / pmax(template, 1e-6)
      losses[[name]][side] * as.vector(sample(lost))
    }, numeric(length(sample(part))))
  })
  shares <- do.call(cbind, shares)
  colnames(shares) <- paste0(rep(names(losses), each = 2), c("_L", "_R"))
  shares
}

mni_atlas <- function(part, mask, grid) {
  mm <- voxel_mm(grid$affine, arrayInd(seq_along(mask), dim(mask)))
  # Below the tentorium, which falls to the back and to the sides.
  cerebellum <- mm[, 2] < -34 & mm[, 3] < -12 + 0.35 * (mm[, 2] + 50) - 0.25 * abs(mm[, 1])
  head_atlas(part, array(cerebellum, dim(mask)), mask, grid, mni_names)
}

# Which affected region each voxel of the mask is in; NA for none.
mni_regions <- function(atlas, mask, names) {
  if (identical(names, "GreyMatter")) return(factor(rep(names, sum(mask))))
  labels <- head_labels(mni_names)
  factor(labels$name[atlas[mask]], names)
}
