# Paths of fits on the correlated fields of data.R beside lasso paths of other packages: how the
# methods run, and the rows of the table. For the scripts that list such problems.
#
# Each path goes from its own largest lambda1 down to 2 % of it; lambda2 is a share of the largest
# product of x and the null model's residuals. The peers solve an easier problem (no fusion) and
# give no proof of optimality; users know glmnet, the others are fast on many features. Only glmnet
# gets the sign constraint: adelie and biglasso (which always standardises x) run the free lasso.
# How hard a path is depends on how smooth the fields are.

# `bars` are those of the ratios to peers, by their names.
path_problem <- function(size, bars = numeric(), family = "binomial", sign = "nonnegative",
                         rows = 10, share = 0.02, covariates = FALSE, kind = "rough") {
  list(size = size, bars = bars, family = family, sign = sign, rows = rows, share = share,
       covariates = covariates, kind = kind)
}

# What a script compares: the peers in the order of its columns, those that have a column for bars,
# and the seconds after which a run is stopped.
path_table <- function(script, problems, peers, with_bars, limit = 600) {
  list(script = script, problems = problems, peers = peers, with_bars = with_bars, limit = limit)
}

# ---- in the child: one method ----------------------------------------------------

run_n2gfl <- function(p, data, outcome, file) {
  products <- if (p$sign == "free") abs(outcome$products) else outcome$products
  lambda2 <- p$share * max(products)
  covariates <- if (p$covariates) data$covariates
  measure(function() {
    fit <- n2gfl::n2gfl(data$x, outcome$y, data$graph, family = p$family, sign = p$sign,
                        covariates = covariates, nlambda1 = p$rows, lambda2 = lambda2,
                        lambda.min.ratio = 0.02, thresh = gap_bar)
    list(gap = max(fit$grid$gap), passes = fit$npasses / nrow(fit$grid))
  }, file)
}

# For the peers covariates are columns without penalty and limits.
lasso_data <- function(p, data, outcome) {
  own <- if (p$covariates) ncol(data$covariates) else 0
  list(x = if (own) cbind(data$covariates, data$x) else data$x, y = outcome$y,
       penalised = rep(c(0, 1), c(own, ncol(data$x))))
}

# How far a peer's path went.
path_end <- function(lambda) list(rows = length(lambda), ratio = min(lambda) / max(lambda))

# No two times are equal, so all treatments of ties are the same; without an answer, glmnet 5 warns.
call_glmnet <- function(...) {
  if ("cox.ties" %in% names(formals(glmnet::glmnet))) {
    glmnet::glmnet(..., cox.ties = "breslow")
  } else {
    glmnet::glmnet(...)
  }
}

# glmnet ends a path early when it explains enough; here it must go to the end.
run_glmnet <- function(p, data, file) {
  glmnet::glmnet.control(fdev = 0, devmax = 1)
  limits <- if (p$sign == "free") -Inf else ifelse(data$penalised == 1, 0, -Inf)
  measure(function() {
    fit <- call_glmnet(data$x, data$y, family = p$family, nlambda = p$rows,
                       lambda.min.ratio = 0.02, lower.limits = limits,
                       penalty.factor = data$penalised, standardize = FALSE)
    path_end(fit$lambda)
  }, file, "glmnet")
}

run_adelie <- function(p, data, file) {
  y <- data$y
  measure(function() {
    loss <- switch(p$family, binomial = adelie::glm.binomial(y), poisson = adelie::glm.poisson(y),
                   cox = adelie::glm.cox(stop = y[, "time"], status = y[, "status"],
                                         tie_method = "breslow"))
    fit <- adelie::grpnet(data$x, loss, penalty = data$penalised, lmda_path_size = p$rows,
                          min_ratio = 0.02, standardize = FALSE, early_exit = FALSE)
    path_end(fit$state$lmdas)
  }, file, "adelie")
}

# The copy in biglasso's own kind of matrix does not count.
run_biglasso <- function(p, data, file) {
  x <- bigmemory::as.big.matrix(data$x, type = "double")
  measure(function() {
    fit <- biglasso::biglasso(x, data$y, family = p$family, nlambda = p$rows, lambda.min = 0.02)
    path_end(fit$lambda)
  }, file, "biglasso")
}

run_path <- function(p, method, file) {
  data <- shell_data(p$size, kind = p$kind)
  if (method == "data") return()
  outcome <- shell_outcome(data, p$family)
  if (method == "n2gfl") return(run_n2gfl(p, data, outcome, file))
  run <- switch(method, glmnet = run_glmnet, adelie = run_adelie, biglasso = run_biglasso)
  run(p, lasso_data(p, data, outcome), file)
}

# ---- the table -------------------------------------------------------------------

# No lasso has cut points; biglasso has no columns without penalty.
has_model <- function(peer, p) p$family != "ordinal" && !(peer == "biglasso" && p$covariates)

# Runs a peer once for all rows that are the same problem to it: no peer knows lambda2, only glmnet
# gets the sign. The run is in a list, because NULL is a run that was stopped.
peer_runs <- new.env()
run_of_peer <- function(table, name, peer) {
  p <- table$problems[[name]]
  key <- paste(peer, p$size, p$kind, p$family, p$rows, p$covariates, if (peer == "glmnet") p$sign)
  if (is.null(peer_runs[[key]])) {
    run <- if (has_model(peer, p)) run_peer(table$script, name, peer, table$limit) else no_run
    peer_runs[[key]] <- list(run)
  }
  peer_runs[[key]][[1]]
}

peer_columns <- function(table, peer) {
  paste(peer, c("CPU s", "ratio", if (peer %in% table$with_bars) "bar"))
}

# The number of rows is given if a path ended early.
peer_cells <- function(table, p, ours, peer, peer_run) {
  solved <- peer_run$answer$rows
  early <- if (!is.null(solved) && solved < p$rows) sprintf(" (%d rows)", solved)
  c(paste0(seconds(peer_run, table$limit, "cpu"), early), ratio_cell(ours, peer_run, table$limit),
    if (peer %in% table$with_bars) bar_cells(p$bars[peer], NA)[1])
}

# All bars count. Without a peer its bar is not known to be met.
met_cell <- function(p, ours, runs, limit) {
  bars <- p$bars[!is.na(p$bars)]
  if (length(bars) == 0) return("")
  ratios <- vapply(runs[names(bars)], function(run) time_ratio(ours, run, limit), 0)
  met <- !is.null(ours) && ours$answer$gap <= gap_bar && all(ratios <= bars)
  if (is.na(met)) "-" else if (met) "yes" else "no"
}

print_path <- function(table, name) {
  p <- table$problems[[name]]
  prepare_data(table$script, name, paste(p$size, p$kind))
  ours <- run_child(table$script, c("run", name, "n2gfl"), table$limit)
  runs <- sapply(table$peers, function(peer) run_of_peer(table, name, peer), simplify = FALSE)
  beside <- lapply(table$peers, function(peer) peer_cells(table, p, ours, peer, runs[[peer]]))
  print_row(name, time_cells(ours, table$limit), gap_cell(ours$answer$gap),
            short(max(ours$answer$passes, 0)), unlist(beside), met_cell(p, ours, runs, table$limit))
}

# All of the script's output; `notes` come below its title.
print_paths <- function(table, part, title, notes) {
  print_title(title, notes, "A run is stopped after", table$limit, "s.")
  print_machine(table$peers)
  print_head("problem", "n2gfl s", "n2gfl CPU s", "n2gfl MB", "worst gap", "passes",
             unlist(lapply(table$peers, peer_columns, table = table)), "met")
  for (name in wanted(names(table$problems), part)) print_path(table, name)
  print_worst_gap()
  keep_results(sub("[.]R$", "", basename(table$script)), part)
}
