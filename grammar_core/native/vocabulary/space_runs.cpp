#include "vocabulary/space_runs.hpp"

#include <algorithm>
#include <utility>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

SpaceRuns::SpaceRuns(const Vocabulary& vocabulary, unsigned set) {
  ByteSet spaces;
  for (size_t i = 0; i < kSpaces.size(); ++i)
    if ((set >> i & 1) != 0) spaces.add(kSpaces[i]);
  const auto trie = vocabulary.trie();
  std::vector<uint32_t> words(vocabulary.mask_words(), 0), pending{0};
  std::vector<std::pair<uint8_t, uint32_t>> ends;
  while (!pending.empty()) {
    const uint32_t node = pending.back();
    pending.pop_back();
    if (node != 0) {
      const auto [first, last] = vocabulary.ranks_at(node);
      for (uint32_t rank = first; rank < last; ++rank)
        words[vocabulary.token_at_rank(rank) / 32] |= uint32_t{1} << (vocabulary.token_at_rank(rank) % 32);
    }
    for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end) {
      if (spaces.contains(trie[child].byte))
        pending.push_back(child);
      else if (node != 0)
        ends.emplace_back(trie[child].byte, child);
    }
  }
  if (std::any_of(words.begin(), words.end(), [](uint32_t word) { return word != 0; }))
    tokens_ = std::make_shared<MaskWords>(std::move(words));
  std::sort(ends.begin(), ends.end());
  for (const auto& [byte, node] : ends) {
    ends_.push_back(node);
    ends_begin_[byte + 1] = static_cast<uint32_t>(ends_.size());
  }
  for (size_t byte = 0; byte < 256; ++byte)
    ends_begin_[byte + 1] = std::max(ends_begin_[byte + 1], ends_begin_[byte]);
}

}  // namespace syntagma
