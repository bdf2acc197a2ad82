#include "automaton/nfa.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "automaton/nfa_builder.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr size_t kLikelyShape = 96;      // numbers
constexpr size_t kLargestShape = 4'000;  // states up to which frames are shared between grammars

// Adds every set to the sets of its users until nothing changes.
void propagate(std::vector<ByteSet>& sets, const Adjacency& users) {
  std::vector<int32_t> pending(sets.size());
  std::vector<uint8_t> queued(sets.size(), 1);
  for (size_t i = 0; i < sets.size(); ++i) pending[i] = static_cast<int32_t>(i);
  while (!pending.empty()) {
    const int32_t s = pending.back();
    pending.pop_back();
    queued[s] = 0;
    for (const int32_t user : users[s]) {
      TimeLimit::tick();
      if (!sets[user].merge(sets[s]) || queued[user]) continue;
      queued[user] = 1;
      pending.push_back(user);
    }
  }
}

}  // namespace

Nfa::Nfa(const GrammarSource& source) : token_sets_(source.token_sets) {
  NfaBuilder(source, *this).build();
  compute_byte_classes();
  compute_follow();
  if (std::any_of(symbols_.begin(), symbols_.end(), [](const Symbol& s) { return s.records(); }))
    compute_unit_calls();
}

std::vector<int32_t> Nfa::shape(std::span<const int32_t> states, int32_t symbol,
                                std::vector<int32_t>& order) {
  order.clear();
  if (calls_something_[symbol]) return {};
  numbers_.resize(state_count(), 0);
  std::vector<int32_t> words;
  words.reserve(kLikelyShape);
  // A number that another call has left is not that of the state.
  const auto number = [&](int32_t state) {
    const auto known = static_cast<size_t>(numbers_[state]);
    if (known < order.size() && order[known] == state) return numbers_[state];
    order.push_back(state);
    return numbers_[state] = static_cast<int32_t>(order.size()) - 1;
  };
  for (const int32_t state : states) number(state);
  words.push_back(static_cast<int32_t>(order.size()));
  for (size_t i = 0; i < order.size(); ++i) {
    const int32_t state = order[i];
    const int32_t owner = is_derived(state) ? -1 : owners_[state];
    const bool is_own = owner == symbol || (owner >= 0 && symbols_[symbol].paths >= 0 &&
                                            symbols_[owner].paths == symbols_[symbol].paths);
    if (order.size() > kLargestShape || !is_own || call_begin_[state] != call_begin_[state + 1] ||
        token_begin_[state] != token_begin_[state + 1])
      return {};
    if (symbols_[owner].paths >= 0 && accepts_[state] >= 0) {  // an edge of counted paths: on to its target
      const CountedPaths& paths = paths_[symbols_[owner].paths];
      const int32_t target = symbols_[accepts_[state]].path_target;
      const int64_t rest = paths.rest[target] == kUnbounded ? -1 : paths.rest[target];
      words.insert(words.end(), {-6, paths.accepting[target], static_cast<int32_t>(rest)});
      if (!paths.symbols[target].empty()) words.push_back(number(symbols_[paths.symbols[target][0]].start));
      continue;
    }
    words.push_back(state == symbols_[symbol].accept ? -1 : -2);
    for (const ByteEdge& e : byte_edges(state)) {
      words.push_back(e.low << 8 | e.high);
      words.push_back(number(e.target));
    }
    words.push_back(-3);
    for (const int32_t target : empty_edges(state)) words.push_back(number(target));
  }
  return words;
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

int64_t Nfa::path_rest(std::span<const int32_t> states, int32_t symbol) const {
  const CountedPaths& paths = paths_[symbols_[symbol].paths];
  const int64_t least = paths.rest[symbols_[symbol].path_source] - 1;  // that any edge of the state leads to
  std::vector<int32_t> reached(states.begin(), states.end());
  std::unordered_set<int32_t> known(states.begin(), states.end());
  int64_t rest = kUnbounded;
  const auto reach = [&](int32_t state) {
    if (known.insert(state).second) reached.push_back(state);
  };
  for (size_t i = 0; i < reached.size() && rest > least; ++i) {
    const int32_t state = reached[i];
    if (accepts_[state] >= 0) rest = std::min(rest, paths.to_end(symbols_[accepts_[state]].path_target));
    for (const ByteEdge& e : byte_edges(state)) reach(e.target);
    for (const int32_t target : empty_edges(state)) reach(target);
  }
  return rest;
}

// Which states reach their accept state over empty edges.
std::vector<uint8_t> Nfa::states_before_acceptance() const {
  std::vector<Adjacency::Placed> reversed;
  reversed.reserve(empty_edges_.size());
  for (int32_t s = 0; s < state_count(); ++s)
    for (const int32_t target : empty_edges(s)) reversed.push_back({target, s});
  const Adjacency before(state_count(), reversed);
  std::vector<uint8_t> accepting(state_count(), 0);
  std::vector<int32_t> pending;
  const auto mark = [&](int32_t s) {
    if (accepting[s]) return;
    accepting[s] = 1;
    pending.push_back(s);
  };
  for (const Symbol& symbol : symbols_)
    if (!symbol.is_counter()) mark(symbol.accept);
  while (!pending.empty()) {
    const int32_t s = pending.back();
    pending.pop_back();
    TimeLimit::tick();
    for (const int32_t source : before[s]) mark(source);
  }
  return accepting;
}

// Where the texts of a symbol begin, as if every member of a list could come first.
int32_t Nfa::start_of(int32_t symbol) const {
  const Symbol& s = symbols_[symbol];
  const int32_t start = s.is_counter() ? symbols_[s.counter_body].start : s.start;
  return is_derived(start) ? loops_[derived(start).loop].entrance : start;
}

// For each state of `wanted` the bytes that may come next before its symbol ends, as a least fixpoint: a
// state uses those of the states that it reaches over empty edges and of the symbols that it calls.
Nfa::FirstSets Nfa::first_sets(std::span<const int32_t> wanted) const {
  FirstSets first{std::vector<int32_t>(state_count(), -1), {}};
  std::vector<int32_t> states;
  const auto place = [&](int32_t state) {
    if (first.position[state] < 0) {
      first.position[state] = static_cast<int32_t>(states.size());
      states.push_back(state);
      first.sets.emplace_back();
    }
    return first.position[state];
  };
  for (const int32_t state : wanted) place(state);
  std::vector<Adjacency::Placed> users;
  for (int32_t user = 0; user < static_cast<int32_t>(states.size()); ++user) {  // grows as states are reached
    TimeLimit::tick();
    const int32_t s = states[user];
    for (const ByteEdge& e : byte_edges(s)) first.sets[user].add_range(e.low, e.high);
    for (const int32_t target : empty_edges(s)) users.push_back({place(target), user});
    for (const CallEdge& call : call_edges(s)) users.push_back({place(start_of(call.symbol)), user});
  }
  propagate(first.sets, Adjacency(states.size(), users));
  return first;
}

// Each edge is followed by those of its target, and by what follows the whole where that accepts.
void Nfa::add_path_uses(int32_t counter, std::vector<CallEdge>& uses,
                        std::vector<Adjacency::Placed>& users) const {
  const CountedPaths& paths = paths_[symbols_[counter].paths];
  for (const std::vector<int32_t>& edges : paths.symbols)
    for (const int32_t edge : edges) {
      const int32_t target = symbols_[edge].path_target;
      if (!paths.symbols[target].empty()) uses.push_back({edge, start_of(paths.symbols[target][0])});
      if (paths.accepting[target]) users.push_back({counter, edge});
    }
}

// Least fixpoint: a call is followed by what its target begins with, and where nothing needs to come there by
// what follows the symbol that calls.
void Nfa::compute_follow() {
  const auto n = static_cast<int32_t>(symbols_.size());
  const std::vector<uint8_t> accepting = states_before_acceptance();
  std::vector<CallEdge> uses = call_edges_;
  std::vector<Adjacency::Placed> users;
  for (int32_t symbol = 0; symbol < n; ++symbol) {
    const int32_t body = symbols_[symbol].counter_body;
    if (!symbols_[symbol].is_counter()) continue;
    if (symbols_[symbol].paths >= 0) {
      add_path_uses(symbol, uses, users);
      continue;
    }
    uses.push_back({body, start_of(body)});  // another iteration
    users.push_back({symbol, body});
  }
  std::vector<int32_t> targets;
  targets.reserve(uses.size());
  for (const CallEdge& use : uses) targets.push_back(use.target);
  for (const CallEdge& call : call_edges_)
    if (accepting[call.target]) users.push_back({owners_[call.target], call.symbol});
  const FirstSets first = first_sets(targets);
  follow_.assign(n, {});
  for (const CallEdge& use : uses) follow_[use.symbol].merge(first.sets[first.position[use.target]]);
  propagate(follow_, Adjacency(n, users));
}

void Nfa::compute_unit_calls() {
  const std::vector<uint8_t> accepting = states_before_acceptance();
  std::vector<uint8_t> reached(state_count(), 0);  // states belong to one symbol each
  std::vector<int32_t> pending;
  unit_calls_.resize(symbols_.size());
  for (size_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& symbol = symbols_[i];
    if (symbol.is_counter()) {
      if (symbol.min <= 1 && symbol.paths < 0) unit_calls_[i].push_back(symbol.counter_body);
      continue;
    }
    if (is_derived(symbol.start)) {
      for (const CallEdge& call : call_edges(symbol.start))
        if (may_end(call.target)) unit_calls_[i].push_back(call.symbol);
      continue;
    }
    pending.assign(1, symbol.start);
    while (!pending.empty()) {
      const int32_t state = pending.back();
      pending.pop_back();
      TimeLimit::tick();
      if (reached[state]) continue;
      reached[state] = 1;
      for (const CallEdge& call : call_edges(state))
        if (accepting[call.target]) unit_calls_[i].push_back(call.symbol);
      for (const int32_t target : empty_edges(state)) pending.push_back(target);
    }
  }
}

// The state of a loop's place `base` after the members of `configuration`.
int32_t Nfa::derive(int32_t loop, int32_t configuration, int32_t base) {
  const int32_t id = derived_keys_.intern(Triple{loop, configuration, base});
  if (id == static_cast<int32_t>(derived_.size())) {
    derived_.push_back({loop, configuration, base, false, {}, {}, {}, {}});
    derived_bytes_ += sizeof(DerivedState) + 64;
  }
  return state_count() + id;
}

void Nfa::expand(DerivedState& state) {
  MemberLoop& loop = loops_[state.loop];
  const auto [place, configuration, base] = std::tuple(state.loop, state.configuration, state.base);
  const auto with = [&](int32_t target) { return derive(place, configuration, target); };
  if (base == loop.entrance) {
    expand_entrance(state);
  } else if (base == loop.between && loop.order.is_complete(configuration)) {
    state.empty.push_back(loop.accept);
  }
  if (base != loop.entrance && (base != loop.between || loop.order.may_go_on(configuration))) {
    for (const ByteEdge& e : byte_edges(base)) state.bytes.push_back({e.low, e.high, with(e.target)});
    for (const CallEdge& e : call_edges(base)) state.calls.push_back({e.symbol, with(e.target)});
    for (const TokenEdge& e : token_edges(base)) state.tokens.push_back({e.set, with(e.target)});
    for (const int32_t target : empty_edges(base))
      if (target != loop.accept) state.empty.push_back(with(target));
  }
  state.expanded = true;
  derived_bytes_ += state.bytes.size() * sizeof(ByteEdge) + state.calls.size() * sizeof(CallEdge) +
                    (state.tokens.size() + state.empty.size()) * sizeof(TokenEdge);
}

void Nfa::expand_entrance(DerivedState& state) {
  MemberLoop& loop = loops_[state.loop];
  const size_t before = loop.order.memory_bytes();
  loop.order.for_each_next(state.configuration, [&](int32_t member, int32_t configuration) {
    state.calls.push_back({loop.calls[member], derive(state.loop, configuration, loop.between)});
  });
  derived_bytes_ += loop.order.memory_bytes() - before;
}

size_t Nfa::memory_bytes() const {
  size_t bytes = byte_edges_.size() * sizeof(ByteEdge) + call_edges_.size() * sizeof(CallEdge) +
                 (empty_edges_.size() + accepts_.size() + owners_.size()) * sizeof(int32_t) +
                 4 * byte_begin_.size() * sizeof(uint32_t) + symbols_.size() * sizeof(Symbol) +
                 follow_.size() * sizeof(ByteSet);
  return bytes;
}

}  // namespace syntagma
