# A problem, and views of it.
#
# A problem is what the checked arguments of n2gfl() mean: `data`, `control`, the penalties. A view
# is the same problem with other observation weights, in the form that the core takes. Every fold
# and every resample is a view: rows with weight 0 have no influence on its fits, its coding of
# covariates or the effects that it removes from x. x itself is shared by all views, never copied.
# A view is again a problem, so that a fold can have folds inside.

# The arguments of n2gfl(), as a list, checked and in the form that the core takes: what is fitted
# (`data`), how (`control`), and at which penalties. cv.n2gfl() and similar functions use it, too.
# `finite = FALSE` saves a pass over x if the next step is solve_view(), which itself refuses
# numbers that are not finite.
check_problem <- function(arguments, finite = TRUE) {
  arguments <- resolve_outcome(align_arguments(arguments))
  arguments <- unpack_images(arguments)
  control <- check_control(arguments)
  data <- check_data(arguments, control, finite)
  control$strong <- strong_limits(data$x)
  family_of(control$family)$announce(arguments$y, data)
  list(data = data, control = control, lambda1 = check_lambda(arguments$lambda1, "lambda1"),
       lambda2 = check_lambda(arguments$lambda2, "lambda2"),
       offset = !is.null(arguments$offset), weighted = !is.null(arguments$weights),
       rows = arguments$rows)
}

check_control <- function(arguments) {
  choice <- function(name, choices) match_choice(arguments[[name]], name, choices)
  value <- function(check, name) check(arguments[[name]], name)
  family <- check_family(arguments$family)
  list(
    family = family,
    sign = choice("sign", c("nonnegative", "nonpositive", "free")),
    penalty = choice("penalty", c("fused", "laplacian")),
    algorithm = choice("algorithm", c("pursuit", "fista", "ista")),
    standardize = value(check_flag, "standardize"),
    intercept = value(check_flag, "intercept") && family_of(family)$intercept,
    thresh = value(check_positive, "thresh"), maxit = value(check_count, "maxit"),
    threads = value(check_count, "threads"), nlambda1 = value(check_count, "nlambda1"),
    nlambda2 = value(check_count, "nlambda2"),
    lambda.min.ratio = value(check_ratio, "lambda.min.ratio")
  )
}

# Does the penalty make regions of one value? No other function asks for its name.
makes_regions <- function(fit) fit$penalty == "fused"

# The arguments of n2gfl() that have a default.
fit_argument_names <- function() setdiff(names(formals(n2gfl)), c("x", "y", "..."))

# All arguments of n2gfl(): those given, and the defaults for the rest.
fit_arguments <- function(given) {
  defaults <- as.list(formals(n2gfl))[fit_argument_names()]
  lacking <- setdiff(names(defaults), names(given))
  c(given, lapply(defaults[lacking], eval, baseenv()))
}

# ---- views ---------------------------------------------------------------------------------------

# The view with these weights. What is learnt from the data besides the fit is learnt here, once,
# and from the rows with positive weight: the coding of the covariates, and in data$map what is done
# to x. `others` names the other rows in messages, such as "fold 3".
problem_at <- function(problem, weights = problem$data$weights,
                       others = "rows that are not used for the fit") {
  data <- problem$data
  check_view_weights(weights, nrow(data$x))
  # A problem is coded for its own weights already.
  if (!identical(weights, data$weights)) {
    data$covariates <- code_covariates(data$coder, weights, others)
  }
  data$weights <- weights
  data$map <- view_map(data, weights, others)
  # Covariates that are removed from x are not in the model.
  data$unpenalised <- if (is.null(data$controls)) data$covariates else matrix(0, nrow(data$x), 0)
  problem$data <- data
  problem
}

# What a view does to x, in this order (see core/data/design.hpp): `factors` of the rows, `sites`
# whose effects are removed, and z, p, centre for the effects of the covariates. NULL for nothing.
view_map <- function(data, weights, others) {
  map <- c(
    if (!is.null(data$scaling)) list(factors = scale_factors(data$scaling, weights)),
    if (!is.null(data$harmony)) list(sites = harmonize_map(data$harmony, weights, others)),
    if (!is.null(data$controls)) deconfound_map(data$covariates, data$controls, weights)
  )
  if (length(map)) map
}

# The user's weights were checked before. This finds mistakes in the package: R would recycle
# weights of another length in silence.
check_view_weights <- function(weights, n) {
  if (!is.numeric(weights) || length(weights) != n || !all(is.finite(weights)) ||
      any(weights < 0) || !any(weights > 0)) {
    stop_bad("A view needs ", count_of(n, "finite nonnegative weight"), ", not all of them 0.")
  }
}

# The view's data. A problem that is no view lacks what the core takes.
view_data <- function(view) {
  if (is.null(view$data$unpenalised)) stop_bad("Only a view can be solved: see problem_at().")
  view$data
}

# ---- fits ----------------------------------------------------------------------------------------

# Fits at the rows of `grid`, or at the view's own penalties: a list with the coefficients a0,
# gamma, beta (and `own`, if the core returns parameters of the family), all with names; lambda1,
# lambda2, df, regions, nonzero, dev_ratio, gap, iter, converged, one for each fit; nulldev,
# npasses, effects; and `sites`, the estimates of their effects, if these are removed. `alive`, if
# not "", is a file whose removal stops the work as an interrupt does. The fits end with the one in
# which more than `pmax` different features have entered.
solve_view <- function(view, grid = NULL, progress = NULL, alive = "", pmax = Inf) {
  name_fits(core_fits(view, grid, progress, alive, pmax), view)
}

# The core's answer: plain vectors. This is what a checkpoint keeps of the fit to all rows.
core_fits <- function(view, grid = NULL, progress = NULL, alive = "", pmax = Inf) {
  data <- view_data(view)
  from <- if (is.null(grid)) view else check_rows_of_grid(grid)
  with_core_errors(data, fit_grid_cpp(
    data$x, data$map, as.matrix(data$y), data$weights, data$offset, data$unpenalised,
    graph_list(data$graph), data$penalty.factor, from$lambda1, from$lambda2, !is.null(grid),
    pmax, view$control, progress, alive))
}

# The core throws types; R knows the argument and looks for the value.
with_core_errors <- function(data, code) {
  tryCatch(code, `std::bad_alloc` = function(e) stop_no_memory(data),
           `n2gfl::NotFinite` = function(e) stop_not_finite(data$x, "x"))
}

check_rows_of_grid <- function(grid) {
  if (!length(grid$lambda1) || length(grid$lambda1) != length(grid$lambda2)) {
    stop_bad("A grid needs one `lambda1` and one `lambda2` for each row.")
  }
  grid
}

stop_no_memory <- function(data) {
  stop_bad("There is not enough memory for the fit: beyond `x` it needs room for some vectors ",
           "with one number for each of ", count_of(ncol(data$x), "feature"), " and ",
           count_of(length(data$graph$from), "edge"), ".")
}

# The core's answer with its coefficients as named vectors and matrices, which come first.
name_fits <- function(fits, view) {
  data <- view$data
  names <- paste0("s", seq_along(fits$lambda1))
  dim <- c(ncol(data$x), length(names))
  coefficients <- list(
    a0 = stats::setNames(fits$a0, names),
    gamma = if (ncol(data$covariates)) {
      matrix(fits$gamma, ncol(data$covariates), dim[2],
             dimnames = list(colnames(data$covariates), names))
    },
    beta = new("dgCMatrix", i = fits$beta_i, p = fits$beta_p, x = fits$beta_x, Dim = dim,
               Dimnames = list(colnames(data$x), names))
  )
  # A family without parameters of its own has a matrix without rows.
  if (NROW(fits$own)) {
    own_names <- family_of(view$control$family)$own_names(data$classnames)
    coefficients$own <- matrix(fits$own, ncol = dim[2], dimnames = list(own_names, names))
  }
  plain <- c("a0", "gamma", "beta_i", "beta_p", "beta_x", "own")
  c(coefficients, fits[setdiff(names(fits), plain)])
}

# What is known of a view before any fit: list(lambda_max = one number for each lambda2,
# lambda2_max = the lambda2 with which a grid begins, effects = see fit-sign-check.R).
start_facts <- function(view, lambda2) {
  data <- view_data(view)
  with_core_errors(data, null_model_cpp(
    data$x, data$map, as.matrix(data$y), data$weights, data$offset, data$unpenalised,
    graph_list(data$graph), data$penalty.factor, lambda2, view$control))
}
