#include "data/storage.hpp"

namespace n2gfl {

void Storage::copy(int j, bool centred, double factor, float* out) const {
  VectorXd room;
  copy(column(j, room), centred, factor, out);
}

}  // namespace n2gfl
