# Shows the message of the error that `code` must raise, for snapshots. Only the message, because
# testthat shows whole errors differently in different versions.
refusal <- function(code) {
  message <- tryCatch({
    force(code)
    NULL
  }, error = conditionMessage)
  if (is.null(message)) stop("no error was raised")
  cat(message, "\n", sep = "")
}
