// Runs of some bytes at the beginning of tokens, such as spaces or letters. Where a grammar lets any of them
// stand, tokens that are nothing else are the same everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "automaton/byte_set.hpp"
#include "vocabulary/mask_words.hpp"

namespace syntagma {

class Vocabulary;

constexpr std::array<uint8_t, 4> kSpaces = {'\t', '\n', '\r', ' '};
constexpr size_t kSpaceSets = size_t{1} << kSpaces.size();
constexpr size_t kLetterSets = 10;

class ByteRuns {
 public:
  ByteRuns(const Vocabulary& vocabulary, const ByteSet& bytes);

  const ByteSet& bytes() const { return bytes_; }
  // Tokens that are runs; null if there are none.
  const std::shared_ptr<const MaskWords>& tokens() const { return tokens_; }
  // A trie node behind a run of at least one byte, which ends at `last`.
  struct End {
    uint32_t node, last;
  };
  // Those whose byte is `byte`, which is in no run.
  std::span<const End> ends(uint8_t byte) const {
    return {ends_.data() + ends_begin_[byte], ends_.data() + ends_begin_[byte + 1]};
  }
  // Bytes of the longest run that tokens begin with.
  int longest() const { return longest_; }
  size_t memory_bytes() const {
    return sizeof(ByteRuns) + ends_.capacity() * sizeof(End) +
           (tokens_ != nullptr ? tokens_->memory_bytes() : 0);
  }

 private:
  ByteSet bytes_;
  std::shared_ptr<const MaskWords> tokens_;
  std::vector<End> ends_;
  std::array<uint32_t, 257> ends_begin_{};
  int longest_ = 0;
};

// The spaces whose bits in `set` are set, in the order of kSpaces.
ByteSet space_set(unsigned set);
// Common classes of letters, digits and signs; larger ones before those that they contain.
const std::array<ByteSet, kLetterSets>& letter_sets();

}  // namespace syntagma
