#' Assign observations to folds
#'
#' Makes the folds that [cv.n2gfl()] uses, so that they can be kept, shown and used again with other
#' models. Every fold gets about the same share of each class, and rows of one group stay together.
#'
#' @details
#' Without groups each class is dealt out in random order, one class after the other, so fold sizes
#' differ by at most 1, and so do the numbers of each class in the folds. With groups, the groups
#' are taken in random order, large ones first, and each goes to the fold whose class counts then
#' come closest to an equal share; ties go to the smallest fold.
#'
#' Random numbers come from the session's generator: call [set.seed()] first to get the same folds
#' again.
#' @param y The response. A factor, a logical or character vector, or numbers with two different
#'   values are classes; of other numbers only the length is used. Of times to an event (see
#'   [n2gfl()]) the status makes the classes, so that every fold gets its share of the events.
#' @param nfolds Number of folds, at least 2.
#' @param group A vector with one value per observation, such as the subject or the site; rows with
#'   the same value go to the same fold. `NULL` for no groups.
#' @param ... Must be empty.
#' @return An integer vector: the fold, from 1 to `nfolds`, in which each observation is held out.
#' @seealso [cv.n2gfl()], whose `foldid` takes the result.
#' @examples
#' set.seed(1)
#' y <- rep(c("control", "patient"), c(12, 8))
#' folds <- make_folds(y, nfolds = 4)
#' table(y, folds)
#'
#' # Two scans of each subject stay together
#' subject <- rep(1:10, each = 2)
#' folds <- make_folds(y, nfolds = 4, group = subject)
#' table(subject, folds)
#' @export
make_folds <- function(y, nfolds = 10, group = NULL, ...) {
  check_empty_dots(...)
  classes <- fold_classes(y)
  n <- length(classes)
  nfolds <- check_nfolds(nfolds, n)
  if (is.null(group)) return(deal_rows(classes, nfolds))
  group <- check_group(group, n, "value of `y`")
  if (nlevels(group) < nfolds) {
    stop_bad("`nfolds` must be at most the number of groups (", nlevels(group), "), not ",
             nfolds, ".")
  }
  deal_groups(classes, group, nfolds)
}

# What the folds of a problem are balanced over, for make_folds().
problem_strata <- function(problem) family_of(problem$control$family)$strata(problem$data$y)

# What the folds are balanced over: the classes of y, or one class for all when it is numeric.
fold_classes <- function(y) {
  if (is_times(y)) y <- time_columns(y)[, "status"]
  if (!(is.atomic(y) || is.factor(y)) || is.null(y) || length(y) < 2) {
    stop_bad("`y` must be a vector or a factor with at least 2 values, not ", describe(y), ".")
  }
  if (anyNA(y)) {
    stop_bad("`y` must have no missing values, but element ", which(is.na(y))[1], " is NA.")
  }
  if (is.numeric(y) && !is.factor(y) && length(unique(y)) != 2) y <- rep(1, length(y))
  droplevels(factor(y))
}

# Assigns the rows to the folds in turn: one class after the other, each in random order.
deal_rows <- function(classes, nfolds) {
  shuffled <- sample.int(length(classes))
  dealt <- shuffled[order(as.integer(classes)[shuffled])]
  foldid <- integer(length(classes))
  foldid[dealt] <- rep(sample.int(nfolds), length.out = length(classes))
  foldid
}

deal_groups <- function(classes, group, nfolds) {
  counts <- unclass(table(group, classes))
  placed <- matrix(0, nfolds, ncol(counts))
  fold <- integer(nrow(counts))
  shuffled <- sample.int(nrow(counts))
  for (g in shuffled[order(-rowSums(counts)[shuffled])]) {
    # The increase in squared distance from equal shares, without terms that all folds share.
    overlap <- placed %*% counts[g, ]
    # Ties go to the smallest fold. An empty fold has overlap 0 and comes first: none stays empty.
    fold[g] <- order(overlap, rowSums(placed))[1]
    placed[fold[g], ] <- placed[fold[g], ] + counts[g, ]
  }
  fold[as.integer(group)]
}

# Folds in which every fold has rows with a positive weight (`used`), balanced over these. A row of
# weight 0 goes to the fold of its group, or to any.
weighted_folds <- function(strata, nfolds, group, used) {
  if (all(used)) return(make_folds(strata, nfolds, group))
  unit <- if (is.null(group)) seq_along(strata) else as.integer(group)
  fold <- rep_len(seq_len(nfolds), max(unit))
  fold[unit[used]] <- make_folds(strata[used], nfolds, group[used])
  fold[unit]
}

# ---- checks --------------------------------------------------------------------------------------

check_nfolds <- function(nfolds, n, which = NULL) {
  nfolds <- check_count(nfolds, "nfolds", 2L)
  if (nfolds > n) {
    stop_bad("`nfolds` must be at most the number of observations", which, " (", n, "), not ",
             nfolds, ".")
  }
  nfolds
}

check_group <- function(group, n, per = "row of `x`") {
  if (is.null(group)) return(NULL)
  if (!(is.atomic(group) || is.factor(group)) || length(dim(group)) > 1) {
    stop_bad("`group` must be a vector or a factor, not ", describe(group), ".")
  }
  check_length(group, "group", n, per)
  if (anyNA(group)) {
    stop_bad("`group` must have no missing values, but element ", which(is.na(group))[1],
             " is NA.")
  }
  factor(group)
}

# The user's folds, one column per repeat: whole numbers from 1 without gaps, no group split.
check_foldid <- function(foldid, n, group) {
  is_matrix <- is.matrix(foldid) && ncol(foldid) > 1
  columns <- if (is_matrix) foldid else matrix(check_vector(foldid, "foldid"))
  if (!is.numeric(columns)) {
    stop_bad("`foldid` must hold whole numbers, not ", describe(foldid), ".")
  }
  check_length(columns[, 1], "foldid", n, "row of `x`")
  for (k in seq_len(ncol(columns))) check_one_foldid(columns[, k], group)
  storage.mode(columns) <- "integer"
  columns
}

check_one_foldid <- function(foldid, group) {
  check_finite(foldid, "foldid")
  bad <- which(foldid != round(foldid) | foldid < 1)
  if (length(bad)) {
    stop_bad("`foldid` must hold whole numbers from 1, but element ", bad[1], " is ",
             number_text(foldid[bad[1]]), ".")
  }
  # A number above the number of rows implies a gap, and may be too large for seq_len().
  empty <- setdiff(seq_len(min(max(foldid), length(foldid))), foldid)
  if (length(empty)) {
    stop_bad("`foldid` must use every number from 1 to its largest (", number_text(max(foldid)),
             "), but no row has ", empty[1], ".")
  }
  if (max(foldid) < 2) stop_bad("`foldid` must name at least 2 folds, not 1.")
  if (is.null(group)) return(invisible())
  several <- which(tapply(foldid, group, function(f) any(f != f[1])))
  if (length(several)) {
    stop_bad("`foldid` must keep the rows of a group in one fold, but those of group ",
             quoted(levels(group)[several[1]]), " are in several.")
  }
}
