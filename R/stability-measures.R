# The stability measures, and what a measure is.
#
# Everything that differs between measures stands in its entry here: stability(), its print() and
# plot() and compare_stability() ask for no measure by its name, except for `main_measure`. A new
# measure is a new entry.

# A measure. Its columns in the table of stability() are those of `titles`, then `more`, then
# `interval`.
#
# - titles: the columns with values, each with its title in pictures
# - compute: a function of measure_data(). It returns measured(values, reason) with one value for
#   each column; the reason says in a few words why a value is NA
# - larger: is larger better?
# - scale: "unit" for values between -1 and 1, which can be drawn side by side; "log" for positive
#   values over orders of magnitude; "plain" for others
# - needs: which of `prepared_data` it uses
# - usual: those of its columns that print() and plot() show when there are many
# - more: columns that are not drawn, such as a standard error
# - interval: two columns, the limits of an interval for the first one
# - influence: NULL, or a function of measure_data() for compare_stability(), which returns
#   list(estimate, influence): one influence value per run, their mean 0, whose squares estimate the
#   variance, see influence_error()
# - whose: whose measure and whose test compare_stability() says that it is
new_measure <- function(titles, compute, larger = TRUE, scale = "unit", needs = character(0),
                        usual = character(0), more = character(0), interval = character(0),
                        influence = NULL, whose = NULL) {
  list(titles = titles, compute = compute, larger = larger, scale = scale, needs = needs,
       usual = usual, more = more, interval = interval, influence = influence, whose = whose,
       columns = c(names(titles), more, interval))
}

# The mean over all pairs of runs of value(a, b, r, p): two sets of a and b features have r in
# common, out of p.
pair_measure <- function(titles, value, reason, usual = character(0)) {
  new_measure(titles, function(data) mean_of_pairs(data$counts, value, reason), needs = "counts",
              usual = usual)
}

# The registry: each measure by the name that users choose it by.
stability_measures <- function() {
  list(
    es = new_measure(
      c(es.coef = "ES (coefficients)", es.fit = "ES (fit, centred)"), es_of_data,
      larger = FALSE, scale = "log", usual = "es.fit"
    ),
    mdc = new_measure(c(mdc = "mDC"), function(data) mdc_measured(data$runs), usual = "mdc"),
    dice = pair_measure(
      c(dice = "Dice"), function(a, b, r, p) 2 * r / (a + b), "two sets are both empty",
      usual = "dice"
    ),
    jaccard = pair_measure(
      c(jaccard = "Jaccard"), function(a, b, r, p) r / (a + b - r), "two sets are both empty"
    ),
    ochiai = pair_measure(
      c(ochiai = "Ochiai"), function(a, b, r, p) r / sqrt(a * b), "a set is empty"
    ),
    kuncheva = pair_measure(
      c(kuncheva = "Kuncheva"),
      function(a, b, r, p) ifelse(a == b, (r * p - a^2) / (a * (p - a)), NA_real_),
      "the sets differ in size, or are empty or full"
    ),
    lustgarten = pair_measure(
      c(lustgarten = "Lustgarten"),
      function(a, b, r, p) (r - a * b / p) / (pmin(a, b) - pmax(0, a + b - p)),
      "a set is empty or full"
    ),
    kappa = pair_measure(
      c(kappa = "Cohen's kappa"),
      function(a, b, r, p) {
        expected <- (a * b + (p - a) * (p - b)) / p^2
        ((p - a - b + 2 * r) / p - expected) / (1 - expected)
      },
      "two sets are both empty or both full"
    ),
    phi = pair_measure(
      c(phi = "Phi"),
      function(a, b, r, p) (r * p - a * b) / (sqrt(a * b) * sqrt((p - a) * (p - b))),
      "a set is empty or full"
    ),
    nogueira = new_measure(
      c(nogueira = "Nogueira"), function(data) nogueira_measured(data$counts, data$level),
      needs = "counts", usual = "nogueira", more = "nogueira.se",
      interval = c("nogueira.lower", "nogueira.upper"),
      influence = function(data) nogueira_of_sets(data$counts), whose = "Nogueira's"
    ),
    correlation = new_measure(
      c(correlation = "Correlation"), function(data) correlation_of_runs(data$runs)
    ),
    dilated = new_measure(
      c(dice.dilated = "Dice, dilated", dice.near = "Dice, one step forgiven"),
      function(data) dilated_measures(data$counts, data$neighbourhood),
      needs = c("counts", "neighbourhood"), usual = "dice.near"
    ),
    distance = new_measure(
      c(centre.distance = "Distance of centres"),
      function(data) centre_distance(data$runs, data$graph, data$coords),
      larger = FALSE, scale = "plain", needs = "coords"
    )
  )
}

# The measure of pictures that have room for one, and of compare_stability().
main_measure <- "nogueira"

# The measures that a user asks for, by name.
check_measures <- function(measures) {
  all <- stability_measures()
  if (identical(measures, "all")) return(all)
  known <- is.character(measures) & measures %in% names(all)
  if (!length(measures) || !all(known)) {
    stop_bad("`measures` must be \"all\" or some of ", quoted(names(all)), ", not ",
             describe(if (length(measures)) measures[!known][1] else measures), ".")
  }
  all[unique(measures)]
}

# ---- what measures are computed from -------------------------------------------------------------

# What takes time is prepared only if a measure needs it: `counts` for each row, the others once.
prepared_data <- c("counts", "neighbourhood", "coords")

# What is the same for all rows of the grid.
shared_data <- function(source, measures, x, level) {
  needs <- unlist(lapply(measures, `[[`, "needs"))
  neighbourhood <- if ("neighbourhood" %in% needs && !is.null(source$graph)) {
    neighbourhood_matrix(source$graph)
  }
  list(x = x, graph = source$graph, level = level, counted = "counts" %in% needs,
       neighbourhood = neighbourhood,
       coords = if ("coords" %in% needs) node_coords(source$graph, source$space))
}

# What a measure gets: `runs` of one row and what is known of their features. `counts` is from
# set_counts(), `es` the ES that was stored with the runs; x, graph, neighbourhood, coords and es
# are NULL where they are not known.
measure_data <- function(source, row, shared) {
  runs <- source$runs(row)
  c(list(runs = runs, counts = if (shared$counted) set_counts(runs),
         es = if (!is.null(source$es)) unname(source$es[row, ])), shared)
}

# ---- columns of the table ------------------------------------------------------------------------

# The columns that are in a table: all of them, or those with values, without intervals and errors.
measure_columns <- function(x) {
  intersect(unlist(lapply(stability_measures(), `[[`, "columns")), names(x))
}

value_columns <- function(x) {
  intersect(unlist(lapply(stability_measures(), function(measure) names(measure$titles))), names(x))
}

# The columns to show when there are many; `interval`: with the limits of their intervals?
usual_columns <- function(interval = FALSE) {
  unlist(lapply(stability_measures(), function(measure) {
    c(measure$usual, if (interval && length(measure$usual)) measure$interval)
  }), use.names = FALSE)
}

# The measure that makes a column, NULL for other columns.
measure_of_column <- function(name) {
  Find(function(measure) name %in% measure$columns, stability_measures())
}

column_title <- function(name) measure_of_column(name)$titles[[name]]

has_larger_better <- function(name) measure_of_column(name)$larger

# The limits of a column's interval: list(lower, upper), empty if it has none.
column_interval <- function(x, name) {
  measure <- measure_of_column(name)
  if (!length(measure$interval) || name != measure$columns[1]) return(list())
  list(lower = x[[measure$interval[1]]], upper = x[[measure$interval[2]]])
}
