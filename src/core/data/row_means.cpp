#include "data/row_means.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace n2gfl {

VectorXd row_means(const Design& x, Poll& poll) {
  VectorXd sum = VectorXd::Zero(x.rows());
  x.add_times(VectorXd::Ones(x.cols()), sum, poll);
  return sum / x.cols();
}

namespace {

// At most so many columns and rows tell the share well enough: it is a mean over the columns, and
// the mean of 128 features that lie apart is nearly that of all.
constexpr int kColumns = 128;
constexpr int kRows = 256;

// The numbers 0 .. n - 1, or `most` of them, spread evenly: multiples of the golden ratio without
// their whole part. Equal steps could follow a grid of voxels and select one face of it.
std::vector<int> even_selection(int n, int most) {
  const double golden = 0.6180339887498949;
  std::vector<int> chosen(std::min(n, most));
  for (int k = 0; k < static_cast<int>(chosen.size()); ++k) {
    const double at = (k + 0.5) * golden;
    chosen[k] = n <= most ? k : static_cast<int>((at - std::floor(at)) * n);
  }
  return chosen;
}

// The rows with weight, or an even selection of them.
std::vector<int> rows_with_weight(const VectorXd& weights) {
  std::vector<int> used;
  for (int i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) used.push_back(i);
  }
  std::vector<int> chosen = even_selection(static_cast<int>(used.size()), kRows);
  for (int& row : chosen) row = used[row];
  return chosen;
}

template <class Vector>
VectorXd entries(const Vector& v, const std::vector<int>& rows) {
  VectorXd out(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] = v[rows[i]];
  return out;
}

// An orthonormal basis of a constant and the covariates, in these rows.
MatrixXd basis_of(const MatrixXd& covariates, const std::vector<int>& rows) {
  MatrixXd columns(rows.size(), covariates.cols() + 1);
  columns.col(0).setOnes();
  for (int j = 0; j < covariates.cols(); ++j) {
    columns.col(j + 1) = entries(covariates.col(j), rows);
  }
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  qr.setThreshold(1e-10);
  return qr.householderQ() * MatrixXd::Identity(columns.rows(), qr.rank());
}

}  // namespace

RowMeanShare share_of_row_means(const Design& x, const VectorXd& weights,
                                const MatrixXd& covariates) {
  const std::vector<int> rows = rows_with_weight(weights);
  const std::vector<int> columns = even_selection(x.cols(), kColumns);
  MatrixXd seen(rows.size(), columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    seen.col(k) = entries(x.expanded(columns[k]), rows);
  }

  const VectorXd means = seen.rowwise().mean();
  const MatrixXd basis = basis_of(covariates, rows);
  const VectorXd m = means - basis * (basis.transpose() * means);
  RowMeanShare answer;
  answer.smallest = means.minCoeff();
  if (m.norm() <= 1e-10 * means.norm()) return answer;
  seen -= basis * (basis.transpose() * seen);
  const double all = seen.squaredNorm();
  if (all > 0) answer.share = (seen.transpose() * m.normalized()).squaredNorm() / all;
  return answer;
}

}  // namespace n2gfl
