// From where on repetitions are counted instead of copied, and chains of states become repetitions again.
#pragma once

#include <cstdint>

namespace syntagma {

constexpr int64_t kManyLetters = 26;  // characters from which on a class is part of very many tokens
constexpr int64_t kFewCopies = 4;     // up to which a repetition of such a class becomes copies

}  // namespace syntagma
