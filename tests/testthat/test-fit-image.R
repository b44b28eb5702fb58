# A default path on a small image: every row is proved optimal.

image_problem <- function(family, sign) {
  size <- c(7, 6, 5)
  image <- array(0, size)
  image[2:4, 2:4, 2:4] <- 0.5
  if (sign == "free") image[6:7, 4:6, 2:4] <- -0.5
  x <- matrix(rnorm(60 * prod(size)), 60)
  eta <- drop(x %*% c(image))
  y <- if (family == "binomial") random_classes(eta) else random_response(family, eta)
  reference_problem(x, y, graph_grid(size), family = family, sign = sign)
}

for (family in reference_families) for (sign in c("nonnegative", "free")) {
  test_that(paste("a path on a 3-D grid is optimal at every row:", family, sign), {
    withr::local_seed(341)
    p <- image_problem(family, sign)
    fit <- n2gfl(p$args$x, p$args$y, p$graph, family = family, sign = sign, nlambda1 = 4,
                 nlambda2 = 2)
    expect_identical(nrow(fit$grid), 8L)
    expect_kkt(fit, p)
    expect_gt(min(fit$grid$nonzero[c(4, 8)]), 0)
  })
}
