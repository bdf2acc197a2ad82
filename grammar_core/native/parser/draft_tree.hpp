// Masks for all nodes of a tree of draft tokens (speculative decoding).
#pragma once

#include <cstdint>
#include <span>

#include "parser/matcher.hpp"

namespace syntagma {

struct DraftTree {
  std::span<const int64_t> first_child;   // by node; -1: none
  std::span<const int64_t> next_sibling;  // by node; -1: none
  std::span<const int64_t> tokens;        // by node; that of the root, node 0, is accepted already
};

// Where the results of a node go: a row of `words_per_row` words, and a temperature unless null.
struct DraftResults {
  uint32_t* words;
  size_t words_per_row;
  float* temperatures;
  float default_temperature;  // where no rule has one; -1: none
};

// Fills the row of each node whose tokens the grammar accepts from the root on; the other rows become zero
// and their temperatures -1. The matcher is as before afterwards. False if it took longer than `seconds`
// (negative: no limit). Throws std::invalid_argument for links out of range and for nodes that are reached
// twice.
bool traverse_draft_tree(Matcher& matcher, const DraftTree& tree, const DraftResults& results,
                         double seconds);

}  // namespace syntagma
