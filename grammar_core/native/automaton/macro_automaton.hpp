// The lazily determinised automaton: sets of Nfa states that share a frame, built when first reached.
//
// A frame holds everything that began at one position for one caller. Its *context* says which symbols the
// caller waits for and what each reports to it. All rules that the wanted symbols can begin with live in the
// same frame (left corners), so that left recursion is a loop and a chain of precedence levels is one state:
// when a symbol that began with the frame completes, the frame goes on after it by itself. These are the item
// sets of LR parsing (D. Knuth, "On the translation of languages from left to right", 1965), built on demand
// over bytes, with one frame a start position instead of one a symbol.
//
// A call in the middle of a frame opens a new frame whose parent is the calling state. Where the calling
// state could only return afterwards, the new frame takes the caller's parents and reports in its place, so
// that right recursion runs in constant stack.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "automaton/concurrent.hpp"
#include "automaton/interner.hpp"
#include "automaton/nfa.hpp"
#include "automaton/table_pool.hpp"

namespace syntagma {

constexpr int32_t kNone = -1;
constexpr int32_t kUnknown = -2;

// A counted repetition called from a macro-state.
struct Counter {
  int64_t min, max;         // iterations; kUnbounded when there is no upper bound
  int32_t reports;          // the report set it hands to its parents when it ends
  int32_t body_start;       // the macro-state that begins an iteration
  int64_t max_tokens = -1;  // budgets of the iteration, or -1
  int64_t max_chars = -1;
  int32_t paths = -1;    // index of Nfa::paths if the iterations are edges of an automaton, or -1
  bool has_key = false;  // its only iteration is a member of a list whose keys differ
};

// What an iteration of a counter led to.
struct NextIteration {
  int32_t start;  // the macro-state that begins another one, or kNone
  bool ends;      // the repetition may end here
  int64_t rest;   // iterations that it takes at least to go on and end
};

struct CounterCall {
  int32_t counter;  // index into MacroAutomaton::counter
  bool tail;        // reports to the caller's parents instead of the caller
};

struct MacroState {
  int32_t context = 0;
  int32_t reports = 0;              // symbols complete here, as the parents know them; 0 is the empty set
  int32_t captured = 0;             // captured symbols complete here, inner ones first; 0 is the empty list
  bool has_edges = false;           // can go on inside the frame
  bool has_calls = false;           // some state calls a symbol from the middle of the frame
  bool has_counters = false;        // some state calls a counted repetition
  bool marks_start = false;         // of a start: frames that begin here note where
  bool keeps_keys = false;          // of a start: frames that begin here note keys
  bool has_tokens = false;          // has edges of whole tokens
  bool ends_early = false;          // the frame's occurrence is complete here if its budget is used up
  int32_t early_capture = kNone;    // the symbol of that occurrence if captures depend on it
  bool is_start = false;            // nothing consumed yet: calls of rules are left corners, inside the frame
  int32_t states = 0;               // id of the sorted set of Nfa states with edges
  int32_t width = 0;                // the set's size
  int32_t lone_state = kNone;       // the only one, if nothing about it depends on how it was reached
  int32_t usual_letter = kUnknown;  // see MacroAutomaton::usual_letter; under the lock
  int64_t iterations_needed = 0;  // of counted paths, if it leads to ends farther off than its frame's others
  ByteSet live;                   // bytes that it reads inside the frame
  ByteSet live_classes;           // their byte classes
  std::atomic<int32_t>* next = nullptr;  // by live class: a macro-state, kNone or kUnknown

  std::atomic<bool> calls_ready{false};
  int32_t call_start = kNone;       // start of the frame opened by ordinary calls
  int32_t tail_call_start = kNone;  // start of the frame opened by tail calls
  std::vector<CounterCall> counter_calls;
  bool only_waits =
      false;  // can go on only by those: they are opened at once, and nothing else is to be done
};

// The temperatures of rules active in a state, and where else to look.
struct ActiveTemperatures {
  double highest = -1;    // of the explicit ones, or -1
  bool differ = false;    // there are different ones
  int32_t inherited = 0;  // report set of the symbols whose callers' temperatures count too

  void add(double temperature) {
    differ |= highest >= 0 && temperature != highest;
    highest = temperature > highest ? temperature : highest;
  }
};

class MacroAutomaton {
 public:
  explicit MacroAutomaton(Nfa nfa);

  const Nfa& nfa() const { return nfa_; }
  int32_t root_start() const { return root_start_; }
  const MacroState& state(int32_t id) const { return states_[id]; }
  const Counter& counter(int32_t id) const { return counters_[id]; }
  // Whether the grammar has any counted repetition.
  bool counts() const { return counts_; }

  // The macro-state after a byte of `byte_class`, inside the frame; kNone if there is none.
  int32_t next(int32_t id, int byte_class) {
    const int32_t target = known_next(id, byte_class);
    return target != kUnknown ? target : compute_next(id, byte_class);
  }
  // The same, but kUnknown while nobody has asked for it.
  int32_t known_next(int32_t id, int byte_class) const {
    const MacroState& m = states_[id];
    if (!m.live_classes.contains(static_cast<uint8_t>(byte_class))) return kNone;
    return m.next[m.live_classes.count_below(static_cast<uint8_t>(byte_class))].load(
        std::memory_order_acquire);
  }
  // The Nfa states of `id` if each of them only reads bytes, whatever the others do; else none.
  std::vector<int32_t> reading_states(int32_t id);
  // The Nfa states of `id` if all that they lead to with a byte can be, in its frame; else none.
  std::vector<int32_t> plain_states(int32_t id);
  // The macro-state of a lone Nfa state in the frame of state `id`.
  int32_t state_of(int32_t id, int32_t nfa_state);
  // The macro-state with its calls filled in.
  const MacroState& with_calls(int32_t id) {
    const MacroState& m = states_[id];
    if (!m.calls_ready.load(std::memory_order_acquire)) compute_calls(id);
    return m;
  }
  // Where calling state `id` goes on when the symbols of `reports` complete; kNone if it waits for none of
  // them.
  int32_t after(int32_t id, int32_t reports) {
    const uint64_t key = (static_cast<uint64_t>(id) + 1) << 32 | static_cast<uint32_t>(reports);
    const uint64_t found = after_.find(key);
    return found != 0 ? static_cast<int32_t>(found - 2) : compute_after(id, reports);
  }
  // What comes after an iteration of counter `id` that ended with `reports`.
  const std::vector<NextIteration>& next_iterations(int32_t id, int32_t reports) {
    const uint64_t key = (static_cast<uint64_t>(id) + 1) << 32 | static_cast<uint32_t>(reports);
    const uint64_t found = next_iterations_.find(key);
    return found != 0 ? *reinterpret_cast<const std::vector<NextIteration>*>(found)
                      : compute_next_iterations(id, reports);
  }
  // The most iterations of counter `id` that it may take to end, of what its body leads to.
  int64_t longest_rest(int32_t id) const {
    return counters_[id].paths < 0 ? 0 : nfa_.paths(counters_[id].paths).longest_rest;
  }
  // Whether an iteration of counter `id` begins with a state of its frames.
  bool begins_iteration(int32_t id, int32_t macro);
  // The fewest iterations that are still to be finished in such a state, the one that is under way included,
  // so that the repetition may end, whatever its bounds.
  int64_t iterations_ahead(int32_t id, int32_t macro);
  // The macro-state after a whole token, inside the frame; kNone if there is none.
  int32_t next_token(int32_t id, int32_t token);
  // The macro-state after a token that is read as text from a lazy frame's state on, `before_last` being the
  // one before its `last` byte, and as a member of a token set. Both are readings of one occurrence, which
  // ends where one of them does.
  int32_t next_either(int32_t id, int32_t token, int32_t before_last, uint8_t last);
  // Token sets on the edges of a state, as indices into Nfa::token_sets.
  std::vector<int32_t> token_sets(int32_t id);
  // Whether frames that begin in start state `id` note where they begin, since captured rules may begin with
  // them.
  bool marks_start(int32_t id) const { return captures_ && states_[id].marks_start; }
  bool captures() const { return captures_; }
  bool has_early_ends() const { return early_ends_; }
  // Whether a lazy frame's state has edges of whole tokens.
  bool is_lazy_with_tokens(int32_t id) {
    if (!states_[id].has_tokens) return false;
    const std::lock_guard lock(mutex_);
    return contexts_[states_[id].context].lazy;
  }
  bool has_budgets() const { return budgets_; }
  // Whether keys of some lists differ.
  bool keeps_keys() const { return keeps_keys_; }
  // Whether frames that begin in start state `id` note the keys of a list that may begin with them.
  bool keeps_keys(int32_t id) const { return states_[id].keeps_keys; }
  // The smallest budget of characters; kUnbounded if there is none.
  int64_t smallest_char_budget() const { return smallest_char_budget_; }
  bool has_temperatures() const { return temperatures_; }
  bool has_token_sets() const { return !nfa_.token_sets().empty(); }
  // The captured symbols of a list, inner ones first.
  std::vector<int32_t> captured_symbols(int32_t list);
  // Temperatures of the rules active in a live item's state.
  const ActiveTemperatures& temperatures(int32_t id) { return temperatures_of(id, 0); }
  // The same for the rules that wait in calling state `id` for the symbols of `reports`.
  const ActiveTemperatures& caller_temperatures(int32_t id, int32_t reports) {
    return temperatures_of(id, reports);
  }
  // The union of two report sets.
  int32_t merge_reports(int32_t a, int32_t b);
  // Bytes that may follow where `reports` are handed to parents.
  ByteSet follow(int32_t reports);

  // What a frame of one regular symbol depends on from state `id` on, the same in every grammar; empty for
  // any other frame. Where it begins with kWholeSymbol, the number behind that is of a symbol whose
  // `symbol_shape` is to stand there.
  static constexpr int32_t kWholeSymbol = -7;
  const std::vector<int32_t>& regular_frame(int32_t id);
  // All of a large symbol's automaton, likewise.
  const std::vector<int32_t>& symbol_shape(int32_t symbol);
  bool is_regular_frame(int32_t id) { return !regular_frame(id).empty(); }
  // Bytes that may lead to different states from two states of one frame, inside it; all bytes if that is not
  // said by their edges alone.
  ByteSet differing_bytes(int32_t a, int32_t b);
  // A letter that leads where most letters lead, inside the frame; -1 if there is no such or calls matter.
  int usual_letter(int32_t id);
  bool is_frame_start(int32_t id) {
    const std::lock_guard lock(mutex_);
    return contexts_[states_[id].context].start == id;
  }
  // Whether a state only reads bytes that continue a character, inside its frame.
  bool is_within_character(int32_t id) const;
  // What a state's frame hands to its parents, if it has a single symbol.
  int32_t frame_reports(int32_t id);

  size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Context {
    std::vector<int32_t> wanted;  // pairs (symbol, report set), sorted
    std::vector<std::pair<int32_t, int32_t>>
        corners;  // (symbol, Nfa state after it) of the frame's start, sorted
    int32_t start = kNone;
    bool lazy = false;        // ends where it first can
    bool captures = false;    // some rule that may begin with the frame is captured
    bool keeps_keys = false;  // some list whose keys differ may begin with the frame
  };

  struct EdgeRange {
    uint8_t low, high;
  };
  int32_t compute_next(int32_t id, int byte_class);
  void add_token_targets(int32_t id, int32_t token);
  EdgeRange edge_range(const MacroState& m, uint8_t byte, std::vector<int32_t>& targets);
  void note_next(const MacroState& m, EdgeRange range, int32_t target);
  void compute_calls(int32_t id);
  int32_t compute_after(int32_t id, int32_t reports);
  const std::vector<NextIteration>& compute_next_iterations(int32_t id, int32_t reports);
  int32_t path_start(const CountedPaths& paths, int32_t state);
  int64_t iterations_needed(int32_t context, std::span<const int32_t> states) const;

  int32_t target_of(int32_t context, std::span<const int32_t> targets);
  int32_t lone_target(int32_t context, int32_t target);
  using Calls = std::vector<std::pair<int32_t, int32_t>>;  // symbols and what each reports
  int32_t intern_context(Calls wanted);
  int32_t build_start(int32_t context);
  void begin_set();
  void add_state(int32_t nfa_state);
  void reach(int32_t nfa_state);
  int32_t close_set(int32_t context);
  int32_t narrowed(int32_t context);
  bool is_plain(const Context& context) const;
  bool hand_over_alike(int32_t a, int32_t b) const;
  int32_t intern_state(int32_t context, bool is_start, int32_t reports);
  int32_t tail_reports(int32_t context, int32_t nfa_state);
  int32_t intern_counter(Counter counter);
  int32_t union_reports(int32_t a, int32_t b);
  int32_t single_report(int32_t symbol) { return report_sets_.intern({&symbol, 1}); }
  // By byte: the one state that `states` lead to; kNone for none and kUnknown for several.
  using ByteTargets = std::array<int32_t, 256>;
  ByteTargets byte_targets(std::span<const int32_t> states);
  bool completes_options() const;
  bool ends_early(int32_t context) const;
  bool is_corner(int32_t context, const CallEdge& call) const;
  const ActiveTemperatures& temperatures_of(int32_t id, int32_t reports);
  ActiveTemperatures compute_temperatures(int32_t id, int32_t reports);
  void add_temperatures_of_owner(int32_t context, int32_t nfa_state, ActiveTemperatures& out,
                                 std::vector<int32_t>& inherited);
  void account(size_t bytes);

  Nfa nfa_;
  mutable std::mutex mutex_;
  StableVector<MacroState> states_;
  StableVector<Counter> counters_;
  ConcurrentMap after_;
  ConcurrentMap next_iterations_;         // (counter, report set) to std::vector<NextIteration>*
  std::vector<uint8_t> is_counted_body_;  // by symbol
  int32_t root_start_ = kNone;
  bool counts_ = false, captures_ = false, temperatures_ = false, budgets_ = false, early_ends_ = false;
  bool keeps_keys_ = false;
  int64_t smallest_char_budget_ = kUnbounded;

  // Everything below is touched under the lock only.
  SequenceInterner report_sets_, state_sets_, context_keys_, state_keys_, counter_keys_;
  SequenceInterner captured_lists_;
  std::unordered_map<uint64_t, int32_t> token_targets_;
  std::unordered_map<uint64_t, ActiveTemperatures> known_temperatures_;
  std::vector<Context> contexts_;
  TablePool<std::atomic<int32_t>> tables_;
  struct LoneTarget {
    int32_t context = kNone, target = kNone, state = kNone;
  };
  std::array<LoneTarget, 256> lone_targets_;  // the last ones, by `target`
  std::deque<std::vector<NextIteration>> iteration_lists_;
  std::unordered_map<int32_t, std::vector<int32_t>> frame_shapes_;  // by macro-state
  struct SymbolShape {
    std::vector<int32_t> words;                    // empty if it is not regular
    std::unordered_map<int32_t, int32_t> numbers;  // by state of the Nfa, if it is large
  };
  const SymbolShape& shape_of_symbol(int32_t symbol);
  std::unordered_map<int32_t, SymbolShape> symbol_shapes_;
  std::unordered_map<uint64_t, int32_t> tail_reports_;
  std::vector<int32_t> set_, accepted_, edge_states_, captured_now_, reached_, reported_, owners_,
      narrow_key_, edge_targets_, other_targets_, calling_, context_key_;
  struct {
    Calls ordinary, tail, counted, tail_counted;
  } calls_;
  std::vector<uint32_t> in_set_, owner_in_set_;
  uint32_t set_number_ = 0;
  size_t own_bytes_ = 0;
  std::atomic<size_t> memory_bytes_{0};
};

}  // namespace syntagma
