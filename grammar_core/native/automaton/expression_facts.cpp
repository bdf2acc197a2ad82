#include "automaton/expression_facts.hpp"

#include <algorithm>

#include "automaton/copies.hpp"
#include "automaton/derivable_texts.hpp"
#include "automaton/errors.hpp"
#include "automaton/left_recursion.hpp"

namespace syntagma {
namespace {

ExpressionFacts no_facts(const GrammarSource& source) {
  ExpressionFacts facts;
  for (auto* by_expression : {&facts.nullable, &facts.nonempty, &facts.counted})
    by_expression->assign(source.expressions.size(), 0);
  for (auto* by_rule : {&facts.inlined, &facts.framed, &facts.shares_end, &facts.recursive,
                        &facts.left_recursive, &facts.rule_nullable})
    by_rule->assign(source.rule_bodies.size(), 0);
  return facts;
}

// The rule at the end of the way from the root over rules that have no text: the one to blame, or one of
// those that need each other without end.
int32_t deepest_without_text(const GrammarSource& source, const ExpressionFacts& facts) {
  std::vector<uint8_t> seen(source.rule_bodies.size(), 0);
  std::vector<int32_t> pending;
  int32_t rule = source.root;
  for (int32_t next = rule; next >= 0;) {
    rule = next;
    next = -1;
    seen[rule] = 1;
    pending.assign(1, source.rule_bodies[rule]);
    while (!pending.empty() && next < 0) {
      const int32_t index = pending.back();
      pending.pop_back();
      if (facts.productive(index)) continue;
      const Expression& e = source.expressions[index];
      if (e.op == Op::kRuleRef && !seen[e.first]) next = static_cast<int32_t>(e.first);
      if (e.op == Op::kRepeat || e.op == Op::kOtherTexts) pending.push_back(static_cast<int32_t>(e.first));
      if (e.op == Op::kSequence || e.op == Op::kChoice || e.op == Op::kAutomaton || e.op == Op::kMembers) {
        const auto children = source.children_of(e);
        pending.insert(pending.end(), children.rbegin(), children.rend());
      }
    }
  }
  return rule;
}

std::string no_text_message(const GrammarSource& source, const ExpressionFacts& facts) {
  const auto quoted = [&](int32_t rule) { return "\"" + source.rule_names[rule] + "\""; };
  const int32_t blamed = deepest_without_text(source, facts);
  const std::string message = "Rule " + quoted(source.root) + " cannot match any finite text";
  return blamed == source.root ? message : message + ", because rule " + quoted(blamed) + " cannot";
}

}  // namespace

MemberOrder ExpressionFacts::member_order(const GrammarSource& source, const Expression& members) const {
  MembersShape shape = source.members[members.min];
  const auto children = source.children_of(members);
  std::vector<uint8_t> possible(shape.count);
  for (int32_t i = 0; i < shape.count; ++i) possible[i] = nonempty[children[i]];
  if (shape.has_separator && !productive(children[shape.count])) shape.max = std::min<int64_t>(shape.max, 1);
  return MemberOrder(shape, possible);
}

ExpressionFacts analyze_expressions(const GrammarSource& source) {
  ExpressionFacts facts = no_facts(source);
  find_derivable_texts(source, facts);
  if (!facts.productive(source.rule_bodies[source.root]) && !facts.rule_nullable[source.root])
    throw InvalidGrammar(no_text_message(source, facts));
  choose_copies(source, find_left_recursion(source, facts), facts);
  return facts;
}

}  // namespace syntagma
