# The same call gives the same bits: twice, and under every plan.
source(file.path("tests", "torture", "common.R"))

set.seed(seed)
x <- matrix(rnorm(60 * 400), 60)
y <- rowSums(x[, 1:20]) + rnorm(60)
graph <- graph_grid(c(20, 20))
calls <- list(
  n2gfl = function() n2gfl(x, y, graph, nlambda1 = 10),
  cv.n2gfl = function() cv.n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, nested = TRUE,
                                 nfolds = 4, nrepeats = 2, keep = TRUE),
  perturb_fits = function() perturb_fits(x, y, graph, perturb = "bootstrap", nlambda1 = 10),
  stability_selection = function() stability_selection(x, y, graph, q = 20, PFER = 1, B = 20))

outcome <- function(call) {
  set.seed(seed)
  list(call(), .Random.seed)
}
first <- lapply(calls, outcome)
compared <- 0
wrong <- 0
for (plan in c("sequential", "multicore", "multisession")) {
  if (plan == "sequential") future::plan(plan) else future::plan(plan, workers = 2)
  for (name in names(calls)) for (k in 1:3) {
    compared <- compared + 1
    same <- identical(outcome(calls[[name]]), first[[name]])
    if (!same) cat(name, "differs under", plan, "\n")
    wrong <- wrong + !same
  }
}
future::plan("sequential")
report("same bits under all plans", wrong, "%d calls compared with the first", compared)
finish()
