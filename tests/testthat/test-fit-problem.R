# A view of a problem: other weights, everything that is learnt from its rows learnt once, and the
# same fits as those of its rows alone.

# Rows 3, 6, ... have no weight; they differ from the others in every way.
view_case <- function(n = 45, d = 8, ...) {
  out <- seq_len(n) %% 3 == 0
  data <- data.frame(age = stats::rnorm(n, 60, 8), site = rep(c("a", "b", "c", "b", "a"), n / 5))
  x <- matrix(stats::rnorm(n * d), n, dimnames = list(NULL, paste0("f", seq_len(d))))
  y <- rowSums(x[, 2:4]) + data$age / 10 + stats::rnorm(n)
  x[out, ] <- 100 * x[out, ]
  data$age[out] <- data$age[out] + 1000
  settings <- list(graph = graph_chain(d), lambda1 = c(0.3, 0.05), lambda2 = 0.02, thresh = 1e-11,
                   ...)
  list(x = x, y = y, data = data, weights = ifelse(out, 0, stats::runif(n, 0.5, 2)),
       settings = settings)
}

as_problem <- function(case, ...) {
  check_problem(fit_arguments(c(list(x = case$x, y = case$y, ...), case$settings)))
}

# The fit to the rows that have weight, without a view.
fit_alone <- function(case, x = case$x, ...) {
  rows <- case$weights > 0
  do.call(n2gfl, c(list(x = x[rows, ], y = case$y[rows], weights = case$weights[rows], ...),
                   case$settings))
}

expect_same_fits <- function(fits, alone) {
  expect_true(all(fits$converged))
  for (name in c("a0", "gamma")) expect_equal(fits[[name]], alone[[name]], tolerance = 1e-5)
  expect_equal(as.matrix(fits$beta), as.matrix(alone$beta), tolerance = 1e-5)
}

test_that("a view has the fits of its rows alone: formula, matrix and no covariates", {
  withr::local_seed(1201)
  case <- view_case()
  rows <- case$weights > 0
  formula <- ~ poly(age, 2) + site
  view <- problem_at(as_problem(case, covariates = formula, data = case$data), case$weights)
  expect_same_fits(solve_view(view),
                   fit_alone(case, covariates = formula, data = case$data[rows, ]))
  z <- cbind(age = case$data$age)
  expect_same_fits(solve_view(problem_at(as_problem(case, covariates = z), case$weights)),
                   fit_alone(case, covariates = z[rows, , drop = FALSE]))
  fits <- solve_view(problem_at(as_problem(case), case$weights))
  expect_null(fits$gamma)
  expect_same_fits(fits, fit_alone(case))
})

test_that("a view removes what the covariates explain among its own controls", {
  withr::local_seed(1202)
  case <- view_case()
  rows <- case$weights > 0
  controls <- rep(c(TRUE, TRUE, FALSE, TRUE, FALSE), 9)
  problem <- as_problem(case, covariates = ~ age, data = case$data, deconfound = "controls",
                        controls = controls)
  fits <- solve_view(problem_at(problem, case$weights))
  used <- rows & controls
  slopes <- stats::coef(stats::lm(case$x ~ age, case$data, weights = case$weights,
                                  subset = used))["age", ]
  age <- case$data$age - stats::weighted.mean(case$data$age[used], case$weights[used])
  alone <- fit_alone(case, case$x - outer(age, slopes))
  expect_equal(as.matrix(fits$beta), as.matrix(alone$beta), tolerance = 1e-5)
  expect_equal(fits$gamma["age", ], -colSums(slopes * as.matrix(fits$beta)), tolerance = 1e-10)
  link <- view_link(problem_at(problem, case$weights), fits, seq_along(rows))
  expect_equal(link, unname(predict(alone, case$x - outer(age, slopes))), tolerance = 1e-4)
})

test_that("rows without weight have no influence, bit by bit", {
  withr::local_seed(1203)
  case <- view_case()
  solve <- function(case) {
    problem <- as_problem(case, covariates = ~ scale(age) + site, data = case$data,
                          deconfound = "controls", controls = rep(c(TRUE, FALSE, TRUE), 15))
    solve_view(problem_at(problem, case$weights))
  }
  before <- solve(case)
  out <- case$weights == 0
  case$x[out, ] <- stats::rnorm(sum(out) * 8, 1e3)
  case$y[out] <- stats::rnorm(sum(out), 1e3)
  case$data$age[out] <- 1
  expect_identical(solve(case), before)
})

test_that("coding and deconfounding are done once for each view", {
  withr::local_seed(1204)
  case <- view_case()
  problem <- as_problem(case, covariates = ~ age, data = case$data, deconfound = "controls",
                        controls = rep(TRUE, 45))
  count <- c(code_covariates = 0, deconfound_map = 0)
  counted <- function(name) {
    real <- get(name, asNamespace("n2gfl"))
    function(...) {
      count[[name]] <<- count[[name]] + 1
      real(...)
    }
  }
  local_replaced("code_covariates", counted("code_covariates"))
  local_replaced("deconfound_map", counted("deconfound_map"))
  view <- problem_at(problem, case$weights)
  solve_view(view)
  solve_view(view, list(lambda1 = 0.1, lambda2 = 0.1))
  start_facts(view, 0)
  expect_identical(unname(count), c(1, 1))
})

test_that("a view is a problem: a view of it is the view of the whole", {
  withr::local_seed(1205)
  case <- view_case()
  problem <- as_problem(case, covariates = ~ scale(age), data = case$data)
  half <- case$weights * rep(c(1, 1, 1, 0, 0), 9)
  expect_identical(problem_at(problem_at(problem, case$weights), half), problem_at(problem, half))
  expect_identical(problem_at(problem_at(problem, half)), problem_at(problem, half))
  # the view at the problem's own weights keeps its coding
  expect_identical(problem_at(problem)$data$covariates, problem$data$covariates)
})

test_that("fits have names, and rows of a given grid their order", {
  withr::local_seed(1206)
  case <- view_case()
  view <- problem_at(as_problem(case, covariates = ~ age + site, data = case$data), case$weights)
  fits <- solve_view(view)
  expect_identical(names(fits)[1:3], c("a0", "gamma", "beta"))
  expect_identical(names(fits$a0), c("s1", "s2"))
  expect_identical(dimnames(fits$gamma), list(c("age", "siteb", "sitec"), c("s1", "s2")))
  expect_identical(dimnames(fits$beta), list(paste0("f", 1:8), c("s1", "s2")))
  expect_setequal(names(fits), c(
    "a0", "gamma", "beta", "lambda1", "lambda2", "df", "regions", "nonzero", "dev_ratio", "gap",
    "iter", "converged", "nulldev", "npasses", "effects"))
  grid <- list(lambda1 = c(0.2, 0.4, 0.1), lambda2 = c(0.1, 0.1, 0.02))
  expect_identical(solve_view(view, grid)[c("lambda1", "lambda2")], grid)
})

test_that("what is known before any fit is that of the view", {
  withr::local_seed(1207)
  case <- view_case()
  rows <- case$weights > 0
  facts <- start_facts(problem_at(as_problem(case), case$weights), c(0.1, 0))
  expect_equal(facts$lambda_max, lambda_max(
    case$x[rows, ], case$y[rows], case$settings$graph, lambda2 = c(0.1, 0),
    weights = case$weights[rows]), tolerance = 1e-8)
})

test_that("what is no view, no weights or no grid is refused", {
  withr::local_seed(1208)
  case <- view_case()
  problem <- as_problem(case, covariates = ~ site, data = case$data)
  expect_error(solve_view(problem), "^Only a view can be solved")
  expect_error(start_facts(problem, 0), "^Only a view can be solved")
  for (weights in list(1, rep(1, 44), rep(0, 45), replace(case$weights, 2, NaN), -case$weights,
                       rep("1", 45), NULL)) {
    expect_error(problem_at(problem, weights), "^A view needs 45 finite nonnegative weights")
  }
  view <- problem_at(problem)
  for (grid in list(list(), list(lambda1 = 1), list(lambda1 = 2:1, lambda2 = 1),
                    list(lambda = 1, lambda2 = 1))) {
    expect_error(solve_view(view, grid), "^A grid needs one `lambda1` and one `lambda2`")
  }
  only_there <- replace(case$data, "site", list(ifelse(case$weights > 0, "a", "b")))
  problem <- as_problem(case, covariates = ~ site, data = only_there)
  expect_error(problem_at(problem, as.numeric(seq_len(45) <= 6)), NA)
  only_there$site[9] <- "d"
  problem <- as_problem(case, covariates = ~ site, data = only_there)
  expect_error(problem_at(problem, as.numeric(seq_len(45) != 9), "fold 9"),
               "level \"d\" of `site` occurs only in fold 9")
})
