// Gives equal sequences of integers the same small number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace syntagma {

inline uint64_t hash_words(std::span<const int32_t> words, uint64_t seed = 0) {
  uint64_t h = seed ^ (words.size() * 0x9E3779B97F4A7C15ull);
  for (const int32_t w : words) {
    h ^= static_cast<uint32_t>(w);
    h *= 0xBF58476D1CE4E5B9ull;
    h ^= h >> 29;
  }
  return h;
}

using Triple = std::array<int32_t, 3>;
struct TripleHash {
  size_t operator()(const Triple& triple) const { return hash_words(triple); }
};

// Not thread-safe. Ids count from 0 in order of appearance.
class SequenceInterner {
 public:
  SequenceInterner() : slots_(64, -1) { entries_.push_back({0, 0}); }

  int32_t size() const { return static_cast<int32_t>(entries_.size()) - 1; }
  std::span<const int32_t> operator[](int32_t id) const {
    return {words_.data() + entries_[id].begin, words_.data() + entries_[id + 1].begin};
  }

  int32_t intern(std::span<const int32_t> words) {
    const auto hash = static_cast<uint32_t>(hash_words(words));
    size_t i = hash & (slots_.size() - 1);
    for (; slots_[i] >= 0; i = (i + 1) & (slots_.size() - 1))
      if (entries_[slots_[i]].hash == hash && equal((*this)[slots_[i]], words)) return slots_[i];
    const int32_t id = size();
    if (id == 0) {
      entries_.reserve(kLikely);
      words_.reserve(4 * kLikely);
    }
    words_.insert(words_.end(), words.begin(), words.end());
    entries_.back().hash = hash;
    entries_.push_back({words_.size(), 0});
    slots_[i] = id;
    if (2 * entries_.size() > slots_.size()) rehash();
    return id;
  }

  void clear() { *this = SequenceInterner(); }

  size_t memory_bytes() const {
    return (words_.capacity() + slots_.capacity()) * sizeof(int32_t) + entries_.capacity() * sizeof(Entry);
  }

 private:
  static constexpr size_t kLikely = 48;  // sequences
  struct Entry {
    size_t begin;  // in `words_`; the last entry is the end of the sequence before it
    uint32_t hash;
  };

  static bool equal(std::span<const int32_t> a, std::span<const int32_t> b) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

  void rehash() {
    slots_.assign(4 * slots_.size(), -1);
    for (int32_t id = 0; id < size(); ++id) {
      size_t i = entries_[id].hash & (slots_.size() - 1);
      while (slots_[i] >= 0) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = id;
    }
  }

  std::vector<int32_t> words_;
  std::vector<Entry> entries_;
  std::vector<int32_t> slots_;
};

}  // namespace syntagma
