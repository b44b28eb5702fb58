# The models that the paper compares, behind one interface: fit(x, y, graph, grid = NULL). All are
# linear classifiers, and a fit is a list with
#
#   grid  data frame of tuning parameters, from the strongest penalty to the weakest; when it is not
#         given, it is made from the rows that fit() is given
#   a0    intercepts, one for each row of the grid
#   beta  coefficients, one column for each row of the grid; zero = not selected
#
# The later level of `y` is predicted where a0 + x beta > 0. What `selects` has zeros in beta.

comparators <- function() {
  list(
    SVM = list(fit = fit_svm, selects = FALSE),
    LR = list(fit = fit_ridge, selects = FALSE),
    MLDA = list(fit = fit_mlda, selects = TRUE),
    LapL = n2gfl_model(sign = "free", penalty = "laplacian", lambda2 = c(0.1, 0.03, 0.01, 0.001),
                       nlambda1 = 12, lambda.min.ratio = 0.05),
    lasso = n2gfl_model(sign = "free", lambda2 = 0, nlambda1 = 30),
    GFL = n2gfl_model(sign = "free", nlambda1 = 15, nlambda2 = 4),
    n2GFL = n2gfl_model(sign = "nonnegative", nlambda1 = 15, nlambda2 = 4)
  )
}

# ---- n2gfl() itself ------------------------------------------------------------------------------

n2gfl_model <- function(sign, penalty = "fused", ...) {
  call_n2gfl <- function(x, y, graph, ...) {
    n2gfl::n2gfl(x, y, graph, family = "binomial", sign = sign, penalty = penalty, ...)
  }
  fit <- function(x, y, graph, grid = NULL) {
    if (is.null(grid)) {
      path <- call_n2gfl(x, y, graph, ...)
      return(list(grid = path$grid[c("lambda1", "lambda2")], a0 = path$a0, beta = path$beta))
    }
    # One call for each lambda2: a grid need not have the same lambda1 for all of them.
    paths <- lapply(split(grid, -grid$lambda2), function(part) {
      call_n2gfl(x, y, graph, lambda1 = part$lambda1, lambda2 = part$lambda2[1])
    })
    list(grid = grid, a0 = unlist(lapply(paths, `[[`, "a0"), use.names = FALSE),
         beta = do.call(cbind, unname(lapply(paths, `[[`, "beta"))))
  }
  list(fit = fit, selects = TRUE)
}

# ---- dense models --------------------------------------------------------------------------------

# With d > N every fit that is penalised by the length of beta lies in the span of the rows. So the
# N coordinates of the rows in that span suffice for all d features.
row_space <- function(x) {
  centre <- colMeans(x)
  parts <- thin_svd(sweep(x, 2, centre))
  list(scores = parts$u * rep(parts$d, each = nrow(x)), axes = parts$v, centre = centre)
}

# Singular values and vectors from the smaller cross product: the matrices here are ten times as
# wide as high, and the loss of accuracy below 1e-6 of the largest value does not matter for a
# classifier.
thin_svd <- function(x) {
  if (nrow(x) > ncol(x)) {
    turned <- thin_svd(t(x))
    return(list(u = turned$v, d = turned$d, v = turned$u))
  }
  parts <- eigen(tcrossprod(x), symmetric = TRUE)
  kept <- parts$values > 1e-12 * parts$values[1]
  u <- parts$vectors[, kept, drop = FALSE]
  d <- sqrt(parts$values[kept])
  list(u = u, d = d, v = crossprod(x, u) / rep(d, each = ncol(x)))
}

# Coefficients of the scores as coefficients of the features.
from_row_space <- function(space, a0, weights) {
  beta <- space$axes %*% weights
  list(a0 = a0 - drop(crossprod(beta, space$centre)), beta = beta)
}

# Costs are relative to the mean squared length of a centred row.
fit_svm <- function(x, y, graph, grid = NULL) {
  if (is.null(grid)) grid <- data.frame(cost = 10^(-3:2))
  space <- row_space(x)
  unit <- mean(rowSums(space$scores^2))
  y <- droplevels(factor(y))
  fits <- lapply(grid$cost / unit, function(cost) {
    fit <- e1071::svm(space$scores, y, type = "C-classification", kernel = "linear", cost = cost,
                      scale = FALSE)
    # In e1071 the first label is the positive side, and that is the class of the first row.
    side <- if (fit$labels[1] == 2) 1 else -1
    side * c(-fit$rho, crossprod(fit$SV, fit$coefs))
  })
  fits <- do.call(cbind, fits)
  c(list(grid = grid), from_row_space(space, fits[1, ], fits[-1, , drop = FALSE]))
}

# With d > N the classes can be separated and the likelihood has no maximum. Instead, logistic
# regression is fitted with a ridge penalty, down to a very small one, where the fit is close to
# the separating direction of least norm.
fit_ridge <- function(x, y, graph, grid = NULL) {
  if (is.null(grid)) grid <- data.frame(lambda = 10^seq(1, -4, by = -0.5))
  space <- row_space(x)
  unit <- mean(rowSums(space$scores^2)) / nrow(x)
  fit <- glmnet::glmnet(space$scores, droplevels(factor(y)), family = "binomial", alpha = 0,
                        lambda = grid$lambda * unit, standardize = FALSE, thresh = 1e-9,
                        maxit = 1e6)
  c(list(grid = grid), from_row_space(space, unname(fit$a0), as.matrix(fit$beta)))
}

# ---- MLDA ----------------------------------------------------------------------------------------

# t-tests choose `count` features on the rows given, then maximum-uncertainty linear discriminant
# analysis (Dai and others 2012, after Thomaz and others 2006).
fit_mlda <- function(x, y, graph, grid = NULL) {
  if (is.null(grid)) grid <- data.frame(count = unique(pmin(25 * 2^(0:7), ncol(x))))
  positive <- as.integer(droplevels(factor(y))) == 2
  strength <- abs(t_statistics(x, positive))
  ranked <- order(-strength)
  fits <- lapply(grid$count, function(count) {
    chosen <- sort(ranked[seq_len(count)])
    rule <- uncertain_lda(x[, chosen, drop = FALSE], positive)
    list(a0 = rule$a0, beta = replace(numeric(ncol(x)), chosen, rule$beta))
  })
  list(grid = grid, a0 = vapply(fits, `[[`, 0, "a0"),
       beta = vapply(fits, `[[`, numeric(ncol(x)), "beta"))
}

# Two-sample t with the pooled variance; 0 for a constant feature.
t_statistics <- function(x, positive) {
  n <- c(sum(positive), sum(!positive))
  means <- rbind(colMeans(x[positive, , drop = FALSE]), colMeans(x[!positive, , drop = FALSE]))
  within <- x - means[2 - positive, , drop = FALSE]
  variance <- colSums(within^2) / (sum(n) - 2)
  ifelse(variance > 0, (means[1, ] - means[2, ]) / sqrt(variance * sum(1 / n)), 0)
}

# Linear discriminant analysis whose pooled covariance has the eigenvalues below their average
# raised to it. Prior probabilities are the classes' shares.
uncertain_lda <- function(x, positive) {
  above <- colMeans(x[positive, , drop = FALSE])
  below <- colMeans(x[!positive, , drop = FALSE])
  within <- x
  within[positive, ] <- sweep(x[positive, , drop = FALSE], 2, above)
  within[!positive, ] <- sweep(x[!positive, , drop = FALSE], 2, below)
  parts <- thin_svd(within)
  values <- parts$d^2 / (nrow(x) - 2)
  average <- sum(values) / ncol(x)  # the eigenvalues left out are zero
  gain <- 1 / pmax(values, average) - 1 / average
  difference <- above - below
  beta <- difference / average + drop(parts$v %*% (gain * crossprod(parts$v, difference)))
  list(a0 = log(sum(positive) / sum(!positive)) - sum(beta * (above + below)) / 2, beta = beta)
}
