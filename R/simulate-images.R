# What differs between subjects, and the images that follow from it. Two ways, one for each space;
# both make one subject after the other.

# ---- subjects ------------------------------------------------------------------------------------

# The table, and what it does not show: severity, and each subject's global factor in a phantom.
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

# ---- both spaces ---------------------------------------------------------------------------------

# `draw(i)` makes the volume of one subject; what is inside the mask is kept.
collect_images <- function(subjects, anatomy, dir, draw) {
  x <- matrix(0, nrow(subjects$table), sum(anatomy$mask))
  for (i in seq_len(nrow(x))) {
    volume <- draw(i)
    if (!is.null(dir)) {
      write_volume(array(volume, anatomy$grid$dim), anatomy$grid$affine,
                   cohort_file(dir, subjects, i), code = anatomy$code)
    }
    x[i, ] <- volume[anatomy$mask]
  }
  x
}

# A region's loss differs between subjects of one severity: standard deviation 25 % of it.
own_severity <- function(severity, regions) severity * (1 + stats::rnorm(regions, sd = 0.25))

# ---- phantoms ------------------------------------------------------------------------------------

phantom_images <- function(subjects, anatomy, design, dir) {
  broad <- field_kernels(anatomy$grid, 14)
  fine <- field_kernels(anatomy$grid, 5)
  collect_images(subjects, anatomy, dir, function(i) {
    severity <- subjects$severity[i]
    change <- design$noise * (subjects$global[i] + 0.06 * random_field(broad) +
                              0.10 * random_field(fine)) - 0.025 * severity
    own <- own_severity(severity, ncol(anatomy$share)) + 0.02 * (subjects$age[i] - 75)
    loss <- as.vector(anatomy$share %*% own)
    error <- 0.10 * severity * anatomy$artefact
    volume <- anatomy$template * pmax(1 + change, 0) * (1 - pmin(loss, 0.9)) * (1 + error)
    grain <- stats::rnorm(length(volume)) * (anatomy$template > 0.02)
    pmax(volume + 0.012 * design$noise * grain, 0)
  })
}

# ---- images in MNI space -------------------------------------------------------------------------

# How subjects differ, as shares of the image (standard deviations of logarithms where random).
# ?simulate_cohort gives the sources. `fields`: full widths at half maximum in mm, and standard
# deviations. `site`: location, in standard deviations of all fields together, and log of the scale.
mni_variation <- list(
  grey = list(tiv = 0.8, women = 0.01, age = -0.004, own = 0.03, gain = 0.02, site_gain = 0.01,
              fields = rbind(c(25, 0.06), c(8, 0.10)), added = c(8, 0.01),
              site = c(shift = 0.3, scale = 0.12), aging = 0.019),
  uptake = list(tiv = 0, women = 0, age = -0.003, own = 0, gain = 0.20, site_gain = 0.05,
                fields = rbind(c(25, 0.06), c(8, 0.06)), added = c(8, 0.1),
                site = c(shift = 0.3, scale = 0.12), aging = 0)
)

mni_images <- function(subjects, anatomy, design, dir) {
  how <- mni_variation[[if (anatomy$variant == "pet") "uptake" else "grey"]]
  aging <- if (anatomy$variant == "local") how$aging else 0
  kernels <- lapply(how$fields[, 1], lattice_kernels, grid = anatomy$grid, box = anatomy$box)
  added <- lattice_kernels(anatomy$grid, anatomy$box, how$added[1])
  sites <- draw_sites(nlevels(subjects$table$site), how, anatomy)
  shared <- subject_levels(subjects$table, how)
  collect_images(subjects, anatomy, dir, function(i) {
    site <- as.integer(subjects$table$site)[i]
    own <- own_severity(subjects$severity[i], ncol(anatomy$share))
    level <- shared[i] + stats::rnorm(1, sd = how$own)
    gain <- sites$gain[site] + stats::rnorm(1, sd = how$gain)
    fields <- sites$location[, site]
    for (k in seq_along(kernels)) {
      fields <- fields + sites$scale[site] * how$fields[k, 2] * random_field(kernels[[k]])
    }
    error <- sites$scale[site] * how$added[2] * random_field(added)
    loss <- as.vector(anatomy$share %*% (own + aging * (subjects$age[i] - 75)))
    volume <- anatomy$template * exp(design$noise * (level + fields)) * (1 - pmin(loss, 0.9))
    pmax(volume + design$noise * error, 0) * exp(design$noise * gain)
  })
}

# What each site does: its gain, a smooth shift of the images, and a factor of their variation.
draw_sites <- function(count, how, anatomy) {
  spread <- sqrt(sum(how$fields[, 2]^2))
  kernels <- lattice_kernels(anatomy$grid, anatomy$box, 40)
  gain <- stats::rnorm(count, sd = how$site_gain)
  scale <- exp(stats::rnorm(count, sd = how$site[["scale"]]))
  location <- vapply(seq_len(count), function(s) random_field(kernels),
                     numeric(length(anatomy$template)))
  list(gain = gain, scale = scale, location = how$site[["shift"]] * spread * location)
}

# The logarithm of what covariates do to all of the image.
subject_levels <- function(table, how) {
  how$tiv * log(table$tiv / 1.51) + how$women * (table$sex == "F") + how$age * (table$age - 75)
}
