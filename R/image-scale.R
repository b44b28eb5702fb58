# Checks that all images have the same scale: a single image of 0 to 255 among images of 0 to 1
# would determine the mask and the fit.

# Mean, sd, min, max and level of every image, a row for each, without a copy of x. The level is the
# mean absolute value: it is not near 0 where values have both signs.
image_stats <- function(x) {
  stats <- row_stats_cpp(x)
  colnames(stats) <- c("mean", "sd", "min", "max", "level")
  stats <- as.data.frame(stats)
  stats$width <- stats$max - stats$min
  stats
}

# The usual scale of images: medians, and robust standard deviations (from the median absolute
# deviation) of the mean, and of level and width on the log scale, where a gain is a shift. NULL if
# most images are constant.
usual_scale <- function(stats) {
  usual <- lapply(stats, low_median)
  if (usual$width == 0) return(NULL)
  robust <- function(value, floor) max(floor, 1.4826 * stats::median(abs(value)))
  # The deviation of few images is not reliable, and that of nearly equal images is too small.
  floor <- max(0.05, 1 / nrow(stats))
  usual$deviation <- c(level = robust(log_ratio(stats$level, usual$level), floor),
                       width = robust(log_ratio(stats$width, usual$width), floor),
                       mean = robust(stats$mean - usual$mean, floor * usual$width))
  usual
}

# The lower of two middle values: their mean would lie between two groups of images.
low_median <- function(values) sort(values, na.last = TRUE)[ceiling(length(values) / 2)]

# Bounded below, because an image may be zero.
log_ratio <- function(value, usual) log(value / usual + 1e-3)

# The distance of each image from the usual scale, in robust deviations. Its gain is unusual if both
# level and width are: lesion maps differ in level alone, and one bright voxel changes the width
# alone. Its offset is unusual if its mean is outside of the usual range.
scale_distance <- function(stats, usual) {
  # If the images are of two groups, the deviation is as large as the distance of the groups. It is
  # limited, so that a factor of 20 is always unusual; except for constant images, which may be maps
  # of patients without lesions.
  deviation <- function(name) ifelse(stats$width > 0, pmin(usual$deviation[[name]], 0.3),
                                     usual$deviation[[name]])
  gain <- pmin(abs(log_ratio(stats$level, usual$level)) / deviation("level"),
               abs(log_ratio(stats$width, usual$width)) / deviation("width"))
  outside <- stats$mean > usual$max | stats$mean < usual$min
  offset <- outside * abs(stats$mean - usual$mean) / usual$deviation[["mean"]]
  ifelse(gain > far_off, gain, offset)
}

far_off <- 10

# Two groups of images with different units, such as those of two scanners. The deviation from the
# usual scale misses groups of similar size, because it is then as large as their distance.
# list(rows of the smaller group, its factor), or NULL if there are no such groups. Constant images
# are left out: they may be maps of patients without lesions. As above, both level and width must
# differ.
scale_groups <- function(stats) {
  rows <- which(stats$width > 0)
  level <- log(stats$level[rows])
  width <- log(stats$width[rows])
  # A group of less than a tenth does not change the usual scale. A single image is not a group.
  least <- max(2, ceiling(length(rows) / 10))
  if (length(rows) < 2 * least) return(NULL)
  sorted <- sort(level)
  splits <- least:(length(rows) - least)
  split <- splits[which.max(diff(sorted)[splits])]
  high <- level > sorted[split]
  smaller <- if (sum(high) <= length(rows) / 2) high else !high
  apart <- function(values) stats::median(values[smaller]) - stats::median(values[!smaller])
  within <- abs(level - stats::ave(level, high, FUN = stats::median))
  deviation <- max(0.05, 1 / length(rows), 1.4826 * stats::median(within))
  distance <- abs(apart(level))
  if (distance < max(log(least_factor), far_off * deviation)) return(NULL)
  # The gap is narrow if the groups are one group and some outliers.
  if (diff(sorted)[split] < distance / 2 || apart(width) / apart(level) < 0.5) return(NULL)
  list(rows = rows[smaller], factor = exp(apart(level)))
}

# Scanners whose units differ by less are common.
least_factor <- 3

warn_groups <- function(groups, stats, labels, end) {
  size <- length(groups$rows)
  times <- function(factor) number_text(signif(factor, 2))
  warning(size, " of ", count_of(nrow(stats), "image"), " have values about ",
          if (groups$factor > 1) paste(times(groups$factor), "times those")
          else paste0("1/", times(1 / groups$factor), " of those"), " of the others: ",
          paste(labels[utils::head(groups$rows, 3)], collapse = ", "),
          if (size > 3) paste(" and", size - 3, "more"),
          ". Bring all images to the same units.", end, call. = FALSE)
}

# One warning for all images whose scale differs from that of the others or, if `usual` is given,
# from that of the images of `like`. `labels` are names for messages, `end` is a last sentence.
warn_scale <- function(stats, labels, usual = NULL, end = NULL) {
  groups <- if (is.null(usual)) scale_groups(stats)
  if (!is.null(groups)) return(warn_groups(groups, stats, labels, end))
  others <- if (is.null(usual)) "the others" else "the images of `like`"
  if (is.null(usual)) usual <- usual_scale(stats)
  if (is.null(usual)) return(invisible())
  away <- scale_distance(stats, usual)
  off <- which(away > far_off)
  if (!length(off)) return(invisible())
  off <- off[order(-away[off])]
  shown <- utils::head(off, 3)
  each <- paste0(labels[shown], " (", range_text(stats[shown, ]), ", ", round(away[shown]),
                 " robust deviations off)")
  has <- if (length(off) == 1) "has" else "have"
  warning(length(off), " of ", count_of(length(away), "image"), " ", has,
          " a different scale from ", others, ", whose values inside the mask are usually ",
          range_text(usual), ": ", paste(each, collapse = ", "),
          if (length(off) > 3) paste(" and", length(off) - 3, "more"), ".", end, call. = FALSE)
}

range_text <- function(stats) {
  text <- function(value) number_text_each(signif(value, 3))
  paste0(text(stats$min), " to ", text(stats$max), " with mean ", text(stats$mean))
}
