# The core's own ways to denoise exactly: with the fast start (sweeps, a guess, a proof), and by
# cuts alone.
#
#   Rscript bench/tv_variants.R          all problems
#   Rscript bench/tv_variants.R 64^3     those whose name contains "64^3"
#
# bench/tv_variants.cpp runs them over the core, without R; `make out/bench/tv_variants` compiles
# it. The times are of the processor, medians of three runs.
source("bench/helpers.R")

problem <- function(side, dimensions, lambda) {
  list(side = if (small) side %/% 4 else side, dimensions = dimensions, lambda = lambda)
}

problems <- list(
  "128 x 128, lambda 1" = problem(128, 2, 1),
  "512 x 512, lambda 1" = problem(512, 2, 1),
  "512 x 512, lambda 5" = problem(512, 2, 5),
  "32^3, lambda 1" = problem(32, 3, 1),
  "64^3, lambda 0.25" = problem(64, 3, 0.25),
  "64^3, lambda 1" = problem(64, 3, 1)
)
variants <- c("fast start" = 500, "cuts alone" = .Machine$integer.max)

run_variant <- function(p, large) {
  runs <- replicate(3, system2("out/bench/tv_variants",
                               c(p$side, p$dimensions, p$lambda, format(large)), stdout = TRUE))
  table <- utils::read.table(text = runs, col.names = c("cpu", "gap"))
  list(cpu = stats::median(table$cpu), gap = max(table$gap))
}

print_problem <- function(name) {
  runs <- lapply(variants, run_variant, p = problems[[name]])
  for (variant in names(runs))
    print_row(name, variant, short(runs[[variant]]$cpu), gap_cell(runs[[variant]]$gap),
              ratio_cells(runs[[variant]], runs[["cuts alone"]])[1])
}

main <- function(part) {
  if (system2("make", c("-s", "out/bench/tv_variants")) != 0)
    stop("tv_variants.cpp does not compile")
  print_title("Total variation denoising: the core's variants",
              "Exact, all levels. Ratio: of the time of cuts alone.")
  print_machine()
  print_head("problem", "variant", "CPU s", "gap", "ratio")
  for (name in wanted(names(problems), part)) print_problem(name)
  print_worst_gap()
  keep_results("tv_variants", part)
}

start(main, stop)
