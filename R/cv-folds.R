# The folds of a cross-validation: drawn or checked before any work, also those in outer folds.

# list(foldid = N x repeats, inner = NULL or, for each outer fold, the folds inside it): what the
# plans of folds and outer folds are made from. All random numbers are drawn here, before any work.
check_folds <- function(problem, nfolds, foldid, group, nrepeats, nested) {
  n <- nrow(problem$data$x)
  nrepeats <- check_count(nrepeats, "nrepeats")
  strata <- problem_strata(problem)
  used <- problem$data$weights > 0
  if (is.null(foldid)) {
    nfolds <- check_nfolds(nfolds, sum(used), if (!all(used)) " with a positive weight")
    foldid <- matrix(replicate(nrepeats, weighted_folds(strata, nfolds, group, used)), n)
  } else {
    foldid <- check_foldid(foldid, n, group)
    if (nrepeats > 1 && nrepeats != ncol(foldid)) {
      stop_bad("`nrepeats` must be the number of columns of `foldid` (", ncol(foldid),
               ") when that is given, not ", nrepeats, ".")
    }
  }
  inner <- if (nested) inner_folds(strata, foldid[, 1], group, used, ncol(foldid))
  list(foldid = foldid, inner = inner)
}

# For each outer fold, the inner folds of its training rows, a matrix with a column per repeat: as
# many as there are outer folds, or as many as there are rows or groups; 0 = held out.
inner_folds <- function(strata, foldid, group, used, nrepeats) {
  lapply(seq_len(max(foldid)), function(k) {
    train <- which(foldid != k)
    inner <- matrix(0L, length(strata), nrepeats)
    within <- if (!is.null(group)) droplevels(group[train])
    most <- if (is.null(within)) sum(used[train]) else length(unique(within[used[train]]))
    if (most < 2) {
      stop_bad("`nested` needs 2 ", if (is.null(group)) "rows with a positive weight" else "groups",
               " or more outside of every fold, but without fold ", k, " there is only ",
               if (is.null(group)) most else quoted(unique(within[used[train]])), ".")
    }
    count <- min(max(foldid), most)
    for (repetition in seq_len(nrepeats)) {
      inner[train, repetition] <- weighted_folds(strata[train], count, within, used[train])
    }
    inner
  })
}

# The default number of folds, or fewer if there are too few observations (or groups), or if the
# family needs fewer.
default_nfolds <- function(nfolds, problem, group, measure, nested) {
  used <- problem$data$weights > 0
  noun <- if (is.null(group)) "observation" else "group"
  most <- if (is.null(group)) sum(used) else length(unique(group[used]))
  if (most < 2) stop_bad("`group` must have at least 2 different values, but it has 1.")
  why <- paste("there are only", count_of(most, noun))
  limit <- family_of(problem$control$family)$most_folds(problem$data, group, measure, nested)
  if (!is.null(limit)) {
    most <- limit$most
    why <- limit$why
  }
  if (most >= nfolds) return(nfolds)
  message("`nfolds` is ", most, " instead of the default ", nfolds, ", because ", why, ".")
  most
}

# Finds what would stop the work halfway, or make a score NaN, before the work begins. `about`: how
# folds are scored (`measure`), and whether they were `drawn`. `where` is " inside fold 2" for folds
# among the rows that `weights` leave there.
check_fold_runs <- function(problem, plan, about, weights = problem$data$weights, where = "") {
  used <- weights > 0
  family <- family_of(problem$control$family)
  for (run in plan$runs) {
    name <- paste0(run$fold, where)
    if (!any(used[run$held])) {
      stop_bad(fold_argument(about), " must put a row with a positive weight into every fold, ",
               "but fold ", name, " has none.")
    }
    family$check_fold(problem$data, new_fold_check(used, run$held, about, name))
    check_fold_view(problem, run_weights(run, weights), name)
  }
}

check_outer_runs <- function(problem, plan, about) {
  for (k in seq_along(plan$runs)) {
    run <- plan$runs[[k]]
    check_fold_runs(problem, run$inner, about, run_weights(run, problem$data$weights),
                    paste(" inside fold", k))
  }
}

# The argument that determined the folds, and that must change if they cannot be used.
fold_argument <- function(about) if (about$drawn) "`nfolds`" else "`foldid`"

# What a family gets to check of a fold: which rows are left for training and which are `held` out,
# how they are scored, and for messages the fold's name, the argument that determined it and whether
# it was drawn.
new_fold_check <- function(used, held, about, name) {
  out <- seq_along(used) %in% held
  list(train = used & !out, held = used & out, measure = about$measure, drawn = about$drawn,
       argument = fold_argument(about), name = name)
}

# A covariate that varies in one fold only, such as the indicator of a small site, is constant
# without this fold. Controls that `deconfound` needs can also be missing.
check_fold_view <- function(problem, weights, name) {
  tryCatch({
    view <- problem_at(problem, weights, paste("fold", name))
    check_rank(view$data$covariates, view$data$y, weights, view$control)
  }, error = function(e) stop_bad("Without fold ", name, ", ", conditionMessage(e)))
}

cv_key <- function(problem, folds, group, about, rule) {
  work_key(problem[c("data", "control", "lambda1", "lambda2")], about$measure, rule, about$drawn,
           if (about$drawn) list(dim(folds$foldid), max(folds$foldid)) else folds$foldid,
           is.null(folds$inner), as.integer(group))
}
