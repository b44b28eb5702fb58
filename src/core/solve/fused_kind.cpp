#include "solve/fused_kind.hpp"

#include <memory>

#include "graph/parts.hpp"
#include "penalty/dual_norm.hpp"
#include "penalty/fused_penalty.hpp"

namespace n2gfl {

std::unique_ptr<Penalty> FusedKind::make_penalty() const {
  return std::make_unique<FusedPenalty>(model_);
}

double FusedKind::lambda1_max(double lambda2) {
  solver_.restart();
  pursuit_.fit_unpenalised(lambda2);
  const double rounding = model_.rounding(pursuit_.residual());
  const double answer = pursuit_.norm().lambda1_max(pursuit_.regions(), rounding);
  solver_.restart();
  return answer;
}

int FusedKind::count_df(const Solution& fit) const {
  const auto equal = [&](int a, int b) { return fit.value[a] == fit.value[b]; };
  return count_parts(model_.graph, fit.index, equal);
}

}  // namespace n2gfl
