#' Draw a map
#'
#' Draws the coefficients of a fit, or any map, over the anatomy: in cuts or in a glass brain. Base
#' graphics in one plot region, so `par(mfrow = )` and [graphics::layout()] work as usual.
#'
#' @details
#' **Left and right.** By default pictures are in neurological convention: the subject's left is on
#' the left. `radiological = TRUE` turns that round; a glass brain is then seen from the front and
#' from below. Letters on every panel say which side is which (L, R, P for posterior, A for
#' anterior), and the position of each cut in millimetres is below it. All of this follows the
#' image's affine; the order in which voxels are stored does not matter. Images without orientation
#' in their header get no letters.
#'
#' **Cuts** go through the largest regions: the three cuts of `"ortho"` through the largest, those
#' of `"axial"`, `"coronal"` and `"sagittal"` through one region after the other, then where most
#' voxels are. `"mosaic"` shows axial cuts a constant number of slices apart, placed such that they
#' show most of the map. A region's size is the sum of its absolute values.
#'
#' **Anatomy** is drawn in greys from its 2nd to its 98th percentile, bright where values are high:
#' in a T1 image white matter is bright and fluid is dark. The paper around the head is white, or
#' black with `background = "black"`. The anatomy is `template`, if that is given. Otherwise it is
#' the MNI template for maps in MNI space (code 4 of the sform, or of the qform where there is no
#' sform), and the mean of the images for all others.
#'
#' The MNI template is the linear average of 152 heads, 2 mm, that comes with the package oro.nifti.
#' Large letters L and R are painted through all slices of that file. They are removed here, so the
#' anatomy is not the true one in these columns, at every z:
#'
#' * Columns painted on one side get the mirrored anatomy of the other hemisphere. They lie between
#'   x = -70 and -16 mm, y = -60 and 16 mm on the left, and between x = 4 and 54 mm, y = -58 and 14
#'   mm on the right.
#' * Columns painted on both sides are interpolated from their surroundings and show no detail: x
#'   from 16 to 30 mm and y from -56 to 14 mm, and x from 42 to 54 mm and y from -60 to -44 mm, on
#'   the left and on the right. The first strip holds most of the amygdala, the pallidum, the
#'   putamen and the parahippocampal gyrus, half of the hippocampus, and parts of the
#'   pulvinar, the caudate, the fusiform gyrus and the cerebellum; the second holds parts of the
#'   angular gyrus, the inferior parietal lobule and the middle and inferior temporal gyri.
#'
#' That is good enough to see where a map lies. For a publication, above all about these structures,
#' give a `template` of your own.
#'
#' **Colours** are warm for positive and cold for negative values, darker away from zero. The bar
#' begins at zero when all values have one sign, and is symmetric when both occur. Probabilities
#' have a bar from 0 to 1, and those below the cutoff are not drawn. Zero is transparent. In the
#' glass brain and on surfaces the colours are the same, with a little shade.
#'
#' A **surface**, that is a fit on a [graph_mesh()] with positions of its vertices, is drawn from
#' four sides instead, the first of which shows most of the largest region. The mean of surface
#' images, such as thickness, is drawn between its 2nd and its 98th percentile.
#'
#' **Labels.** An image of whole numbers, such as an atlas, is drawn with one colour per number when
#' `labels` is given, or when its header says that it holds labels (NIfTI's intent code 1002, which
#' `write_map(what = "region")` sets). The key names those that are in the picture, the largest
#' first, as many as the page has room for. There are 34 colours. In an image with more labels than
#' that, colours are given to the labels in the picture. If these are more than 34, some share a
#' colour, but no two that touch each other in the picture do; the key and a message say so.
#' @param object A fit from [n2gfl()] or [cv.n2gfl()] that was made from images, or stability
#'   selection, whose probabilities are drawn; the images themselves, whose mean is drawn; the path
#'   of a NIfTI file, or an image of class `nifti` (package oro.nifti) or `niftiImage` (package
#'   RNifti); or a numeric vector with one value per feature, and `like`.
#' @param s Which fit: `"lambda.stable"` (what `NULL` means), `"lambda.min"`, `"lambda.1se"`,
#'   `"lambda.es"` for a cross-validation, or `c(lambda1 = , lambda2 = )` from the grid.
#' @param type `"ortho"` (three cuts at right angles), `"axial"`, `"coronal"`, `"sagittal"`,
#'   `"mosaic"`, or `"3d"`, a glass brain, which needs the package misc3d. The glass is the hull of
#'   the mask. An image from a file has no mask: there it is the head of the template, if there is
#'   one, else nothing.
#' @param row Which fit, by its row in the grid; not with `s`.
#' @param like Images, a fit to images, or a mesh, whose features the numbers in `object` are. Also
#'   for a fit to a plain matrix.
#' @param template The anatomy to draw below: an image or the path of a NIfTI file, in the same mm
#'   space but on any grid. `NULL` chooses, see Details.
#' @param space `"mni"`: the map is in MNI space, whatever the header says, and is drawn on the MNI
#'   template. `"native"`: it is drawn on the mean of the images. `NULL`: as the header says; images
#'   are always drawn as their own mean then.
#' @param cuts Where to cut, in mm: three numbers x, y, z for `"ortho"`, any for the others. `NULL`
#'   chooses.
#' @param ncuts How many cuts to choose, by default 5; for `"mosaic"` as many as fill the page, up
#'   to 24.
#' @param radiological Draw the subject's left on the right?
#' @param zlim The two ends of the colour bar; values beyond take the colour of the end. Zero at one
#'   end hides the values of the other sign. `NULL`: see Details.
#' @param threshold Values below it in absolute value are not drawn. `NULL` is 0, and the cutoff for
#'   stability selection.
#' @param palette Colours from the lowest to the highest value: at least two colours, a function
#'   that makes them, or a name from [grDevices::hcl.pals()]. With zero inside the bar the middle
#'   colour is that of zero. For labels one colour per label.
#' @param alpha How opaque the map is in cuts, up to 1. `NULL` is 0.85, and 0.55 for a map that
#'   covers more than a quarter of the mask, so that the anatomy shows through.
#' @param labels Names of the numbers in a label image, in the forms that [region_table()] takes;
#'   `TRUE` for the numbers themselves.
#' @param label Title of the colour bar.
#' @param style For `"3d"`: `"voxels"` as they are, or smooth `"surface"`s around them.
#' @param views For `"3d"` and meshes: from where, some of `"left"`, `"right"`, `"top"`, `"bottom"`,
#'   `"front"`, `"back"`, `"oblique"`. `NULL` chooses.
#' @param outline Draw the outline of the mask in cuts?
#' @param background Colour of the paper, `"white"` or `"black"`.
#' @param main Title. `NULL` is the row of the grid with its lambdas, for fits; `""` is none.
#' @param legend Draw the colour bar?
#' @param cex Size of the letters. They are smaller on a page less than 6 inches wide, but at least
#'   7 points.
#' @param ... Must be empty.
#' @return A list with the drawn panels, invisibly: for cuts the plane, the mm and the two layers
#'   (anatomy, map) with their mm.
#' @seealso [plot_folds()] for the folds of a cross-validation, [write_map()] for files.
#' @examples
#' set.seed(1)
#' cohort <- simulate_cohort(n = 60, voxel_size = 10, space = "phantom")
#' fit <- n2gfl(cohort$images, cohort$y, family = "binomial", lambda2 = 0.003, nlambda1 = 10)
#' plot_map(fit, row = 8)
#' plot_map(fit, row = 8, type = "axial", ncuts = 3, main = "Atrophy")
#'
#' # The truth on the MNI template, and in a glass brain
#' plot_map(cohort$truth, like = cohort$images, space = "mni", background = "black")
#' if (requireNamespace("misc3d", quietly = TRUE)) {
#'   plot_map(cohort$truth, like = cohort$images, type = "3d")
#' }
#' @export
plot_map <- function(object, s = NULL,
                     type = c("ortho", "axial", "coronal", "sagittal", "mosaic", "3d"),
                     row = NULL, like = NULL, template = NULL, space = NULL, cuts = NULL,
                     ncuts = NULL, radiological = FALSE, zlim = NULL, threshold = NULL,
                     palette = NULL, alpha = NULL, labels = NULL, label = NULL,
                     style = c("voxels", "surface"), views = NULL, outline = FALSE,
                     background = c("white", "black"), main = NULL, legend = TRUE, cex = 1, ...) {
  check_map_dots(...)
  type <- match_choice(type, "type", c("ortho", "axial", "coronal", "sagittal", "mosaic", "3d"))
  style <- match_choice(style, "style", c("voxels", "surface"))
  theme <- themes[[match_choice(background, "background", c("white", "black"))]]
  map <- over_threshold(map_of(object, s, row, like), threshold)
  map$codes <- label_codes(map, labels)
  look <- list(alpha = map_alpha(alpha, map), theme = theme, style = style,
               radiological = check_flag(radiological, "radiological"),
               outline = check_flag(outline, "outline"))
  where <- list(cuts = check_cuts(cuts, type), ncuts = check_ncuts(ncuts),
                views = views, space = check_space(space))
  check_views(views, radiological)
  scale <- picture_scale(map, zlim, check_palette(palette), labels, check_text(label, "label"))
  legend <- check_flag(legend, "legend")
  cex <- check_positive(cex, "cex")
  main <- check_text(main, "main") %or% map$title

  place <- place_of(map$space)
  stage <- place$stage(map, type, template, where)
  if (!is.null(map$codes)) scale <- shown_labels(scale, map, stage)
  look$paint <- scale$paint
  panels <- place$panels(map, stage, look)
  # Images over a template show where their mask is, not their values.
  if (map$name == "mean" && !stage$own) legend <- FALSE
  bar <- if (legend) drawn_bar(scale$bar, map, panels, look)
  draw_panels(panels, bar, main = main, note = empty_note(map), cex = cex, theme = theme)
  invisible(panels)
}

# ---- what to draw --------------------------------------------------------------------------------

# list(values, space, name, title): one value per feature. Images alone may have their mean as
# anatomy and no values. `threshold` is the default threshold, `empty` says why a map is empty.
map_of <- function(object, s = NULL, row = NULL, like = NULL) {
  if (is_path(object)) return(map_of_file(object))
  if (inherits(object, "niftiImage") || oro.nifti::is.nifti(object)) return(map_of_image(object))
  if (is_images(object) && place_of(object$space)$mean_as == "anatomy") {
    return(list(values = numeric(ncol(object$x)), space = object$space, name = "mean"))
  }
  map <- numbers_of(object, s, row)
  if (is.null(like) && is.numeric(object)) {
    stop_bad("`like` must be given for a numeric `object`: images, a fit, or a mesh.")
  }
  space <- if (is.null(like)) feature_space(object, "object") else feature_space(like, "like")
  check_features(length(map$values), space)
  c(map, list(space = space))
}

# The numbers to draw and what they are.
numbers_of <- function(object, s, row) {
  if (inherits(object, c("n2gfl", "n2gfl_cv"))) {
    # Not inside `[`: Matrix would add its own text to an error message.
    row <- map_row(object, s, row)
    return(list(values = as.numeric(full_fit(object)$beta[, row]), name = "coefficient",
                title = choice_title(object, row), empty = "no feature is selected"))
  }
  if (is_selection(object)) {
    check_no_row(s, row)
    return(list(values = as.numeric(object$prob), name = "probability", cutoff = object$cutoff,
                title = selection_title(object),
                empty = paste("no probability reaches", number_text(object$cutoff))))
  }
  if (is_images(object)) return(list(values = object$space$mean, name = "mean"))
  values <- check_vector(object, "object")
  check_finite(values, "object")
  list(values = values, name = "value")
}

selection_title <- function(object) {
  if (!is_number(object$lambda2)) return("stability selection")
  bquote("stability selection:" ~ lambda[2] == .(lambda_label(object$lambda2)))
}

check_features <- function(count, space) {
  features <- place_of(space)$count(space)
  if (count != features) {
    stop_bad("`object` must have one value per feature of `like` (", features, "), not ", count,
             ".")
  }
}

is_path <- function(object) {
  is.character(object) && !inherits(object, "niftiImage") && length(object) == 1 && !is.na(object)
}

map_of_file <- function(path) {
  file <- open_nifti(path, "object")
  check_one_volume(file)
  map_of_volume(read_values(file, name = "object", numbers = TRUE), file, read_header(file))
}

map_of_image <- function(image) {
  opened <- open_image(image, "object", values = FALSE)
  check_one_volume(opened)
  header <- opened$header
  if (is_oro(image)) header$intent_code <- image@intent_code
  map_of_volume(image_array(image), opened, header)
}

check_one_volume <- function(opened) {
  if (opened$volumes > 1) {
    stop_bad("`object` must be an image with three dimensions, not 4 with ", opened$volumes,
             " volumes.")
  }
}

# Everything that is not zero in an image; it is its own mask.
map_of_volume <- function(values, opened, header) {
  values <- as.double(values)
  values[!is.finite(values)] <- 0
  space <- new_space(array(TRUE, opened$dim), opened$affine, rep(NA_real_, length(values)), header)
  list(values = values, space = space, name = "value", is_label = header$intent_code == 1002)
}

# The map with zeros where it is not drawn.
over_threshold <- function(map, threshold) {
  map$threshold <- if (!is.null(threshold)) check_nonnegative(threshold, "threshold") else {
    map$cutoff %or% 0
  }
  largest <- max(abs(map$values), 0)
  map$values[abs(map$values) < map$threshold - 1e-9] <- 0
  if (!is.null(threshold) && largest > 0) {
    map$empty <- paste0("no value reaches the threshold ", number_text(map$threshold),
                        " (largest ", number_text(signif(largest, 3)), ")")
  }
  map
}

# A sentence for the picture if the map is empty. It is also a message, in case nobody looks at the
# picture.
empty_note <- function(map) {
  if (map$name == "mean" || any(map$values != 0)) return(NULL)
  note <- paste0("empty map: ", map$empty %or% "all values are zero")
  message("An ", note, ".")
  note
}

mean_is_anatomy <- function(map) place_of(map$space)$mean_as == "anatomy"

# The colour bar as the colours look in cuts: transparent, on grey.
drawn_bar <- function(bar, map, panels, look) {
  if (map$name == "mean" && mean_is_anatomy(map)) {
    range <- contrast_range(map$space$mean[!is.na(map$space$mean)])
    return(new_bar(range, function(v) grey_colours(v, range), bar$title))
  }
  if (is.null(panels[[1]]$over) || is.null(bar)) return(bar)
  faded <- function(colours) {
    mixed <- look$alpha * grDevices::col2rgb(colours) + (1 - look$alpha) * 140
    grDevices::rgb(t(mixed), maxColorValue = 255)
  }
  if (!is.null(bar$key)) bar$key[] <- faded(bar$key) else {
    opaque <- bar$colours
    bar$colours <- function(values) faded(opaque(values))
  }
  bar
}

# ---- arguments -----------------------------------------------------------------------------------

check_map_dots <- function(...) {
  if ("limit" %in% names(list(...))) {
    stop_bad("`limit` is not an argument: give the two ends of the colour bar as `zlim`.")
  }
  check_no_dots(list(...), known = names(formals(plot_map)))
}

check_text <- function(value, name) {
  if (is.null(value) || is.language(value)) return(value)
  if (!is.character(value) || length(value) != 1 || is.na(value)) {
    stop_bad("`", name, "` must be one piece of text or NULL, not ", describe(value), ".")
  }
  value
}

check_space <- function(space) {
  if (is.null(space)) NULL else match_choice(space, "space", c("mni", "native"))
}

check_cuts <- function(cuts, type) {
  if (is.null(cuts)) return(NULL)
  cuts <- check_vector(cuts, "cuts")
  check_finite(cuts, "cuts")
  if (!length(cuts)) stop_bad("`cuts` must have at least one number, but it is empty.")
  if (type == "ortho" && length(cuts) != 3) {
    stop_bad("`cuts` must be three numbers (x, y, z in mm) for type \"ortho\", not ",
             length(cuts), ".")
  }
  cuts
}

check_ncuts <- function(ncuts) if (!is.null(ncuts)) check_count(ncuts, "ncuts")
