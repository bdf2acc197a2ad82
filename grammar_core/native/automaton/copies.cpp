#include "automaton/copies.hpp"

#include <algorithm>

#include "automaton/adjacency.hpp"
#include "automaton/components.hpp"
#include "automaton/counting_limits.hpp"
#include "automaton/errors.hpp"

namespace syntagma {
namespace {

constexpr int64_t kInlineAlways = 48;  // expanded size up to which a rule is copied into every caller
constexpr int64_t kInlineText = 128;   // the same for a rule that calls nothing and repeats nothing for long
constexpr int64_t kSharedEnd = 512;    // the same for the end of a member that gets a frame of its own
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

class Copies {
 public:
  Copies(const GrammarSource& source, const std::vector<uint8_t>& must_unroll, ExpressionFacts& facts)
      : source_(source),
        must_unroll_(must_unroll),
        facts_(facts),
        rule_count_(source.rule_bodies.size()),
        ranges_(rule_ranges(source)) {}

  void choose() {
    collect_references();
    const Components components = find_components(Adjacency(rule_count_, references_));
    std::vector<int32_t> order(rule_count_);
    for (size_t rule = 0; rule < rule_count_; ++rule) order[rule] = static_cast<int32_t>(rule);
    std::sort(order.begin(), order.end(),
              [&](int32_t a, int32_t b) { return components.of[a] < components.of[b]; });
    std::vector<int64_t> size(source_.expressions.size(), 0);
    texts_.resize(source_.expressions.size());
    for (const int32_t rule : order) {  // callees first
      facts_.recursive[rule] = components.cyclic[components.of[rule]];
      is_recursive_ = facts_.recursive[rule] != 0;
      for (int32_t e = ranges_[rule].begin; e < ranges_[rule].end; ++e) {
        size[e] = expanded_size(e, size);
        texts_[e] = text_kind(e);
      }
      const int64_t body_size = size[source_.rule_bodies[rule]];
      const TextKind& text = texts_[source_.rule_bodies[rule]];
      const bool is_short_text = text.calls_nothing && !text.loops;
      const int64_t limit = reference_count_[rule] == 1 ? kInlineSingle
                            : is_short_text             ? kInlineText
                                                        : kInlineAlways;
      facts_.framed[rule] = is_plain(rule) && rule != source_.root && text.calls_nothing && text.loops;
      facts_.inlined[rule] = is_plain(rule) && body_size <= limit && !facts_.framed[rule];
      facts_.shares_end[rule] =
          is_member_[rule] && is_plain(rule) && has_whole_end(source_.rule_bodies[rule]);
    }
  }

 private:
  struct Range {
    int32_t begin, end;
  };

  struct TextKind {
    bool calls_nothing = true;   // becomes an automaton without calls
    int64_t whole_size = 0;      // expanded, with copies of all that it calls; INT64_MAX if that cannot be
    bool is_wide = false;        // has a class of many characters
    bool loops = false;          // loops over such a class
    bool has_letters = false;    // has a class of all letters perhaps, also in rules that it calls
    bool has_free_text = false;  // likewise, a class of many characters
    void add(const TextKind& part) {
      calls_nothing &= part.calls_nothing;
      whole_size = saturating_add(whole_size, part.whole_size);
      is_wide |= part.is_wide;
      loops |= part.loops;
      has_letters |= part.has_letters;
      has_free_text |= part.has_free_text;
    }
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
    reference_count_.assign(rule_count_, 0);
    is_member_.assign(rule_count_, 0);
    for (size_t rule = 0; rule < rule_count_; ++rule) {
      for (int32_t e = ranges_[rule].begin; e < ranges_[rule].end; ++e) {
        if (source_.expressions[e].op == Op::kMembers) note_members(source_.expressions[e]);
        if (source_.expressions[e].op == Op::kRuleRef) {
          const auto callee = static_cast<int32_t>(source_.expressions[e].first);
          references_.push_back({static_cast<int32_t>(rule), callee});
          ++reference_count_[callee];
        }
      }
    }
  }

  void note_members(const Expression& members) {
    const auto children = source_.children_of(members);
    for (int32_t i = 0; i < source_.members[members.min].count; ++i)
      is_member_[source_.expressions[children[i]].first] = 1;
  }

  // Whether a text is a literal and then something that may be copied as a whole.
  bool has_whole_end(int32_t body) const {
    const Expression& e = source_.expressions[body];
    if (e.op != Op::kSequence || !facts_.productive(body)) return false;
    const auto children = source_.children_of(e);
    if (children.size() < 2 || source_.expressions[children[0]].op != Op::kLiteral) return false;
    return texts_[body].whole_size <= kSharedEnd;
  }

  TextKind text_kind(int32_t index) const {
    const Expression& e = source_.expressions[index];
    TextKind kind;
    switch (e.op) {
      case Op::kLiteral:
        kind.whole_size = e.count;
        break;
      case Op::kCharClass: {
        kind.whole_size = e.count;
        int64_t characters = 0;
        for (int64_t i = 0; i < e.count; ++i)
          characters += source_.ranges[e.first + i].high - source_.ranges[e.first + i].low + 1;
        kind.is_wide = characters >= kWideClass;
        kind.has_letters = characters >= kManyLetters;
        kind.has_free_text = kind.is_wide;
        break;
      }
      case Op::kRuleRef:
        if (facts_.inlined[e.first]) return texts_[source_.rule_bodies[e.first]];
        kind.calls_nothing = false;
        kind.whole_size = is_plain(static_cast<int32_t>(e.first))
                              ? texts_[source_.rule_bodies[e.first]].whole_size
                              : INT64_MAX;
        kind.has_letters = texts_[source_.rule_bodies[e.first]].has_letters;  // false in its own body
        kind.has_free_text = texts_[source_.rule_bodies[e.first]].has_free_text;
        break;
      case Op::kTokenSet:
      case Op::kMembers:
        kind.calls_nothing = false;
        kind.whole_size = INT64_MAX;
        break;
      case Op::kSequence:
      case Op::kChoice:
      case Op::kAutomaton:
        for (const int32_t child : source_.children_of(e)) kind.add(texts_[child]);
        if (e.op != Op::kAutomaton) break;
        kind.calls_nothing &= !source_.automata[e.min].is_counted();
        if (source_.automata[e.min].is_counted()) kind.whole_size = INT64_MAX;
        kind.loops |= kind.is_wide;
        break;
      case Op::kRepeat:
        kind = texts_[e.first];
        kind.calls_nothing &= !facts_.counted[index];
        kind.whole_size =
            facts_.counted[index] ? INT64_MAX : saturating_multiply(copies_of(e), kind.whole_size);
        kind.loops |= e.max == kUnbounded && kind.is_wide;
        break;
      case Op::kOtherTexts:
        kind = texts_[e.first];
        kind.loops = kind.is_wide;
        kind.whole_size = INT64_MAX;
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

  static int64_t copies_of(const Expression& repeat) {
    return std::max<int64_t>(repeat.max == kUnbounded ? repeat.min : repeat.max, 1);
  }

  // Whether a rule may be copied into its callers.
  bool is_plain(int32_t rule) const { return !facts_.recursive[rule] && !source_.rule_options[rule].any(); }

  int64_t repeat_size(int32_t index, int64_t body_size) {
    const Expression& e = source_.expressions[index];
    const int64_t copies = copies_of(e);
    const int64_t unrolled = saturating_multiply(copies, body_size);
    const TextKind& body = texts_[e.first];
    // Where a rule is recursive, readings may differ in their counts, and states are fewer than counters.
    const bool is_short =
        is_recursive_ || (!body.has_free_text && (copies <= kFewCopies || !body.has_letters));
    if (copies == 1 || (unrolled <= kUnrollAlways && (is_short || must_unroll_[index]))) return unrolled;
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
  const std::vector<uint8_t>& must_unroll_;
  ExpressionFacts& facts_;
  size_t rule_count_;
  std::vector<Range> ranges_;
  std::vector<Adjacency::Placed> references_;
  std::vector<int32_t> reference_count_;
  std::vector<uint8_t> is_member_;  // by rule: of some Members
  std::vector<TextKind> texts_;     // by expression
  bool is_recursive_ = false;       // the rule whose expressions are looked at
};

}  // namespace

void choose_copies(const GrammarSource& source, const std::vector<uint8_t>& must_unroll,
                   ExpressionFacts& facts) {
  Copies(source, must_unroll, facts).choose();
}

}  // namespace syntagma
