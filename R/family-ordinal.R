# Classes in an order: the proportional odds model P(y <= level k) = plogis(cut_k - link), as
# MASS::polr() has it. A larger link makes higher levels more probable. The cut points between the
# levels take the place of the intercept; the core returns them as `own`, one row for each.

ordinal_family <- function() {
  list(
    name = "ordinal", outcome = "levels", intercept = FALSE,
    deviance_label = "Ordinal deviance",
    predict_types = c("link", "response", "class"),
    predictions = list(cumulative = cumulative_probabilities),
    residual_types = character(0),
    measures = ordinal_measures(),

    code = code_levels,
    numbers = function(y) y,
    new_response = function(y, fit, name, n) new_class_numbers(y, fit, name, n) + 1,
    announce = function(y, response) invisible(),
    outcome_line = function(fit) {
      paste("Levels:", paste(fit$classnames, collapse = " < "))
    },
    sign_words = function(classnames) {
      list(response = "`y`", with = "", turn = "reverse the levels of `y`, or ")
    },
    keep = function(data, link) list(),

    # As a factor: make_folds() treats other numbers than two as alike.
    strata = function(y) factor(y),
    most_folds = function(data, group, measure, nested) NULL,
    check_folds = check_class_sizes,
    check_fold = check_fold_classes,
    check_run = function(y, classnames, k, advice) {
      check_run_classes(y, classnames, k, seq_along(classnames), advice)
    },

    mean = level_probabilities,
    link = function(mean) NULL,
    # A constant moves all cut points.
    seen = function(columns, y, weights) {
      used <- weights > 0
      structure(centred_within(columns[used, , drop = FALSE], rep(1, sum(used))),
                where = " and must vary")
    },
    unit = function(y) NULL,
    own_names = function(classnames) {
      paste(classnames[-length(classnames)], classnames[-1], sep = "|")
    },
    own_terms = TRUE,
    classes = function(link, classnames, own) {
      array(classnames[likeliest_level(link, own)], dim(link), dimnames(link))
    },
    residuals = function(y, link, own, weights, type, fit) NULL,
    log_likelihood = function(deviance, fit) -deviance / 2,
    extra_parameters = function(fit) 0,
    columns = level_columns,
    # For levels in perfect order no optimum exists: the deviance goes to zero as the coefficients
    # grow.
    refit_flaw = function(fit) {
      if (fit$grid$dev.ratio > 1 - 1e-4) {
        "order the levels perfectly"
      }
    }
  )
}

# A level that occurs only in rows of weight 0 is not in the model; such rows, whose code has no
# influence, get the level below it.
code_levels <- function(y, weights) {
  y <- check_plain_response(y, weights)
  if (!is.ordered(y)) {
    what <- if (is.object(y)) describe(y) else typeof(y)
    stop_bad("`y` must be an ordered factor for family \"ordinal\", not ", what, ": ",
             "factor(y, levels = , ordered = TRUE) sets the order of its levels, the lowest first.")
  }
  if (anyNA(y)) {
    stop_bad("`y` must have no missing values, but element ", which(is.na(y))[1], " is NA.")
  }
  occurs <- levels(y) %in% as.character(y[weights > 0])
  if (sum(occurs) < 2) {
    stop_bad("`y` must have at least 2 levels that occur for family \"ordinal\", but there is ",
             "only ", quoted(levels(y)[occurs]), ".")
  }
  code <- pmax(1, cumsum(occurs))
  list(y = code[as.integer(y)], classnames = levels(y)[occurs])
}

# ---- probabilities -------------------------------------------------------------------------------

# plogis(high) - plogis(low) without cancellation: above 0 the upper tails are subtracted.
interval_probability <- function(low, high) {
  upper <- low > 0
  above <- ifelse(upper, -low, high)
  below <- ifelse(upper, -high, low)
  stats::plogis(above) - stats::plogis(below)
}

# The cut points with the ends of the line: row k + 1 is above level k, row k below it.
padded_cuts <- function(own) rbind(-Inf, unname(own), Inf)

# The probability of level k, N x L. `k` is one level, or that of each observation.
level_probability <- function(link, own, k) {
  cuts <- padded_cuts(own)
  at <- function(row) cuts[rep_len(row, nrow(link)), , drop = FALSE] - link
  interval_probability(at(k), at(k + 1))
}

# N x K x L.
level_probabilities <- function(link, own) {
  levels <- nrow(own) + 1
  each <- vapply(seq_len(levels), function(k) level_probability(link, own, k), link + 0)
  aperm(array(each, c(dim(link), levels)), c(1, 3, 2))
}

# N x L. The lower of two equally probable levels.
likeliest_level <- function(link, own) {
  best <- array(1L, dim(link))
  most <- level_probability(link, own, 1)
  for (k in seq_len(nrow(own)) + 1L) {
    probability <- level_probability(link, own, k)
    better <- probability > most
    best[better] <- k
    most[better] <- probability[better]
  }
  best
}

# For predict(): P(y <= level) for all levels but the highest.
cumulative_probabilities <- function(link, own, fit) {
  each <- vapply(seq_len(nrow(own)), function(k) {
    stats::plogis(sweep(-link, 2, own[k, ], "+"))
  }, link + 0)
  below <- aperm(array(each, c(dim(link), nrow(own))), c(1, 3, 2))
  levels <- fit$classnames[seq_len(nrow(own))]
  array(below, dim(below), list(rownames(link), levels, colnames(link)))
}

# For augment(): the likeliest level and the probability of each.
level_columns <- function(mean, fit) {
  probability <- matrix(mean[, , 1], dim(mean)[1], dimnames = dimnames(mean)[1:2])
  likeliest <- apply(probability, 1, which.max)
  labels <- factor(fit$classnames[likeliest], fit$classnames, ordered = TRUE)
  each <- as.data.frame(probability)
  names(each) <- paste0(".prob.", fit$classnames)
  c(list(.class = stats::setNames(labels, rownames(probability))), each)
}

# ---- measures ------------------------------------------------------------------------------------

ordinal_measures <- function() {
  list(
    # Probabilities are bounded as for two classes.
    deviance = function(y, link, weights, own) {
      -2 * log(pmin(pmax(level_probability(link, own, y), 1e-5), 1 - 1e-5))
    },
    class = function(y, link, weights, own) (likeliest_level(link, own) != y) + 0,
    mae = function(y, link, weights, own) abs(likeliest_level(link, own) - y),
    rps = ranked_probability_score
  )
}

# The Brier score of "at most level k", averaged over the cut points.
ranked_probability_score <- function(y, link, weights, own) {
  cuts <- nrow(own)
  score <- 0
  for (k in seq_len(cuts)) {
    below <- stats::plogis(sweep(-link, 2, own[k, ], "+"))
    score <- score + (below - (y <= k))^2 / cuts
  }
  score
}
