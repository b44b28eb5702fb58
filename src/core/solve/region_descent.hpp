// Conjugate gradients on the values of regions, which are connected nodes of one nonzero value. Once
// the regions are known, the fused problem is smooth in their values, and conjugate gradients need
// far fewer and cheaper products than a first-order method on all features. Nothing keeps the
// values in order or on their side of zero: a proximal step afterwards repairs that.
#pragma once

#include <vector>

#include <Eigen/Dense>

#include "data/float_columns.hpp"
#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

class RegionDescent {
 public:
  explicit RegionDescent(Model& model) : model_(model) {}

  // The share of nodes and edges of the support whose regions differ between two points.
  double change(const VectorXd& before, const VectorXd& after) const;

  // Moves beta and eta until the slope along the regions is `goal` times what it was. `at` is the
  // loss and `slope` the slope of the objective at beta; the columns must be in `floats`. Returns
  // the number of iterations.
  int run(const FloatColumns& floats, const LossPoint& at, const VectorXd& slope, double goal,
          int most, VectorXd& beta, VectorXd& eta);

 private:
  static constexpr double kFlat = 1e-6;  // below this, curvature is a rounding error of floats

  Eigen::Index count() const { return static_cast<Eigen::Index>(norm_.size()); }
  void find_regions(const FloatColumns& floats, const VectorXd& beta);
  void sum_columns(const FloatColumns& floats, const std::vector<std::vector<int>>& members);
  void multiply(const ProfileCurvature& metric, const VectorXd& direction, VectorXd& moved,
                VectorXd& image);

  Model& model_;
  std::vector<int> nodes_, of_;        // the nodes of all regions, and the region of each
  std::vector<double> norm_;           // of the regions' columns
  FloatProducts columns_{0, 1};
  std::vector<Eigen::VectorXf> sums_;  // the columns of regions with several nodes
};

}  // namespace n2gfl
