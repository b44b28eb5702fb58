# Workers of plan(multisession) killed at random moments: the error names a fold, what is finished
# stays, and the next call gives the object of an undisturbed run.
source(file.path("tests", "torture", "common.R"))

set.seed(seed)
x <- matrix(rnorm(60 * 400), 60)
y <- rowSums(x[, 1:20]) + rnorm(60)
graph <- graph_grid(c(20, 20))
cross <- function(checkpoint = NULL) {
  without_call(cv.n2gfl(x, y, graph, nlambda1 = 12, nlambda2 = 3, foldid = rep(1:6, 10),
                        checkpoint = checkpoint))
}
alone <- cross()

killed <- for_a_while(10, function(k) {
  future::plan("multisession", workers = 2)
  on.exit(future::plan("sequential"))
  cross()  # afterwards all workers have loaded the package
  time <- system.time(cross())[["elapsed"]]
  asked <- lapply(1:2, function(i) future::future(Sys.getpid()))
  worker <- vapply(asked, future::value, 1L)[1 + k %% 2]
  system(sprintf("sh -c 'sleep %.2f; kill -9 %d' &", runif(1, 0, time), worker))
  folder <- tempfile()
  said <- tryCatch(suppressWarnings({
    cross(folder)
    "finished before"
  }), error = conditionMessage)
  kept <- length(dir(folder, "^Fold"))
  future::plan("sequential")
  data.frame(said = said, kept = kept, same = identical(cross(folder), alone))
})
killed <- do.call(rbind, killed)
named <- grepl("^A worker ended without an answer[^;]* Fold [0-9][^;]*;", killed$said)
other <- !named & killed$said != "finished before"
if (any(other)) print(unique(killed$said[other]))
report("killed workers", sum(!killed$same) + sum(other),
       "%d runs, %d errors that name a fold, %d that do not, %d finished before, %d folds kept",
       nrow(killed), sum(named), sum(other),
       sum(killed$said == "finished before"), sum(killed$kept))
finish()
