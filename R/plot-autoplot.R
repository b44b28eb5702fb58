# Pictures of fits and of cross-validations as ggplots, of the data in plot-paths.R. The methods are
# registered when ggplot2 is loaded, which is not imported.

#' Pictures with ggplot2
#'
#' The pictures of [plot.n2gfl()] and [plot.n2gfl_cv()] as ggplots of the same data, which can be
#' changed and combined as usual. They need the package ggplot2. The numbers of regions, on the
#' upper axes there, are left out. A ggplot does not know its device: the default of `which` is all
#' panels or, if there are more than 12, 12 that are evenly spread.
#'
#' @param object A fit from [n2gfl()] or a cross-validation from [cv.n2gfl()].
#' @inheritParams plot.n2gfl
#' @param ... Not used.
#' @return A ggplot.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   set.seed(1)
#'   cohort <- simulate_cohort(n = 60, dim = c(12, 12))
#'   fit <- n2gfl(cohort$x, cohort$y, cohort$graph, family = "binomial",
#'                lambda2 = c(0.01, 0.003))
#'   print(ggplot2::autoplot(fit))
#'   print(ggplot2::autoplot(fit, what = "map", row = 12) + ggplot2::ggtitle("Row 12"))
#' }
#' @exportS3Method ggplot2::autoplot
autoplot.n2gfl <- function(object, what = c("paths", "map"),
                           xvar = c("lambda1", "lambda2", "norm", "dev"), which = NULL,
                           label = TRUE, s = NULL, row = NULL, col = NULL, ...) {
  need_package("ggplot2", "for autoplot()")
  check_autoplot_dots(list(...))
  what <- match_choice(what, "what", c("paths", "map"))
  if (what == "map") {
    check_not_given(which, "which", "what = \"map\"")
    return(ggplot_map(map_data(object, s, row), col))
  }
  xvar <- match_xvar(xvar)
  ggplot_paths(path_data(object, xvar, which), check_flag(label, "label"),
               col %or% region_colours, xvar)
}

#' @rdname autoplot.n2gfl
#' @param type `"curve"` or `"heatmap"`.
#' @exportS3Method ggplot2::autoplot
autoplot.n2gfl_cv <- function(object, type = c("curve", "heatmap"),  # nolint: object_name.
                              which = NULL, col = NULL, ...) {
  need_package("ggplot2", "for autoplot()")
  check_autoplot_dots(list(...))
  type <- match_choice(type, "type", c("curve", "heatmap"))
  data <- cv_plot_data(object)
  if (type == "heatmap") {
    check_not_given(which, "which", "type = \"heatmap\"")
    return(ggplot_heatmap(data, col))
  }
  count <- length(data$lambda2)
  which <- if (is.null(which)) spread_panels(count, most_panels, data$default) else {
    check_which(which, count)
  }
  ggplot_curves(choices_among(data, which), which, col %or% curve_colour)
}

check_autoplot_dots <- function(given) {
  if ("panels" %in% names(given)) check_line_parameters(given)
  check_no_dots(given)
}

# ggplot2's way to name a column of its data.
utils::globalVariables(".data")

# The legend is below, which leaves the whole width to the panels.
ggplot_theme <- function() {
  ggplot2::theme_classic(base_size = 10) +
    ggplot2::theme(strip.background = ggplot2::element_blank(), strip.clip = "off",
                   legend.position = "bottom", legend.box = "vertical",
                   legend.margin = ggplot2::margin(), legend.spacing.y = ggplot2::unit(3, "pt"),
                   legend.spacing.x = ggplot2::unit(3, "pt"),
                   legend.text = ggplot2::element_text(size = 8),
                   legend.title = ggplot2::element_text(size = 8),
                   axis.text = ggplot2::element_text(size = 7.5),
                   plot.margin = ggplot2::margin(5, 14, 5, 5), plot.title.position = "plot",
                   plot.caption.position = "plot",
                   plot.caption = ggplot2::element_text(hjust = 0, size = 7.5))
}

# Plotmath labels for panels: lambda[2] == 0.01.
panel_factor <- function(panel, lambdas, fixed) {
  labels <- vapply(lambdas, function(lambda) {
    ends <- unique(lambda_label(range(lambda)))
    paste0("lambda[", fixed, "] == '", paste(ends, collapse = " to "), "'")
  }, "")
  factor(panel, seq_along(lambdas), labels)
}

# Several panels have room for every other tick only.
position_scale <- function(ticks, reversed, panels) {
  if (is.null(ticks)) return(ggplot2::scale_x_continuous())
  if (panels > 1) ticks <- every_other(ticks)
  ggplot2::scale_x_continuous(breaks = ticks$at, labels = ticks$labels,
                              trans = if (reversed) "reverse" else "identity",
                              guide = ggplot2::guide_axis(check.overlap = TRUE),
                              expand = ggplot2::expansion(mult = c(0.03, 0.08)))
}

every_other <- function(ticks) lapply(ticks, function(t) t[seq_along(t) %% 2 == 1])

ggplot_paths <- function(data, label, col, xvar) {
  prepare <- function(part) {
    part$panel <- panel_factor(part$panel, lapply(data$panels, `[[`, "lambda"), data$fixed)
    part
  }
  lines <- prepare(with_colour(data$lines, col))
  # The largest regions are drawn last, on top.
  lines$group <- factor(-lines$region)
  ends <- data$ends[data$ends$region <= length(col), ]
  ends <- prepare(with_colour(ends[order(ends$region), ], col))
  aes <- ggplot2::aes(x = .data$x, y = .data$value, colour = .data$colour)
  geom <- if (anyDuplicated(lines[c("panel", "region")])) path_lines() else ggplot2::geom_point()
  ggplot2::ggplot(lines, aes) +
    ggplot2::geom_blank(ggplot2::aes(x = .data$x, y = 0), prepare(data$counts),
                        inherit.aes = FALSE) +
    ggplot2::geom_hline(yintercept = 0, colour = "grey70", linewidth = 0.3) + geom +
    (if (label) ggplot2::geom_text(ggplot2::aes(label = .data$region), ends, hjust = -0.5,
                                   size = 3, check_overlap = TRUE)) +
    ggplot2::scale_colour_identity() +
    position_scale(data$ticks, data$reversed, length(data$panels)) +
    ggplot2::facet_wrap("panel", scales = if (data$shared) "free_y" else "free",
                        labeller = ggplot2::label_parsed, drop = FALSE) +
    # Labels of lines that end at the edge of their panel are wider than the space left there.
    ggplot2::coord_cartesian(clip = "off") +
    ggplot2::labs(x = xvar_title(xvar), y = "Coefficient") + ggplot_theme()
}

path_lines <- function() {
  list(ggplot2::geom_line(ggplot2::aes(group = .data$group, linewidth = .data$width)),
       ggplot2::scale_linewidth_identity())
}

with_colour <- function(lines, col) {
  large <- lines$region <= length(col)
  lines$colour <- ifelse(large, col[lines$region], other_colour)
  lines$width <- ifelse(large, 0.6, 0.3)
  lines
}

ggplot_map <- function(map, col) {
  scale <- map_scale(map, col)
  inside <- which(!is.na(map))
  pixels <- data.frame(x = row(map)[inside], y = col(map)[inside], value = map[inside])
  pixels$value[pixels$value == 0] <- NA
  ggplot2::ggplot(pixels, ggplot2::aes(x = .data$x, y = .data$y, fill = .data$value)) +
    ggplot2::geom_raster() +
    ggplot2::scale_fill_gradientn(colours = scale$col, limits = scale$limits,
                                  na.value = zero_colour, name = "Coefficient") +
    ggplot2::coord_equal(expand = FALSE) +
    ggplot2::labs(title = map_title(map), caption = if (all(is.na(pixels$value))) empty_map) +
    ggplot2::theme_void(base_size = 10) +
    ggplot2::theme(plot.margin = ggplot2::margin(5, 5, 5, 5), plot.title.position = "plot")
}

ggplot_curves <- function(data, which, col) {
  lambdas <- as.list(data$lambda2)
  rows <- data$rows[data$rows$panel %in% which, ]
  marks <- data$marks
  rows$panel <- panel_factor(rows$panel, lambdas, 2)
  marks$panel <- panel_factor(marks$panel, lambdas, 2)
  target <- data.frame(y = data$target, title = data$target_title)
  ggplot2::ggplot(rows, ggplot2::aes(x = .data$x, y = .data$cvm)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$y, linetype = .data$title), target,
                        colour = "grey30") +
    ggplot2::scale_linetype_manual(name = NULL, values = "dotted") +
    ggplot2::geom_linerange(ggplot2::aes(ymin = .data$cvlo, ymax = .data$cvup),
                            colour = "grey60") +
    ggplot2::geom_point(colour = col, size = 1) + mark_layers(marks, "cvm") +
    position_scale(data$ticks, TRUE, length(which)) +
    ggplot2::facet_wrap("panel", labeller = ggplot2::label_parsed) +
    ggplot2::labs(x = xvar_title("lambda1"), y = data$name) + choice_labels(data) + ggplot_theme()
}

# The default row as title, and remarks about chosen rows as caption. A ggplot does not know its
# width: the lines fit a journal's column of 3.3 inches.
choice_labels <- function(data) {
  notes <- if (length(data$notes)) paste(strwrap(data$notes, caption_width), collapse = "\n")
  ggplot2::labs(subtitle = data$title, caption = notes)
}

caption_width <- 58

# Symbols of the chosen rows with their legend.
mark_layers <- function(marks, y) {
  style <- mark_style[mark_style$mark %in% marks$mark, ]
  marks$mark <- factor(marks$mark, style$mark, style$title)
  list(
    ggplot2::geom_point(ggplot2::aes(x = .data$x, y = .data[[y]], shape = .data$mark),
                        marks, size = 1.6 * mark_sizes(marks$row), colour = "white",
                        fill = style$col[as.integer(marks$mark)]),
    ggplot2::scale_shape_manual(name = NULL, values = style$pch, drop = FALSE,
                                guide = ggplot2::guide_legend(
                                  override.aes = list(fill = style$col, size = 3)))
  )
}

ggplot_heatmap <- function(data, col) {
  bands <- length(data$lambda2)
  data$marks$y <- bands + 1 - data$marks$panel
  ticks <- every_other(data$ticks)
  ggplot2::ggplot(heat_cells(data$rows)) +
    ggplot2::geom_rect(ggplot2::aes(xmin = .data$left, xmax = .data$right, ymin = .data$bottom,
                                    ymax = .data$top, fill = .data$value)) +
    ggplot2::scale_fill_gradientn(colours = col %or% grDevices::hcl.colors(100),
                                  name = data$name) +
    mark_layers(data$marks, "y") +
    ggplot2::scale_x_continuous(breaks = ticks$at, labels = ticks$labels,
                                trans = "reverse", expand = c(0, 0),
                                guide = ggplot2::guide_axis(check.overlap = TRUE)) +
    ggplot2::scale_y_continuous(breaks = seq_len(bands), expand = c(0, 0),
                                labels = rev(lambda_label(data$lambda2))) +
    ggplot2::labs(x = xvar_title("lambda1"), y = xvar_title("lambda2")) + choice_labels(data) +
    ggplot_theme()
}
