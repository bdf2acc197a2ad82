// What the byte edges of macro-states say without being followed.
#include <algorithm>
#include <iterator>
#include <vector>

#include "automaton/macro_automaton.hpp"

namespace syntagma {

MacroAutomaton::ByteTargets MacroAutomaton::byte_targets(std::span<const int32_t> states) {
  ByteTargets targets;
  targets.fill(kNone);
  for (const int32_t s : states)
    for (const ByteEdge& edge : nfa_.byte_edges(s))
      for (int byte = edge.low; byte <= edge.high; ++byte)
        targets[byte] = targets[byte] == kNone || targets[byte] == edge.target ? edge.target : kUnknown;
  return targets;
}

// Whether what frames of two contexts share, they do alike.
bool MacroAutomaton::hand_over_alike(int32_t a, int32_t b) const {
  if (a == b) return true;
  const Context &left = contexts_[a], &right = contexts_[b];
  if (!is_plain(left) || !is_plain(right)) return false;
  for (size_t i = 0, j = 0; i < left.wanted.size() && j < right.wanted.size();) {
    if (left.wanted[i] == right.wanted[j] && left.wanted[i + 1] != right.wanted[j + 1]) return false;
    const bool advances_left = left.wanted[i] <= right.wanted[j];
    j += left.wanted[i] >= right.wanted[j] ? 2 : 0;
    i += advances_left ? 2 : 0;
  }
  return true;
}

ByteSet MacroAutomaton::differing_bytes(int32_t a, int32_t b) {
  const std::lock_guard lock(mutex_);
  const MacroState &left = states_[a], &right = states_[b];
  ByteSet differing;
  if (!hand_over_alike(left.context, right.context) || left.has_calls || right.has_calls) {
    differing.add_range(0, 255);
    return differing;
  }
  const auto mine = state_sets_[left.states], theirs = state_sets_[right.states];
  std::vector<int32_t> only_mine, only_theirs;
  std::set_difference(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(only_mine));
  std::set_difference(theirs.begin(), theirs.end(), mine.begin(), mine.end(),
                      std::back_inserter(only_theirs));
  const ByteTargets by_mine = byte_targets(only_mine), by_theirs = byte_targets(only_theirs);
  for (int byte = 0; byte < 256; ++byte)
    if (by_mine[byte] != by_theirs[byte] || by_mine[byte] == kUnknown)
      differing.add(static_cast<uint8_t>(byte));
  return differing;
}

int MacroAutomaton::usual_letter(int32_t id) {
  const std::lock_guard lock(mutex_);
  if (states_[id].has_calls) return -1;
  const ByteTargets targets = byte_targets(state_sets_[states_[id].states]);
  const uint8_t usual = majority_letter([&](uint8_t byte) { return targets[byte]; });
  return targets[usual] >= 0 ? usual : -1;
}

bool MacroAutomaton::is_within_character(int32_t id) const {
  static const ByteSet continuations = [] {
    ByteSet bytes;
    bytes.add_range(0x80, 0xBF);
    return bytes;
  }();
  const MacroState& m = states_[id];
  return !m.has_calls && !m.has_counters && !m.has_tokens && !m.is_start &&
         continuations.contains_all(m.live);
}

}  // namespace syntagma
