// The rests of many tokens as one trie: what is below a set of nodes of the vocabulary's trie, with equal
// rests put together. Where free text ends in the middle of hundreds of tokens, a follower that takes a comma
// looks at one node for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

class MergedTrie {
 public:
  // Below `origins`, nodes of the vocabulary's trie.
  MergedTrie(const Vocabulary& vocabulary, std::span<const int32_t> origins);

  // Like TrieNode, in preorder; node 0 is the root, all origins together.
  struct Node {
    GroupSet groups_below;
    uint32_t subtree_end;
    uint32_t first_rank;   // index of its tokens in `ranks`; the next node's ends them
    uint32_t first_place;  // index of the vocabulary's nodes put together here in `places`; likewise
    uint16_t depth;
    uint8_t byte;
  };

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()) - 1; }  // without the sentinel
  const Node& node(uint32_t index) const { return nodes_[index]; }
  std::span<const uint32_t> ranks_at(uint32_t node) const {
    return {ranks_.data() + nodes_[node].first_rank, ranks_.data() + nodes_[node + 1].first_rank};
  }
  std::span<const uint32_t> ranks_below(uint32_t node) const {
    return {ranks_.data() + nodes_[node + 1].first_rank,
            ranks_.data() + nodes_[nodes_[node].subtree_end].first_rank};
  }
  std::span<const int32_t> places(uint32_t node) const {
    return {places_.data() + nodes_[node].first_place, places_.data() + nodes_[node + 1].first_place};
  }
  size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(Node) + ranks_.capacity() * sizeof(uint32_t) +
           places_.capacity() * sizeof(int32_t);
  }

 private:
  std::vector<Node> nodes_;  // one sentinel at the end
  std::vector<uint32_t> ranks_;
  std::vector<int32_t> places_;
};

}  // namespace syntagma
