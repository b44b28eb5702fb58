// Gradients that are old, coarse or predicted lie within their stated error of the exact ones.
#include "check.hpp"
#include "example_model.hpp"

#include "data/gradient_history.hpp"
#include "data/lazy_gradient.hpp"

#include <cmath>
#include <numeric>
#include <vector>

using n2gfl::Design;
using n2gfl::GradientHistory;
using n2gfl::LazyGradient;
using testing::below;
using testing::MatrixXd;
using testing::Random;
using testing::SparseColumns;
using testing::uniform;
using testing::uniform_matrix;
using testing::VectorXd;

namespace {

using Example = testing::ExampleModel;

constexpr int kRows = 37;  // not a multiple of eight
constexpr int kColumns = 60;

// The rounding error of one product in double precision.
VectorXd rounding_of_products(const MatrixXd& x, const VectorXd& weights) {
  const VectorXd used = (weights.array() > 0).cast<double>();
  return 1e-14 * (used.asDiagonal() * x).colwise().norm().transpose();
}

void check_estimates(const Example& example, const LazyGradient& gradient, const VectorXd& r,
                     const VectorXd& rounding) {
  for (int j = 0; j < example.model.features(); ++j) {
    const double exact = example.design.dot(j, r);
    const LazyGradient::Estimate found = gradient.estimate(j);
    CHECK(found.error >= 0);
    CHECK(std::isinf(found.error) ||
          std::fabs(found.value - exact) <= found.error + rounding[j] * r.norm());
    CHECK(!gradient.exact(j) || (found.error == 0 && found.value == exact));
    CHECK(!gradient.exact(j) || gradient.known(j));
  }
}

std::vector<int> random_columns(Random& random, int one_in) {
  std::vector<int> columns;
  for (int j = 0; j < kColumns; ++j)
    if (below(random, one_in) == 0) columns.push_back(j);
  return columns;
}

// One of the things that a solver does with the gradient.
void use(LazyGradient& gradient, Random& random) {
  gradient.set_coarse(random() % 2 == 0);
  switch (random() % 6) {
    case 0: gradient.compute(random_columns(random, 2)); break;
    case 1: gradient.compute(random_columns(random, 10)); break;
    case 2: gradient(below(random, kColumns)); break;
    case 3: gradient.predict(); break;
    case 4: gradient.trim(random() % 3 == 0 ? 0 : 20); break;
    default: if (random() % 2) gradient.compute_all();
  }
}

// Residuals change a little, much, or not at all.
VectorXd next_residual(const Example& example, const VectorXd& last, Random& random) {
  switch (random() % 4) {
    case 0: return last;
    case 1: return example.residual(random) * std::pow(10, uniform(random, -3, 3));
    default:
      return last + last.norm() * std::pow(10, uniform(random, -9, 0)) * example.residual(random);
  }
}

void check_random_steps(const Example& example, const VectorXd& rounding, unsigned seed) {
  Random random(seed);
  LazyGradient gradient(example.model);
  VectorXd r = example.model.null_residual;
  for (int step = 0; step < 80; ++step) {
    const VectorXd next = next_residual(example, r, random);
    r = next;
    gradient.set_residual(r);
    check_estimates(example, gradient, r, rounding);
    for (int k = 0; k < 2; ++k) {
      use(gradient, random);
      check_estimates(example, gradient, r, rounding);
    }
  }
}

MatrixXd dense_data(unsigned seed) {
  Random random(seed);
  return uniform_matrix(random, kRows, kColumns, -1, 1);
}

VectorXd some_zero_weights() {
  VectorXd weights = VectorXd::LinSpaced(kRows, 0.5, 2);
  for (int i = 0; i < kRows; i += 5) weights[i] = 0;
  return weights;
}

std::vector<int> all_columns() {
  std::vector<int> columns(kColumns);
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

}  // namespace

TEST(lazy_gradients_are_within_their_error) {
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (bool intercept : {false, true}) {
      const MatrixXd x = dense_data(seed);
      const VectorXd ones = VectorXd::Ones(kRows);
      const Example example(Design::dense(x.data(), kRows, kColumns), ones, intercept);
      check_random_steps(example, rounding_of_products(x, ones), seed);
    }
}

TEST(lazy_gradients_of_any_scale_and_mean_are_within_their_error) {
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (bool far : {false, true}) {
      MatrixXd x = dense_data(seed);
      for (int j = 0; j < kColumns; ++j) x.col(j) *= std::pow(10, j - kColumns / 2);
      if (far) x = dense_data(seed).array() + 1e6;
      x.col(3).setConstant(7);
      x.col(4).setZero();
      const VectorXd ones = VectorXd::Ones(kRows);
      const Example example(Design::dense(x.data(), kRows, kColumns), ones, true);
      check_random_steps(example, rounding_of_products(x, ones), seed);
    }
}

TEST(lazy_gradients_ignore_rows_without_weight) {
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (bool intercept : {false, true}) {
      const VectorXd weights = some_zero_weights();
      MatrixXd x = dense_data(seed);
      for (int i = 0; i < kRows; i += 5) x.row(i) *= 1e9;
      Design design = Design::dense(x.data(), kRows, kColumns);
      design.use_rows(weights);
      const Example example(design, weights, intercept);
      check_random_steps(example, rounding_of_products(x, weights), seed);
    }
}

TEST(lazy_gradients_of_sparse_and_deconfounded_data_are_within_their_error) {
  for (unsigned seed = 1; seed <= 10; ++seed)
    for (bool sparse : {false, true})
      for (bool deconfounded : {false, true}) {
        const VectorXd ones = VectorXd::Ones(kRows);
        MatrixXd x = dense_data(seed);
        x = (x.array() > 0.4).select(x, 0.0);
        const SparseColumns columns(x);
        Design design = sparse ? columns.design() : Design::dense(x.data(), kRows, kColumns);
        Random random(seed);
        const MatrixXd z = uniform_matrix(random, kRows, 2, -1, 1);
        const MatrixXd p = (z.transpose() * z).ldlt().solve(z.transpose());
        if (deconfounded) design.deconfound(z, p);
        const Example example(design, ones, true);
        check_random_steps(example, rounding_of_products(x, ones), seed);
      }
}

// The bounds must not only be right but also small.
TEST(lazy_gradients_of_near_residuals_have_small_errors) {
  const MatrixXd x = dense_data(1);
  const Example example(Design::dense(x.data(), kRows, kColumns), VectorXd::Ones(kRows), true);
  const VectorXd& norm = example.model.column_norm;
  Random random(1);
  for (bool coarse : {false, true}) {
    LazyGradient gradient(example.model);
    gradient.set_coarse(coarse);
    VectorXd r = example.residual(random), step = example.residual(random);
    gradient.set_residual(r);
    gradient.compute(all_columns());
    for (int j = 0; j < kColumns; ++j) CHECK(gradient.known(j) && gradient.exact(j) == !coarse);
    gradient.set_coarse(false);
    for (int j = 0; j < kColumns; ++j) CHECK(gradient.known(j) == !coarse);
    r += 1e-4 * step;
    gradient.set_residual(r);
    for (int j = 0; j < kColumns; ++j) {
      CHECK(!gradient.known(j) && !gradient.exact(j));
      const double rounding = coarse ? 2e-6 * r.norm() : 0.0;
      CHECK(gradient.error(j) <= norm[j] * (1.001e-4 * step.norm() + rounding));
      CHECK(gradient.error(j) >= 0.999e-4 * norm[j] * step.norm());
    }
  }
}

TEST(lazy_gradients_stay_exact_if_the_residual_is_the_same) {
  const MatrixXd x = dense_data(2);
  const Example example(Design::dense(x.data(), kRows, kColumns), VectorXd::Ones(kRows), true);
  Random random(2);
  LazyGradient gradient(example.model);
  VectorXd r = example.residual(random);
  gradient.set_residual(r);
  gradient.compute({1, 2});
  const VectorXd copy = r;  // at another address
  gradient.set_residual(copy);
  CHECK(gradient.exact(1) && gradient.exact(2) && !gradient.exact(3));
  r[0] = std::nextafter(r[0], 2.0);
  gradient.set_residual(r);
  CHECK(!gradient.exact(1) && gradient.error(1) < 1e-14);
}

TEST(lazy_gradients_forget_old_residuals) {
  const MatrixXd x = dense_data(3);
  const VectorXd ones = VectorXd::Ones(kRows);
  const Example example(Design::dense(x.data(), kRows, kColumns), ones, true);
  Random random(3);
  for (bool predicted : {false, true}) {
    LazyGradient gradient(example.model);
    VectorXd r = example.residual(random);
    gradient.set_residual(r);
    if (predicted) gradient.predict();
    else gradient.compute({5});
    for (int k = 0; k < 40; ++k) {
      const VectorXd next = example.residual(random);
      r = next;
      gradient.set_residual(r);
      check_estimates(example, gradient, r, rounding_of_products(x, ones));
      CHECK(std::isfinite(gradient.error(5)) == (k < 15));
      CHECK(predicted || std::isinf(gradient.error(6)));
    }
  }
}

TEST(predicted_gradients_use_the_last_eight) {
  const MatrixXd x = dense_data(4);
  const Example example(Design::dense(x.data(), kRows, kColumns), VectorXd::Ones(kRows), true);
  const VectorXd& norm = example.model.column_norm;
  Random random(4);
  GradientHistory history(norm);
  std::vector<VectorXd> residuals;
  Eigen::VectorXf scaled;
  for (int k = 0; k < 20; ++k) {
    residuals.push_back(std::pow(10, uniform(random, -3, 3)) * example.residual(random));
    history.store(residuals.back(), x.transpose() * residuals.back());
    // a combination of those that are stored, and one with a residual that is not
    VectorXd inside = VectorXd::Zero(kRows);
    for (int m = std::max(0, k - 7); m <= k; ++m)
      inside += uniform(random, -1, 1) * residuals[m].normalized();
    for (bool leaves : {false, true}) {
      const VectorXd r = leaves ? VectorXd(inside + example.residual(random)) : inside;
      const double reach = history.predict(r, scaled);
      CHECK(leaves ? reach > 0.1 : reach < 1e-4);
      for (int j = 0; j < kColumns; ++j)
        CHECK(std::fabs(scaled[j] - x.col(j).dot(r) / norm[j]) <= reach);
    }
  }
}

TEST(predicted_gradients_are_right_for_residuals_beyond_the_range_of_float) {
  const MatrixXd x = dense_data(5);
  const Example example(Design::dense(x.data(), kRows, kColumns), VectorXd::Ones(kRows), true);
  Random random(5);
  for (double size : {1e-50, 1e-42, 1e-38, 1e-30, 1e30, 1e38, 1e45, 1e100}) {
    const VectorXd first = size * example.residual(random);
    const VectorXd second = size * example.residual(random);
    GradientHistory history(example.model.column_norm);
    history.store(first, x.transpose() * first);
    history.store(second, x.transpose() * second);
    const VectorXd r = 0.3 * first + 0.2 * second;
    Eigen::VectorXf scaled;
    const double reach = history.predict(r, scaled);
    CHECK(reach <= 1.01 * r.norm());
    for (int j = 0; j < kColumns; ++j)
      CHECK(std::fabs(scaled[j] - x.col(j).dot(r) / example.model.column_norm[j]) <= reach);
  }
}
