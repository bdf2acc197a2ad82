// A bit a token, in words of 32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace syntagma {

class MaskWords {
 public:
  explicit MaskWords(std::vector<uint32_t> words);

  const std::vector<uint32_t>& words() const { return words_; }
  bool contains(uint32_t id) const { return words_[id / 32] >> (id % 32) & 1; }
  uint64_t hash() const { return hash_; }
  bool operator==(const MaskWords& other) const {
    return this == &other || (hash_ == other.hash_ && words_ == other.words_);
  }
  size_t memory_bytes() const { return sizeof(MaskWords) + words_.capacity() * sizeof(uint32_t); }

 private:
  std::vector<uint32_t> words_;
  uint64_t hash_;
};

}  // namespace syntagma
