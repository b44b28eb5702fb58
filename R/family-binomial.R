# Logistic regression for two classes: the second one, which is modelled, is coded 1, the first -1.
# The mean is the probability of the second class.

binomial_family <- function() {
  list(
    name = "binomial", outcome = "classes", intercept = TRUE,
    deviance_label = "Binomial deviance",
    predict_types = c("link", "response", "class"),
    predictions = list(),
    residual_types = c("deviance", "pearson", "response"),
    measures = binomial_measures(),

    code = code_classes,
    numbers = function(y) as.double(y > 0),
    new_response = new_class_numbers,
    announce = announce_classes,
    outcome_line = function(fit) {
      paste0("Modelled class: ", fit$classnames[2], " (against ", fit$classnames[1], ")")
    },
    sign_words = function(classnames) {
      list(response = "`y`", with = paste(" with class", quoted(classnames[2])),
           turn = "swap the levels of `y`, or ")
    },
    keep = function(data, link) list(),

    strata = function(y) y,
    most_folds = most_auc_folds,
    check_folds = check_class_sizes,
    check_fold = check_fold_classes,
    check_run = function(y, classnames, k, advice) {
      check_run_classes(y, classnames, k, c(-1, 1), advice)
    },

    mean = function(link, own) stats::plogis(link),
    link = function(mean) stats::qlogis(mean),
    seen = see_weighted_rows,
    unit = function(y) 1,
    own_names = function(classnames) NULL,
    own_terms = FALSE,
    classes = function(link, classnames, own) {
      array(classnames[1 + (link > 0)], dim(link), dimnames(link))
    },
    residuals = binomial_residuals,
    log_likelihood = function(deviance, fit) -deviance / 2,
    extra_parameters = function(fit) 0,
    columns = function(mean, fit) {
      mean <- mean[, 1]
      list(.fitted = mean, .class = factor(fit$classnames[1 + (mean > 0.5)], fit$classnames))
    },
    # For separated classes no optimum exists: the deviance goes to zero as the coefficients grow.
    refit_flaw = function(fit) {
      if (fit$grid$dev.ratio > 1 - 1e-4) {
        "separate the classes perfectly"
      }
    }
  )
}

# `p` is the probability of class 1.
binomial_measures <- function() {
  measure <- function(loss) {
    loss_measure(loss, function(y) as.double(y > 0), function(link, own) stats::plogis(link))
  }
  list(
    deviance = measure(function(y, p) -2 * bernoulli_log_likelihood(y, p)),
    # The errors of both classes are added, as glmnet does: "mse" is twice the Brier score.
    mse = measure(function(y, p) (y - p)^2 * 2),
    mae = measure(function(y, p) abs(y - p) * 2),
    class = measure(function(y, p) (y != (p > 0.5)) + 0),
    brier = measure(function(y, p) (y - p)^2),
    # Not a mean over observations: one number for the whole fold.
    auc = function(y, link, weights, own) {
      y <- as.double(y > 0)
      apply(stats::plogis(link), 2, function(p) weighted_auc(y, p, weights))
    }
  )
}

# Probabilities are bounded, as in glmnet, so that one certain but wrong prediction does not make
# the deviance infinite.
bernoulli_log_likelihood <- function(y, probability) {
  probability <- pmin(pmax(probability, 1e-5), 1 - 1e-5)
  y * log(probability) + (1 - y) * log(1 - probability)
}

binomial_residuals <- function(y, link, own, weights, type, fit) {
  mean <- stats::plogis(link)
  residual <- y - mean
  if (type == "response") return(residual)
  if (type == "pearson") return(sqrt(weights) * residual / sqrt(mean * (1 - mean)))
  likelihood <- y * mean + (1 - y) * (1 - mean)
  sign(residual) * sqrt(-2 * weights * log(likelihood))
}

# ---- the response --------------------------------------------------------------------------------

code_classes <- function(y, weights) {
  y <- check_plain_response(y, weights)
  if (anyNA(y)) {
    stop_bad("`y` must have no missing values, but element ", which(is.na(y))[1], " is NA.")
  }
  if (is.numeric(y) && !is.factor(y)) check_finite(y, "y")
  # factor() drops empty levels, so only classes that occur count.
  classes <- levels(factor(y[weights > 0]))
  if (length(classes) != 2) {
    shown <- if (length(classes) > 5) c(classes[1:5], "...") else classes
    stop_bad("`y` must have 2 classes for family \"binomial\", not ", length(classes), " (",
             paste(shown, collapse = ", "), ").")
  }
  list(y = ifelse(as.character(y) == classes[2], 1, -1), classnames = classes)
}

# 0 and 1 for the classes of the fit.
new_class_numbers <- function(y, fit, name, n) {
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  check_length(y, name, n, "row of `newx`")
  known <- match(as.character(y), fit$classnames)
  if (anyNA(known)) {
    bad <- which(is.na(known))[1]
    stop_bad("`", name, "` must have the classes of the fit, ", quoted(fit$classnames),
             ", but element ", bad, " is ", describe(as.character(y)[bad]), ".")
  }
  known - 1
}

# Text has no order of its own.
announce_classes <- function(y, response) {
  if (!is.character(y)) return(invisible())
  message("Modelling the probability of ", quoted(response$classnames[2]), " (against ",
          quoted(response$classnames[1]), "); make `y` a factor to set the order.")
}
