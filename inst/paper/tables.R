# Table 1 (seconds), Table 2 (accuracy) and Table 3 (stability) of the paper.

# ---- Tables 2 and 3: the work --------------------------------------------------------------------

paper_tasks <- c("15ADNC", "30ADNC", "15MCINC")

# One file per task and cohort in `folder`; existing files are not computed again.
run_cohorts <- function(folder, cohorts, tasks = paper_tasks, ..., cores = paper_cores()) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  # The last task is the longest: it starts first, so that no core waits for it.
  cells <- expand.grid(task = rev(tasks), cohort = seq_len(cohorts), stringsAsFactors = FALSE)
  cells$file <- file.path(folder, sprintf("%s-%02d.csv", cells$task, cells$cohort))
  work_on_cells(cells[!file.exists(cells$file), ], cores, function(cell) {
    run_cohort(cell$task, cell$cohort, ...)
  })
}

# MC_CORES says how many cells run at once.
paper_cores <- function() if (.Platform$OS.type == "windows") 1 else getOption("mc.cores", 2L)

# Writes the table that `work` returns for each row of `cells` to the row's file. The others go on
# when one fails.
work_on_cells <- function(cells, cores, work) {
  failed <- parallel::mclapply(seq_len(nrow(cells)), function(k) {
    tryCatch({
      time <- system.time(write_whole(work(cells[k, ]), cells$file[k]))
      message(basename(cells$file[k]), ": ", round(time[["elapsed"]]), " s")
      NULL
    }, error = conditionMessage)
  }, mc.cores = cores, mc.preschedule = FALSE)
  lost <- which(!file.exists(cells$file))
  if (!length(lost)) return(invisible())
  # A worker that was killed leaves neither a file nor a message.
  stop(paste0(basename(cells$file[lost]), ": ", vapply(failed[lost], function(text) {
    if (is.character(text)) text[1] else "its process ended"
  }, ""), collapse = "\n"), call. = FALSE)
}

run_cohort <- function(task, cohort, ...) {
  set.seed(1000 * match(task, paper_tasks) + cohort)
  data <- n2gfl::simulate_cohort(task, space = "phantom")
  data$truth <- data$truth > 0
  cbind(task = task, cohort = cohort, compare_models(data, ...))
}

# A file is written completely or not at all, so that a stopped run can continue.
write_whole <- function(table, file) {
  part <- paste0(file, ".part")
  utils::write.csv(table, part, row.names = FALSE)
  file.rename(part, file)
}

read_cohorts <- function(folder) {
  files <- dir(folder, pattern = "\\.csv$", full.names = TRUE)
  results <- do.call(rbind, lapply(files, utils::read.csv))
  results$task <- factor(results$task, unique(c(intersect(paper_tasks, results$task),
                                                results$task)))
  results$model <- factor(results$model, unique(results$model))
  results
}

# ---- Tables 2 and 3: the summaries ---------------------------------------------------------------

# Mean over cohorts with the half width of its 95 % t interval (NA for one or two cohorts).
mean_and_half <- function(values) {
  values <- values[!is.na(values)]
  n <- length(values)
  half <- if (n > 2) stats::qt(0.975, n - 1) * stats::sd(values) / sqrt(n) else NA_real_
  c(mean = if (n) mean(values) else NA_real_, half = half)
}

# McNemar's exact test on the discordant subjects of all cohorts.
mcnemar_p <- function(better, worse) {
  if (better + worse == 0) return(1)
  stats::binom.test(better, better + worse)$p.value
}

# One row per task and model; p compares the nested predictions of n2GFL with the model's.
table2 <- function(results) {
  results <- results[results$at == "accurate", ]
  groups <- split(results, list(results$model, results$task), drop = TRUE)
  rows <- lapply(groups, function(group) {
    nested <- 100 * mean_and_half(group$nested)
    best <- 100 * mean_and_half(group$accuracy)
    p <- if (group$model[1] == "n2GFL") NA else mcnemar_p(sum(group$better), sum(group$worse))
    data.frame(task = group$task[1], model = group$model[1], cohorts = nrow(group),
               nested = nested[["mean"]], nested_half = nested[["half"]],
               best = best[["mean"]], best_half = best[["half"]], better = sum(group$better),
               worse = sum(group$worse), p = p)
  })
  do.call(rbind, unname(rows))
}

table3_columns <- c("voxels", "es_coef", "es_fit", "mdc", "nogueira", "mdc_top50", "sensitivity",
                    "precision", "accuracy")

# One row per task, way to choose and model: means over cohorts, and half widths as *_half.
table3 <- function(results) {
  groups <- split(results, list(results$model, results$at, results$task), drop = TRUE)
  rows <- lapply(groups, function(group) {
    values <- vapply(group[table3_columns], mean_and_half, numeric(2))
    halves <- stats::setNames(values["half", ], paste0(table3_columns, "_half"))
    data.frame(task = group$task[1], at = group$at[1], model = group$model[1],
               cohorts = nrow(group), as.list(values["mean", ]), as.list(halves))
  })
  do.call(rbind, unname(rows))
}

# ---- Table 1 -------------------------------------------------------------------------------------

table1_sizes <- c(400, 900, 2500, 4900, 10000)

# The paper's own seconds: CVX and their algorithm on an Intel i7-3770; NA = more than 24 hours.
table1_paper <- data.frame(d = table1_sizes, cvx = c(5.22, 33.71, 889.80, 1.08e4, NA),
                           theirs = c(0.87, 2.39, 15.95, 64.33, 321.93))

# The paper's design. It does not say which penalties: here both are a tenth of the largest useful
# lambda1 of the nonnegative lasso.
table1_problem <- function(d, share = 0.1) {
  set.seed(d)
  side <- sqrt(d)
  x <- matrix(stats::rnorm(d * d / 2), d / 2)
  y <- drop(x %*% stats::rnorm(d)) + 0.01 * stats::rnorm(d / 2)
  graph <- n2gfl::graph_grid(c(side, side))
  lambda <- share * n2gfl::lambda_max(x, y, graph)
  list(x = x, y = y, graph = graph, lambda1 = lambda, lambda2 = lambda)
}

# (1/2N) ||y - x beta - c||^2 + penalties, at the best c.
table1_objective <- function(problem, beta) {
  residual <- problem$y - drop(problem$x %*% beta)
  ends <- problem$graph
  mean((residual - mean(residual))^2) / 2 + problem$lambda1 * sum(beta) +
    problem$lambda2 * sum(ends$weight * abs(beta[ends$from] - beta[ends$to]))
}

table1_methods <- c("pursuit", "fista", "ista", "ECOS",
                    if (requireNamespace("scs", quietly = TRUE)) "SCS")

# One method at one size, in this process: list(beta, seconds, gap as the method reports it). All
# use one thread, so processor seconds are the seconds of an idle machine.
solve_table1 <- function(problem, method) {
  time <- system.time({
    answer <- switch(method, ECOS = solve_ecos(problem), SCS = solve_scs(problem), {
      fit <- n2gfl::n2gfl(problem$x, problem$y, problem$graph, lambda1 = problem$lambda1,
                          lambda2 = problem$lambda2, algorithm = method, thresh = 1e-8)
      list(beta = as.numeric(fit$beta), gap = fit$grid$gap)
    })
  })
  c(answer, seconds = time[["user.self"]] + time[["sys.self"]])
}

# The problem as a cone program: variables (beta, edges, c, t), objective t + penalties;
# h - G v lies in the cone: beta >= 0, edges >= |differences|, and
# t >= ||y - x beta - c||^2 / 2N as a second-order cone. In units of the objective at zero, as a
# solver with absolute tolerances needs it.
cone_program <- function(problem) {
  scale <- table1_objective(problem, numeric(ncol(problem$x)))
  d <- ncol(problem$x)
  n <- nrow(problem$x)
  edges <- length(problem$graph$from)
  rows <- seq_len(edges)
  difference <- Matrix::sparseMatrix(rep(rows, 2), c(problem$graph$from, problem$graph$to),
                                     x = rep(c(1, -1), each = edges), dims = c(edges, d))
  unit <- Matrix::Diagonal(edges)
  none <- function(rows, columns) Matrix::Matrix(0, rows, columns, sparse = TRUE)
  root <- sqrt(1 / (n * scale))
  G <- rbind(
    cbind(-Matrix::Diagonal(d), none(d, edges + 2)),
    cbind(difference, -unit, none(edges, 2)),
    cbind(-difference, -unit, none(edges, 2)),
    cbind(none(1, d + edges + 1), -1),
    cbind(methods::as(root * problem$x, "CsparseMatrix"), none(n, edges), rep(root, n),
          none(n, 1)),
    cbind(none(1, d + edges + 1), -1)
  )
  # ||(r, t - 1/2)|| <= t + 1/2  <=>  ||r||^2 <= 2t
  h <- c(numeric(d + 2 * edges), 0.5, root * problem$y, -0.5)
  penalties <- c(rep(problem$lambda1, d), problem$lambda2 * problem$graph$weight) / scale
  list(cost = c(penalties, 0, 1),
       G = methods::as(methods::as(G, "generalMatrix"), "CsparseMatrix"), h = h,
       l = d + 2 * edges, q = n + 2)
}

solve_ecos <- function(problem) {
  program <- cone_program(problem)
  dims <- list(l = as.integer(program$l), q = as.integer(program$q), e = 0L)
  answer <- ECOSolveR::ECOS_csolve(program$cost, program$G, program$h, dims)
  # 0 is optimal, 10 optimal within a wider tolerance.
  if (!answer$retcodes[["exitFlag"]] %in% c(0, 10)) return(list(beta = NULL, gap = NA))
  list(beta = pmax(answer$x[seq_len(ncol(problem$x))], 0), gap = answer$summary[["relgap"]])
}

solve_scs <- function(problem) {
  program <- cone_program(problem)
  cone <- list(l = as.integer(program$l), q = as.integer(program$q))
  answer <- scs::scs(program$G, program$h, program$cost, cone = cone,
                     control = list(eps_abs = 1e-8, eps_rel = 1e-8, max_iters = 1e6L))
  list(beta = pmax(answer$x[seq_len(ncol(problem$x))], 0), gap = answer$info$gap)
}

# Highest resident memory of this process so far, in MB; NA where the system does not say.
peak_megabytes <- function() {
  status <- "/proc/self/status"
  if (!file.exists(status)) return(NA_real_)
  line <- grep("^VmHWM", readLines(status), value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA_real_
}

# In a child process (see run.R): makes the data, solves, writes one line. The line includes the
# objective, so that all methods can be compared with one lower bound.
table1_cell <- function(d, method, file) {
  problem <- table1_problem(d)
  answer <- solve_table1(problem, method)
  solved <- !is.null(answer$beta)
  write_whole(data.frame(d = d, method = method, seconds = answer$seconds, own_gap = answer$gap,
                         objective = if (solved) table1_objective(problem, answer$beta) else NA,
                         zero = table1_objective(problem, numeric(d)), peak = peak_megabytes(),
                         limit = NA), file)
}

# Each cell runs in its own R process, with at most `limit` processor seconds. A method that
# exceeded the limit is not tried at larger sizes. Cells that are in `folder` are not computed
# again.
run_table1 <- function(folder, limit, script, sizes = table1_sizes, methods = table1_methods) {
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (method in methods) {
    for (d in sizes) {
      file <- file.path(folder, sprintf("%s-%05d.csv", method, d))
      if (!is_done(file, limit)) run_cell(script, d, method, file, limit)
      passed <- is.na(utils::read.csv(file)$seconds)
      message("Table 1, ", method, ", d = ", d, if (passed) ": passed the limit")
      if (passed) break
    }
  }
  collect_table1(folder)
}

# A cell that was stopped counts as done only if its limit was at least the present one.
is_done <- function(file, limit) {
  if (!file.exists(file)) return(FALSE)
  cell <- utils::read.csv(file)
  !is.na(cell$seconds) || cell$limit >= limit
}

run_cell <- function(script, d, method, file, limit) {
  messages <- tempfile()
  on.exit(unlink(messages))
  unlink(file)
  # The limit is in processor seconds, like the table.
  command <- paste("ulimit -t", ceiling(limit), "; exec",
                   shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script), "cell", d, method,
                   shQuote(file))
  status <- suppressWarnings(system2("sh", c("-c", shQuote(command)), stdout = messages,
                                     stderr = messages))
  if (status %in% (128 + c(SIGKILL = 9, SIGXCPU = 24))) {
    return(write_stopped(d, method, file, limit))
  }
  if (!file.exists(file)) {
    stop(paste(c(method, "failed at d =", d, readLines(messages)), collapse = "\n"))
  }
}

write_stopped <- function(d, method, file, limit) {
  write_whole(data.frame(d = d, method = method, seconds = NA, own_gap = NA, objective = NA,
                         zero = NA, peak = NA, limit = limit), file)
}

# gap: objective minus the best known lower bound (that of pursuit, whose gap is certified), in
# units of the objective at zero, in the same way for every method.
collect_table1 <- function(folder) {
  cells <- do.call(rbind, lapply(dir(folder, pattern = "\\.csv$", full.names = TRUE),
                                 utils::read.csv))
  proof <- cells[cells$method == "pursuit", ]
  at <- match(cells$d, proof$d)
  bound <- proof$objective[at] - proof$own_gap[at] * proof$zero[at]
  cells$gap <- (cells$objective - bound) / cells$zero
  cells[order(match(cells$method, c("pursuit", "fista", "ista", "ECOS", "SCS")), cells$d), ]
}

# Slope of log(seconds) on log(d).
scaling_exponent <- function(d, seconds) {
  known <- !is.na(seconds)
  if (sum(known) < 2) return(NA_real_)
  unname(stats::coef(stats::lm(log(seconds[known]) ~ log(d[known])))[2])
}
