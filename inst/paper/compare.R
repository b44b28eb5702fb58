# Whole procedures compared: in every outer fold each model makes its grid and chooses its penalties
# from the training rows alone, as a user would. So accuracy is nested, and stability is that of ten
# maps with ten choices. On cohorts of simulate_cohort(space = "mni"), with the image treatments of
# treatments.R.

# ---- tasks ---------------------------------------------------------------------------------------

comparison_tasks <- list(
  `local AD` = list(n = "30ADNC", variant = "local"),
  `local MCI` = list(n = "15MCINC", variant = "local"),
  `global AD` = list(n = "30ADNC", variant = "global"),
  `PET AD` = list(n = "30ADNC", variant = "pet")
)

# `n`: other class sizes than the task's. `treatments`: for each task those to compare.
comparison_settings <- function(cohorts, voxel_size = 8, nfolds = 10, n = NULL,
                                tasks = names(comparison_tasks),
                                treatments = names(image_treatments)) {
  list(cohorts = cohorts, voxel_size = voxel_size, nfolds = nfolds, n = n, tasks = tasks,
       treatments = treatments)
}

# Cells of other settings are not taken for those of these.
settings_name <- function(set) {
  paste(c(paste0(set$voxel_size, "mm"), paste0(set$nfolds, "folds"),
          if (!is.null(set$n)) paste0("n", paste(set$n, collapse = "and"))), collapse = "-")
}

# All models get the same cohort, outer folds and inner folds: these are drawn from one seed.
comparison_seed <- function(task, cohort) {
  10000 * match(task, names(comparison_tasks)) + cohort
}

comparison_cohort <- function(task, cohort, set) {
  seed <- comparison_seed(task, cohort)
  set.seed(seed)
  about <- comparison_tasks[[task]]
  if (!is.null(set$n)) about$n <- set$n
  data <- do.call(n2gfl::simulate_cohort,
                  c(about, list(voxel_size = set$voxel_size, space = "mni")))
  data$truth <- data$truth > 0
  data$data$global <- rowMeans(data$x)
  data$foldid <- n2gfl::make_folds(data$y, set$nfolds)
  data$seed <- seed
  data
}

# ---- models --------------------------------------------------------------------------------------

# run(cohort, treatment): for each way to choose a list with `link`, the held-out predictions, and
# `maps`, the coefficients of each outer fold. `selects`: are there zeros?
compared_models <- function() {
  list(
    SVM = dense_model(fit_svm, most_accurate),
    LR = dense_model(fit_ridge, least_deviance),
    FREM = dense_model(fit_ensemble, most_accurate),
    MLDA = dense_model(fit_mlda, most_accurate, selects = TRUE),
    LapL = dense_model(fit_laplacian, least_deviance, selects = TRUE),
    lasso = cv_model(sign = "free", lambda2 = 0, nlambda1 = 50, lambda.min.ratio = 0.01),
    `lasso, nonnegative` = cv_model(lambda2 = 0, nlambda1 = 50, lambda.min.ratio = 0.01),
    GFL = cv_model(sign = "free"),
    n2GFL = cv_model()
  )
}

# Models of n2gfl(): cv.n2gfl() does the whole procedure itself, with sex and site as covariates.
cv_model <- function(...) {
  settings <- list(...)
  run <- function(cohort, treatment) {
    set.seed(cohort$seed)
    cv <- quietly(do.call(n2gfl::cv.n2gfl, c(
      list(cohort$x, cohort$y, cohort$graph, family = "binomial", data = cohort$data,
           foldid = cohort$foldid, nested = TRUE), settings, treatment
    )))
    choices <- c(stable = "stable", min = "min")
    lapply(choices, function(choice) {
      list(link = cv$nested$link[, choice], maps = cv$nested$maps[[choice]])
    })
  }
  list(run = run, selects = TRUE)
}

# Advice about signs and scales is for people; the tables show what comes of it.
quietly <- function(expr) suppressMessages(suppressWarnings(expr))

# Models of comparators.R and the ensemble: `choose(link, y)` is the row of the grid.
dense_model <- function(fit, choose, selects = FALSE) {
  run <- function(cohort, treatment) {
    set.seed(cohort$seed)
    inner <- make_inner_folds(cohort$y, cohort$foldid, max(cohort$foldid))
    fits <- lapply(seq_along(inner), function(k) {
      tuned_fit(fit, choose, cohort, treatment, cohort$foldid != k, inner[[k]])
    })
    link <- numeric(length(cohort$y))
    for (k in seq_along(fits)) {
      held <- cohort$foldid == k
      link[held] <- fits[[k]]$link[held]
    }
    maps <- vapply(fits, `[[`, numeric(ncol(cohort$x)), "beta")
    list(chosen = list(link = link, maps = maps))
  }
  list(run = run, selects = selects)
}

# One outer fold: the fit to its training rows with the parameters that the inner folds choose, and
# its predictions of all rows. Treatments are estimated again in every inner fold.
tuned_fit <- function(fit, choose, cohort, treatment, train, inner) {
  x <- treated_images(cohort, treatment, train)
  full <- fit(x[train, , drop = FALSE], cohort$y[train], cohort$graph)
  row <- 1
  if (nrow(full$grid) > 1) {
    inside <- inner_link(fit, cohort, treatment, inner, full$grid)
    row <- choose(inside[train, , drop = FALSE], cohort$y[train])
  }
  beta <- as.numeric(full$beta[, row])
  list(beta = beta, link = drop(x %*% beta) + full$a0[row])
}

# Predictions of the training rows of an outer fold by fits without their inner fold. Rows that
# `inner` has as 0 are held out of all of them.
inner_link <- function(fit, cohort, treatment, inner, grid) {
  link <- matrix(NA_real_, length(inner), nrow(grid))
  for (j in seq_len(max(inner))) {
    train <- inner > 0 & inner != j
    x <- treated_images(cohort, treatment, train)
    part <- fit(x[train, , drop = FALSE], cohort$y[train], cohort$graph, grid)
    held <- which(inner == j)
    link[held, ] <- held_out(part, x, held)
  }
  link
}

# The squared differences of the Laplacian penalty have the scale of the features' variance.
fit_laplacian <- function(x, y, graph, grid = NULL) {
  unit <- mean(apply(x, 2, stats::var))
  model <- n2gfl_model(sign = "free", penalty = "laplacian", nlambda1 = 12,
                       lambda.min.ratio = 0.05, lambda2 = unit * c(30, 10, 3, 1, 0.3))
  model$fit(x, y, graph, grid)
}

# As cv.n2gfl() chooses by default; ties go to the stronger penalty.
least_deviance <- function(link, y) {
  sign <- ifelse(as.integer(droplevels(factor(y))) == 2, 1, -1)
  which.min(colMeans(log1p(exp(-pmin(pmax(sign * link, -30), 30)))))
}

# ---- measures ------------------------------------------------------------------------------------

# One row of the table. Stability is between the maps of the outer folds; sensitivity and precision
# are medians over them (precision over the maps that have voxels). ES is that of the predictions of
# x, the images of all rows as the treatment makes them, for every model alike.
measure_procedure <- function(result, cohort, x, selects) {
  maps <- Matrix::Matrix(result$maps, sparse = TRUE)
  values <- n2gfl::stability(maps, measures = c("es", "mdc", "nogueira", "dilated"), x = x,
                             graph = cohort$graph)
  row <- data.frame(
    accuracy = mean(is_right(result$link, cohort$y)),
    auc = area_under_curve(result$link, cohort$y), es_fit = values$es.fit,
    mdc_top50 = as.numeric(n2gfl::mDC(maps, top = 50)), voxels = NA_real_, least = NA_real_,
    most = NA_real_, mdc = NA_real_, nogueira = NA_real_, nogueira_lower = NA_real_,
    nogueira_upper = NA_real_, dice_dilated = NA_real_, sensitivity = NA_real_,
    precision = NA_real_
  )
  if (!selects) return(row)  # a model without zeros selects nothing
  selected <- as.matrix(maps != 0)
  size <- colSums(selected)
  hits <- colSums(selected[cohort$truth, , drop = FALSE])
  row[c("voxels", "least", "most")] <- c(stats::median(size), range(size))
  row[c("mdc", "nogueira", "nogueira_lower", "nogueira_upper", "dice_dilated")] <-
    values[c("mdc", "nogueira", "nogueira.lower", "nogueira.upper", "dice.dilated")]
  row$sensitivity <- stats::median(hits / sum(cohort$truth))
  row$precision <- stats::median((hits / size)[size > 0])
  row
}

# ---- cells ---------------------------------------------------------------------------------------

# One model on one treated cohort: a row for each way to choose, and processor seconds.
comparison_cell <- function(cohort, treatment, model) {
  time <- system.time(results <- model$run(cohort, treatment))
  x <- treated_images(cohort, treatment, rep(TRUE, nrow(cohort$x)))
  rows <- lapply(results, measure_procedure, cohort = cohort, x = x, selects = model$selects)
  data.frame(choice = names(rows), do.call(rbind, unname(rows)),
             seconds = sum(time[c("user.self", "sys.self", "user.child", "sys.child")]))
}

cell_file <- function(folder, task, cohort, treatment, model) {
  parts <- sprintf("%s-%02d-%s-%s.csv", task, cohort, treatment, model)
  file.path(folder, gsub("[ ,]+", "_", parts))
}

# Every cell is one file in `folder`; existing files are not computed again.
run_comparison <- function(folder, set, models = compared_models(), cores = paper_cores()) {
  folder <- file.path(folder, settings_name(set))
  dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  for (cohort in seq_len(set$cohorts)) {
    for (task in set$tasks) run_task(folder, task, cohort, set, models, cores)
  }
  invisible(folder)
}

run_task <- function(folder, task, cohort, set, models, cores) {
  cells <- expand.grid(model = names(models), treatment = set$treatments,
                       stringsAsFactors = FALSE)
  cells$file <- cell_file(folder, task, cohort, cells$treatment, cells$model)
  cells <- cells[!file.exists(cells$file), ]
  if (!nrow(cells)) return(invisible())
  data <- comparison_cohort(task, cohort, set)
  work_on_cells(cells, cores, function(cell) {
    rows <- comparison_cell(data, image_treatments[[cell$treatment]], models[[cell$model]])
    cbind(task = task, cohort = cohort, treatment = cell$treatment, model = cell$model, rows)
  })
}

read_comparison <- function(folder) {
  files <- dir(folder, pattern = "[.]csv$", full.names = TRUE)
  if (!length(files)) return(NULL)
  cells <- do.call(rbind, lapply(files, utils::read.csv))
  in_order <- function(values, order) factor(values, intersect(order, values))
  cells$task <- in_order(cells$task, names(comparison_tasks))
  cells$treatment <- in_order(cells$treatment, names(image_treatments))
  cells$model <- in_order(cells$model, names(compared_models()))
  cells$choice <- in_order(cells$choice, c("stable", "min", "chosen"))
  cells[order(cells$task, cells$treatment, cells$model, cells$choice, cells$cohort), ]
}

# ---- summary -------------------------------------------------------------------------------------

comparison_measures <- c("accuracy", "auc", "voxels", "least", "most", "mdc", "nogueira",
                         "nogueira_lower", "nogueira_upper", "dice_dilated", "es_fit", "mdc_top50",
                         "sensitivity", "precision", "seconds")

# One row per task, treatment, model and way to choose: means over cohorts, and the half widths of
# their 95 % t intervals as *_half; `least` and `most` over all cohorts. `gain` is the accuracy less
# that of n2GFL with lambda.stable on the same cohorts.
comparison_table <- function(cells) {
  keys <- c("task", "treatment", "model", "choice")
  cells$gain <- cells$accuracy - reference_accuracy(cells)
  groups <- split(cells, cells[rev(keys)], drop = TRUE)
  rows <- lapply(groups, function(group) {
    values <- vapply(group[c(comparison_measures, "gain")], mean_and_half, numeric(2))
    values["mean", c("least", "most")] <- c(min(group$least), max(group$most))
    values["half", c("least", "most")] <- NA
    halves <- values["half", ]
    names(halves) <- paste0(names(halves), "_half")
    data.frame(lapply(group[1, keys], as.character), cohorts = nrow(group),
               as.list(values["mean", ]), as.list(halves))
  })
  do.call(rbind, unname(rows))
}

reference_accuracy <- function(cells) {
  key <- interaction(cells$task, cells$treatment, cells$cohort)
  reference <- cells$model == "n2GFL" & cells$choice == "stable"
  cells$accuracy[reference][match(key, key[reference])]
}

# What the tables are made from, for the report and the vignette.
comparison_about <- function(cells, set) {
  data.frame(
    setting = c("cohorts a task", "voxel size in mm", "outer and inner folds", "subjects",
                "processor hours", "date"),
    value = c(paste(unique(range(table(unique(cells[c("task", "cohort")])$task))),
                    collapse = " to "),
              set$voxel_size, set$nfolds,
              if (is.null(set$n)) "as in the paper" else paste(set$n, collapse = " + "),
              signif(sum(cells$seconds[!duplicated(cells[c("task", "cohort", "treatment",
                                                           "model")])]) / 3600, 3),
              format(Sys.Date()))
  )
}
