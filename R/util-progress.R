# Progress of long work. One object counts the pieces of a call (rows of a grid, folds,
# images) and draws the count. Only the session that was called draws, never a worker.
#
# The first of these that applies shows the count:
# - progressr, if the user has switched it on (handlers(global = TRUE), or with_progress() around);
# - for `trace.it = 1` a bar of cli, from the first piece on, with the name of each;
# - a bar of cli with the time left, if the session is interactive: cli shows it when the work lasts
#   for 2 seconds;
# - none. The object is then NULL, which all functions here accept, and the work has no callbacks.

# `total` is the number of pieces, NA if only the work can say it (it then sets progress$total).
# `unit` is what the bar of `trace` calls a piece. `auto`: FALSE leaves the other bar out.
start_progress <- function(title, total = NA, trace = FALSE, unit = "", auto = TRUE) {
  draw <- if (!is_progressr_on()) {
    if (trace) trace_drawer(unit) else if (auto && is_interactive()) cli_drawer(title)
  }
  # progressr is told whenever it is loaded: other code may handle its conditions
  if (!is.null(draw) || isNamespaceLoaded("progressr")) new_progress(total, draw)
}

# `done` pieces are finished, `skipped` of them by an earlier run, and `inside` is how much of the
# running one is finished. `draw(progress, name)`, or NULL: `name` is NULL unless a piece has just
# finished.
new_progress <- function(total, draw) {
  progress <- new.env(parent = emptyenv())
  progress$total <- total
  progress$done <- progress$skipped <- progress$inside <- 0
  progress$start <- progress$moved <- seconds_now()
  progress$draw <- draw
  progress
}

# Some pieces were finished. `signal`: FALSE if progressr has been told already, by the worker.
tick <- function(progress, name, pieces = 1, signal = TRUE) {
  if (is.null(progress)) return(invisible())
  move_progress(progress, pieces)
  if (signal) tell_progressr(progress, name, pieces)
  draw_progress(progress, name)
}

# Pieces that were found in a checkpoint: they tell nothing about the time that the others take.
skip_pieces <- function(progress, pieces) {
  if (is.null(progress) || pieces == 0) return(invisible())
  move_progress(progress, pieces)
  progress$skipped <- progress$skipped + pieces
  tell_progressr(progress, "", pieces)
}

move_progress <- function(progress, pieces) {
  progress$done <- progress$done + pieces
  progress$inside <- 0
  progress$moved <- seconds_now()
}

# A function for the running piece to say how much of it is finished, or NULL.
inside_of <- function(progress) {
  if (is.null(progress$draw)) return(NULL)
  function(pieces) {
    progress$inside <- pieces
    progress$moved <- seconds_now()
    draw_progress(progress)
  }
}

draw_progress <- function(progress, name = NULL) {
  if (!is.null(progress$draw)) progress$draw(progress, name)
}

end_progress <- function(progress) {
  if (is.null(progress)) return(invisible())
  if (!is.null(progress$signal)) progress$signal(type = "finish")
  if (is.function(attr(progress$draw, "end"))) attr(progress$draw, "end")(progress)
}

seconds_now <- function() proc.time()[["elapsed"]]

# Option "rlang_interactive" is the convention by which tests and other packages override it. A
# document that is knitted from the console is not interactive.
is_interactive <- function() {
  asked <- getOption("rlang_interactive")
  if (!is.null(asked)) return(isTRUE(asked))
  interactive() && !isTRUE(getOption("knitr.in.progress"))
}

# ---- work in parts -------------------------------------------------------------------------------

# The progress of a piece that has pieces of its own, such as an outer fold. `inside` is the
# function that the piece was given, or NULL.
part_progress <- function(inside) {
  if (is.null(inside)) return(NULL)
  new_progress(NA, function(progress, name) inside(progress$done + progress$inside))
}

# What the core calls at the start of every row, when the whole path is one piece.
path_callback <- function(inside) {
  if (is.null(inside)) return(NULL)
  function(row, rows, lambda1, lambda2) inside((row - 1) / rows)
}

# The same when every row is a piece: the last one is left to the caller, by
# tick(progress, progress$running).
row_callback <- function(progress) {
  if (is.null(progress)) return(NULL)
  function(row, rows, lambda1, lambda2) {
    progress$total <- rows
    if (row > 1) tick(progress, progress$running)
    # cli cuts lines at the width of the console
    progress$running <- sprintf("lambda1 %.3g lambda2 %.3g", lambda1, lambda2)
  }
}

# ---- progressr -----------------------------------------------------------------------------------

# Does progressr show progress? If it is only loaded, nothing handles its conditions.
is_progressr_on <- function() {
  if (!isNamespaceLoaded("progressr")) return(FALSE)
  # with_progress() without handlers that are enabled shows nothing
  if (!isTRUE(getOption("progressr.enable", interactive()))) return(FALSE)
  around <- function(k) identical(sys.function(k), progressr::with_progress)
  isTRUE(progressr::handlers(global = NA)) || any(vapply(seq_len(sys.nframe()), around, NA))
}

# progressr's function for this progress, made as soon as the total is known. Workers may call it.
progressr_signal <- function(progress) {
  if (is.null(progress$signal) && !is.na(progress$total) && isNamespaceLoaded("progressr")) {
    progress$signal <- progressr::progressor(steps = progress$total, on_exit = FALSE)
  }
  progress$signal
}

tell_progressr <- function(progress, name, pieces) {
  signal <- progressr_signal(progress)
  if (!is.null(signal)) signal(message = name, amount = pieces)
}

# ---- bars ----------------------------------------------------------------------------------------

# The bar of `trace.it = 1`, at every finished piece and with its name. It stays on a terminal; in a
# log there is a line for every piece.
trace_drawer <- function(unit) {
  unit <- if (nzchar(unit)) paste0(unit, " ")
  id <- cli::cli_progress_bar(
    total = 1, auto_terminate = FALSE, current = FALSE, .auto_close = FALSE,
    clear = !cli::is_dynamic_tty(), format = "|{cli::pb_bar}| {cli::pb_status}")
  draw <- function(progress, name) {
    if (is.null(name)) return(invisible())
    status <- paste0(unit, progress$done, " of ", progress$total, if (nzchar(name)) "  ", name)
    share <- progress$done / progress$total
    cli::cli_progress_update(set = share, status = status, id = id, force = TRUE)
  }
  structure(draw, end = bar_end(id))
}

cli_drawer <- function(title) {
  id <- cli::cli_progress_bar(
    title, total = 1, auto_terminate = FALSE, current = FALSE, .auto_close = FALSE,
    format = "{cli::pb_name}{cli::pb_bar} {cli::pb_percent}{cli::pb_status}")
  drawn <- seconds_now()
  draw <- function(progress, name) {
    # cli draws five times a second at most; asking it costs more than looking at the clock
    if (seconds_now() - drawn < 0.1 || is.na(progress$total)) return(invisible())
    drawn <<- seconds_now()
    share <- min(1, (progress$done + progress$inside) / progress$total)
    cli::cli_progress_update(set = share, status = progress_status(progress), id = id)
  }
  structure(draw, end = bar_end(id))
}

bar_end <- function(id) {
  function(progress) {
    done <- isTRUE(progress$done >= progress$total)
    cli::cli_progress_done(id, result = if (done) "done" else "failed")
  }
}

# The part after the bar, such as "3 of 25 | 12 s left".
progress_status <- function(progress) {
  left <- seconds_left(progress)
  paste0(" | ", floor(progress$done + progress$inside), " of ", progress$total,
         if (!is.na(left)) paste0(" | ", time_text(left), " left"))
}

# Assumes that what is left takes as long as what was done; NA at the start.
seconds_left <- function(progress, now = seconds_now()) {
  done <- progress$done + progress$inside
  worked <- done - progress$skipped
  if (worked <= 0) return(NA_real_)
  each <- (progress$moved - progress$start) / worked
  max(0, (progress$total - done) * each - (now - progress$moved))
}

time_text <- function(seconds) {
  seconds <- ceiling(seconds)
  if (seconds < 60) return(paste(seconds, "s"))
  minutes <- round(seconds / 60)
  if (minutes < 60) return(paste(minutes, "min"))
  paste(minutes %/% 60, "h", minutes %% 60, "min")
}
