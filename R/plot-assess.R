#' Draw an assessment
#'
#' What there is to see depends on the outcome: the ROC curve (`type = "roc"`) or the calibration
#' (`"calibration"`) of two classes, the calibration of numbers, the predicted against the observed
#' levels (`"confusion"`) of classes in an order, and the observed survival of rows with low, middle
#' and high predicted risk (`"survival"`) for times.
#'
#' @section ROC:
#' The band joins the corners of the intervals at each threshold: upper limits of sensitivity and
#' specificity on one side, lower limits on the other. The dot is the `threshold` of [assess()].
#'
#' @section Calibration:
#' Dots are the bins of the calibration table with the intervals of what was observed in them; on
#' the dashed line, predictions are right on average. For classes, the strokes along the upper and
#' lower side are the predictions of both classes. For numbers the observations are drawn behind the
#' bins.
#'
#' @section Levels:
#' Each column is an observed level, each tile in it the share of its observations that were
#' predicted to be of a level, with their number. Right predictions are on the diagonal, and a
#' prediction is the worse the farther from it.
#'
#' @section Survival:
#' Kaplan-Meier curves of the thirds of the rows with the lowest and the highest linear predictors
#' and of the third between them. The thirds are taken within each fold and stratum, because others
#' have another baseline hazard. Strokes are censored times.
#' @param x An assessment from [assess()].
#' @param type `"roc"` (the default for two classes), `"calibration"` (two classes; the default for
#'   numbers), `"confusion"` (levels) or `"survival"` (times).
#' @param col Colour of the curve, the bins, the diagonal tiles or the rows with high risk.
#' @param main,xlab,ylab Titles; `NULL` for the default ones. The title says which row of the grid
#'   was assessed; `""` leaves it out.
#' @param ... Graphical parameters of the curves (`lwd`, `lty`, `lend`), of the bins (`pch`, `cex`,
#'   `lwd`, `lty`, `lend`) or of the numbers in tiles (`cex`).
#' @return `x`, invisibly.
#' @seealso [assess()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 80, dim = c(12, 12))
#' cvfit <- cv.n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial", nlambda1 = 10,
#'                   nlambda2 = 2, nfolds = 5)
#' held_out <- assess(cvfit)
#' plot(held_out)
#' plot(held_out, type = "calibration")
#' @method plot n2gfl_assessment
#' @export
plot.n2gfl_assessment <- function(x, type = c("roc", "calibration", "confusion", "survival"),
                                  col = "#2166AC", main = NULL, xlab = NULL, ylab = NULL, ...) {
  default <- missing(type)
  type <- match_choice(type, "type", names(assess_parameters))
  pictures <- assess_kind(x$family)$pictures
  if (default) type <- names(pictures)[1]
  if (!type %in% names(pictures)) {
    stop_bad("`type` must be ", or_quoted(names(pictures)), " for family ", quoted(x$family),
             ", not ", quoted(type), ".")
  }
  dots <- check_line_parameters(list(...), assess_parameters[[type]])
  old <- graphics::par(mar = c(3.6, 3.6, 3.2, 0.8), mgp = c(2.3, 0.6, 0), tcl = -0.3, las = 1,
                       pty = "s")
  on.exit(graphics::par(old), add = TRUE)
  pictures[[type]](x, col, xlab, ylab, dots)
  head_line(main %or% x$title, 1.6, 1)
  invisible(x)
}

# The graphical parameters of each picture.
assess_parameters <- list(roc = c("lwd", "lty", "lend"),
                          calibration = c("pch", "cex", "lwd", "lty", "lend"),
                          confusion = "cex", survival = c("lwd", "lty", "lend"))

# ---- the pictures --------------------------------------------------------------------------------

draw_roc <- function(x, col, xlab, ylab, dots) {
  roc <- x$roc
  square_frame(c(0, 1), xlab %or% "1 - specificity", ylab %or% "Sensitivity")
  if (!nrow(roc)) {
    why <- "The model selects nothing\nor almost nothing\nin these folds"
    graphics::text(0.5, 0.5, why, col = "grey40",
                   cex = shrunk_cex(why, 0.9 * graphics::par("pin")[1], 1))
    return(head_line("AUC not defined", 0.4))
  }
  graphics::polygon(
    c(0, 1 - roc$specificity.upper, 1, rev(1 - roc$specificity.lower)),
    c(0, roc$sensitivity.upper, 1, rev(roc$sensitivity.lower)),
    col = grDevices::adjustcolor(col, 0.15), border = NA)
  graphics::segments(0, 0, 1, 1, lty = 2, col = "grey60")
  style <- utils::modifyList(list(col = col, lwd = 2), dots)
  do.call(graphics::lines, c(list(1 - roc$specificity, roc$sensitivity), style))
  at <- which(roc$threshold <= x$threshold)[1]
  graphics::points(1 - roc$specificity[at], roc$sensitivity[at], pch = 21, bg = col, col = "white",
                   cex = 1.5)
  graphics::legend("bottomright", paste("threshold", number_text(x$threshold)), bty = "n",
                   cex = 0.85, pch = 21, pt.bg = col, col = "white", pt.cex = 1.5)
  head_line(paste("AUC", measure_text(x, "auc")), 0.4)
}

draw_calibration <- function(x, col, xlab, ylab, dots) {
  class <- x$classnames[2]
  square_frame(c(0, 1), xlab %or% paste0("Predicted probability of \"", class, "\""),
               ylab %or% paste0("Observed share of \"", class, "\""))
  graphics::segments(0, 0, 1, 1, lty = 2, col = "grey60")
  for (y in 0:1) {
    of_class <- x$predictions$predicted[x$predictions$observed == y]
    graphics::segments(of_class, y, of_class, y + c(0.025, -0.025)[y + 1],
                       col = grDevices::adjustcolor("black", 0.35), lwd = 0.7)
  }
  draw_bins(x$calibration, col, dots)
  head_line(paste0("intercept ", measure_text(x, "intercept"), ", slope ",
                   measure_text(x, "slope")), 0.4)
}

draw_observed <- function(x, col, xlab, ylab, dots) {
  shown <- x$predictions
  square_frame(range(shown$observed, shown$predicted), xlab %or% "Predicted", ylab %or% "Observed",
               padding = 0.03)
  graphics::abline(0, 1, lty = 2, col = "grey60")
  graphics::points(shown$predicted, shown$observed, pch = 16, cex = 0.55,
                   col = grDevices::adjustcolor("black", 0.3))
  draw_bins(x$calibration, col, dots)
  head_line(bquote(R^2 ~ .(paste0(measure_text(x, "r.squared"), ", slope ",
                                  measure_text(x, "slope")))), 0.4)
}

draw_confusion <- function(x, col, xlab, ylab, dots) {
  levels <- x$classnames
  square_frame(c(0.5, length(levels) + 0.5), xlab %or% "Observed level",
               ylab %or% "Predicted level", padding = 0, labels = levels)
  n <- matrix(x$confusion$n, length(levels), dimnames = list(levels, levels))
  share <- sweep(n, 2, pmax(colSums(n), 1e-300), "/")
  at <- row(n)
  shade <- ifelse(at == col(n), col, "grey35")
  filled <- mapply(function(base, part) grDevices::adjustcolor(base, 0.85 * part), shade, share)
  graphics::rect(col(n) - 0.5, at - 0.5, col(n) + 0.5, at + 0.5, col = filled, border = "white")
  text <- paste0(decimal_text(100 * share, 0), " %\n", number_text_each(round(n, 1)))
  text[n == 0] <- ""
  graphics::box(col = "grey40")
  style <- utils::modifyList(list(cex = min(1, 4 / length(levels))), dots)
  graphics::text(col(n), at, text, col = ifelse(share > 0.55, "white", "black"), cex = style$cex)
  head_line(paste("accuracy", measure_text(x, "accuracy")), 0.4)
}

draw_survival <- function(x, col, xlab, ylab, dots) {
  groups <- levels(x$survival$risk)
  colours <- stats::setNames(grDevices::colorRampPalette(c("grey65", col))(3), groups)
  square_frame(list(c(0, max(x$survival$time)), c(0, 1)), xlab %or% "Time",
               ylab %or% "Share without the event")
  style <- utils::modifyList(list(lwd = 2), dots)
  for (risk in groups) {
    curve <- x$survival[x$survival$risk == risk, ]
    if (!nrow(curve)) next
    do.call(graphics::lines, c(list(c(0, curve$time), c(1, curve$survival), type = "s",
                                    col = colours[risk]), style))
    graphics::points(curve$time[curve$censored], curve$survival[curve$censored], pch = "|",
                     cex = 0.6, col = colours[risk])
  }
  where <- if (min(x$survival$survival) < 0.5) "topright" else "bottomleft"
  graphics::legend(where, paste(groups, "risk"), col = colours, lwd = 2, bty = "n",
                   cex = 0.85, seg.len = 1.4)
  head_line(paste("concordance", measure_text(x, "concordance")), 0.4)
}

draw_bins <- function(bins, col, dots) {
  of_points <- names(dots) %in% c("pch", "cex")
  bars <- utils::modifyList(list(col = col, lwd = 1.6), dots[!of_points])
  do.call(graphics::segments,
          c(list(bins$predicted, bins$lower, bins$predicted, bins$upper), bars))
  points <- utils::modifyList(list(pch = 21, cex = 1.4), dots[of_points])
  # Only the symbols 21 to 25 have a rim, which is white.
  rim <- if (points$pch %in% 21:25) "white" else col
  do.call(graphics::points, c(list(bins$predicted, bins$observed, bg = col, col = rim), points))
}

# ---- parts ---------------------------------------------------------------------------------------

# `limits`: of both axes, or a list with those of each. `labels`: at 1, 2, ... instead of numbers.
square_frame <- function(limits, xlab, ylab, padding = 0.02, labels = NULL) {
  if (!is.list(limits)) limits <- list(limits, limits)
  limits <- lapply(limits, padded_range, padding)
  graphics::plot.new()
  graphics::plot.window(limits[[1]], limits[[2]], xaxs = "i", yaxs = "i")
  for (side in 1:2) {
    if (is.null(labels)) {
      graphics::axis(side, cex.axis = 0.9, col = NA, col.ticks = "grey40")
    } else {
      # Labels of the y axis run along it, because there is no room for long ones beside it.
      room <- 0.95 * graphics::par("pin")[side] / length(labels)
      widest <- max(graphics::strwidth(labels, units = "inches", cex = 0.9), 0.01)
      graphics::axis(side, seq_along(labels), labels, cex.axis = 0.9 * min(1, room / widest),
                     col = NA, tick = FALSE, las = 0, gap.axis = 0)
    }
  }
  graphics::box(col = "grey40")
  size <- graphics::par("fin")
  plot <- graphics::par("plt") * size[c(1, 1, 2, 2)]
  line <- graphics::par("cin")[2] * graphics::par("cex")
  side_title(xlab, 1, mean(plot[1:2]), c(0, size[1]), size[1], line)
  # Between the title of the x axis and the lines of text above the square.
  side_title(ylab, 2, mean(plot[3:4]), c(1.5 * line, plot[4] + 0.3 * line), size[2], line)
}

# The title of an axis, centred at `middle` if there is room within the limits (inches); smaller if
# it is too long.
side_title <- function(text, side, middle, limits, size, line) {
  title <- fit_title(text, middle, limits[1], limits[2], 1, line)
  convert <- if (side == 1) graphics::grconvertX else graphics::grconvertY
  graphics::mtext(text, side, line = graphics::par("mgp")[1], las = 0,
                  at = convert(title$middle / size, "nfc", "user"),
                  cex = title$cex * graphics::par("cex"))
  invisible(title)
}

# A line of text above the square. It is centred over the square if the figure has room on both
# sides, and is smaller if the figure is too narrow.
head_line <- function(text, line, cex = 0.85) {
  room <- 0.97 * graphics::par("fin")[1]
  width <- graphics::strwidth(text, units = "inches", cex = cex)
  cex <- cex * min(1, room / max(width, 0.01))
  side <- min(width, room) / 2
  edge <- graphics::par("fin")[1] - room
  middle <- mean(graphics::par("plt")[1:2]) * graphics::par("fin")[1]
  middle <- max(edge / 2 + side, min(graphics::par("fin")[1] - edge / 2 - side, middle))
  at <- graphics::grconvertX(middle / graphics::par("fin")[1], "nfc", "user")
  graphics::mtext(text, side = 3, line = line, at = at, cex = cex * graphics::par("cex"))
}

# "0.87 (0.80 to 0.93)"
measure_text <- function(x, measure) {
  row <- x$measures[x$measures$measure == measure, ]
  if (is.na(row$estimate)) return("not defined")
  number <- function(value) decimal_text(value, 2)
  limits <- if (!is.na(row$lower)) paste0(" (", number(row$lower), " to ", number(row$upper), ")")
  paste0(number(row$estimate), limits)
}
