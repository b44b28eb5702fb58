# Accuracy against stability of the whole procedure, from the outer folds of a nested
# cross-validation.

plot_cv_tradeoff <- function(x, which, xlab, ylab, main, ...) {
  check_not_given(which, "which", "type = \"tradeoff\"")
  if (is.null(x$nested$stability)) {
    return(plot(stability(x, measures = main_measure), type = "tradeoff", main = main, ...))
  }
  check_no_dots(list(...))
  data <- procedure_data(x)
  across <- padded_range(c(data$lower, data$upper), 0.06)
  up <- padded_range(c(data$score - data$error, data$score + data$error), 0.08)
  draw <- function(k, only) {
    draw_frame(across, up, NULL)
    draw_procedures(data)
  }
  larger <- larger_is_better(x$type.measure)
  better <- function(larger) if (larger) "(larger is better)" else "(smaller is better)"
  draw_chart(new_chart(
    1, draw, c(1.4, label_lines(plain_ticks(up)$labels), 0.6, 0.9),
    xlab %or% paste("Stability of the maps, Nogueira", better(TRUE)),
    ylab %or% paste0(x$name, ", nested ", better(larger)), main, TRUE,
    legends = lapply(c(FALSE, TRUE), mark_entries, mark = data$choice),
    remarks = "numbers: features of the map, from the smallest to the largest of the outer folds"
  ))
  invisible(data)
}

# One line for each way to choose whose stability has a value.
procedure_data <- function(x) {
  stable <- x$nested$stability
  data <- data.frame(choice = rownames(stable), score = x$nested$estimate$cvm,
                     error = x$nested$estimate$cvsd, stability = stable$nogueira,
                     lower = stable$nogueira.lower, upper = stable$nogueira.upper,
                     least = stable$least, most = stable$most)
  data <- data[is.finite(data$stability) & is.finite(data$score), ]
  if (!nrow(data)) {
    stop_bad("`x` must have maps of the outer folds to compare for type \"tradeoff\": all of them ",
             "are empty.")
  }
  data
}

draw_procedures <- function(data) {
  graphics::segments(data$lower, data$score, data$upper, data$score, col = "grey60")
  graphics::segments(data$stability, data$score - data$error, data$stability,
                     data$score + data$error, col = "grey60")
  draw_marks(data$choice, data$stability, data$score, paste(data$stability, data$score))
  graphics::text(data$stability, data$score, paste0(data$least, "-", data$most), cex = 0.8,
                 adj = c(-0.25, -0.6), col = "grey30")
}
