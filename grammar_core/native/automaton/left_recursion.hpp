// Which rules begin with themselves, and what follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "automaton/expression_facts.hpp"

namespace syntagma {

// Fills `left_recursive` by what derives what (`nullable`, `nonempty`). Returns, by expression, the
// repetitions that must become copies. Throws InvalidGrammar for rules with budgets that begin with each
// other.
std::vector<uint8_t> find_left_recursion(const GrammarSource& source, ExpressionFacts& facts);

}  // namespace syntagma
