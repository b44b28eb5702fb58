# Ten problems whose solutions are kept in fixtures/reference.csv, made by make-reference.R there.

# Numbers between -1 and 1 that are the same in every version of R and on every machine.
plain_numbers_from <- function(seed, n) {
  state <- seed
  values <- numeric(n)
  for (k in seq_len(n)) {
    state <- (16807 * state) %% 2147483647
    values[k] <- 2 * state / 2147483647 - 1
  }
  values
}

reference_settings <- list(
  plain = list(), free = list(sign = "free"), nonpositive = list(sign = "nonpositive"),
  logistic = list(family = "binomial"), `logistic, free` = list(family = "binomial", sign = "free"),
  laplacian = list(penalty = "laplacian"), standardized = list(standardize = TRUE),
  weights = list(weights = rep(c(1, 2, 0.5), 10)),
  covariates = list(covariates = cbind(a = plain_numbers_from(99, 30))),
  factors = list(penalty.factor = rep(c(1, 0.5, 2, Inf), 9)))

reference_case <- function(name) {
  x <- matrix(plain_numbers_from(11, 30 * 36), 30)
  settings <- reference_settings[[name]]
  y <- rowSums(x[, c(8, 9, 14, 15)]) - rowSums(x[, c(29, 30, 35, 36)]) +
    plain_numbers_from(17, 30)
  if (identical(settings$family, "binomial")) y <- as.numeric(y > 0)
  do.call(reference_problem, c(list(x, y, graph_grid(c(6, 6))), settings))
}

# Objective and support of the solution in the middle of the grid, far below the usual tolerance.
reference_solution <- function(name) {
  p <- reference_case(name)
  largest <- lambda_max(p$args$x, p$args$y, p$graph, family = p$family, sign = p$sign,
                        penalty = p$penalty, weights = p$args$weights,
                        covariates = p$args$covariates, penalty.factor = p$args$penalty.factor,
                        standardize = p$args$standardize, lambda2 = 0)
  # Four digits, so that the problem itself does not depend on the last ones.
  lambda1 <- signif(largest / 5, 4)
  fit <- fit_problem(p, lambda1, lambda1 / 4, thresh = 1e-12)
  row <- fit_row(fit, 1)
  nonzero <- which(row$beta != 0)
  list(fit = fit, problem = p,
       row = data.frame(name = name, lambda1 = lambda1, objective = fit_objective(p, fit),
                        nonzero = length(nonzero), support = hash_cpp(nonzero)))
}
