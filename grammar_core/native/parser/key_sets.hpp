// The keys that came in lists whose keys differ: interned sets of them. A key is the value of a JSON string.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automaton/interner.hpp"
#include "vocabulary/quoted_texts.hpp"

namespace syntagma {

class KeySets {
 public:
  static constexpr int32_t kEmpty = 0;

  KeySets() { clear(); }
  void clear();
  // From now on it is known of keys whether tokens hold them as whole strings.
  void look_into(const QuotedTexts* quoted) { quoted_ = quoted; }

  // The number of a key, equal for equal strings, however they are spelled; kNoString for what is no string
  // of JSON.
  int32_t key_of(std::string_view text);
  static constexpr int32_t kNoString = -1;
  // The set with one more key, which is not in it.
  int32_t with(int32_t set, int32_t key);
  bool contains(int32_t set, int32_t key) const;
  // Sorted.
  std::span<const int32_t> keys(int32_t set) const { return sets_[set]; }
  const std::string& value(int32_t key) const { return values_[key]; }
  // Whether some token may hold one of the set's strings.
  bool is_in_tokens(int32_t set) const { return set_is_in_tokens_[set] != 0; }
  // The tokens that may hold a key, by their ranks.
  std::span<const uint32_t> tokens_with(int32_t key) const {
    return quoted_ == nullptr ? std::span<const uint32_t>{} : quoted_->tokens_with(values_[key]);
  }
  size_t memory_bytes() const { return sets_.memory_bytes() + value_bytes_; }

 private:
  const QuotedTexts* quoted_ = nullptr;
  std::unordered_map<std::string, int32_t> numbers_;
  std::vector<std::string> values_;
  SequenceInterner sets_;
  std::vector<uint8_t> set_is_in_tokens_;
  std::vector<int32_t> words_;
  size_t value_bytes_ = 0;
};

}  // namespace syntagma
