// Which expressions derive the empty string, and which derive any other text.
#pragma once

#include "automaton/expression_facts.hpp"

namespace syntagma {

// Fills `nullable`, `nonempty` and `rule_nullable`, which are all zeros.
void find_derivable_texts(const GrammarSource& source, ExpressionFacts& facts);

}  // namespace syntagma
