// A fixed number of the random cases of fuzz/, the same every time, so that CI runs them too.
#include "check.hpp"
#include "fuzz/fuzz.hpp"

#include <cstdint>
#include <string>

namespace {

fuzz::Outcome fit(std::uint32_t seed) { return fuzz::fit_case(seed); }
fuzz::Outcome path(std::uint32_t seed) { return fuzz::path_case(seed); }

template <class Run>
void check_case(Run run, std::uint32_t seed) {
  const fuzz::Outcome outcome = run(seed);
  if (outcome.wrong.empty()) return;
  check::fail(__FILE__, __LINE__, "seed " + std::to_string(seed) + ": " + outcome.wrong);
}

template <class Run>
void check_cases(Run run, std::uint32_t count) {
  for (std::uint32_t seed = 1; seed <= count; ++seed) check_case(run, seed);
}

}  // namespace

TEST(random_graphs_are_solved) { check_cases(fuzz::prox_case, 40000); }

TEST(random_fits_are_as_good_as_they_say) { check_cases(fit, 4000); }

TEST(random_paths_on_grids_are_as_good_as_they_say) { check_cases(path, 40); }

TEST(random_fits_of_counts_times_and_levels_are_as_good_as_they_say) {
  for (const char* family : {"poisson", "cox", "ordinal"}) {
    check_cases([&](std::uint32_t seed) { return fuzz::fit_case(seed, family); }, 400);
    check_cases([&](std::uint32_t seed) { return fuzz::path_case(seed, family); }, 5);
  }
}

// Many covariates, a large offset and lambda1 = 0: the dual point leaves its domain unless Newton's
// method has ended.
TEST(a_nearly_separable_fit_without_lambda1_converges) {
  const fuzz::Outcome outcome = fuzz::fit_case(5000293);
  CHECK(outcome.wrong.empty() && outcome.note.empty());
}

// Unpenalised coefficients of 4e5 and 1e14: even gradients of the size of rounding count in the gap.
TEST(gaps_of_huge_unpenalised_coefficients_are_not_too_small) {
  for (std::uint32_t seed : {33235u, 5004339u, 9006392u, 9013266u}) check_case(fit, seed);
}

// Offsets of several hundred: the curvature of the null model is rounding, negative here.
TEST(the_null_model_of_times_with_large_offsets_is_an_optimum) {
  for (std::uint32_t seed : {1934u, 16851u}) CHECK(fuzz::fit_case(seed, "cox").wrong.empty());
}

// Means beyond 1e200: the norm of the residual is not finite, but its rounding is.
TEST(gradients_of_huge_counts_count_in_the_gap) {
  for (std::uint32_t seed : {2593u, 16054u, 17999u})
    CHECK(fuzz::fit_case(seed, "poisson").wrong.empty());
}

// First-order steps into counts whose means overflow: backtracking must end, and values that
// nearly overflow must not be accepted.
TEST(first_order_steps_into_overflowing_counts_end) {
  for (std::uint32_t seed : {504295u, 517394u, 522753u, 1001960u, 1010554u, 1016444u})
    check_case([](std::uint32_t s) { return fuzz::fit_case(s, "poisson"); }, seed);
}

// Unpenalised columns that nearly repeat each other, beside one that is 1e4 times as large: its
// rounding must not hide their gradients.
TEST(gradients_of_small_unpenalised_columns_count_in_the_gap) {
  check_case(fit, 93368);
  check_case([](std::uint32_t s) { return fuzz::fit_case(s, "ordinal"); }, 12559);
}

// Unpenalised columns whose difference is 1e-9 of their size: its gradient counts too.
TEST(gradients_along_differences_of_unpenalised_columns_count_in_the_gap) {
  for (std::uint32_t seed : {20005794u, 20006892u})
    check_case([](std::uint32_t s) { return fuzz::fit_case(s, "poisson"); }, seed);
  check_case(fit, 30015242);
}

// An offset that explains the levels: the null objective is 1e-38, and so are all gaps.
TEST(levels_that_the_offset_explains_are_fitted) {
  check_case([](std::uint32_t s) { return fuzz::fit_case(s, "ordinal"); }, 302701);
}

// A covariate that is constant, for losses that ignore constants: what centring leaves is rounding.
TEST(constant_covariates_of_times_and_levels_get_no_coefficient) {
  for (std::uint32_t seed : {600u, 745u}) CHECK(fuzz::fit_case(seed, "ordinal").wrong.empty());
  CHECK(fuzz::fit_case(117, "cox").wrong.empty());
}

// No feature may enter, but the unpenalised part still has a curvature.
TEST(an_empty_working_set_is_no_problem) {
  CHECK(fuzz::fit_case(4, "cox").wrong.empty());
}

// Data around 1e8 with a spread of 1 and a sign constraint: the values are centred to avoid
// rounding.
TEST(graphs_far_from_zero_are_solved) {
  for (std::uint32_t seed : {7090204u, 7491501u, 7908189u, 7967866u, 8008968u})
    check_case(fuzz::prox_case, seed);
}

// Small values in one component and large values in another: the fast start treats one at a time.
TEST(graphs_with_components_of_all_sizes_are_solved) {
  for (std::uint32_t seed : {7166767u, 7344114u, 7729740u, 7512530u, 8232642u})
    check_case(fuzz::prox_case, seed);
}

// A star with excluded leaves, on which the sweeps diverge: the old flow is kept.
TEST(stars_are_solved) { check_case(fuzz::prox_case, 7388562); }
