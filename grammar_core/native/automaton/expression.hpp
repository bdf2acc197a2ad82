// The grammar as it arrives from Python: expressions in postfix order, so that every child has a smaller
// index than its parent and bottom-up passes are plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace syntagma {

constexpr int64_t kUnbounded = INT64_MAX;

enum class Op : int64_t {
  kLiteral = 0,
  kCharClass = 1,
  kRuleRef = 2,
  kSequence = 3,
  kChoice = 4,
  kRepeat = 5
};

struct Expression {
  Op op;
  // kLiteral: offset and length in `literals`. kCharClass: begin and count of ranges.
  // kRuleRef: rule. kSequence, kChoice: begin and count in `children`. kRepeat: child.
  int64_t first = 0;
  int64_t count = 0;
  int64_t min = 0;  // kRepeat only
  int64_t max = 0;  // kRepeat only; kUnbounded when there is no upper bound
};

struct CodePointRange {
  uint32_t low;
  uint32_t high;
};

struct GrammarSource {
  std::vector<Expression> expressions;
  std::vector<int32_t> children;
  std::vector<CodePointRange> ranges;
  std::string literals;
  std::vector<int32_t> rule_bodies;  // expression index by rule
  std::vector<std::string> rule_names;
  int32_t root = 0;

  std::span<const int32_t> children_of(const Expression& e) const {
    return {children.data() + e.first, static_cast<size_t>(e.count)};
  }
};

// Decodes the postfix program that grammar_core/lowering.py writes. A rule's expressions end with its body.
//   0 offset length | 1 count (low high)* | 2 rule | 3 count | 4 count | 5 min max (-1: unbounded) | 6: end
//   of rule
// Throws InvalidGrammar for a malformed program.
GrammarSource decode_program(std::span<const int64_t> program, std::string literals,
                             std::vector<std::string> rule_names, int32_t root);

}  // namespace syntagma
