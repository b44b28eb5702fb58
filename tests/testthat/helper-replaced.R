# Replaces one of the package's functions for one test.
local_replaced <- function(name, value, env = parent.frame()) {
  real <- get(name, asNamespace("n2gfl"))
  utils::assignInNamespace(name, value, "n2gfl")
  withr::defer(utils::assignInNamespace(name, real, "n2gfl"), envir = env)
}
