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
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "automaton/concurrent.hpp"
#include "mask/frame_rows.hpp"
#include "mask/row.hpp"
#include "mask/vocabulary_walk.hpp"

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
  // Of frames that are known to `shared`, what walks found there is taken over.
  MaskStore(MacroAutomaton& automaton, std::shared_ptr<const Vocabulary> vocabulary,
            std::shared_ptr<FrameRows> shared);

  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Calls `visit(result, parents)` for each way to see `item` (of `arena`) relative to a set of its parents.
  // False, without a call for every way, if that takes a walk and `may_walk` is not given.
  template <typename Visit>
  bool for_each_result(StackArena& arena, Item item, int32_t exit_set, bool may_walk, Visit visit) {
    item.parents = arena.without_markers(item.parents);
    if (!arena.has_counters(item.parents)) {
      const WalkResult* result = plain_result(item.macro, exit_set, may_walk);
      if (result == nullptr) return false;
      visit(*result, item.parents);
      return true;
    }
    if (const CountedResult known = known_counted_result(arena, item, exit_set); known.result != nullptr) {
      visit(*known.result, known.parents);
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
  // Tokens of the token sets that may come next in a macro-state's frame.
  const Row* token_set_mask(int32_t macro);
  const Row* add(Row row) {
    const std::lock_guard lock(mutex_);
    return keep(std::move(row));
  }
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
  struct CountedWalk;
  const WalkResult* compute_plain(int32_t macro, int32_t exit_set);
  const Row* compute_merged(uint64_t key, const Row& a, const Row& b);
  const Row* keep(Row row);
  std::vector<CountedResult> counted_results(StackArena& arena, Item item, int32_t exit_set, bool may_walk) {
    const std::lock_guard lock(mutex_);
    const MemoryUpdate update{*this};
    return results_of_item(arena, item, exit_set, may_walk);
  }
  struct CounterPath {
    std::vector<int32_t> counters;  // nodes of the arena, from the top downwards
    int32_t below = kNone;
  };
  std::vector<CounterPath> counter_paths(StackArena& arena, int32_t parents);
  const WalkResult* result_on_path(StackArena& arena, int32_t macro, const CounterPath& path,
                                   int32_t exit_set, bool may_walk);
  std::vector<CountedResult> results_of_item(StackArena& arena, Item item, int32_t exit_set, bool may_walk);
  // A frame on its own, and what is handed to its parents when it ends; kNone for anything else.
  struct Frame {
    int32_t macro = kNone;
    int32_t reports = 0;
  };
  const WalkResult* result_of_state(int32_t state, int32_t exit_set, bool may_walk, Frame frame);
  const WalkResult* walk(int32_t start, int32_t exit_set, const FrameRows::Key& shared, int32_t reports);
  WalkFindings run(int32_t state, int32_t exit_set, Leaving leaving = Leaving::kFollowed);
  size_t nodes_below(int32_t exit_set) const;
  void go_on(int32_t state, int32_t exit_set, WalkFindings& findings);
  std::vector<const Row*> take_over(WalkFindings& findings);
  std::unique_ptr<WalkResult> derive_result(int32_t start, int32_t exit_set);
  const MergedTrie* merged_trie(int32_t exit_set, bool build);
  FrameRows::Key shared_key(Frame frame, int32_t exit_set, std::span<const int32_t> kind);
  void add_frame(const std::vector<int32_t>& frame, FrameRows::Key& key);
  FrameRows::Key with_follow(FrameRows::Key key, int32_t reports);
  std::unique_ptr<WalkResult> find_shared(const FrameRows::Key& key, int32_t reports);
  void share(const FrameRows::Key& key, int32_t reports, const WalkFindings* all, const WalkResult& result);
  std::unique_ptr<CountedWalk> run_counted_walk(int32_t start, int32_t exit_set);
  std::unique_ptr<CountedWalk> adopt_counted(const FrameWalk& walk, int32_t reports);
  void share_counted(const FrameRows::Key& key, const CountedWalk& walk);
  const Row* with_token_sets(const Row* row, int32_t state, int32_t exit_set);
  const Row* token_set_row(int32_t set);
  StackNode relative_counter(const StackNode& node) const;
  void update_memory();
  // Updates at the end of a block, also when a limit ends it.
  struct MemoryUpdate {
    MaskStore& store;
    ~MemoryUpdate() { store.update_memory(); }
  };

  // What a walk found on top of one counter, whatever its count: the result for a count follows by look-up.
  struct CountedWalk {
    WalkFindings findings;
    const Row* by_characters;  // tokens whose iterations are their characters
    int32_t most;              // iterations that a token can start or finish
    ConcurrentMap results;     // (needed, left) to WalkResult*
    uint64_t key(int64_t needed, int64_t left) const {
      return (static_cast<uint64_t>(std::min<int64_t>(needed, most + 1)) + 1) << 32 |
             static_cast<uint64_t>(std::min<int64_t>(left, most + 1));
    }
  };

  // A lazy rule's or a budget's counter: there is no count to tell apart.
  bool happens_once(const StackNode& node) const { return automaton_.counter(node.counter).max == 1; }
  bool has_single_counters(const StackArena& arena, int32_t parents) const;
  CountedResult known_counted_result(const StackArena& arena, Item item, int32_t exit_set) const;
  const WalkResult* count_result(StackNode counter, int32_t macro, int32_t exit_set, bool may_walk);
  CountedWalk* counted_walk(int32_t counter, int32_t macro, int32_t exit_set, bool may_walk);
  const WalkResult* cut_result(CountedWalk& walk, int64_t needed, int64_t left);
  std::vector<Exit> cut_exits(const CountedWalk& walk, int64_t needed, int64_t left);
  std::vector<Exit> group_exits(std::vector<std::pair<int32_t, int32_t>> leaving);
  std::span<const int32_t> origins(int32_t exit_set) const { return exit_sets_[exit_set]; }
  static uint64_t counted_key(int32_t counter, int32_t macro) {
    return (static_cast<uint64_t>(counter) + 1) << 32 | static_cast<uint32_t>(macro);
  }

  MacroAutomaton& automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<FrameRows> shared_;
  std::mutex mutex_;
  ConcurrentMap plain_results_;   // (macro-state, exit set) to WalkResult*
  ConcurrentMap single_results_;  // (counter of one iteration, macro-state) to WalkResult*, of whole tokens
  ConcurrentMap whole_counted_walks_;  // (counter, macro-state) to CountedWalk*, of whole tokens
  ConcurrentMap merged_;               // two ids of rows to Row*
  const Row* nothing_;
  const Row* stop_tokens_;
  std::atomic<size_t> memory_bytes_{0};

  // Under the lock.
  VocabularyWalk walk_;
  int derivations_ = 0;  // under way
  SequenceInterner exit_sets_;
  std::unordered_map<int32_t, std::shared_ptr<const MergedTrie>> merged_tries_;  // by exit set
  std::unordered_set<int32_t> walked_exit_sets_;
  std::unordered_map<uint64_t, std::unique_ptr<WalkResult>> results_;  // by walker state and exit set
  // By a state of a regular frame, an exit set, and the bytes that may follow the frame.
  std::unordered_map<Triple, const WalkResult*, TripleHash> alike_results_;
  std::unordered_map<int32_t, int32_t> shape_numbers_;  // in `shared_`, by symbol
  std::vector<std::unique_ptr<Row>> rows_;
  std::unordered_multimap<uint64_t, const Row*> rows_by_hash_;
  std::unordered_set<const MaskWords*> bases_;                                // of these rows
  std::unordered_map<uint64_t, std::unique_ptr<CountedWalk>> counted_walks_;  // by walker state and exit set
  std::vector<std::unique_ptr<WalkResult>> cut_results_;
  std::unordered_map<int32_t, const Row*> token_set_rows_;
  size_t row_bytes_ = 0;
};

}  // namespace syntagma
