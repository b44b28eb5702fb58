# Peak memory of the process in bytes while `expr` runs, minus what it had before; NA if the system
# cannot tell. The address sanitizer (`make sanitize-r`) keeps freed memory for a while.
peak_memory <- function(expr) {
  reset <- tryCatch(
    suppressWarnings({
      cat("5", file = "/proc/self/clear_refs")
      TRUE
    }),
    error = function(e) FALSE
  )
  if (!reset || nzchar(Sys.getenv("N2GFL_SANITIZED"))) {
    force(expr)
    return(NA)
  }
  read <- function(field) {
    line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
    1024 * as.numeric(gsub("[^0-9]", "", line))
  }
  # R lets garbage grow to a share of what tests before this one needed; each call lowers that.
  for (k in 1:10) gc()
  before <- read("VmRSS")
  force(expr)
  read("VmHWM") - before
}
