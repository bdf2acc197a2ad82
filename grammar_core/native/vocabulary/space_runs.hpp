// Runs of spaces and line breaks at the beginning of tokens. Where a grammar lets any of them stand, tokens
// that are nothing else are the same everywhere.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vocabulary/mask_words.hpp"

namespace syntagma {

class Vocabulary;

constexpr std::array<uint8_t, 4> kSpaces = {'\t', '\n', '\r', ' '};
constexpr unsigned kSpaceSets = 1U << kSpaces.size();  // sets of them, as bits in that order

class SpaceRuns {
 public:
  SpaceRuns(const Vocabulary& vocabulary, unsigned set);

  // Tokens that are runs of the set's bytes; null if there are none.
  const std::shared_ptr<const MaskWords>& tokens() const { return tokens_; }
  // Trie nodes of `byte` behind a run of at least one byte; of bytes outside the set only.
  std::span<const uint32_t> ends(uint8_t byte) const {
    return {ends_.data() + ends_begin_[byte], ends_.data() + ends_begin_[byte + 1]};
  }

 private:
  std::shared_ptr<const MaskWords> tokens_;
  std::vector<uint32_t> ends_;
  std::array<uint32_t, 257> ends_begin_{};
};

}  // namespace syntagma
