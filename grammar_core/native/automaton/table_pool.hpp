// Many small tables that live as long as their owner, cut out of large blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace syntagma {

// Tables never move. Not thread-safe.
template <typename T>
class TablePool {
 public:
  // `size` elements with their default value; not null if they are none.
  T* allocate(size_t size) {
    if (size > left_ || next_ == nullptr) {
      left_ = std::max(size, kBlock);
      blocks_.push_back(std::make_unique<T[]>(left_));
      next_ = blocks_.back().get();
      bytes_ += left_ * sizeof(T);
    }
    T* table = next_;
    next_ += size;
    left_ -= size;
    return table;
  }
  size_t memory_bytes() const { return bytes_; }

 private:
  static constexpr size_t kBlock = 2048;
  std::vector<std::unique_ptr<T[]>> blocks_;
  T* next_ = nullptr;
  size_t left_ = 0, bytes_ = 0;
};

}  // namespace syntagma
