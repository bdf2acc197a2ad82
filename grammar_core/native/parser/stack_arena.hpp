// Immutable, hash-consed parse stacks: a graph-structured stack (M. Tomita, 1985) whose nodes are shared by
// every configuration that reaches them.
//
// A node is a frame that waits for a call to return: the calling macro-state and the set of its parents; or a
// counted repetition with the iterations it still needs and may still take. Node 0 is the base: what lies
// under it is not part of this arena (the end of the text for a matcher, "some parent" for a mask walk).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "automaton/interner.hpp"
#include "automaton/macro_automaton.hpp"
#include "parser/key_sets.hpp"

namespace syntagma {

constexpr int32_t kBaseNode = 0;
constexpr int32_t kBaseParents = 0;  // the parent set {base}

struct StackNode {
  int32_t macro;                   // the calling macro-state, or kNone for a counter
  int32_t counter;                 // index into MacroAutomaton::counter, or kNone
  int32_t parents;                 // id of a parent set
  int64_t needed;                  // counter: iterations before it may end; kUnbounded: not within reach
  int64_t left;                    // counter: iterations it may still take; kUnbounded: no bound within reach
  int64_t last_char = kUnbounded;  // budget: characters of the whole text at which it is used up
  int64_t last_token = kUnbounded;  // budget: number of the token that uses it up
  int64_t begin = 0;                // budget: where the occurrence began, in bytes; each ends by itself
  // Of a marker of a list whose keys differ: number of the set of those that came. Of the counter of a member
  // of such a list: whether its key has not begun, or not ended.
  int32_t keys = kNoKeys;
  static constexpr int32_t kNoKeys = -1, kBeforeKey = -2, kWithinKey = -3;

  bool is_counter() const { return counter != kNone; }
  // Notes where a frame began, for captures; `needed` is that position. Or the keys of a list. Reports pass
  // through.
  bool is_marker() const { return macro == kNone && counter == kNone && parents != kNone; }
};

// A live alternative: a frame in `macro` on top of any of `parents`.
struct Item {
  int32_t macro;
  int32_t parents;
  friend bool operator==(const Item&, const Item&) = default;
};

class StackArena {
 public:
  StackArena();

  const StackNode& node(int32_t id) const { return nodes_[id]; }
  std::span<const int32_t> parents(int32_t set) const { return parent_sets_[set]; }
  bool has_counters(int32_t set) const { return sets_[set].has_counters; }
  // The first of the budgets' ends above and at the nodes of a set.
  int64_t first_last_char(int32_t set) const { return sets_[set].last_char; }
  int64_t first_last_token(int32_t set) const { return sets_[set].last_token; }
  // The set without the stacks that go through `node`; kNone if that leaves none.
  int32_t without_node(int32_t set, int32_t node);
  // The set without the stacks whose nearest list has `key` already; kNone if that leaves none. With `adds`,
  // it comes into the others.
  int32_t with_key(int32_t set, int32_t key, bool adds);
  // The set after a quote, which begins the keys of members that wait for one and ends those under way. `key`
  // is that which ends. kNone if it came before in all stacks.
  int32_t after_quote(int32_t set, int32_t key, bool adds);
  // What is known of the lists at and below the nodes of a set: some keys came; tokens hold some of them as
  // whole strings; a key is to begin; one is under way.
  static constexpr uint8_t kSomeKeys = 1, kKeysInTokens = 2, kBeforeKey = 4, kWithinKey = 8;
  uint8_t keys(int32_t set) const { return sets_[set].keys; }
  // The set as it is where no keys came.
  int32_t without_keys(int32_t set) const { return sets_[set].without_keys; }
  KeySets& key_sets() { return key_sets_; }
  const KeySets& key_sets() const { return key_sets_; }
  // The set with markers replaced by their parents.
  int32_t without_markers(int32_t set);

  // The sets that `set` was first made of; none for a single node. Sets that grow by a node at a time share
  // their parts, so walking parts instead of nodes visits each set once.
  std::span<const int32_t> parts(int32_t set) const { return sets_[set].parts; }

  int32_t intern_node(const StackNode& node);
  int32_t single_parent(int32_t node) { return intern_parents({&node, 1}, {}); }
  // A set of nodes, sorted.
  int32_t intern_parents(std::span<const int32_t> nodes);
  // The union of `sets`, not empty.
  int32_t union_parents(std::span<const int32_t> sets);

  void clear();
  size_t memory_bytes() const;

 private:
  int32_t intern_parents(std::span<const int32_t> nodes, std::span<const int32_t> parts);
  int32_t interned_without_keys(int32_t set);
  // The set with other nodes instead of some, kNone for nothing.
  int32_t with_replaced(int32_t set, std::unordered_map<int32_t, int32_t> replaced);
  // Members at and below the nodes of a set whose keys have not ended.
  std::vector<int32_t> unended_members(int32_t set) const;

  std::vector<StackNode> nodes_;
  std::vector<int32_t> node_slots_;
  SequenceInterner parent_sets_;
  // What is known of a set.
  struct ParentSet {
    int64_t last_char = kUnbounded, last_token = kUnbounded;
    int32_t without_markers;  // kUnknown until asked for
    int32_t without_keys;
    uint32_t visited = 0;
    bool has_counters = false;
    uint8_t keys = 0;
    std::vector<int32_t> parts;
  };
  std::vector<ParentSet> sets_;
  KeySets key_sets_;
  uint32_t visit_ = 0;
};

}  // namespace syntagma
