#' Draw what each fold selects
#'
#' One panel for each of some folds of a cross-validation, and one for the features that all folds
#' select: Figure 3 of Xin and others (2015). Several cross-validations make several rows. A stable
#' model selects the same features in all folds.
#'
#' @details
#' Positive coefficients are yellow, negative ones blue. The last panel shows in dark red the
#' features whose coefficient is nonzero in every fold, counted over all folds (and repeats), not
#' only those that are drawn. The three colours are distinct for all common kinds of colour vision.
#' See [plot_map()] for left and right.
#'
#' On a small page fewer folds are drawn, so that no panel becomes too small to be read; a message
#' says which.
#' @param object A fit from [cv.n2gfl()], or a list of them; the names of the list become the
#'   names of the rows.
#' @param folds Which folds to draw, by default the odd ones up to 9.
#' @param s,row Which row of the grid, see [plot_map()].
#' @param type `"3d"` for a glass brain (needs the package misc3d), or one cut, the same in all
#'   panels: `"axial"`, `"coronal"` or `"sagittal"`.
#' @param view For `"3d"` and meshes: from where, one of the `views` of [plot_map()]. `NULL` is
#'   `"oblique"`, for meshes the side that shows most of what the folds select.
#' @param cut For cuts: where, in mm. `NULL` cuts where most voxels are selected.
#' @param ... Must be empty.
#' @param main Title. `NULL` is the row of the grid with its lambdas, for a single
#'   cross-validation; `""` is none.
#' @inheritParams plot_map
#' @param like Images whose features the columns of `x` were, if it was a plain matrix.
#' @return A list with the features that all folds select, one element per row of the picture,
#'   invisibly.
#' @seealso [plot_map()]
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, dim = c(18, 22))
#' cv <- cv.n2gfl(cohort$images, cohort$y, family = "binomial", nlambda1 = 10, nlambda2 = 2,
#'                nfolds = 5)
#' plot_folds(cv)
#' @export
plot_folds <- function(object, folds = c(1, 3, 5, 7, 9), s = NULL, row = NULL,
                       type = c("3d", "axial", "coronal", "sagittal"), view = NULL,
                       cut = NULL, style = c("voxels", "surface"), radiological = FALSE,
                       like = NULL, template = NULL, space = NULL,
                       background = c("white", "black"), main = NULL, cex = 1, ...) {
  check_empty_dots(...)
  type <- match_choice(type, "type", c("3d", "axial", "coronal", "sagittal"))
  theme <- themes[[match_choice(background, "background", c("white", "black"))]]
  models <- check_models(object)
  folds <- check_shown_folds(folds, models, missing(folds))
  look <- list(style = match_choice(style, "style", c("voxels", "surface")), theme = theme,
               radiological = check_flag(radiological, "radiological"), outline = FALSE, alpha = 1)
  main <- check_text(main, "main")
  if (is.null(main) && is_cv(object)) main <- choice_title(object, map_row(object, s, row))
  cex <- check_positive(cex, "cex")

  at <- if (is.null(like)) feature_space(models[[1]], "object") else feature_space(like, "like")
  betas <- lapply(models, fold_coefficients, s = s, row = row, at = at)
  common <- lapply(betas, function(beta) which(rowSums(beta != 0) == ncol(beta)))
  draw <- fold_drawer(at, betas, list(type = type, view = view, cut = cut, template = template,
                                      space = check_space(space)), look)
  draw_folds(betas, common, readable_folds(folds, draw, length(models)), draw, main, cex, theme)
  invisible(common)
}

# One model has as many rows as fit the page best, several have one row each.
draw_folds <- function(betas, common, folds, draw, main, cex, theme) {
  panels <- Map(function(beta, all) {
    overlap <- replace(numeric(nrow(beta)), all, 1)
    c(lapply(folds, function(k) draw(beta[, k], sign_colours)),
      list(draw(overlap, c(positive = sign_colours[["common"]], negative = NA))))
  }, betas, common)
  headings <- c(paste("fold", folds), "in all folds")
  single <- length(panels) == 1
  if (single) {
    panels[[1]] <- Map(function(panel, text) {
      panel$caption <- text
      panel$short <- sub("fold ", "", text)
      panel
    }, panels[[1]], headings)
  }
  empty <- all(vapply(betas, function(beta) all(beta == 0), NA))
  draw_panels(unlist(panels, recursive = FALSE), fold_key(betas, common), main = main,
              rows = if (!single) length(panels), columns = if (!single) headings,
              sides = names(betas), cex = cex, theme = theme,
              note = if (empty) "empty maps: no fold selects a feature")
}

# The folds that a page has room for, with panels that can be read.
readable_folds <- function(folds, draw, models) {
  size <- graphics::par("fin") - c(0.9, 0.5)
  panel <- draw(0, sign_colours)
  mm <- c(panel$width, panel$height) + panel_gap
  width <- function(count) {
    rows <- if (models > 1) models else seq_len(count + 1)
    across <- if (models > 1) count + 1 else ceiling((count + 1) / rows)
    max(pmin(size[1] / across, size[2] / rows * mm[1] / mm[2]))
  }
  fits <- which(vapply(seq_along(folds), width, 0) >= least_panel)
  room <- max(1, fits)
  if (room < length(folds)) {
    message("The page has room for ", count_of(room, "fold"), " of ", length(folds),
            ": drawing ", paste(folds[seq_len(room)], collapse = ", "), ".")
  }
  folds[seq_len(room)]
}

# A list of cross-validations on the same features.
check_models <- function(object) {
  models <- if (is_cv(object)) list(object) else object
  if (!is.list(models) || !length(models) || !all(vapply(models, is_cv, NA))) {
    stop_bad("`object` must be a fit from cv.n2gfl() or a list of them, not ", describe(object),
             ".")
  }
  features <- vapply(models, function(cv) nrow(full_fit(cv)$beta), 0L)
  if (any(features != features[1])) {
    stop_bad("`object` must hold fits to the same features, but the first has ", features[1],
             " and another ", features[features != features[1]][1], ".")
  }
  models
}

# Of the default folds, only those that exist are drawn.
check_shown_folds <- function(folds, models, default) {
  count <- min(vapply(models, function(cv) length(cv$fold.fits), 0L))
  if (default) return(folds[folds <= count])
  whole <- is.numeric(folds) && length(folds) && all(folds %in% seq_len(count))
  if (!whole) {
    bad <- if (is.numeric(folds) && length(folds)) folds[!folds %in% seq_len(count)][1] else folds
    stop_bad("`folds` must hold numbers of folds, from 1 to ", count, ", not ", describe(bad), ".")
  }
  folds
}

# Features by folds, at one row of the grid.
fold_coefficients <- function(cv, s, row, at) {
  row <- map_row(cv, s, row)
  features <- nrow(full_fit(cv)$beta)
  check_features(features, at)
  vapply(cv$fold.fits, function(fold) as.numeric(fold$beta[, row]), numeric(features))
}

# A function that makes one panel of coefficients in two colours; a panel of zeros is empty.
fold_drawer <- function(space, betas, how, look) {
  paint <- function(colours) function(values) {
    unname(ifelse(values > 0, colours[["positive"]], ifelse(values < 0, colours[["negative"]], NA)))
  }
  often <- rowSums(vapply(betas, function(beta) rowMeans(beta != 0), numeric(nrow(betas[[1]]))))
  panel <- place_of(space)$fold_drawer(space, often, how, look)
  function(values, colours) {
    panel(values, utils::modifyList(look, list(paint = paint(colours))))
  }
}

# The colours that occur, with their names.
fold_key <- function(betas, common) {
  signs <- unique(sign(unlist(lapply(betas, function(beta) range(beta)))))
  shown <- c(1 %in% signs, -1 %in% signs, any(lengths(common) > 0))
  names <- c("positive", "negative", "in all folds")
  if (any(shown)) list(key = stats::setNames(sign_colours, names)[shown])
}
