// The grammar as one nondeterministic automaton over bytes with calls.
//
// A symbol is a rule, the body of a counted repetition, or a counted repetition itself. Rules and bodies have
// a start and an accept state. A call edge consumes a nonempty text of its symbol; where the symbol is
// nullable an empty edge stands beside it, so a call never returns without having consumed something.
//
// Beside the states that exist from the beginning there are derived ones, which come into being when an edge
// to them is looked at. Whoever looks at edges of states while there are such must hold the owner's lock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "automaton/adjacency.hpp"
#include "automaton/byte_set.hpp"
#include "automaton/expression.hpp"
#include "automaton/member_loop.hpp"

namespace syntagma {

// Where a text of a rule that ends with a marker ends in captures.
struct MarkerUse {
  int32_t stop_capture = -1;  // index of the name of the marker's own capture, or -1
  int64_t suffix_bytes = -1;  // see RuleOptions
  int64_t stop_bytes = -1;
  int32_t measure = -1;  // symbol of what tells the marker's length, or -1: those numbers do
};

struct Symbol {
  int32_t start = -1;
  int32_t accept = -1;
  int32_t counter_body = -1;  // the symbol that is repeated, if this is a counted repetition
  int64_t min = 0;            // iterations; of a counted repetition only
  int64_t max = 0;            // kUnbounded when there is no upper bound
  int32_t rule = -1;          // index of the grammar's rule, if this is one
  bool is_whole = false;      // has states for all that its text is made of, and calls nothing
  bool lazy = false;          // ends where it first can; called only as the body of a counter of its own
  int32_t capture = -1;       // index of the capture's name, or -1
  double temperature = -1;    // or -1
  int64_t max_tokens = -1;    // budgets of a counter's only iteration, or -1
  int64_t max_chars = -1;
  MarkerUse marker;
  int32_t early = -1;     // the symbol after whose text this may end early, once its budget is used up, or -1
  int32_t boundary = -1;  // of a symbol that measures markers: the state where the marker begins
  int32_t paths = -1;  // index of the automaton whose edges are counted, of its counter and its edges, or -1
  bool keeps_keys = false;                     // a list of which some members have keys that differ
  bool has_key = false;                        // a counter whose only iteration is such a member
  int32_t path_source = -1, path_target = -1;  // of an edge of such an automaton: its states

  bool is_counter() const { return counter_body >= 0; }
  bool has_budget() const { return max_tokens >= 0 || max_chars >= 0; }
  bool records() const { return capture >= 0 || marker.stop_capture >= 0 || marker.stop_bytes >= 0; }
  // Whether a frame must still be there when this completes.
  bool has_options() const { return lazy || records() || temperature >= 0 || keeps_keys; }
};

// An automaton whose edges are counted. What leads from one state to another is a symbol of its own, and all
// symbols of a state share a frame: the one that it reports tells the next state.
struct CountedPaths {
  std::vector<std::vector<int32_t>> symbols;  // by state
  std::vector<uint8_t> accepting;
  // By state: the fewest edges to an end, but at least one; kUnbounded if there are none.
  std::vector<int64_t> rest;
  int64_t longest_rest = 0;  // the most of them, where there are

  // The fewest edges that a text has behind a state.
  int64_t to_end(int32_t state) const { return accepting[state] ? 0 : rest[state]; }
};

class Nfa {
 public:
  // Builds the automaton of everything reachable from the root rule.
  explicit Nfa(const GrammarSource& source);

  int32_t root() const { return root_; }
  bool root_nullable() const { return root_nullable_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  int32_t state_count() const { return static_cast<int32_t>(byte_begin_.size()) - 1; }

  std::span<const ByteEdge> byte_edges(int32_t state) const {  // of a state that is not derived
    return {byte_edges_.data() + byte_begin_[state], byte_edges_.data() + byte_begin_[state + 1]};
  }
  std::span<const ByteEdge> byte_edges(int32_t state) {
    if (is_derived(state)) return expanded(state).bytes;
    return {byte_edges_.data() + byte_begin_[state], byte_edges_.data() + byte_begin_[state + 1]};
  }
  std::span<const CallEdge> call_edges(int32_t state) const {  // of a state that is not derived
    return {call_edges_.data() + call_begin_[state], call_edges_.data() + call_begin_[state + 1]};
  }
  std::span<const CallEdge> call_edges(int32_t state) {
    if (is_derived(state)) return expanded(state).calls;
    return {call_edges_.data() + call_begin_[state], call_edges_.data() + call_begin_[state + 1]};
  }
  std::span<const TokenEdge> token_edges(int32_t state) {
    if (is_derived(state)) return expanded(state).tokens;
    return {token_edges_.data() + token_begin_[state], token_edges_.data() + token_begin_[state + 1]};
  }
  const std::vector<TokenSet>& token_sets() const { return token_sets_; }
  const CountedPaths& paths(int32_t index) const { return paths_[index]; }
  bool has_edges(int32_t state) {
    if (is_derived(state)) {
      const DerivedState& derived = expanded(state);
      return !derived.bytes.empty() || !derived.calls.empty() || !derived.tokens.empty();
    }
    return byte_begin_[state] != byte_begin_[state + 1] || call_begin_[state] != call_begin_[state + 1] ||
           token_begin_[state] != token_begin_[state + 1];
  }
  // Whether nothing can be done in a state but to read a byte.
  bool only_reads(int32_t state) const {
    return !is_derived(state) && byte_begin_[state] != byte_begin_[state + 1] &&
           call_begin_[state] == call_begin_[state + 1] && empty_begin_[state] == empty_begin_[state + 1] &&
           token_begin_[state] == token_begin_[state + 1] && accepts_[state] < 0;
  }
  // Where such a state leads to with a byte: kNoTarget, or kManyTargets if the edges do not say it alone.
  static constexpr int32_t kNoTarget = -1, kManyTargets = -2;
  int32_t only_target(int32_t state, uint8_t byte) const {
    int32_t only = kNoTarget;
    for (const ByteEdge& e : byte_edges(state)) {
      if (byte < e.low || byte > e.high) continue;
      if (only >= 0 && only != e.target) return kManyTargets;
      only = e.target;
    }
    return only;
  }
  // Whether something may come after a member of Members, as far as that is known without deriving states.
  bool surely_goes_on(int32_t state) const {
    if (!is_derived(state)) return false;
    const DerivedState& d = derived(state);
    return d.base == loops_[d.loop].between && loops_[d.loop].order.may_go_on(d.configuration);
  }
  // The symbol in whose text this state lies.
  int32_t owner(int32_t state) const {
    return is_derived(state) ? loops_[derived(state).loop].symbol : owners_[state];
  }
  // The symbol whose accept state this is, or -1.
  int32_t accepts(int32_t state) const { return is_derived(state) ? -1 : accepts_[state]; }

  std::span<const int32_t> empty_edges(int32_t state) const {  // of a state that is not derived
    return {empty_edges_.data() + empty_begin_[state], empty_edges_.data() + empty_begin_[state + 1]};
  }
  std::span<const int32_t> empty_edges(int32_t state) {
    if (is_derived(state)) return expanded(state).empty;
    return {empty_edges_.data() + empty_begin_[state], empty_edges_.data() + empty_begin_[state + 1]};
  }

  // Bytes that may follow a text of `symbol`, over all its uses.
  const ByteSet& follow(int32_t symbol) const { return follow_[symbol]; }

  // Byte classes: bytes of one class take the same edges everywhere.
  int class_count() const { return class_count_; }
  uint8_t class_of(uint8_t byte) const { return class_of_[byte]; }
  // The first byte of the next class, or 256: the bytes of a class are a range.
  int end_of_class(int byte_class) const {
    return byte_class + 1 < class_count_ ? representative_[byte_class + 1] : 256;
  }
  // Whether the class has a single byte.
  bool is_single(int byte_class) const { return end_of_class(byte_class) == representative_[byte_class] + 1; }
  uint8_t representative(int byte_class) const { return representative_[byte_class]; }

  // The automaton that is reached from `states` of a symbol, as numbers: equal for equal automata, whatever
  // the grammar. Empty if it calls anything, or is large.
  std::vector<int32_t> shape(std::span<const int32_t> states, int32_t symbol) {
    std::vector<int32_t> order;
    return shape(states, symbol, order);
  }
  // The same, and the states in the order of their numbers.
  std::vector<int32_t> shape(std::span<const int32_t> states, int32_t symbol, std::vector<int32_t>& order);
  // The fewest edges of counted paths behind that of one of `states`, which lie within edges of the state
  // that the edge `symbol` leaves.
  int64_t path_rest(std::span<const int32_t> states, int32_t symbol) const;

  // A byte that every separator of a list holds whose keys differ, or -1.
  int key_separator() const { return key_separator_; }

  size_t memory_bytes() const;
  // Of the derived states so far.
  size_t derived_bytes() const { return derived_bytes_; }
  // For each symbol those that it may call for the whole of its text, nothing before and after; empty if no
  // symbol has captures.
  const std::vector<std::vector<int32_t>>& unit_calls() const { return unit_calls_; }

 private:
  friend class NfaBuilder;
  struct FirstSets {
    std::vector<int32_t> position;  // by state: where its set is, or -1
    std::vector<ByteSet> sets;
  };
  bool is_derived(int32_t state) const { return state >= state_count(); }
  const DerivedState& derived(int32_t state) const { return derived_[state - state_count()]; }
  const DerivedState& expanded(int32_t state) {
    DerivedState& derived = derived_[state - state_count()];
    if (!derived.expanded) expand(derived);
    return derived;
  }
  // Whether a list may end after the member that leads to this derived state.
  bool may_end(int32_t state) const {
    const DerivedState& d = derived(state);
    return d.base == loops_[d.loop].between && loops_[d.loop].order.is_complete(d.configuration);
  }
  int32_t derive(int32_t loop, int32_t configuration, int32_t base);
  void expand(DerivedState& state);
  void expand_entrance(DerivedState& state);
  void compute_byte_classes();
  void compute_follow();
  void add_path_uses(int32_t counter, std::vector<CallEdge>& uses,
                     std::vector<Adjacency::Placed>& users) const;
  std::vector<uint8_t> states_before_acceptance() const;
  int32_t start_of(int32_t symbol) const;
  FirstSets first_sets(std::span<const int32_t> wanted) const;
  void compute_unit_calls();

  std::vector<Symbol> symbols_;
  int32_t root_ = 0;
  bool root_nullable_ = false;
  std::vector<uint32_t> byte_begin_, call_begin_, empty_begin_, token_begin_;
  std::vector<ByteEdge> byte_edges_;
  std::vector<CallEdge> call_edges_;
  std::vector<int32_t> empty_edges_;
  std::vector<TokenEdge> token_edges_;
  std::vector<TokenSet> token_sets_;
  std::vector<int32_t> accepts_;
  std::vector<int32_t> owners_;
  std::vector<uint8_t> calls_something_;  // by symbol
  std::vector<int32_t> numbers_;          // of states, while a shape is read
  std::vector<ByteSet> follow_;
  std::vector<std::vector<int32_t>> unit_calls_;
  std::vector<CountedPaths> paths_;
  std::vector<MemberLoop> loops_;
  int key_separator_ = ',';
  std::deque<DerivedState> derived_;
  SequenceInterner derived_keys_;
  size_t derived_bytes_ = 0;
  int class_count_ = 0;
  uint8_t class_of_[256] = {};
  uint8_t representative_[256] = {};
};

}  // namespace syntagma
