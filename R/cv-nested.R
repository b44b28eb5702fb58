# Nested cross-validation: an honest estimate of what the whole procedure does, of its accuracy and
# of the stability of its maps.

# The whole procedure inside the training rows of each outer fold, scored on the rows held out.
nested_cv <- function(problem, plan, how, store, progress) {
  outer <- run_plan(problem, plan, fit_outer_fold, how = how, weights = problem$data$weights,
                    checkpoint = store, progress = progress, times = path_units(problem))
  warn_outer_not_converged(outer)
  choices <- colnames(outer[[1]]$beta)
  foldid <- plan$from$foldid[, 1]
  link <- matrix(NA_real_, length(foldid), length(choices), dimnames = list(NULL, choices))
  for (k in seq_along(outer)) link[plan$runs[[k]]$held, ] <- outer[[k]]$link
  scores <- fold_scores(how$measure, link, problem$data$y, problem$data$weights, foldid,
                        problem$control$family, outer)
  lambda <- do.call(rbind, lapply(seq_along(outer), function(k) {
    data.frame(fold = k, choice = choices, as.data.frame(outer[[k]]$chosen))
  }))
  maps <- lapply(stats::setNames(seq_along(choices), choices), runs_at, fold.fits = outer)
  own <- lapply(outer, function(fold) {
    if (!is.null(fold$own)) {
      matrix(fold$own, ncol = length(choices), dimnames = list(NULL, choices))
    }
  })
  c(list(estimate = data.frame(summarise_scores(list(scores)), row.names = choices),
         stability = procedure_stability(maps, outer, plan, problem$data), lambda = lambda,
         link = link, maps = maps), if (!is.null(own[[1]])) list(own = unname(own)))
}

fit_outer_fold <- function(view, run, how, weights, alive, inside = NULL) {
  cv <- cross_validate(view, run$inner, how, progress = part_progress(inside), alive = alive)
  columns <- function(matrix) {
    if (!is.null(matrix)) {
      chosen <- matrix[, cv$index, drop = FALSE]
      colnames(chosen) <- names(cv$index)
      chosen
    }
  }
  chosen <- list(a0 = cv$full$a0[cv$index], gamma = columns(cv$full$gamma),
                 beta = columns(cv$full$beta), own = columns(cv$full$own), sites = cv$full$sites)
  list(link = view_link(view, chosen, run$held), own = chosen$own, beta = chosen$beta,
       sites = chosen$sites,
       score = score_run(how$measure, view, run, chosen, weights),
       not_converged = not_converged_text(c(list(`All rows` = cv$full), cv$folds)),
       chosen = lapply(cv$full[c("lambda1", "lambda2", "df", "nonzero")], `[`, cv$index))
}

# ---- stability of the procedure ------------------------------------------------------------------

# The measures that print() and summary() have room for.
procedure_measures <- c("es", "mdc", "dice", "nogueira", "dilated")

# How much the maps of the outer folds agree, each with the penalties that its fold chose: a data
# frame with a row for each choice. ES counts all rows of x, each as the outer fold's fit sees it.
procedure_stability <- function(maps, outer, plan, data) {
  predictors_of <- predictors_in(outer, data, lapply(plan$runs, `[[`, "held"))
  es <- vapply(maps, function(runs) es_values(runs, predictors_of(runs)), numeric(2))
  source <- list(runs = function(k) maps[[k]], es = t(es), graph = data$graph, space = data$space)
  measures <- check_measures(procedure_measures)
  shared <- shared_data(source, measures, x = NULL, level = 0.95)
  table <- do.call(rbind, lapply(seq_along(maps), function(k) {
    size <- diff(maps[[k]]@p)
    cbind(nonzero = stats::median(size), least = min(size), most = max(size),
          measure_row(measures, measure_data(source, k, shared)))
  }))
  rownames(table) <- names(maps)
  table
}

# What stability() computes from, for one way to choose.
nested_source <- function(object, s) {
  if (is.null(object$nested$maps)) {
    stop_bad("`nested` must be FALSE, because `object` has no nested cross-validation with maps: ",
             "run cv.n2gfl() with `nested = TRUE`.")
  }
  s <- match_choice_name(s %or% usual_choice(object))
  choice <- sub("lambda.", "", s, fixed = TRUE)
  maps <- object$nested$maps[[choice]]
  list(runs = function(row) maps, graph = kept_in(object, "graph"),
       space = kept_in(object, "space"),
       es = as.matrix(object$nested$stability[choice, c("es.coef", "es.fit")]),
       what = paste0("outer folds, each with its own ", s))
}
