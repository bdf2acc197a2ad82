// Follows one text through a compiled grammar.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/capture_reader.hpp"
#include "parser/compiled_grammar.hpp"
#include "parser/stack_arena.hpp"
#include "parser/stepper.hpp"
#include "vocabulary/json_string.hpp"

namespace syntagma {

struct MatcherOptions {
  std::optional<std::vector<int32_t>>
      stop_tokens;                  // in place of the vocabulary's; their text is no text then
  bool ends_when_complete = false;  // terminated without a stop token, where the text is complete
  double step_seconds = 1e9;        // as in CompiledGrammarLimits, if less than there
};

// Not for concurrent use; forks of one matcher may be used from different threads.
class Matcher {
 public:
  // Throws std::invalid_argument for a stop token out of the vocabulary's range.
  explicit Matcher(std::shared_ptr<CompiledGrammar> grammar, MatcherOptions options = {});

  // False, with the state as before, if the token cannot come next.
  bool accept_token(int32_t id);
  // All of `text` or nothing. Counts as one step.
  bool accept_bytes(std::string_view text);

  // Writes the mask of the next token. The quick way does nothing and returns false if that takes a walk over
  // the vocabulary.
  void fill_mask(uint32_t* words);
  bool fill_mask_quickly(uint32_t* words);
  // The same as `fill_mask`, where the quick way was tried and did not do.
  void work_out_mask(uint32_t* words);
  // Finds the mask of the next token, for whoever fills it later.
  void prepare_mask();
  // Whether the mask filled last allows every token.
  bool mask_allows_all() const {
    return steps_.back().mask_allows_all && !options_.stop_tokens && named_stop_tokens_.empty();
  }

  // The text that must come next, whole characters of it; empty where the text may end.
  std::string forced_text();
  // The same as tokens, the longest ones; without a last one that a longer token may begin with.
  std::vector<int32_t> forced_tokens();

  // Completed captures in order, each completion of each reading; with `deduplicate` only the longest of each
  // occurrence.
  std::vector<Capture> captures(bool deduplicate) const;
  // The bytes from `begin` up to `end` of the text so far.
  std::string_view text(int64_t begin, int64_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }
  // Whether a rule is active that has used up its budget and could not end.
  bool is_over_budget() const;
  // Temperatures of the rules active now: the highest, or -1, and whether there are different ones.
  ActiveTemperatures temperatures();

  bool is_completed() const { return steps_.back().completed && !steps_.back().terminated; }
  bool is_terminated() const {
    return steps_.back().terminated || (options_.ends_when_complete && steps_.back().completed);
  }
  size_t step_count() const { return steps_.size() - 1; }
  // Where the text of step `step` (from 0) ends.
  int64_t text_end(size_t step) const { return static_cast<int64_t>(steps_[step + 1].text_end); }
  void rollback(size_t steps);
  void reset();

  CompiledGrammar& grammar() const { return *grammar_; }

 private:
  struct Step {
    size_t items_end;
    size_t captures_end;
    size_t text_end;
    int64_t characters;
    int64_t tokens;
    bool completed;
    bool terminated;
    const Row* mask;  // of this state, once known, from the store of `generation`
    uint32_t generation;
    bool mask_allows_all;
  };
  static constexpr int kKnownMaskBits = 8;
  struct PendingItem {
    int32_t exit_set;
    Item item;
  };
  // Shared by the forks of a matcher, with the buffers that one call at a time uses.
  struct Stacks {
    Stacks(MacroAutomaton& automaton, const Vocabulary& vocabulary) : stepper(automaton, arena) {
      if (automaton.keeps_keys())
        arena.key_sets().look_into(&vocabulary.quoted_texts(automaton.nfa().key_separator()));
    }
    void clear() {
      arena.clear();
      known_masks.fill({});
    }

    std::mutex mutex;
    StackArena arena;
    Stepper stepper;
    Configuration buffers[2], reached;
    std::vector<PendingItem> pending;
    struct KnownMask {
      uint64_t key = 0;  // macro-state and parents of an item
      uint32_t generation = 0;
      const Row* mask = nullptr;
    };
    std::array<KnownMask, 1 << kKnownMaskBits> known_masks;
  };

  std::span<const Item> items() const;
  void push(std::span<const Item> items, bool completed, bool terminated);
  bool run(std::string_view text, bool is_token);
  bool run_token(int32_t id, std::string_view text);
  struct Suspects {
    std::vector<uint32_t> ranks;    // of tokens that may repeat a key that came
    std::vector<uint32_t> doubles;  // of tokens that may hold one twice, the rest of one under way included
    std::vector<uint32_t> places;   // in the trie, behind keys that came

    bool empty() const { return ranks.empty() && doubles.empty() && places.empty(); }
  };
  static constexpr size_t kAllKeys = SIZE_MAX;
  bool read_text(std::span<const Item> from, std::string_view text, Configuration& out,
                 size_t longest_new_key = kAllKeys);
  bool run_bytes(std::span<const Item> from, std::string_view text, Configuration& out);
  int32_t lazy_target(int32_t macro, int32_t id, std::string_view text) const;
  void check_memory() const;
  void forget_rest();
  void follow_text(bool in_token);
  void took(std::string_view text, bool is_token);
  int64_t budget_reach() const;
  const Row* budgeted_mask(int64_t reach);
  const Row* ordinary_mask(bool may_walk);
  bool may_come(int32_t id, std::span<const Item> items, size_t longest_new_key);
  bool reads(std::string_view text, std::span<const Item> items, size_t longest_new_key);
  const Row* without_double_keys(const Row* mask, const Item& item, bool begins_key, bool may_try);
  void find_repetitions(const Row& mask, int32_t came, const JsonStringReader& key, Suspects& suspects) const;
  const QuotedTexts& quoted_texts() const;
  const Row* without_repeated_keys(const Row* mask, bool near_budget, bool may_try);
  void add_allowed(const Row& mask, std::span<const uint32_t> ranks, std::vector<uint32_t>& allowed) const;
  const Row* without(const Row* mask, std::span<const Item> items, Suspects suspects);
  const JsonStringReader& last_string();
  bool is_stop_token(int32_t id) const;
  void find_named_stop_tokens();
  bool accept_stop_token(int32_t id);
  bool completes_text(int32_t stop_token, std::vector<CaptureEvent>* captures) const;
  void write(const Row& row, uint32_t* words) const;
  double step_seconds() const { return std::min(options_.step_seconds, grammar_->step_seconds()); }
  const Row& next_mask();
  const Row& worked_out_mask();
  const Row* quick_mask();
  bool may_end_early(std::span<const Item> items) const;
  int forced_byte(std::span<const Item> items, Configuration& next);
  void refresh_masks();
  const Row* remember(const Row* mask);
  const Row* assemble_mask(bool may_walk);
  const Row* mask_of_item(const Item& item, bool may_walk);

  std::shared_ptr<CompiledGrammar> grammar_;
  MatcherOptions options_;
  std::vector<int32_t> named_stop_tokens_;  // stop tokens that token sets list
  std::shared_ptr<MaskStore> masks_;
  uint32_t generation_;
  std::shared_ptr<Stacks> stacks_;
  std::vector<Item> items_;             // of all steps, one after the other
  std::vector<Step> steps_;             // the first is the start
  std::vector<CaptureEvent> captures_;  // of all steps
  std::string text_;                    // of all steps
  struct LastString {
    JsonStringReader reader;
    size_t end = 0;  // of what has been read of the text
  };
  LastString last_string_;
  int64_t characters_ = 0;  // of the text
  int64_t tokens_ = 0;      // accepted as tokens
};

}  // namespace syntagma
