# The tables, the checks and the analysis of a folder of images, all on tiny input.

test_that("the propositions, the dual and the errata hold", {
  skip_if_not_installed("quadprog")
  checks <- paper_scripts()$all_checks()
  expect_identical(checks$what[!checks$holds], character(0))
  expect_gte(nrow(checks), 12)
})

test_that("the cone program of Table 1 has the same optimum as pursuit", {
  skip_if_not_installed("ECOSolveR")
  paper <- paper_scripts()
  problem <- paper$table1_problem(64)
  ours <- paper$solve_table1(problem, "pursuit")
  peer <- paper$solve_ecos(problem)
  value <- function(answer) paper$table1_objective(problem, answer$beta)
  expect_lte(ours$gap, 1e-8)
  expect_equal(value(peer), value(ours), tolerance = 1e-6)
  expect_equal(value(paper$solve_table1(problem, "ista")), value(ours), tolerance = 1e-6)
})

test_that("tables are summaries of the cohorts' files, and finished files are kept", {
  paper <- paper_scripts()
  folder <- withr::local_tempdir()
  one <- function(task, cohort, nested) {
    data.frame(task = task, cohort = cohort, model = c("lasso", "n2GFL"), at = "accurate",
               nested = nested, better = c(6, 0), worse = c(1, 0), tuning = "", accuracy = nested,
               voxels = 10, es_coef = 1, es_fit = 1, mdc = c(0.2, 0.6), nogueira = 0.5,
               mdc_top50 = 0.5, sensitivity = 1, precision = 0.5, seconds = 1)
  }
  paper$write_whole(one("15ADNC", 1, c(0.8, 0.9)), file.path(folder, "15ADNC-01.csv"))
  paper$write_whole(one("15ADNC", 2, c(0.7, 0.9)), file.path(folder, "15ADNC-02.csv"))
  paper$write_whole(one("15ADNC", 3, c(0.75, 0.9)), file.path(folder, "15ADNC-03.csv"))
  results <- paper$read_cohorts(folder)
  accuracy <- paper$table2(results)
  expect_equal(accuracy$nested, c(75, 90))
  expect_equal(accuracy$nested_half, c(qt(0.975, 2) * sd(c(80, 70, 75)) / sqrt(3), 0))
  expect_equal(accuracy$p, c(binom.test(18, 21)$p.value, NA))
  expect_equal(paper$table3(results)$mdc, c(0.2, 0.6))
  expect_equal(paper$wide_table2(accuracy)$n2GFL, "90.0\u00a0\u00b1\u00a00.0")
  expect_silent(paper$run_cohorts(folder, 3, "15ADNC"))  # nothing left to do
  expect_equal(paper$scaling_exponent(c(10, 100, 1000), 3e-5 * c(10, 100, 1000)^1.5), 1.5)
})

test_that("a folder of images becomes tables and figures", {
  skip_in_check()
  skip_if_not_installed("e1071")
  skip_if_not_installed("glmnet")
  suppressWarnings(skip_if_not_installed("misc3d"))  # it warns where there is no display
  paper <- paper_scripts()
  withr::local_seed(7)
  dir <- withr::local_tempdir()
  out <- withr::local_tempdir()
  cohort <- simulate_cohort(30, voxel_size = 16, dir = dir, space = "phantom")
  data <- paper$read_cohort(dir, "subjects.csv")
  expect_equal(data$x, cohort$x, tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(levels(data$y), c("patient", "control"))
  expect_identical(data$truth, cohort$truth > 0)
  models <- paper$comparators()[c("MLDA", "lasso", "n2GFL")]
  paper$run_user_cohort(dir, "subjects.csv", out, models = models, nfolds = 3, ninner = 2)
  expect_setequal(dir(out), c("cohort.md", "figure2.png", "figure3.png", "models.csv", "table2.csv",
                              "table3.csv"))
  results <- read.csv(file.path(out, "models.csv"))
  expect_setequal(results$at, c("accurate", "matched"))
  expect_identical(results$model, rep(names(models), each = 2))
  expect_true(all(results$nested >= 0.3 & results$precision <= 1, na.rm = TRUE))
  expect_error(paper$controls_last(c("a", "b", "c")), "two classes, not 3")
})
