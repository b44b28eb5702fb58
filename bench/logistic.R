# Paths of logistic fits on correlated 3-D fields, N = 200, beside the lasso paths of glmnet, adelie
# and biglasso.
#
#   Rscript bench/logistic.R             all problems
#   Rscript bench/logistic.R 28,000      those whose name contains "28,000"
#
# Each path goes from its own largest lambda1 down to 2 % of it; lambda2 is a share of the largest
# product of x and the null model's residuals. The peers solve an easier problem (no fusion) and
# give no proof of optimality; users know glmnet, the others are fast on many features. Only glmnet
# gets the sign constraint: adelie and biglasso (which always standardises x) run the free lasso.
# How hard a path is depends on how smooth the fields are.
source("bench/helpers.R")
source("bench/data.R")
limit <- 600
script <- "bench/logistic.R"
peers <- c("glmnet", "adelie", "biglasso")
with_bars <- c("glmnet", "adelie")

# `bar` is that of the ratio to glmnet, `adelie` that of the ratio to adelie.
problem <- function(size, bar, adelie = NA, sign = "nonnegative", rows = 10, share = 0.02,
                    covariates = FALSE, kind = "rough") {
  list(size = size, bars = c(glmnet = bar, adelie = adelie), sign = sign, rows = rows,
       share = share, covariates = covariates, kind = kind)
}

problems <- list()
for (size in names(shell_sizes)) {
  named <- function(...) paste(c(size, ...), collapse = ", ")
  fused <- function(share) sprintf("lambda2 %g %%", 100 * share)
  large <- size == "d 223,000"
  problems[[named("10 rows")]] <- problem(size, 0.6, adelie = 1)
  problems[[named("100 rows")]] <- problem(size, 1, rows = 100)
  problems[[named("10 rows, smooth")]] <- problem(size, 0.6, adelie = 1, kind = "smooth")
  problems[[named("100 rows, smooth")]] <-
    problem(size, if (large) 1 else 0.4, rows = 100, kind = "smooth")
  problems[[named("10 rows, free")]] <- problem(size, 0.8, sign = "free")
  problems[[named("10 rows, two covariates")]] <- problem(size, 0.8, covariates = TRUE)
  for (share in c(0.001, 0.005))
    problems[[named("10 rows", fused(share))]] <- problem(size, 1, share = share)
  for (share in c(0.1, 0.5))
    problems[[named("10 rows", fused(share))]] <- problem(size, 0.8, share = share)
  for (share in c(0.1, 0.5))
    problems[[named("10 rows, smooth", fused(share))]] <-
      problem(size, if (large) 1.5 else 0.8, share = share, kind = "smooth")
}

# ---- in the child: one method ----------------------------------------------------

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

# For the peers covariates are columns without penalty and limits.
lasso_data <- function(p, data) {
  own <- if (p$covariates) ncol(data$covariates) else 0
  list(x = if (own) cbind(data$covariates, data$x) else data$x, y = as.numeric(data$y > 0),
       penalised = rep(c(0, 1), c(own, ncol(data$x))))
}

# How far a peer's path went.
path_end <- function(lambda) list(rows = length(lambda), ratio = min(lambda) / max(lambda))

# glmnet ends a path early when it explains enough; here it must go to the end.
run_glmnet <- function(p, data, file) {
  glmnet::glmnet.control(fdev = 0, devmax = 1)
  limits <- if (p$sign == "free") -Inf else ifelse(data$penalised == 1, 0, -Inf)
  measure(function() {
    fit <- glmnet::glmnet(data$x, data$y, family = "binomial", nlambda = p$rows,
                          lambda.min.ratio = 0.02, lower.limits = limits,
                          penalty.factor = data$penalised, standardize = FALSE)
    path_end(fit$lambda)
  }, file, "glmnet")
}

run_adelie <- function(p, data, file) {
  measure(function() {
    fit <- adelie::grpnet(data$x, adelie::glm.binomial(data$y), penalty = data$penalised,
                          lmda_path_size = p$rows, min_ratio = 0.02, standardize = FALSE,
                          early_exit = FALSE)
    path_end(fit$state$lmdas)
  }, file, "adelie")
}

# The copy in biglasso's own kind of matrix does not count.
run_biglasso <- function(p, data, file) {
  x <- bigmemory::as.big.matrix(data$x, type = "double")
  measure(function() {
    fit <- biglasso::biglasso(x, data$y, family = "binomial", nlambda = p$rows, lambda.min = 0.02)
    path_end(fit$lambda)
  }, file, "biglasso")
}

run_method <- function(name, method, file) {
  p <- problems[[name]]
  data <- shell_data(p$size, kind = p$kind)
  if (method == "data") return()
  if (method == "n2gfl") return(run_n2gfl(p, data, file))
  run <- switch(method, glmnet = run_glmnet, adelie = run_adelie, biglasso = run_biglasso)
  run(p, lasso_data(p, data), file)
}

# ---- the table -------------------------------------------------------------------

# Runs a peer once for all rows that are the same problem to it: no peer knows lambda2, only glmnet
# gets the sign. biglasso has no columns without penalty, so it cannot have covariates. The run is
# in a list, because NULL is a run that was stopped.
peer_runs <- new.env()
run_of_peer <- function(name, peer) {
  p <- problems[[name]]
  key <- paste(peer, p$size, p$kind, p$rows, p$covariates, if (peer == "glmnet") p$sign)
  if (is.null(peer_runs[[key]])) {
    impossible <- peer == "biglasso" && p$covariates
    peer_runs[[key]] <- list(if (impossible) no_run else run_peer(script, name, peer, limit))
  }
  peer_runs[[key]][[1]]
}

peer_columns <- function(peer) {
  paste(peer, c("CPU s", "ratio", if (peer %in% with_bars) "bar"))
}

# The number of rows is given if a path ended early.
peer_cells <- function(p, ours, peer, peer_run) {
  solved <- peer_run$answer$rows
  early <- if (!is.null(solved) && solved < p$rows) sprintf(" (%d rows)", solved)
  c(paste0(seconds(peer_run, limit, "cpu"), early), ratio_cell(ours, peer_run, limit),
    if (peer %in% with_bars) bar_cells(p$bars[[peer]], NA)[1])
}

# All bars count. Without a peer its bar is not known to be met.
met_cell <- function(p, ours, runs) {
  bars <- p$bars[!is.na(p$bars)]
  ratios <- vapply(runs[names(bars)], function(run) time_ratio(ours, run, limit), 0)
  met <- !is.null(ours) && ours$answer$gap <= gap_bar && all(ratios <= bars)
  if (is.na(met)) "-" else if (met) "yes" else "no"
}

print_problem <- function(name) {
  p <- problems[[name]]
  prepare_data(script, name, paste(p$size, p$kind))
  ours <- run_child(script, c("run", name, "n2gfl"), limit)
  runs <- sapply(peers, run_of_peer, name = name, simplify = FALSE)
  beside <- lapply(peers, function(peer) peer_cells(p, ours, peer, runs[[peer]]))
  print_row(name, time_cells(ours, limit), gap_cell(ours$answer$gap),
            short(max(ours$answer$passes, 0)), unlist(beside), met_cell(p, ours, runs))
}

main <- function(part) {
  print_title("Paths of logistic fits, N = 200, beside the lasso of glmnet, adelie and biglasso",
              "Ratios: n2gfl's CPU seconds over the peer's. adelie and biglasso run the free",
              "lasso, biglasso on standardised columns; -: not installed, failed, or without such",
              "a model. lambda2 is 2 % of max X'r unless a row says otherwise.",
              "A run is stopped after", limit, "s.")
  print_machine(peers)
  print_head("problem", "n2gfl s", "n2gfl CPU s", "n2gfl MB", "worst gap", "passes",
             unlist(lapply(peers, peer_columns)), "met")
  for (name in wanted(names(problems), part)) print_problem(name)
  print_worst_gap()
  keep_results("logistic", part)
}

start(main, run_method)
