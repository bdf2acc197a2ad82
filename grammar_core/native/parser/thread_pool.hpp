// A fixed set of threads that share out the indices of one loop at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace syntagma {

class ThreadPool {
 public:
  // With the calling thread, `threads` threads work.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls `work(i)` for every i below `count`, in any order and at once. Rethrows the first exception when
  // all are done. One call at a time.
  void for_each(size_t count, const std::function<void(size_t)>& work);

 private:
  void serve();
  void take_indices();

  std::vector<std::thread> threads_;
  std::mutex calls_, mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(size_t)>* work_ = nullptr;
  std::atomic<size_t> next_{0};
  size_t count_ = 0, busy_ = 0;
  uint64_t round_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace syntagma
