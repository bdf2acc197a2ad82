// Which symbols may match the very text that another one matches.
#pragma once

#include <cstdint>
#include <vector>

#include "automaton/nfa.hpp"

namespace syntagma {

// For each symbol those that it may call for the whole of its text, nothing before and after. Linear in the
// automaton, apart from states without bytes that symbols share.
std::vector<std::vector<int32_t>> find_unit_calls(const Nfa& nfa);

}  // namespace syntagma
