#' Plot selection probabilities
#'
#' The share of the halves of the data that select each feature, with the cutoff: in the order of
#' the features for chains and other graphs, as an image for a grid or a mask in two dimensions. It
#' fills one figure: the device, or the next cell of your `par(mfrow = )` or `layout()`.
#'
#' @param x An object from [stability_selection()].
#' @param col Colours: of the features that reach the cutoff and of the others, or of the image from
#'   0 to 1.
#' @param xlab,ylab,main Titles of the axes and of the picture.
#' @param ... Graphical parameters of the lines and points, such as `lwd` or `cex`; for an image,
#'   nothing.
#' @return `x`, invisibly.
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 40), 80)
#' y <- rowSums(x[, 5:9]) + rowSums(x[, 21:24]) + rnorm(80)
#' plot(stability_selection(x, y, graph_chain(40), cutoff = 0.75, q = 12, B = 10, lambda2 = 0.05))
#' @method plot n2gfl_stability_selection
#' @export
plot.n2gfl_stability_selection <- function(x, col = NULL, xlab = NULL, ylab = NULL, main = NULL,
                                           ...) {
  image <- length(x$graph$dim) == 2
  dots <- if (image) check_no_dots(list(...), " for an image") else check_line_parameters(list(...))
  title <- chart_title(main, bquote("Stability selection," ~ .(lambda_equals(x$lambda2, 2))))
  if (image) {
    plot_probability_image(x, col, xlab %or% "", ylab %or% "", title)
  } else {
    plot_probabilities(x, col %or% c("#D55E00", "grey50"), xlab %or% "Feature",
                       ylab %or% "Selection probability", title, dots)
  }
  invisible(x)
}

plot_probabilities <- function(x, col, xlab, ylab, title, dots) {
  shown <- which(x$prob > 0)
  chosen <- x$prob[shown] >= x$cutoff - 1e-9
  colour <- ifelse(chosen, col[1], rep_len(col, 2)[2])
  draw <- function(k, only) {
    draw_frame(padded_range(c(1, x$p), 0.02), c(0, 1.02), NULL)
    lines <- utils::modifyList(list(lwd = 1), dots[names(dots) %in% c("lwd", "lty", "lend")])
    do.call(graphics::segments, c(list(shown, 0, shown, x$prob[shown], col = colour), lines))
    points <- utils::modifyList(list(pch = 16, cex = 0.6), dots[names(dots) %in% c("pch", "cex")])
    do.call(graphics::points, c(list(shown, x$prob[shown], col = colour), points))
    graphics::abline(h = x$cutoff, lty = 2)
  }
  legend <- list(legend_entry(paste("cutoff", number_text(x$cutoff)), lty = 2),
                 legend_entry("selected", pch = 16, col = col[1]),
                 legend_entry("not selected", pch = 16, col = rep_len(col, 2)[2]))
  draw_chart(new_chart(1, draw, c(1.4, label_lines("0.0"), 0.6, 0.9), xlab, ylab, title$text,
                       title$bold, legends = list(legend)))
}

plot_probability_image <- function(x, col, xlab, ylab, title) {
  values <- array(NA_real_, x$graph$dim)
  values[x$graph$coords] <- x$prob
  scale <- list(limits = c(0, 1),
                col = col %or% grDevices::hcl.colors(64, "YlOrRd", rev = TRUE))
  selected <- array(FALSE, dim(values))
  selected[x$graph$coords[x$selected, , drop = FALSE]] <- TRUE
  draw <- function(k, only) {
    graphics::plot.window(c(0.5, nrow(values) + 0.5), c(0.5, ncol(values) + 0.5), asp = 1,
                          xaxs = "i", yaxs = "i")
    graphics::image(seq_len(nrow(values)), seq_len(ncol(values)), values, zlim = c(0, 1),
                    col = scale$col, add = TRUE, useRaster = TRUE)
    draw_outline(selected)
    middle <- colour_bar(scale, c(nrow(values) + 0.5, 0.5, ncol(values) + 0.5))
    bar_title("selection probability", middle)
  }
  outlined <- paste("outlined: selected, probability at least", number_text(x$cutoff))
  draw_chart(new_chart(1, draw, c(0.2, 0, 1.7, bar_lines(c(0, 1))), xlab, ylab, title$text,
                       title$bold,
                       legends = list(list(legend_entry(outlined, lty = 1, lwd = 2)))))
}

# The sides between cells that are selected and cells that are not.
draw_outline <- function(selected) {
  padded <- matrix(FALSE, nrow(selected) + 2, ncol(selected) + 2)
  padded[1 + seq_len(nrow(selected)), 1 + seq_len(ncol(selected))] <- selected
  upright <- which(padded[-1, ] != padded[-nrow(padded), ], arr.ind = TRUE)
  level <- which(padded[, -1] != padded[, -ncol(padded)], arr.ind = TRUE)
  graphics::segments(upright[, 1] - 0.5, upright[, 2] - 1.5, upright[, 1] - 0.5,
                     upright[, 2] - 0.5, lwd = 2)
  graphics::segments(level[, 1] - 1.5, level[, 2] - 0.5, level[, 1] - 0.5, level[, 2] - 0.5,
                     lwd = 2)
}
