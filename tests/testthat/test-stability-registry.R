# The registry of stability measures: what each entry must have, that the tables and pictures ask
# for no measure by its name, and that an entry is all that a new measure needs.

# ---- the entries ---------------------------------------------------------------------------------

# What is wrong with a measure, as text; character(0) if nothing is.
measure_faults <- function(measure) {
  good <- c(
    titles = is.character(measure$titles) && length(names(measure$titles)) > 0,
    compute = is.function(measure$compute) && identical(names(formals(measure$compute)), "data"),
    larger = isTRUE(measure$larger) || isFALSE(measure$larger),
    scale = measure$scale %in% c("unit", "log", "plain"),
    needs = all(measure$needs %in% prepared_data),
    usual = all(measure$usual %in% names(measure$titles)),
    interval = length(measure$interval) %in% c(0, 2),
    whose = is.null(measure$influence) || is.character(measure$whose)
  )
  names(good)[!good]
}

test_that("every measure is complete, and no column has two owners", {
  all <- stability_measures()
  for (name in names(all)) expect_identical(measure_faults(all[[name]]), character(0), label = name)
  columns <- unlist(lapply(all, `[[`, "columns"))
  expect_identical(columns[duplicated(columns)], columns[0])
  expect_true(is.function(all[[main_measure]]$influence))
  bad <- new_measure("no column", function(runs) 0, larger = NA, needs = "time", interval = "one")
  expect_identical(measure_faults(bad), c("titles", "compute", "larger", "needs", "interval"))
})

test_that("each measure gives one value or reason for each column, with what it says it needs", {
  withr::local_seed(41)
  runs <- matrix(stats::rnorm(20 * 4) * (stats::runif(80) < 0.5), 20)
  source <- run_source(runs, graph_grid(c(5, 4)))
  x <- matrix(stats::rnorm(100), 5)
  all <- stability_measures()
  for (name in names(all)) {
    data <- measure_data(source, 1, shared_data(source, all[name], x, 0.95))
    result <- all[[name]]$compute(data)
    expect_length(result$value, length(all[[name]]$columns))
    expect_identical(anyNA(result$value), result$reason != "")
    # Chosen alone it has the values that it has in the whole table.
    alone <- stability(runs, measures = name, x = x, graph = graph_grid(c(5, 4)))
    expect_identical(unname(unlist(alone[all[[name]]$columns])), unname(result$value))
  }
})

test_that("only the registry names measures", {
  skip_in_check()  # there are no sources there
  skip_on_covr()
  all <- stability_measures()
  names <- c(names(all), unlist(lapply(all, `[[`, "columns")))
  look <- function(code) {
    if (is.character(code)) return(intersect(code, names))
    if (!is.call(code)) return(NULL)
    # Defaults of arguments are for users to read.
    if (identical(code[[1]], quote(`function`))) return(look(code[[3]]))
    unlist(lapply(as.list(code), look))
  }
  for (file in c("stability.R", "plot-stability.R", "stability-compare.R", "stability-runs.R")) {
    lines <- as.list(parse(test_path("..", "..", "R", file), keep.source = FALSE))
    expect_identical(as.character(unlist(lapply(lines, look))), character(0), label = file)
  }
})

# ---- a measure that is only registered -----------------------------------------------------------

# The mean share of the features that a run selects.
toy_measure <- function() {
  new_measure(
    c(toy = "Sizes of toys"),
    function(data) {
      if (length(data$counts$sizes) < 2) return(measured(rep(NA_real_, 3), "toys need two runs"))
      measured(mean(data$counts$share) + c(0, -0.1, 0.1), "")
    },
    larger = FALSE, needs = "counts", usual = "toy", interval = c("toy.lower", "toy.upper"),
    influence = function(data) {
      share <- data$counts$sizes / data$counts$p
      list(estimate = mean(share), influence = share - mean(share))
    },
    whose = "The toy maker's"
  )
}

local_toy_measure <- function(frame = parent.frame()) {
  real <- stability_measures
  local_replaced("stability_measures", function() c(real(), list(toy = toy_measure())), frame)
}

test_that("a registered measure is computed, printed and tested, and changes no other", {
  runs <- sets_matrix(list(1:3, 1:4, 1:5), 10)
  before <- stability(runs)
  local_toy_measure()
  panel <- stability(runs)
  expect_identical(unclass(panel)[names(before)], unclass(before)[names(before)])
  expect_equal(unlist(panel[c("toy", "toy.lower", "toy.upper")], use.names = FALSE),
               c(0.4, 0.3, 0.5))
  expect_output(print(panel), "toy +0.4 \\(0.3 to 0.5\\) +smaller")
  expect_named(stability(runs, measures = "toy"), c("toy", "toy.lower", "toy.upper", "reason"))
  alone <- runs[, 1, drop = FALSE]
  expect_identical(stability(alone, measures = "toy")$reason, "toy: toys need two runs")
  expect_error(stability(runs, measures = "tin"), "\"distance\", \"toy\", not \"tin\"")
  test <- compare_stability(runs, sets_matrix(list(1:2, 1:2, 1:2), 10), measure = "toy")
  expect_equal(test$difference, 0.2)
  expect_equal(test$stderr, influence_error(c(-0.1, 0, 0.1)))
  expect_match(test$method, "The toy maker's test of equal stability, paired")
  expect_error(compare_stability(alone, runs, measure = "toy"),
               "`object1` must have a value of The toy maker's measure, but toys need two runs")
})

test_that("a registered measure is drawn along the grid, against the score and as a dot", {
  withr::local_seed(42)
  local_toy_measure()
  x <- matrix(stats::rnorm(60 * 20), 60)
  cv <- cv.n2gfl(x, rowSums(x[, 5:8]) + stats::rnorm(60), graph_chain(20), nfolds = 4,
                 nlambda1 = 5, lambda2 = 0.1)
  panel <- stability(cv)
  expect_output(print(panel), "toy +toy.lower +toy.upper")
  expect_true("toy" %in% plotted_measures(panel, NULL, usual_columns()))
  texts <- function(...) drawn_texts(plot(...))
  grid <- texts(panel, measures = "toy")
  expect_true(all(c("Sizes of toys", "smaller is better", "band: confidence interval") %in% grid))
  # drawn_texts() does not read brackets.
  tradeoff <- texts(panel, type = "tradeoff", measures = "toy")
  expect_true(any(grepl("^Sizes of to.*smaller is better", tradeoff)))
  expect_true(all(c("Sizes of toys", "Nogueira", "confidence interval") %in%
                    texts(panel[3, ], measures = c("toy", "nogueira"))))
})

test_that("what compare_stability() cannot compare is refused", {
  runs <- sets_matrix(list(1:3, 1:4, 1:5), 10)
  expect_error(compare_stability(runs, runs, measure = "dice"),
               "`measure` must be one of \"nogueira\", not \"dice\".", fixed = TRUE)
})
