#include "loss/loss.hpp"

#include <utility>

namespace n2gfl {

Loss::Loss(VectorXd response, VectorXd weights)
    : y_(std::move(response)), omega_(std::move(weights)) {
  omega_ /= omega_.sum();
}

}  // namespace n2gfl
