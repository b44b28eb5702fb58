# Least squares: the response is a number, the link is its mean.

gaussian_family <- function() {
  list(
    name = "gaussian", outcome = "numbers", intercept = TRUE,
    deviance_label = "Mean squared error",
    predict_types = c("link", "response"),
    predictions = list(),
    residual_types = c("deviance", "pearson", "response"),
    measures = gaussian_measures(),

    code = code_numbers,
    numbers = function(y) y,
    new_response = function(y, fit, name, n) check_numbers(y, name, n, "row of `newx`"),
    announce = announce_numbers,
    outcome_line = function(fit) NULL,
    sign_words = function(classnames) NULL,
    keep = function(data, link) list(),

    # make_folds() treats a response with only two values as classes, and other numbers as alike.
    strata = function(y) y,
    most_folds = function(data, group, measure, nested) NULL,
    check_folds = function(data, group, folds, measure) invisible(),
    check_fold = check_fold_varies,
    check_run = check_run_varies,

    mean = function(link, own) link,
    link = function(mean) mean,
    seen = see_weighted_rows,
    unit = function(y) stats::sd(y),
    own_names = function(classnames) NULL,
    own_terms = FALSE,
    classes = function(link, classnames, own) NULL,
    residuals = function(y, link, own, weights, type, fit) {
      if (type == "response") y - link else sqrt(weights) * (y - link)
    },
    # With the error variance that maximises it, which is one more parameter.
    log_likelihood = function(deviance, fit) {
      -fit$nobs / 2 * (log(2 * pi * deviance / fit$nobs) + 1)
    },
    extra_parameters = function(fit) 1,
    columns = function(mean, fit) list(.fitted = mean[, 1]),
    refit_flaw = function(fit) NULL
  )
}

gaussian_measures <- function() {
  measure <- function(loss) loss_measure(loss, function(y) y, function(link, own) link)
  squared <- measure(function(y, mean) (y - mean)^2)
  list(deviance = squared, mse = squared, mae = measure(function(y, mean) abs(y - mean)))
}

code_numbers <- function(y, weights) {
  y <- check_plain_response(y, weights)
  if (!(is.numeric(y) || is.logical(y)) || is.factor(y)) {
    what <- if (inherits(y, "Date")) "a Date" else if (is.object(y)) describe(y) else typeof(y)
    two <- (is.factor(y) || is.character(y)) && length(unique(y)) == 2
    stop_bad("`y` must be numeric for family \"gaussian\", not ", what,
             if (two) ": for two classes use family = \"binomial\"", ".")
  }
  y <- as.double(y)
  check_finite(y, "y")
  used <- y[weights > 0]
  if (all(used == used[1])) {
    stop_bad("`y` must vary for family \"gaussian\", but all its values are ",
             number_text(used[1]), ".")
  }
  list(y = y, classnames = NULL)
}

# Numbers do not say that they are classes.
announce_numbers <- function(y, response) {
  values <- sort(unique(response$y))
  if (length(values) != 2) return(invisible())
  message("`y` has only the two values ", paste(number_text_each(values), collapse = " and "),
          ": if they are classes, use family = \"binomial\".")
}

check_fold_varies <- function(data, fold) {
  y <- data$y[fold$train]
  if (length(unique(y)) >= 2) return(invisible())
  stop_bad(fold$argument, " must leave a `y` that varies in every training set, but without fold ",
           fold$name, " all its values are ", number_text(y[1]), ".")
}

check_run_varies <- function(y, classnames, k, advice) {
  if (length(unique(y)) >= 2) return(invisible())
  stop_bad("`y` must vary in every run, but in run ", k, " all its values are ",
           number_text(y[1]), advice, ".")
}
