# Classes in folds and in perturbed data: what the families share whose response is one of several
# classes, with or without an order. Every class must be left in every training set.

# The coded values of the classes, in their order: those that occur in rows with weight.
class_codes <- function(data) sort(unique(data$y[data$weights > 0]))

# The number of observations (or groups) of each class, rows of weight 0 not counted.
class_sizes <- function(data, group) {
  used <- data$weights > 0
  unit <- if (is.null(group)) seq_along(used) else as.integer(group)
  vapply(class_codes(data), function(class) length(unique(unit[used & data$y == class])), 0L)
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
  every <- every_class(data$classnames)
  stop_lost_class(data, fold$train, fold, paste("leave", every, "in every training set"), "without")
  if (fold$measure == "auc") {
    stop_lost_class(data, fold$held, fold, paste("put", every, "into every fold for \"auc\""), "in")
  }
}

every_class <- function(classnames) if (length(classnames) == 2) "both classes" else "all classes"

stop_lost_class <- function(data, rows, fold, wanted, preposition) {
  lost <- lost_class(data$y[rows], data$classnames, class_codes(data))
  if (is.null(lost)) return(invisible())
  stop_bad(fold$argument, " must ", wanted, ", but ", preposition, " fold ", fold$name,
           " there is no row of class ", quoted(lost), if (fold$drawn) ": take fewer folds", ".")
}

check_run_classes <- function(y, classnames, k, codes, advice) {
  lost <- lost_class(y, classnames, codes)
  if (is.null(lost)) return(invisible())
  stop_bad("`y` must have ", every_class(classnames), " in every run, but run ", k,
           " has no row of class ", quoted(lost), advice, ".")
}

# The label of the first class that does not occur, or NULL.
lost_class <- function(y, classnames, codes) {
  lost <- which(!codes %in% y)
  if (length(lost)) classnames[lost[1]]
}
