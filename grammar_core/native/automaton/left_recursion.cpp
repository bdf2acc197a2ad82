#include "automaton/left_recursion.hpp"

#include <algorithm>

#include "automaton/adjacency.hpp"
#include "automaton/components.hpp"
#include "automaton/errors.hpp"

namespace syntagma {
namespace {

class LeftRecursion {
 public:
  LeftRecursion(const GrammarSource& source, ExpressionFacts& facts)
      : source_(source), facts_(facts), rule_count_(source.rule_bodies.size()) {
    must_unroll_.assign(source.expressions.size(), 0);
  }

  // A counter has a frame of its own, and a frame that begins with itself would never end: such repetitions
  // become copies.
  std::vector<uint8_t> find() {
    std::vector<Adjacency::Placed> left, repeats;
    for (int32_t rule = 0; rule < static_cast<int32_t>(rule_count_); ++rule)
      visit_left(
          source_.rule_bodies[rule], [&](int32_t callee) { left.push_back({rule, callee}); },
          [&](int32_t repeat) { repeats.push_back({rule, repeat}); });
    const Components components = find_components(Adjacency(rule_count_, left));
    refuse_mutual_budgets(components);
    const auto is_left_recursive = [&](int32_t rule) { return components.cyclic[components.of[rule]] != 0; };
    for (size_t rule = 0; rule < rule_count_; ++rule)
      facts_.left_recursive[rule] = is_left_recursive(static_cast<int32_t>(rule));
    for (const auto [rule, repeat] : repeats)
      if (is_left_recursive(rule))
        visit_left(
            static_cast<int32_t>(source_.expressions[repeat].first),
            [&, rule = rule, repeat = repeat](int32_t callee) {
              must_unroll_[repeat] |= components.of[callee] == components.of[rule];
            },
            [](int32_t) {});
    return std::move(must_unroll_);
  }

 private:
  // Calls `on_rule(rule)` and `on_repeat(expression)` for what a derivation of `start` can begin with.
  template <typename OnRule, typename OnRepeat>
  void visit_left(int32_t start, OnRule on_rule, OnRepeat on_repeat) {
    pending_.assign(1, start);
    while (!pending_.empty()) {
      const int32_t index = pending_.back();
      pending_.pop_back();
      if (!facts_.nonempty[index]) continue;
      const Expression& e = source_.expressions[index];
      switch (e.op) {
        case Op::kLiteral:
        case Op::kCharClass:
        case Op::kTokenSet:
          break;
        case Op::kAutomaton:
          for (const int32_t label : first_labels(e)) pending_.push_back(label);
          break;
        case Op::kRuleRef:
          on_rule(static_cast<int32_t>(e.first));
          break;
        case Op::kMembers:
          for (int32_t i = 0; i < source_.members[e.min].count; ++i)
            pending_.push_back(source_.children_of(e)[i]);
          break;
        case Op::kSequence:
          for (const int32_t child : source_.children_of(e)) {
            pending_.push_back(child);
            if (!facts_.nullable[child]) break;
          }
          break;
        case Op::kChoice:
          for (const int32_t child : source_.children_of(e)) pending_.push_back(child);
          break;
        case Op::kOtherTexts:
          pending_.push_back(static_cast<int32_t>(e.first));
          break;
        case Op::kRepeat:
          on_repeat(index);
          pending_.push_back(static_cast<int32_t>(e.first));
          break;
      }
    }
  }

  // Labels of the edges that an automaton's text can begin with.
  std::vector<int32_t> first_labels(const Expression& e) const {
    const AutomatonShape& shape = source_.automata[e.min];
    const auto labels = source_.children_of(e);
    const Adjacency edges = shape.edges_by_source();
    std::vector<uint8_t> reached(shape.state_count, 0);
    std::vector<int32_t> pending{0}, first;
    reached[0] = 1;
    while (!pending.empty()) {
      const int32_t state = pending.back();
      pending.pop_back();
      for (const int32_t i : edges[state]) {
        first.push_back(labels[i]);
        if (!facts_.nullable[labels[i]] || reached[shape.edges[i].to]) continue;
        reached[shape.edges[i].to] = 1;
        pending.push_back(shape.edges[i].to);
      }
    }
    return first;
  }

  // A budget's frame may begin with its own rule, which is the same occurrence, but not with another budget's
  // frame that begins with it again.
  void refuse_mutual_budgets(const Components& components) const {
    std::vector<int32_t> budgeted(components.cyclic.size(), -1);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      if (!source_.rule_options[rule].has_budget() || !components.cyclic[components.of[rule]]) continue;
      int32_t& other = budgeted[components.of[rule]];
      if (other >= 0)
        throw InvalidGrammar("Rules \"" + source_.rule_names[other] + "\" and \"" + source_.rule_names[rule] +
                             "\" have budgets and are left-recursive through each other");
      other = static_cast<int32_t>(rule);
    }
  }

  const GrammarSource& source_;
  ExpressionFacts& facts_;
  size_t rule_count_;
  std::vector<uint8_t> must_unroll_;
  std::vector<int32_t> pending_;
};

}  // namespace

std::vector<uint8_t> find_left_recursion(const GrammarSource& source, ExpressionFacts& facts) {
  return LeftRecursion(source, facts).find();
}

}  // namespace syntagma
