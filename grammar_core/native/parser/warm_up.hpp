// Masks that the first text of a grammar is likely to need, found ahead.
#pragma once

#include <memory>
#include <string_view>

#include "parser/compiled_grammar.hpp"

namespace syntagma {

// Finds those along `text`, a typical one of the grammar, as far as the grammar takes it and so many seconds
// of processor time reach. The text is cut as tokenizers cut; places within words and numbers are left out,
// and those behind the space after a comma, whose masks take little once there are those of others. Nothing
// is done for a text that is not like JSON: of other languages hardly any text is typical.
void warm_up(std::shared_ptr<CompiledGrammar> grammar, std::string_view text, double seconds);

}  // namespace syntagma
