// Work that several threads may share. Every iteration or task writes to places of its own and does
// the same whatever the number of threads, so the result does not depend on it, to the last bit.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "poll.hpp"

namespace n2gfl {

// Calls work(0), ..., work(count - 1), which must not throw. `cost` is about the number of
// multiplications of one call: little work is faster by one thread. One thread does not enter an
// OpenMP region, not even one with a false `if` clause: entering makes system calls, which cost
// more than the work of a short loop.
template <class Work>
void parallel_for(std::ptrdiff_t count, int threads, double cost, const Work& work) {
#ifdef _OPENMP
  constexpr double kWorthwhile = 1 << 17;
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

// A count to which several threads may add.
class SharedCount {
 public:
  SharedCount() = default;
  SharedCount(const SharedCount& other) : count_(other.value()) {}
  SharedCount& operator=(const SharedCount& other) {
    count_ = other.value();
    return *this;
  }

  void add(std::int64_t amount) { count_.fetch_add(amount, std::memory_order_relaxed); }
  std::int64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> count_{0};
};

// Tasks of very different size, which may throw: each thread takes the next task when it is done
// with one, so long tasks should come first. Only the caller's thread may call the user's function
// (R is not made for others); when that throws, the other threads end at their next poll.
class TaskPool {
 public:
  explicit TaskPool(int threads) : threads_(threads > 1 ? threads : 1) {}

  int threads() const { return threads_; }

  // Calls work(task, thread, poll) for all tasks; thread < threads() is for scratch memory.
  template <class Work>
  void run(int tasks, Poll& poll, const Work& work) {
#ifdef _OPENMP
    if (threads_ > 1 && tasks > 1) return share(tasks, poll, work);
#endif
    for (int task = 0; task < tasks; ++task) work(task, 0, poll);
  }

 private:
#ifdef _OPENMP
  struct Stopped {};

  template <class Work>
  void share(int tasks, Poll& poll, const Work& work) {
    std::atomic<int> next{0};
    std::atomic<bool> stop{false};
    std::vector<std::exception_ptr> failure(threads_);
#pragma omp parallel num_threads(threads_)
    {
      const int thread = omp_get_thread_num();
      Poll watch([&stop] {
        if (stop) throw Stopped();
      });
      Poll& own = thread == 0 ? poll : watch;
      try {
        for (int task = next++; task < tasks && !stop; task = next++) work(task, thread, own);
      } catch (const Stopped&) {
      } catch (...) {
        failure[thread] = std::current_exception();
        stop = true;
      }
    }
    for (const std::exception_ptr& failed : failure)
      if (failed) std::rethrow_exception(failed);
  }
#endif

  int threads_;
};

}  // namespace n2gfl
