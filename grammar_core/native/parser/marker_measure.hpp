// Where the markers at the end of texts begin.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "automaton/nfa.hpp"

namespace syntagma {

// For each beginning of `text`, the empty one and the whole too, where its marker begins: the least length of
// what stands before it, or -1 where the beginning is no such text. Follows all readings at once, each
// automaton state with the earliest boundary it can have been reached from (V. Laurikari, "NFAs with tagged
// transitions", 2000), so it takes time in proportion to the text times the states of `measure`.
std::vector<int64_t> measure_markers(const Nfa& nfa, const Symbol& measure, std::string_view text);

}  // namespace syntagma
