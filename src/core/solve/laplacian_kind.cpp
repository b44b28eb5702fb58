#include "solve/laplacian_kind.hpp"

#include <memory>

namespace n2gfl {

std::unique_ptr<Penalty> LaplacianKind::make_penalty() const {
  return std::make_unique<LaplacianPenalty>(model_);
}

double LaplacianKind::lambda1_max(double lambda2) {
  descent_.restart();
  descent_.fit_unpenalised(lambda2);
  const double answer = penalty_.lambda1_max_at(descent_.beta(), descent_.gradient());
  descent_.restart();
  return answer;
}

int LaplacianKind::count_df(const Solution& fit) const {
  return static_cast<int>(fit.index.size());
}

}  // namespace n2gfl
