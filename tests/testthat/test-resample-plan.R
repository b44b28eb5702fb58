# Resampling plans: every kind is run by run_plan(), held-out rows have no influence, and neither a
# stop in between nor the number of workers changes anything.

plan_data <- function(n = 24, d = 8) {
  x <- matrix(stats::rnorm(n * d), n)
  age <- stats::rnorm(n, 70, 5)
  list(x = x, y = rowSums(x[, 2:4]) + age / 5 + stats::rnorm(n), data = data.frame(age = age))
}

plan_problem <- function(data, ...) {
  check_problem(fit_arguments(list(
    x = data$x, y = data$y, graph = graph_chain(ncol(data$x)), covariates = ~ scale(age),
    data = data$data, lambda2 = 0.05, nlambda1 = 4, lambda.min.ratio = 0.1, ...)))
}

# One plan of every kind, drawn now, by the names that the tests use.
all_plans <- function(n = 24) {
  strata <- factor(rep(1, n))
  foldid <- cbind(make_folds(seq_len(n), 3), make_folds(seq_len(n), 4))
  once <- foldid[, 1, drop = FALSE]
  inner <- inner_folds(seq_len(n), foldid[, 1], NULL, rep(TRUE, n), 2)
  counted <- function(kind) new_plan(kind, draw_runs(kind, strata, NULL, 4, 0.5))
  list(
    folds = new_plan("folds", list(foldid = once, inner = NULL)),
    repeats = new_plan("folds", list(foldid = foldid, inner = NULL)),
    nested = new_plan("outer folds", list(foldid = once, inner = inner)),
    cv = counted("cv"), bootstrap = counted("bootstrap"), jackknife = counted("jackknife"),
    subsample = counted("subsample"),
    pairs = new_plan("pairs", draw_halves(strata, NULL, 2, "SS")),
    halves = new_plan("halves", draw_halves(strata, NULL, 3, "MB"))
  )
}

plan_grid <- list(lambda1 = c(0.8, 0.3, 0.1), lambda2 = c(0.05, 0.05, 0.05))

# Runs a plan with the work that the package does for its kind.
run_kind <- function(problem, plan, ...) {
  switch(
    plan$kind,
    folds = run_plan(problem, plan, fit_fold, grid = plan_grid, measure = "mse",
                     weights = problem$data$weights, ...),
    `outer folds` = run_plan(problem, plan, fit_outer_fold,
                             how = list(measure = "mse", rule = stable_rule()),
                             weights = problem$data$weights, ...),
    pairs = , halves = run_plan(problem, plan, select_features, q = 4, ...),
    run_plan(problem, plan, fit_run, grid = plan_grid, ...)
  )
}

test_that("there is a plan of every kind here", {
  withr::local_seed(1301)
  kinds <- vapply(all_plans(), `[[`, "", "kind")
  expect_setequal(kinds, names(plan_kinds()))
})

test_that("names, rows held out, and the plan made again from what a checkpoint keeps", {
  withr::local_seed(1302)
  plans <- all_plans()
  runs <- lapply(plans, function(plan) names(plan$runs))
  expect_identical(runs$folds, paste("Fold", 1:3))
  expect_identical(runs$repeats, c(paste0("Repeat 1, fold ", 1:3), paste0("Repeat 2, fold ", 1:4)))
  expect_identical(runs$nested, paste("Outer fold", 1:3))
  expect_identical(runs$cv, paste("Run", 1:4))
  expect_identical(runs$jackknife, paste("Run", 1:24))
  expect_identical(runs$pairs, paste("Half", 1:4))
  expect_identical(runs$halves, paste("Half", 1:3))
  for (plan in plans) {
    expect_identical(new_plan(plan$kind, plan$from), plan)
    for (run in plan$runs) {
      weights <- run_weights(run, rep(2, 24))
      expect_identical(which(weights == 0), run$held)
      if (is.null(run$times)) expect_setequal(weights, c(0, 2))
    }
  }
  expect_identical(plans$folds$runs[[2]]$held, which(plans$folds$from$foldid == 2))
  expect_identical(run_weights(plans$bootstrap$runs[[3]], 1:24 / 2),
                   1:24 / 2 * plans$bootstrap$from[, 3])
  expect_identical(plan_pieces(plans$folds), rep(1, 3))
  # One path for all of its rows, and one for each of 3 inner folds, drawn twice.
  expect_identical(plan_pieces(plans$nested), rep(7, 3))
  expect_identical(plan_size(plans$nested), 22)
  inner <- plans$nested$runs[[2]]$inner
  expect_setequal(unlist(lapply(inner$runs, `[[`, "held")),
                  setdiff(1:24, plans$nested$runs[[2]]$held))
})

test_that("a run is the fit with its weights", {
  withr::local_seed(1303)
  problem <- plan_problem(plan_data(), weights = stats::runif(24, 0.5, 2))
  weights <- problem$data$weights
  plans <- all_plans()
  answers <- lapply(plans, function(plan) run_kind(problem, plan))
  for (name in names(plans)) expect_named(answers[[name]], names(plans[[name]]$runs))
  fit <- function(times) solve_view(problem_at(problem, weights * times), plan_grid)
  same <- c("a0", "gamma", "beta", "gap", "converged")
  for (name in c("cv", "bootstrap", "jackknife", "subsample")) {
    expect_identical(answers[[name]][[2]], fit(plans[[name]]$from[, 2])[same])
  }
  foldid <- plans$repeats$from$foldid
  expect_identical(answers$repeats[[6]][same], fit(foldid[, 2] != 3)[same])
  expect_identical(answers$folds, stats::setNames(answers$repeats[1:3], paste("Fold", 1:3)))
  for (name in c("pairs", "halves")) {
    view <- problem_at(problem, weights * plans[[name]]$from[, 3])
    expect_identical(answers[[name]][[3]], select_features(view, NULL, 4, ""))
  }
  # an outer fold is a cross-validation of the rows that it leaves
  run <- plans$nested$runs[[2]]
  view <- problem_at(problem, weights * (plans$nested$from$foldid[, 1] != 2))
  cv <- cross_validate(view, run$inner, list(measure = "mse", rule = stable_rule()))
  expect_identical(answers$nested[[2]]$link, view_link(view, cv$full, run$held)[, cv$index])
})

# Everything about the held-out rows changes, and only about them.
strange_rows <- function(data, held) {
  n <- length(held)
  data$x[held, ] <- stats::rnorm(n * ncol(data$x), 1e3, 50)
  data$y[held] <- stats::rnorm(n, -500)
  data$data$age[held] <- stats::rnorm(n, 1e4)
  data
}

test_that("held-out rows have no influence on a run of any kind", {
  withr::local_seed(1304)
  data <- plan_data()
  problem <- plan_problem(data)
  # predictions of the held-out rows themselves change
  learnt <- function(answer) answer[[1]][setdiff(names(answer[[1]]), "link")]
  plans <- all_plans()
  for (name in names(plans)) for (k in 1:2) {
    plan <- plans[[name]]
    plan$runs <- plan$runs[k]
    held <- plan$runs[[1]]$held
    expect_gt(length(held), 0)
    before <- learnt(run_kind(problem, plan))
    after <- learnt(run_kind(plan_problem(strange_rows(data, held)), plan))
    expect_identical(after, before, label = paste(name, k))
    other <- plan_problem(strange_rows(data, setdiff(1:24, held)[1:5]))
    expect_false(identical(learnt(run_kind(other, plan)), before))
  }
})

test_that("every kind goes on from a checkpoint, with the plan of its first call", {
  withr::local_seed(1305)
  problem <- plan_problem(plan_data())
  plans <- all_plans()
  later <- all_plans()
  for (name in names(plans)) {
    folder <- withr::local_tempfile()
    plain <- run_kind(problem, plans[[name]])
    first <- resume_plan(plans[[name]], folder, "work")
    expect_identical(first$plan, plans[[name]])
    expect_identical(run_kind(problem, first$plan, checkpoint = first$store), plain)
    files <- vapply(names(plain), function(run) piece_file(first$store, run), "")
    expect_true(all(file.exists(files)))
    lost <- seq_along(files) %% 2 == 0
    unlink(files[lost])
    make_old(files[!lost])
    again <- resume_plan(later[[name]], folder, "work")
    expect_identical(again, first)
    expect_identical(run_kind(problem, again$plan, checkpoint = again$store), plain)
    expect_identical(unname(is_old(files)), !lost)
    # without the file of the plan, old pieces are not used
    unlink(file.path(folder, c("folds.piece", "runs.piece")))
    new <- resume_plan(later[[name]], folder, "work")
    expect_identical(new$plan, later[[name]])
    if (name != "jackknife") expect_null(read_piece(new$store, names(plain)[1]))
  }
})

test_that("the key of a plan is that of earlier versions", {
  withr::local_seed(1306)
  plans <- all_plans()
  key <- function(plan) resume_plan(plan, withr::local_tempfile(), "work")$store$key
  from <- plans$nested$from
  expect_identical(key(plans$nested), work_key("work", from$foldid, from$inner))
  expect_identical(key(plans$folds), work_key("work", plans$folds$from$foldid, NULL))
  expect_identical(key(plans$bootstrap), work_key("work", plans$bootstrap$from))
  # no folder, no key
  expect_identical(resume_plan(plans$cv, NULL, stop("computed")),
                   list(plan = plans$cv, store = NULL))
})

test_that("the number of workers does not matter", {
  skip_on_os("windows")
  skip_if_not_installed("future")
  withr::local_seed(1307)
  problem <- plan_problem(plan_data())
  plans <- all_plans()
  alone <- lapply(plans, function(plan) run_kind(problem, plan))
  old <- future::plan("multicore", workers = 2)
  withr::defer(future::plan(old))
  expect_identical(lapply(plans, function(plan) run_kind(problem, plan)), alone)
})

test_that("progress counts the paths of every run", {
  withr::local_seed(1308)
  problem <- plan_problem(plan_data())
  for (plan in all_plans()[c("repeats", "nested", "bootstrap", "pairs")]) {
    progress <- new_progress(sum(plan_pieces(plan)), function(progress, name) NULL)
    run_kind(problem, plan, progress = progress)
    expect_identical(progress$done, sum(plan_pieces(plan)))
  }
})

test_that("an error names its run, and unknown kinds are refused", {
  withr::local_seed(1309)
  problem <- plan_problem(plan_data())
  plan <- all_plans()$subsample
  expect_error(run_plan(problem, plan, function(view, run, alive, inside) stop("no luck")),
               "^Run 1: no luck$")
  wrong <- plan
  wrong$runs[[2]]$held <- 1:24
  expect_error(run_kind(problem, wrong), "^Run 2: A view needs 24 finite nonnegative weights")
  expect_error(new_plan("lottery", plan$from), "no plan of the kind \"lottery\", only \"folds\"")
  expect_error(new_plan(1:2, plan$from), "no plan of the kind")
})

test_that("plans that cannot be used are refused before the work", {
  data <- withr::with_seed(1310, plan_data())
  data$y[1:20] <- 1
  problem <- plan_problem(data)
  from <- cbind(rep(1L, 24), rep(1:0, c(20, 4)))
  expect_error(check_plan(problem, new_plan("subsample", from)),
               "in run 2 all its values are 1: take a larger `fraction`\\.$")
  # One row left out is as few as can be: there is no advice.
  expect_error(check_plan(problem, new_plan("jackknife", from)),
               "in run 2 all its values are 1\\.$")
  about <- list(measure = "mse", drawn = FALSE)
  folds <- list(foldid = matrix(rep(1:2, c(20, 4))), inner = NULL)
  expect_error(check_plan(problem, new_plan("folds", folds), about),
               "`foldid` must leave .* without fold 2 all its values are 1")
  folds$foldid <- matrix(rep(1:3, 8))
  inner <- lapply(1:3, function(k) ifelse(folds$foldid[, 1] == k, 0L, rep(1:2, c(20, 4))))
  expect_silent(check_plan(problem, new_plan("folds", folds), about))
  folds$inner <- inner
  expect_error(check_plan(problem, new_plan("outer folds", folds), about),
               "without fold 2 inside fold 1 all its values are 1")
})
