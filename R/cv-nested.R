# Nested cross-validation: an honest estimate of what the whole procedure does.

# The whole procedure inside the training rows of each outer fold, scored on the rows held out.
nested_cv <- function(problem, plan, measure, store, progress) {
  outer <- run_plan(problem, plan, fit_outer_fold, measure = measure,
                    weights = problem$data$weights, checkpoint = store, progress = progress)
  warn_outer_not_converged(outer)
  foldid <- plan$from$foldid[, 1]
  link <- matrix(NA_real_, length(foldid), 3, dimnames = list(NULL, c("min", "1se", "es")))
  for (k in seq_along(outer)) link[plan$runs[[k]]$held, ] <- outer[[k]]$link
  scores <- fold_scores(measure, link, problem$data$y, problem$data$weights, foldid,
                        problem$control$family, outer)
  lambda <- do.call(rbind, lapply(seq_along(outer), function(k) {
    data.frame(fold = k, choice = colnames(link), as.data.frame(outer[[k]]$chosen))
  }))
  own <- lapply(outer, function(fold) {
    if (!is.null(fold$own)) matrix(fold$own, ncol = 3, dimnames = list(NULL, colnames(link)))
  })
  c(list(estimate = data.frame(summarise_scores(list(scores)), row.names = colnames(link)),
         lambda = lambda, link = link), if (!is.null(own[[1]])) list(own = unname(own)))
}

fit_outer_fold <- function(view, run, measure, weights, alive, inside = NULL) {
  cv <- cross_validate(view, run$inner, measure, progress = part_progress(inside), alive = alive)
  chosen <- list(a0 = cv$full$a0[cv$index], gamma = cv$full$gamma[, cv$index, drop = FALSE],
                 beta = cv$full$beta[, cv$index, drop = FALSE],
                 own = cv$full$own[, cv$index, drop = FALSE])
  list(link = view_link(view, chosen, run$held), own = chosen$own,
       score = score_run(measure, view, run, chosen, weights),
       not_converged = not_converged_text(c(list(`All rows` = cv$full), cv$folds)),
       chosen = lapply(cv$full[c("lambda1", "lambda2", "df", "nonzero")], `[`, cv$index))
}
