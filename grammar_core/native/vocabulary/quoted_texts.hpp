// Which tokens hold whole JSON strings, between two of their quotes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace syntagma {

class Vocabulary;

// Ranks of tokens. Which quotes begin and end strings depends on what comes before a token, so all are looked
// at: the tokens are those for which it may be so.
class QuotedTexts {
 public:
  // Two strings in one token are of interest where `between` stands between them, or anything if that is -1.
  QuotedTexts(const Vocabulary& vocabulary, int between);

  // In which a string of this value may stand.
  std::span<const uint32_t> tokens_with(const std::string& value) const { return find(with_, value); }
  // In which two equal ones may stand.
  std::span<const uint32_t> tokens_with_two() const { return with_two_; }
  // Which end a string with this rest of its value.
  std::span<const uint32_t> tokens_ending(const std::string& rest) const { return find(ending_, rest); }
  // Which may end a string that has this value so far, and hold the same string again.
  std::span<const uint32_t> tokens_repeating(const std::string& value) const {
    return find(repeating_, value);
  }
  // Which may end some string and hold another one.
  std::span<const uint32_t> tokens_with_end() const { return with_end_; }

 private:
  using TokensByText = std::unordered_map<std::string, std::vector<uint32_t>>;

  static std::span<const uint32_t> find(const TokensByText& tokens, const std::string& text) {
    const auto found = tokens.find(text);
    return found == tokens.end() ? std::span<const uint32_t>{} : found->second;
  }

  TokensByText with_, ending_, repeating_;
  std::vector<uint32_t> with_two_, with_end_;
};

}  // namespace syntagma
