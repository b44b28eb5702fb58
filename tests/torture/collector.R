# Runs R's garbage collector at every fifth allocation, beginning with each of the first five: an R
# object that the glue does not protect would be freed. The entry points of the glue are called with
# tiny data, and results are compared with those of ordinary runs.
source(file.path("tests", "torture", "common.R"))

set.seed(seed)
x <- matrix(rnorm(12 * 6), 12)
sparse <- methods::as(replace(x, abs(x) < 0.4, 0), "CsparseMatrix")
y <- x[, 1] + x[, 2] + rnorm(12) / 4
graph <- graph_chain(6)
folder <- tempfile()
dir.create(folder)
files <- file.path(folder, c("a.nii.gz", "b.nii", "c.nii"))
types <- c("float32", "int16", "float64")
for (k in 1:3) make_nifti(array(runif(27, 1, 9), c(3, 3, 3)), files[k], type = types[k])

glue <- asNamespace("n2gfl")
invisible(loadNamespace("RNifti"))

# A function that makes a fit without the R code around it, which would only take time here.
fit <- function(x, family = "gaussian", ...) {
  view <- glue$problem_at(glue$check_problem(glue$fit_arguments(list(
    x = x, y = if (family == "gaussian") y else as.numeric(y > 0), graph = graph, family = family,
    lambda1 = c(0.2, 0.05), lambda2 = 0.05, covariates = cbind(a = sin(1:12)), ...))))
  function() glue$solve_view(view)
}
edges <- glue$graph_list(graph_chain(12))
read <- function(k) {
  force(k)
  function() glue$read_nifti_cpp(files[k], 0L, TRUE, raw(0), NA_real_)
}
store <- function() {
  kept <- glue$store_new_cpp(2L, 27L, TRUE)
  for (k in 1:2) {
    volume <- glue$read_nifti_cpp(files[1], 0L, FALSE, raw(0), NA_real_)
    glue$store_add_cpp(kept, volume, 1:27, FALSE)
    glue$free_volume_cpp(volume)
  }
  list(glue$store_scan_cpp(kept), glue$store_take_cpp(kept, rep(TRUE, 27), c("a", "b")))
}
calls <- list(
  dense = fit(x), sparse = fit(sparse), logistic = fit(x, "binomial"),
  laplacian = fit(x, penalty = "laplacian"), standardized = fit(x, standardize = TRUE),
  prox = function() glue$fused_prox_cpp(y, rep(1, 12), rep(0.1, 12), edges, 0.2, "free"),
  hash = function() glue$hash_cpp(y), finite = function() glue$all_finite_cpp(sparse),
  floats = read(1), integers = read(2), doubles = read(3), store = store)
expected <- lapply(calls, function(call) call())
wrong <- 0
tried <- 0
for (begin in 1:5) for (name in names(calls)) {
  if (spent() > seconds) break
  tried <- tried + 1
  gctorture2(5, wait = begin)
  answer <- tryCatch(calls[[name]](), error = identity)
  gctorture2(0)
  if (!identical(answer, expected[[name]])) {
    cat(name, "differs\n")
    wrong <- wrong + 1
  }
}
report("gctorture", wrong, "%d calls of %d entry points", tried, length(calls))
finish()
