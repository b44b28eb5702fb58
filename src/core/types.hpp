// Eigen's vectors and matrices by short names.
#pragma once

#include <Eigen/Dense>

namespace n2gfl {

using Eigen::ArrayXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace n2gfl
