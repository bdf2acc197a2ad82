#include "parser/key_sets.hpp"

#include <algorithm>
#include <optional>

#include "automaton/time_limit.hpp"
#include "vocabulary/json_string.hpp"

namespace syntagma {
namespace {

constexpr size_t kLongestSpelling = 8;  // bytes for one of a value (\u0061), with room for the quotes
constexpr size_t kMapEntry = 64;        // bytes of a map's entry beside its text, about

}  // namespace

void KeySets::clear() {
  numbers_.clear();
  values_.clear();
  sets_.assign(1, {});
  sets_ending_.clear();
  longer_.clear();
  memory_bytes_ = longest_value_ = 0;
}

int32_t KeySets::key_of(std::string_view text, size_t longest_new) {
  if (longest_new < text.size() && text.size() / kLongestSpelling > std::max(longest_new, longest_value_))
    return kNoString;
  std::optional<std::string> value = json_string_value(text);
  if (!value) return kNoString;
  if (value->size() > longest_new) {
    const auto known = numbers_.find(*value);
    return known == numbers_.end() ? kNoString : known->second;
  }
  const size_t bytes = value->size() + sizeof(std::string) + kMapEntry;
  const auto [found, added] = numbers_.try_emplace(std::move(*value), static_cast<int32_t>(values_.size()));
  if (added) {
    memory_bytes_ += bytes;
    longest_value_ = std::max(longest_value_, found->first.size());
    values_.push_back(&found->first);
    sets_ending_.emplace_back();
  }
  return found->second;
}

int32_t KeySets::with(int32_t set, int32_t key) {
  const auto id = static_cast<int32_t>(sets_.size());
  const auto [known, added] =
      longer_.try_emplace(static_cast<uint64_t>(set) << 32 | static_cast<uint32_t>(key), id);
  if (!added) return known->second;
  const Set &before = sets_[set], &jumped = sets_[before.jump];
  const bool jumps_far = before.size - jumped.size == jumped.size - sets_[jumped.jump].size;
  const bool has_ending = quoted_ != nullptr && !quoted_->tokens_ending(value(key)).empty();
  sets_.push_back({set, key, before.size + 1, jumps_far ? jumped.jump : set,
                   tokens_with(key).empty() ? before.in_tokens : id, has_ending ? id : before.ending});
  sets_ending_[key].push_back(id);
  memory_bytes_ += sizeof(Set) + sizeof(int32_t) + kMapEntry;
  return id;
}

bool KeySets::contains(int32_t set, int32_t key) const {
  const std::vector<int32_t>& endings = sets_ending_[key];
  if (static_cast<size_t>(sets_[set].size) <= endings.size()) {
    while (set != kEmpty && sets_[set].key != key) set = sets_[set].before;
    return set != kEmpty;
  }
  return std::any_of(endings.begin(), endings.end(), [&](int32_t ending) {
    TimeLimit::tick();
    return ancestor(set, sets_[ending].size) == ending;
  });
}

int32_t KeySets::ancestor(int32_t set, int32_t size) const {
  while (sets_[set].size > size)
    set = sets_[sets_[set].jump].size >= size ? sets_[set].jump : sets_[set].before;
  return set;
}

std::vector<int32_t> KeySets::beginning_with(const std::string& text, size_t most) const {
  std::vector<int32_t> found;
  for (auto key = numbers_.lower_bound(text);
       key != numbers_.end() && found.size() < most && key->first.starts_with(text); ++key)
    found.push_back(key->second);
  return found;
}

KeySets::Continuations KeySets::continuations(const std::string& text) const {
  Continuations found;
  auto key = numbers_.lower_bound(text);
  if (key != numbers_.end() && key->first == text) {
    found.is_key = true;
    ++key;
  }
  while (key != numbers_.end() && key->first.starts_with(text)) {
    TimeLimit::tick();
    const auto byte = static_cast<uint8_t>(key->first[text.size()]);
    found.bytes.add(byte);
    if (byte == UINT8_MAX) break;
    key = numbers_.lower_bound(text + static_cast<char>(byte + 1));
  }
  return found;
}

}  // namespace syntagma
