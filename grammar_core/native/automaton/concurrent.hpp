// Containers that many threads read without a lock while one thread, holding the owner's lock, appends.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace syntagma {

// Elements never move; element i lies in a chunk of doubling size.
template <typename T>
class StableVector {
 public:
  const T& operator[](size_t i) const { return *address(i); }
  T& operator[](size_t i) { return *address(i); }
  size_t size() const { return size_.load(std::memory_order_acquire); }

  // Under the owner's lock.
  T& emplace_back() {
    const size_t i = size_.load(std::memory_order_relaxed);
    const int chunk = chunk_of(i);
    if (!chunks_[chunk]) {
      chunks_[chunk] = std::make_unique<T[]>(size_t{kFirst} << chunk);
    }
    size_.store(i + 1, std::memory_order_release);
    return *address(i);
  }

 private:
  static constexpr size_t kFirst = 64;
  static int chunk_of(size_t i) { return std::bit_width(i / kFirst + 1) - 1; }
  T* address(size_t i) const {
    const int chunk = chunk_of(i);
    return chunks_[chunk].get() + (i - ((kFirst << chunk) - kFirst));
  }

  std::unique_ptr<T[]> chunks_[40];
  std::atomic<size_t> size_{0};
};

// A hash map from nonzero 64-bit keys to nonzero 64-bit values; old tables live until the map dies, so that
// readers never see freed memory.
class ConcurrentMap {
 public:
  ConcurrentMap() { grow(64); }

  // 0 when absent.
  uint64_t find(uint64_t key) const {
    const Table& table = *table_.load(std::memory_order_acquire);
    for (size_t i = hash(key) & table.mask;; i = (i + 1) & table.mask) {
      const uint64_t found = table.slots[i].key.load(std::memory_order_acquire);
      if (found == key) return table.slots[i].value;
      if (found == 0) return 0;
    }
  }

  // Under the owner's lock; `key` must be absent.
  void insert(uint64_t key, uint64_t value) {
    if (2 * (size_ + 1) > table_.load(std::memory_order_relaxed)->mask + 1)
      grow(2 * (table_.load(std::memory_order_relaxed)->mask + 1));
    place(*tables_.back(), key, value);
    ++size_;
  }

  size_t memory_bytes() const { return 2 * tables_.back()->slots.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::atomic<uint64_t> key{0};
    uint64_t value = 0;
  };
  struct Table {
    explicit Table(size_t capacity) : mask(capacity - 1), slots(capacity) {}
    size_t mask;
    std::vector<Slot> slots;
  };

  static size_t hash(uint64_t key) {
    key *= 0x9E3779B97F4A7C15ull;
    return key ^ (key >> 32);
  }

  static void place(Table& table, uint64_t key, uint64_t value) {
    size_t i = hash(key) & table.mask;
    while (table.slots[i].key.load(std::memory_order_relaxed) != 0) i = (i + 1) & table.mask;
    table.slots[i].value = value;
    table.slots[i].key.store(key, std::memory_order_release);
  }

  void grow(size_t capacity) {
    auto table = std::make_unique<Table>(capacity);
    if (!tables_.empty())
      for (const Slot& slot : tables_.back()->slots)
        if (slot.key.load(std::memory_order_relaxed) != 0)
          place(*table, slot.key.load(std::memory_order_relaxed), slot.value);
    table_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
  }

  std::vector<std::unique_ptr<Table>> tables_;
  std::atomic<Table*> table_{nullptr};
  size_t size_ = 0;
};

}  // namespace syntagma
