# Ten solutions that must not change unnoticed: their objectives and supports are stored, see
# fixtures/make-reference.R. Each is also proved optimal, so that a wrong one cannot be stored.

kept <- utils::read.csv(test_path("fixtures", "reference.csv"),
                        colClasses = c(support = "character"))

for (name in names(reference_settings)) {
  test_that(paste("the solution is the one of the fixture:", name), {
    solution <- reference_solution(name)
    expected <- kept[kept$name == name, ]
    expect_identical(nrow(expected), 1L)
    expect_identical(solution$row$lambda1, expected$lambda1)
    expect_lte(abs(solution$row$objective / expected$objective - 1), 1e-9)
    expect_identical(solution$row$nonzero, expected$nonzero)
    expect_identical(solution$row$support, expected$support)
    expect_gt(expected$nonzero, 2)
    expect_kkt(solution$fit, solution$problem)
  })
}

test_that("the same call gives the same bits twice", {
  p <- reference_case("logistic")
  once <- fit_problem(p, NULL, NULL)
  again <- fit_problem(p, NULL, NULL)
  expect_identical(again, once)
})
