// Tasks that several threads share.
#include "check.hpp"

#include "parallel.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using n2gfl::Poll;
using n2gfl::TaskPool;

namespace {

const int kTasks = 500;

std::string message_of(TaskPool& pool, Poll& poll, const std::function<void(int)>& work) {
  try {
    pool.run(kTasks, poll, [&](int task, int, Poll&) { work(task); });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(tasks_run_once_each_by_any_number_of_threads) {
  for (int threads = 0; threads < 4; ++threads) {
    TaskPool pool(threads);
    Poll poll;
    std::vector<int> runs(kTasks, 0), thread_of(kTasks, -1);
    pool.run(kTasks, poll, [&](int task, int thread, Poll& own) {
      own.now();
      ++runs[task];
      thread_of[task] = thread;
    });
    for (int task = 0; task < kTasks; ++task) {
      CHECK(runs[task] == 1);
      CHECK(thread_of[task] >= 0 && thread_of[task] < pool.threads());
    }
    pool.run(0, poll, [&](int, int, Poll&) { CHECK(false); });
  }
}

TEST(an_exception_of_a_task_reaches_the_caller) {
  for (int threads = 1; threads < 4; ++threads) {
    TaskPool pool(threads);
    Poll poll;
    const auto fails = [](int task) {
      if (task == 7) throw std::runtime_error("task 7");
    };
    CHECK(message_of(pool, poll, fails) == "task 7");
    CHECK(message_of(pool, poll, [](int) {}).empty());  // the pool can be used again
  }
}

// The user's function is called by the caller's thread only; the other threads end soon after it
// has thrown.
TEST(an_interrupt_ends_the_tasks_of_all_threads) {
  for (int threads = 1; threads < 4; ++threads) {
    const std::thread::id caller = std::this_thread::get_id();
    bool by_caller = true;
    Poll poll([&] {
      by_caller = by_caller && std::this_thread::get_id() == caller;
      throw std::runtime_error("interrupt");
    });
    TaskPool pool(threads);
    const auto start = std::chrono::steady_clock::now();
    std::string message;
    try {
      pool.run(4, poll, [&](int, int, Poll& own) {
        for (int k = 0; k < 600; ++k) {  // six seconds unless it is interrupted
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
          own.now();
        }
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "interrupt" && by_caller);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(3));
  }
}
