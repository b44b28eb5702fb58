# make demo       simulate a small cohort, fit it, leave pictures in demo-output
# make test       all tests: the core's own and R's
# make check      R CMD build and R CMD check --as-cran, with vignettes
# make cpp        the core's tests only, no R needed (TEST=part-of-a-name runs those)
# make sanitize   the same under the address and undefined-behaviour sanitizers
# make sanitize-r   R's tests on a package built with these sanitizers (TEST=part-of-a-name)
# make fuzz       random graphs and fits, a minute each (SECONDS=60 SEED=1; tests/README.md)
# make fuzz-sanitize   the same under the sanitizers
# make lint       static checks: lintr on R (.lintr), clang-tidy on the core (.clang-tidy)
# make torture    interrupts, kills, full disks, damaged files (TRIAL=part-of-a-name SEED=1)
# make document   man, NAMESPACE and the Rcpp glue, from the comments in R and src
# make coverage   which lines of R and C++ the R tests run
# make bench      the measurements of bench/README.md
# make paper      the tables and figures of the paper, a small version (FULL=1: all of it, hours)
# make picture    draw the picture of README.md again
# make site       the documentation as web pages, in out/site
# make clean      remove what make made
#
# All output goes to out/. The targets install what they need (tools/setup.R);
# nothing is installed or downloaded if everything is there.

SHELL = /bin/sh
RSCRIPT ?= Rscript
R ?= R
JOBS ?= 2
TEST ?=
TRIAL ?=
SECONDS ?= 60
SEED ?= 1

.PHONY: demo picture test check cpp sanitize sanitize-r fuzz fuzz-sanitize torture lint document \
  coverage bench paper site clean
.DELETE_ON_ERROR:

# Targets run one after the other, so that no two set-ups run at once. Compiling
# runs in parallel: it is called with -j$(JOBS) below.
ifeq ($(MAKELEVEL),0)
.NOTPARALLEL:
endif

sanitizers := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
  -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS

# ---- the package, in a library of its own ----------------------------------

core := $(wildcard src/core/*.?pp src/core/*/*.?pp)
core_folders := $(sort $(dir $(core)))
sources := DESCRIPTION NAMESPACE $(wildcard R/*.R src/*.cpp src/*.h src/Makevars) $(core) \
           $(wildcard inst/CITATION inst/paper/*.R inst/paper/results/* man/*.Rd) \
           R src $(core_folders)

setup-%:
	@$(RSCRIPT) tools/setup.R $*

# The package is built from a copy that keeps the object files, so only changed sources are
# compiled. R does not know which object includes which header, so a changed header removes all
# objects of the copy. Objects that another build left in src are not touched.
# "|": the set-up runs first, but does not cause a new installation.
define install
@echo "Installing n2gfl into $(@D)/lib"
@mkdir -p $(@D)/lib
@rm -rf $(addprefix $(@D)/pkg/,R man inst src/*.cpp $(addsuffix *.cpp,$(core_folders)) \
  $(if $(filter %.hpp %.h %Makevars DESCRIPTION,$?),src))
@mkdir -p $(@D)/pkg/src
@cp -Rp DESCRIPTION NAMESPACE R inst $(wildcard man) $(@D)/pkg
@cp -p $(wildcard src/*.cpp src/*.h src/Makevars*) $(@D)/pkg/src
@for folder in $(core_folders); do \
  mkdir -p $(@D)/pkg/$$folder && cp -p $$folder*.?pp $(@D)/pkg/$$folder || exit 1; done
@MAKEFLAGS=-j$(JOBS) $(1) $(R) CMD INSTALL $(2) --library=$(@D)/lib $(@D)/pkg >$(@D)/install.log 2>&1 \
  || { cat $(@D)/install.log; exit 1; }
@touch $@
endef

out/installed: $(sources) | setup-demo
	$(call install)

demo: setup-demo out/installed
	@$(RSCRIPT) tools/demo.R

# For man/figures, which belongs to the sources: run it when plot_map() has changed.
picture: setup-demo out/installed
	@$(RSCRIPT) tools/picture.R

# The R tests run even if the tests of the core fail.
test: setup-test out/installed
	@status=0; $(MAKE) --no-print-directory cpp TEST= || status=1; \
	  $(RSCRIPT) tools/test.R $(TEST) || status=1; exit $$status

# R itself is not sanitized. The libraries of the sanitizers are loaded before R, also in sessions
# that tests start, and so is libstdc++, whose exceptions the sanitizers intercept. R does not free
# all of its memory, so leaks are not reported. Every session writes its report to its own file, so
# that no test can hide it, and ends. Undefined behaviour, assertions and crashes that R would handle
# itself (=2) are reported through their signals.
preload = $(foreach name,libasan libubsan libstdc++,$(shell \
  $$($(R) CMD config CXX17) -print-file-name=$(name).so))
found := out/sanitize-r/found
log_path := log_path=$(CURDIR)/$(found)
sanitize-r: setup-test out/sanitize-r/installed
	@rm -f $(found).*; status=0; \
	  LD_PRELOAD="$(preload)" N2GFL_LIBRARY=out/sanitize-r/lib N2GFL_SANITIZED=1 \
	  ASAN_OPTIONS="$(log_path):detect_leaks=0:handle_abort=2:handle_segv=2:handle_sigill=2" \
	  UBSAN_OPTIONS="$(log_path):abort_on_error=1" \
	  $(RSCRIPT) tools/test.R $(TEST) || status=1; \
	  for file in $(found).*; do if test -e $$file; then grep -v /libR.so $$file; status=1; fi; done; \
	  if test $$status = 0; then echo "make sanitize-r: nothing found"; \
	  else echo "make sanitize-r: failed"; fi; exit $$status

# Not loaded after installation: that works only with the libraries above.
out/sanitize-r/installed: out/sanitize-r/Makevars $(sources) | setup-demo
	$(call install,R_MAKEVARS_USER=$(CURDIR)/$<,--no-test-load)

# R switches Eigen's checks off by -DNDEBUG; without it, RNifti's header prints debug messages.
# The package is compiled again if the flags change, not whenever the Makefile changes.
out/sanitize-r/Makevars: Makefile
	@mkdir -p $(@D)
	@printf '%s\n' 'CXX17FLAGS = $(sanitizers) -fsanitize=float-cast-overflow -UNDEBUG' \
	  'images.o: CXX17FLAGS += -DNDEBUG' 'LDFLAGS += $(sanitizers)' >$@.new
	@cmp -s $@.new $@ || cp $@.new $@

check: setup-check
	@$(RSCRIPT) tools/check.R

# Each trial may take 15 minutes (900 s). If one fails, the others still run.
trials := $(filter-out common,$(patsubst tests/torture/%.R,%,$(wildcard tests/torture/*.R)))
torture: setup-test out/installed
	@status=0; for trial in $(foreach t,$(trials),$(if $(findstring _$(TRIAL),_$(t)),$(t))); do \
	  SEED=$(SEED) timeout 900 $(RSCRIPT) tests/torture/$$trial.R 2>out/torture-$$trial.log || \
	  { echo "$$trial failed, see out/torture-$$trial.log"; status=1; }; done; exit $$status

document: setup-document
	@$(RSCRIPT) tools/document.R

coverage: setup-coverage
	@$(RSCRIPT) tools/coverage.R

benches = least_squares logistic families cv tv tv_variants warm_prox scaling sparse_threads \
  stability images
bench: setup-bench out/installed
	@for name in $(benches); do $(RSCRIPT) bench/$$name.R || exit 1; done
	@$(RSCRIPT) bench/figure.R
	@$(RSCRIPT) bench/readme.R

# Finished parts stay in out/paper: a stopped run continues, and FULL=1 extends a small run.
FULL ?=
paper: setup-paper out/installed
	@R_LIBS="$(CURDIR)/out/lib" $(RSCRIPT) inst/paper/run.R $(if $(FULL),full,small) out/paper
	@echo "Tables and figures are in out/paper, see paper.md there."

site: setup-site out/installed
	@R_LIBS="$(CURDIR)/out/lib" $(RSCRIPT) tools/site.R

# ---- the core alone ---------------------------------------------------------

# Eigen comes with RcppEigen, or from the system.
eigen = $(or $(EIGEN),$(shell $(RSCRIPT) -e \
  'cat(system.file("include", package = "RcppEigen"))' 2>/dev/null),$(wildcard /usr/include/eigen3))
tests := $(patsubst tests/cpp/%.cpp,%,$(wildcard tests/cpp/*.cpp))
# Threads, if the compiler has them; Eigen's own are off, as in src/Makevars.
openmp := $(shell echo 'int main() {}' | $(CXX) -fopenmp -x c++ - -o /dev/null 2>/dev/null && \
  echo -fopenmp -DEIGEN_DONT_PARALLELIZE)
warnings := -Wall -Wextra -Wpedantic -Wconversion
includes := -Isrc/core -Isrc -Itests/cpp

cpp sanitize:
	@test -n "$(eigen)" || { echo "The core needs the Eigen library: please run \
	\`apt-get install libeigen3-dev\` as root or \`install.packages(\"RcppEigen\")\` in R."; exit 1; }
	@$(MAKE) -s --no-print-directory -j$(JOBS) out/$@/core_tests EIGEN="$(eigen)"
	@out/$@/core_tests $(TEST)

# Without a family: gaussian and binomial.
kinds := prox fits paths $(foreach family,poisson cox ordinal,fits-$(family) paths-$(family))
fuzz fuzz-sanitize:
	@test -n "$(eigen)" || { echo "The core needs the Eigen library."; exit 1; }
	@$(MAKE) -s --no-print-directory -j$(JOBS) out/$@/fuzz EIGEN="$(eigen)"
	@for kind in $(kinds); do out/$@/fuzz $$kind $(SECONDS) $(SEED) || exit 1; done

# The core is checked as one source, so that Eigen is read once. NOLINT: it includes sources.
lint: setup-lint out/lint.cpp
	@status=0; $(RSCRIPT) tools/lint.R || status=1; \
	  for file in out/lint.cpp tests/cpp/test_volume_store.cpp; do \
	    clang-tidy --quiet $$file -- -std=c++17 $(includes) \
	      -isystem "$(eigen)" 2>/dev/null || status=1; \
	  done; exit $$status

out/lint.cpp: $(core_folders) Makefile
	@mkdir -p $(@D)
	@printf '#include "%s"  // NOLINT\n' $(patsubst src/core/%,%,$(filter %.cpp,$(core))) >$@

# The core's objects serve the tests, the fuzz tests and bench/.
core_names := $(patsubst src/core/%.cpp,%,$(filter %.cpp,$(core)))
plain_core := $(core_names:%=out/cpp/core/%.o)
sanitized_core := $(core_names:%=out/sanitize/core/%.o)

out/cpp/%: flags := -O2
out/bench/%: flags := -O2
out/fuzz/%: flags := -O2
out/sanitize/% out/fuzz-sanitize/%: flags := $(sanitizers)

# The tests also run a fixed number of the random cases.
cases := fuzz_prox fuzz_fits
out/cpp/core_tests: $(tests:%=out/cpp/%.o) $(cases:%=out/fuzz/%.o) $(plain_core)
out/sanitize/core_tests: $(tests:%=out/sanitize/%.o) $(cases:%=out/fuzz-sanitize/%.o) \
  $(sanitized_core)
out/cpp/core_tests out/sanitize/core_tests:
	@$(CXX) $(flags) $(openmp) $^ -o $@

define compile
@mkdir -p $(@D)
@echo "Compiling $< ($(@D))"
@$(CXX) -std=c++17 $(flags) $(openmp) $(warnings) $(EXTRA_CXXFLAGS) -MMD -MP $(includes) \
  -isystem "$(eigen)" -c $< -o $@
endef

out/fuzz/fuzz: $(cases:%=out/fuzz/%.o) out/fuzz/main.o $(plain_core)
out/fuzz-sanitize/fuzz: $(cases:%=out/fuzz-sanitize/%.o) out/fuzz-sanitize/main.o $(sanitized_core)
out/fuzz/fuzz out/fuzz-sanitize/fuzz:
	@$(CXX) $(flags) $(openmp) $^ -o $@

out/bench/warm_prox out/bench/tv_variants: %: %.o $(plain_core)
	@$(CXX) $(flags) $(openmp) $^ -o $@

out/cpp/core/%.o: src/core/%.cpp
	$(compile)
out/sanitize/core/%.o: src/core/%.cpp
	$(compile)
out/bench/%.o: bench/%.cpp
	$(compile)
out/cpp/%.o: tests/cpp/%.cpp
	$(compile)
out/fuzz/%.o: tests/cpp/fuzz/%.cpp
	$(compile)
out/fuzz-sanitize/%.o: tests/cpp/fuzz/%.cpp
	$(compile)
out/sanitize/%.o: tests/cpp/%.cpp
	$(compile)

-include $(wildcard out/cpp/*.d out/sanitize/*.d out/fuzz/*.d out/fuzz-sanitize/*.d out/bench/*.d \
  out/cpp/core/*/*.d out/sanitize/core/*/*.d)

clean:
	rm -rf out demo-output
