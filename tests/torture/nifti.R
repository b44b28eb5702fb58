# Damaged NIfTI files: each is read right or refused in one sentence, and no memory is asked for
# that the file does not hold.
source(file.path("tests", "torture", "common.R"))

folder <- tempfile()
dir.create(folder)
verdicts <- unlist(for_a_while(2600, function(k) {
  mutant <- make_mutant(seed + k - 1, folder)
  on.exit(unlink(mutant$path))
  verdict <- judge_mutant(mutant)
  if (!verdict %in% c("read", "refused")) cat(seed + k - 1, mutant$kind, verdict, "\n")
  verdict
}))
report("damaged NIfTI files", sum(!verdicts %in% c("read", "refused")),
       "%d files, %d read right, %d refused, peak of the process %.0f MB", length(verdicts),
       sum(verdicts == "read"), sum(verdicts == "refused"), megabytes("VmHWM"))
finish()
