# A path on an x that takes 60 percent of the memory that the system allows; less memory, until it
# fails with a clear error; and 200 fits in a row that leak no memory.
source(file.path("tests", "torture", "common.R"))

# In a session of its own, which may have `room` times the size of x beyond what R itself takes.
path_within <- function(room) {
  code <- '
    suppressPackageStartupMessages(library(n2gfl))
    field <- function(name) {
      line <- grep(name, readLines("/proc/self/status"), value = TRUE)
      as.numeric(gsub("[^0-9]", "", line))
    }
    graph <- graph_grid(c(256, 256))
    invisible(gc())
    limit <- field("^VmSize") + ROOM * 400 * 65536 * 8 / 1024
    system(sprintf("prlimit --pid %d --as=%.0f", Sys.getpid(), limit * 1024))
    set.seed(1)
    x <- rnorm(400 * 65536)
    dim(x) <- c(400, 65536)
    y <- rowSums(x[, 1:30]) + rnorm(400)
    said <- tryCatch({
      fit <- n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2, lambda.min.ratio = 0.3)
      if (all(fit$grid$converged)) "fitted" else "not converged"
    }, error = conditionMessage)
    cat(said)'
  script <- tempfile(fileext = ".R")
  writeLines(sub("ROOM", room, code), script)
  paste(suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), script, stdout = TRUE,
                                 stderr = TRUE)), collapse = " ")
}
rooms <- c(1 / 0.6, 1.4, 1.2, 1.1, 1.05, 1.02)
said <- vapply(rooms, path_within, "")
clear <- grepl("^(fitted|There is not enough memory for|cannot allocate vector)", said)
for (k in which(said != "fitted")) cat("  ", rooms[k], said[k], "\n")
report("little memory", sum(!clear) + (said[1] != "fitted"),
       "x takes 60 percent: %s; %d of %d smaller rooms fitted, the others said so", said[1],
       sum(said[-1] == "fitted"), length(said) - 1)

set.seed(seed)
x <- matrix(rnorm(60 * 400), 60)
y <- rowSums(x[, 1:20]) + rnorm(60)
graph <- graph_grid(c(20, 20))
started <- Sys.time()
resident <- vapply(1:220, function(k) {
  n2gfl(x, y, graph, nlambda1 = 10, nlambda2 = 2)
  gc()
  megabytes("VmRSS")
}, 1)
growth <- resident[220] - resident[20]
report("200 fits in a row", growth > 2, "%+.2f MB", growth)
finish()
