// The keys that came in lists whose keys differ. A key is the value of a JSON string.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automaton/byte_set.hpp"
#include "vocabulary/quoted_texts.hpp"

namespace syntagma {

// Sets are interned by the order in which their keys came: a tree in which each set is its last key and a
// link to the set before. Membership is looked up by links that jump over ancestors (E. Myers, "An
// applicative random-access stack", 1983).
class KeySets {
 public:
  static constexpr int32_t kEmpty = 0;

  KeySets() { clear(); }
  void clear();
  // From now on it is known of keys whether tokens hold them as whole strings.
  void look_into(const QuotedTexts* quoted) { quoted_ = quoted; }

  // The number of a key, equal for equal strings, however they are spelled; kNoString for what is no string
  // of JSON, and for keys of more than `longest_new` bytes that nobody has asked for before.
  int32_t key_of(std::string_view text, size_t longest_new);
  static constexpr int32_t kNoString = -1;
  const std::string& value(int32_t key) const { return *values_[key]; }
  // The tokens that may hold a key, by their ranks.
  std::span<const uint32_t> tokens_with(int32_t key) const {
    return quoted_ == nullptr ? std::span<const uint32_t>{} : quoted_->tokens_with(*values_[key]);
  }

  // The set with one more key, which is not in it.
  int32_t with(int32_t set, int32_t key);
  bool contains(int32_t set, int32_t key) const;
  // Whether some token may hold one of the set's keys.
  bool is_in_tokens(int32_t set) const { return sets_[set].in_tokens != kEmpty; }
  // Calls `visit(key)` for each key of a set that tokens may hold as a whole.
  template <typename Visit>
  void for_each_in_tokens(int32_t set, Visit visit) const {
    for (set = sets_[set].in_tokens; set != kEmpty; set = sets_[sets_[set].before].in_tokens)
      visit(sets_[set].key);
  }
  // Calls `visit(key)` for each key of a set that tokens may end from the key's beginning on.
  template <typename Visit>
  void for_each_ending(int32_t set, Visit visit) const {
    for (set = sets_[set].ending; set != kEmpty; set = sets_[sets_[set].before].ending) visit(sets_[set].key);
  }
  // Keys that begin with a text, whether they are in some set or not, up to `most`.
  std::vector<int32_t> beginning_with(const std::string& text, size_t most) const;
  // Whether the set has the string.
  bool has(int32_t set, const std::string& value) const {
    const auto found = numbers_.find(value);
    return found != numbers_.end() && contains(set, found->second);
  }
  // The bytes that follow a text in keys, whether they are in some set or not, and whether it is a key
  // itself.
  struct Continuations {
    ByteSet bytes;
    bool is_key = false;
  };
  Continuations continuations(const std::string& text) const;
  size_t memory_bytes() const { return memory_bytes_; }

 private:
  struct Set {
    int32_t before = kEmpty;
    int32_t key = kNoString;  // that came last
    int32_t size = 0;
    int32_t jump = kEmpty;  // an ancestor
    // The nearest of the set and its ancestors whose last key tokens may hold, or end.
    int32_t in_tokens = kEmpty, ending = kEmpty;
  };

  // Of so many keys, or of fewer if there are not so many.
  int32_t ancestor(int32_t set, int32_t size) const;

  const QuotedTexts* quoted_ = nullptr;
  std::map<std::string, int32_t> numbers_;
  std::vector<const std::string*> values_;
  std::vector<std::vector<int32_t>> sets_ending_;  // by key: the sets whose last key it is
  std::unordered_map<uint64_t, int32_t> longer_;   // by a set and a key: the set with both
  std::vector<Set> sets_;
  size_t memory_bytes_ = 0, longest_value_ = 0;
};

}  // namespace syntagma
