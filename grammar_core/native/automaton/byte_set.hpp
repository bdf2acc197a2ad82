// A set of byte values, as four 64-bit words.
#pragma once

#include <array>
#include <cstdint>

namespace syntagma {

class ByteSet {
 public:
  void add(uint8_t byte) { words_[byte >> 6] |= uint64_t{1} << (byte & 63); }
  void add_range(uint8_t low, uint8_t high) {
    for (int byte = low; byte <= high; ++byte) add(static_cast<uint8_t>(byte));
  }
  bool contains(uint8_t byte) const { return (words_[byte >> 6] >> (byte & 63)) & 1; }

  // Adds every member of `other`; true if that changed anything.
  bool merge(const ByteSet& other) {
    uint64_t added = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      added |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return added != 0;
  }

 private:
  std::array<uint64_t, 4> words_{};
};

}  // namespace syntagma
