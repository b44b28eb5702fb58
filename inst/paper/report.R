# The tables as markdown and CSV.

as_markdown <- function(table) {
  cells <- rbind(names(table), rep("---", ncol(table)), as.matrix(format_cells(table)))
  paste0("| ", apply(cells, 1, paste, collapse = " | "), " |")
}

format_cells <- function(table) {
  as.data.frame(lapply(table, function(column) {
    if (!is.numeric(column)) return(ifelse(is.na(column), "", as.character(column)))
    ifelse(is.na(column), "", trimws(formatC(column, digits = 3, format = "g")))
  }), optional = TRUE)
}

# "91.2 +- 1.3", not to be broken; the mean alone when there are few cohorts.
with_half <- function(mean, half, digits) {
  text <- formatC(mean, digits = digits, format = "f")
  text <- ifelse(is.na(half), text,
                 paste0(text, "\u00a0\u00b1\u00a0", formatC(half, digits = digits, format = "f")))
  ifelse(is.na(mean), "", text)
}

# Table 1 as in the paper: one row per method, one column per d.
wide_table1 <- function(cells, paper = table1_paper) {
  sizes <- sort(unique(c(cells$d, paper$d)))
  row <- function(name, d, seconds) {
    text <- formatC(signif(seconds, 2), format = "fg")[match(sizes, d)]
    text[is.na(text) | text == "NA"] <- "*"
    # A cell that was not run, as in the small version, differs from one over the limit.
    text[!sizes %in% d & sizes > max(d) & !anyNA(seconds)] <- "-"
    exponent <- formatC(scaling_exponent(d, seconds), format = "f", digits = 1)
    data.frame(method = name, t(text), exponent = exponent)
  }
  ours <- lapply(unique(cells$method), function(method) {
    part <- cells[cells$method == method, ]
    # A run without an answer has no time.
    row(method, part$d, ifelse(is.na(part$objective), NA, part$seconds))
  })
  theirs <- list(row("paper: CVX", paper$d, paper$cvx), row("paper: theirs", paper$d, paper$theirs))
  table <- do.call(rbind, c(ours, theirs))
  names(table) <- c("seconds", paste("d =", format(sizes, big.mark = ",", trim = TRUE)),
                    "grows as d^")
  table
}

wide_table2 <- function(table, which = c("nested", "best")) {
  which <- match.arg(which)
  text <- with_half(table[[which]], table[[paste0(which, "_half")]], 1)
  wide <- tapply(text, list(table$task, table$model), identity)
  wide[is.na(wide)] <- ""
  data.frame(task = rownames(wide), wide, row.names = NULL, check.names = FALSE)
}

wide_p <- function(table) {
  table <- table[table$model != "n2GFL", ]
  p <- ifelse(table$p < 0.001, "<.001", sub("^0", "", sprintf("%.3f", table$p)))
  text <- paste0(table$better, " : ", table$worse, " (", p, ")")
  wide <- tapply(text, list(table$task, droplevels(table$model)), identity)
  data.frame(task = rownames(wide), wide, row.names = NULL, check.names = FALSE)
}

long_table3 <- function(table, at) {
  table <- table[table$at == at, ]
  columns <- c("voxels", "es_coef", "es_fit", "mdc", "nogueira", "mdc_top50", "sensitivity",
               "precision")
  digits <- c(0, 1, 3, 2, 2, 2, 2, 2)
  shown <- Map(function(name, digits) {
    # ".78": the table is wide
    gsub("\\b0\\.", ".", with_half(table[[name]], table[[paste0(name, "_half")]], digits))
  }, columns, digits)
  shown <- data.frame(task = table$task, model = table$model, shown)
  names(shown) <- c("task", "model", "voxels", "ES", "ES by fit", "mDC", "Nogueira", "mDC top 50",
                    "sensitivity", "precision")
  shown[, colSums(shown != "") > 0]
}

# Writes all results in the folder to paper.md and to CSV files.
write_report <- function(folder, set) {
  cells <- collect_table1(file.path(folder, "cells"))
  results <- read_cohorts(file.path(folder, "cohorts"))
  accuracy <- table2(results)
  stability <- table3(results)
  checks <- utils::read.csv(file.path(folder, "checks.csv"))
  settings <- data.frame(setting = c("cohorts a task", "limit a cell of Table 1 in s", "date"),
                         value = c(paste(unique(range(accuracy$cohorts)), collapse = " to "),
                                   set$limit, format(Sys.Date())))
  write_tables(folder, list(table1 = cells, table2 = accuracy, table3 = stability,
                            settings = settings))
  writeLines(c(
    "# The paper, reproduced", "", as_markdown(settings),
    section("Table 1: seconds (* = over the limit)", wide_table1(cells)),
    section("Table 1: gap to one lower bound, own gap, MB of the process",
            cells[c("method", "d", "gap", "own_gap", "peak")]),
    comparison_sections(accuracy, stability),
    write_comparison(folder, set$comparison),
    section("Propositions, dual, errata", checks),
    "", paste0("![](", c("figure1", "figure2", "figure3", "proposition1"), ".png)")
  ), file.path(folder, "paper.md"))
}

write_tables <- function(folder, tables) {
  for (name in names(tables)) {
    utils::write.csv(tables[[name]], file.path(folder, paste0(name, ".csv")), row.names = FALSE)
  }
}

section <- function(title, table) c("", paste("##", title), "", as_markdown(table))

comparison_sections <- function(accuracy, stability) {
  c(section("Table 2: nested accuracy in %", wide_table2(accuracy, "nested")),
    section("Table 2: best accuracy on the grid in %, the paper's way",
            wide_table2(accuracy, "best")),
    section("Subjects that only n2GFL has right : that only the other has right (McNemar)",
            wide_p(accuracy)),
    section("Table 3: stability at the most accurate parameters",
            long_table3(stability, "accurate")),
    section("Table 3: stability at matched sparsity", long_table3(stability, "matched")))
}

# ---- whole procedures ----------------------------------------------------------------------------

# The tables of compare.R from the cells that there are, or NULL without any.
comparison_tables <- function(folder, set) {
  cells <- read_comparison(file.path(folder, settings_name(set)))
  if (is.null(cells)) return(NULL)
  list(comparison = comparison_table(cells), comparison_settings = comparison_about(cells, set))
}

# Writes them, and returns the sections of the report. All cells that there are count, also those of
# a run that was stopped.
write_comparison <- function(folder, set) {
  tables <- comparison_tables(file.path(folder, "comparison"), set)
  if (is.null(tables)) return(NULL)
  write_tables(folder, tables)
  procedure_sections(tables$comparison, tables$comparison_settings)
}

procedure_sections <- function(table, about) {
  tasks <- unique(table$task)
  c("", "## Whole procedures on the MNI cohorts", "", as_markdown(about),
    section("Whole procedures: nested accuracy in %", wide_procedures(table)),
    unlist(lapply(tasks, function(task) {
      section(paste("Whole procedures:", task), long_procedures(table[table$task == task, ]))
    })))
}

# "n2GFL", or "n2GFL, min" where lambda.min was taken instead of lambda.stable.
procedure_name <- function(table) {
  paste0(table$model, ifelse(table$choice == "min", ", min", ""))
}

# Accuracy: one row per task and treatment, one column per model.
wide_procedures <- function(table) {
  rows <- unique(table[c("task", "treatment")])
  models <- unique(procedure_name(table))
  text <- with_half(100 * table$accuracy, 100 * table$accuracy_half, 1)
  key <- paste(table$task, table$treatment)
  columns <- lapply(models, function(model) {
    here <- procedure_name(table) == model
    found <- text[here][match(paste(rows$task, rows$treatment), key[here])]
    ifelse(is.na(found), "", found)
  })
  names(columns) <- models
  data.frame(task = rows$task, images = rows$treatment, columns, row.names = NULL,
             check.names = FALSE)
}

# All measures of one task. `gain`: percentage points of accuracy above n2GFL with lambda.stable.
long_procedures <- function(table) {
  short <- function(text) gsub("\\b0\\.", ".", text)
  cell <- function(name, digits, times = 1) {
    short(with_half(times * table[[name]], times * table[[paste0(name, "_half")]], digits))
  }
  range <- paste0(round(table$voxels), " (", table$least, "-", table$most, ")")
  interval <- paste0(cell("nogueira", 2), " [", short(sprintf("%.2f", table$nogueira_lower)), ", ",
                     short(sprintf("%.2f", table$nogueira_upper)), "]")
  none <- is.na(table$voxels)
  data.frame(images = table$treatment, model = procedure_name(table),
             accuracy = cell("accuracy", 1, 100), gain = cell("gain", 1, 100),
             AUC = cell("auc", 3), voxels = ifelse(none, "", range), mDC = cell("mdc", 2),
             Nogueira = ifelse(is.na(table$nogueira), "", interval),
             `Dice, dilated` = cell("dice_dilated", 2), `ES by fit` = cell("es_fit", 3),
             `mDC top 50` = cell("mdc_top50", 2), sensitivity = cell("sensitivity", 2),
             precision = cell("precision", 2), check.names = FALSE)
}
