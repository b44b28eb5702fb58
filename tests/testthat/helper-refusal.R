# Shows the message of the error that `code` must raise, for snapshots. The message alone: how
# testthat shows an error as a whole differs between its versions.
refusal <- function(code) {
  message <- tryCatch({
    force(code)
    NULL
  }, error = conditionMessage)
  if (is.null(message)) stop("no error was raised")
  cat(message, "\n", sep = "")
}
