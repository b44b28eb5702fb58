# The results of a killed run are used if they are complete and belong to the same call, and only
# then.

round_trip <- function(value) {
  bytes <- encode_data(value)
  source <- rawConnection(bytes)
  on.exit(close(source))
  decode_data(source, length(bytes))
}

bits <- function(value) {
  rapply(list(value), function(v) if (is.double(v)) writeBin(as.vector(v), raw()) else v,
         how = "list")
}

test_that("special values are restored bit by bit", {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  values <- list(
    NULL, TRUE, NA, c(a = FALSE), logical(0), 1L, NA_integer_, integer(0), -.Machine$integer.max,
    pi, NA_real_, NaN, -0, 0, Inf, -Inf, 5e-324, .Machine$double.xmax, numeric(0),
    c(NA_real_, NaN, -0), "", NA_character_, character(0), c("a", NA, ""), "\u00fc\u4e2d\U1F600",
    c("NA", NA), c(b = "x", 2), "line\nbreak\ttab", list(), list(NULL), list(list(list())),
    list(a = 1, b = list(NULL, c(x = NA), "y")), list(1, a = NULL), matrix(0, 0, 3),
    matrix(1:6, 2, dimnames = list(NULL, c("a", "b", "c"))),
    matrix(c("a", NA), 1, dimnames = list(rows = "r", cols = c("x", "y"))),
    array(1:24, 2:4), array(list(1, "b"), c(1, 2)), stats::setNames(1:3, c("a", NA, ""))
  )
  for (value in values) {
    expect_identical(round_trip(value), value)
    expect_identical(bits(round_trip(value)), bits(value))
  }
  expect_identical(round_trip(latin1), enc2utf8(latin1))
  expect_identical(round_trip(list(values)), list(values))
})

test_that("sparse matrices are restored, empty ones too", {
  empty <- function(d, l) methods::new("dgCMatrix", p = integer(l + 1), Dim = c(d, l))
  some <- as(matrix(c(0, -0.5, 0, 2, 0, 0), 2, dimnames = list(NULL, c("s1", "s2", "s3"))),
             "CsparseMatrix")
  for (value in list(empty(0L, 0L), empty(5L, 0L), empty(0L, 3L), empty(4L, 4L), some)) {
    expect_identical(round_trip(value), value)
    expect_identical(round_trip(list(a = 1, beta = value)), list(a = 1, beta = value))
  }
})

test_that("objects that cannot be stored are refused, not changed", {
  for (value in list(sum, quote(a + b), globalenv(), 1i, raw(2))) {
    expect_error(encode_data(list(value)), "cannot store values of type")
  }
})

# ---- pieces -------------------------------------------------------------------------------------

small_store <- function(key = "some work", envir = parent.frame()) {
  open_checkpoint(withr::local_tempdir(.local_envir = envir), key)
}

test_that("a piece is read back, under its own name and key only", {
  store <- small_store()
  value <- list(a = c(1, NA), b = "x")
  expect_identical(write_piece(store, "Fold 1", value), value)
  expect_identical(read_piece(store, "Fold 1"), value)
  expect_null(read_piece(store, "Fold 2"))
  expect_null(read_piece(NULL, "Fold 1"))
  expect_null(read_piece(replace(store, "key", "other"), "Fold 1"))
  # a file that was renamed is rejected
  file.copy(piece_file(store, "Fold 1"), piece_file(store, "Fold 2"))
  expect_null(read_piece(store, "Fold 2"))
  expect_identical(dir(store$folder, pattern = "tmp"), character(0))
})

test_that("truncated, flipped and empty files are rejected without a message", {
  store <- small_store()
  write_piece(store, "Fold 1", list(x = 1:5, y = "text"))
  file <- piece_file(store, "Fold 1")
  bytes <- readBin(file, "raw", file.size(file))
  damaged <- c(
    lapply(0:(length(bytes) - 1), function(n) utils::head(bytes, n)),
    lapply(seq_along(bytes), function(k) replace(bytes, k, xor(bytes[k], as.raw(1)))),
    list(c(bytes, as.raw(0)), rev(bytes), as.raw(0:255), charToRaw("hello")))
  expect_silent(for (wrong in damaged) {
    writeBin(wrong, file)
    if (!is.null(read_piece(store, "Fold 1"))) stop("believed")
  })
  unlink(file)
  dir.create(file)
  expect_silent(expect_null(read_piece(store, "Fold 1")))
})

# A file with a right checksum, whatever is in it.
forge_piece <- function(store, name, body) {
  writeBin(c(body, charToRaw(hash_cpp(body))), piece_file(store, name))
}

test_that("impossible lengths and types do not cause an allocation", {
  store <- small_store()
  begin <- function(letter, n) c(charToRaw(letter), writeBin(as.double(n), raw()))
  inside <- encode_data(list(version = checkpoint_version, key = store$key, name = "Fold 1"))
  for (n in list(1e15, 1e300, -1, NaN, Inf)) for (letter in c("l", "i", "d", "c", "v", "0")) {
    forge_piece(store, "Fold 1", begin(letter, n))
    peak <- peak_memory(expect_silent(expect_null(read_piece(store, "Fold 1"))))
    expect_false(isTRUE(peak > 50e6))
  }
  for (body in list(raw(0), as.raw(7), charToRaw("x"), inside, begin("z", 0), begin("v", 9))) {
    forge_piece(store, "Fold 1", body)
    expect_silent(expect_null(read_piece(store, "Fold 1")))
  }
})

test_that("nothing that is read is evaluated: code in a file stays text", {
  store <- small_store()
  harm <- file.path(store$folder, "harm")
  code <- sprintf("file.create(%s)", deparse(harm))
  write_piece(store, "Fold 1", list(code, class = code, expression = code))
  expect_identical(read_piece(store, "Fold 1"), list(code, class = code, expression = code))
  # R's own formats, which can hold code, are not read at all
  saveRDS(structure(list(key = "some work"), class = "harmful"), piece_file(store, "Fold 1"))
  expect_null(read_piece(store, "Fold 1"))
  serialized <- serialize(list(version = checkpoint_version, key = store$key, name = "Fold 1",
                               value = 1), NULL)
  forge_piece(store, "Fold 1", serialized)
  expect_null(read_piece(store, "Fold 1"))
  expect_false(file.exists(harm))
})

test_that("an invalid matrix is rejected", {
  store <- small_store()
  whole <- methods::as(matrix(c(0, 1, 2, 0), 2), "CsparseMatrix")
  whole@i <- c(1L, 7L)
  write_piece(store, "Fold 1", list(beta = whole))
  expect_null(read_piece(store, "Fold 1"))
})

test_that("files that a killed run left unfinished are removed, but not those of a running one", {
  store <- small_store()
  files <- file.path(store$folder, paste0("Fold-1.piece-", 1:2, "-ab.tmp"))
  file.create(files)
  make_old(files[1])
  open_checkpoint(store$folder, "some work")
  expect_identical(file.exists(files), c(FALSE, TRUE))
})

test_that("a folder that cannot be written is refused before the work", {
  skip_on_os("windows")
  withr::local_seed(70)
  data <- cv_problem("gaussian")
  withr::local_dir(withr::local_tempdir())
  writeLines("a file", "taken")
  expect_error(quick_cv(data, checkpoint = "taken"), "must be a folder that can be written")
  expect_error(quick_cv(data, checkpoint = "/proc/none"), "must be a folder that can be written")
})

test_that("a disk that cannot be written is an error, not a silent loss", {
  store <- small_store()
  store$folder <- file.path(store$folder, "gone")
  expect_error(write_piece(store, "Fold 1", 1), "`checkpoint` must be a folder with room")
})

test_that("a stop in the middle of writing leaves the old piece and no other file", {
  store <- small_store()
  write_piece(store, "Fold 1", "old")
  before <- dir(store$folder)
  # an interrupt at the last moment before the new file gets its name
  local({
    interrupt <- quote(stop(structure(class = c("interrupt", "condition"),
                                      list(message = "", call = NULL))))
    suppressMessages(trace("file.rename", tracer = interrupt, where = baseenv(), print = FALSE))
    withr::defer(suppressMessages(untrace("file.rename", where = baseenv())))
    stopped <- tryCatch(write_piece(store, "Fold 1", "new"), interrupt = function(e) "stopped")
    expect_identical(stopped, "stopped")
  })
  expect_identical(read_piece(store, "Fold 1"), "old")
  expect_identical(dir(store$folder), before)
})

# ---- runs ---------------------------------------------------------------------------------------

pieces <- function(folder) dir(folder, pattern = "[.]piece$", full.names = TRUE)

test_that("with a checkpoint the object is the same, and a second call computes nothing", {
  withr::local_seed(71)
  data <- cv_problem("binomial")
  covariates <- matrix(rnorm(60), 60, dimnames = list(NULL, "\u00e2ge"))
  folder <- file.path(withr::local_tempdir(), "a", "b")
  run <- function(...) {
    set.seed(72)
    without_call(quick_cv(data, nested = TRUE, keep = TRUE, covariates = covariates, ...))
  }
  plain <- run()
  expect_identical(run(checkpoint = folder), plain)
  expect_setequal(basename(pieces(folder)),
                  c("key.piece", "folds.piece", "all-rows.piece", paste0("Fold-", 1:4, ".piece"),
                    paste0("Outer-fold-", 1:4, ".piece")))
  make_old(pieces(folder))
  expect_identical(run(checkpoint = folder), plain)
  expect_true(all(is_old(pieces(folder))))
})

test_that("damaged and missing pieces are computed again, and only those", {
  withr::local_seed(73)
  data <- cv_problem("gaussian")
  folder <- withr::local_tempdir()
  run <- function() without_call(quick_cv(data, checkpoint = folder))
  first <- run()
  file <- function(name) file.path(folder, paste0(name, ".piece"))
  whole <- readBin(file("Fold-1"), "raw", 1e6)
  damage <- list(
    function(f) writeBin(utils::head(whole, 100), f), function(f) writeBin(raw(0), f), unlink,
    function(f) writeBin(replace(whole, 200, xor(whole[200], as.raw(8))), f))
  for (k in 1:4) for (name in c("Fold-1", "Fold-3", "all-rows", "key")) {
    make_old(pieces(folder))
    if (name == "key" && k == 3) next  # below
    damage[[k]](file(name))
    expect_identical(run(), first)
    expect_identical(basename(pieces(folder))[!is_old(pieces(folder))], paste0(name, ".piece"))
  }
})

test_that("random folds are remembered", {
  withr::local_seed(74)
  data <- cv_problem("binomial")
  folder <- withr::local_tempdir()
  run <- function(seed) {
    set.seed(seed)
    without_call(quick_cv(data, foldid = NULL, nfolds = 4, nested = TRUE, checkpoint = folder))
  }
  first <- run(1)
  set.seed(1)
  expect_identical(first$foldid, make_folds(data$y, 4))
  expect_identical(run(2), first)
  unlink(file.path(folder, "Fold-2.piece"))
  expect_identical(run(3), first)
})

test_that("pieces of lost folds are not mixed with others", {
  withr::local_seed(75)
  data <- cv_problem("binomial")
  folder <- withr::local_tempdir()
  run <- function(seed, checkpoint = folder) {
    set.seed(seed)
    without_call(quick_cv(data, foldid = NULL, nfolds = 4, keep = TRUE, checkpoint = checkpoint))
  }
  run(1)
  writeBin(raw(10), file.path(folder, "folds.piece"))
  expect_identical(run(2), run(2, NULL))
})

test_that("two runs in one folder do not disturb each other", {
  # as if both began at once: each draws its own folds before it sees those of the other
  withr::local_seed(76)
  data <- cv_problem("gaussian")
  folder <- withr::local_tempdir()
  problem <- check_problem(fit_arguments(list(x = data$x, y = data$y, graph = data$graph,
                                              lambda1 = c(0.5, 0.1), lambda2 = 0.1)))
  runs <- lapply(1:2, function(k) {
    plan <- new_plan("folds", list(foldid = matrix(make_folds(data$y, 3)), inner = NULL))
    unlink(file.path(folder, "folds.piece"))
    resume_plan(plan, folder, "the same work")
  })
  expect_false(identical(runs[[1]]$plan, runs[[2]]$plan))
  how <- list(measure = "mse", rule = stable_rule())
  cross <- function(run, store) cross_validate(problem_at(problem), run$plan, how, store)
  alone <- lapply(runs, cross, store = NULL)
  expect_identical(cross(runs[[1]], runs[[1]]$store), alone[[1]])
  expect_identical(cross(runs[[2]], runs[[2]]$store), alone[[2]])
  expect_identical(cross(runs[[1]], runs[[1]]$store), alone[[1]])
})

test_that("a folder of other data or arguments is refused", {
  withr::local_seed(77)
  data <- cv_problem("binomial")
  colnames(data$x) <- paste0("v", 1:12)
  withr::local_dir(withr::local_tempdir())
  run <- function(data, ...) quick_cv(data, checkpoint = "kept", ...)
  first <- run(data)
  other <- list(
    list(replace(data, "y", list(1 - data$y))),
    list(replace(data, "x", list(replace(data$x, 1, 0)))),
    list(replace(data, "x", list(unname(data$x)))),
    list(replace(data, "graph", list(graph_edges(1:11, 2:12, rep(2, 11))))),
    list(data, lambda2 = c(0.1, 0.02)), list(data, nlambda1 = 5), list(data, sign = "free"),
    list(data, thresh = 1e-7), list(data, weights = 1:60), list(data, type.measure = "class"),
    list(data, rule = stable_rule(tolerance = 0.3)),
    list(data, foldid = rep(1:3, 20)), list(data, foldid = NULL, nfolds = 4),
    list(data, nested = TRUE), list(data, covariates = data$x[, 1] + rnorm(60)),
    list(data, group = rep(1:4, 15)))
  for (arguments in other) {
    expect_error(do.call(run, arguments), "holds work on other data or with other arguments")
  }
  expect_snapshot(refusal(run(data, sign = "free")))
  # the stored pieces are unchanged
  expect_identical(run(data, keep = TRUE)$cvm, first$cvm)
})

test_that("the key of identical data is the same, however R holds them, and makes no copy", {
  grown <- c()
  for (k in 1:200) grown[k] <- k + 0
  expect_identical(work_key(grown), work_key(as.double(1:200)))
  expect_identical(work_key(1:200), work_key(c(1:199, 200L)))
  x <- matrix(0, 1000, 5000)
  keep <- x
  rownames(x) <- 1:1000
  expect_false(isTRUE(peak_memory(work_key(x)) > 0.5 * 8 * length(x)))
})

test_that("with random folds, the key includes group and the numbers of folds and repeats", {
  withr::local_seed(78)
  data <- cv_problem("gaussian")
  folder <- withr::local_tempdir()
  run <- function(...) quick_cv(data, foldid = NULL, checkpoint = folder, ...)
  run(nfolds = 3, group = rep(1:20, 3))
  for (arguments in list(list(nfolds = 4, group = rep(1:20, 3)), list(nfolds = 3),
                         list(nfolds = 3, group = rep(1:20, each = 3)),
                         list(nfolds = 3, group = rep(1:20, 3), nrepeats = 2))) {
    expect_error(do.call(run, arguments), "holds work on other data")
  }
  expect_length(run(nfolds = 3, group = rep(1:20, 3))$fold.fits, 3)
})

test_that("pieces without a key are refused", {
  withr::local_seed(79)
  data <- cv_problem("gaussian")
  withr::local_dir(withr::local_tempdir())
  quick_cv(data, checkpoint = "kept")
  unlink(file.path("kept", "key.piece"))
  expect_snapshot(refusal(quick_cv(data, checkpoint = "kept")))
})

test_that("after a kill, the same call goes on and gives the object of an undisturbed run", {
  skip_on_os("windows")
  withr::local_seed(80)
  data <- cv_problem("gaussian")
  folder <- normalizePath(withr::local_tempdir())
  kept <- file.path(folder, "kept")
  call <- list(data$x, data$y, data$graph, nlambda1 = 4, lambda2 = c(0.1, 0.01), nfolds = 4,
               foldid = rep(1:4, 15), checkpoint = kept)
  pid <- start_endless(folder, call, where = "R")
  tools::pskill(pid, tools::SIGKILL)
  child_ended(folder)
  done <- pieces(kept)
  expect_setequal(basename(done), c("key.piece", "folds.piece", "all-rows.piece", "Fold-1.piece",
                                    "Fold-2.piece"))
  make_old(done)
  again <- do.call(cv.n2gfl, call)
  expect_true(all(is_old(done)))
  call$checkpoint <- NULL
  expect_identical(without_call(again), without_call(do.call(cv.n2gfl, call)))
})
