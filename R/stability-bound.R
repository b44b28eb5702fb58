#' Error bound of stability selection
#'
#' Stability selection keeps the features that at least a share `cutoff` of the subsamples select,
#' when each subsample selects `q` of `p` features. The expected number of falsely selected features
#' then has a bound, `PFER` (per-family error rate). Any two of `cutoff`, `q` and `PFER` determine
#' the third; [stability_selection()] calls this function, and it helps to plan a run.
#'
#' @details
#' With \eqn{\theta = q/p}{theta = q/p} and \eqn{\tau}{tau} the cutoff, the bounds are
#'
#' * `"none"` (Meinshausen and Buehlmann 2010; the only one for `sampling.type = "MB"`):
#'   \eqn{q^2 / ((2\tau - 1) p)}{q^2 / ((2 tau - 1) p)};
#' * `"unimodal"`: \eqn{q^2 / (p\,C)}{q^2 / (p C)} with
#'   \eqn{C = 2 (2\tau - 1 - 1/(2B))}{C = 2 (2 tau - 1 - 1/(2B))} for
#'   \eqn{\tau \le 3/4}{tau <= 3/4} and
#'   \eqn{C = (1 + 1/B) / (4 (1 - \tau + 1/(2B)))}{C = (1 + 1/B) / (4 (1 - tau + 1/(2B)))} above:
#'   the share of complementary pairs in which both halves select a feature that is no better than a
#'   random choice has a unimodal distribution;
#' * `"r-concave"`: \eqn{p \min\{D(\theta^2, 2\tau - 1, B, -1/2), D(\theta, \tau, 2B, -1/4)\}}{
#'   p min(D(theta^2, 2 tau - 1, B, -1/2), D(theta, tau, 2B, -1/4))}, where
#'   \eqn{D(\eta, t, B, r)}{D(eta, t, B, r)} is the largest probability of a value of at least
#'   \eqn{t} under an r-concave distribution on \eqn{0, 1/B, \dots, 1}{0, 1/B, ..., 1} with mean
#'   \eqn{\eta}{eta} (Shah and Samworth 2013). This bound is the sharpest and needs the strongest
#'   assumption.
#'
#' The bound counts features that are selected no more often than by chance as errors, and it is
#' about features: a false region of 50 voxels is 50 errors.
#' @param p Number of features.
#' @param cutoff Share of the subsamples that must select a feature.
#' @param q Number of features that a subsample selects (at most, or on average).
#' @param PFER Bound on the expected number of falsely selected features.
#' @param B Number of complementary pairs (`"SS"`), or of subsamples (`"MB"`).
#' @param assumption What is assumed about features that should not be selected: see *Details*.
#' @param sampling.type `"SS"`, complementary pairs of halves of the data (Shah and Samworth), or
#'   `"MB"`, halves drawn one by one (Meinshausen and Buehlmann), for which `assumption` is always
#'   `"none"`.
#' @param ... Must be empty.
#' @return A list with `cutoff`, `q` and `PFER` (the bound at that cutoff and q, which may be
#'   smaller than the one asked for), and `p`, `B`, `assumption` and `sampling.type`.
#' @references
#' Meinshausen, N. and Buehlmann, P. (2010). Stability selection. *Journal of the Royal Statistical
#' Society B* 72, 417--473.
#'
#' Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
#' stability selection. *Journal of the Royal Statistical Society B* 75, 55--80.
#' @seealso [stability_selection()]
#' @examples
#' stability_bound(p = 1000, q = 30, cutoff = 0.75)$PFER
#' stability_bound(p = 1000, q = 30, PFER = 1, assumption = "r-concave")$cutoff
#' stability_bound(p = 1000, cutoff = 0.75, PFER = 1)$q
#' @export
stability_bound <- function(p, cutoff = NULL, q = NULL, PFER = NULL, B = 50,
                            assumption = c("unimodal", "r-concave", "none"),
                            sampling.type = c("SS", "MB"), ...) {
  check_empty_dots(...)
  sampling.type <- match_choice(sampling.type, "sampling.type", c("SS", "MB"))
  assumption <- match_choice(assumption, "assumption", c("unimodal", "r-concave", "none"))
  if (sampling.type == "MB") assumption <- "none"
  p <- check_count(p, "p")
  B <- check_count(B, "B", 2L)
  check_two_given(cutoff, q, PFER)
  if (!is.null(cutoff)) cutoff <- check_cutoff(cutoff, assumption)
  if (!is.null(q)) q <- check_selected(q, p)
  if (!is.null(PFER)) PFER <- check_positive(PFER, "PFER")

  bound <- function(cutoff, q) pfer_bound(cutoff, q, p, B, assumption)
  if (is.null(cutoff)) cutoff <- least_cutoff(bound, q, PFER, p, B, assumption)
  if (is.null(q)) q <- largest_q(bound, cutoff, PFER, p)
  achieved <- bound(cutoff, q)
  if (is.na(achieved)) stop_no_bound(cutoff, q, p, assumption)
  list(cutoff = cutoff, q = q, PFER = achieved, p = p, B = B, assumption = assumption,
       sampling.type = sampling.type)
}

check_two_given <- function(cutoff, q, PFER) {
  given <- !c(cutoff = is.null(cutoff), q = is.null(q), PFER = is.null(PFER))
  if (sum(given) != 2) {
    stop_bad("`cutoff`, `q` and `PFER`: two of the three must be given, not ", sum(given), ".")
  }
}

check_cutoff <- function(cutoff, assumption) {
  least <- if (assumption == "r-concave") 0 else 0.5
  if (!is_number(cutoff) || cutoff <= least || cutoff > 1) {
    stop_bad("`cutoff` must be a number above ", least, " and at most 1 for assumption ",
             quoted(assumption), ", not ", describe(cutoff), ".")
  }
  as.double(cutoff)
}

check_selected <- function(q, p) {
  q <- check_count(q, "q")
  if (q > p) stop_bad("`q` must be at most the number of features (", p, "), not ", q, ".")
  q
}

stop_no_bound <- function(cutoff, q, p, assumption) {
  stop_bad("`cutoff` and `q` must allow a bound under assumption ", quoted(assumption), ", but ",
           "for cutoff ", number_text(cutoff), " and q = ", q, " of ", p, " features there is ",
           "none: take a larger cutoff or a smaller q.")
}

# ---- the bounds ----------------------------------------------------------------------------------

# Bound on the expected number of errors, or NA where the theorem does not hold.
pfer_bound <- function(cutoff, q, p, B, assumption) {
  theta <- q / p
  switch(assumption,
    none = q * theta / (2 * cutoff - 1),
    unimodal = q * theta / unimodal_constant(cutoff, theta, B),
    `r-concave` = p * r_concave_bound(cutoff, theta, B)
  )
}

unimodal_constant <- function(cutoff, theta, B) {
  if (cutoff > 3 / 4) return((1 + 1 / B) / (4 * (1 - cutoff + 1 / (2 * B))))
  least <- 1 / 2 + min(theta^2, 1 / (2 * B) + 3 / 4 * theta^2)
  if (cutoff < least) return(NA_real_)
  constant <- 2 * (2 * cutoff - 1 - 1 / (2 * B))
  if (constant > 0) constant else NA_real_
}

r_concave_bound <- function(cutoff, theta, B) {
  # The smallest number of subsamples that reaches the cutoff. signif() removes rounding errors such
  # as 55 / 100 * 100 > 55.
  count <- ceiling(signif(cutoff * 2 * B, 10))
  if (cutoff <= theta || ceiling(4 * B * theta) + 1 >= 2 * B) return(NA_real_)
  min(1, r_concave_tail(theta^2, count - B, B, -1 / 2), r_concave_tail(theta, count, 2 * B, -1 / 4))
}

# Largest P(X >= t) of an r-concave X on 0, ..., B with mean theta B. The extremal distributions
# have masses (a + i)^(1/r) on 0, ..., k and a part of that at k + 1; for each k the shift `a` lies
# between the values that give the mean with all of the mass on k + 1 or none.
r_concave_tail <- function(theta, t, B, r) {
  mean <- theta * B
  first <- ceiling(2 * mean) + 1
  if (t < first) return(1)
  last <- B - 1
  tails <- vapply(max(first, t - 1):max(last, first, t - 1), function(k) {
    range <- c(mean_shift(k + 1, mean, r), mean_shift(k, mean, r))
    if (k < first || range[1] >= range[2]) return(extremal_tail(range[1], k, t, mean, r))
    stats::optimize(extremal_tail, range, k, t, mean, r, maximum = TRUE)$objective
  }, 1)
  max(tails, 0)
}

extremal_tail <- function(a, k, t, mean, r) {
  mass <- (a + 0:k)^(1 / r)
  1 - (k + 1 - mean) * sum(mass[seq_len(t)]) / sum((k + 1 - 0:k) * mass)
}

# The shift at which masses (a + i)^(1/r) on 0, ..., k have the given mean.
mean_shift <- function(k, mean, r) {
  excess <- function(a) {
    mass <- (a + 0:k)^(1 / r)
    sum(0:k * mass) / sum(mass) - mean
  }
  limits <- c(1e-5, 1e5)
  if (excess(limits[1]) > 0) return(limits[1])
  if (excess(limits[2]) < 0) return(limits[2])
  stats::uniroot(excess, limits, tol = .Machine$double.eps^0.75)$root
}

# ---- the third from two --------------------------------------------------------------------------

# The smallest cutoff whose bound is at most PFER. The bound decreases as the cutoff grows.
least_cutoff <- function(bound, q, PFER, p, B, assumption) {
  counts <- if (assumption == "unimodal") (B + 2):(2 * B) else 1:(2 * B)
  good <- function(count) isTRUE(bound(count / (2 * B), q) <= PFER)
  if (!good(2 * B)) {
    stop_bad("`PFER` must be reachable, but with q = ", q, " of ", p, " features no cutoff keeps ",
             "the bound below ", number_text(PFER), ": take a smaller q or a larger PFER.")
  }
  if (assumption == "none") return((q^2 / (PFER * p) + 1) / 2)
  first_true(good, counts) / (2 * B)
}

largest_q <- function(bound, cutoff, PFER, p) {
  good <- function(q) isTRUE(bound(cutoff, q) <= PFER)
  if (!good(1)) {
    stop_bad("`PFER` must be reachable, but at cutoff ", number_text(cutoff), " even q = 1 of ", p,
             " features has no bound below ", number_text(PFER), ".")
  }
  beyond <- first_true(function(q) !good(q), 1:(p + 1L))
  as.integer(beyond - 1L)
}

# By bisection: `holds` is false for the first values and true for the others, the last among them.
first_true <- function(holds, values) {
  low <- 0L
  high <- length(values)
  while (high - low > 1) {
    middle <- (low + high) %/% 2L
    if (holds(values[middle])) high <- middle else low <- middle
  }
  values[high]
}
