# Draws bench/results/speed.png: n2gfl's time over that of its peers, from the tables there.
#
#   Rscript bench/figure.R [folder of the tables, bench/results]
source("bench/helpers.R")
source("bench/results.R")

colours <- c(glmnet = "#4477AA", adelie = "#66CCEE", biglasso = "#AA3377", flsa = "#228833",
             genlasso = "#CCBB44", igraph = "#EE6677")

# The rows that get a bar: one of each kind, the largest. Rows that differ in lambda2 only are the
# same problem to peers without fusion: glmnet is enough there.
shown <- function(rows) {
  lasso <- rows$peer %in% c("glmnet", "adelie", "biglasso")
  largest <- grepl("d = 10000|d 223,000", rows$problem) | !lasso
  repeated <- grepl("lambda2", rows$problem) & rows$peer %in% c("adelie", "biglasso")
  rows[largest & !repeated & rows$peer %in% names(colours) & !is.na(rows$number), ]
}

# The label of a bar: the problem, and the peer's problem if it is another one.
bar_label <- function(rows) {
  other <- !is.na(rows$other) & rows$other != rows$problem
  paste0(rows$problem, ifelse(other, paste0(" / ", rows$peer, "'s ", rows$other), ""))
}

# Beside the bars, on white, so that the lines do not cross the numbers.
write_ratios <- function(rows, at) {
  left <- graphics::grconvertX(rows$number, "user", "inches") + 0.05
  wide <- graphics::strwidth(rows$ratio, units = "inches", cex = 0.85)
  to_user <- function(x) graphics::grconvertX(x, "inches", "user")
  graphics::rect(to_user(left), at - 0.35, to_user(left + wide + 0.03), at + 0.35, col = "white",
                 border = NA, xpd = NA)
  graphics::text(to_user(left), at, rows$ratio, adj = c(0, 0.5), cex = 0.85, xpd = NA)
}

draw <- function(rows, file) {
  rows <- rows[order(match(rows$peer, names(colours)), rows$number), ]
  rows <- rows[rev(seq_len(nrow(rows))), ]
  grDevices::png(file, width = 1500, height = 160 + 34 * nrow(rows), res = 130)
  on.exit(grDevices::dev.off())
  graphics::par(mar = c(4, 27, 3, 4), las = 1, cex = 0.8)
  low <- 10^floor(log10(min(rows$number, 0.1)))
  high <- max(1, rows$number) * 1.5
  at <- seq_len(nrow(rows))
  plot(NA, xlim = c(low, high), ylim = c(0.5, nrow(rows) + 0.5), log = "x", yaxs = "i",
       axes = FALSE, xlab = "n2gfl's seconds over the peer's (log scale; left of 1: faster)",
       ylab = "")
  ticks <- 10^(log10(low):0)
  graphics::abline(v = ticks, col = ifelse(ticks == 1, "grey40", "grey85"))
  graphics::rect(low, at - 0.35, rows$number, at + 0.35, col = colours[rows$peer], border = NA)
  write_ratios(rows, at)
  graphics::axis(1, ticks, format(ticks, drop0trailing = TRUE, scientific = FALSE))
  graphics::axis(2, at, bar_label(rows), tick = FALSE, line = -0.8)
  used <- intersect(names(colours), rows$peer)
  graphics::legend(low, nrow(rows) + 0.6, used, fill = colours[used], border = NA, horiz = TRUE,
                   bty = "n", yjust = 0, xpd = NA)  # above the bars
}

folder <- c(commandArgs(trailingOnly = TRUE), "bench/results")[1]
rows <- shown(ratio_rows(folder))
if (nrow(rows) > 0) {
  draw(rows, file.path(folder, "speed.png"))
  cat("Drawn:", file.path(folder, "speed.png"), "\n")
} else {
  cat("No ratios in", folder, "yet: no picture.\n")
}
