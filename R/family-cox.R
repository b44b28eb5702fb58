# Right-censored times to an event: Cox's proportional hazards with Breslow's treatment of ties. The
# link is the logarithm of the relative risk. There is no intercept, because the loss compares rows
# that are at risk together, and a number that is added to all links cancels.
#
# The coded response is a matrix with the columns time, status (1 = event, 0 = censored) and stratum
# (1, 2, ...), and with the labels of the strata as attribute, if there are several. A fit keeps the
# logarithm of the cumulative baseline hazard as `own`: its rows belong to those of fit$baseline.

cox_family <- function() {
  list(
    name = "cox", outcome = "times", intercept = FALSE,
    deviance_label = "Partial likelihood deviance",
    predict_types = c("link", "response"),
    predictions = list(risk = function(link, own, fit) exp(link), survival = survival_curves,
                       time = event_quantiles),
    residual_types = c("deviance", "martingale"),
    measures = list(
      deviance = held_out_deviance,
      C = function(y, link, weights, own) concordance(y, link, weights)
    ),

    code = code_times,
    numbers = function(y) y,
    new_response = new_times,
    announce = function(y, response) invisible(),
    outcome_line = function(fit) {
      strata <- length(fit$strata)
      paste0(count_of(fit$events, "event"), " in ", count_of(fit$nobs, "row"),
             if (strata) paste0(", ", strata, " strata"))
    },
    # Times fall where the hazard rises, and cannot be turned round.
    sign_words = function(classnames) list(response = "the hazard", with = "", turn = ""),
    keep = keep_baseline,

    strata = function(y) factor(y[, "status"]),
    most_folds = most_event_folds,
    check_folds = check_event_folds,
    check_fold = check_fold_events,
    check_run = function(y, classnames, k, advice) {
      if (any_choice(y, rep(1, nrow(y)))) return(invisible())
      stop_bad("`y` must have an event with another row at risk in every run, but run ", k,
               " has none", advice, ".")
    },

    mean = function(link, own) exp(link),
    link = function(mean) log(mean),
    seen = see_rows_at_risk,
    unit = function(y) 1,
    own_names = function(classnames) NULL,
    own_terms = FALSE,
    classes = function(link, classnames, own) NULL,
    residuals = cox_residuals,
    log_likelihood = function(deviance, fit) fit$saturated - deviance / 2,
    extra_parameters = function(fit) 0,
    columns = function(mean, fit) list(.fitted = mean[, 1]),
    # If every event has the largest link of the rows at risk, no optimum exists: the deviance goes
    # to zero as the coefficients grow.
    refit_flaw = function(fit) {
      if (fit$grid$dev.ratio > 1 - 1e-4) {
        "order the events perfectly"
      }
    }
  )
}

# ---- the response --------------------------------------------------------------------------------

is_times <- function(y) {
  inherits(y, "Surv") || (is.matrix(y) && all(c("time", "status") %in% colnames(y)))
}

# The columns time and status of a Surv object or a matrix, and stratum if the matrix has it. A Surv
# object is a matrix with attributes, so its package is not needed.
time_columns <- function(y, name = "y") {
  if (inherits(y, "Surv")) {
    if (!identical(attr(y, "type"), "right")) {
      stop_bad("`", name, "` must hold right-censored times, Surv(time, status), not a Surv ",
               "object of type ", quoted(attr(y, "type")), ".")
    }
    y <- unclass(y)
    colnames(y) <- c("time", "status")
  }
  columns <- c("time", "status", "stratum")
  given <- is.matrix(y) && (is.numeric(y) || is.logical(y)) && ncol(y) %in% 2:3
  if (given && is.null(colnames(y))) colnames(y) <- columns[seq_len(ncol(y))]
  if (!given || !setequal(colnames(y), columns[seq_len(ncol(y))])) {
    stop_bad("`", name, "` must be a Surv object or a numeric matrix with the columns \"time\" ",
             "and \"status\" (and \"stratum\" for strata) for family \"cox\", not ",
             if (given) paste("one with the columns", quoted(colnames(y))) else describe(y), ".")
  }
  y[, columns[seq_len(ncol(y))], drop = FALSE]
}

# The stratum of each row as a factor, or NULL: an attribute as glmnet::stratifySurv() sets it, or
# the column of `times`.
given_strata <- function(y, times, name = "y") {
  strata <- attr(y, "strata")
  if (is.null(strata) && ncol(times) == 3) strata <- times[, "stratum"]
  if (is.null(strata)) return(NULL)
  if (length(strata) != nrow(times)) {
    stop_bad("`", name, "` must have one stratum per row (", nrow(times), "), not ", length(strata),
             ".")
  }
  if (anyNA(strata)) {
    stop_bad("`", name, "` must have no missing strata, but that of row ", which(is.na(strata))[1],
             " is NA.")
  }
  factor(strata)
}

check_times <- function(times, name = "y") {
  bad <- which(!is.finite(times[, "time"]) | times[, "time"] <= 0)[1]
  if (!is.na(bad)) {
    stop_bad("`", name, "` must hold positive, finite times, but that of row ", bad, " is ",
             number_text(times[bad, "time"]), ".")
  }
  bad <- which(!times[, "status"] %in% 0:1)[1]
  if (!is.na(bad)) {
    stop_bad("`", name, "` must have the status 1 (event) or 0 (censored), but that of row ", bad,
             " is ", number_text(times[bad, "status"]), ".")
  }
}

code_times <- function(y, weights) {
  times <- time_columns(y)
  check_rows(times, "y", length(weights), "row of `x`")
  check_times(times)
  strata <- given_strata(y, times)
  several <- nlevels(strata) > 1
  coded <- unname(cbind(times[, 1:2], if (several) as.integer(strata) else 1))
  storage.mode(coded) <- "double"
  coded[, 1] <- tie_rounded(coded[, 1])
  colnames(coded) <- c("time", "status", "stratum")
  check_events(coded, weights)
  if (several) attr(coded, "strata") <- levels(strata)
  list(y = coded, classnames = NULL)
}

# Times that differ by rounding, such as differences of two ages, are equal, as for
# survival::coxph().
tie_rounded <- function(time) {
  values <- sort(unique(time))
  apart <- c(TRUE, diff(values) > sqrt(.Machine$double.eps) * values[-1])
  values[apart][cumsum(apart)][match(time, values)]
}

check_events <- function(y, weights) {
  if (any_choice(y, weights)) return(invisible())
  none <- !any(y[weights > 0, "status"] == 1)
  stop_bad("`y` must have an event", if (!none) " while another row of its stratum is at risk",
           " for family \"cox\", but ",
           if (none) "its status is 0 in all rows with a positive weight" else "there is none", ".")
}

# New times, with the strata of the fit.
new_times <- function(y, fit, name, n) {
  times <- time_columns(y, name)
  check_rows(times, name, n, "row of `newx`")
  check_times(times, name)
  strata <- given_strata(y, times, name)
  if (nlevels(strata) < 2 && is.null(fit$strata)) strata <- NULL
  stratum <- match_strata(strata, fit, name, n)
  cbind(time = times[, "time"], status = times[, "status"], stratum = stratum)
}

# The number of each stratum among those of the fit.
match_strata <- function(strata, fit, name, n) {
  if (is.null(fit$strata)) {
    if (!is.null(strata)) {
      stop_bad("`", name, "` must ", if (name == "newstrata") "not be given" else "have no strata",
               ", because the fit has no strata.")
    }
    return(rep(1L, n))
  }
  if (is.null(strata)) {
    stop_bad("`", name, "` must give the stratum of each row, because the fit has the strata ",
             quoted(fit$strata), ".")
  }
  check_length(strata, name, n, "row of `newx`")
  stratum <- match(as.character(strata), fit$strata)
  unknown <- which(is.na(stratum))[1]
  if (!is.na(unknown)) {
    stop_bad("`", name, "` must have strata of the fit, ", quoted(fit$strata), ", but that of row ",
             unknown, " is ", describe(as.character(strata)[unknown]), ".")
  }
  stratum
}

# ---- rows at risk --------------------------------------------------------------------------------

# The event times of each stratum, and who is at risk there, for rows with positive weight:
# list(rows = in the order in which they join those at risk, the longest time of a stratum first,
# first = the place of the first row of each row's stratum; and for each event time its stratum,
# time, weight = of its events, last = the place of the last row at risk).
risk_sets <- function(y, weights) {
  rows <- which(weights > 0)
  rows <- rows[order(y[rows, "stratum"], -y[rows, "time"])]
  stratum <- y[rows, "stratum"]
  time <- y[rows, "time"]
  starts <- c(TRUE, diff(stratum) != 0)
  tied <- cumsum(starts | c(TRUE, diff(time) != 0))
  events <- as.vector(rowsum(weights[rows] * y[rows, "status"], tied))
  last <- cumsum(tabulate(tied))[events > 0]
  list(rows = rows, first = which(starts)[cumsum(starts)], stratum = stratum[last],
       time = time[last], weight = events[events > 0], last = last)
}

# Is there an event with another row at risk? Otherwise the partial likelihood is the same for all
# coefficients.
any_choice <- function(y, weights) {
  sets <- risk_sets(y, weights)
  any(sets$last > sets$first[sets$last])
}

# What is constant within a stratum cancels, and so does what differs only in rows that are never at
# risk at an event.
see_rows_at_risk <- function(columns, y, weights) {
  sets <- risk_sets(y, weights)
  seen <- sets$rows[seq_along(sets$rows) %in%
                      unlist(Map(seq, sets$first[sets$last], sets$last))]
  structure(centred_within(columns[seen, , drop = FALSE], y[seen, "stratum"]),
            where = " within each stratum, in the rows that are at risk at an event")
}

# log(exp(a) + exp(b)) without overflow.
log_add <- function(a, b) pmax(a, b) + log1p(exp(-abs(a - b)))

# The logarithm of the sum of weights times exp(link) over the rows at risk, one row per event time.
# It is summed on the scale of the logarithm: links of images can be so large that exp() overflows.
log_risk <- function(sets, link, weights) {
  sums <- log(weights[sets$rows]) + link[sets$rows, , drop = FALSE]
  for (k in setdiff(seq_along(sets$rows), sets$first)) {
    sums[k, ] <- log_add(sums[k - 1, ], sums[k, ])
  }
  sums[sets$last, , drop = FALSE]
}

# Minus twice the partial log-likelihood, compared with that of a model in which at each event time
# only the events are at risk.
partial_deviance <- function(y, link, weights) {
  sets <- risk_sets(y, weights)
  at_risk <- colSums(sets$weight * (log_risk(sets, link, weights) - log(sets$weight)))
  2 * (at_risk - colSums(weights * y[, "status"] * link))
}

# The partial log-likelihood of that model.
saturated_likelihood <- function(y, weights) {
  events <- risk_sets(y, weights)$weight
  -sum(events * log(events))
}

# ---- the baseline hazard -------------------------------------------------------------------------

# What a fit needs for survival curves: one number for each event time and fit, and some vectors.
keep_baseline <- function(data, link) {
  y <- data$y
  sets <- risk_sets(y, data$weights)
  hazard <- log(sets$weight) - log_risk(sets, link, data$weights)
  by_time <- order(sets$stratum, sets$time)
  hazard <- hazard[by_time, , drop = FALSE]
  stratum <- sets$stratum[by_time]
  for (k in which(c(FALSE, diff(stratum) == 0))) {
    hazard[k, ] <- log_add(hazard[k - 1, ], hazard[k, ])
  }
  dimnames(hazard) <- list(NULL, paste0("s", seq_len(ncol(hazard))))
  used <- data$weights > 0
  group <- factor(y[used, "stratum"], seq_len(max(1, length(attr(y, "strata")))))
  list(own = hazard, baseline = data.frame(stratum = stratum, time = sets$time[by_time]),
       follow_up = as.vector(tapply(y[used, "time"], group, max)), strata = attr(y, "strata"),
       events = sum(y[used, "status"]), saturated = saturated_likelihood(y, data$weights))
}

# The logarithm of the cumulative baseline hazard of a stratum: times x fits. NA after the last time
# in the data.
log_hazard_at <- function(times, stratum, own, fit) {
  at <- which(fit$baseline$stratum == stratum)
  passed <- findInterval(times, fit$baseline$time[at])
  hazard <- rbind(-Inf, unname(own[at, , drop = FALSE]))[passed + 1, , drop = FALSE]
  hazard[!(times <= fit$follow_up[stratum]), ] <- NA
  hazard
}

# ---- predictions ---------------------------------------------------------------------------------

# The probability of no event up to each of the times: N x times x fits.
survival_curves <- function(link, own, fit, times = NULL, newstrata = NULL) {
  times <- if (is.null(times)) sort(unique(fit$baseline$time)) else check_curve_times(times)
  stratum <- match_strata(newstrata, fit, "newstrata", nrow(link))
  curves <- array(NA_real_, c(nrow(link), length(times), ncol(link)),
                  list(rownames(link), number_text_each(times), colnames(link)))
  for (s in unique(stratum)) {
    rows <- which(stratum == s)
    hazard <- log_hazard_at(times, s, own, fit)
    for (k in seq_len(ncol(link))) {
      curves[rows, , k] <- exp(-exp(outer(link[rows, k], hazard[, k], "+")))
    }
  }
  curves
}

check_curve_times <- function(times) {
  times <- check_vector(times, "times")
  if (!length(times)) stop_bad("`times` must have at least one number, not 0.")
  check_finite(times, "times")
  check_no_negative(times, "times")
  times
}

# The first event time at which the probability of an event is at least `quantile`: N x fits.
event_quantiles <- function(link, own, fit, quantile = 0.5, newstrata = NULL) {
  needed <- log(-log1p(-check_ratio(quantile, "quantile")))
  stratum <- match_strata(newstrata, fit, "newstrata", nrow(link))
  result <- link
  for (s in unique(stratum)) {
    rows <- which(stratum == s)
    at <- which(fit$baseline$stratum == s)
    for (k in seq_len(ncol(link))) {
      before <- findInterval(needed - link[rows, k], own[at, k], left.open = TRUE)
      result[rows, k] <- fit$baseline$time[at][before + 1]
    }
  }
  result
}

# `expected`: number of events, the cumulative hazard of each row.
cox_residuals <- function(y, link, own, weights, type, fit) {
  log_hazard <- link
  for (i in seq_len(nrow(y))) {
    log_hazard[i, ] <- log_hazard_at(y[i, "time"], y[i, "stratum"], own, fit)
  }
  expected <- exp(link + log_hazard)
  martingale <- y[, "status"] - expected
  if (type == "martingale") return(martingale)
  squared <- -2 * (martingale + ifelse(y[, "status"] == 1, link + log_hazard, 0))
  sign(martingale) * sqrt(pmax(0, squared))
}

# ---- measures ------------------------------------------------------------------------------------

# The deviance of all rows minus that of the training rows, divided by the weight of the rows held
# out, as in cv.glmnet(grouped = TRUE) since glmnet 5. Alone, the rows held out would be compared
# with few others.
held_out_deviance <- function(y, link, weights, own, held) {
  training <- partial_deviance(response_rows(y, !held), link[!held, , drop = FALSE], weights[!held])
  weight <- sum(weights[held])
  list(scores = (partial_deviance(y, link, weights) - training) / weight, weight = weight)
}

# Rows that had no event up to the time of row i's event, and later or not at all: for censored rows
# of the same time that is so.
outlived_by <- function(y, weights, i) {
  time <- y[, "time"]
  later <- time > time[i] | (time == time[i] & y[, "status"] == 0)
  which(later & y[, "stratum"] == y[i, "stratum"] & weights > 0)
}

# The share of pairs of an event and a row with a longer time in which the event has the larger
# link; ties count half. One number for each fit, NaN without pairs.
concordance <- function(y, link, weights) {
  right <- numeric(ncol(link))
  total <- 0
  for (i in which(y[, "status"] == 1 & weights > 0)) {
    later <- outlived_by(y, weights, i)
    ahead <- rep(link[i, ], each = length(later)) - link[later, , drop = FALSE]
    right <- right + weights[i] * colSums(weights[later] * ((ahead > 0) + (ahead == 0) / 2))
    total <- total + weights[i] * sum(weights[later])
  }
  right / total
}

# ---- folds ---------------------------------------------------------------------------------------

# The number of observations (or groups) with an event, rows of weight 0 not counted.
event_units <- function(data, group) {
  unit <- if (is.null(group)) seq_along(data$weights) else as.integer(group)
  length(unique(unit[data$weights > 0 & data$y[, "status"] == 1]))
}

event_words <- function(size, group) {
  paste(count_of(size, if (is.null(group)) "observation" else "group"), "with an event")
}

# Every fold needs an event, nested every inner fold, too.
most_event_folds <- function(data, group, measure, nested) {
  size <- event_units(data, group)
  list(most = max(2, most_folds(size, nested)),
       why = paste("every fold needs an event, and there", if (size == 1) "is" else "are", "only",
                   event_words(size, group)))
}

check_event_folds <- function(data, group, folds, measure) {
  nested <- !is.null(folds$inner)
  size <- event_units(data, group)
  most <- most_folds(size, nested)
  if (most >= max(folds$foldid)) return(invisible())
  if (most < 2) {
    stop_bad("`y` must have events in at least ", if (nested) 4 else 2, " ",
             if (is.null(group)) "observations" else "groups", " for ", if (nested) "nested ",
             "cross-validation, but it has ", event_words(size, group), ".")
  }
  stop_bad("`nfolds` must be at most ", most, if (nested) " with nested = TRUE", ", not ",
           max(folds$foldid), ", because every ", if (nested) "inner ", "fold needs an event, and ",
           "there are only ", event_words(size, group), ".")
}

check_fold_events <- function(data, fold) {
  stop_fold <- function(wanted, lack) {
    stop_bad(fold$argument, " must ", wanted, ", but ", lack,
             if (fold$drawn) ": take fewer folds", ".")
  }
  if (!any_choice(data$y, data$weights * fold$train)) {
    stop_fold("leave an event with another row at risk in every training set",
              paste("without fold", fold$name, "there is none"))
  }
  events <- which(fold$held & data$y[, "status"] == 1)
  if (!length(events)) {
    stop_fold("put an event into every fold", paste("in fold", fold$name, "there is none"))
  }
  pairs <- vapply(events, function(i) length(outlived_by(data$y, fold$held, i)), 1L)
  if (fold$measure == "C" && !any(pairs > 0)) {
    stop_fold("put an event and a row with a longer time into every fold for \"C\"",
              paste("in fold", fold$name, "there is no such pair"))
  }
}
