#include "vocabulary/byte_runs.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {
namespace {

ByteSet class_of(bool upper_case, bool digits, std::string_view signs) {
  ByteSet bytes;
  bytes.add_range('a', 'z');
  if (upper_case) bytes.add_range('A', 'Z');
  if (digits) bytes.add_range('0', '9');
  for (const char sign : signs) bytes.add(static_cast<uint8_t>(sign));
  return bytes;
}

}  // namespace

ByteRuns::ByteRuns(const Vocabulary& vocabulary, const ByteSet& bytes) : bytes_(bytes) {
  const auto trie = vocabulary.trie();
  std::vector<uint32_t> words(vocabulary.mask_words(), 0), pending{0};
  std::vector<std::pair<uint8_t, End>> ends;
  while (!pending.empty()) {
    const uint32_t node = pending.back();
    pending.pop_back();
    longest_ = std::max<int>(longest_, trie[node].depth);
    if (node != 0) {
      const auto [first, last] = vocabulary.ranks_at(node);
      for (uint32_t rank = first; rank < last; ++rank)
        words[vocabulary.token_at_rank(rank) / 32] |= uint32_t{1} << (vocabulary.token_at_rank(rank) % 32);
    }
    for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end) {
      if (bytes.contains(trie[child].byte))
        pending.push_back(child);
      else if (node != 0)
        ends.push_back({trie[child].byte, {child, node}});
    }
  }
  if (std::any_of(words.begin(), words.end(), [](uint32_t word) { return word != 0; }))
    tokens_ = std::make_shared<MaskWords>(std::move(words));
  std::sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.node) < std::pair(b.first, b.second.node);
  });
  for (const auto& [byte, end] : ends) {
    ends_.push_back(end);
    ends_begin_[byte + 1] = static_cast<uint32_t>(ends_.size());
  }
  for (size_t byte = 0; byte < 256; ++byte)
    ends_begin_[byte + 1] = std::max(ends_begin_[byte + 1], ends_begin_[byte]);
}

ByteSet space_set(unsigned set) {
  ByteSet spaces;
  for (size_t i = 0; i < kSpaces.size(); ++i)
    if ((set >> i & 1) != 0) spaces.add(kSpaces[i]);
  return spaces;
}

const std::array<ByteSet, kLetterSets>& letter_sets() {
  static const std::array<ByteSet, kLetterSets> sets = {
      class_of(true, true, "-._"), class_of(true, true, "-_"), class_of(true, true, "-"),
      class_of(true, true, "_"),   class_of(true, true, ""),   class_of(true, false, ""),
      class_of(false, true, "-_"), class_of(false, true, "-"), class_of(false, true, ""),
      class_of(false, false, ""),
  };
  return sets;
}

}  // namespace syntagma
