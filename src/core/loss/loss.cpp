#include "loss/loss.hpp"

#include <utility>

namespace n2gfl {

Loss::Loss(VectorXd weights) : omega_(std::move(weights)) { omega_ /= omega_.sum(); }

void Loss::move(DualPoint& point, const LossPoint& at, const VectorXd& along,
                const VectorXd&) const {
  point.theta -= at.curvature.times(along);
}

SeparableLoss::SeparableLoss(VectorXd response, VectorXd weights)
    : Loss(std::move(weights)), y_(std::move(response)) {}

void SeparableLoss::compute(const VectorXd& eta, const VectorXd&, LossPoint& at) const {
  at.eta = eta;
  at.value = evaluate(eta, at.residual, &at.curvature.diagonal);
}

double SeparableLoss::bound(const DualPoint& point, double scale) const {
  return dual(VectorXd(scale * point.theta));
}

}  // namespace n2gfl
