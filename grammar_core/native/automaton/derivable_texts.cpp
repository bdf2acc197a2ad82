#include "automaton/derivable_texts.hpp"

#include <algorithm>

#include "automaton/adjacency.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

class DerivableTexts {
 public:
  DerivableTexts(const GrammarSource& source, ExpressionFacts& facts)
      : source_(source), facts_(facts), rule_count_(source.rule_bodies.size()) {}

  // Facts spread from the leaves to the expressions and references around them, each at most once, so the
  // work is linear (W. Dowling and J. Gallier, "Linear-time algorithms for testing the satisfiability of
  // propositional Horn formulae", 1984).
  // A rule that always ends at once has no text, whatever its body has, which shows only when it is known to
  // be nullable.
  void find() {
    find_parents();
    always_empty_.assign(rule_count_, 0);
    spread_facts();
    bool has_news = false;
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      const RuleOptions& options = source_.rule_options[rule];
      always_empty_[rule] = (options.lazy || options.max_chars == 0) && facts_.rule_nullable[rule];
      has_news |= always_empty_[rule] && facts_.nonempty[source_.rule_bodies[rule]];
    }
    if (!has_news) return;
    for (std::vector<uint8_t>* facts : {&facts_.nullable, &facts_.nonempty, &facts_.rule_nullable})
      std::fill(facts->begin(), facts->end(), 0);
    spread_facts();
  }

 private:
  struct News {
    int32_t expression;
    bool nullable;  // or nonempty
    bool first;     // nothing was known of the expression before
  };

  void spread_facts() {
    count_children();
    for (size_t e = 0; e < source_.expressions.size(); ++e) begin_with(static_cast<int32_t>(e));
    std::vector<uint8_t> stale(source_.expressions.size(), 1);  // those to be searched again
    for (;;) {
      while (!news_.empty()) {
        const News news = news_.back();
        news_.pop_back();
        TimeLimit::tick();
        spread(news, stale);
      }
      bool changed = false;
      for (const int32_t e : searched_) {
        TimeLimit::tick();
        if (stale[e]) {
          stale[e] = 0;
          changed |= search(e);
        }
      }
      if (!changed) return;
    }
  }

  void find_parents() {
    parent_.assign(source_.expressions.size(), -1);
    std::vector<Adjacency::Placed> references, empty_ends;
    rule_of_body_.assign(source_.expressions.size(), -1);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      const RuleOptions& options = source_.rule_options[rule];
      rule_of_body_[source_.rule_bodies[rule]] = static_cast<int32_t>(rule);
      if (options.may_end_early() && options.max_chars == 0)
        empty_ends.push_back({options.body_rule, static_cast<int32_t>(rule)});
    }
    for (size_t index = 0; index < source_.expressions.size(); ++index) {
      const auto i = static_cast<int32_t>(index);
      const Expression& e = source_.expressions[index];
      if (e.op == Op::kRepeat || e.op == Op::kOtherTexts) parent_[e.first] = i;
      if (e.op == Op::kRuleRef) references.push_back({static_cast<int32_t>(e.first), i});
      const bool is_searched = e.op == Op::kAutomaton || e.op == Op::kMembers;
      if (is_searched) searched_.push_back(i);
      if (e.op != Op::kSequence && e.op != Op::kChoice && !is_searched) continue;
      for (const int32_t child : source_.children_of(e)) parent_[child] = i;
    }
    references_to_ = Adjacency(rule_count_, references);
    ends_empty_with_ = Adjacency(rule_count_, empty_ends);
  }

  // Of sequences, before anything is known.
  void count_children() {
    not_nullable_.assign(source_.expressions.size(), 0);
    has_text_.assign(source_.expressions.size(), 0);
    for (size_t index = 0; index < source_.expressions.size(); ++index)
      if (source_.expressions[index].op == Op::kSequence)
        not_nullable_[index] = static_cast<int32_t>(source_.expressions[index].count);
    not_productive_ = not_nullable_;
  }

  // What an expression is whatever stands inside it.
  void begin_with(int32_t index) {
    const Expression& e = source_.expressions[index];
    const bool is_text = e.op == Op::kLiteral || e.op == Op::kCharClass;
    if (e.op == Op::kTokenSet || (is_text && e.count > 0)) learn_nonempty(index);
    if ((e.op == Op::kLiteral && e.count == 0) || (e.op == Op::kSequence && e.count == 0) ||
        (e.op == Op::kRepeat && e.min == 0) || (e.op == Op::kOtherTexts && !excludes_empty(e)))
      learn_nullable(index);
  }

  bool excludes_empty(const Expression& e) const {
    const std::vector<LiteralRange>& texts = source_.other_texts[e.min];
    return std::any_of(texts.begin(), texts.end(), [](const LiteralRange& text) { return text.length == 0; });
  }

  void learn_nullable(int32_t e) {
    if (facts_.nullable[e]) return;
    news_.push_back({e, true, !facts_.productive(e)});
    facts_.nullable[e] = 1;
  }

  void learn_nonempty(int32_t e) {
    if (facts_.nonempty[e]) return;
    news_.push_back({e, false, !facts_.productive(e)});
    facts_.nonempty[e] = 1;
  }

  void spread(const News& news, std::vector<uint8_t>& stale) {
    const int32_t rule = rule_of_body_[news.expression];
    if (rule >= 0) spread_to_references(news, rule);
    const int32_t parent = parent_[news.expression];
    if (parent < 0) return;
    const Expression& e = source_.expressions[parent];
    if (e.op == Op::kSequence) return spread_to_sequence(news, parent);
    if (e.op == Op::kAutomaton || e.op == Op::kMembers) {
      stale[parent] = 1;
    } else if (news.nullable && e.op == Op::kOtherTexts) {
      return;
    } else if (news.nullable) {
      learn_nullable(parent);
    } else if (e.op == Op::kChoice || e.max > 0) {
      learn_nonempty(parent);
    }
  }

  void spread_to_references(const News& news, int32_t rule) {
    if (news.nullable) {
      learn_nullable_rule(rule);
      for (const int32_t without_marker : ends_empty_with_[rule]) learn_nullable_rule(without_marker);
    } else if (!always_empty_[rule]) {
      for (const int32_t reference : references_to_[rule]) learn_nonempty(reference);
    }
  }

  void learn_nullable_rule(int32_t rule) {
    facts_.rule_nullable[rule] = 1;
    for (const int32_t reference : references_to_[rule]) learn_nullable(reference);
  }

  void spread_to_sequence(const News& news, int32_t sequence) {
    if (news.nullable && --not_nullable_[sequence] == 0) learn_nullable(sequence);
    if (!news.nullable) has_text_[sequence] = 1;
    if (news.first) --not_productive_[sequence];
    if (not_productive_[sequence] == 0 && has_text_[sequence]) learn_nonempty(sequence);
  }

  bool search(int32_t index) {
    bool nullable = false, nonempty = false;
    const Expression& e = source_.expressions[index];
    if (e.op == Op::kMembers)
      update_members(e, nullable, nonempty);
    else
      update_automaton(e, nullable, nonempty);
    const size_t before = news_.size();
    if (nullable) learn_nullable(index);
    if (nonempty) learn_nonempty(index);
    return news_.size() > before;
  }

  // Searches the automaton for an accepting state, apart for paths that consumed something and that did not.
  void update_automaton(const Expression& e, bool& nullable, bool& nonempty) const {
    const AutomatonShape& shape = source_.automata[e.min];
    const auto labels = source_.children_of(e);
    std::vector<uint8_t> reached(2 * shape.state_count, 0);  // by state and whether something was consumed
    std::vector<int32_t> pending{0};
    if (shape.state_count > 0) reached[0] = 1;
    const Adjacency edges = shape.edges_by_source();
    const auto reach = [&](int32_t node) {
      if (!reached[node]) {
        reached[node] = 1;
        pending.push_back(node);
      }
    };
    while (shape.state_count > 0 && !pending.empty()) {
      const int32_t node = pending.back();
      pending.pop_back();
      for (const int32_t i : edges[node / 2]) {
        const int32_t to = 2 * shape.edges[i].to;
        if (facts_.nullable[labels[i]]) reach(to + node % 2);
        if (facts_.nonempty[labels[i]]) reach(to + 1);
      }
    }
    for (const int32_t state : shape.accepting) {
      nullable |= reached[2 * state] != 0 && shape.min_edges == 0;
      nonempty |= reached[2 * state + 1] != 0;
    }
  }

  void update_members(const Expression& e, bool& nullable, bool& nonempty) const {
    MemberOrder order = facts_.member_order(source_, e);
    if (order.start() == MemberOrder::kNoConfiguration) return;
    nullable = order.is_complete(order.start());
    nonempty = order.may_go_on(order.start());
  }

  const GrammarSource& source_;
  ExpressionFacts& facts_;
  size_t rule_count_;
  std::vector<News> news_;
  std::vector<int32_t> parent_;  // by expression; -1: a rule's body
  std::vector<int32_t> rule_of_body_;
  std::vector<int32_t> searched_;      // automata and Members, whose facts take a search
  Adjacency references_to_;            // by rule
  std::vector<uint8_t> always_empty_;  // by rule: all its texts are empty
  Adjacency ends_empty_with_;          // by rule: those that end at once where it is nullable
  std::vector<int32_t> not_nullable_, not_productive_;  // of sequences: children of which that is not known
  std::vector<uint8_t> has_text_;                       // of sequences: some child is nonempty
};

}  // namespace

void find_derivable_texts(const GrammarSource& source, ExpressionFacts& facts) {
  DerivableTexts(source, facts).find();
}

}  // namespace syntagma
