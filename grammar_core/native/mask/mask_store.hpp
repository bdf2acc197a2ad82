// Rows of one compiled grammar over one vocabulary, computed when first needed and shared by all matchers.
//
// The mask of an item is what its frame consumes without leaving (its row), and for tokens that leave in the
// middle, what the parents do with the rest. The rest of a token is a place in the vocabulary's trie, so what
// leaves a frame is a set of trie nodes (an exit set), and what a parent does with it is again a row and exit
// sets. Both depend on positions of the grammar only, never on the text, so the tables are finite and exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "automaton/concurrent.hpp"
#include "mask/row.hpp"
#include "mask/walk_automaton.hpp"

namespace syntagma {

constexpr int32_t kWholeTrie = 0;  // the exit set of the trie's root: tokens from their first byte on

struct Exit {
  int32_t reports;   // handed to the parents
  int32_t exit_set;  // where in the trie that happened
};

struct WalkResult {
  const Row* row;
  std::vector<Exit> exits;
};

class MaskStore {
 public:
  MaskStore(MacroAutomaton& automaton, std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Calls `visit(result, parents)` for each way to see `item` (of `arena`) relative to a set of its parents.
  // False, without a call for every way, if that takes a walk and `may_walk` is not given.
  template <typename Visit>
  bool for_each_result(StackArena& arena, Item item, int32_t exit_set, bool may_walk, Visit visit) {
    if (!arena.has_counters(item.parents)) {
      const WalkResult* result = plain_result(item.macro, exit_set, may_walk);
      if (result == nullptr) return false;
      visit(*result, item.parents);
      return true;
    }
    for (const CountedResult& counted : counted_results(arena, item, exit_set, may_walk)) {
      if (counted.result == nullptr) return false;
      visit(*counted.result, counted.parents);
    }
    return true;
  }

  // Rows live as long as the store.
  const Row* nothing() const { return nothing_; }
  const Row* stop_tokens() const { return stop_tokens_; }
  const Row* merged(const Row* a, const Row* b) {
    if (a == b || b->empty()) return a;
    if (a->empty()) return b;
    const uint64_t key = static_cast<uint64_t>(std::min(a->id(), b->id())) << 32 | std::max(a->id(), b->id());
    const uint64_t found = merged_.find(key);
    return found != 0 ? reinterpret_cast<const Row*>(found) : compute_merged(key, *a, *b);
  }

  size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  struct CountedResult {
    const WalkResult* result;  // null if it takes a walk that was not allowed
    int32_t parents;
  };

  const WalkResult* plain_result(int32_t macro, int32_t exit_set, bool may_walk) {
    const uint64_t key = (static_cast<uint64_t>(macro) + 1) << 32 | static_cast<uint32_t>(exit_set);
    const uint64_t found = plain_results_.find(key);
    if (found != 0) return reinterpret_cast<const WalkResult*>(found);
    return may_walk ? compute_plain(macro, exit_set) : nullptr;
  }
  const WalkResult* compute_plain(int32_t macro, int32_t exit_set);
  const Row* compute_merged(uint64_t key, const Row& a, const Row& b);
  const Row* keep(Row row);
  std::vector<CountedResult> counted_results(StackArena& arena, Item item, int32_t exit_set, bool may_walk);
  const WalkResult* result_of_state(int32_t state, int32_t exit_set, bool may_walk);
  const WalkResult* walk(int32_t start, int32_t exit_set);
  bool may_continue(uint32_t node, int32_t reports);
  int64_t within_reach(int64_t iterations) const;
  void update_memory();

  struct Follow {
    ByteSet bytes;
    GroupSet groups = 0;
  };

  MacroAutomaton& automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::mutex mutex_;
  ConcurrentMap plain_results_;  // (macro-state, exit set) to WalkResult*
  ConcurrentMap merged_;         // two ids of rows to Row*
  const Row* nothing_;
  const Row* stop_tokens_;
  std::atomic<size_t> memory_bytes_{0};

  // Under the lock.
  WalkAutomaton walker_;
  SequenceInterner exit_sets_;
  std::unordered_map<uint64_t, std::unique_ptr<WalkResult>> results_;  // by walker state and exit set
  std::vector<std::unique_ptr<Row>> rows_;
  std::unordered_map<int32_t, Follow> follow_;
  std::vector<int32_t> path_;
  size_t row_bytes_ = 0;
};

}  // namespace syntagma
