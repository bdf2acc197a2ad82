// Moves configurations (sets of live items) over bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "automaton/macro_automaton.hpp"
#include "parser/capture_reader.hpp"
#include "parser/stack_arena.hpp"

namespace syntagma {

// Where a configuration is assembled: items with one entry a macro-state, and what was reported to the base.
class Configuration {
 public:
  void clear() {
    items.clear();
    base_reports = 0;
    counted = false;
  }
  bool alive() const { return !items.empty() || base_reports != 0; }

  std::vector<Item> items;   // those that can go on, sorted once finished
  int32_t base_reports = 0;  // report set handed to the base by the last byte
  bool counted = false;      // a counter right above the base finished an iteration with the last byte
};

// How much of the text has been read, for captures and budgets.
struct TextClock {
  int64_t bytes = 0;
  int64_t characters = 0;   // bytes that do not continue one
  int64_t token = 0;        // number of the current token, or of the next one between tokens
  bool in_token = false;    // the next byte belongs to a token
  bool token_ends = false;  // with the next byte
};

class Stepper {
 public:
  Stepper(MacroAutomaton& automaton, StackArena& arena)
      : automaton_(automaton), arena_(arena), quote_class_(automaton.nfa().class_of('"')) {}

  // Work done since the last call of this function. Every call that steps or resumes adds to it and throws
  // LimitExceeded once too much piles up: an ambiguous grammar can have more readings than anyone can follow.
  void reset_work() { work_ = 0; }

  // From now on frames note where they begin, budgets hold, and completed captures go to `captures` unless
  // null.
  void follow_text(std::vector<CaptureEvent>* captures, const TextClock& clock) {
    follows_text_ = true;
    captures_ = captures;
    clock_ = clock;
    text_ = nullptr;
  }
  // And keys differ, which are read in `text`: all of it, with the bytes to come. Of those that end in them,
  // keys of at most `longest_new` bytes come into their lists; 0: none, so that nothing is kept of a trial.
  void read_keys(const std::string& text, size_t longest_new) {
    text_ = &text;
    longest_new_key_ = longest_new;
  }
  // From now on neither captures nor budgets matter.
  void ignore_text() {
    follows_text_ = false;
    text_ = nullptr;
    captures_ = nullptr;
  }
  TextClock& clock() { return clock_; }

  // The configuration before any byte of a frame in `macro`.
  void start(Item item, Configuration& out);
  // `from` after a byte of `byte_class`. `out` must be another object than the owner of `from`.
  void step(std::span<const Item> from, int byte_class, Configuration& out);
  // `from` after a whole token of `length` bytes, by edges of token sets only.
  void step_token(std::span<const Item> from, int32_t token, int64_t length, Configuration& out,
                  std::span<const std::pair<int32_t, int32_t>> given = {});
  // Both configurations in one: those after the same token, read in two ways. `ended` are the occurrences
  // that budgets ended in either of them.
  void merge(const Configuration& a, const Configuration& b, std::span<const int32_t> ended,
             Configuration& out);
  // Counters of the occurrences that budgets ended with what was read last.
  std::span<const int32_t> ended_occurrences() const { return used_up_; }
  // The macro-state of a single item after a byte, when nothing but that changes: no call, no report, no
  // counter, no quote. kUnknown when it takes a step to tell.
  int32_t step_inside(int32_t macro, int byte_class) {
    if (automaton_.state(macro).has_calls || (text_ != nullptr && byte_class == quote_class_))
      return kUnknown;
    const int32_t inside = automaton_.next(macro, byte_class);
    if (inside == kNone) return kNone;
    const MacroState& m = automaton_.state(inside);
    if (m.reports != 0 || m.captured != 0 || m.ends_early || (m.has_calls && automaton_.counts()) ||
        m.iterations_needed > 0)
      return kUnknown;
    ++clock_.bytes;
    used_up_.clear();
    return inside;
  }
  // What goes on when `reports` are handed to the nodes of parent set `parents`.
  void resume(int32_t parents, int32_t reports, Configuration& out);

 private:
  struct Report {
    int32_t node;
    int32_t reports;
  };

  template <typename Next>
  void step_items(std::span<const Item> from, int64_t length, Configuration& out, Next next);
  int32_t frame_parents(int32_t start, int32_t parents, int64_t position);
  void add_inside(int32_t macro, int32_t parents);
  void record_captures(int32_t captured, int32_t node);
  void end_early(const MacroState& state, int32_t node);
  void begin(Configuration& out);
  bool add(Item item);
  bool add_parents(Item& known, int32_t parents);
  void settle();
  void report_to(int32_t parents, int32_t reports);
  void deliver(const Report& report);
  void advance_counter(int32_t id, int32_t reports);
  void set_budgets(StackNode& node, const Counter& counter) const;
  bool is_at_quote() const;
  int32_t last_key();
  int32_t with_last_key(int32_t parents);
  void read_quote();
  void reindex();
  bool budget_ends(const StackNode& node) const;
  void end_occurrences();
  void drain();
  void open_counters();
  void finish();
  void sort_items();
  Item* find(int32_t macro);
  void append(Item item);

  void count_work();

  MacroAutomaton& automaton_;
  StackArena& arena_;
  int quote_class_;
  int64_t work_ = 0;
  Configuration* out_ = nullptr;
  std::vector<CaptureEvent>* captures_ = nullptr;
  bool follows_text_ = false;
  const std::string* text_ = nullptr;  // where keys are read, if they are to differ
  size_t longest_new_key_ = 0;
  bool reads_quote_ = false;  // that begins or ends a string
  TextClock clock_;
  std::vector<int32_t> used_up_;  // counters whose budget ended an occurrence with the last byte
  std::vector<Report> pending_;
  std::vector<Item> returned_;  // items that only reported
  std::vector<int32_t> agenda_;
  std::unordered_map<int32_t, size_t> index_;  // by macro-state, into either list, once one is long
  std::vector<Item> gained_;                   // parent sets that known items got beside their first
  std::unordered_set<uint64_t> counted_;       // (macro-state, parent set) that such an item already has
};

}  // namespace syntagma
