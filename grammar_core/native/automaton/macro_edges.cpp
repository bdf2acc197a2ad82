// The edges of macro-states, of bytes and of whole tokens: where they lead, and what they say without being
// followed.
#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "automaton/macro_automaton.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr size_t kFewEdges = 12;  // are compared with one another in no time

}  // namespace

// For the byte's class, and for others that have the same edges.
int32_t MacroAutomaton::compute_next(int32_t id, int byte_class) {
  const std::lock_guard lock(mutex_);
  MacroState& m = states_[id];
  const EdgeRange range = edge_range(m, nfa_.representative(byte_class), edge_targets_);
  const int32_t target = edge_targets_.size() == 1 ? lone_target(m.context, edge_targets_[0])
                                                   : target_of(m.context, edge_targets_);
  note_next(m, range, target);
  size_t edges = 0;
  for (const int32_t s : state_sets_[m.states]) edges += nfa_.byte_edges(s).size();
  if (edges > kFewEdges) return target;
  // Such as the other spaces.
  for (const int32_t s : state_sets_[m.states])
    for (const ByteEdge& e : nfa_.byte_edges(s)) {
      if (m.next[m.live_classes.count_below(nfa_.class_of(e.low))].load(std::memory_order_relaxed) !=
          kUnknown)
        continue;
      const EdgeRange other = edge_range(m, e.low, other_targets_);
      if (other_targets_ == edge_targets_) note_next(m, other, target);
    }
  return target;
}

// The state that some states of the Nfa and what they reach make up.
int32_t MacroAutomaton::target_of(int32_t context, std::span<const int32_t> targets) {
  begin_set();
  for (const int32_t target : targets) add_state(target);
  return set_.empty() ? kNone : close_set(context);
}

// The same for a single one, as most bytes lead to; many states share theirs.
int32_t MacroAutomaton::lone_target(int32_t context, int32_t target) {
  LoneTarget& known = lone_targets_[static_cast<uint32_t>(target) % lone_targets_.size()];
  if (known.context != context || known.target != target)
    known = {context, target, target_of(context, {&target, 1})};
  return known.state;
}

// Where a byte leads to from the states of `m`, and the bytes around it with the same edges.
MacroAutomaton::EdgeRange MacroAutomaton::edge_range(const MacroState& m, uint8_t byte,
                                                     std::vector<int32_t>& targets) {
  targets.clear();
  int low = 0, high = 255;
  size_t visited = 0;
  for (const int32_t s : state_sets_[m.states]) {
    const auto edges = nfa_.byte_edges(s);
    visited += edges.size();
    for (const ByteEdge& e : edges) {
      if (e.high < byte) {
        low = std::max(low, e.high + 1);
      } else if (e.low > byte) {
        high = std::min(high, e.low - 1);
      } else {
        low = std::max<int>(low, e.low);
        high = std::min<int>(high, e.high);
        targets.push_back(e.target);
      }
    }
  }
  TimeLimit::tick(static_cast<uint32_t>(visited));
  return {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
}

void MacroAutomaton::note_next(const MacroState& m, EdgeRange range, int32_t target) {
  const uint8_t first = nfa_.class_of(range.low);
  const int count = nfa_.class_of(range.high) - first + 1;
  const int live_class = m.live_classes.count_below(first);
  for (int i = 0; i < count; ++i) m.next[live_class + i].store(target, std::memory_order_release);
}

MacroAutomaton::ByteTargets MacroAutomaton::byte_targets(std::span<const int32_t> states) {
  ByteTargets targets;
  targets.fill(kNone);
  for (const int32_t s : states)
    for (const ByteEdge& edge : nfa_.byte_edges(s))
      for (int byte = edge.low; byte <= edge.high; ++byte)
        targets[byte] = targets[byte] == kNone || targets[byte] == edge.target ? edge.target : kUnknown;
  return targets;
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
  MacroState& m = states_[id];
  if (m.has_calls) return -1;
  if (m.usual_letter != kUnknown) return m.usual_letter;
  const ByteTargets targets = byte_targets(state_sets_[m.states]);
  const uint8_t usual = majority_letter([&](uint8_t byte) { return targets[byte]; });
  return m.usual_letter = targets[usual] >= 0 ? usual : -1;
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

void MacroAutomaton::add_token_targets(int32_t id, int32_t token) {
  for (const int32_t s : state_sets_[states_[id].states])
    for (const TokenEdge& e : nfa_.token_edges(s))
      if (nfa_.token_sets()[e.set].contains(token)) add_state(e.target);
}

int32_t MacroAutomaton::next_either(int32_t id, int32_t token, int32_t before_last, uint8_t last) {
  const std::lock_guard lock(mutex_);
  begin_set();
  add_token_targets(id, token);
  for (const int32_t s : state_sets_[states_[before_last].states])
    for (const ByteEdge& e : nfa_.byte_edges(s))
      if (e.low <= last && last <= e.high) add_state(e.target);
  return set_.empty() ? kNone : close_set(states_[id].context);
}

int32_t MacroAutomaton::next_token(int32_t id, int32_t token) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = static_cast<uint64_t>(id) << 32 | static_cast<uint32_t>(token);
  const auto found = token_targets_.find(key);
  if (found != token_targets_.end()) return found->second;
  begin_set();
  add_token_targets(id, token);
  const int32_t target = set_.empty() ? kNone : close_set(states_[id].context);
  account(48);
  token_targets_.emplace(key, target);
  return target;
}

std::vector<int32_t> MacroAutomaton::token_sets(int32_t id) {
  const std::lock_guard lock(mutex_);
  std::vector<int32_t> sets;
  for (const int32_t s : state_sets_[states_[id].states])
    for (const TokenEdge& e : nfa_.token_edges(s)) sets.push_back(e.set);
  return sets;
}

}  // namespace syntagma
