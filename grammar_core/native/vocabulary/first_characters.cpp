#include "vocabulary/first_characters.hpp"

#include <utility>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kManyNodes = 256;  // of a group, from which on it pays to take its characters at once

}  // namespace

FirstCharacters::FirstCharacters(const Vocabulary& vocabulary) {
  const auto trie = vocabulary.trie();
  std::array<uint32_t, kGroupCount> nodes{};
  std::array<std::vector<uint32_t>, kGroupCount> words;
  for (uint32_t child = 1; child < trie[0].subtree_end; child = trie[child].subtree_end) {
    const uint8_t lead = trie[child].byte;
    for (const LeadRange& range : kLeads) {
      if (lead < range.first || lead > range.last) continue;
      const int group = group_of(lead);
      words[group].resize(vocabulary.mask_words(), 0);
      add_lead(vocabulary, range, child, words[group]);
      by_group_[group].leads.add(lead);
      nodes[group] += trie[child].subtree_end - child;
    }
  }
  for (size_t group = 0; group < kGroupCount; ++group)
    if (nodes[group] >= kManyNodes)
      by_group_[group].tokens = std::make_shared<MaskWords>(std::move(words[group]));
}

void FirstCharacters::add_lead(const Vocabulary& vocabulary, const LeadRange& range, uint32_t lead_node,
                               std::vector<uint32_t>& words) {
  const auto trie = vocabulary.trie();
  ByLead& lead = by_lead_[trie[lead_node].byte - kFirstByte];
  lead.first_longer = static_cast<uint32_t>(longer_.size());
  lead.first_broken = static_cast<uint32_t>(broken_.size());
  for (uint32_t node = lead_node; node < trie[lead_node].subtree_end;) {
    const TrieNode& n = trie[node];
    const int low = n.depth == 2 ? range.low : 0x80, high = n.depth == 2 ? range.high : 0xBF;
    if (n.depth > 1 && (n.byte < low || n.byte > high)) {
      broken_.push_back(node);
      node = n.subtree_end;
      continue;
    }
    const auto [first, last] = vocabulary.ranks_at(node);
    for (uint32_t rank = first; rank < last; ++rank) {
      const int32_t id = vocabulary.token_at_rank(rank);
      words[id / 32] |= uint32_t{1} << (id % 32);
    }
    if (n.depth <= range.rest) {
      ++node;
      continue;
    }
    const auto [below, end] = vocabulary.ranks_below(node);
    if (below != end) longer_.push_back({n.groups_below, node, below, end});
    node = n.subtree_end;
  }
  lead.end_longer = static_cast<uint32_t>(longer_.size());
  lead.end_broken = static_cast<uint32_t>(broken_.size());
}

size_t FirstCharacters::memory_bytes() const {
  size_t words = 0;
  for (const ByGroup& group : by_group_)
    if (group.tokens != nullptr) words += group.tokens->memory_bytes();
  return words + longer_.capacity() * sizeof(Longer) + broken_.capacity() * sizeof(uint32_t);
}

}  // namespace syntagma
