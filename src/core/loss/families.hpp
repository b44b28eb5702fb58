// The families by name. A new family needs a class like GaussianLoss and a line in families.cpp.
#pragma once

#include <memory>
#include <string>

#include "loss/loss.hpp"
#include "types.hpp"

namespace n2gfl {

// `response` has one row per observation; most families use its first column only.
std::unique_ptr<Loss> make_loss(const std::string& family, const MatrixXd& response,
                                const VectorXd& weights);

}  // namespace n2gfl
