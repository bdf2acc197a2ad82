// The grammar as it arrives from Python: expressions in postfix order, so that every child has a smaller
// index than its parent and bottom-up passes are plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "automaton/adjacency.hpp"
#include "automaton/member_order.hpp"

namespace syntagma {

enum class Op : int64_t {
  kLiteral = 0,
  kCharClass = 1,
  kRuleRef = 2,
  kSequence = 3,
  kChoice = 4,
  kRepeat = 5,
  kAutomaton = 7,
  kTokenSet = 8,
  kMembers = 9,
  kOtherTexts = 10
};

struct Expression {
  Op op;
  // kLiteral: offset and length in `literals`. kCharClass: begin and count of ranges.
  // kRuleRef: rule. kSequence, kChoice: begin and count in `children`. kRepeat: child.
  // kAutomaton: begin and count of the edges' labels in `children`; `min` is its index in `automata`.
  // kTokenSet: index in `token_sets`. kMembers: begin and count of the members' references and the separator
  // in `children`; `min` is its index in `members`. kOtherTexts: child; `min` is its index in `other_texts`.
  int64_t first = 0;
  int64_t count = 0;
  int64_t min = 0;  // kRepeat, kAutomaton, kMembers and kOtherTexts only
  int64_t max = 0;  // kRepeat only; kUnbounded when there is no upper bound
};

struct CodePointRange {
  uint32_t low;
  uint32_t high;
};

// The shape of a kAutomaton; edge i has the i-th label. State 0 is the start. With bounds, a path must have
// so many edges.
struct AutomatonShape {
  struct Edge {
    int32_t from, to;
  };
  int32_t state_count;
  std::vector<int32_t> accepting;
  std::vector<Edge> edges;
  int64_t min_edges = 0, max_edges = kUnbounded;

  bool is_counted() const { return min_edges > 0 || max_edges != kUnbounded; }
  // The edges' numbers by the states that they leave.
  Adjacency edges_by_source() const;
};

struct TokenSet {
  bool negated;
  std::vector<int32_t> ids;  // sorted

  bool contains(int32_t id) const;
};

// Part of `literals`.
struct LiteralRange {
  int64_t offset, length;
};

struct RuleOptions {
  bool lazy = false;
  int32_t capture = -1;     // index into the names of captures, or -1
  double temperature = -1;  // or -1

  int64_t max_tokens = -1;  // or -1
  int64_t max_chars = -1;   // or -1

  int32_t stop_capture = -1;  // index into the names of captures, or -1
  int64_t suffix_bytes = -1;  // of the marker at the end, which the rule's own capture leaves out, or -1
  int64_t stop_bytes = -1;    // the same for enclosing captures too
  int32_t body_rule = -1;     // rules of what stands before the marker and of the marker, which tell where
  int32_t marker_rule = -1;   // it begins; both or neither

  bool has_budget() const { return max_tokens >= 0 || max_chars >= 0; }
  // Whether captures depend on where the rule's texts begin and end.
  bool records() const { return capture >= 0 || stop_capture >= 0 || stop_bytes >= 0; }
  // Whether an occurrence that has used up its budget may end before its marker.
  bool may_end_early() const { return body_rule >= 0 && has_budget(); }
  bool any() const { return lazy || records() || temperature >= 0 || has_budget(); }
};

struct GrammarSource {
  std::vector<Expression> expressions;
  std::vector<int32_t> children;
  std::vector<CodePointRange> ranges;
  std::string literals;
  std::vector<AutomatonShape> automata;
  std::vector<TokenSet> token_sets;
  std::vector<MembersShape> members;
  std::vector<std::vector<LiteralRange>> other_texts;
  std::vector<int32_t> rule_bodies;       // expression index by rule
  std::vector<RuleOptions> rule_options;  // by rule
  std::vector<std::string> rule_names;
  int32_t root = 0;

  std::span<const int32_t> children_of(const Expression& e) const {
    return {children.data() + e.first, static_cast<size_t>(e.count)};
  }
};

// Decodes the postfix program that grammar_core/lowering.py writes. A rule's expressions end with its body.
//   0 offset length | 1 count (low high)* | 2 rule | 3 count | 4 count | 5 min max (-1: unbounded)
//   7 states min max (-1: unbounded) accepting (state)* edges (from to)* | 8 negated count (id)*
//   10 count (offset length)*
//   9 members separator? ordered min max (-1: unbounded) (required repeatable distinct)*
//     implications (from to)*
//   6 lazy capture temperature max_tokens max_chars stop_capture suffix_bytes stop_bytes body_rule
//     marker_rule: end of a rule, with its options (-1: none); the temperature's bits as an integer
// Throws InvalidGrammar for a malformed program.
GrammarSource decode_program(std::span<const int64_t> program, std::string literals,
                             std::vector<std::string> rule_names, int32_t root);

}  // namespace syntagma
