#include "penalty/certificate.hpp"

#include <limits>

namespace n2gfl {

double relative_gap(const Model& model, double objective, const DualPoint& point,
                    const Leftover& left, double rounding) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool hopeless = left.unpenalised > model.features() * rounding;
  const double dual = model.profile.dual(point, hopeless ? 0.0 : 1 / (1 + left.ratio));
  const double gap = objective - dual;
  if (gap <= 0) return 0;
  return gap < infinity && model.null_value > 0 ? gap / model.null_value : infinity;  // NaN: Inf
}

}  // namespace n2gfl
