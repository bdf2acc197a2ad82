// What must be known of a grammar's expressions before its automata are built: which derive the empty string,
// which derive any text at all, which rules are copied into their callers, which repetitions are counted.
#pragma once

#include <cstdint>
#include <vector>

#include "automaton/expression.hpp"

namespace syntagma {

struct ExpressionFacts {
  std::vector<uint8_t> nullable;    // by expression: derives the empty string
  std::vector<uint8_t> nonempty;    // by expression: derives some string that is not empty
  std::vector<uint8_t> counted;     // by expression: a repetition that becomes a counter instead of copies
  std::vector<uint8_t> inlined;     // by rule: copied into its callers
  std::vector<uint8_t> framed;      // by rule: free text in a frame of its own, which other grammars have too
  std::vector<uint8_t> shares_end;  // by rule: a member whose text behind its first literal has such a frame
  std::vector<uint8_t> recursive;   // by rule
  std::vector<uint8_t> left_recursive;  // by rule: a text of it can begin with another text of it

  std::vector<uint8_t> rule_nullable;  // by rule: has empty occurrences, also for want of a budget

  bool productive(int32_t expression) const { return nullable[expression] || nonempty[expression]; }
  // Which member may come next in a list of Members, of those that match something.
  MemberOrder member_order(const GrammarSource& source, const Expression& members) const;
};

// Linear in the grammar's size. Throws InvalidGrammar when the root derives nothing and LimitExceeded when a
// repetition inside a left recursion is too long to be copied.
ExpressionFacts analyze_expressions(const GrammarSource& source);

}  // namespace syntagma
