# The families, and what a family is.
#
# A family is a list of values and small functions: everything that depends on the kind of response
# stands in its file, such as family-gaussian.R, and no other file asks for a family's name. A new
# family is such a file, a line in families(), and a loss in the core under the same name. A fit
# keeps the name of its family only, so that a saved fit does not hold code.
#
# The coded response `y` is what the core takes: one number per row, or a matrix with one row per
# observation if the response has several numbers (a time, a status, a stratum). response_rows()
# takes rows of both. `link` is the linear predictor, N x L for L fits. `own` are parameters that
# only this family has, such as cut points: a matrix with a row for each and one column per fit; or
# NULL. The core returns them, or they follow from the coefficients and keep() adds them to a fit.
# `data` is problem$data, `fit` a fit from n2gfl().
family_contract <- list(
  # Values -----------------------------------------------------------------------------------------
  name = "character",
  # What is predicted: "numbers", "classes" (two), "levels" (classes in order) or "times", which
  # assess() knows, see assess_kinds(); or another word, for which assess() stops.
  outcome = "character",
  # FALSE if the model has no intercept, whatever the user asks for.
  intercept = "logical",
  # What the deviance per observation is called as a measure.
  deviance_label = "character",
  # Which of "link", "response" and "class" predict() can give.
  predict_types = "character",
  # What else predict() can give: a function (link, own, fit, ...) for each further type, by its
  # name. Its other arguments are those of predict() that it needs, such as `times`.
  predictions = "list",
  # Which of "deviance", "pearson", "response" and "martingale" residuals() can give; may be none.
  # The last one is what augment() gives.
  residual_types = "character",
  # A function (y, link, weights, own) for each allowed measure, by its name in cv_measures; the
  # first is the default. It takes the rows of one fold and gives a loss for each of them (N x L),
  # or one score per fit for the whole fold (a vector of length L). A measure that cannot do without
  # the training rows has a fifth argument `held`: it takes all rows, of which those are held out,
  # and gives list(scores = one per fit, weight = of this fold in the mean over folds).
  measures = "list",

  # The response -----------------------------------------------------------------------------------
  # Checks the user's `y` and gives list(y = coded, classnames = labels in order, or NULL).
  code = c("y", "weights"),
  # Coded values as the numbers that users see: for two classes 0 and 1.
  numbers = "y",
  # A new outcome as such numbers: `n` values, which need not vary. `name` is the argument's.
  new_response = c("y", "fit", "name", "n"),
  # Messages about what was given, such as which class is modelled. `response` is from code().
  announce = c("y", "response"),
  # A line about the outcome for print(), or NULL.
  outcome_line = "fit",
  # For the warning about wrong signs: list(response = what features rise with, with = " with class
  # ...", turn = how to turn `y` round, or ""); NULL for numbers whose sign can be changed.
  sign_words = "classnames",
  # What else a fit keeps of its data, as a named list; log_likelihood() and predictions may need
  # it. `link` is that of the fit's own rows; it is computed only if the function uses it.
  keep = c("data", "link"),

  # Folds and perturbed data -----------------------------------------------------------------------
  # What folds and samples are balanced over: for make_folds(), one value per row.
  strata = "y",
  # NULL, or list(most, why) if the default number of folds must not exceed `most`.
  most_folds = c("data", "group", "measure", "nested"),
  # Stops or warns if random folds cannot be good: there are too few rows of some kind.
  check_folds = c("data", "group", "folds", "measure"),
  # Stops if one fold cannot be used, see new_fold_check(): what must be left for training, and
  # what must be held out.
  check_fold = c("data", "fold"),
  # Stops if run k of perturbed data cannot be fitted. `y`: coded values of its rows. `advice` ends
  # the message: what helps against it in runs of this kind, after a colon; or "".
  check_run = c("y", "classnames", "k", "advice"),

  # The model --------------------------------------------------------------------------------------
  # The mean for a link, and the link for a mean. The mean has one column per fit, or is an array
  # N x K x L if it is a probability for each of K classes.
  mean = c("link", "own"),
  # These two are for outcomes "numbers" and "classes" only.
  link = "mean",
  # Columns of covariates as the loss sees them, for rows with positive weight: less what changes no
  # loss. Attribute `where` says for which rows and sums, for the message about dependent ones.
  seen = c("columns", "y", "weights"),
  # What is not small on the scale of the link.
  unit = "y",
  # The names of the core's `own`, or NULL if it returns none.
  own_names = "classnames",
  # Are `own` coefficients, which coef() lists and which count as parameters?
  own_terms = "logical",
  # The predicted labels. Only if "class" is one of predict_types.
  classes = c("link", "classnames", "own"),
  # Residuals of numbers `y` of one of residual_types, weights already rescaled to mean 1.
  residuals = c("y", "link", "own", "weights", "type", "fit"),
  log_likelihood = c("deviance", "fit"),
  # How many parameters the likelihood has besides coefficients and own_terms.
  extra_parameters = "fit",
  # What augment() adds, as a named list of columns, the first with the rows' names. `mean` is what
  # predict() gives for one fit.
  columns = c("mean", "fit"),
  # Why a fit without shrinkage has no optimum ("The regions of fit s3 ...", "the features ..."), or
  # NULL. `fit` has at least grid$dev.ratio.
  refit_flaw = "fit"
)

# The registry. A function, because the files of the families are read after this one.
families <- function() {
  list(gaussian = gaussian_family(), binomial = binomial_family(), poisson = poisson_family(),
       cox = cox_family(), ordinal = ordinal_family())
}

# The family of a fit or a problem. An unknown name can come from a fit of a later version.
family_of <- function(name) {
  all <- families()
  if (!is.character(name) || length(name) != 1 || !name %in% names(all)) {
    stop_bad("The package has no family ", describe(name), ", only ", quoted(names(all)), ".")
  }
  all[[name]]
}

# The argument `family`. Its default shows the usual families; the registry may have more.
check_family <- function(family) {
  if (identical(family, eval(formals(n2gfl)$family, baseenv()))) family <- family[1]
  if (identical(family, "multinomial")) stop_multinomial()
  match_choice(family, "family", names(families()))
}

stop_multinomial <- function() {
  stop_bad("`family` = \"multinomial\" is not offered, because no sign can be expected of a class ",
           "against all the others: use \"ordinal\" for classes in an order, such as the stages ",
           "of a disease, or \"binomial\" for each pair of classes.")
}

# Rows of a coded response.
response_rows <- function(y, rows) if (is.matrix(y)) y[rows, , drop = FALSE] else y[rows]

# ---- parts that families share -------------------------------------------------------------------

# A response with one value per row, as a vector or factor.
check_plain_response <- function(y, weights) {
  if (is.matrix(y) && ncol(y) == 1) y <- y[, 1]
  if (!(is.atomic(y) || is.factor(y)) || is.null(y) || length(dim(y)) > 1) {
    stop_bad("`y` must be a vector or a factor, not ", describe(y), ".")
  }
  check_length(y, "y", length(weights), "row of `x`")
  y
}

# Covariates of a loss that sees all rows with positive weight, and constants too.
see_weighted_rows <- function(columns, y, weights) columns[weights > 0, , drop = FALSE]

# Columns less their means within groups of rows: zero if nothing but rounding is left.
centred_within <- function(columns, group) {
  centred <- columns - rowsum(columns, group)[as.character(group), , drop = FALSE] /
    as.vector(table(group)[as.character(group)])
  left <- sqrt(colSums(centred^2)) > 1e-10 * sqrt(colSums(columns^2))
  sweep(centred, 2, left, "*")
}

# Does a measure take the training rows besides those held out?
needs_training <- function(measure) is.function(measure) && "held" %in% names(formals(measure))

# A measure that is the loss of each observation, from its number and its mean.
loss_measure <- function(loss, numbers, inverse_link) {
  force(loss)
  function(y, link, weights, own) loss(numbers(y), inverse_link(link, own))
}
