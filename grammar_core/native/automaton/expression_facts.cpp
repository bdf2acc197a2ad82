#include "automaton/expression_facts.hpp"

#include <algorithm>

#include "automaton/components.hpp"
#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int64_t kInlineAlways = 48;    // expanded size up to which a rule is copied into every caller
constexpr int64_t kInlineSingle = 4096;  // the same for a rule with a single caller
constexpr int64_t kWideClass = 128;      // characters from which on a loop over a class is free text
constexpr int64_t kUnrollAlways = 64;    // expanded size up to which a repetition becomes copies
constexpr int64_t kUnrollLimit = 1'000;  // expanded size of a repetition that must become copies

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

class Analyzer {
 public:
  explicit Analyzer(const GrammarSource& source)
      : source_(source), rule_count_(source.rule_bodies.size()), ranges_(rule_ranges(source)) {
    facts_.nullable.assign(source.expressions.size(), 0);
    facts_.nonempty.assign(source.expressions.size(), 0);
    facts_.counted.assign(source.expressions.size(), 0);
    facts_.inlined.assign(rule_count_, 0);
    facts_.framed.assign(rule_count_, 0);
    facts_.recursive.assign(rule_count_, 0);
    facts_.left_recursive.assign(rule_count_, 0);
    facts_.rule_nullable.assign(rule_count_, 0);
    must_unroll_.assign(source.expressions.size(), 0);
  }

  ExpressionFacts run() {
    collect_references();
    derive_empty_and_text();
    if (!facts_.productive(source_.rule_bodies[source_.root]) && !facts_.rule_nullable[source_.root])
      throw InvalidGrammar("Rule \"" + source_.rule_names[source_.root] + "\" cannot match any finite text");
    find_left_recursive_repetitions();
    choose_copies();
    return std::move(facts_);
  }

 private:
  struct Range {
    int32_t begin, end;
  };
  struct News {
    int32_t expression;
    bool nullable;  // or nonempty
    bool first;     // nothing was known of the expression before
  };

  // A rule's expressions lie between the previous rule's body and its own.
  static std::vector<Range> rule_ranges(const GrammarSource& source) {
    std::vector<Range> ranges;
    int32_t begin = 0;
    for (const int32_t body : source.rule_bodies) {
      ranges.push_back({begin, body + 1});
      begin = body + 1;
    }
    return ranges;
  }

  void collect_references() {
    references_.resize(rule_count_);
    reference_count_.assign(rule_count_, 0);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      for (int32_t e = ranges_[rule].begin; e < ranges_[rule].end; ++e)
        if (source_.expressions[e].op == Op::kRuleRef) {
          const auto callee = static_cast<int32_t>(source_.expressions[e].first);
          references_[rule].push_back(callee);
          ++reference_count_[callee];
        }
    }
  }

  // Searches the automaton for an accepting state, apart for paths that consumed something and that did not.
  void update_automaton(const Expression& e, bool& nullable, bool& nonempty) const {
    const AutomatonShape& shape = source_.automata[e.min];
    const auto labels = source_.children_of(e);
    std::vector<uint8_t> reached(2 * shape.state_count, 0);  // by state and whether something was consumed
    std::vector<int32_t> pending{0};
    if (shape.state_count > 0) reached[0] = 1;
    const std::vector<std::vector<int32_t>> edges = edges_by_source(shape);
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
      nullable |= reached[2 * state] != 0;
      nonempty |= reached[2 * state + 1] != 0;
    }
  }

  void update_members(const Expression& e, bool& nullable, bool& nonempty) const {
    MemberOrder order = facts_.member_order(source_, e);
    if (order.start() == MemberOrder::kNoConfiguration) return;
    nullable = order.is_complete(order.start());
    nonempty = order.may_go_on(order.start());
  }

  static std::vector<std::vector<int32_t>> edges_by_source(const AutomatonShape& shape) {
    std::vector<std::vector<int32_t>> edges(shape.state_count);
    for (size_t i = 0; i < shape.edges.size(); ++i)
      edges[shape.edges[i].from].push_back(static_cast<int32_t>(i));
    return edges;
  }

  // Labels of the edges that an automaton's text can begin with.
  std::vector<int32_t> first_labels(const Expression& e) const {
    const AutomatonShape& shape = source_.automata[e.min];
    const auto labels = source_.children_of(e);
    const std::vector<std::vector<int32_t>> edges = edges_by_source(shape);
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

  // Facts spread from the leaves to the expressions and references around them, each at most once, so the
  // work is linear (W. Dowling and J. Gallier, "Linear-time algorithms for testing the satisfiability of
  // propositional Horn formulae", 1984).
  // A rule that always ends at once has no text, whatever its body has, which shows only when it is known to
  // be nullable.
  void derive_empty_and_text() {
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
    references_to_.resize(rule_count_);
    rule_of_body_.assign(source_.expressions.size(), -1);
    ends_empty_with_.resize(rule_count_);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      const RuleOptions& options = source_.rule_options[rule];
      rule_of_body_[source_.rule_bodies[rule]] = static_cast<int32_t>(rule);
      if (options.may_end_early() && options.max_chars == 0)
        ends_empty_with_[options.body_rule].push_back(static_cast<int32_t>(rule));
    }
    for (size_t index = 0; index < source_.expressions.size(); ++index) {
      const auto i = static_cast<int32_t>(index);
      const Expression& e = source_.expressions[index];
      if (e.op == Op::kRepeat || e.op == Op::kOtherTexts) parent_[e.first] = i;
      if (e.op == Op::kRuleRef) references_to_[e.first].push_back(i);
      const bool is_searched = e.op == Op::kAutomaton || e.op == Op::kMembers;
      if (is_searched) searched_.push_back(i);
      if (e.op != Op::kSequence && e.op != Op::kChoice && !is_searched) continue;
      for (const int32_t child : source_.children_of(e)) parent_[child] = i;
    }
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

  // Calls `on_rule(rule)` and `on_repeat(expression)` for what a derivation of `start` can begin with.
  template <typename OnRule, typename OnRepeat>
  void visit_left(int32_t start, OnRule on_rule, OnRepeat on_repeat) {
    std::vector<int32_t> pending{start};
    while (!pending.empty()) {
      const int32_t index = pending.back();
      pending.pop_back();
      if (!facts_.nonempty[index]) continue;
      const Expression& e = source_.expressions[index];
      switch (e.op) {
        case Op::kLiteral:
        case Op::kCharClass:
        case Op::kTokenSet:
          break;
        case Op::kAutomaton:
          for (const int32_t label : first_labels(e)) pending.push_back(label);
          break;
        case Op::kRuleRef:
          on_rule(static_cast<int32_t>(e.first));
          break;
        case Op::kMembers:
          for (int32_t i = 0; i < source_.members[e.min].count; ++i)
            pending.push_back(source_.children_of(e)[i]);
          break;
        case Op::kSequence:
          for (const int32_t child : source_.children_of(e)) {
            pending.push_back(child);
            if (!facts_.nullable[child]) break;
          }
          break;
        case Op::kChoice:
          for (const int32_t child : source_.children_of(e)) pending.push_back(child);
          break;
        case Op::kOtherTexts:
          pending.push_back(static_cast<int32_t>(e.first));
          break;
        case Op::kRepeat:
          on_repeat(index);
          pending.push_back(static_cast<int32_t>(e.first));
          break;
      }
    }
  }

  // A counter has a frame of its own, and a frame that begins with itself would never end: such repetitions
  // become copies.
  void find_left_recursive_repetitions() {
    std::vector<std::vector<int32_t>> left(rule_count_);
    std::vector<std::vector<int32_t>> repeats(rule_count_);
    for (size_t rule = 0; rule < rule_count_; ++rule)
      visit_left(
          source_.rule_bodies[rule], [&](int32_t callee) { left[rule].push_back(callee); },
          [&](int32_t repeat) { repeats[rule].push_back(repeat); });
    const Components components = find_components(left);
    refuse_mutual_budgets(components);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      if (!components.cyclic[components.of[rule]]) continue;
      facts_.left_recursive[rule] = 1;
      for (const int32_t repeat : repeats[rule])
        visit_left(
            static_cast<int32_t>(source_.expressions[repeat].first),
            [&](int32_t callee) { must_unroll_[repeat] |= components.of[callee] == components.of[rule]; },
            [](int32_t) {});
    }
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

  void choose_copies() {
    const Components components = find_components(references_);
    std::vector<int32_t> order(rule_count_);
    for (size_t rule = 0; rule < rule_count_; ++rule) order[rule] = static_cast<int32_t>(rule);
    std::sort(order.begin(), order.end(),
              [&](int32_t a, int32_t b) { return components.of[a] < components.of[b]; });
    std::vector<int64_t> size(source_.expressions.size(), 0);
    texts_.resize(source_.expressions.size());
    for (const int32_t rule : order) {  // callees first
      for (int32_t e = ranges_[rule].begin; e < ranges_[rule].end; ++e) {
        size[e] = expanded_size(e, size);
        texts_[e] = text_kind(e);
      }
      const int64_t body_size = size[source_.rule_bodies[rule]];
      const int64_t limit = reference_count_[rule] == 1 ? kInlineSingle : kInlineAlways;
      facts_.recursive[rule] = components.cyclic[components.of[rule]];
      const bool is_plain = !facts_.recursive[rule] && !source_.rule_options[rule].any();
      const TextKind& text = texts_[source_.rule_bodies[rule]];
      facts_.framed[rule] = is_plain && rule != source_.root && text.calls_nothing && text.loops;
      facts_.inlined[rule] = is_plain && body_size <= limit && !facts_.framed[rule];
    }
  }

  struct TextKind {
    bool calls_nothing = true;  // becomes an automaton without calls
    bool is_wide = false;       // has a class of many characters
    bool loops = false;         // loops over such a class
    void add(const TextKind& part) {
      calls_nothing &= part.calls_nothing;
      is_wide |= part.is_wide;
      loops |= part.loops;
    }
  };

  TextKind text_kind(int32_t index) const {
    const Expression& e = source_.expressions[index];
    TextKind kind;
    switch (e.op) {
      case Op::kLiteral:
        break;
      case Op::kCharClass: {
        int64_t characters = 0;
        for (int64_t i = 0; i < e.count; ++i)
          characters += source_.ranges[e.first + i].high - source_.ranges[e.first + i].low + 1;
        kind.is_wide = characters >= kWideClass;
        break;
      }
      case Op::kRuleRef:
        if (facts_.inlined[e.first]) return texts_[source_.rule_bodies[e.first]];
        kind.calls_nothing = false;
        break;
      case Op::kTokenSet:
      case Op::kMembers:
        kind.calls_nothing = false;
        break;
      case Op::kSequence:
      case Op::kChoice:
      case Op::kAutomaton:
        for (const int32_t child : source_.children_of(e)) kind.add(texts_[child]);
        kind.loops |= e.op == Op::kAutomaton && kind.is_wide;
        break;
      case Op::kRepeat:
        kind = texts_[e.first];
        kind.calls_nothing &= !facts_.counted[index];
        kind.loops |= e.max == kUnbounded && kind.is_wide;
        break;
      case Op::kOtherTexts:
        kind = texts_[e.first];
        kind.loops = kind.is_wide;
        break;
    }
    return kind;
  }

  int64_t expanded_size(int32_t index, const std::vector<int64_t>& size) {
    const Expression& e = source_.expressions[index];
    switch (e.op) {
      case Op::kLiteral:
      case Op::kCharClass:
        return std::max<int64_t>(e.count, 1);
      case Op::kRuleRef:
        return facts_.inlined[e.first] ? saturating_add(size[source_.rule_bodies[e.first]], 1) : 1;
      case Op::kTokenSet:
      case Op::kMembers:
        return 1;
      case Op::kSequence:
      case Op::kChoice:
      case Op::kAutomaton: {
        int64_t sum = 1;
        for (const int32_t child : source_.children_of(e)) sum = saturating_add(sum, size[child]);
        return sum;
      }
      case Op::kOtherTexts: {
        int64_t sum = size[e.first];
        for (const LiteralRange& text : source_.other_texts[e.min]) sum = saturating_add(sum, text.length);
        return sum;
      }
      case Op::kRepeat:
        return repeat_size(index, size[e.first]);
    }
    return 1;
  }

  int64_t repeat_size(int32_t index, int64_t body_size) {
    const Expression& e = source_.expressions[index];
    const int64_t copies = std::max<int64_t>(e.max == kUnbounded ? e.min : e.max, 1);
    const int64_t unrolled = saturating_multiply(copies, body_size);
    if (copies == 1 || unrolled <= kUnrollAlways) return unrolled;
    if (!must_unroll_[index]) {
      facts_.counted[index] = 1;
      return saturating_add(body_size, 2);
    }
    if (unrolled > kUnrollLimit)
      throw LimitExceeded("repetition", kUnrollLimit,
                          "A repetition that takes part in left recursion is too long: it would need " +
                              std::to_string(copies) + " copies of its body");
    return unrolled;
  }

  const GrammarSource& source_;
  size_t rule_count_;
  std::vector<Range> ranges_;
  ExpressionFacts facts_;
  std::vector<std::vector<int32_t>> references_;
  std::vector<int32_t> reference_count_;
  std::vector<News> news_;
  std::vector<int32_t> parent_;  // by expression; -1: a rule's body
  std::vector<int32_t> rule_of_body_;
  std::vector<int32_t> searched_;                      // automata and Members, whose facts take a search
  std::vector<std::vector<int32_t>> references_to_;    // by rule
  std::vector<uint8_t> always_empty_;                  // by rule: all its texts are empty
  std::vector<std::vector<int32_t>> ends_empty_with_;  // by rule: those that end at once where it is nullable
  std::vector<int32_t> not_nullable_, not_productive_;  // of sequences: children of which that is not known
  std::vector<uint8_t> has_text_;                       // of sequences: some child is nonempty
  std::vector<uint8_t> must_unroll_;
  std::vector<TextKind> texts_;  // by expression
};

}  // namespace

MemberOrder ExpressionFacts::member_order(const GrammarSource& source, const Expression& members) const {
  MembersShape shape = source.members[members.min];
  const auto children = source.children_of(members);
  std::vector<uint8_t> possible(shape.count);
  for (int32_t i = 0; i < shape.count; ++i) possible[i] = nonempty[children[i]];
  if (shape.has_separator && !productive(children[shape.count])) shape.max = std::min<int64_t>(shape.max, 1);
  return MemberOrder(shape, possible);
}

ExpressionFacts analyze_expressions(const GrammarSource& source) { return Analyzer(source).run(); }

}  // namespace syntagma
