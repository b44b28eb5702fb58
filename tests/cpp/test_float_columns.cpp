// Products with columns in single precision agree with the exact ones within the stated error.
#include "check.hpp"
#include "example_model.hpp"

#include "data/float_columns.hpp"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

using n2gfl::Design;
using n2gfl::FloatColumns;
using n2gfl::Model;
using testing::MatrixXd;
using testing::Random;
using testing::SparseColumns;
using testing::uniform_matrix;
using testing::VectorXd;

namespace {

constexpr int kRows = 37;  // not a multiple of eight
constexpr int kColumns = 150;

using Example = testing::ExampleModel;

std::vector<int> all_columns(const Model& model) {
  std::vector<int> columns(static_cast<std::size_t>(model.features()));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

void check_products(const Example& example, const FloatColumns& floats, const VectorXd& v,
                    const std::vector<int>& columns) {
  std::vector<double> found(columns.size());
  floats.products(columns, found.data());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double size = example.model.column_norm[columns[k]] * v.norm();
    CHECK_NEAR(found[k], example.design.dot(columns[k], v), floats.relative_error() * size);
  }
}

// The sum is right in rows with weight, up to a constant if there is an intercept.
void check_sum(const Example& example, const FloatColumns& floats, Random& random,
               const std::vector<int>& columns) {
  VectorXd exact = VectorXd::Zero(example.design.rows()), found = exact;
  std::vector<double> factor(columns.size());
  double size = 0;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double norm = example.model.column_norm[columns[k]];
    factor[k] = testing::uniform(random, -1, 1) / (norm > 0 ? norm : 1.0);
    size += std::fabs(factor[k]) * norm;
    example.design.add(columns[k], factor[k], exact);
  }
  floats.add(columns, factor, found);
  VectorXd error = (example.loss->weights().array() > 0).select(found - exact, 0.0);
  const double mean = example.intercept ? error.sum() / example.design.counted_rows() : 0.0;
  const double rounding = 1e-15 * exact.cwiseAbs().maxCoeff() * static_cast<double>(columns.size());
  for (int i = 0; i < error.size(); ++i)
    if (example.loss->weights()[i] > 0) CHECK_NEAR(error[i], mean, 1e-6 * size + rounding);
}

void check_floats(const Design& x, const VectorXd& weights, bool intercept) {
  Random random(5);
  const Example example(x, weights, intercept);
  FloatColumns floats(example.model);
  CHECK(floats.usable());
  const std::vector<int> some{7, 3, 141, 99, 0}, all = all_columns(example.model);
  for (double scale : {1.0, 1e-30, 1e30}) {
    const VectorXd v = scale * example.residual(random);
    for (const std::vector<int>& columns : {some, all}) {
      floats.require(columns);
      floats.set_vector(v);
      check_products(example, floats, v, columns);
      check_sum(example, floats, random, columns);
    }
    floats.trim(10);
  }
}

MatrixXd random_columns() {
  Random random(1);
  return uniform_matrix(random, kRows, kColumns, -1, 1);
}

Design dense(const MatrixXd& x) {
  return Design::dense(x.data(), static_cast<int>(x.rows()), static_cast<int>(x.cols()));
}

VectorXd equal_weights() { return VectorXd::Ones(kRows); }

}  // namespace

TEST(float_columns_of_a_dense_matrix) {
  const MatrixXd x = random_columns();
  check_floats(dense(x), equal_weights(), true);
  check_floats(dense(x), equal_weights(), false);
}

TEST(float_columns_of_extreme_scale) {
  for (double scale : {1e-30, 1e30}) {
    const MatrixXd x = scale * random_columns();
    check_floats(dense(x), equal_weights(), true);
    check_floats(dense(x), equal_weights(), false);
  }
}

TEST(float_columns_far_from_zero) {
  const MatrixXd x = random_columns().array() + 1e6;
  const Example example(dense(x), equal_weights(), true);
  FloatColumns floats(example.model);
  floats.require({3});
  Random random(2);
  const VectorXd v = example.residual(random);
  floats.set_vector(v);
  double found;
  floats.products({3}, &found);
  const VectorXd centred = x.col(3).array() - x.col(3).mean();
  CHECK_NEAR(found, centred.dot(v), floats.relative_error() * centred.norm() * v.norm());
  check_sum(example, floats, random, {3});
}

TEST(float_columns_of_mirrored_and_standardised_views) {
  const MatrixXd x = random_columns();
  Design design = dense(x);
  design.mirror();
  design.standardise(equal_weights() / kRows);
  check_floats(design, equal_weights(), true);
}

TEST(float_columns_without_rows_that_have_no_weight) {
  MatrixXd x = random_columns();
  VectorXd weights = equal_weights();
  for (int i : {0, 5, kRows - 1}) {
    weights[i] = 0;
    x.row(i).setConstant(1e9);
  }
  Design design = dense(x);
  design.use_rows(weights);
  check_floats(design, weights, true);
  check_floats(design, weights, false);
}

TEST(float_columns_after_deconfounding) {
  Random random(3);
  const MatrixXd x = random_columns(), nuisance = uniform_matrix(random, kRows, 2, -1, 1);
  Design design = dense(x);
  design.deconfound(nuisance, (nuisance.transpose() * nuisance).inverse() * nuisance.transpose());
  check_floats(design, equal_weights(), true);
  check_floats(design, equal_weights(), false);
}

TEST(float_columns_of_scaled_rows_without_effects_of_sites) {
  Random random(6);
  const MatrixXd x = random_columns();
  n2gfl::Sites sites;
  sites.count = 3;
  for (int i = 0; i < kRows; ++i) sites.of_row.push_back(i % 3);
  sites.used.assign(kRows, true);
  sites.preserved = uniform_matrix(random, kRows, 1, -1, 1);
  Design design = dense(x);
  design.scale_rows(testing::uniform_vector(random, kRows, 0.5, 2));
  check_floats(design, equal_weights(), true);
  n2gfl::Poll poll;
  design.harmonise(sites, 1, poll);
  check_floats(design, equal_weights(), true);
  check_floats(design, equal_weights(), false);
}

TEST(float_columns_that_are_constant) {
  MatrixXd x = random_columns();
  x.col(3).setConstant(2);
  x.col(7).setZero();
  check_floats(dense(x), equal_weights(), true);
}

// More rows than one tile of sums.
TEST(float_columns_with_many_rows) {
  Random random(4);
  const MatrixXd x = uniform_matrix(random, 9003, 150, -1, 1);
  check_floats(dense(x), VectorXd::Ones(9003), true);
}

TEST(float_columns_are_not_used_if_x_is_sparse) {
  const SparseColumns columns(random_columns());
  const Example example(columns.design(), equal_weights(), true);
  CHECK(!FloatColumns(example.model).usable());
}
