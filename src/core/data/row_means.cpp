#include "data/row_means.hpp"

#include <algorithm>
#include <cstdint>

namespace n2gfl {

VectorXd row_means(const Design& x, Poll& poll) {
  VectorXd sum = VectorXd::Zero(x.rows());
  x.add_times(VectorXd::Ones(x.cols()), sum, poll);
  return sum / x.cols();
}

namespace {

// An orthonormal basis of a constant and the covariates, in the rows that are used; zero elsewhere.
MatrixXd basis_of(const MatrixXd& covariates, const VectorXd& used) {
  MatrixXd columns(used.size(), covariates.cols() + 1);
  columns << used, used.asDiagonal() * covariates;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  qr.setThreshold(1e-10);
  return qr.householderQ() * MatrixXd::Identity(columns.rows(), qr.rank());
}

}  // namespace

RowMeanShare share_of_row_means(const Design& x, const VectorXd& weights,
                                const MatrixXd& covariates) {
  constexpr int kMost = 4096;
  const int count = std::min(x.cols(), kMost);
  const auto column = [&](int k) {
    return x.expanded(static_cast<int>(static_cast<std::int64_t>(k) * x.cols() / count));
  };
  const VectorXd used = (weights.array() > 0).cast<double>();
  const MatrixXd basis = basis_of(covariates, used);
  const auto rest = [&](const VectorXd& v) {
    const VectorXd seen = used.cwiseProduct(v);
    return VectorXd(seen - basis * (basis.transpose() * seen));
  };
  VectorXd means = VectorXd::Zero(x.rows());
  for (int k = 0; k < count; ++k) means += column(k) / count;
  const VectorXd m = rest(means);
  RowMeanShare answer;
  answer.smallest = (used.array() > 0).select(means, means.maxCoeff()).minCoeff();
  if (m.norm() <= 1e-10 * means.norm()) return answer;
  const VectorXd direction = m.normalized();
  double all = 0, explained = 0;
  for (int k = 0; k < count; ++k) {
    const VectorXd left = rest(column(k));
    const double along = left.dot(direction);
    all += left.squaredNorm();
    explained += along * along;
  }
  if (all > 0) answer.share = explained / all;
  return answer;
}

}  // namespace n2gfl
