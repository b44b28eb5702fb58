// The active set on small random problems. It merges regions but does not split them, so its
// answer must be optimal for its own grouping: no set of groups may gain by moving together, up or
// down.
#include "check.hpp"
#include "random_data.hpp"

#include "solve/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::ActiveSet;
using n2gfl::ContractedProblem;
using n2gfl::ContractedSolution;
using n2gfl::Kink;
using testing::Random;
using testing::uniform;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::vec;

namespace {

n2gfl::Poll quiet;  // never interrupts

constexpr int kZero = ContractedProblem::kZero;

ContractedProblem random_problem(Random& random, bool nonnegative, bool fused) {
  const int regions = 1 + random() % 8;
  ContractedProblem p;
  const MatrixXd a = uniform_matrix(random, regions + 3, regions, -1, 1);
  p.hessian = a.transpose() * a;
  p.gradient = uniform_vector(random, regions, -3, 3);
  p.start.resize(regions);
  p.tie.resize(regions);
  p.nonnegative = nonnegative;
  for (int k = 0; k < regions; ++k) {
    p.start[k] = static_cast<double>(random() % 7) - (nonnegative ? 0 : 3);  // many ties
    if (random() % 2) p.start[k] *= uniform(random, 0.5, 1);
    p.tie[k] = static_cast<int>(random() % 3) - 1;
    p.kinks.push_back({k, kZero, random() % 4 ? uniform(random, 0, 2) : 0});
    for (int l = 0; fused && l < k; ++l)
      if (random() % 2) p.kinks.push_back({l, k, uniform(random, 0, 1)});
  }
  return p;
}

double objective(const ContractedProblem& p, const VectorXd& u) {
  const VectorXd step = u - p.start;
  double value = 0.5 * step.dot(p.hessian * step) - p.gradient.dot(step);
  for (const Kink& z : p.kinks) value += z.weight * std::fabs(u[z.k] - (z.l < 0 ? 0 : u[z.l]));
  return value;
}

// The slope of the objective at u along v.
double slope(const ContractedProblem& p, const VectorXd& u, const VectorXd& v) {
  double rise = v.dot(p.hessian * (u - p.start) - p.gradient);
  for (const Kink& z : p.kinks) {
    const double height = u[z.k] - (z.l < 0 ? 0 : u[z.l]), change = v[z.k] - (z.l < 0 ? 0 : v[z.l]);
    rise += z.weight * (height > 0 ? change : height < 0 ? -change : std::fabs(change));
  }
  return rise;
}

double size_of(const ContractedProblem& p, const VectorXd& u) {
  double size = p.gradient.norm() + p.hessian.norm() * (u.norm() + p.start.norm());
  for (const Kink& z : p.kinks) size += z.weight;
  return size;
}

void check_answer(const ContractedProblem& p, const ContractedSolution& s) {
  const int regions = static_cast<int>(p.start.size());
  const double before = objective(p, p.start), after = objective(p, s.value);
  const double rounding = 1e-10 * size_of(p, s.value);
  CHECK_NEAR(s.decrease, before - after, 1e-13 * (size_of(p, s.value) * (1 + s.value.norm())));
  CHECK(s.decrease >= 0);
  for (int k = 0; k < regions; ++k) {
    CHECK(s.group[k] >= kZero && s.group[k] < s.groups);
    CHECK((s.group[k] == kZero) == (s.value[k] == 0));
    CHECK(!p.nonnegative || s.value[k] >= 0);
    for (int l = 0; l < k; ++l) CHECK(s.group[k] != s.group[l] || s.value[k] == s.value[l]);
    if (s.group[k] != kZero) continue;
    CHECK(slope(p, s.value, VectorXd::Unit(regions, k)) >= -rounding);
    if (!p.nonnegative) CHECK(slope(p, s.value, -VectorXd::Unit(regions, k)) >= -rounding);
  }
  for (unsigned set = 1; set < (1u << s.groups); ++set) {
    VectorXd v = VectorXd::Zero(regions);
    for (int k = 0; k < regions; ++k)
      if (s.group[k] >= 0 && (set >> s.group[k] & 1)) v[k] = 1;
    CHECK(slope(p, s.value, v) >= -rounding);
    CHECK(slope(p, s.value, -v) >= -rounding);
  }
}

}  // namespace

TEST(active_set_is_optimal_for_its_grouping) {
  for (int seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const ContractedProblem p = random_problem(random, seed % 2 == 0, seed % 3 > 0);
    check_answer(p, ActiveSet(p, quiet).solve());
  }
}

TEST(active_set_does_not_mind_scale) {
  for (int seed = 0; seed < 300; ++seed)
    for (double values : {1e-8, 1e8})
      for (double scale : {1e-12, 1e12}) {
        Random random(seed);
        ContractedProblem p = random_problem(random, seed % 2 == 0, true);
        const ContractedSolution plain = ActiveSet(p, quiet).solve();
        p.start *= values;
        p.gradient *= scale / values;
        p.hessian *= scale / (values * values);
        for (Kink& z : p.kinks) z.weight *= scale / values;
        const ContractedSolution s = ActiveSet(p, quiet).solve();
        CHECK_NEAR((s.value / values - plain.value).norm(), 0, 1e-7 * (1 + plain.value.norm()));
        CHECK_NEAR(s.decrease / scale, plain.decrease, 1e-9 * (1 + plain.decrease));
      }
}

TEST(active_set_walks_known_ways) {
  ContractedProblem p;
  p.hessian = MatrixXd::Identity(2, 2);
  p.start = vec({1, 2});
  p.tie = {0, 0};
  p.nonnegative = true;
  p.kinks = {{0, 1, 0.5}, {0, kZero, 0.25}, {1, kZero, 0.25}};

  p.gradient = vec({-2, 1});  // one falls to zero, the other rises by 1 - 0.5 - 0.25
  ContractedSolution s = ActiveSet(p, quiet).solve();
  CHECK(s.group[0] == kZero && s.group[1] == 0 && s.groups == 1);
  CHECK_NEAR(s.value[1], 2.25, 1e-15);

  p.gradient = vec({0.5, -0.5});  // they meet: their mean minus the threshold
  s = ActiveSet(p, quiet).solve();
  CHECK(s.groups == 1 && s.group[0] == 0 && s.group[1] == 0);
  CHECK_NEAR(s.value[0], 1.25, 1e-15);
  CHECK_NEAR(s.decrease, 0.5 + 0.5 + 0.125 - (0.0625 + 0.5625) / 2, 1e-14);

  p.gradient = vec({5, -1});  // they cross
  s = ActiveSet(p, quiet).solve();
  CHECK(s.groups == 2);
  CHECK_NEAR((s.value - vec({5.25, 1.25})).norm(), 0, 1e-14);
}

TEST(active_set_of_a_lasso_is_the_lasso) {
  // Without fusion the only splits are from zero, which it does itself: coordinate descent must
  // agree.
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const ContractedProblem p = random_problem(random, seed % 2 == 0, false);
    const ContractedSolution s = ActiveSet(p, quiet).solve();
    VectorXd u = p.start;
    for (int sweep = 0; sweep < 5000; ++sweep)
      for (int k = 0; k < u.size(); ++k) {
        const double bend = p.hessian(k, k);
        const double z = u[k] + p.force(u)[k] / bend, t = p.kinks[k].weight / bend;
        u[k] = z > t ? z - t : z < -t && !p.nonnegative ? z + t : 0;
      }
    CHECK(objective(p, s.value) <= objective(p, u) + 1e-11 * (1 + std::fabs(objective(p, u))));
  }
}

TEST(active_set_measures_tiny_falls) {
  // Near the optimum the decrease is far below the rounding error of the objective.
  for (int seed = 0; seed < 200; ++seed) {
    Random random(seed);
    ContractedProblem p = random_problem(random, true, false);
    const int regions = static_cast<int>(p.start.size());
    p.start = uniform_vector(random, regions, 1, 2);
    const VectorXd shift = 1e-9 * uniform_vector(random, regions, -1, 1);
    p.gradient = p.hessian * shift;  // plus the penalty's slopes
    for (const Kink& z : p.kinks) p.gradient[z.k] += z.weight;
    const ContractedSolution s = ActiveSet(p, quiet).solve();
    const double meant = 0.5 * shift.dot(p.hessian * shift);
    CHECK(s.decrease >= 0);
    CHECK_NEAR(s.decrease, meant, 1e-4 * meant + 1e-23);
  }
}

TEST(active_set_bears_a_singular_hessian) {
  ContractedProblem p;
  p.hessian = MatrixXd::Ones(3, 3);  // three copies of one column
  p.gradient = vec({4, 4, 4});
  p.start = vec({0, 0, 0});
  p.tie = {1, 1, 1};
  p.kinks = {{0, kZero, 1}, {1, kZero, 1.5}, {2, kZero, 1}};
  for (bool nonnegative : {true, false}) {
    p.nonnegative = nonnegative;
    const ContractedSolution s = ActiveSet(p, quiet).solve();
    CHECK(s.value.allFinite());
    CHECK(s.decrease > 4.5 * (1 - 1e-6));  // the optimum: values sum to 3, each at a cost of 1
    CHECK(s.decrease <= 4.5 * (1 + 1e-12));
  }
}
