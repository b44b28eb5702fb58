# Paths of logistic fits on correlated 3-D fields, N = 200, beside glmnet's paths.
#
#   Rscript bench/logistic.R             all problems
#   Rscript bench/logistic.R 28,000      those whose name contains "28,000"
#
# Each path goes from its own largest lambda1 down to 2 % of it; lambda2 is a share of the largest
# product of x and the null model's residuals. glmnet solves an easier problem (no fusion) and
# gives no proof of optimality; it is the peer that users know. How hard a path is depends on how
# smooth the fields are: rough ones are the rule here, two rows a size have smooth ones.
source("bench/helpers.R")
source("bench/data.R")
limit <- 600

problem <- function(size, bar, sign = "nonnegative", rows = 10, share = 0.02, covariates = FALSE,
                    kind = "rough") {
  list(size = size, bar = bar, sign = sign, rows = rows, share = share, covariates = covariates,
       kind = kind)
}

problems <- list()
for (size in names(shell_sizes)) {
  named <- function(...) paste(c(size, ...), collapse = ", ")
  problems[[named("10 rows")]] <- problem(size, 0.3)
  problems[[named("100 rows")]] <- problem(size, 0.4, rows = 100)
  problems[[named("10 rows, smooth")]] <- problem(size, 0.3, kind = "smooth")
  problems[[named("100 rows, smooth")]] <- problem(size, 0.4, rows = 100, kind = "smooth")
  problems[[named("10 rows, free")]] <- problem(size, 0.6, sign = "free")
  problems[[named("10 rows, two covariates")]] <- problem(size, 0.6, covariates = TRUE)
  for (share in c(0.001, 0.005, 0.1, 0.5))
    problems[[named("10 rows", sprintf("lambda2 %g %%", 100 * share))]] <-
      problem(size, 1, share = share)
}

run_n2gfl <- function(p, data, file) {
  products <- if (p$sign == "free") abs(data$products) else data$products
  lambda2 <- p$share * max(products)
  covariates <- if (p$covariates) data$covariates
  measure(function() {
    fit <- n2gfl::n2gfl(data$x, data$y, data$graph, family = "binomial", sign = p$sign,
                        covariates = covariates, nlambda1 = p$rows, lambda2 = lambda2,
                        lambda.min.ratio = 0.02, thresh = gap_bar)
    list(gap = max(fit$grid$gap), passes = fit$npasses / nrow(fit$grid))
  }, file)
}

# Covariates are columns without penalty and limits. glmnet ends a path early when it explains
# enough; here it must go to the end.
run_glmnet <- function(p, data, file) {
  glmnet::glmnet.control(fdev = 0, devmax = 1)
  own <- if (p$covariates) ncol(data$covariates) else 0
  x <- if (own) cbind(data$covariates, data$x) else data$x
  penalised <- rep(c(0, 1), c(own, ncol(data$x)))
  limits <- if (p$sign == "free") -Inf else ifelse(penalised == 1, 0, -Inf)
  data <- list(y = data$y)
  measure(function() {
    glmnet::glmnet(x, data$y, family = "binomial", nlambda = p$rows, lambda.min.ratio = 0.02,
                   lower.limits = limits, penalty.factor = penalised, standardize = FALSE)
    NULL
  }, file, "glmnet")
}

run_method <- function(name, method, file) {
  p <- problems[[name]]
  data <- shell_data(p$size, kind = p$kind)
  if (method == "n2gfl") run_n2gfl(p, data, file)
  if (method == "glmnet") run_glmnet(p, data, file)
}

main <- function(part) {
  print_title("Paths of logistic fits, N = 200, beside glmnet's lasso",
              "Ratio: n2gfl's CPU seconds over glmnet's. lambda2 is 2 % of max X'r unless a row",
              "says otherwise. A run is stopped after", limit, "s.")
  print_machine("glmnet")
  print_comparison_head()
  script <- "bench/logistic.R"
  peers <- list()  # lambda2 means nothing to glmnet
  for (name in wanted(names(problems), part)) {
    p <- problems[[name]]
    prepare_data(script, name, paste(p$size, p$kind))
    key <- paste(p$size, p$kind, p$rows, p$sign, p$covariates)
    peers[[key]] <- print_comparison(script, name, "glmnet", p$bar, limit, peers[[key]])
  }
  print_worst_gap()
  keep_results("logistic", part)
}

start(main, run_method)
