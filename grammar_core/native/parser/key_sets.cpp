#include "parser/key_sets.hpp"

#include <algorithm>

#include "vocabulary/json_string.hpp"

namespace syntagma {

void KeySets::clear() {
  numbers_.clear();
  values_.clear();
  sets_.clear();
  value_bytes_ = 0;
  sets_.intern({});
  set_is_in_tokens_.assign(1, 0);
}

int32_t KeySets::key_of(std::string_view text) {
  std::optional<std::string> value = json_string_value(text);
  if (!value) return kNoString;
  const auto [found, added] = numbers_.try_emplace(*value, static_cast<int32_t>(values_.size()));
  if (added) {
    value_bytes_ += 2 * (value->size() + sizeof(std::string)) + 64;
    values_.push_back(std::move(*value));
  }
  return found->second;
}

int32_t KeySets::with(int32_t set, int32_t key) {
  const auto keys = sets_[set];
  words_.assign(keys.begin(), keys.end());
  words_.insert(std::lower_bound(words_.begin(), words_.end(), key), key);
  const int32_t id = sets_.intern(words_);
  if (id == static_cast<int32_t>(set_is_in_tokens_.size()))
    set_is_in_tokens_.push_back(set_is_in_tokens_[set] != 0 || !tokens_with(key).empty());
  return id;
}

bool KeySets::contains(int32_t set, int32_t key) const {
  const auto keys = sets_[set];
  return std::binary_search(keys.begin(), keys.end(), key);
}

}  // namespace syntagma
