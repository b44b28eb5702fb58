# Resampling plans: which rows each of several fits uses. One object and one run_plan() serve all
# kinds of perturbed data.
#
# A plan is list(kind, from, runs):
# - `kind` is one of plan_kinds;
# - `from` is plain data from which the plan can be made again, such as how often each row counts in
#   each run; checkpoints keep it, because it can be random;
# - `runs` is a named list; the names appear in errors, progress and checkpoints. A run is a list
#   with `held`, the rows that it leaves out and that have no influence on it, and `times`, how
#   often each row counts, or NULL for once. A run inside a plan of outer folds has `inner`, the
#   plan of the folds among its remaining rows.
# A run is fitted as a view of the problem with other weights, so x is never copied.

# A kind says how its runs are made from `from`, under which name a checkpoint keeps `from`, and how
# to check before the work that every run can be fitted. A new kind is one line.
plan_kinds <- function() {
  list(
    folds = list(piece = "folds", runs = fold_runs, check = check_fold_runs),
    `outer folds` = list(piece = "folds", runs = outer_runs, check = check_outer_runs),
    cv = counted_kind("Run"), bootstrap = counted_kind("Run"), jackknife = counted_kind("Run"),
    subsample = counted_kind("Run", ": take a larger `fraction`"), pairs = counted_kind("Half"),
    halves = counted_kind("Half")
  )
}

plan_kind <- function(kind) {
  all <- plan_kinds()
  if (!is.character(kind) || length(kind) != 1 || !kind %in% names(all)) {
    stop_bad("The package has no plan of the kind ", describe(kind), ", only ", quoted(names(all)),
             ".")
  }
  all[[kind]]
}

new_plan <- function(kind, from) list(kind = kind, from = from, runs = plan_kind(kind)$runs(from))

# Runs that are given by how often each row counts: a matrix with one column per run. `advice` is
# what helps if a run cannot be fitted, see `check_run` in family.R.
counted_kind <- function(name, advice = "") {
  force(name)
  check <- function(problem, plan, about) check_counted_runs(problem, plan, advice)
  list(piece = "runs", check = check, runs = function(from) {
    runs <- lapply(seq_len(ncol(from)), function(k) {
      list(held = which(from[, k] == 0), times = from[, k])
    })
    stats::setNames(runs, paste(name, seq_along(runs)))
  })
}

# Each fold of each repeat, numbered within its repeat. `from` is what check_folds() gives; rows
# with foldid 0 have no weight.
fold_runs <- function(from) {
  foldid <- from$foldid
  folds <- unname(apply(foldid, 2, max))
  repetition <- rep(seq_along(folds), folds)
  fold <- sequence(folds)
  runs <- lapply(seq_along(fold), function(k) {
    list(held = which(foldid[, repetition[k]] == fold[k]), fold = fold[k],
         repetition = repetition[k])
  })
  of <- if (length(folds) > 1) paste0("Repeat ", repetition, ", fold ") else "Fold "
  stats::setNames(runs, paste0(of, fold))
}

# The folds of the first repeat, with the folds inside of each.
outer_runs <- function(from) {
  runs <- lapply(seq_along(from$inner), function(k) {
    inner <- new_plan("folds", list(foldid = as.matrix(from$inner[[k]]), inner = NULL))
    list(held = which(from$foldid[, 1] == k), inner = inner)
  })
  stats::setNames(runs, paste("Outer fold", seq_along(runs)))
}

# ---- the work ------------------------------------------------------------------------------------

# The answers of all runs, under their names, in parallel if the user has set a plan for that.
# `work(view, run, ..., alive, inside)` gets the view of the problem with the run's weights; for the
# other arguments see run_tasks().
# Each run counts `times` as much for the progress as plan_pieces() says.
run_plan <- function(problem, plan, work, ..., checkpoint = NULL, progress = NULL, alive = "",
                     times = 1) {
  run_tasks(plan$runs, work_on_run, problem = problem, on_view = work, ..., alive = alive,
            checkpoint = checkpoint, progress = progress, pieces = times * plan_pieces(plan))
}

# How many paths each run fits: one, or inside an outer fold one to all rows and one for each fold.
plan_pieces <- function(plan) {
  vapply(plan$runs, function(run) 1 + length(run$inner$runs), 1, USE.NAMES = FALSE)
}

# The same for the whole plan, with the path of all rows.
plan_size <- function(plan) 1 + sum(plan_pieces(plan))

work_on_run <- function(run, problem, on_view, ..., alive, inside = NULL) {
  view <- problem_at(problem, run_weights(run, problem$data$weights))
  on_view(view, run, ..., alive = alive, inside = inside)
}

# The observation weights of a run.
run_weights <- function(run, weights) {
  if (!is.null(run$times)) weights <- weights * run$times
  weights[run$held] <- 0
  weights
}

# What is kept of the fits of a run.
run_fields <- function(fits) {
  fits[intersect(c("a0", "gamma", "beta", "own", "sites", "gap", "converged"), names(fits))]
}

# The path of a view, which is a piece of work like a run.
fit_all_rows <- function(view, store, progress, alive, grid = NULL, pieces = 1, round = "") {
  name <- paste0("all rows", round)
  known <- read_piece(store, name)
  if (!is.null(known)) {
    skip_pieces(progress, pieces)
    return(name_fits(known, view))
  }
  fits <- core_fits(view, grid, path_callback(inside_of(progress)), alive)
  if (!is.null(store)) write_piece(store, name, fits)
  tick(progress, paste0("All rows", round), pieces)
  name_fits(fits, view)
}

# ---- before the work -----------------------------------------------------------------------------

# Work that is resumed must use the plan of its first call, not what was drawn now. The plan becomes
# part of the key: if the file with it is lost, others are drawn, and the old pieces no longer
# match. list(plan, store), the store being NULL if `folder` is; `key` is not even computed then.
resume_plan <- function(plan, folder, key) {
  store <- open_checkpoint(folder, key)
  if (is.null(store)) return(list(plan = plan, store = NULL))
  piece <- plan_kind(plan$kind)$piece
  from <- read_piece(store, piece) %or% write_piece(store, piece, plan$from)
  store$key <- do.call(work_key, c(store$key, if (is.list(from)) unname(from) else list(from)))
  list(plan = new_plan(plan$kind, from), store = store)
}

# Stops if one of the runs cannot be used. `about` is what the checks of folds need besides.
check_plan <- function(problem, plan, about = NULL) {
  plan_kind(plan$kind)$check(problem, plan, about)
}

check_counted_runs <- function(problem, plan, advice) {
  data <- problem$data
  family <- family_of(problem$control$family)
  for (k in seq_along(plan$runs)) {
    used <- run_weights(plan$runs[[k]], data$weights) > 0
    family$check_run(response_rows(data$y, used), data$classnames, k, advice)
  }
}

# ---- which rows ----------------------------------------------------------------------------------

# How often each row counts in each run: an integer matrix with one column per run.
draw_runs <- function(perturb, strata, group, B, fraction) {
  n <- length(strata)
  if (perturb == "cv") {
    foldid <- make_folds(strata, min(B, if (is.null(group)) n else nlevels(group)), group)
    return(outer(foldid, seq_len(max(foldid)), "!=") + 0L)
  }
  if (perturb == "halves") return(draw_halves(strata, group, B / 2, "SS"))
  unit <- if (is.null(group)) seq_len(n) else as.integer(group)
  units <- switch(perturb,
    jackknife = 1L - diag(1L, max(unit)),
    bootstrap = replicate(B, draw_units(unit_strata(strata, unit), 1, TRUE)),
    subsample = replicate(B, draw_units(unit_strata(strata, unit), fraction, FALSE))
  )
  storage.mode(units) <- "integer"
  units[unit, , drop = FALSE]
}

# The stratum of each unit; groups with rows of several strata make strata of their own.
unit_strata <- function(strata, unit) {
  match_strata <- function(rows) paste(sort(unique(strata[rows])), collapse = " ")
  as.vector(tapply(seq_along(strata), unit, match_strata))
}

# How often each unit is drawn, stratum by stratum.
draw_units <- function(strata, fraction, replace) {
  drawn <- integer(length(strata))
  for (stratum in split(seq_along(strata), strata)) {
    size <- max(1, round(fraction * length(stratum)))
    chosen <- stratum[sample.int(length(stratum), size, replace)]
    drawn <- drawn + tabulate(chosen, length(strata))
  }
  drawn
}

# Zeros and ones, one column per half; the two halves of a pair are adjacent columns.
draw_halves <- function(strata, group, B, sampling.type) {
  first <- replicate(B, make_folds(strata, 2L, group) == 1L)
  if (sampling.type == "MB") return(first + 0L)
  halves <- matrix(0L, length(strata), 2 * B)
  halves[, 2 * seq_len(B) - 1] <- first
  halves[, 2 * seq_len(B)] <- !first
  halves
}
