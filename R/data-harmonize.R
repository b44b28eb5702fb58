# harmonize = ~ site: ComBat. The core removes the effects of sites on location and scale of every
# feature, as they are estimated from the rows of the fit; see core/data/site_effects.hpp. x is not
# copied. A fit keeps the estimates of the features that it uses.

# ---- arguments -----------------------------------------------------------------------------------

# NULL, or what views need: `sites`, one name per row; `terms` of the formula; `preserve`, which
# code_covariates() takes; `among`, the rows from which to estimate, or NULL for all; `reference`;
# `new.site`.
check_harmonize <- function(arguments, n) {
  among <- match_choice(arguments$harmonize.among, "harmonize.among", c("all", "controls"))
  new_site <- match_choice(arguments$new.site, "new.site", c("error", "pooled"))
  if (is.null(arguments$harmonize)) {
    check_nothing_to_harmonize(arguments, among, new_site)
    return(NULL)
  }
  terms <- site_terms(arguments$harmonize, arguments$data)
  sites <- site_names(terms, arguments$data, n, "data", arguments$rows)
  check_not_outcome(sites$names, "harmonize", deparse1(attr(terms, "variables")[[2]]), arguments$y)
  list(sites = sites$names, terms = terms, variables = sites$variables,
       preserve = preserve_coder(arguments, n),
       among = if (among == "controls") {
         find_controls(arguments$y, arguments$controls, "harmonize")
       },
       reference = check_reference(arguments$reference, sites$names), new.site = new_site)
}

check_nothing_to_harmonize <- function(arguments, among, new_site) {
  given <- c(preserve = !is.null(arguments$preserve), reference = !is.null(arguments$reference),
             harmonize.among = among != "all", new.site = new_site != "error")
  if (any(given)) {
    stop_bad("`", names(given)[given][1], "` must not be given without `harmonize`.")
  }
}

# One variable, or one expression such as interaction(site, scanner).
site_terms <- function(formula, data) {
  if (!inherits(formula, "formula")) {
    stop_bad("`harmonize` must be a formula such as ~ site, not ", describe(formula), ".")
  }
  terms <- covariate_terms(formula, data, "harmonize")
  if (length(attr(terms, "term.labels")) != 1 || any(attr(terms, "order") > 1)) {
    stop_bad("`harmonize` must have one variable, such as ~ site or ~ interaction(site, scanner), ",
             "not ", deparse1(formula), ".")
  }
  terms
}

# The site of each row as text, and the variables that hold them: list(names, variables).
site_names <- function(terms, data, n, name, rows = NULL) {
  frame <- covariate_frame(terms, data, n, name, rows, "harmonize")
  expression <- attr(terms, "variables")[[2]]
  sites <- eval(expression, frame, environment(terms))
  if (!is.atomic(sites) || length(sites) != n) {
    stop_bad("`harmonize` must have one value per row, but `", deparse1(expression), "` has ",
             length(sites), " for ", n, ".")
  }
  list(names = as.character(sites), variables = names(frame))
}

# The outcome is not known of the subjects that are to be predicted; that of a held-out row would
# change its features.
check_not_outcome <- function(values, name, variable, y) {
  same <- vapply(seq_len(NCOL(y)), function(k) {
    identical(as.character(values), as.character(if (NCOL(y) > 1) y[, k] else y))
  }, NA)
  if (!any(same)) return(invisible())
  stop_bad("`", name, "` must not have the outcome, but `", variable, "` is `y`: for subjects who ",
           "are to be predicted it is not known.")
}

preserve_coder <- function(arguments, n) {
  preserve <- arguments$preserve
  if (is.null(preserve)) return(NULL)
  if (!inherits(preserve, "formula")) {
    stop_bad("`preserve` must be a formula such as ~ age + sex, not ", describe(preserve), ".")
  }
  coder <- covariate_coder(preserve, arguments$data, n, arguments$rows, "preserve")
  for (variable in names(coder$frame)) {
    check_not_outcome(coder$frame[[variable]], "preserve", variable, arguments$y)
  }
  coder$global <- arguments$global
  coder
}

check_reference <- function(reference, sites) {
  if (is.null(reference)) return(NULL)
  if (length(reference) != 1 || !as.character(reference) %in% sites) {
    stop_bad("`reference` must be one of the sites ", quoted(sort(unique(sites))), ", not ",
             describe(reference), ".")
  }
  as.character(reference)
}

# ---- views ---------------------------------------------------------------------------------------

# What the core needs to remove the effects of the sites: list(of_row, names, reference, used,
# preserved); `coding` is for new rows. Rows without weight have no influence. `others` names them
# in messages.
harmonize_map <- function(harmony, weights, others) {
  trained <- weights > 0
  used <- if (is.null(harmony$among)) trained else trained & harmony$among
  names <- sort(unique(harmony$sites[trained]), method = "radix")
  check_site_sizes(names, table(factor(harmony$sites[used], names)), !is.null(harmony$among))
  of_row <- match(harmony$sites, names, 0L)
  if (harmony$new.site == "error") {
    check_known_sites(harmony$sites, of_row, "harmonize", paste("occurs only in", others))
  }
  reference <- match(harmony$reference %or% NA, names, 0L)
  if (!is.null(harmony$reference) && !reference) {
    stop_bad("`reference` must be a site of the rows used for the fit, but ",
             quoted(harmony$reference), " is none.")
  }
  coded <- if (is.null(harmony$preserve)) matrix(0, length(weights), 0)
    else code_covariates(harmony$preserve, trained, others)
  check_preserved(coded[used, , drop = FALSE], of_row[used])
  list(of_row = of_row, names = names, reference = reference, used = used,
       preserved = matrix(coded, nrow(coded)), coding = attr(coded, "coding"))
}

check_site_sizes <- function(names, sizes, controls) {
  if (length(names) < 2) {
    stop_bad("`harmonize` must have 2 sites or more in the rows used for the fit, not only ",
             quoted(names), ".")
  }
  small <- which(sizes < 2)[1]
  if (is.na(small)) return(invisible())
  stop_bad("`harmonize` must have 2 ", if (controls) "controls" else "rows", " or more of every ",
           "site in the rows used for the fit, but site ", quoted(names[small]), " has ",
           sizes[[small]], ": merge it with another site, or leave it out.")
}

check_known_sites <- function(sites, of_row, name, where, rows = NULL) {
  new <- which(of_row == 0)
  if (!length(new)) return(invisible())
  at <- new[sites[new] == sites[new[1]]]
  shown <- utils::head(if (is.null(rows)) at else rows[at], 5)
  stop_bad("`", name, "` must have no site that the fit has not seen, but site ",
           quoted(sites[new[1]]), " ", where, " (", if (length(at) == 1) "row " else "rows ",
           paste(shown, collapse = ", "), if (length(at) > 5) ", ...",
           "): new.site = \"pooled\" takes such rows as they are.")
}

check_preserved <- function(preserved, site) {
  if (!ncol(preserved)) return(invisible())
  columns <- cbind(outer(site, unique(site), "==") + 0, preserved)
  rank <- qr(columns, tol = 1e-10)$rank
  if (rank < ncol(columns)) {
    stop_bad("`preserve` must be linearly independent of the sites and within itself, but ",
             count_of(ncol(preserved), "column"), " and ", length(unique(site)),
             " sites have rank ", rank, ".")
  }
}

# What a fit keeps for new rows, besides the core's estimates.
kept_harmony <- function(harmony, map, estimates) {
  if (is.null(harmony)) return(NULL)
  list(terms = harmony$terms, variables = harmony$variables, names = map$sites$names,
       preserve = map$sites$coding, among = !is.null(harmony$among),
       reference = harmony$reference, new.site = harmony$new.site, estimates = estimates)
}

# The arguments of n2gfl() that make the same harmonisation again.
harmonize_arguments <- function(kept) {
  if (is.null(kept)) return(NULL)
  formula <- function(terms) if (!is.null(terms)) stats::formula(terms)
  list(harmonize = formula(kept$terms), preserve = formula(kept$preserve$terms),
       reference = kept$reference, harmonize.among = if (kept$among) "controls" else "all",
       new.site = kept$new.site)
}

# The estimates of two fits to the same data, for the features of both.
merge_estimates <- function(first, second) {
  if (is.null(first)) return(NULL)
  new <- which(!second$index %in% first$index)
  columns <- function(name) cbind(first[[name]], second[[name]][, new, drop = FALSE])
  if (!length(first$index)) return(second)
  if (!length(new)) return(first)
  list(index = c(first$index, second$index[new]), scale = columns("scale"),
       shift = columns("shift"), slopes = columns("slopes"))
}

# ---- new rows ------------------------------------------------------------------------------------

# list(of_row, preserved) of new rows, as in the map of the fit.
new_sites <- function(harmony, data, n, means, new_site, name, labels) {
  new_site <- if (is.null(new_site)) harmony$new.site
    else match_choice(new_site, "new.site", c("error", "pooled"))
  # A variable of the formula's environment would be that of the fit's own rows.
  lacking <- setdiff(harmony$variables, names(data))
  if (length(lacking)) stop_no_variable(lacking[1], data, name, "`harmonize`")
  sites <- site_names(harmony$terms, data, n, name)$names
  of_row <- match(sites, harmony$names, 0L)
  if (new_site == "error") {
    check_known_sites(sites, of_row, name, "is new", if (length(labels)) short_names(labels))
  }
  preserved <- matrix(0, n, 0)
  if (!is.null(harmony$preserve)) {
    if (isTRUE(harmony$preserve$global)) data <- with_global(data, means())
    preserved <- code_rows(harmony$preserve, data, n, name)
  }
  list(of_row = of_row, preserved = matrix(preserved, n))
}

# ---- products ------------------------------------------------------------------------------------

# The features' part of the linear predictor at some rows of x, one column per column of `beta`.
# `map` says what the view does to these rows, `estimates` is what the fit has learnt of the sites.
feature_link <- function(x, beta, rows = seq_len(nrow(x)), map = NULL, estimates = NULL) {
  factors <- if (is.null(map$factors)) 1 else map$factors[rows]
  if (is.null(map$sites)) return(factors * linear_predictor_cpp(x, beta, rows))
  link <- matrix(0, length(rows), ncol(beta))
  known <- match(beta@i, estimates$index)
  site <- map$sites$of_row[rows]
  for (s in unique(site)) {
    at <- which(site == s)
    of_site <- site_part(beta, known, s, estimates)
    link[at, ] <- factors[if (length(factors) == 1) 1 else at] *
      linear_predictor_cpp(x, of_site$beta, rows[at])
    link[at, ] <- sweep(link[at, , drop = FALSE], 2, of_site$shift, "+") +
      map$sites$preserved[rows[at], , drop = FALSE] %*% of_site$slopes
  }
  link
}

# The coefficients of rows of one site, and what is added: list(beta, shift, slopes), the latter two
# with one column per fit. Rows of no known site stay as they are.
site_part <- function(beta, known, site, estimates) {
  q <- nrow(estimates$slopes)
  if (site == 0 || !length(beta@x)) {
    return(list(beta = beta, shift = numeric(ncol(beta)), slopes = matrix(0, q, ncol(beta))))
  }
  sums <- function(values) {
    beta@x <- beta@x * values
    Matrix::colSums(beta)
  }
  scale <- estimates$scale[site, known]
  slopes <- vapply(seq_len(q), function(k) sums((1 - scale) * estimates$slopes[k, known]),
                   numeric(ncol(beta)))
  shift <- sums(estimates$shift[site, known])
  beta@x <- beta@x * scale
  list(beta = beta, shift = shift, slopes = t(matrix(slopes, ncol(beta))))
}
