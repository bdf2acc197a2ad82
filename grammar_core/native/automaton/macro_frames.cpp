// Which symbols the states of a frame can still complete, and what of them is the same in other grammars.
#include <algorithm>
#include <utility>
#include <vector>

#include "automaton/macro_automaton.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostOwners = 4;    // of a state whose frame leaves out other symbols
constexpr size_t kSmallShape = 600;  // numbers that tell an automaton

}  // namespace

// Whether the symbols of a frame do not depend on one another.
bool MacroAutomaton::is_plain(const Context& context) const {
  const Symbol& first = nfa_.symbols()[context.wanted[0]];
  return context.corners.empty() && !context.lazy && first.paths < 0 && first.early < 0;
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

// The context of the symbols that can still complete from the set last closed. Where a key of an object has
// begun, its frame is the same whatever other members could have come instead.
int32_t MacroAutomaton::narrowed(int32_t context) {
  const Context& c = contexts_[context];
  if (c.wanted.size() == 2 || !is_plain(c)) return context;
  owners_.clear();
  for (const int32_t s : set_) {
    const int32_t owner = nfa_.owner(s);
    if (owner_in_set_[owner] == set_number_) continue;
    owner_in_set_[owner] = set_number_;
    owners_.push_back(owner);
    if (owners_.size() > kMostOwners) return context;
  }
  std::sort(owners_.begin(), owners_.end());
  narrow_key_.clear();
  auto owner = owners_.begin();
  for (size_t i = 0; i < c.wanted.size() && owner != owners_.end(); i += 2) {
    if (c.wanted[i] != *owner) continue;
    narrow_key_.push_back(c.wanted[i]);
    narrow_key_.push_back(c.wanted[i + 1]);
    ++owner;
  }
  const int32_t id = context_keys_.intern(narrow_key_);
  if (id == static_cast<int32_t>(contexts_.size())) {
    contexts_.emplace_back().wanted = narrow_key_;
    account(narrow_key_.size() * sizeof(int32_t) + sizeof(Context));
  }
  return id;
}

std::vector<int32_t> MacroAutomaton::reading_states(int32_t id) {
  const MacroState& m = states_[id];
  if (m.has_calls || m.has_tokens || m.is_start) return {};
  const std::lock_guard lock(mutex_);
  const auto states = state_sets_[m.states];
  if (!is_plain(contexts_[m.context]) ||
      !std::all_of(states.begin(), states.end(), [&](int32_t s) { return nfa_.only_reads(s); }))
    return {};
  return {states.begin(), states.end()};
}

std::vector<int32_t> MacroAutomaton::plain_states(int32_t id) {
  const std::lock_guard lock(mutex_);
  if (!is_plain(contexts_[states_[id].context])) return {};
  const auto states = state_sets_[states_[id].states];
  return {states.begin(), states.end()};
}

int32_t MacroAutomaton::state_of(int32_t id, int32_t nfa_state) {
  const std::lock_guard lock(mutex_);
  return lone_target(states_[id].context, nfa_state);
}

const std::vector<int32_t>& MacroAutomaton::regular_frame(int32_t id) {
  const std::lock_guard lock(mutex_);
  const auto [entry, added] = frame_shapes_.try_emplace(id);
  if (!added) return entry->second;
  const MacroState& m = states_[id];
  const Context& c = contexts_[m.context];
  const bool reads_path = nfa_.symbols()[c.wanted[0]].paths >= 0;  // all of its symbols do
  if ((c.wanted.size() != 2 && !reads_path) || !c.corners.empty()) return entry->second;
  std::vector<int32_t> shape;
  const SymbolShape* whole = reads_path ? nullptr : &shape_of_symbol(c.wanted[0]);
  if (whole != nullptr && !whole->numbers.empty()) {
    shape = {kWholeSymbol, c.wanted[0]};
    for (const int32_t s : state_sets_[m.states]) shape.push_back(whole->numbers.at(s));
    std::sort(shape.begin() + 2, shape.end());
  } else if (whole == nullptr || !whole->words.empty()) {
    shape = nfa_.shape(state_sets_[m.states], c.wanted[0]);
  }
  if (!shape.empty()) {
    shape.push_back(m.reports != 0 ? -5 : -4);
    shape.push_back(c.lazy ? -5 : -4);
  }
  entry->second = std::move(shape);
  account(entry->second.size() * sizeof(int32_t) + 64);
  return entry->second;
}

// A small automaton is told by what can be reached from its states, so that its ends are those of others. For
// a large one that would be much to compare at every state.
const MacroAutomaton::SymbolShape& MacroAutomaton::shape_of_symbol(int32_t symbol) {
  const auto [entry, added] = symbol_shapes_.try_emplace(symbol);
  SymbolShape& shape = entry->second;
  if (!added) return shape;
  std::vector<int32_t> order;
  shape.words = nfa_.shape({&nfa_.symbols()[symbol].start, 1}, symbol, order);
  if (shape.words.size() > kSmallShape)
    for (size_t i = 0; i < order.size(); ++i) shape.numbers.emplace(order[i], static_cast<int32_t>(i));
  account(shape.words.size() * sizeof(int32_t) + shape.numbers.size() * 32 + 64);
  return shape;
}

const std::vector<int32_t>& MacroAutomaton::symbol_shape(int32_t symbol) {
  const std::lock_guard lock(mutex_);
  return shape_of_symbol(symbol).words;
}

int32_t MacroAutomaton::frame_reports(int32_t id) {
  const std::lock_guard lock(mutex_);
  return contexts_[states_[id].context].wanted[1];
}

}  // namespace syntagma
