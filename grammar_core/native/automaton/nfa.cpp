#include "automaton/nfa.hpp"

#include <algorithm>
#include <map>

#include "automaton/nfa_builder.hpp"

namespace syntagma {

Nfa::Nfa(const GrammarSource& source) : token_sets_(source.token_sets) {
  NfaBuilder(source, *this).build();
  closures_.resize(state_count());
  visited_.assign(state_count(), 0);
  compute_byte_classes();
  compute_follow();
}

std::span<const int32_t> Nfa::closure(int32_t state) const {
  std::vector<int32_t>& result = closures_[state];
  if (!result.empty()) return result;
  ++visit_;
  std::vector<int32_t> pending{state};
  visited_[state] = visit_;
  while (!pending.empty()) {
    const int32_t s = pending.back();
    pending.pop_back();
    if (has_edges(s) || accepts_[s] >= 0) result.push_back(s);
    for (uint32_t i = empty_begin_[s]; i < empty_begin_[s + 1]; ++i)
      if (visited_[empty_edges_[i]] != visit_) {
        visited_[empty_edges_[i]] = visit_;
        pending.push_back(empty_edges_[i]);
      }
  }
  return result;
}

void Nfa::compute_byte_classes() {
  bool boundary[257] = {};
  boundary[0] = true;
  for (const ByteEdge& e : byte_edges_) {
    boundary[e.low] = true;
    boundary[e.high + 1] = true;
  }
  for (int byte = 0; byte < 256; ++byte) {
    if (boundary[byte]) representative_[class_count_++] = static_cast<uint8_t>(byte);
    class_of_[byte] = static_cast<uint8_t>(class_count_ - 1);
  }
}

// Least fixpoints of first and follow sets, propagated along "first(a) is part of first(b)" edges.
void Nfa::compute_follow() {
  const size_t n = symbols_.size();
  follow_.assign(n, {});
  std::vector<ByteSet> first(n);
  std::vector<std::vector<int32_t>> first_users(n), follow_users(n), first_to_follow(n);
  const auto add_first = [&](int32_t state, ByteSet& set, auto on_symbol) {
    for (const ByteEdge& e : byte_edges(state)) set.add_range(e.low, e.high);
    for (const CallEdge& e : call_edges(state)) on_symbol(e.symbol);
  };
  for (size_t s = 0; s < n; ++s) {
    const Symbol& symbol = symbols_[s];
    if (symbol.is_counter()) {
      first_users[symbol.counter_body].push_back(static_cast<int32_t>(s));
      first_to_follow[symbol.counter_body].push_back(symbol.counter_body);
      follow_users[s].push_back(symbol.counter_body);
      continue;
    }
    for (const int32_t state : closure(symbol.start))
      add_first(state, first[s],
                [&](int32_t callee) { first_users[callee].push_back(static_cast<int32_t>(s)); });
  }
  for (const CallEdge& call : call_edges_)
    for (const int32_t state : closure(call.target)) {
      add_first(state, follow_[call.symbol],
                [&](int32_t callee) { first_to_follow[callee].push_back(call.symbol); });
      if (accepts_[state] >= 0) follow_users[accepts_[state]].push_back(call.symbol);
    }
  const auto propagate = [](std::vector<ByteSet>& sets, const std::vector<std::vector<int32_t>>& users) {
    std::vector<int32_t> pending(sets.size());
    for (size_t i = 0; i < sets.size(); ++i) pending[i] = static_cast<int32_t>(i);
    while (!pending.empty()) {
      const int32_t s = pending.back();
      pending.pop_back();
      for (const int32_t user : users[s])
        if (sets[user].merge(sets[s])) pending.push_back(user);
    }
  };
  propagate(first, first_users);
  for (size_t s = 0; s < n; ++s)
    for (const int32_t user : first_to_follow[s]) follow_[user].merge(first[s]);
  propagate(follow_, follow_users);
}

size_t Nfa::memory_bytes() const {
  size_t bytes =
      byte_edges_.size() * sizeof(ByteEdge) + call_edges_.size() * sizeof(CallEdge) +
      (empty_edges_.size() + accepts_.size() + owners_.size() + visited_.size()) * sizeof(int32_t) +
      4 * byte_begin_.size() * sizeof(uint32_t) + symbols_.size() * sizeof(Symbol) +
      follow_.size() * sizeof(ByteSet) + closures_.size() * sizeof(closures_[0]);
  return bytes;
}

}  // namespace syntagma
