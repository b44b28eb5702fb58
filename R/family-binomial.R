# Logistic regression for two classes: the second one, which is modelled, is coded 1, the first -1.
# The mean is the probability of the second class.

binomial_family <- function() {
  list(
    name = "binomial", outcome = "classes", intercept = TRUE,
    deviance_label = "Binomial deviance",
    predict_types = c("link", "response", "class"),
    residual_types = c("deviance", "pearson", "response"),
    measures = binomial_measures(),

    code = code_classes,
    numbers = function(y) as.double(y > 0),
    new_response = new_class_numbers,
    announce = announce_classes,
    outcome_line = function(classnames) {
      paste0("Modelled class: ", classnames[2], " (against ", classnames[1], ")")
    },
    sign_words = function(classnames) {
      list(with = paste(" with class", quoted(classnames[2])),
           turn = "swap the levels of `y`, or ")
    },
    keep = function(data) list(),

    strata = function(y) y,
    most_folds = most_auc_folds,
    check_folds = check_class_sizes,
    check_fold = check_fold_classes,
    check_run = check_run_classes,

    mean = function(link, own) stats::plogis(link),
    link = function(mean) stats::qlogis(mean),
    unit = function(y) 1,
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
        paste("separate the classes perfectly: without shrinkage their coefficients have no",
              "finite value")
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

binomial_residuals <- function(y, mean, weights, type) {
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

# ---- folds and perturbed data --------------------------------------------------------------------

class_codes <- c(-1, 1)

# The number of observations (or groups) of each class, rows of weight 0 not counted.
class_sizes <- function(data, group) {
  used <- data$weights > 0
  unit <- if (is.null(group)) seq_along(used) else as.integer(group)
  vapply(class_codes, function(class) length(unique(unit[used & data$y == class])), 0L)
}

# The most folds that all hold a member of a class of this size: nested, the inner folds too, whose
# class has lost the members in the outer fold. 0 if there is no such number.
most_folds <- function(size, nested) {
  if (!nested) return(size)
  folds <- seq_len(size)
  max(0, folds[size - ceiling(size / folds) >= folds])
}

most_auc_folds <- function(data, group, measure, nested) {
  if (measure != "auc") return(NULL)
  size <- min(class_sizes(data, group))
  noun <- if (is.null(group)) "observation" else "group"
  list(most = max(2, most_folds(size, nested)),
       why = paste0("the smaller class has only ", count_of(size, noun), ", and the AUC needs ",
                    "both classes in every fold"))
}

# A class with fewer observations (or groups) than there are folds is missing from some folds. The
# AUC needs both classes in every fold; for other measures a warning is enough, and none if scores
# are means over observations, see fold_scores().
check_class_sizes <- function(data, group, folds, measure) {
  nested <- !is.null(folds$inner)
  nfolds <- max(folds$foldid)
  noun <- if (is.null(group)) "observation" else "group"
  sizes <- class_sizes(data, group)
  least <- which.min(sizes)
  size <- sizes[least]
  has <- paste0("class ", quoted(data$classnames[least]), " has ", count_of(size, noun))
  auc <- measure == "auc"
  # Inner training sets need both classes, and so do inner folds for the AUC.
  needed <- if (!nested) 2 else if (auc || nfolds == 2) 4 else 3
  if (size < needed) {
    stop_bad("`y` must have at least ", needed, " ", noun, "s of each class for ",
             if (nested) "nested ", "cross-validation",
             if (needed == 4) if (auc) " by AUC" else " with 2 folds", ", but ", has, ".")
  }
  most <- most_folds(size, nested)
  if (most >= nfolds) return(invisible())
  if (auc) {
    stop_bad("`nfolds` must be at most ", most, " for type.measure = \"auc\"",
             if (nested) " with nested = TRUE", ", not ", nfolds, ", because every ",
             if (nested) "inner ", "fold needs both classes and ", has, ".")
  }
  if (sum(data$weights > 0) / nfolds >= 3) warn_few(nfolds, size, has, most, nested)
}

warn_few <- function(nfolds, size, has, most, nested) {
  left <- if (nested) size - ceiling(size / nfolds) else size
  warning("`nfolds` = ", nfolds, " is too large", if (nested) " for nested = TRUE", ", because ",
          has, if (nested) paste(", of which", left, "or more are outside of each fold"), ": ",
          nfolds - left, if (nested) " inner", if (nfolds - left == 1) " fold holds" else
            " folds hold", " out none of them, so ",
          if (nfolds - left == 1) "its score says" else "their scores say",
          " nothing about this class",
          if (most >= 2) paste0("; `nfolds` = ", most, " would avoid that"), ".", call. = FALSE)
}

check_fold_classes <- function(data, fold) {
  stop_lost_class(data$y[fold$train], data$classnames, fold,
                  "leave both classes in every training set", "without")
  if (fold$measure == "auc") {
    stop_lost_class(data$y[fold$held], data$classnames, fold,
                    "put both classes into every fold for \"auc\"", "in")
  }
}

stop_lost_class <- function(y, classnames, fold, wanted, preposition) {
  lost <- lost_class(y, classnames)
  if (is.null(lost)) return(invisible())
  stop_bad(fold$argument, " must ", wanted, ", but ", preposition, " fold ", fold$name,
           " there is no row of class ", quoted(lost), if (fold$drawn) ": take fewer folds", ".")
}

check_run_classes <- function(y, classnames, k) {
  lost <- lost_class(y, classnames)
  if (is.null(lost)) return(invisible())
  stop_bad("`y` must have both classes in every run, but run ", k, " has no row of class ",
           quoted(lost), ": take larger samples.")
}

# The label of the first class that does not occur, or NULL.
lost_class <- function(y, classnames) {
  lost <- which(!class_codes %in% y)
  if (length(lost)) classnames[lost[1]]
}
