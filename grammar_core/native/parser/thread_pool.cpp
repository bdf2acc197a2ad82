#include "parser/thread_pool.hpp"

namespace syntagma {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::for_each(size_t count, const std::function<void(size_t)>& work) {
  if (count <= 1 || threads_.empty()) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  const std::lock_guard one_call(calls_);
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    count_ = count;
    next_ = 0;
    error_ = nullptr;
    busy_ = threads_.size();
    ++round_;
  }
  wake_.notify_all();
  take_indices();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  work_ = nullptr;
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::serve() {
  uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || (round_ != seen && work_ != nullptr); });
      if (stopping_) return;
      seen = round_;
    }
    take_indices();
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadPool::take_indices() {
  for (size_t i = next_++; i < count_; i = next_++) {
    try {
      (*work_)(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }
}

}  // namespace syntagma
