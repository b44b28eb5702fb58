# The work of a cross-validation: the fit to all rows, the fits without each fold, their predictions
# of the rows held out, and what is said of fits that did not converge.

# The fit to all rows of a view, the fits without each fold, and what they choose. The grid refines
# itself in rounds, unless the user gave `lambda2`, see cv-refine.R. `how`: how predictions are
# scored (`measure`) and how a map is chosen (`rule`).
cross_validate <- function(view, plan, how, store = NULL, progress = NULL, alive = "") {
  work <- list(plan = plan, how = how, store = store, progress = progress, alive = alive)
  search <- start_search(view)
  if (is.null(search)) {
    return(choose_penalties(fit_round(view, work), view, plan, how))
  }
  first <- fit_round(coarse_view(view, search), work, pieces = search$spent)
  cv <- choose_penalties(first, view, plan, how)
  add_paths <- function(paths, round, centre = NULL) {
    search$spent <<- search$spent + length(paths)
    more <- fit_round(view, work, join_paths(paths), length(paths), paste(",", round))
    choose_penalties(join_rounds(cv, more), view, plan, how, centre)
  }
  before <- NULL
  round <- 1
  while (length(paths <- paths_to_add(cv, view, search, before))) {
    round <- round + 1
    before <- chosen_penalties(cv)
    cv <- add_paths(paths, paste("round", round))
  }
  if (length(path <- centre_path(cv, view, search))) {
    cv <- add_paths(list(path), "through the centre", cv$centre)
  }
  skip_pieces(progress, (search$budget - search$spent) * plan_size(plan))
  cv
}

# One round: the fits to all rows (`full`) and without each fold (`folds`), at the rows of `grid` or
# at the view's own penalties, and their stability (`es`, `mdc`). Its fits count as so many `pieces`
# each; its name `round` is part of the names of its pieces.
fit_round <- function(view, work, grid = NULL, pieces = 1, round = "") {
  full <- fit_all_rows(view, work$store, work$progress, work$alive, grid, pieces, round)
  plan <- work$plan
  names(plan$runs) <- paste0(names(plan$runs), round)
  folds <- run_plan(view, plan, fit_fold, grid = full[c("lambda1", "lambda2")],
                    measure = work$how$measure, weights = view$data$weights,
                    checkpoint = work$store, progress = work$progress, alive = work$alive,
                    times = pieces)
  c(list(full = full, folds = stats::setNames(folds, names(work$plan$runs))),
    stability_columns(folds, view, lapply(folds, `[[`, "held")))
}

# `weights`: those of the problem of which `view` leaves the fold out.
fit_fold <- function(view, run, grid, measure, weights, alive, inside = NULL) {
  fits <- solve_view(view, grid, path_callback(inside), alive)
  c(run_fields(fits), list(held = run$held, link = view_link(view, fits, run$held),
                           score = score_run(measure, view, run, fits, weights)))
}

# The linear predictor of some rows of a view, one column per fit.
view_link <- function(view, fits, rows) {
  data <- view$data
  unname(linear_predictor(fits, data$x, data$covariates, data$offset, rows, data$map))
}

# N x L x repeats: each row predicted by the fits that have not seen it.
held_out_links <- function(folds, plan, rows) {
  foldid <- plan$from$foldid
  links <- array(NA_real_, c(nrow(foldid), rows, ncol(foldid)))
  which_repeat <- repeat_of(plan)
  for (k in seq_along(folds)) links[folds[[k]]$held, , which_repeat[k]] <- folds[[k]]$link
  links
}

# For each repeat what fold_scores() gives.
repeat_scores <- function(folds, links, plan, view, measure) {
  foldid <- plan$from$foldid
  lapply(seq_len(ncol(foldid)), function(k) {
    used <- foldid[, k] > 0
    fold_scores(measure, matrix(links[used, , k], sum(used)),
                response_rows(view$data$y, used), view$data$weights[used], foldid[used, k],
                view$control$family, folds[repeat_of(plan) == k])
  })
}

# The repeat to which each run belongs.
repeat_of <- function(plan) vapply(plan$runs, `[[`, 1L, "repetition")

# ---- fits that did not converge ------------------------------------------------------------------

warn_folds_not_converged <- function(folds, nouns = "folds", kept = TRUE) {
  text <- not_converged_text(folds, nouns)
  if (!is.null(text)) {
    warning("Fits did not converge: ", text, if (kept) "; their gaps are in `fold.fits`", ".",
            call. = FALSE)
  }
}

warn_outer_not_converged <- function(outer) {
  text <- unlist(lapply(outer, `[[`, "not_converged"))
  if (!is.null(text)) {
    warning("Fits inside outer folds did not converge: ",
            paste0(names(text), " (", text, ")", collapse = "; "), ".", call. = FALSE)
  }
}

# Which rows of which fits, or NULL. `nouns`: what the fits belong to.
not_converged_text <- function(fits, nouns = "folds") {
  failed <- lapply(fits, function(fit) which(!fit$converged))
  failed <- failed[lengths(failed) > 0]
  if (!length(failed)) return(NULL)
  shown <- utils::head(failed, 5)
  paste0(paste0(names(shown), ifelse(lengths(shown) == 1, " row ", " rows "),
                vapply(shown, some_numbers, ""), collapse = ", "),
         if (length(failed) > 5) paste(" and", length(failed) - 5, "more", nouns))
}

some_numbers <- function(values) {
  paste(c(utils::head(values, 5), if (length(values) > 5) "..."), collapse = ", ")
}
