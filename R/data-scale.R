# scale = : each subject's features are divided by a number of its own, its mean or a variable such
# as the size of its head. `global`, the mean, is also a variable of the covariates. Both are known
# for a subject alone, so nothing can leak from one to another. x is not copied: the core multiplies
# rows by factors.

# ---- arguments -----------------------------------------------------------------------------------

# list(by, value), or NULL: what to divide by, "mean", the name of a column or "numbers", and the
# number of each row. `means` is a function that computes the rows' means, once.
check_scale <- function(scale, data, n, means, rows = NULL) {
  if (is.null(scale) || identical(scale, "none")) return(NULL)
  by <- scale_by(scale, names(data))
  value <- switch(by, mean = means(), numbers = check_vector(scale, "scale"),
                  scale_column(data, by, "data"))
  check_length(value, "scale", n, "row of `x`")
  check_divisor(value, by, row_words(rows$labels, n))
  list(by = by, value = value)
}

scale_by <- function(scale, columns) {
  if (is.character(scale) && length(scale) == 1 && !is.na(scale)) {
    if (scale %in% c("mean", columns)) return(scale)
    stop_bad("`scale` must be \"none\", \"mean\", the name of a column of `data`",
             if (length(columns)) paste0(" (", quoted(columns), ")"),
             " or one positive number per row of `x`, not ", quoted(scale), ".")
  }
  if (is.numeric(scale) && !is.object(scale)) return("numbers")
  stop_bad("`scale` must be \"none\", \"mean\", the name of a column of `data` or one positive ",
           "number per row of `x`, not ", describe(scale), ".")
}

scale_column <- function(data, column, name) {
  value <- data[[column]]
  if (is.null(value)) stop_no_variable(column, data, name, "`scale`")
  if (!is.numeric(value) || is.object(value) || length(dim(value)) > 1) {
    stop_bad("`scale` must be a numeric column of `", name, "`, but `", column, "` is ",
             describe(value), ".")
  }
  as.double(value)
}

# What rows are called in messages: by their names, or by their numbers.
row_words <- function(labels, n) {
  if (length(labels)) quoted_each(short_names(labels)) else paste("row", seq_len(n))
}

check_divisor <- function(value, by, words) {
  bad <- which(!(is.finite(value) & value > 0))
  if (!length(bad)) return(invisible())
  what <- switch(by, mean = "the mean of the features", numbers = "the number",
                 paste0("`", by, "`"))
  stop_bad("`scale` must divide every subject by a positive number, but ", what, " of ",
           words[bad[1]], " is ", number_text(value[bad[1]]),
           if (length(bad) > 1) paste0(" (and ", length(bad) - 1, " more)"), ".")
}

# ---- the rows' means -----------------------------------------------------------------------------

# A function that computes the means of the rows of x when it is first called. A row with a number
# that is not finite has no mean.
means_of <- function(x, name = "x") {
  means <- NULL
  function() {
    if (is.null(means)) {
      means <<- row_means_cpp(x)
      if (!all(is.finite(means))) stop_not_finite(x, name)
    }
    means
  }
}

# Does a formula of covariates name `global`, which `data` does not have? Then it is the mean of the
# row of x, and the argument `global` says so.
add_global <- function(arguments, means) {
  named <- vapply(arguments[c("covariates", "preserve")], function(formula) {
    inherits(formula, "formula") && "global" %in% all.vars(formula)
  }, NA)
  if (!any(named) || "global" %in% names(arguments$data)) return(arguments)
  arguments$data <- with_global(arguments$data, means())
  arguments$global <- TRUE
  arguments
}

# A table with the column `global`. `means` has one number per row.
with_global <- function(data, means) {
  if (is.null(data)) return(data.frame(global = means))
  if (nrow(data) != length(means)) return(data)  # which is an error elsewhere
  data$global <- means
  data
}

# ---- views ---------------------------------------------------------------------------------------

# What a number of 1 stands for. A subject's mean has no unit that could be chosen better: features
# are then near 1. A variable may have any unit, and x keeps its own if the variable is divided by
# its mean, which comes from the rows of the fit alone.
scale_reference <- function(scaling, weights) {
  if (scaling$by == "mean") 1 else mean(scaling$value[weights > 0])
}

# The factor of each row in a view.
scale_factors <- function(scaling, weights) scale_reference(scaling, weights) / scaling$value

# What a fit keeps of it.
kept_scale <- function(scaling, weights) {
  if (is.null(scaling)) return(NULL)
  list(by = scaling$by, reference = scale_reference(scaling, weights))
}

# ---- new rows ------------------------------------------------------------------------------------

# The factors of new rows, as in the fit. `newscale` is for a fit whose `scale` was a vector.
new_factors <- function(scale, newscale, data, means, words, names) {
  if (is.null(scale) || scale$by != "numbers") {
    if (!is.null(newscale)) {
      stop_bad("`", names$scale, "` must not be given, because the fit's `scale` was ",
               if (is.null(scale)) "\"none\"" else quoted(scale$by), ".")
    }
  } else if (is.null(newscale)) {
    stop_bad("`", names$scale, "` must be given, because the fit's `scale` was one number per ",
             "row.")
  }
  if (is.null(scale)) return(NULL)
  value <- switch(scale$by, mean = means(), numbers = check_vector(newscale, names$scale),
                  scale_column(data, scale$by, names$data))
  check_length(value, names$scale, length(words), paste0("row of `", names$x, "`"))
  check_divisor(value, scale$by, words)
  scale$reference / value
}

# ---- images --------------------------------------------------------------------------------------

# Images keep how they are to be scaled: the default of fits to them.
check_image_scale <- function(scale) {
  if (is.null(scale) || (is.character(scale) && length(scale) == 1 && !is.na(scale))) {
    return(invisible())
  }
  stop_bad("`scale` must be \"none\", \"mean\" or the name of a column of `data`, not ",
           describe(scale), ".")
}

set_scale <- function(images, scale) {
  if (is.null(scale) || scale == "none") return(images)
  check_scale(scale, images$data, nrow(images$x), means_of(images$x),
              list(labels = row_labels(images)))
  images$scale <- scale
  images
}

# That of images, or of a fit; the numbers of a fit's own rows are not for others.
scale_of <- function(like) {
  if (is_images(like)) return(like$scale)
  by <- full_fit(like)$scale$by
  if (!identical(by, "numbers")) by
}
