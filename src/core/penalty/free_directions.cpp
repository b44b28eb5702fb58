#include "penalty/free_directions.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "graph/parts.hpp"

namespace n2gfl {

void FreeDirections::find(double lambda1, double lambda2) {
  sets_.clear();
  if (lambda1 > 0 && !model_->any_unpenalised) return;
  int count = 0;
  const std::vector<int> of =
      components(model_->graph, [&](int, int) { return lambda2 > 0; }, count);
  std::vector<char> free(count, 1);
  for (int i = 0; i < model_->features(); ++i)
    if (model_->threshold(lambda1, i) > 0) free[of[i]] = 0;
  std::vector<int> number(count, -1);
  for (int i = 0; i < model_->features(); ++i) {
    if (!free[of[i]]) continue;
    int& k = number[of[i]];
    if (k < 0) {
      k = static_cast<int>(sets_.size());
      sets_.emplace_back();
    }
    sets_[k].push_back(i);
  }
}

DualPoint FreeDirections::feasible(const Evaluation& at) {
  DualPoint dual = at.dual;
  objectors_.clear();
  std::vector<char> used(sets_.size(), 0);
  MatrixXd columns(model_->x.rows(), 0);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::vector<int> wrong = objecting(dual.theta, used);
    if (wrong.empty()) break;
    for (int k : wrong) objectors_.insert(objectors_.end(), sets_[k].begin(), sets_[k].end());
    const Eigen::Index all = model_->profile.basis().cols() + columns.cols() +
                             static_cast<Eigen::Index>(wrong.size());
    if (all > model_->x.rows()) {
      dual.give_up();
      return dual;
    }
    append(wrong, columns);
    for (int k : wrong) used[k] = 1;
    dual = at.dual;
    const MatrixXd basis = orthonormal(columns);
    for (int pass = 0; pass < 2; ++pass) remove(at, basis, dual);  // second pass for accuracy
  }
  return dual;
}

double FreeDirections::sum(const std::vector<int>& set, const VectorXd& values) {
  double sum = 0;
  for (int i : set) sum += values[i];
  return sum;
}

double FreeDirections::slope(const std::vector<int>& set, const VectorXd& gradient) const {
  return model_->nonnegative ? sum(set, gradient) : std::fabs(sum(set, gradient));
}

std::vector<int> FreeDirections::objecting(const VectorXd& theta,
                                           const std::vector<char>& used) const {
  const VectorXd rounding = model_->roundings(theta);
  std::vector<int> nodes, wrong;
  for (std::size_t k = 0; k < sets_.size(); ++k)
    if (used[k] == 0) nodes.insert(nodes.end(), sets_[k].begin(), sets_[k].end());
  VectorXd gradient(model_->features());
  model_->x.transpose_times(theta, nodes, gradient, model_->threads, model_->poll);
  for (std::size_t k = 0; k < sets_.size(); ++k)
    if (used[k] == 0 && slope(sets_[k], gradient) > sum(sets_[k], rounding))
      wrong.push_back(static_cast<int>(k));
  return wrong;
}

void FreeDirections::append(const std::vector<int>& wrong, MatrixXd& columns) const {
  Eigen::Index next = columns.cols();
  columns.conservativeResize(model_->x.rows(), next + static_cast<Eigen::Index>(wrong.size()));
  for (int k : wrong) {
    VectorXd sum = VectorXd::Zero(model_->x.rows()), ignored;
    model_->x.add_sum(sets_[k], sum, model_->poll);
    model_->profile.project_out(sum, ignored);
    const double size = sum.norm();
    columns.col(next++) = sum / (size > 0 ? size : 1.0);
  }
}

// Columns that nearly repeat each other would make the Newton step's system singular, and what they
// differ in would be lost.
MatrixXd FreeDirections::orthonormal(const MatrixXd& columns) {
  const Eigen::ColPivHouseholderQR<MatrixXd> qr(columns);
  return qr.householderQ() * MatrixXd::Identity(columns.rows(), qr.rank());
}

// The Newton step along the columns. Weighting by the curvature keeps theta in the domain of the
// dual as long as the predictor changes by less than one.
void FreeDirections::remove(const Evaluation& at, const MatrixXd& columns, DualPoint& dual) const {
  const ProfileCurvature curvature = model_->profile.curvature(at.at);
  const MatrixXd inner = columns.transpose() * curvature.times(columns);
  const VectorXd step = inner.ldlt().solve(columns.transpose() * dual.theta);
  model_->profile.move(dual, at.at, curvature, columns * step);
}

}  // namespace n2gfl
