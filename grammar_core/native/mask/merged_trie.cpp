#include "mask/merged_trie.hpp"

#include <algorithm>
#include <utility>

#include "automaton/time_limit.hpp"

namespace syntagma {

MergedTrie::MergedTrie(const Vocabulary& vocabulary, std::span<const int32_t> origins) {
  const auto trie = vocabulary.trie();
  std::vector<std::pair<uint8_t, int32_t>> children;  // byte and node of the vocabulary's trie
  struct Pending {
    uint8_t byte;
    uint16_t depth;
    std::vector<int32_t> places;
  };
  std::vector<Pending> pending{{0, 0, {origins.begin(), origins.end()}}};
  std::vector<uint32_t> open;  // nodes whose subtree has not ended
  const auto close = [&](size_t depth) {
    for (; open.size() > depth; open.pop_back())
      nodes_[open.back()].subtree_end = static_cast<uint32_t>(nodes_.size());
  };
  while (!pending.empty()) {
    const Pending next = std::move(pending.back());
    pending.pop_back();
    close(next.depth);
    open.push_back(static_cast<uint32_t>(nodes_.size()));
    Node node{
        0,          0,        static_cast<uint32_t>(ranks_.size()), static_cast<uint32_t>(places_.size()),
        next.depth, next.byte};
    children.clear();
    for (const int32_t place : next.places) {
      TimeLimit::tick();
      const TrieNode& from = trie[place];
      node.groups_below |= from.groups_below;
      places_.push_back(place);
      const auto [first, last] = vocabulary.ranks_at(place);
      for (uint32_t rank = first; next.depth > 0 && rank < last; ++rank) ranks_.push_back(rank);
      for (uint32_t child = place + 1; child < from.subtree_end; child = trie[child].subtree_end)
        children.emplace_back(trie[child].byte, static_cast<int32_t>(child));
    }
    nodes_.push_back(node);
    std::sort(children.begin(), children.end());
    for (size_t end = children.size(); end > 0;) {  // backwards, so that the first is taken up first
      Pending below{children[end - 1].first, static_cast<uint16_t>(next.depth + 1), {}};
      for (; end > 0 && children[end - 1].first == below.byte; --end)
        below.places.push_back(children[end - 1].second);
      pending.push_back(std::move(below));
    }
  }
  close(0);
  nodes_.push_back({0, 0, static_cast<uint32_t>(ranks_.size()), static_cast<uint32_t>(places_.size()), 0, 0});
}

}  // namespace syntagma
