#' Stability selection
#'
#' Fits the model to many random halves of the data, lets each half select up to `q` features, and
#' keeps the features that at least a share `cutoff` of the halves select. The expected number of
#' false selections is bounded.
#'
#' @details
#' **How a half selects q features.** The fused lasso has two penalties. `lambda2` is fixed, and the
#' path is followed from the largest `lambda1` of that half downwards. The half selects the nonzero
#' features of the last fit before more than `q` different features have entered the path. This is
#' what `stabs::glmnet.lasso()` (its default, conservative form) does for the lasso: with
#' `lambda2 = 0`, `sign = "free"` the result is the same, apart from features that glmnet counts as
#' entered although it leaves them at zero. So a half selects at most `q` features, and the bound
#' holds.
#'
#' With fusion whole regions enter at once. Make `q` as large as a few regions: when the first
#' region that enters is larger than `q`, a half selects nothing, and a warning says in how many
#' halves that happened. `sizes` in the result has the number of features that each half selected.
#'
#' **Which lambda2.** One number. The default (`NULL`) is the middle of [n2gfl()]'s default
#' sequence: 0.03 times [lambda_max()] at `lambda2 = 0`. After a cross-validation,
#' `cvfit$lambda.es["lambda2"]` is the better choice.
#'
#' **Halves.** `"SS"` splits the rows `B` times into two complementary halves, as [make_folds()]
#' makes 2 folds: stratified by class for `"binomial"`, and rows of one `group` in the same half.
#' `"MB"` uses only the first half of each split. The halves are 0/1 observation weights for the
#' same `x`. They can run in parallel and are kept in `checkpoint`, like the folds of [cv.n2gfl()].
#'
#' **Regions.** Voxels of a region are almost always selected together or not at all. `regions`
#' lists the connected regions of the selected features and the share of the halves in which each
#' survives: see [stable_regions()].
#'
#' @inheritSection n2gfl Progress
#' @inheritParams cv.n2gfl
#' @inheritParams stabsel_bound
#' @param trace.it 1 shows a progress bar on the message stream, in scripts too; see *Progress*.
#' @param cutoff,q,PFER Give two of the three; the third is computed, see [stabsel_bound()].
#'   `cutoff` is the share of halves that must select a feature, `q` the largest number of features
#'   that a half selects, `PFER` the bound on the expected number of falsely selected features.
#' @param ... Further arguments of [n2gfl()], such as `family`, `lambda2`, `covariates`; but not
#'   `lambda1`, because each half has its own sequence. The defaults here are `nlambda1 = 100` and
#'   `lambda.min.ratio = 0.01`.
#' @return A list of class `stabsel.n2gfl`:
#'   \item{prob}{The share of halves that select each feature: a map.}
#'   \item{selected}{The features for which this share is at least `cutoff`.}
#'   \item{regions}{A data frame of their connected regions, see [stable_regions()].}
#'   \item{runs}{A sparse matrix of zeros and ones, features by halves: what each half selected.
#'     [stability()] and [mDC()] take the object.}
#'   \item{sizes}{How many features each half selected.}
#'   \item{cutoff, q, PFER, p, B, assumption, sampling.type}{As in [stabsel_bound()].}
#'   \item{lambda2, graph, call}{The penalty, the graph, the call without the data.}
#' @inherit stabsel_bound references
#' @seealso [stabsel_bound()], [stable_regions()], [plot.stabsel.n2gfl()].
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 40), 80)
#' y <- rowSums(x[, 5:9]) + rowSums(x[, 21:24]) + rnorm(80)
#' selection <- stabsel.n2gfl(x, y, graph_chain(40), cutoff = 0.75, q = 12, B = 10, lambda2 = 0.05)
#' selection
#' which(selection$prob > 0.5)
#' plot(selection)
#' @export
stabsel.n2gfl <- function(x, y, graph = NULL, cutoff = NULL, q = NULL, PFER = NULL, B = 50,
                          assumption = c("unimodal", "r-concave", "none"),
                          sampling.type = c("SS", "MB"), ..., group = NULL, checkpoint = NULL,
                          trace.it = 0) {
  given <- check_dots(...)
  call <- call_without_data(match.call(), "stabsel.n2gfl")
  problem <- check_stabsel_problem(x, y, graph, given)
  bound <- stabsel_bound(ncol(problem$data$x), cutoff, q, PFER, B, assumption, sampling.type)
  trace <- check_trace(trace.it)
  group <- check_group(align_rows(group, "group", problem$rows), nrow(problem$data$x))

  halves <- draw_halves(problem_strata(problem), group, bound$B, bound$sampling.type)
  kind <- if (bound$sampling.type == "SS") "pairs" else "halves"
  resumed <- resume_plan(new_plan(kind, halves), checkpoint, work_key(
    "stabsel", problem, bound$q, dim(halves), bound$sampling.type, as.integer(group)))
  plan <- resumed$plan
  check_plan(problem, plan)
  null <- start_facts(problem_at(problem), 0)
  warn_wrong_sign(null$effects, problem)
  # The geometric middle of the sequence that n2gfl() makes.
  if (!length(problem$lambda2)) problem$lambda2 <- 0.03 * null$lambda_max
  progress <- start_progress("Stability selection", length(plan$runs), trace)
  on.exit(end_progress(progress), add = TRUE)
  chosen <- run_plan(problem, plan, select_features, q = bound$q, checkpoint = resumed$store,
                     progress = progress)
  new_stabsel(chosen, bound, problem, call)
}

check_stabsel_problem <- function(x, y, graph, given) {
  if (!is.null(given$lambda1)) {
    stop_bad("`lambda1` must not be given: every half of the data follows a path of its own, ",
             "until `q` features have entered.")
  }
  defaults <- list(nlambda1 = 100, lambda.min.ratio = 0.01)
  given <- utils::modifyList(defaults, given, keep.null = TRUE)
  problem <- check_problem(fit_arguments(c(list(x = x, y = y, graph = graph), given)))
  if (length(problem$lambda2) > 1) {
    stop_bad("`lambda2` must be one number or NULL, not ", length(problem$lambda2), " numbers.")
  }
  problem
}

# The features of the last fit before more than `q` have entered.
select_features <- function(view, run, q, alive, inside = NULL) {
  fits <- solve_view(view, progress = path_callback(inside), alive = alive, pmax = q)
  beta <- fits$beta
  rows <- ncol(beta)
  entered <- length(unique(beta@i))
  last <- if (entered > q) rows - 1L else rows
  # More than q unpenalised features can be nonzero in the first fit.
  range <- if (last > 0) beta@p[last + 0:1] else c(0L, 0L)
  at <- seq.int(range[1] + 1L, length.out = range[2] - range[1])
  list(features = beta@i[at], converged = fits$converged, gap = fits$gap,
       too_large = !length(at) && last < rows)
}

new_stabsel <- function(chosen, bound, problem, call) {
  columns <- lapply(chosen, function(half) {
    list(i = sort(half$features), x = rep(1, length(half$features)))
  })
  runs <- sparse_columns(unname(columns), bound$p)
  warn_folds_not_converged(chosen, "halves", kept = FALSE)
  warn_too_large(vapply(chosen, `[[`, NA, "too_large"), bound$q)
  prob <- Matrix::rowMeans(runs)
  names(prob) <- colnames(problem$data$x)
  object <- structure(
    c(list(call = call, prob = prob, selected = which(prob >= bound$cutoff - 1e-9), runs = runs,
           sizes = diff(runs@p)), bound,
      list(lambda2 = problem$lambda2, graph = problem$data$graph, space = problem$data$space)),
    class = "stabsel.n2gfl"
  )
  object$regions <- stable_regions(object)
  object
}

warn_too_large <- function(too_large, q) {
  if (!any(too_large)) return(invisible())
  warning(sum(too_large), " of ", length(too_large), " halves selected nothing, because the first ",
          "region that enters has more than q = ", q, " features: take a larger `q` or a smaller ",
          "`lambda2`.", call. = FALSE)
}

# ---- print and plot ------------------------------------------------------------------------------

#' @method print stabsel.n2gfl
#' @export
print.stabsel.n2gfl <- function(x, digits = 3, rows = 20, ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Stability selection, ",
      if (x$sampling.type == "SS") paste(x$B, "complementary pairs") else paste(x$B, "subsamples"),
      ", ", count_of(x$p, "feature"), "\n", sep = "")
  cat("Cutoff ", number_text(x$cutoff), ", q ", x$q, ", PFER at most ",
      short_number(x$PFER, digits), " (assumption ", x$assumption, ")\n", sep = "")
  cat("A half selected ", paste(unique(range(x$sizes)), collapse = " to "), " features, ",
      number_text(round(mean(x$sizes), 1)), " on average\n\n", sep = "")
  cat(count_of(length(x$selected), "feature"), " selected, in ",
      count_of(nrow(x$regions), "region"), "\n", sep = "")
  if (nrow(x$regions)) {
    cat("\n")
    print_grid(as.data.frame(lapply(unclass(x$regions), function(column) {
      if (is.integer(column)) column else short_number(column, digits)
    })), check_count(rows, "rows", 2L))
  }
  invisible(x)
}

#' Plot selection probabilities
#'
#' The share of the halves of the data that select each feature, with the cutoff: in the order of
#' the features for chains and other graphs, as an image for a grid or a mask in two dimensions. It
#' fills one figure: the device, or the next cell of your `par(mfrow = )` or `layout()`.
#'
#' @param x An object from [stabsel.n2gfl()].
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
#' plot(stabsel.n2gfl(x, y, graph_chain(40), cutoff = 0.75, q = 12, B = 10, lambda2 = 0.05))
#' @method plot stabsel.n2gfl
#' @export
plot.stabsel.n2gfl <- function(x, col = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
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
