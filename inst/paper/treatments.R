# What is done to the images before a model sees them. Everything that is estimated, is estimated
# from the training rows, and applied to the rows held out.

# Each treatment as arguments of n2gfl(). Other models get the same images from treated_images(),
# and the effects of the covariates are removed from these, because the models cannot take them.
# ComBat keeps the differences between the sexes.
image_treatments <- list(
  raw = list(covariates = ~ sex + site),
  scaled = list(covariates = ~ sex + site, scale = "mean"),
  global = list(covariates = ~ sex + site + global),
  harmonized = list(covariates = ~ sex, harmonize = ~ site, preserve = ~ sex)
)

# The images of all rows, N x d, as they are for a model that is trained with the rows in `train`
# (logical). The columns of cohort$data have `global`, the mean of each image.
treated_images <- function(cohort, treatment, train) {
  x <- cohort$x
  # Nothing is estimated from other images.
  if (identical(treatment$scale, "mean")) x <- x / rowMeans(x)
  if (!is.null(treatment$harmonize)) {
    site <- stats::model.frame(treatment$harmonize, cohort$data)[[1]]
    x <- combat(x, site, coded_variables(treatment$preserve, cohort$data), train)
  }
  without_effects(x, coded_variables(treatment$covariates, cohort$data), train)
}

coded_variables <- function(formula, data) {
  stats::model.matrix(formula, data)[, -1, drop = FALSE]
}

# x without the linear effects of z, as estimated by least squares from the training rows: each
# image as it would be at their mean.
without_effects <- function(x, z, train) {
  z <- sweep(z, 2, colMeans(z[train, , drop = FALSE]))
  effects <- qr.coef(qr(cbind(1, z[train, , drop = FALSE])), x[train, , drop = FALSE])
  effects[is.na(effects)] <- 0  # a column that the others explain, such as a site without rows
  x - z %*% effects[-1, , drop = FALSE]
}

# ---- ComBat --------------------------------------------------------------------------------------

# Parametric ComBat (Johnson, Li and Rabinovic 2007), estimated from the training rows: every
# feature without the effects of the sites on its mean and variance, which are shrunk towards their
# averages over the features. `kept`: variables whose effects are kept, or a matrix of no columns.
combat <- function(x, site, kept, train) {
  site <- factor(site, unique(site[train]))
  standard <- standardise_features(x, site, kept, train)
  z <- standard$z
  for (name in levels(site)) {
    rows <- which(site == name)
    effect <- site_effect(z[intersect(rows, which(train)), , drop = FALSE])
    z[rows, ] <- sweep(sweep(z[rows, , drop = FALSE], 2, effect$location), 2, sqrt(effect$scale),
                       "/")
  }
  sweep(z, 2, standard$spread, "*") + standard$centre
}

# list(z = x without the mean of the sites and the effects of `kept`, with residual variance 1;
# centre = what was subtracted; spread = what was divided by).
standardise_features <- function(x, site, kept, train) {
  design <- cbind(outer(site, levels(site), "==") + 0, kept)
  sites <- seq_along(levels(site))
  effects <- qr.coef(qr(design[train, , drop = FALSE]), x[train, , drop = FALSE])
  share <- colMeans(design[train, sites, drop = FALSE])
  residual <- x[train, , drop = FALSE] - design[train, , drop = FALSE] %*% effects
  spread <- sqrt(colMeans(residual^2))
  centre <- matrix(share %*% effects[sites, , drop = FALSE], nrow(x), ncol(x), byrow = TRUE) +
    kept %*% effects[-sites, , drop = FALSE]
  list(z = sweep(x - centre, 2, spread, "/"), centre = centre, spread = spread)
}

# Empirical Bayes estimates of one site's location and scale of each column of z: a normal prior for
# locations and an inverse gamma prior for scales, both with the moments of the estimates. The
# equations for the two are solved in turn.
site_effect <- function(z, tolerance = 1e-10) {
  n <- nrow(z)
  means <- colMeans(z)
  variances <- apply(z, 2, stats::var)
  prior_mean <- mean(means)
  prior_variance <- stats::var(means)
  ratio <- mean(variances)^2 / stats::var(variances)
  location <- means
  scale <- variances
  repeat {
    before <- c(location, scale)
    location <- (prior_variance * n * means + scale * prior_mean) / (prior_variance * n + scale)
    squares <- (n - 1) * variances + n * (means - location)^2
    scale <- (squares / 2 + mean(variances) * (ratio + 1)) / (n / 2 + ratio + 1)
    if (max(abs(c(location, scale) - before)) <= tolerance) break
  }
  list(location = location, scale = scale)
}
