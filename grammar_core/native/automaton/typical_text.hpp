// A text, or the beginning of one, that is like what models write in a grammar.
#pragma once

#include <string>

#include "automaton/expression.hpp"

namespace syntagma {

// Every member of a list, one item more than needs be of a repetition, the first alternative that leads
// somewhere. Not always a text of the grammar: what a list's order, counts or exclusions forbid is not looked
// into. Takes little time, whatever the grammar.
std::string typical_text(const GrammarSource& source);

}  // namespace syntagma
