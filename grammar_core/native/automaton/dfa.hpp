// Deterministic automata over code points, and the Boolean algebra of their languages.
//
// Subset construction: M. Rabin, D. Scott, "Finite automata and their decision problems", 1959.
// Minimisation: J. Hopcroft, "An n log n algorithm for minimizing states in a finite automaton", 1971.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "automaton/expression.hpp"

namespace syntagma {

// The code points, surrogates left out, in disjoint sets that are one letter each.
struct Alphabet {
  static constexpr int32_t kNoLetter = -1;  // of surrogates

  // Interval i begins at starts[i] and ends before starts[i + 1], the last one at U+10FFFF. starts[0] is 0.
  std::vector<uint32_t> starts;
  std::vector<int32_t> letters;  // by interval
  int32_t count = 0;

  int32_t letter_of(uint32_t code_point) const;
};

// State 0 is the start. Every state can be reached and, but for the start of the empty language, completed.
struct Dfa {
  static constexpr int32_t kDead = -1;

  Alphabet alphabet;
  std::vector<int32_t> next;  // by state and letter
  std::vector<uint8_t> accepts;

  int32_t state_count() const { return static_cast<int32_t>(accepts.size()); }
  int32_t target(int32_t state, int32_t letter) const {
    return next[static_cast<size_t>(state) * alphabet.count + letter];
  }
};

// All of these throw LimitExceeded where a result would be too large.

// The language of a source's only rule, whose expressions are literals, character classes, sequences,
// choices, repetitions and automata. Throws InvalidGrammar for others. Minimal.
Dfa determinize(const GrammarSource& source);

// Without states that cannot be reached or completed, and without two for the same rest of a text.
Dfa minimize(Dfa dfa);

enum class SetOperation { kIntersection, kUnion, kDifference };

// What is in both, in either, or in the first alone; nothing if that is one of the two itself.
struct Combination {
  enum class Kind { kNew, kOne, kOther };
  Kind kind = Kind::kNew;
  Dfa dfa;
};
Combination combine(const Dfa& one, const Dfa& other, SetOperation operation);
Dfa complement(const Dfa& dfa);

// The texts of `min` to `max` code points (kUnbounded: no upper bound). Not always minimal.
Dfa limit_length(const Dfa& dfa, int64_t min, int64_t max);

// The numbers of code points of the shortest and the longest text; kUnbounded if there is no longest one.
// The language must not be empty.
struct LengthRange {
  int64_t min, max;
};
LengthRange length_range(const Dfa& dfa);

// Whether every text is the beginning of one of one more code point.
bool can_be_extended(const Dfa& dfa);
// Whether the beginning of a text is always that of endlessly many.
bool is_endless(const Dfa& dfa);

bool is_empty(const Dfa& dfa);
bool is_universal(const Dfa& dfa);
bool contains(const Dfa& dfa, const std::u32string& text);

// A text of the fewest code points, of these the first in the order of code points. Not of the empty
// language.
std::u32string shortest_text(const Dfa& dfa);

// All texts in the order of code points, or nothing if there are more than `limit`.
std::optional<std::vector<std::u32string>> all_texts(const Dfa& dfa, size_t limit);

// A Dfa with its letters gathered into classes of characters, each listed once. An edge may stand for several
// characters of its class.
struct DfaEdges {
  struct Edge {
    int32_t source, target, label;
    int64_t min = 1, max = 1;
  };
  std::vector<std::vector<CodePointRange>> labels;
  std::vector<Edge> edges;  // by source
  std::vector<uint8_t> accepts;
};
DfaEdges gather_edges(const Dfa& dfa);

// The same language with one edge in place of a chain of states that only count characters of one large
// class.
DfaEdges fold_runs(DfaEdges whole);

}  // namespace syntagma
