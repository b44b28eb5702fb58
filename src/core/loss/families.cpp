#include "loss/families.hpp"

#include <stdexcept>

#include "loss/binomial_loss.hpp"
#include "loss/gaussian_loss.hpp"

namespace n2gfl {

std::unique_ptr<Loss> make_loss(const std::string& family, const VectorXd& response,
                                const VectorXd& weights) {
  if (family == "gaussian") return std::make_unique<GaussianLoss>(response, weights);
  if (family == "binomial") return std::make_unique<BinomialLoss>(response, weights);
  throw std::invalid_argument("unknown family '" + family + "'");
}

}  // namespace n2gfl
