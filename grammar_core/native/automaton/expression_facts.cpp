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
    throw InvalidGrammar("Rule \"" + source.rule_names[source.root] + "\" cannot match any finite text");
  choose_copies(source, find_left_recursion(source, facts), facts);
  return facts;
}

}  // namespace syntagma
