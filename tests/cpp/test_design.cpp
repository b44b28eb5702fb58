// The view of X: dense and sparse storage must agree with plain matrix algebra.
#include "check.hpp"
#include "random_data.hpp"
#include "temporary_file.hpp"

#include "data/design.hpp"
#include "data/mapped_file.hpp"
#include "data/mapped_storage.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;
using n2gfl::Design;
using n2gfl::Poll;
using testing::below;
using testing::Random;
using testing::SparseColumns;
using testing::uniform;
using testing::uniform_matrix;
using testing::uniform_vector;
using testing::vec;

namespace {

MatrixXd half_empty(Random& random, int rows, int cols) {
  MatrixXd x = uniform_matrix(random, rows, cols, -2, 2);
  for (int k = 0; k < x.size(); ++k)
    if (random() % 2) x.data()[k] = 0;
  if (cols > 1) x.col(1).setZero();  // an empty column
  return x;
}

Design dense(const MatrixXd& x) {
  return Design::dense(x.data(), static_cast<int>(x.rows()), static_cast<int>(x.cols()));
}

// Values that a float can hold, in all storages.
struct Stored {
  explicit Stored(const MatrixXd& values)
      : singles(values.cast<float>()), doubles(singles.cast<double>()), columns(doubles) {}

  Design dense() const { return ::dense(doubles); }
  Design single() const {
    return Design::dense(singles.data(), static_cast<int>(singles.rows()),
                         static_cast<int>(singles.cols()));
  }
  Design sparse() const { return columns.design(); }

  Eigen::MatrixXf singles;
  MatrixXd doubles;
  SparseColumns columns;
};

// What every method returns, one after the other.
std::vector<double> answers(const Design& x, unsigned seed) {
  Random random(seed);
  const int n = x.rows(), d = x.cols();
  const VectorXd v = uniform_vector(random, n, -1, 1), h = uniform_vector(random, n, 0, 1);
  Poll poll;
  std::vector<double> all;
  const auto keep = [&](const VectorXd& out) {
    all.insert(all.end(), out.data(), out.data() + out.size());
  };
  VectorXd product, some = VectorXd::Zero(d), sum = v, part = v, times = v;
  x.transpose_times(v, product, 1, poll);
  keep(product);
  const std::vector<int> list{d - 1, 0, d / 2, 0};  // in any order, one of them twice
  x.transpose_times(v, list, some, 1, poll);
  x.add_sum(list, sum, poll);
  x.add_times(product, times, poll);
  for (const VectorXd& out : {some, sum, times}) keep(out);
  std::vector<int> rows, slot(static_cast<std::size_t>(n), -1);
  for (int i = 0; i < n; i += 2) {
    slot[static_cast<std::size_t>(i)] = static_cast<int>(rows.size());
    rows.push_back(i);
  }
  for (int j = 0; j < d; ++j) {
    VectorXd at = VectorXd::Zero(static_cast<int>(rows.size()));
    x.add(j, 0.4, part);
    x.add_at(j, -0.6, rows, slot, at.data());
    x.add_weighted(j, 1.7, h, part);
    keep(part);
    keep(at);
    const Design::Survey seen = x.survey(j, v);
    keep(vec({seen.dot, seen.centred, seen.plain}));
    keep(vec({x.dot(j, v), x.weighted_square(j, h), x.scale(j)}));
  }
  return all;
}

// The columns in single precision, with and without their mean.
std::vector<float> copies(const Design& x) {
  const int length = (x.rows() + 7) / 8 * 8;
  std::vector<float> all;
  for (int j = 0; j < x.cols(); ++j)
    for (bool centred : {false, true}) {
      std::vector<float> copy(static_cast<std::size_t>(length), 7);
      x.copy_column(j, centred, 0.3, copy.data(), length);
      all.insert(all.end(), copy.begin(), copy.end());
    }
  return all;
}

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = a.size() == b.size() ? 0 : testing::kInfinity;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
    largest = std::max(largest, std::fabs(static_cast<double>(a[k]) - static_cast<double>(b[k])));
  return largest;
}

// Three sites whose rows are mixed, some rows of a site that is not known, and some that are not
// used for the estimates; each site has at least three rows that are. At least 13 rows.
n2gfl::Sites some_sites(Random& random, int n, int covariates, int reference = -1) {
  n2gfl::Sites sites;
  sites.count = 3;
  sites.reference = reference;
  for (int i = 0; i < n; ++i) {
    sites.of_row.push_back(i < 9 ? i % 3 : below(random, 4));
    sites.used.push_back(i < 9 || (sites.of_row.back() < 3 && below(random, 3) > 0));
  }
  sites.preserved = uniform_matrix(random, n, covariates, -1, 3);
  return sites;
}

// Every kind of view, alone and together with others.
std::vector<std::function<void(Design&)>> views(Random& random, int n) {
  VectorXd weights = uniform_vector(random, n, 0.5, 2);
  for (int i = 0; i < n; i += 4) weights[i] = 0;
  const VectorXd omega = weights / weights.sum();
  const MatrixXd z = uniform_matrix(random, n, 2, -1, 1), p = z.transpose() / n;
  const auto rows = [=](Design& x) { x.use_rows(weights); };
  const auto scaled = [=](Design& x) { x.standardise(omega); };
  const auto mirrored = [](Design& x) { x.mirror(); };
  const auto deconfounded = [=](Design& x) { x.deconfound(z, p); };
  const VectorXd factors = uniform_vector(random, n, 0.2, 3);
  const auto weighted = [=](Design& x) { x.scale_rows(factors); };
  std::vector<std::function<void(Design&)>> all{
      [](Design&) {}, rows, scaled, mirrored, deconfounded, weighted,
      [=](Design& x) { rows(x), scaled(x), mirrored(x); },
      [=](Design& x) { weighted(x), rows(x), scaled(x), mirrored(x); },
      [=](Design& x) { weighted(x), deconfounded(x), rows(x), scaled(x), mirrored(x); }};
  if (n < 13) return all;  // too few rows for sites
  for (int covariates : {0, 2}) {
    const n2gfl::Sites sites = some_sites(random, n, covariates, covariates - 1);
    const auto harmonised = [=](Design& x) {
      Poll poll;
      x.harmonise(sites, 2, poll);
    };
    all.push_back(harmonised);
    all.push_back([=](Design& x) { weighted(x), harmonised(x), rows(x), scaled(x), mirrored(x); });
    all.push_back([=](Design& x) {
      weighted(x), harmonised(x), deconfounded(x), rows(x), scaled(x), mirrored(x);
    });
  }
  return all;
}

double relative_distance(const VectorXd& a, const VectorXd& b) {
  return (a - b).norm() / (1e-300 + a.norm() + b.norm());
}

// Every method against `meant`, the matrix that the view represents. `slack`: how much larger the
// rounding may be than that of the products alone.
void check_view(const Design& x, const MatrixXd& meant, Random& random, double slack = 1) {
  const int n = static_cast<int>(meant.rows());
  const VectorXd v = uniform_vector(random, n, -1, 1), h = uniform_vector(random, n, 0, 1);
  CHECK(x.rows() == n && x.cols() == meant.cols());
  VectorXd product;
  Poll poll;
  x.transpose_times(v, product, 1, poll);
  CHECK_NEAR(relative_distance(product, meant.transpose() * v), 0, 1e-14 * slack);
  for (int j = 0; j < x.cols(); ++j) {
    const VectorXd column = meant.col(j);
    const double size = 1e-14 * slack * column.norm();
    CHECK_NEAR(x.dot(j, v), column.dot(v), size);
    VectorXd sum = v, weighted = v;
    x.add(j, -0.7, sum);
    x.add_weighted(j, 0.3, h, weighted);
    CHECK_NEAR((sum - (v - 0.7 * column)).norm(), 0, 1e-15 * v.norm() + size);
    CHECK_NEAR((weighted - (v + 0.3 * h.cwiseProduct(column))).norm(), 0, 1e-15 * v.norm() + size);
    CHECK_NEAR(x.weighted_square(j, h), column.cwiseAbs2().dot(h), size * column.norm());
  }
}

// |x - mean| in higher precision.
double centred_norm(const VectorXd& x) {
  long double mean = 0, squares = 0;
  for (int i = 0; i < x.size(); ++i) mean += static_cast<long double>(x[i]) / x.size();
  for (int i = 0; i < x.size(); ++i) squares += (x[i] - mean) * (x[i] - mean);
  return static_cast<double>(std::sqrt(squares));
}

}  // namespace

TEST(design_is_a_view_of_dense_and_sparse_matrices) {
  Random random(1);
  for (int round = 0; round < 10; ++round) {
    const MatrixXd x = half_empty(random, 1 + below(random, 20), 1 + below(random, 6));
    const SparseColumns sparse(x);
    check_view(dense(x), x, random);
    check_view(sparse.design(), x, random);
    const Stored stored(x);
    check_view(stored.single(), stored.doubles, random);
    Design mirrored = sparse.design();
    mirrored.mirror();
    check_view(mirrored, -x, random);
    mirrored.mirror();
    check_view(mirrored, x, random);
  }
}

// Single precision gives the same bits, sparse columns differ by the order of their sums. The mean
// of a copy is summed in an order that depends on where a column begins.
TEST(all_storages_give_the_same_views) {
  Random random(9);
  for (int n : {1, 7, 8, 33, 150, 9000}) {
    const Stored stored(half_empty(random, n, 5));
    const auto seed = static_cast<unsigned>(n);
    for (const auto& view : views(random, n)) {
      Design dense = stored.dense(), single = stored.single(), sparse = stored.sparse();
      for (Design* x : {&dense, &single, &sparse}) view(*x);
      const std::vector<double> expected = answers(dense, seed);
      CHECK(answers(single, seed) == expected);
      const double size = 1 + *std::max_element(expected.begin(), expected.end());
      CHECK_NEAR(largest_difference(answers(sparse, seed), expected), 0, 1e-12 * size);
      const std::vector<float> copied = copies(dense);
      CHECK_NEAR(largest_difference(copies(single), copied), 0, 1e-6);
      CHECK_NEAR(largest_difference(copies(sparse), copied), 0, 1e-6);
      CHECK(n % 8 != 0 || copies(single) == copied);
    }
  }
}

namespace {

const double kSlope = 0.25, kIntercept = -1.5;  // exact in all types
const int kUnknown = 77;                        // the number of a missing value

// Numbers that all types can hold, but not the one of a missing value.
MatrixXd levels(Random& random, int rows, int cols) {
  MatrixXd numbers(rows, cols);
  for (int k = 0; k < numbers.size(); ++k) numbers.data()[k] = below(random, kUnknown);
  if (cols > 1) numbers.col(1).setZero();
  return numbers;
}

// A file of them as type T. The file is removed at once where the system allows it: the mapping
// stays.
template <class T>
Design mapped(const MatrixXd& numbers, n2gfl::StoredType type, bool scaled) {
  std::vector<T> stored;
  for (int k = 0; k < numbers.size(); ++k) stored.push_back(static_cast<T>(numbers.data()[k]));
  n2gfl::MatrixFile matrix;
  matrix.offset = 16;
  const testing::TemporaryFile file(stored, 16);
  matrix.path = file.path();
  matrix.type = type;
  matrix.rows = static_cast<int>(numbers.rows());
  matrix.cols = static_cast<int>(numbers.cols());
  if (scaled) {
    matrix.slope = kSlope;
    matrix.intercept = kIntercept;
    matrix.has_missing = true;
    matrix.missing = kUnknown;
  }
  return Design(n2gfl::mapped_storage(matrix));
}

std::vector<Design> in_all_types(const MatrixXd& numbers, bool scaled) {
  using n2gfl::StoredType;
  return {mapped<double>(numbers, StoredType::float64, scaled),
          mapped<float>(numbers, StoredType::float32, scaled),
          mapped<std::int32_t>(numbers, StoredType::int32, scaled),
          mapped<std::int16_t>(numbers, StoredType::int16, scaled),
          mapped<std::uint16_t>(numbers, StoredType::uint16, scaled),
          mapped<std::uint8_t>(numbers, StoredType::uint8, scaled)};
}

}  // namespace

TEST(files_of_all_types_give_the_same_views) {
  Random random(10);
  for (int n : {1, 7, 16, 150})
    for (bool scaled : {false, true}) {
      const MatrixXd numbers = levels(random, n, 5);
      const MatrixXd values = scaled ? MatrixXd(numbers.array() * kSlope + kIntercept) : numbers;
      const auto seed = static_cast<unsigned>(n);
      for (const auto& view : views(random, n)) {
        Design expected = dense(values);
        view(expected);
        for (Design& x : in_all_types(numbers, scaled)) {
          view(x);
          CHECK(answers(x, seed) == answers(expected, seed));
          CHECK_NEAR(largest_difference(copies(x), copies(expected)), 0, 1e-6);
          Poll poll;
          CHECK(x.all_finite(1, poll));
        }
      }
    }
}

TEST(the_number_of_a_missing_value_is_found) {
  Random random(11);
  MatrixXd numbers = levels(random, 9, 4);
  numbers(8, 2) = kUnknown;
  const VectorXd v = VectorXd::Ones(9);
  for (bool scaled : {false, true})
    for (const Design& x : in_all_types(numbers, scaled)) {
      Poll poll;
      CHECK(x.all_finite(2, poll) == !scaled);
      CHECK(x.survey(2, v).finite == !scaled && x.survey(3, v).finite);
      CHECK(std::isnan(x.expanded(2)[8]) == scaled);
    }
}

TEST(a_file_that_is_not_as_expected_is_refused) {
  const testing::TemporaryFile file(std::vector<double>{1, 2, 3, 4, 5, 6});
  n2gfl::MatrixFile matrix;
  matrix.path = file.path();
  matrix.rows = 2;
  matrix.cols = 3;
  CHECK(Design(n2gfl::mapped_storage(matrix)).dot(2, vec({1, 1})) == 11);
  matrix.type = n2gfl::StoredType::float32;
  double found = 0;
  try {
    n2gfl::mapped_storage(matrix);
  } catch (const n2gfl::FileOfOtherSize& e) {
    found = static_cast<double>(e.size);
  }
  CHECK(found == 48);
  for (const char* path : {"", ".", "no such file.tmp"}) {
    bool missing = false;
    try {
      const n2gfl::MappedFile mapping(path, 48);
    } catch (const n2gfl::FileMissing&) {
      missing = true;
    }
    CHECK(missing);
  }
  const testing::TemporaryFile empty(std::vector<double>{});
  CHECK_THROWS(n2gfl::MappedFile(empty.path(), 0));
}

TEST(copies_of_a_view_share_its_values) {
  MatrixXd x = MatrixXd::Ones(3, 2);
  const Design view = dense(x);
  Design other = view;
  other.mirror();
  x(1, 1) = 5;
  const VectorXd v = VectorXd::Ones(3);
  CHECK(view.dot(1, v) == 7 && other.dot(1, v) == -7);
}

TEST(sums_of_columns_can_be_interrupted) {
  const MatrixXd x = MatrixXd::Ones(2, 1000);
  const std::vector<int> columns(1000, 3);
  VectorXd sum = VectorXd::Zero(2);
  for (bool all : {false, true}) {
    Poll poll([] { throw std::runtime_error("stop"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(150));  // a Poll checks every 100
    CHECK_THROWS((all ? dense(x).add_times(VectorXd::Ones(1000), sum, poll)
                      : dense(x).add_sum(columns, sum, poll)));
  }
}

TEST(design_counts_passes_over_its_columns) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  const n2gfl::Design x = n2gfl::Design::dense(values.data(), 2, 3);
  const VectorXd v = VectorXd::Ones(2);
  VectorXd out;
  n2gfl::Poll poll;
  CHECK(x.passes() == 0);
  x.transpose_times(v, out, 1, poll);
  CHECK(x.passes() == 1);
  for (int j = 0; j < 3; ++j) CHECK(x.dot(j, v) == out[j]);
  CHECK(x.passes() == 2);
}

TEST(design_standardises_with_weights) {
  Random random(2);
  const int n = 15;
  const MatrixXd x = half_empty(random, n, 4).array() + 0.5 * (below(random, 2));
  VectorXd omega = uniform_vector(random, n, 0.1, 2);
  omega[3] = 0;
  omega /= omega.sum();
  MatrixXd meant = x;
  for (int j = 0; j < x.cols(); ++j) {
    const double mean = omega.dot(x.col(j));
    const double sd = std::sqrt(omega.dot((x.col(j).array() - mean).square().matrix()));
    meant.col(j) *= sd > 0 ? 1 / sd : 0;
  }
  const SparseColumns columns(x);
  for (Design view : {dense(x), columns.design()}) {
    view.standardise(omega);
    check_view(view, meant, random);
    view.mirror();  // together
    check_view(view, -meant, random);
    CHECK_NEAR(view.scale(0), -meant.col(0).norm() / x.col(0).norm(), 1e-13);
  }
}

TEST(design_knows_a_constant_column) {
  const int n = 1000;
  Random random(3);
  VectorXd omega = uniform_vector(random, n, 0.1, 2);
  omega /= omega.sum();
  MatrixXd x(n, 6);
  x.col(0).setConstant(0.1);
  x.col(1).setConstant(-1e12 / 3);
  x.col(2).setZero();
  x.col(3).setConstant(1e-200);
  x.col(4) = 1e6 + uniform_vector(random, n, -1, 1).array() * 1e-3;  // varies, far from zero
  x.col(5) = 1e-100 * uniform_vector(random, n, -1, 1);              // varies, tiny
  const SparseColumns columns(x);
  for (Design view : {dense(x), columns.design()}) {
    view.standardise(omega);
    for (int j = 0; j < 4; ++j) CHECK(view.scale(j) == 0);
    CHECK_NEAR(view.scale(4), 1e3 * std::sqrt(3.0), 100);
    CHECK_NEAR(view.scale(5), 1e100 * std::sqrt(3.0), 1e99);
  }
  // A column that is constant in all rows with weight counts as constant.
  MatrixXd partly = MatrixXd::Ones(3, 1);
  partly(2, 0) = 7;
  Design view = dense(partly);
  view.standardise(vec({0.5, 0.5, 0}));
  CHECK(view.scale(0) == 0);
}

// The survey of a column and its product.
Design::Survey survey(const Design& view, int j) {
  const VectorXd v = VectorXd::LinSpaced(view.rows(), -1, 2);
  const Design::Survey seen = view.survey(j, v);
  CHECK_NEAR(seen.dot, view.dot(j, v), 1e-13 * (1 + seen.plain * v.norm()));
  return seen;
}

TEST(design_norms_are_bounds) {
  Random random(4);
  for (int n : {1, 2, 30, 5000})
    for (double mean : {0.0, 1.0, -1e3, 1e7}) {
      MatrixXd x = uniform_matrix(random, n, 3, -1, 1);
      x.array() += mean;
      if (mean == 0) x.topRows(n / 2).setZero();
      const SparseColumns columns(x);
      for (Design view : {dense(x), columns.design()})
        for (int j = 0; j < 3; ++j) {
          const Design::Survey norms = survey(view, j);
          const double least = centred_norm(x.col(j)), plain = x.col(j).norm();
          CHECK(norms.centred >= least * (1 - 1e-15));
          CHECK(norms.centred <= 1.01 * least + 1e-6 * plain);  // and the bound is not too loose
          CHECK_NEAR(norms.plain, plain, 1e-13 * plain);
        }
    }
}

TEST(design_norms_follow_the_scale_and_bound_products) {
  Random random(5);
  const int n = 40;
  const MatrixXd x = uniform_matrix(random, n, 5, 0, 10);
  Design view = dense(x);
  view.standardise(VectorXd::Constant(n, 1.0 / n));
  view.mirror();
  for (int round = 0; round < 20; ++round) {
    const VectorXd v = uniform_vector(random, n, -1, 1);
    const VectorXd balanced = v.array() - v.mean();
    for (int j = 0; j < 5; ++j) {
      CHECK(std::fabs(view.dot(j, v)) <= survey(view, j).plain * v.norm());
      CHECK(std::fabs(view.dot(j, balanced)) <= survey(view, j).centred * balanced.norm());
      CHECK_NEAR(survey(view, j).centred, std::sqrt(1.0 * n), 1e-5);
    }
  }
}

TEST(design_norms_see_rows_with_weight_only) {
  Random random(8);
  const int n = 20;
  MatrixXd x = uniform_matrix(random, n, 4, -1, 3);
  VectorXd weights = uniform_vector(random, n, 0.5, 2);
  for (int i : {0, 7, 19}) weights[i] = 0;
  MatrixXd kept(n - 3, 4);
  for (int i = 0, k = 0; i < n; ++i)
    if (weights[i] > 0) kept.row(k++) = x.row(i);
  Design view = dense(x);
  view.use_rows(weights);
  Design::Survey before = survey(view, 1);
  CHECK_NEAR(before.plain, kept.col(1).norm(), 1e-13);
  CHECK_NEAR(before.centred, centred_norm(kept.col(1)), 1e-6);
  x.row(7).setConstant(1e6);
  CHECK(survey(view, 1).plain == before.plain && survey(view, 1).centred == before.centred);
}

TEST(design_tells_large_numbers_from_none) {
  for (int n : {2, 9})
    for (int at : {0, n - 1}) {
      MatrixXd x = MatrixXd::Ones(n, 3);
      x(at, 0) = 1e200;  // finite, but its square is not
      x(at, 1) = std::numeric_limits<double>::infinity();
      x(at, 2) = std::nan("");
      const SparseColumns columns(x);
      VectorXd weights = VectorXd::Ones(n);
      for (double last : {1.0, 0.0}) {
        weights[at] = last;
        for (Design view : {dense(x), columns.design()}) {
          view.use_rows(weights);
          const VectorXd v = VectorXd::Zero(n);
          CHECK(view.survey(0, v).finite);
          CHECK(!view.survey(1, v).finite && !view.survey(2, v).finite);
        }
      }
    }
}

TEST(design_products_cross_blocks) {
  const int cols = 10000;  // more than one block of columns
  Random random(6);
  const MatrixXd x = uniform_matrix(random, 3, cols, -1, 1);
  const VectorXd v = vec({1, -2, 0.5});
  VectorXd product;
  Poll poll;
  dense(x).transpose_times(v, product, 2, poll);
  CHECK_NEAR((product - x.transpose() * v).cwiseAbs().maxCoeff(), 0, 1e-15);

  std::vector<int> even;
  for (int j = 0; j < cols; j += 2) even.push_back(j);
  VectorXd some = VectorXd::Constant(cols, 7);
  const Design view = dense(x);
  view.transpose_times(v, even, some, 2, poll);
  for (int j = 0; j < cols; ++j) CHECK(some[j] == (j % 2 == 0 ? product[j] : 7));
  CHECK(view.passes() == 0.5);
}

// X - Z P X against plain algebra, together with scaling and mirroring; rows with zero P do not
// count.
TEST(design_removes_nuisance_effects) {
  Random random(7);
  for (int round = 0; round < 10; ++round) {
    const int n = 6 + below(random, 15), q = 1 + below(random, 3);
    const MatrixXd x = half_empty(random, n, 5), z = uniform_matrix(random, n, q, -1, 1);
    MatrixXd p = uniform_matrix(random, q, n, -1, 1);
    p.col(2).setZero();
    const MatrixXd left = x - z * (p * x);
    VectorXd omega = uniform_vector(random, n, 0.1, 2);
    omega /= omega.sum();
    MatrixXd scaled = left;
    for (int j = 0; j < scaled.cols(); ++j) {
      const double mean = omega.dot(left.col(j));
      const double sd = std::sqrt(omega.dot((left.col(j).array() - mean).square().matrix()));
      scaled.col(j) *= sd > 1e-13 * std::fabs(mean) ? 1 / sd : 0;
    }
    const SparseColumns columns(x);
    for (Design view : {dense(x), columns.design()}) {
      view.deconfound(z, p);
      check_view(view, left, random, 1e2);
      for (int j = 0; j < left.cols(); ++j) {
        CHECK_NEAR(survey(view, j).plain, left.col(j).norm(), 1e-13);
        CHECK(survey(view, j).centred >= centred_norm(left.col(j)) * (1 - 1e-12));
      }
      view.standardise(omega);
      view.mirror();
      check_view(view, -scaled, random, 1e4);
    }
  }
}

namespace {

// The estimates of one column before they are shrunk, by the normal equations of all indicators and
// covariates together.
struct SiteFit {
  VectorXd locations, spreads, slopes;  // relative to mean and sd
  double mean = 0, sd = 0;
};

// Without a scale at some site a column stays as it is: sd is 0.
bool varies_at_all_sites(const VectorXd& x, const n2gfl::Sites& sites) {
  for (int s = 0; s < sites.count; ++s) {
    double low = testing::kInfinity, high = -low;
    for (std::size_t i = 0; i < sites.used.size(); ++i) {
      if (!sites.used[i] || sites.of_row[i] != s) continue;
      low = std::min(low, x[static_cast<int>(i)]);
      high = std::max(high, x[static_cast<int>(i)]);
    }
    if (low == high) return false;
  }
  return true;
}

SiteFit fit_sites(const VectorXd& x, const n2gfl::Sites& sites) {
  if (!varies_at_all_sites(x, sites)) return {};
  const int n = static_cast<int>(x.size()), count = sites.count, r = sites.reference;
  const int q = static_cast<int>(sites.preserved.cols());
  MatrixXd design = MatrixXd::Zero(n, count + q);
  VectorXd sizes = VectorXd::Zero(count), y = VectorXd::Zero(n);
  for (int i = 0; i < n; ++i) {
    if (!sites.used[static_cast<std::size_t>(i)]) continue;
    const int s = sites.of_row[static_cast<std::size_t>(i)];
    design(i, s) = 1;
    design.row(i).tail(q) = sites.preserved.row(i);
    y[i] = x[i];
    ++sizes[s];
  }
  const VectorXd b = (design.transpose() * design).ldlt().solve(design.transpose() * y);
  const VectorXd rest = y - design * b;
  VectorXd squares = VectorXd::Zero(count);
  for (int i = 0; i < n; ++i)
    for (int s = 0; s < count; ++s) squares[s] += design(i, s) * rest[i] * rest[i];
  SiteFit fit;
  fit.mean = r >= 0 ? b[r] : b.head(count).dot(sizes) / sizes.sum();
  fit.sd = std::sqrt(r >= 0 ? squares[r] / sizes[r] : squares.sum() / sizes.sum());
  fit.locations = (b.head(count).array() - fit.mean) / fit.sd;
  fit.spreads = squares.array() / (sizes.array() - 1) / (fit.sd * fit.sd);
  fit.slopes = b.tail(q);
  return fit;
}

// What ComBat makes of x, from the posterior of every site.
MatrixXd without_sites(const MatrixXd& x, const n2gfl::Sites& sites) {
  const int d = static_cast<int>(x.cols());
  std::vector<SiteFit> fits;
  for (int j = 0; j < d; ++j) fits.push_back(fit_sites(x.col(j), sites));
  MatrixXd clean = x;
  for (int s = 0; s < sites.count; ++s) {
    if (s == sites.reference) continue;
    double n = 0;
    for (std::size_t i = 0; i < sites.used.size(); ++i) n += sites.used[i] && sites.of_row[i] == s;
    std::vector<double> g, d2;
    for (int j = 0; j < d; ++j)
      if (fits[static_cast<std::size_t>(j)].sd > 0) {
        g.push_back(fits[static_cast<std::size_t>(j)].locations[s]);
        d2.push_back(fits[static_cast<std::size_t>(j)].spreads[s]);
      }
    const auto mean = [](const std::vector<double>& v) {
      return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    };
    const auto variance = [&](const std::vector<double>& v) {
      double sum = 0;
      for (double value : v) sum += (value - mean(v)) * (value - mean(v));
      return sum / static_cast<double>(v.size() - 1);
    };
    const double gm = mean(g), t2 = variance(g), dm = mean(d2), s2 = variance(d2);
    const double a = (2 * s2 + dm * dm) / s2, b = (dm * s2 + dm * dm * dm) / s2;
    std::vector<double> g_old = g, d_old = d2;
    double change = 1;
    while (change > 1e-4) {
      change = 0;
      for (std::size_t k = 0; k < g.size(); ++k) {
        const double g_new = (t2 * n * g[k] + d_old[k] * gm) / (t2 * n + d_old[k]);
        const double squares = (n - 1) * d2[k] + n * (g[k] - g_new) * (g[k] - g_new);
        const double d_new = (squares / 2 + b) / (n / 2 + a - 1);
        change = std::max({change, std::fabs(g_new - g_old[k]) / g_old[k],
                           std::fabs(d_new - d_old[k]) / d_old[k]});
        g_old[k] = g_new;
        d_old[k] = d_new;
      }
    }
    std::size_t k = 0;
    for (int j = 0; j < d; ++j) {
      const SiteFit& fit = fits[static_cast<std::size_t>(j)];
      if (!(fit.sd > 0)) continue;
      for (int i = 0; i < x.rows(); ++i) {
        if (sites.of_row[static_cast<std::size_t>(i)] != s) continue;
        const double kept = fit.mean + sites.preserved.row(i).dot(fit.slopes);
        clean(i, j) = kept + (x(i, j) - kept - fit.sd * g_old[k]) / std::sqrt(d_old[k]);
      }
      ++k;
    }
  }
  return clean;
}

}  // namespace

TEST(design_scales_rows) {
  Random random(20);
  for (int round = 0; round < 10; ++round) {
    const int n = 3 + below(random, 20);
    const Stored stored(half_empty(random, n, 5));
    const VectorXd factors = uniform_vector(random, n, 0.1, 4);
    const MatrixXd meant = factors.asDiagonal() * stored.doubles;
    VectorXd weights = VectorXd::Ones(n);
    weights[1] = 0;
    for (Design view : {stored.dense(), stored.single(), stored.sparse()}) {
      view.scale_rows(factors);
      check_view(view, meant, random);
      view.use_rows(weights);
      for (int j = 0; j < 5; ++j) {
        VectorXd used = meant.col(j);
        used[1] = 0;
        CHECK_NEAR(survey(view, j).plain, used.norm(), 1e-13);
      }
    }
  }
}

// Scaled rows, without effects of sites and covariates, standardised and mirrored, against plain
// algebra step by step.
TEST(design_removes_effects_of_sites) {
  Random random(21);
  for (int round = 0; round < 20; ++round) {
    const int n = 13 + below(random, 30), q = below(random, 3), reference = below(random, 4) - 1;
    const Stored stored(half_empty(random, n, 6));
    const n2gfl::Sites sites = some_sites(random, n, q, reference);
    const VectorXd factors = uniform_vector(random, n, 0.5, 2);
    const MatrixXd z = uniform_matrix(random, n, 2, -1, 1), p = uniform_matrix(random, 2, n, -1, 1);
    VectorXd omega = uniform_vector(random, n, 0.1, 2);
    omega /= omega.sum();
    const MatrixXd clean = without_sites(stored.doubles, sites);
    const MatrixXd scaled = factors.asDiagonal() * stored.doubles;
    const MatrixXd both = without_sites(scaled, sites), left = both - z * (p * both);
    MatrixXd last = left;
    for (int j = 0; j < last.cols(); ++j) {
      const double mean = omega.dot(left.col(j));
      const double sd = std::sqrt(omega.dot((left.col(j).array() - mean).square().matrix()));
      last.col(j) *= sd > 1e-13 * std::fabs(mean) ? -1 / sd : 0;
    }
    Poll poll;
    for (Design view : {stored.dense(), stored.single(), stored.sparse()}) {
      Design alone = view;
      alone.harmonise(sites, 1, poll);
      check_view(alone, clean, random, 1e3);
      view.scale_rows(factors);
      view.harmonise(sites, 2, poll);
      check_view(view, both, random, 1e3);
      view.deconfound(z, p);
      check_view(view, left, random, 1e4);
      view.standardise(omega);
      view.mirror();
      check_view(view, last, random, 1e5);
    }
  }
}

TEST(design_estimates_sites_from_the_used_rows_only) {
  Random random(22);
  const int n = 40;
  MatrixXd x = uniform_matrix(random, n, 5, -1, 3);
  const n2gfl::Sites sites = some_sites(random, n, 2);
  Poll poll;
  Design before = dense(x);
  before.harmonise(sites, 1, poll);
  MatrixXd other = x;
  for (int i = 0; i < n; ++i)
    if (!sites.used[static_cast<std::size_t>(i)]) other.row(i).setConstant(1e9);
  Design after = dense(other);
  after.harmonise(sites, 1, poll);
  for (int j = 0; j < 5; ++j) {
    CHECK(before.sites()->scale(j) == after.sites()->scale(j));
    CHECK(before.sites()->shift(j) == after.sites()->shift(j));
    CHECK(before.sites()->slopes(j) == after.sites()->slopes(j));
  }
}

TEST(design_leaves_columns_that_do_not_vary_within_a_site) {
  Random random(23);
  const int n = 30;
  MatrixXd x = uniform_matrix(random, n, 4, -1, 3);
  const n2gfl::Sites sites = some_sites(random, n, 0);
  for (int i = 0; i < n; ++i)
    if (sites.of_row[static_cast<std::size_t>(i)] == 1) x(i, 2) = 0.1;
  Poll poll;
  Design view = dense(x);
  view.harmonise(sites, 1, poll);
  check_view(view, without_sites(x, sites), random, 1e3);
  CHECK(view.sites()->scale(2) == VectorXd::Ones(3) && view.sites()->shift(2).isZero(0));
  x.rightCols(3).setConstant(0.1);
  view = dense(x);
  CHECK_THROWS(view.harmonise(sites, 1, poll));
}
