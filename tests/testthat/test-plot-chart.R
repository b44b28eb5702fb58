# What all charts share: cells of the user, layout of panels and legends, marks, directions.

# The plots of all kinds, as functions without arguments.
all_charts <- function() {
  fit <- path_fit(c(0.2, 0.1, 0.05))
  cv <- make_cv(fit, c(min = 11L, `1se` = 9L, es = 9L, stable = 4L))
  flat <- make_fit(cbind(1:6), graph_grid(c(3, 2)), 1, 1)
  table <- stability_table()
  chain <- selection()
  image <- chain
  image$graph <- graph_grid(c(3, 4))
  list(paths = function() plot(fit), map = function() plot(flat, what = "map"),
       curve = function() plot(cv), heatmap = function() plot(cv, type = "heatmap"),
       grid = function() plot(table), tradeoff = function() plot(table, type = "tradeoff"),
       row = function() plot(table[2, ]), chain = function() plot(chain),
       image = function() plot(image))
}

stability_table <- function() {
  table <- data.frame(row = 1:6, lambda1 = rep(c(0.4, 0.2, 0.1), 2), lambda2 = rep(2:1, each = 3),
                      cvm = c(3, 2, 2.5, 3, 1.5, 2), cvsd = 0.3, es.fit = 1:6 / 9, mdc = 6:1 / 9,
                      dice = 1:6 / 10, nogueira = 1:6 / 8, nogueira.lower = 0:5 / 8,
                      nogueira.upper = 2:7 / 8)
  structure(table, class = c("n2gfl_stability", "data.frame"), name = "Mean squared error",
            larger = FALSE, index = c(min = 5L, `1se` = 2L, es = 2L, stable = 4L))
}

selection <- function() {
  structure(list(prob = c(0, 0.2, 0.9, 1, 0.8, 0, 0, 0.1, 0, 0, 0.3, 0), selected = 3:5, p = 12L,
                 cutoff = 0.75, lambda2 = 0.05, graph = graph_chain(12)),
            class = "n2gfl_stability_selection")
}

# How many figures the code starts.
count_figures <- function(code) {
  figures <- 0
  setHook("plot.new", function(...) figures <<- figures + 1)
  on.exit(setHook("plot.new", NULL, "replace"))
  force(code)
  figures
}

# The lines of the pdf file that the code draws.
drawn_pdf <- function(code) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
  tryCatch(force(code), finally = grDevices::dev.off())
  readLines(file, warn = FALSE)
}

moved <- c("usr", "xaxp", "yaxp", "mfg", "fig", "fin", "pin", "plt", "xlog", "ylog")

test_that("a chart takes one cell of par(mfrow) or layout() and leaves the layout alone", {
  charts <- all_charts()
  for (name in names(charts)) {
    withr::with_pdf(NULL, {
      graphics::par(mfrow = c(2, 2))
      before <- graphics::par(no.readonly = TRUE)
      for (cell in list(c(1, 1), c(1, 2), c(2, 1))) {
        expect_identical(count_figures(charts[[name]]()), 1, info = name)
        expect_equal(graphics::par("mfg"), c(cell, 2, 2), info = name)
      }
      after <- graphics::par(no.readonly = TRUE)
      expect_identical(after[setdiff(names(after), moved)], before[setdiff(names(before), moved)],
                       info = name)
    })
    withr::with_pdf(NULL, width = 6, height = 5, {
      graphics::layout(matrix(c(1, 1, 2, 3), 2, byrow = TRUE), heights = c(2, 1))
      for (width in c(6, 3, 3)) {
        charts[[name]]()
        expect_equal(graphics::par("fin")[1], width, info = name)
      }
      expect_identical(graphics::par("mfrow"), c(2L, 2L), info = name)
    })
  }
})

test_that("cells are found in whatever way they were set up", {
  withr::with_pdf(NULL, {
    expect_false(in_users_cell())
    graphics::par(oma = c(1, 1, 1, 1))
    expect_false(in_users_cell())
    graphics::plot.new()
    expect_false(in_users_cell())
    graphics::par(mfcol = c(1, 2))
    expect_true(in_users_cell())
    graphics::par(mfrow = c(1, 1), oma = c(0, 0, 0, 0))
    expect_false(in_users_cell())
    graphics::layout(t(1:2))
    expect_true(in_users_cell())
    graphics::layout(1)
    expect_false(in_users_cell())
    graphics::par(fig = c(0, 0.5, 0, 1))
    expect_true(in_users_cell())
    plot(make_cv(path_fit()))
    expect_equal(graphics::par("fig"), c(0, 0.5, 0, 1))
  })
})

test_that("in cells `which` says what is drawn, one panel in each; the default row's by default", {
  cv <- make_cv(path_fit(c(0.2, 0.1, 0.05)), c(min = 11L, `1se` = 9L, es = 9L,
                                                        stable = 7L))
  expect_identical(cv_plot_data(cv)$default, 2L)
  other <- make_cv(path_fit(c(0.2, 0.1, 0.05)), c(min = 2L, `1se` = 16L, es = 1L,
                                                           stable = 11L))
  expect_identical(cv_plot_data(other)$default, c(2L, 1L, 3L))
  withr::with_pdf(NULL, {
    expect_identical(choose_panels(NULL, 3, 2L), 1:3)
    graphics::par(mfrow = c(2, 2))
    expect_identical(choose_panels(NULL, 3, 2L), 2L)
    expect_identical(choose_panels(NULL, 3, c(2L, 1L)), 2L)
    expect_identical(count_figures(plot(cv, which = c(1, 3))), 2)
    expect_equal(graphics::par("mfg"), c(1, 2, 2, 2))
    table <- stability_table()
    expect_identical(count_figures(plot(table, which = c("cvm", "dice", "mdc"))), 3)
    expect_identical(count_figures(plot(table, measures = "all")), 1)
  })
})

test_that("panels that cannot be read are not drawn, and a message says which were", {
  fit <- path_fit(2^-(1:9))
  cv <- make_cv(fit, c(min = 4L, `1se` = 3L, es = 4L, stable = 20L))
  small <- function(code, size = c(3, 2.2)) {
    withr::with_pdf(NULL, width = size[1], height = size[2], code)
  }
  expect_message(small(plot(cv)), paste("A figure of 3 by 2.2 inches has room for 2 of 9 panels",
                                        "that can be read: which = c(1, 4). Give"), fixed = TRUE)
  expect_message(small(plot(fit), c(3.3, 3.3)),
                 "4 of 9 panels that can be read: which = c(1, 4, 6, 9).", fixed = TRUE)
  expect_silent(withr::with_pdf(NULL, plot(cv)))
  # All panels that are named are drawn, on several pages.
  expect_identical(small(count_figures(plot(cv, which = 1:9)), c(2.5, 2)), 9)
  expect_identical(withr::with_pdf(NULL, count_figures(plot(cv, which = 1:9))), 1)
  expect_identical(spread_panels(20, 5, 7L), c(1L, 7L, 10L, 15L, 20L))
  expect_identical(spread_panels(20, 2, 7L), 7L)
  expect_identical(spread_panels(3, 5, 2L), 1:3)
})

test_that("panels with chosen rows are drawn before others", {
  expect_identical(spread_panels(5, 3, c(2L, 4L, 3L)), 2:4)
  expect_identical(spread_panels(9, 4, c(2L, 3L)), c(1L, 2L, 3L, 9L))
  expect_identical(spread_panels(9, 2, c(5L, 3L, 7L)), c(3L, 5L))
  expect_identical(spread_panels(9, 1, c(5L, 3L)), 5L)
})

test_that("legend, title and remarks of curves are those of the drawn panels", {
  cv <- make_cv(path_fit(c(0.2, 0.1, 0.05)), c(min = 11L, `1se` = 16L, es = 1L,
                                                        stable = 10L))
  data <- cv_plot_data(cv)
  expect_identical(choices_among(data, 1:3), data)
  middle <- choices_among(data, 2L)
  expect_identical(middle$marks$mark, c("min", "stable"))
  expect_identical(middle$title, data$title)
  expect_identical(middle$notes[1],
                   "Not in this panel: lambda.1se (panel 3), lambda.es (panel 1).")
  ends <- choices_among(data, c(1L, 3L))
  expect_null(ends$title)
  expect_identical(ends$notes[1],
                   "Not in these panels: lambda.min (panel 2), lambda.stable (panel 2).")
  labels <- function(data, ylim) vapply(curve_legends(data, ylim)[[1]], `[[`, "", "label")
  expect_identical(labels(middle, data$target + c(-1, 1)),
                   c("lambda.min", "lambda.stable", data$target_title))
  expect_identical(labels(middle, data$target + c(1, 2)), c("lambda.min", "lambda.stable"))
})

test_that("a legend that leaves out lambda2 says so", {
  labels <- function(entries) vapply(entries, function(entry) deparse(entry$label), "")
  expect_false('"..."' %in% labels(lambda2_entries(1:5)))
  expect_identical(which(labels(lambda2_entries(1:5, 2)) == '"..."'), 2L)
  expect_length(lambda2_entries(1:9), 7)
})

test_that("the title of a colour bar is above its bar, and inside the figure", {
  withr::with_pdf(NULL, width = 7, height = 5, {
    graphics::plot.new()
    for (at in c(0.5, 1.1)) {
      title <- bar_title("selection probability", at)
      expect_lte(title$middle + text_inches("selection probability", title$cex) / 2, 7)
      if (at == 0.5) expect_equal(title$middle, graphics::grconvertX(at, "user", "nfc") * 7)
    }
  })
})

test_that("the picture says how many of the panels it has, one panel included", {
  chart <- new_chart(1, NULL, c(1.4, 3, 2.9, 1.6), "x", "y", note = c("axes", "1 of 5 panels"))
  withr::with_pdf(NULL, width = 3.3, height = 2.8, {
    graphics::plot.new()
    size <- figure_size()
    layout <- chart_layout(1, size, chart, panel_grid(1, size, chart))
  })
  expect_identical(vapply(layout$legend$entries, `[[`, "", "label"), "1 of 5 panels")
  expect_null(panels_note(3, 3))
})

# Where things go in a figure of the given size.
layout_of <- function(count, size, legends = list(mark_entries(mark_style$mark)),
                      title = "Title", remarks = character()) {
  withr::with_pdf(NULL, width = size[1], height = size[2], {
    graphics::par(mar = c(0, 0, 0, 0))
    graphics::plot.new()
    chart <- new_chart(count, NULL, c(1.4, 3, 2.9, 1), "x", "y", title, FALSE, "note", legends,
                       remarks)
    grid <- panel_grid(count, size, chart)
    graphics::par(cex = grid$cex)
    chart_layout(count, size, chart, grid)
  })
}

test_that("panels, legend and remarks stay inside the figure and apart", {
  long <- paste(rep("a rather long remark", 9), collapse = " ")
  for (size in list(c(7, 5), c(3.3, 2.5), c(1.65, 1.65), c(2, 6))) {
    for (count in c(1, 2, 5, 9)) {
      layout <- layout_of(count, size, remarks = long)
      inside <- function(x, y) all(x >= 0 & x <= size[1] + 1e-9 & y >= 0 & y <= size[2] + 1e-9)
      expect_true(inside(layout$panels$left, layout$panels$bottom))
      expect_true(inside(layout$panels$right, layout$panels$top))
      expect_true(all(layout$panels$right > layout$panels$left))
      expect_true(all(layout$panels$top > layout$panels$bottom))
      expect_true(inside(layout$legend$x, layout$legend$y))
      expect_true(inside(layout$legend$x + layout$legend$width, layout$legend$y))
      expect_true(all(layout$legend$y > layout$foot))
      left_of <- layout$panels$bottom < layout$legend$y[1]
      beside <- layout$legend$x > max(0, layout$panels$right[left_of])
      expect_true(all(beside | layout$legend$y < min(layout$panels$bottom)))
    }
  }
})

test_that("a figure that is far too small is still drawn", {
  charts <- all_charts()
  for (name in names(charts)) {
    withr::with_pdf(NULL, width = 0.8, height = 0.6, {
      expect_error(suppressMessages(charts[[name]]()), NA, info = name)
    })
  }
})

test_that("the legend stands in an empty cell, and the capacity keeps panels readable", {
  five <- layout_of(5, c(7, 5))
  expect_true(all(five$legend$x > five$panels$right[5]))
  expect_true(all(five$legend$y < five$panels$bottom[3]))
  expect_null(five$note)
  six <- layout_of(6, c(7, 5))
  expect_true(all(six$legend$y < min(six$panels$bottom)))
  expect_identical(six$note, "note")
  withr::with_pdf(NULL, {
    expect_identical(panel_capacity(c(2.5, 2)), 1L)
    # As plot.n2gfl()'s help says.
    expect_identical(panel_capacity(c(3.3, 2.8)), 3L)
    expect_identical(panel_capacity(c(7, 5)), 12L)
    expect_identical(panel_capacity(c(20, 20)), most_panels)
    for (size in list(c(3.3, 3.3), c(5, 4), c(7, 7))) {
      grid <- panel_grid(panel_capacity(size), size, list(margins = c(1.4, 3, 2.9, 1.6)))
      expect_true(all(grid$region >= smallest_region))
    }
  })
})

test_that("letters shrink with the figure, titles fit into it", {
  withr::with_pdf(NULL, width = 3.3, height = 3, {
    graphics::par(mar = c(0, 0, 0, 0))
    graphics::plot.new()
    expect_identical(letter_size(10, 10), 1)
    expect_equal(letter_size(0.1, 0.1), 6.5 / 12)
    long <- paste(rep("title", 20), collapse = " ")
    for (title in list(long, "Title", quote(lambda[1] == 0.000123))) {
      at <- fit_title(title, 3, 0, 3.3, 1, 0.2, font = 2)
      half <- graphics::strwidth(title, units = "inches", cex = at$cex, font = 2) / 2
      expect_gte(at$middle - half, 0)
      expect_lte(at$middle + half, 3.3)
    }
    lines <- wrap_text(long, 2, 0.75)
    expect_true(all(graphics::strwidth(lines, units = "inches", cex = 0.75) <= 2))
    expect_identical(paste(lines, collapse = " "), long)
  })
})

test_that("a legend in a narrow figure is shorter", {
  data <- cv_plot_data(make_cv(path_fit(c(0.2, 0.1))))
  labels <- function(layout) vapply(layout$legend$entries, `[[`, "", "label")
  wide <- labels(layout_of(1, c(7, 5), curve_legends(data, data$target + c(-1, 1))))
  narrow <- labels(layout_of(1, c(1.65, 1.65), curve_legends(data, data$target + c(-1, 1))))
  expect_identical(wide[1:4], c("lambda.min", "lambda.1se", "lambda.es", "lambda.stable"))
  expect_identical(narrow[1:4], c("min", "1se", "es", "stable"))
  # The line of one standard error is explained in both.
  expect_identical(c(wide[5], narrow[5]), rep("best + 1 standard error (bars)", 2))
  fit <- path_fit()
  fit$family <- "binomial"
  auc <- make_cv(fit, type.measure = "auc")
  expect_identical(cv_plot_data(auc)$target_title, "best - 1 standard error (bars)")
})

test_that("lambda1 runs from the largest on the left to the smallest in every chart", {
  charts <- all_charts()
  for (name in c("paths", "curve", "heatmap", "grid")) {
    withr::with_pdf(NULL, {
      charts[[name]]()
      usr <- graphics::par("usr")
      expect_gt(usr[1], usr[2])
      expect_true(all(log10(c(0.4, 0.1)) < usr[1] & log10(c(0.4, 0.1)) > usr[2]), info = name)
    })
  }
})

test_that("one table of marks serves base graphics and ggplot2", {
  charts <- all_charts()
  colours <- sprintf("%.3f %.3f %.3f scn", grDevices::col2rgb(mark_style$col)[1, ] / 255,
                     grDevices::col2rgb(mark_style$col)[2, ] / 255,
                     grDevices::col2rgb(mark_style$col)[3, ] / 255)
  for (name in c("curve", "heatmap", "grid", "tradeoff")) {
    drawn <- drawn_pdf(charts[[name]]())
    for (text in c(colours, paste0("(", mark_style$title, ")"))) {
      expect_true(any(grepl(text, drawn, fixed = TRUE, useBytes = TRUE)), info = name)
    }
  }
  cv <- make_cv(path_fit(c(0.2, 0.1)))
  for (type in c("curve", "heatmap")) {
    layers <- ggplot2::ggplot_build(ggplot2::autoplot(cv, type = type))$data
    marks <- layers[[length(layers)]]
    expect_identical(data.frame(pch = marks$shape, col = marks$fill), mark_style[c("pch", "col")])
  }
  expect_identical(vapply(mark_entries(c("es", "min")), `[[`, 0, "pch"), c(22, 21))
  # Marks that coincide are drawn inside each other.
  expect_identical(mark_sizes(c(3, 5, 5)), c(1.9, 2.6, 1))
  expect_identical(mark_sizes(c(2, 2, 2, 2)), c(2.8, 1.7, 1, 0.5))
})

test_that("marks differ for colour-blind readers, from each other and from the curve", {
  # Machado, Oliveira and Fernandes (2009), complete protanopia, deuteranopia and tritanopia.
  views <- list(
    c(1, 0, 0, 0, 1, 0, 0, 0, 1),
    c(0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998),
    c(0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881),
    c(1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900)
  )
  rgb <- grDevices::col2rgb(c(mark_style$col, curve_colour)) / 255
  linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  for (view in views) {
    seen <- pmin(pmax(matrix(view, 3, byrow = TRUE) %*% linear, 0), 1)
    seen <- ifelse(seen <= 0.0031308, 12.92 * seen, 1.055 * seen^(1 / 2.4) - 0.055)
    lab <- grDevices::convertColor(t(seen), "sRGB", "Lab")
    expect_gt(min(stats::dist(lab)), 35)
  }
})

# The value that was drawn last at points (x, y).
paint <- function(cells, x, y) {
  on <- cells$left <= x & x < cells$right & cells$bottom <= y & y < cells$top
  if (any(on)) cells$value[max(which(on))] else NA
}

test_that("cells of the heat map overlap under each other and show their own value", {
  rows <- data.frame(row = 1:7, panel = c(1, 1, 1, 2, 2, 2, 2), x = c(-1, -2, -3, 0, -1, -2, -3),
                     cvm = 1:7)
  cells <- heat_cells(rows)
  for (k in 1:7) {
    for (shift in c(-0.49, 0, 0.49)) {
      expect_equal(paint(cells, rows$x[k] + shift, 3 - rows$panel[k] + shift), rows$cvm[k])
    }
  }
  # Outside of a band there is nothing, also where the band below is longer.
  expect_identical(paint(cells, 0, 1.6), NA)
  # At an edge between two cells something lies below.
  covers <- function(x, y) {
    sum(cells$left < x & x < cells$right & cells$bottom < y & y < cells$top)
  }
  expect_gt(covers(-2.5 + 1e-6, 1), 1)
  expect_gt(covers(-2, 1.5 + 1e-6), 1)
})

# The red channel of a picture, 0 to 255, from a smoothing device. Rows from the bottom.
drawn_red <- function(width, height, code) {
  file <- tempfile(fileext = ".bmp")
  on.exit(unlink(file))
  grDevices::bmp(file, width, height, bg = "red", type = "cairo")
  tryCatch(force(code), finally = grDevices::dev.off())
  bytes <- as.integer(readBin(file, "raw", 1e7))
  number <- function(at) sum(bytes[at + 1:4] * 256^(0:3))
  depth <- bytes[29] / 8
  row <- ceiling(width * depth / 4) * 4
  pixels <- matrix(bytes[number(10) + seq_len(row * height)], row)
  t(pixels[seq(3, by = depth, length.out = width), ])
}

test_that("the heat map has no lines of background between its cells", {
  skip_if_not(capabilities("cairo"))
  cv <- make_cv(path_fit(c(0.2, 0.1, 0.05)), c(min = 5L, `1se` = 3L, es = 4L, stable = 6L))
  pixels <- NULL
  red <- drawn_red(331, 277, {
    plot(cv, type = "heatmap", col = rep("black", 7))
    x <- graphics::grconvertX(c(-0.05, -0.85), "user", "device")
    y <- 277 - graphics::grconvertY(c(0.6, 3.4), "user", "device")
    pixels <- list(x = seq(ceiling(x[1]), floor(x[2])), y = seq(ceiling(y[1]), floor(y[2])))
  })
  # The marks are white and coloured, and lie to the right of x = -0.4.
  cells <- red[pixels$y, pixels$x[pixels$x < mean(pixels$x)]]
  expect_gt(length(cells), 1000)
  expect_identical(max(cells), 0L)
})

test_that("the picture says what is odd about the chosen rows, and names the default row", {
  fit <- path_fit(c(0.2, 0.1))
  empty <- cv_plot_data(make_cv(fit, c(min = 6L, `1se` = 1L, es = 3L, stable = 5L)))
  expect_match(empty$notes, "lambda.1se: no feature is selected", fixed = TRUE)
  more <- cv_plot_data(make_cv(fit, c(min = 2L, `1se` = 3L, es = NA, stable = 2L)))
  expect_match(more$notes, "more features (5 against 3)", fixed = TRUE)
  expect_length(cv_plot_data(make_cv(fit))$notes, 0)
  expect_identical(empty$title, quote("lambda.stable" * ":" ~ lambda[1] == "0.0625" * "," ~
                                        lambda[2] == "0.2"))
  odd <- make_cv(fit, c(min = 6L, `1se` = 1L, es = 3L, stable = 5L))
  writes <- function(text, code) {
    expect_true(any(grepl(paste0("(", text, ")"), drawn_pdf(code), fixed = TRUE, useBytes = TRUE)))
  }
  writes(empty$notes, plot(odd))
  writes(empty$notes, plot(odd, type = "heatmap"))
  writes("best + 1 standard error \\(bars\\)", plot(odd))
  writes("lambda.stable", plot(odd))
  zero <- make_fit(matrix(0, 4, 1), graph_grid(c(2, 2)), 1, 1)
  writes(empty_map, plot(zero, what = "map"))
  picture <- ggplot2::autoplot(odd)
  expect_identical(picture$labels$caption, empty$notes)
  expect_identical(picture$labels$subtitle, empty$title)
})

test_that("bad arguments of charts are refused in a sentence", {
  fit <- path_fit(c(0.2, 0.1))
  cv <- make_cv(fit)
  table <- stability_table()
  expect_snapshot(refusal(plot(fit, panels = 1)))
  expect_snapshot(refusal(plot(cv, panels = 1)))
  expect_snapshot(refusal(ggplot2::autoplot(cv, panels = 1)))
  expect_snapshot(refusal(ggplot2::autoplot(cv, colour = 1)))
  expect_snapshot(refusal(plot(cv, wich = 1)))
  expect_snapshot(refusal(plot(cv, which = "min")))
  expect_snapshot(refusal(plot(cv, type = "heatmap", which = 1)))
  expect_snapshot(refusal(plot(table, which = "jaccard")))
  expect_snapshot(refusal(plot(table, type = "tradeoff", which = 1)))
  expect_snapshot(refusal(plot(table[1, ], which = 1)))
  expect_snapshot(refusal(plot(selection(), colour = "red")))
})

test_that("charts in cells are unchanged", {
  vdiffr::expect_doppelganger("charts in cells", function() {
    charts <- all_charts()
    old <- graphics::par(mfrow = c(2, 2))
    for (name in c("curve", "heatmap", "grid", "chain")) charts[[name]]()
    graphics::par(old)
  })
  vdiffr::expect_doppelganger("stability panels", function() plot(stability_table()))
})
