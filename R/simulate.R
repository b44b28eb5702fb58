#' Simulate a cohort of images
#'
#' Makes images that resemble grey matter maps, in a mask shaped like an egg, and an outcome that
#' depends on a few compact regions: more grey matter there, a higher score or a healthy subject.
#'
#' @details
#' Every image is a common template plus a smooth Gaussian random field (standard deviation 0.1, of
#' smoothness `smooth`) and a little white noise, so neighbouring voxels are strongly correlated.
#' The regions are balls, cut at the mask's border, that do not touch each other. The predictor is
#' the image times `beta`, centred; it has standard deviation 1 in the cohort. The outcome is
#'
#' * `"gaussian"`: the predictor plus normal noise with standard deviation `noise`;
#' * `"binomial"`: the class `"control"` for the half of the subjects whose predictor plus `noise`
#'   times standard logistic noise is larger, `"patient"` for the others. The later level of the
#'   factor is `"control"`: the class that [n2gfl()] models, so its coefficients are positive.
#'
#' Random numbers come from the session's generator: call [set.seed()] first for the same cohort
#' again.
#' @param n Number of subjects, at least 2.
#' @param dim Size of the images: one to three whole numbers.
#' @param regions Number of regions.
#' @param family Kind of outcome, `"binomial"` or `"gaussian"`.
#' @param noise How strong the noise in the outcome is, compared to the signal.
#' @param radius Radius of the regions in voxels.
#' @param smooth Standard deviation of the smoothing kernel in voxels; 0 is no smoothing.
#' @param effect Relative effects of the regions, positive; recycled.
#' @return A list:
#'   \item{x}{Matrix with one row per subject and one column per voxel of the mask.}
#'   \item{y}{The outcome: a factor for `"binomial"`, numbers for `"gaussian"`.}
#'   \item{graph}{The graph of the mask, from [graph_mask()].}
#'   \item{beta}{The true coefficients of the predictor, one per column of `x`.}
#'   \item{region}{Which region each voxel is in, 0 for none.}
#'   \item{mask}{Logical array of size `dim`.}
#'   \item{eta}{The predictor of each subject.}
#' @seealso [n2gfl()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 40, dim = c(20, 20))
#' image(replace(array(NA, c(20, 20)), cohort$mask, cohort$x[1, ]))
#' image(replace(array(NA, c(20, 20)), cohort$mask, cohort$beta))
#' table(cohort$y)
#' @export
simulate_cohort <- function(n = 100, dim = c(20, 20, 20), regions = 3,
                            family = c("binomial", "gaussian"), noise = 0.5,
                            radius = max(1, min(dim) / 10), smooth = 1.5, effect = 1) {
  family <- match_choice(family, "family", c("binomial", "gaussian"))
  n <- check_count(n, "n", 2L)
  dim <- check_dim(dim)
  regions <- check_count(regions, "regions")
  noise <- check_nonnegative(noise, "noise")
  radius <- check_nonnegative(radius, "radius")
  smooth <- check_nonnegative(smooth, "smooth")
  effect <- check_effect(effect, regions)

  mask <- egg_mask(dim)
  graph <- graph_mask(mask)
  region <- place_regions(graph$coords, dim, regions, radius)
  x <- simulate_images(n, mask, smooth)
  beta <- c(0, effect)[region + 1]
  eta <- drop(x %*% beta)
  beta <- beta / stats::sd(eta)
  eta <- (eta - mean(eta)) / stats::sd(eta)
  y <- simulate_outcome(eta, family, noise)
  list(x = x, y = y, graph = graph, beta = beta, region = region, mask = mask, eta = eta)
}

check_effect <- function(effect, regions) {
  effect <- check_vector(effect, "effect")
  if (!length(effect) || !all(is.finite(effect) & effect > 0)) {
    stop_bad("`effect` must hold positive numbers, not ", describe(effect), ".")
  }
  rep_len(effect, regions)
}

# The largest ellipsoid in the box, or one that keeps `margin` voxels from its border.
in_egg <- function(coords, dim, margin = 0) {
  half <- pmax(dim / 2 - margin, 0.5)
  colSums(((t(coords) - (dim + 1) / 2) / half)^2) <= 1
}

egg_mask <- function(dim) {
  array(in_egg(arrayInd(seq_len(prod(dim)), dim), dim), dim)
}

# Region number of each voxel. Centres are drawn one by one, away from the border and the others.
place_regions <- function(coords, dim, regions, radius) {
  region <- integer(nrow(coords))
  free <- in_egg(coords, dim, margin = radius)
  for (k in seq_len(regions)) {
    candidates <- which(free)
    if (!length(candidates)) {
      stop_bad("`regions` must fit in the mask, but of ", regions, " with radius ",
               number_text(radius), " only ", k - 1, " did.")
    }
    centre <- candidates[sample.int(length(candidates), 1)]
    distance <- sqrt(colSums((t(coords) - coords[centre, ])^2))
    region[distance <= radius] <- k
    free <- free & distance > 2 * radius + 1
  }
  region
}

simulate_images <- function(n, mask, smooth) {
  kernels <- lapply(dim(mask), smoothing_kernel, smooth = smooth)
  template <- 0.5 + 0.1 * random_field(kernels)[mask]
  x <- matrix(0, n, sum(mask))
  for (i in seq_len(n)) {
    x[i, ] <- template + 0.1 * random_field(kernels)[mask] + 0.02 * stats::rnorm(ncol(x))
  }
  x
}

# Rows have norm 1, so that smoothed white noise has variance 1 everywhere, at the border too.
smoothing_kernel <- function(size, smooth) {
  if (smooth == 0) return(diag(size))
  kernel <- exp(-outer(seq_len(size), seq_len(size), "-")^2 / (2 * smooth^2))
  kernel / sqrt(rowSums(kernel^2))
}

# Smooths along the first axis, then makes it the last one; after all axes the order is the old one.
random_field <- function(kernels) {
  field <- stats::rnorm(prod(vapply(kernels, nrow, 1L)))
  for (kernel in kernels) field <- t(kernel %*% matrix(field, nrow(kernel)))
  as.vector(field)
}

simulate_outcome <- function(eta, family, noise) {
  if (family == "gaussian") return(eta + noise * stats::rnorm(length(eta)))
  # Ranks, not a threshold: both classes are there in the smallest cohort.
  score <- eta + noise * stats::rlogis(length(eta))
  control <- rank(score, ties.method = "first") > length(eta) / 2
  factor(ifelse(control, "control", "patient"), levels = c("patient", "control"))
}
