#include "loss/families.hpp"

#include <stdexcept>

#include "loss/binomial_loss.hpp"
#include "loss/cox_loss.hpp"
#include "loss/gaussian_loss.hpp"
#include "loss/ordinal_loss.hpp"
#include "loss/poisson_loss.hpp"

namespace n2gfl {

std::unique_ptr<Loss> make_loss(const std::string& family, const MatrixXd& response,
                                const VectorXd& weights) {
  if (family == "gaussian") return std::make_unique<GaussianLoss>(response.col(0), weights);
  if (family == "binomial") return std::make_unique<BinomialLoss>(response.col(0), weights);
  if (family == "poisson") return std::make_unique<PoissonLoss>(response.col(0), weights);
  if (family == "cox") return std::make_unique<CoxLoss>(response, weights);
  if (family == "ordinal") return std::make_unique<OrdinalLoss>(response.col(0), weights);
  throw std::invalid_argument("unknown family '" + family + "'");
}

}  // namespace n2gfl
