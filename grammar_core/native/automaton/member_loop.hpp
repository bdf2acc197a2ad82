// The states of Members: a loop over members and separators, multiplied on demand by what has come so far.
//
// The Nfa holds the loop as if every member could always come: from `entrance` by a call of any member to
// `between`, from there through a separator back to `entrance`, or to `accept`. A derived state is a state of
// that loop with a configuration of the order; derived states are numbered after those of the Nfa.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "automaton/interner.hpp"
#include "automaton/member_order.hpp"

namespace syntagma {

struct ByteEdge {
  uint8_t low, high;
  int32_t target;
};

struct CallEdge {
  int32_t symbol;
  int32_t target;
};

struct TokenEdge {
  int32_t set;  // index into Nfa::token_sets
  int32_t target;
};

struct MemberLoop {
  int32_t symbol;
  int32_t entrance, between, accept;
  std::vector<int32_t> calls;  // the symbol of each member; -1: it never comes
  MemberOrder order;
};

struct DerivedState {
  int32_t loop, configuration, base;
  bool expanded = false;
  std::vector<ByteEdge> bytes;
  std::vector<CallEdge> calls;
  std::vector<TokenEdge> tokens;
  std::vector<int32_t> empty;
};

}  // namespace syntagma
