// Letters: code points that nothing at hand tells apart.
#pragma once

#include <span>
#include <vector>

#include "automaton/dfa.hpp"

namespace syntagma {

// The coarsest alphabet in which each of the sets is a set of letters, and those letters.
struct Partition {
  Alphabet alphabet;
  std::vector<std::vector<int32_t>> letters_of_set;
};
Partition partition_code_points(const std::vector<std::span<const CodePointRange>>& sets);

// The coarsest refinement of two alphabets; a letter of it is a letter of each.
struct CommonAlphabet {
  Alphabet alphabet;
  std::vector<int32_t> letter_of_one, letter_of_other;
};
CommonAlphabet refine(const Alphabet& one, const Alphabet& other);

// The alphabet with letters renamed, and neighbouring intervals of the same letter joined.
Alphabet rename_letters(const Alphabet& alphabet, const std::vector<int32_t>& names, int32_t count);

}  // namespace syntagma
