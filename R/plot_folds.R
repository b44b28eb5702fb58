#' Draw what each fold selects
#'
#' One panel for each of some folds of a cross-validation, and the features that all folds select
#' in green: Figure 3 of Xin and others (2015). Several cross-validations make several rows. A
#' stable model selects the same features in all folds.
#'
#' @details
#' Positive coefficients are brown, negative ones blue. The last panel shows the features whose
#' coefficient is not zero in any fold, counted over all folds (and repeats), not only those that
#' are drawn. See [plot_map()] for left and right.
#' @param object A fit from [cv.n2gfl()], or a list of them; the names of the list become the
#'   names of the rows.
#' @param folds Which folds to draw, by default the odd ones up to 9.
#' @param s,row Which row of the grid, see [plot_map()].
#' @param type `"3d"` for a glass brain (needs the package misc3d), or one cut, the same in all
#'   panels: `"axial"`, `"coronal"` or `"sagittal"`.
#' @param view For `"3d"` and meshes: from where, one of the `views` of [plot_map()].
#' @param cut For cuts: where, in mm. `NULL` cuts where most voxels are selected.
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
                       type = c("3d", "axial", "coronal", "sagittal"), view = "oblique",
                       cut = NULL, style = c("voxels", "surface"), radiological = FALSE,
                       like = NULL, main = NULL, cex = 1) {
  type <- match_choice(type, "type", c("3d", "axial", "coronal", "sagittal"))
  style <- match_choice(style, "style", c("voxels", "surface"))
  models <- check_models(object)
  folds <- check_shown_folds(folds, models, missing(folds))
  radiological <- check_flag(radiological, "radiological")
  view <- check_views(view, radiological, FALSE)
  main <- check_title(main)
  cex <- check_positive(cex, "cex")

  place <- if (is.null(like)) feature_place(models[[1]], "object") else feature_place(like, "like")
  betas <- lapply(models, fold_coefficients, s = s, row = row, place = place)
  common <- lapply(betas, function(beta) which(rowSums(beta != 0) == ncol(beta)))
  draw <- fold_drawer(place, betas, type, view[1], cut, style, radiological)
  panels <- unlist(Map(function(beta, all) {
    overlap <- replace(numeric(nrow(beta)), all, 1)
    c(lapply(folds, function(k) draw(beta[, k], glass_colours)),
      list(draw(overlap, c(positive = glass_colours[["common"]], negative = NA))))
  }, betas, common), recursive = FALSE)
  draw_panels(panels, fold_key(betas, common), main = main, rows = length(models),
              columns = c(paste("fold", folds), "overlap"), sides = names(models), cex = cex)
  invisible(common)
}

# A list of cross-validations on the same features.
check_models <- function(object) {
  models <- if (inherits(object, "cv.n2gfl")) list(object) else object
  if (!is.list(models) || !length(models) ||
      !all(vapply(models, inherits, NA, what = "cv.n2gfl"))) {
    stop_bad("`object` must be a fit from cv.n2gfl() or a list of them, not ", describe(object),
             ".")
  }
  features <- vapply(models, function(cv) nrow(cv$n2gfl.fit$beta), 0L)
  if (any(features != features[1])) {
    stop_bad("`object` must hold fits to the same features, but the first has ", features[1],
             " and another ", features[features != features[1]][1], ".")
  }
  models
}

# The default means: those that there are.
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
fold_coefficients <- function(cv, s, row, place) {
  row <- map_row(cv, s, row)
  features <- nrow(cv$n2gfl.fit$beta)
  check_features(features, place)
  vapply(cv$fold.fits, function(fold) as.numeric(fold$beta[, row]), numeric(features))
}

# A function that makes one panel of coefficients in two colours.
fold_drawer <- function(place, betas, type, view, cut, style, radiological) {
  paint <- function(colours) function(values) {
    unname(ifelse(values > 0, colours[["positive"]], ifelse(values < 0, colours[["negative"]], NA)))
  }
  if (!is.null(place$mesh)) {
    return(function(values, colours) {
      mesh_panels(sign(values), place$mesh, view, paint(colours))[[1]]
    })
  }
  often <- rowSums(vapply(betas, function(beta) rowMeans(beta != 0), numeric(nrow(betas[[1]]))))
  layers_of <- function(values) map_layers(list(values = values, space = place$space), NULL)
  often <- layers_of(often)
  if (often$flat) type <- "axial"
  if (type == "3d") {
    hull <- hull_triangles(often$inside)
    return(function(values, colours) {
      panel <- glass_panels(layers_of(values), view, style, colours, hull)[[1]]
      panel$caption <- ""
      panel
    })
  }
  at <- if (is.null(cut)) choose_cuts(often, type, 1L) else check_cuts(cut, type)[1]
  function(values, colours) cut_panel(layers_of(values), type, at, radiological, paint(colours))
}

# The colours that occur, with their names.
fold_key <- function(betas, common) {
  signs <- unique(sign(unlist(lapply(betas, function(beta) range(beta)))))
  shown <- c(1 %in% signs, -1 %in% signs, any(lengths(common) > 0))
  if (any(shown)) list(key = glass_colours[shown])
}
