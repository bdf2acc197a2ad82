// Which rules and repetitions become copies, and which are called or counted.
#pragma once

#include <cstdint>
#include <vector>

#include "automaton/expression_facts.hpp"

namespace syntagma {

// Fills `counted`, `inlined`, `framed` and `recursive`. Throws LimitExceeded where a repetition that must
// become copies (`must_unroll`, by expression) is too long.
void choose_copies(const GrammarSource& source, const std::vector<uint8_t>& must_unroll,
                   ExpressionFacts& facts);

}  // namespace syntagma
