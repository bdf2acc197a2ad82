// Splits a range of code points into sequences of byte ranges, as in R. Cox, "Regular Expression Matching in
// the Wild" (2010) and K. Thompson's UTF-8 automata.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "automaton/expression.hpp"

namespace syntagma {

struct Utf8Sequence {
  struct ByteRange {
    uint8_t low, high;
  };
  std::array<ByteRange, 4> bytes;
  int length;
};

// Appends the sequences of `range`; surrogates are left out.
void append_utf8_sequences(CodePointRange range, std::vector<Utf8Sequence>& out);

}  // namespace syntagma
