// Bounds on the size of deterministic automata.
#pragma once

#include <cstdint>
#include <string>

#include "automaton/errors.hpp"

namespace syntagma {

constexpr int64_t kMaxDfaStates = 100'000;
constexpr int64_t kMaxDfaCells = 8'000'000;  // states times letters

// Throws unless an automaton of that size is allowed.
inline void check_dfa_size(int64_t states, int64_t letters) {
  if (states > kMaxDfaStates)
    throw LimitExceeded("regular_language_states", kMaxDfaStates,
                        "The set of texts needs a finite automaton of more than " +
                            std::to_string(kMaxDfaStates) + " states");
  if (states * letters > kMaxDfaCells)
    throw LimitExceeded("regular_language_cells", kMaxDfaCells,
                        "The set of texts needs a finite automaton of more than " +
                            std::to_string(kMaxDfaCells) + " transitions");
}

}  // namespace syntagma
