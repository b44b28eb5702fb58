// The regions' Hessian X_R' diag(h) X_R for a loss with constant curvature h. It is kept from one
// Newton step to the next, so that only regions with new columns need products.
#pragma once

#include <unordered_map>
#include <vector>

#include "data/regions.hpp"
#include "types.hpp"

namespace n2gfl {

// columns' diag(h) columns. Only one triangle is computed, in panels of fixed width, so that the
// result does not depend on the number of threads.
MatrixXd weighted_gram(const MatrixXd& columns, const VectorXd& h, int threads);

class RegionGram {
 public:
  explicit RegionGram(int threads) : threads_(threads) {}

  // The matrix for the present regions and their `columns`.
  const MatrixXd& of(const Regions& regions, const MatrixXd& columns, const VectorXd& curvature);

  // Updates the matrix after regions were merged by groups (-1: removed), by adding rows and
  // columns.
  void merge(const std::vector<int>& group, const Regions& merged);

 private:
  void remember(const Regions& regions);
  std::vector<int> move_known(const Regions& regions);
  void fill(const std::vector<int>& fresh, const MatrixXd& columns, const VectorXd& curvature);
  void fill_all(const MatrixXd& columns, const VectorXd& curvature);

  int threads_;
  MatrixXd gram_;
  std::unordered_map<int, int> content_;  // content number of a region -> its index
};

}  // namespace n2gfl
