// K. Thompson's construction ("Regular expression search algorithm", 1968) with calls, driven by a task stack
// so that no nesting of the grammar deepens the native stack.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "automaton/expression_facts.hpp"
#include "automaton/nfa.hpp"
#include "automaton/utf8_sequences.hpp"

namespace syntagma {

class NfaBuilder {
 public:
  NfaBuilder(const GrammarSource& source, Nfa& nfa);
  void build();

 private:
  struct Task {
    int32_t expression;
    int32_t from, to;
    int32_t owner;  // the symbol whose text is built
  };
  template <typename Edge>
  struct Placed {
    int32_t from;
    Edge edge;
  };

  int32_t new_state(int32_t owner);
  void add_task(int32_t expression, int32_t from, int32_t to, int32_t owner) {
    tasks_.push_back({expression, from, to, owner});
  }
  int32_t add_symbol(Symbol symbol);
  int32_t symbol_with_states(Symbol symbol);
  int32_t body_symbol(int32_t expression, Symbol symbol);
  int32_t rule_symbol(int32_t rule);
  int32_t early_symbol(int32_t body_rule);
  int32_t measuring_symbol(const RuleOptions& options);
  int32_t counter_symbol(int32_t repeat);
  int32_t counter_body(int32_t expression);
  int32_t root_symbol();
  // Whether rules are copied and not called.
  bool copies_all(const Task& task) const {
    return nfa_.symbols_[task.owner].is_whole || nfa_.symbols_[task.owner].lazy;
  }
  bool in_lazy(const Task& task) const { return nfa_.symbols_[task.owner].lazy; }
  void add_empty(int32_t from, int32_t to) { empty_.push_back({from, to}); }
  // A call of the symbol that `make_symbol()` gives, which consumes a text, and an empty edge beside it where
  // the task's expression may be empty.
  template <typename MakeSymbol>
  void add_call(const Task& task, MakeSymbol make_symbol) {
    if (facts_.nullable[task.expression]) add_empty(task.from, task.to);
    if (facts_.nonempty[task.expression]) calls_.push_back({task.from, {make_symbol(), task.to}});
  }
  void run_task(const Task& task);
  void build_literal(const Task& task, const Expression& e);
  void build_char_class(const Task& task, const Expression& e);
  void build_reference(const Task& task, const Expression& e);
  void build_sequence(const Task& task, std::span<const int32_t> children);
  void build_choice(const Task& task, const Expression& e);
  void build_literal_trie(const Task& task, std::vector<int32_t> literals);
  void build_repeat(const Task& task, const Expression& e);
  void build_loop(const Task& task, int32_t body);
  void build_copies(const Task& task, const Expression& e);
  void build_automaton(const Task& task, const Expression& e);
  std::vector<uint8_t> productive_labels(const Expression& e) const;
  void build_counted_paths(const Task& task, const Expression& e);
  void build_path_copies(const Task& task, const Expression& e);
  int32_t paths_symbol(int32_t expression);
  void build_path_label(const Task& task);
  static constexpr int32_t kNoExpression = -1;
  void build_other_texts(const Task& task, int32_t end);
  int32_t rest_symbol(int32_t item, int32_t end);
  int32_t member_body(int32_t rule, Symbol symbol);
  int32_t end_symbol(std::span<const int32_t> parts);
  int32_t shared_symbol(int32_t symbol, size_t first_byte, size_t first_empty);
  std::vector<int32_t> shape_since(size_t first_byte, size_t first_empty, int32_t base) const;
  void build_label(const Task& task, bool may_copy);
  void build_members(const Task& task);
  void run_tasks(size_t remaining);
  int32_t members_symbol(int32_t expression);
  int32_t framed(int32_t symbol);
  int32_t member_symbol(int32_t reference, bool repeatable);
  int32_t distinct_member(int32_t reference);
  void refuse_lists_that_begin_lists() const;
  bool always_holds(int32_t expression, char byte, int depth) const;
  void finish();

  const GrammarSource& source_;
  Nfa& nfa_;
  ExpressionFacts facts_;
  std::vector<Task> tasks_;
  std::vector<Placed<ByteEdge>> bytes_;
  std::vector<Placed<CallEdge>> calls_;
  std::vector<Placed<TokenEdge>> tokens_;
  std::vector<Placed<int32_t>> empty_;
  std::vector<int32_t> symbol_of_rule_;
  std::unordered_map<int32_t, int32_t> symbol_of_repeat_, symbol_of_members_;
  std::map<std::vector<int32_t>, int32_t> shared_symbols_;  // by what they are made of
  std::map<std::vector<int32_t>, int32_t> ends_;            // of members, by their expressions or rules
  std::unordered_map<int32_t, int32_t> distinct_members_;   // by rule
  std::unordered_map<int32_t, int32_t> frame_of_rule_;      // counters that give a rule a frame of its own
  int32_t state_count_ = 0;
};

}  // namespace syntagma
