// Long walks, in which every node must cost little.
#include <utility>

#include "automaton/time_limit.hpp"
#include "mask/vocabulary_walk.hpp"

namespace syntagma {

const VocabularyWalk::TextState& VocabularyWalk::make_text_state(int32_t state) {
  if (static_cast<size_t>(state) >= text_states_.size()) text_states_.resize(state + 1);
  TextState& text = text_states_[state];
  text.kind = TextState::kOther;
  if (!walker_.has_items(state) || !walker_.is_narrow(state) || walker_.has_inner_frame(state)) return text;
  text.kind = TextState::kText;
  if (const int32_t reports = walker_.reports(state); reports != 0) text.follow = follow(reports).groups;
  text.reads_plain = walker_.live_bytes(state).contains_all(vocabulary_.plain_texts().back().first_bytes);
  return text;
}

// From `node` on, up to one that is left to `walk_nodes`: what that does for states that are mostly text,
// with little work for each node.
uint32_t VocabularyWalk::walk_text_states(uint32_t node, uint32_t end, Leaving leaving,
                                          WalkFindings& findings) {
  const TrieNode* const trie = vocabulary_.trie().data();
  PathEntry* const path = path_.data();
  std::pair<uint32_t, uint32_t> consumed{0, 0};  // not among the findings yet
  const auto consume = [&](uint32_t first, uint32_t last) {
    if (first == last) return;
    if (consumed.second != first) {
      findings.consume(consumed, 0);
      consumed.first = first;
    }
    consumed.second = last;
  };
  uint32_t visited = 0;
  while (node < end) {
    const TrieNode& n = trie[node];
    __builtin_prefetch(trie + n.subtree_end);
    const PathEntry& before = path[n.depth - 1];
    const int32_t state = before.reading == kNone ? walker_.known_next(before.state, n.byte) : kUnknown;
    if (state == kUnknown) break;
    ++visited;
    if (state == kNone) {
      node = before.fan == nullptr ? n.subtree_end : after_subtree(node);
      continue;
    }
    const TextState& text = text_state(state);
    const uint32_t size = n.subtree_end - node;
    if (text.kind == TextState::kOther || size >= kLargeSubtree) break;
    if (size == 1 || loops_over(before.state, state, n.groups_below) ||
        (text.reads_plain && survives_all_below(state, node))) {
      consume(n.first_rank, trie[n.subtree_end].first_rank);
      node = before.fan == nullptr ? n.subtree_end : after_subtree(node);
      continue;
    }
    consume(n.first_rank, trie[node + 1].first_rank);
    if ((text.follow & n.groups_below) != 0 || leaving == Leaving::kAll)
      add_leaving_at(node, state, 0, leaving, findings);
    path[n.depth].enter(state, 0);
    if (n.fan == 0 && (!text.reads_plain || size < kSmallSubtree)) {
      ++node;
      continue;
    }
    findings.consume(consumed, 0);
    consumed = {0, 0};
    node = first_below(node, false, 0, leaving, findings);
  }
  findings.consume(consumed, 0);
  visited_ += visited;
  TimeLimit::tick(visited);
  return node;
}

}  // namespace syntagma
