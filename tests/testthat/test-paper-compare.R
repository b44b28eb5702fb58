# The comparison of whole procedures in inst/paper: the ensemble, the image treatments, the
# procedures, their measures and tables.

raw <- list(covariates = ~ sex + site)

# ---- the ensemble --------------------------------------------------------------------------------

# One cluster at a time, with loops: the neighbours that want each other are found by their names.
slow_clusters <- function(x, graph, count) {
  sets <- as.list(seq_len(ncol(x)))
  touch <- function(a, b) {
    any(graph$from %in% a & graph$to %in% b | graph$from %in% b & graph$to %in% a)
  }
  repeat {
    joins <- NULL
    for (i in seq_along(sets)) {
      best <- c(Inf, NA)
      for (j in setdiff(seq_along(sets), i)) {
        apart <- rowMeans(x[, sets[[i]], drop = FALSE]) - rowMeans(x[, sets[[j]], drop = FALSE])
        if (touch(sets[[i]], sets[[j]]) && sum(apart^2) < best[1]) best <- c(sum(apart^2), j)
      }
      if (is.finite(best[1])) joins <- rbind(joins, c(best[1], sort(c(i, best[2]))))
    }
    if (is.null(joins) || length(sets) <= count) break
    joins <- unique(joins)
    joins <- joins[order(joins[, 1]), , drop = FALSE]
    joins <- joins[seq_len(min(nrow(joins), length(sets) - count)), , drop = FALSE]
    home <- seq_along(sets)
    for (k in seq_len(nrow(joins))) home[home == home[joins[k, 3]]] <- home[joins[k, 2]]
    sets <- lapply(unique(home), function(h) unlist(sets[home == h]))
  }
  cluster <- integer(ncol(x))
  for (k in seq_along(sets)) cluster[sets[[k]]] <- k
  cluster
}

test_that("clusters are those of an agglomeration written with loops", {
  paper <- paper_scripts()
  withr::local_seed(1)
  same_sets <- function(a, b) expect_identical(match(a, unique(a)), match(b, unique(b)))
  parts <- graph_edges(c(1, 2, 4, 5), c(2, 3, 5, 6), n = 7)
  for (graph in list(graph_chain(15), graph_grid(c(4, 5)), parts)) {
    x <- matrix(rnorm(6 * graph$n), 6)
    for (count in c(graph$n, 7, 3, 1)) {
      cluster <- paper$graph_clusters(x, graph, count)
      same_sets(cluster, slow_clusters(x, graph, count))
      # One for each component of the graph at least: the last graph has three.
      expect_equal(max(cluster), max(count, if (graph$n == 7) 3 else 1))
    }
  }
})

test_that("a member of the ensemble is a support vector machine of its clusters' means", {
  skip_if_not_installed("e1071")
  paper <- paper_scripts()
  withr::local_seed(2)
  data <- paper_data(40)
  used <- paper$draw_rows(data$y)
  expect_identical(as.integer(table(data$y[!used])), c(2L, 2L))
  settings <- data.frame(cost = c(1, 10, 1, 10), share = c(0.1, 0.1, 0.25, 0.25))
  member <- paper$ensemble_member(data$x, data$y, data$graph, used, settings)
  for (k in 1:4) {
    count <- ceiling(settings$share[k] * ncol(data$x))
    cluster <- paper$graph_clusters(data$x[used, ], data$graph, count)
    means <- vapply(seq_len(max(cluster)), function(at) {
      rowMeans(data$x[, cluster == at, drop = FALSE])
    }, numeric(nrow(data$x)))
    p <- apply(means[used, ], 2, function(column) {
      t.test(column ~ data$y[used], var.equal = TRUE)$p.value
    })
    kept <- order(p)[seq_len(ceiling(ncol(means) / 5))]
    part <- means[used, kept]
    cost <- settings$cost[k] / mean(rowSums(scale(part, scale = FALSE)^2))
    direct <- e1071::svm(part, data$y[used], kernel = "linear", cost = cost, scale = FALSE)
    values <- attr(predict(direct, means[, kept], decision.values = TRUE), "decision.values")
    side <- if (startsWith(colnames(values), levels(data$y)[2])) 1 else -1
    link <- drop(data$x %*% member$beta[, k]) + member$a0[k]
    expect_equal(link, side * drop(values), tolerance = 1e-3, ignore_attr = TRUE)
    positive <- data$y[!used] == levels(data$y)[2]
    pairs <- outer(link[!used][positive], link[!used][!positive], ">")
    expect_equal(member$auc[k], mean(pairs))
  }
})

test_that("the ensemble is the mean of its members at the settings that they choose together", {
  skip_if_not_installed("e1071")
  paper <- paper_scripts()
  withr::local_seed(3)
  data <- paper_data(40)
  set.seed(5)
  fit <- paper$fit_ensemble(data$x, data$y, data$graph, data.frame(runs = 4))
  set.seed(5)
  members <- lapply(1:4, function(k) {
    paper$ensemble_member(data$x, data$y, data$graph, paper$draw_rows(data$y))
  })
  best <- which.max(rowMeans(sapply(members, `[[`, "auc")))
  expect_equal(fit$beta[, 1], rowMeans(sapply(members, function(member) member$beta[, best])))
  expect_equal(fit$a0, mean(sapply(members, function(member) member$a0[best])))
})

# ---- image treatments ----------------------------------------------------------------------------

test_that("removed effects are residuals of lm() in the training rows", {
  paper <- paper_scripts()
  withr::local_seed(4)
  data <- comparison_data(60)
  train <- data$foldid != 1
  value <- data$x[, 7]
  for (variables in list(c("sex", "site"), c("sex", "site", "global"))) {
    x <- paper$treated_images(data, list(covariates = reformulate(variables)), train)
    direct <- lm(value ~ ., cbind(value = value, data$data[variables])[train, ])
    expected <- value - predict(direct, data$data) + mean(value[train])
    expect_equal(x[, 7], expected, ignore_attr = TRUE)
  }
})

test_that("ComBat solves its own equations, and is that of sva", {
  paper <- paper_scripts()
  withr::local_seed(5)
  data <- comparison_data(80)
  z <- matrix(rnorm(20 * 50, 0.3, 1.2), 20)
  effect <- paper$site_effect(z)
  # Posterior means given the other, by numerical integration for one feature.
  prior_variance <- var(colMeans(z))
  v <- apply(z, 2, var)
  a <- 2 + mean(v)^2 / var(v)
  b <- mean(v) * (a - 1)
  posterior <- function(theta) {
    exp(colSums(dnorm(outer(z[, 3], theta, "-"), 0, sqrt(effect$scale[3]), log = TRUE)) +
          dnorm(theta, mean(colMeans(z)), sqrt(prior_variance), log = TRUE) + 30)
  }
  mass <- integrate(posterior, -5, 5, rel.tol = 1e-10)$value
  mean <- integrate(function(t) t * posterior(t), -5, 5, rel.tol = 1e-10)$value / mass
  expect_equal(effect$location[3], mean, tolerance = 1e-6)
  expect_equal(effect$scale[3], tolerance = 1e-8,
               (sum((z[, 3] - effect$location[3])^2) / 2 + b) / (nrow(z) / 2 + a - 1))
  # The same as sva's; feature 3 of these data is constant at a site, which is a case of its own.
  stored <- utils::read.csv(test_path("fixtures", "combat.csv"))
  of_sva <- function(kind) as.matrix(stored[grep(paste0("^", kind, "[.]"), names(stored))])[, -3]
  seen <- paper$combat(of_sva("x"), stored$site, as.matrix(stored[c("age", "sex")]), rep(TRUE, 30))
  expect_equal(seen, of_sva("kept"), tolerance = 1e-6, ignore_attr = TRUE)
  kept <- paper$coded_variables(~ sex, data$data)
  ours <- paper$combat(data$x, data$data$site, kept, rep(TRUE, 80))
  # The same as in the core of n2gfl().
  fit <- function(x, ...) {
    n2gfl(x, data$y, family = "binomial", lambda2 = 0, lambda1 = c(0.05, 0.03), thresh = 1e-9, ...)
  }
  own <- fit(data$x, data = data$data, harmonize = ~ site, preserve = ~ sex)
  expect_equal(own$beta, fit(ours)$beta, tolerance = 1e-4)
  expect_gt(sum(own$beta != 0), 0)
  expect_lte(max(own$grid$gap), 1e-9)
})

test_that("rows held out have no influence on how others are treated", {
  paper <- paper_scripts()
  withr::local_seed(6)
  data <- comparison_data(60)
  train <- data$foldid != 2
  held <- which(!train)
  changed <- data
  changed$x[held[1], ] <- 5 * rev(data$x[held[1], ])
  changed$data$sex[held[1]] <- setdiff(data$data$sex, data$data$sex[held[1]])[1]
  changed$data$global <- rowMeans(changed$x)
  for (treatment in paper$image_treatments) {
    before <- paper$treated_images(data, treatment, train)
    after <- paper$treated_images(changed, treatment, train)
    expect_identical(after[-held[1], ], before[-held[1], ])
    expect_false(identical(after[held[1], ], before[held[1], ]))
    # A training row does have influence.
    everyone <- paper$treated_images(changed, treatment, rep(TRUE, 60))
    if (!identical(treatment$scale, "mean")) expect_false(identical(everyone[1, ], before[1, ]))
  }
})

# ---- whole procedures ----------------------------------------------------------------------------

test_that("all models have the same inner folds, those of cv.n2gfl()", {
  paper <- paper_scripts()
  withr::local_seed(7)
  data <- comparison_data(40, 4)
  set.seed(data$seed)
  ours <- paper$make_inner_folds(data$y, data$foldid, 4)
  set.seed(data$seed)
  theirs <- inner_folds(data$y, data$foldid, NULL, rep(TRUE, 40), 1)
  expect_identical(ours, lapply(theirs, drop))
})

test_that("no model of a fold knows the rows that the fold holds out", {
  skip_if_not_installed("e1071")
  skip_if_not_installed("glmnet")
  paper <- paper_scripts()
  withr::local_seed(8)
  data <- comparison_data(45, 3, c(8, 9))
  held <- which(data$foldid == 2)
  changed <- data
  changed$x[held, ] <- changed$x[rev(held), ] + rnorm(length(held))
  changed$data$global <- rowMeans(changed$x)
  # Other classes, but as many of each, so that the folds can be drawn again.
  changed$y[held] <- rev(data$y[held])
  models <- paper$compared_models()
  models$n2GFL <- paper$cv_model(lambda2 = c(0.01, 0.001), nlambda1 = 8)
  for (name in c("SVM", "LR", "FREM", "MLDA", "LapL", "lasso", "n2GFL")) {
    before <- models[[name]]$run(data, raw)
    after <- models[[name]]$run(changed, raw)
    for (choice in names(before)) {
      expect_identical(as.numeric(after[[choice]]$maps[, 2]),
                       as.numeric(before[[choice]]$maps[, 2]), info = name)
      expect_false(identical(after[[choice]]$link, before[[choice]]$link))
    }
  }
})

test_that("cv.n2gfl() gets every treatment, and scaled images are divided by their means", {
  paper <- paper_scripts()
  withr::local_seed(13)
  data <- comparison_data(60, 3, c(8, 9))
  model <- paper$cv_model(lambda2 = 0, nlambda1 = 8)
  results <- lapply(paper$image_treatments, function(treatment) model$run(data, treatment))
  for (result in results) expect_true(all(is.finite(result$min$link)))
  divided <- data
  divided$x <- data$x / rowMeans(data$x)
  expect_equal(results$scaled$min$link, model$run(divided, raw)$min$link, tolerance = 1e-4)
  set.seed(data$seed)
  with_mean <- suppressWarnings(cv.n2gfl(
    data$x, data$y, data$graph, family = "binomial", nested = TRUE, lambda2 = 0, nlambda1 = 8,
    foldid = data$foldid, covariates = model.matrix(~ sex + site + global, data$data)[, -1]))
  expect_equal(results$global$min$link, with_mean$nested$link[, "min"])
})

test_that("the tuned row of a dense model is that of a plain cross-validation", {
  skip_if_not_installed("glmnet")
  paper <- paper_scripts()
  withr::local_seed(9)
  data <- comparison_data(45, 3, c(8, 9))
  result <- paper$compared_models()$LR$run(data, raw)$chosen
  set.seed(data$seed)
  inner <- paper$make_inner_folds(data$y, data$foldid, 3)
  train <- data$foldid != 1
  part <- list(x = data$x[train, ], data = data$data[train, ], y = data$y[train])
  fold <- inner[[1]][train]
  grid <- paper$fit_ridge(paper$treated_images(data, raw, train)[train, ], part$y)$grid
  loss <- matrix(NA, sum(train), nrow(grid))
  for (j in 1:3) {
    x <- paper$treated_images(part, raw, fold != j)
    fit <- paper$fit_ridge(x[fold != j, ], part$y[fold != j], NULL, grid)
    eta <- sweep(x[fold == j, ] %*% fit$beta, 2, fit$a0, "+")
    positive <- part$y[fold == j] == levels(part$y)[2]
    loss[fold == j, ] <- -log(abs(plogis(eta) - !positive))
  }
  x <- paper$treated_images(data, raw, train)
  fit <- paper$fit_ridge(x[train, ], part$y, NULL, grid)
  row <- which.min(colMeans(loss))
  expect_equal(result$maps[, 1], unname(fit$beta[, row]))
  expect_equal(result$link[!train], drop(x[!train, ] %*% fit$beta[, row]) + fit$a0[row],
               ignore_attr = TRUE)
})

# ---- measures and tables -------------------------------------------------------------------------

test_that("the measures of n2GFL are those of assess() and stability()", {
  paper <- paper_scripts()
  withr::local_seed(10)
  data <- comparison_data(60, 4)
  model <- paper$cv_model(lambda2 = c(0.01, 0.001), nlambda1 = 10)
  rows <- paper$comparison_cell(data, raw, model)
  set.seed(data$seed)
  cv <- suppressWarnings(cv.n2gfl(
    data$x, data$y, data$graph, family = "binomial", covariates = ~ sex + site, data = data$data,
    foldid = data$foldid, lambda2 = c(0.01, 0.001), nlambda1 = 10, nested = TRUE))
  expect_lte(max(cv$grid$gap), 1e-6)
  for (choice in c("stable", "min")) {
    row <- rows[rows$choice == choice, ]
    s <- paste0("lambda.", choice)
    scores <- assess(cv, s = s)$measures
    value <- function(name) scores$estimate[scores$measure == name]
    expect_equal(c(row$accuracy, row$auc), c(value("accuracy"), value("auc")))
    stable <- stability(cv, s = s, nested = TRUE)
    expect_equal(c(row$mdc, row$nogueira, row$nogueira_lower, row$dice_dilated),
                 c(stable$mdc, stable$nogueira, stable$nogueira.lower, stable$dice.dilated))
    maps <- as.matrix(cv$nested$maps[[choice]])
    size <- colSums(maps != 0)
    expect_equal(unlist(row[c("voxels", "least", "most")], use.names = FALSE),
                 c(median(size), min(size), max(size)))
    hits <- apply(maps != 0, 2, function(on) sum(on & data$truth))
    expect_equal(row$sensitivity, median(hits) / sum(data$truth))
    expect_equal(row$precision, median((hits / size)[size > 0]))
    x <- apply(data$x, 2, function(column) resid(lm(column ~ sex + site, data$data)))
    expect_equal(row$es_fit, ES(maps, x, normalize = "fit", center = TRUE), ignore_attr = TRUE)
  }
})

test_that("empty maps are counted, and a model without zeros has no measures of selection", {
  paper <- paper_scripts()
  withr::local_seed(11)
  data <- comparison_data(20, 4)
  maps <- matrix(0, ncol(data$x), 4)
  maps[which(data$truth)[1:2], 1:2] <- 1
  result <- list(link = ifelse(data$y == levels(data$y)[2], 1, -1), maps = maps)
  row <- paper$measure_procedure(result, data, data$x, TRUE)
  expect_equal(unlist(row[c("accuracy", "auc", "voxels", "least", "most", "precision", "mdc")]),
               c(1, 1, 1, 0, 2, 1, 0), ignore_attr = TRUE)
  maps[] <- 0
  row <- paper$measure_procedure(list(link = result$link, maps = maps), data, data$x, TRUE)
  expect_equal(c(row$most, row$sensitivity), c(0, 0))
  expect_true(is.na(row$precision) && is.na(row$mdc) && is.na(row$nogueira))
  dense <- paper$measure_procedure(list(link = result$link, maps = maps + rnorm(length(maps))),
                                   data, data$x, FALSE)
  expect_true(all(is.na(dense[c("voxels", "mdc", "nogueira", "precision")])))
  expect_true(is.finite(dense$es_fit) && is.finite(dense$mdc_top50))
})

test_that("finished cells are kept, failures are named, and the table is their summary", {
  paper <- paper_scripts()
  withr::local_seed(12)
  data <- comparison_data(20, 4)
  paper$comparison_cohort <- function(task, cohort, set) c(data, number = cohort)
  count <- 0
  fake <- function(right) {
    list(selects = TRUE, run = function(cohort, treatment) {
      count <<- count + 1
      if (right < 0) stop("no answer")
      wrong <- seq_len(20) > right + cohort$number
      link <- ifelse(xor(data$y == levels(data$y)[2], wrong), 1, -1)
      maps <- diag(ncol(data$x))[, 1:4]
      lapply(c(stable = 1, min = 2), function(k) list(link = link, maps = maps))
    })
  }
  models <- list(lasso = fake(10), n2GFL = fake(14))
  folder <- withr::local_tempdir()
  set <- paper$comparison_settings(2, n = c(10, 10), tasks = "PET AD",
                                   treatments = c("raw", "scaled"))
  run <- function(models) suppressMessages(paper$run_comparison(folder, set, models, cores = 1))
  expect_error(run(list(lasso = fake(10), GFL = fake(-1))), "GFL.csv: no answer", fixed = TRUE)
  expect_equal(count, 4)  # the first cohort has both treatments of both models
  cells <- run(models)
  expect_equal(count, 10)
  expect_identical(basename(cells), "8mm-10folds-n10and10")
  run(models)
  expect_equal(count, 10)
  table <- paper$comparison_table(paper$read_comparison(cells))
  expect_identical(table$model, rep(c("lasso", "n2GFL"), each = 2, times = 2))
  expect_identical(table$choice, rep(c("stable", "min"), 4))
  expect_equal(table$accuracy[1:4], c(11.5, 11.5, 15.5, 15.5) / 20)
  expect_equal(table$gain[1:4], c(-0.2, -0.2, 0, 0))
  expect_equal(table$cohorts, rep(2, 8))
  tables <- paper$comparison_tables(folder, set)
  about <- setNames(tables$comparison_settings$value, tables$comparison_settings$setting)
  expect_identical(about[["cohorts a task"]], "2")
  text <- paper$procedure_sections(tables$comparison, tables$comparison_settings)
  expect_true(any(grepl("| raw | lasso, min | 57.5 | -20.0 |", text, fixed = TRUE)))
  expect_true(any(grepl("| PET AD | scaled | 57.5 | 57.5 | 77.5 | 77.5 |", text, fixed = TRUE)))
  expect_null(paper$comparison_tables(tempfile(), set))
})
