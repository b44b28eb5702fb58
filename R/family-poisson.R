# Counts: the link is the logarithm of the mean. With log(exposure) as offset it is that of a rate.

poisson_family <- function() {
  list(
    name = "poisson", outcome = "numbers", intercept = TRUE,
    deviance_label = "Poisson deviance",
    predict_types = c("link", "response"),
    predictions = list(),
    residual_types = c("deviance", "pearson", "response"),
    measures = poisson_measures(),

    code = code_counts,
    numbers = function(y) y,
    new_response = function(y, fit, name, n) {
      y <- check_numbers(y, name, n, "row of `newx`")
      check_no_negative(y, name)
      y
    },
    announce = function(y, response) invisible(),
    outcome_line = function(fit) NULL,
    # The sign of a count cannot be changed.
    sign_words = function(classnames) list(response = "`y`", with = "", turn = ""),
    keep = function(data, link) list(saturated = poisson_saturated(data$y, data$weights)),

    strata = function(y) y,
    most_folds = function(data, group, measure, nested) NULL,
    check_folds = function(data, group, folds, measure) invisible(),
    check_fold = check_fold_varies,
    check_run = check_run_varies,

    mean = function(link, own) exp(link),
    link = function(mean) log(mean),
    seen = see_weighted_rows,
    unit = function(y) 1,
    own_names = function(classnames) NULL,
    own_terms = FALSE,
    classes = function(link, classnames, own) NULL,
    residuals = poisson_residuals,
    log_likelihood = function(deviance, fit) fit$saturated - deviance / 2,
    extra_parameters = function(fit) 0,
    columns = function(mean, fit) list(.fitted = mean[, 1]),
    refit_flaw = function(fit) NULL
  )
}

poisson_measures <- function() {
  measure <- function(loss) loss_measure(loss, function(y) y, function(link, own) exp(link))
  list(
    deviance = loss_measure(poisson_deviance, function(y) y, function(link, own) link),
    mse = measure(function(y, mean) (y - mean)^2),
    mae = measure(function(y, mean) abs(y - mean))
  )
}

# From the link, so that a mean which is 0 by rounding gives no NaN.
poisson_deviance <- function(y, link) 2 * (y_log_y(y) - y - y * link + exp(link))

y_log_y <- function(y) ifelse(y > 0, y * log(y), 0)

# The log-likelihood of a model that fits every count. A gamma function takes the place of the
# factorial, because counts need not be whole.
poisson_saturated <- function(y, weights) sum(weights * (y_log_y(y) - y - lgamma(y + 1)))

poisson_residuals <- function(y, link, own, weights, type, fit) {
  residual <- y - exp(link)
  if (type == "response") return(residual)
  if (type == "pearson") return(sqrt(weights) * residual / exp(link / 2))
  # Rounding must not make the deviance of a perfect fit negative.
  sign(residual) * sqrt(weights * pmax(0, poisson_deviance(y, link)))
}

code_counts <- function(y, weights) {
  y <- check_plain_response(y, weights)
  if (!is.numeric(y) || is.factor(y)) {
    what <- if (inherits(y, "Date")) "a Date" else if (is.object(y)) describe(y) else typeof(y)
    stop_bad("`y` must hold counts for family \"poisson\", not ", what, ".")
  }
  y <- as.double(y)
  check_finite(y, "y")
  check_no_negative(y, "y")
  used <- y[weights > 0]
  if (all(used == used[1])) {
    stop_bad("`y` must vary for family \"poisson\", but all its values are ",
             number_text(used[1]), ".")
  }
  list(y = y, classnames = NULL)
}
