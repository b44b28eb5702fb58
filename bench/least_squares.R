# The paper's timing experiment: one cold least-squares fit on a square grid, N = d / 2, beside
# glmnet's lasso at the same lambda.
#
#   Rscript bench/least_squares.R            all problems
#   Rscript bench/least_squares.R random     those whose name contains "random"
#
# lambda1 = lambda2 = f max(X'y) / N. glmnet solves an easier problem (no fusion) and gives no
# proof of optimality; it is the peer that users know.
source("bench/helpers.R")
source("bench/data.R")
limit <- 300

sizes <- if (small) c(100, 400) else c(400, 900, 2500, 4900, 10000)

problem <- function(d, signal, sign, f) {
  many_regions <- signal == "random" && f == 0.01
  bar <- if (d < 10000 || many_regions) 1 else if (sign == "free") 0.3 else 0.15
  list(d = d, signal = signal, sign = sign, f = f, bar = bar)
}

problems <- list()
for (sign in c("nonnegative", "free"))
  for (signal in c("regions", "random")) for (f in c(0.1, 0.01)) for (d in sizes)
    problems[[sprintf("d = %d, %s, %s, f = %g", d, signal, sign, f)]] <- problem(d, signal, sign, f)

run_method <- function(name, method, file) {
  p <- problems[[name]]
  data <- square_data(p$d)
  if (method == "data") return()
  free <- p$sign == "free"
  y <- data$y[[p$signal]]
  products <- data$products[[p$signal]]
  lambda <- p$f * max(if (free) abs(products) else products)
  if (method == "n2gfl") {
    measure(function() {
      fit <- n2gfl::n2gfl(data$x, y, data$graph, sign = p$sign, lambda1 = lambda, lambda2 = lambda,
                          thresh = gap_bar)
      list(gap = max(fit$grid$gap), passes = fit$npasses)
    }, file)
  } else {
    measure(function() {
      glmnet::glmnet(data$x, y, lambda = lambda, lower.limits = if (free) -Inf else 0,
                     standardize = FALSE)
      NULL
    }, file, "glmnet")
  }
}

main <- function(part) {
  print_title("One least-squares fit, N = d / 2, beside glmnet's lasso",
              "Ratio: n2gfl's CPU seconds over glmnet's. A run is stopped after", limit, "s.")
  print_machine("glmnet")
  print_comparison_head()
  script <- "bench/least_squares.R"
  for (name in wanted(names(problems), part)) {
    prepare_data(script, name, problems[[name]]$d)
    print_comparison(script, name, "glmnet", problems[[name]]$bar, limit)
  }
  print_worst_gap()
  keep_results("least_squares", part)
}

start(main, run_method)
