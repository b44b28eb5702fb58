// Loops that several threads may share. Every iteration writes to places of its own and does the
// same whatever the number of threads, so the result does not depend on it, to the last bit.
#pragma once

#include <cstddef>

namespace n2gfl {

// Calls work(0), ..., work(count - 1), which must not throw. `cost` is about the number of
// multiplications of one call: little work is faster by one thread. One thread does not enter an
// OpenMP region, not even one with a false `if` clause: entering makes system calls, which cost
// more than the work of a short loop.
template <class Work>
void parallel_for(std::ptrdiff_t count, int threads, double cost, const Work& work) {
#ifdef _OPENMP
  constexpr double kWorthwhile = 1 << 21;
  if (threads > 1 && static_cast<double>(count) * cost > kWorthwhile) {
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::ptrdiff_t k = 0; k < count; ++k) work(k);
    return;
  }
#endif
  for (std::ptrdiff_t k = 0; k < count; ++k) work(k);
  (void)threads;
  (void)cost;
}

}  // namespace n2gfl
