# deconfound = "controls": subtracts from each feature the effects of the covariates, estimated from
# the controls used for the fit. With Z the covariates, centred at the controls' means, the core
# uses X - Z B, B = P X, where P = (Z'WZ)^-1 Z'W is least squares on the controls. X is not copied.
# The core gives the q coefficients of Z that beta implies: X beta - Z B beta = X beta + Z gamma.

# list(z, p, centre) for the core, or NULL. `z` are the coded covariates, `controls` says which rows
# are controls, `weights` are those of the fit: rows with weight 0 are not used.
deconfound_map <- function(z, controls, weights) {
  used <- controls & weights > 0
  w <- ifelse(used, weights, 0)
  centre <- colSums(w * z) / sum(w)
  z <- sweep(z, 2, centre)
  root <- sqrt(w[used])
  decomposed <- qr(root * z[used, , drop = FALSE], tol = 1e-10)
  if (sum(used) < ncol(z) + 2 || decomposed$rank < ncol(z)) {
    stop_bad("`deconfound` must have enough controls to estimate ",
             count_of(ncol(z), "covariate effect"), ", but there are ", sum(used),
             ", whose covariates have rank ", decomposed$rank, ".")
  }
  p <- matrix(0, ncol(z), nrow(z))
  p[, used] <- qr.coef(decomposed, diag(root, length(root)))
  list(z = unname(z), p = p, centre = centre)
}

# ---- arguments -----------------------------------------------------------------------------------

# Was deconfounding requested? Without covariates there is nothing to remove. `others`: does
# another argument use `controls`?
check_deconfound <- function(deconfound, controls, covariates, others = FALSE) {
  if (is.null(deconfound)) {
    if (!is.null(controls) && !others) {
      stop_bad("`controls` must not be given without deconfound = \"controls\" or ",
               "harmonize.among = \"controls\".")
    }
    return(FALSE)
  }
  if (!identical(deconfound, "controls")) {
    stop_bad("`deconfound` must be NULL or \"controls\", not ", describe(deconfound), ".")
  }
  if (!ncol(covariates)) {
    stop_bad("`covariates` must be given for deconfound = \"controls\": their effects are removed.")
  }
  TRUE
}

control_names <- c("nc", "cn", "hc", "hv", "con", "ctl", "ctr", "ctrl", "control", "controls",
                   "healthy", "healthy control", "healthy controls", "normal", "normal control",
                   "normal controls", "cognitively normal")

# Which rows are controls. `controls` is a class of `y`, one logical value per row, or NULL for the
# class with one of the `control_names`. `for_what` begins the message that names the class.
find_controls <- function(y, controls = NULL, for_what = "deconfound") {
  n <- NROW(y)
  if (is.logical(controls) && length(controls) == n && n > 1) {
    if (anyNA(controls)) {
      stop_bad("`controls` must have no missing values, but element ", which(is.na(controls))[1],
               " is NA.")
    }
    return(controls)
  }
  classes <- if (is.numeric(y) && !is.factor(y) && length(unique(y)) > 2) NULL else unique(
    as.character(y))
  if (is.null(controls)) controls <- control_class(classes, for_what)
  if (length(controls) != 1 || is.na(controls) || !as.character(controls) %in% classes) {
    stop_bad("`controls` must be one logical value per row of `x` (", n, ")",
             if (length(classes)) paste(" or one of the classes", quoted(sort(classes))), ", not ",
             describe(controls), ".")
  }
  as.character(y) == as.character(controls)
}

control_class <- function(classes, for_what) {
  plain <- tolower(gsub("[._-]+", " ", classes))
  found <- classes[plain %in% control_names]
  if (length(found) != 1) {
    stop_bad("`controls` must say which subjects are controls",
             if (length(classes)) paste(": none or several of the classes",
                                        quoted(sort(classes)), "have a name for controls"), ".")
  }
  message(for_what, ": the controls are the subjects of class ", quoted(found),
          ". Set `controls` to choose others.")
  found
}
