// A set of byte values, as four 64-bit words.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

namespace syntagma {

class ByteSet {
 public:
  void add(uint8_t byte) { words_[byte >> 6] |= uint64_t{1} << (byte & 63); }
  void add_range(uint8_t low, uint8_t high) {
    for (int word = low >> 6; word <= high >> 6; ++word) {
      const int first = word == low >> 6 ? low & 63 : 0, last = word == high >> 6 ? high & 63 : 63;
      words_[word] |= (~uint64_t{0} >> (63 - (last - first))) << first;
    }
  }
  void remove(uint8_t byte) { words_[byte >> 6] &= ~(uint64_t{1} << (byte & 63)); }
  void remove(const ByteSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }
  void intersect(const ByteSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  auto operator<=>(const ByteSet&) const = default;
  bool contains(uint8_t byte) const { return (words_[byte >> 6] >> (byte & 63)) & 1; }

  bool contains_all(const ByteSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i)
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    return true;
  }
  bool intersects(const ByteSet& other) const { return next_common(-1, other) < 256; }
  // The smallest member after `byte` that `other` has too, or 256.
  int next_common(int byte, const ByteSet& other) const {
    for (int word = (byte + 1) >> 6; word < 4; ++word) {
      uint64_t common = words_[word] & other.words_[word];
      if (word == (byte + 1) >> 6) common &= ~uint64_t{0} << ((byte + 1) & 63);
      if (common != 0) return 64 * word + std::countr_zero(common);
    }
    return 256;
  }
  // The smallest member after `byte`, or 256.
  int next(int byte) const { return next_common(byte, *this); }
  // How many members are smaller than `byte`.
  int count_below(uint8_t byte) const {
    int count = std::popcount(words_[byte >> 6] & ((uint64_t{1} << (byte & 63)) - 1));
    for (int word = 0; word < byte >> 6; ++word) count += std::popcount(words_[word]);
    return count;
  }

  int size() const {
    int count = 0;
    for (const uint64_t word : words_) count += std::popcount(word);
    return count;
  }

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

// The letter whose target is that of most letters, if any is: R. Boyer and J. Moore, "MJRTY: a fast majority
// vote algorithm", 1991.
template <typename TargetOf>
uint8_t majority_letter(TargetOf target_of) {
  uint8_t candidate = 'a';
  int lead = 0;
  for (uint8_t byte = 'a'; byte <= 'z'; ++byte) {
    if (lead == 0) candidate = byte;
    lead += target_of(byte) == target_of(candidate) ? 1 : -1;
  }
  return candidate;
}

}  // namespace syntagma
