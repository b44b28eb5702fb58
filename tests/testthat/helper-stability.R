# Selections as columns of zeros and ones, from lists of feature numbers.
sets_matrix <- function(sets, p) {
  vapply(sets, function(set) as.numeric(seq_len(p) %in% set), numeric(p))
}

random_sets <- function(k, p, size) {
  lapply(seq_len(k), function(i) sort(sample(p, size[sample.int(length(size), 1)])))
}

# A cohort of smooth images whose outcome depends on two squares of a 16 x 16 image, all with the
# same positive effect, as in the paper. It does not use simulate_cohort(), so that the claims
# tested with it do not depend on changes of that function.
coherent_cohort <- function(n = 100, side = 16, noise = 0.5) {
  smooth <- exp(-outer(seq_len(side), seq_len(side), "-")^2 / 2)
  smooth <- smooth / sqrt(rowSums(smooth^2))
  field <- function() as.vector(smooth %*% matrix(rnorm(side^2), side) %*% t(smooth))
  x <- t(replicate(n, field())) + 0.3 * matrix(rnorm(n * side^2), n)
  signal <- matrix(0, side, side)
  signal[3:6, 3:6] <- signal[10:13, 9:12] <- 1
  eta <- as.vector(scale(x %*% as.vector(signal)))
  y <- ifelse(eta + noise * rlogis(n) > 0, 1, -1)
  list(x = x, y = y, graph = graph_grid(c(side, side)), signal = as.vector(signal))
}
