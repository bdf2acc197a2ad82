#include "mask/mask_store.hpp"

#include <algorithm>

namespace syntagma {

MaskStore::MaskStore(MacroAutomaton& automaton, std::shared_ptr<const Vocabulary> vocabulary)
    : automaton_(automaton), vocabulary_(std::move(vocabulary)), walker_(automaton) {
  exit_sets_.intern(std::vector<int32_t>{0});
  keep(Row());  // id 0, so that no pair of two other rows has key 0
  nothing_ = rows_.back().get();
  stop_tokens_ = keep(Row::from_stop_tokens(*vocabulary_));
  path_.resize(vocabulary_->longest_token() + 1);
}

const WalkResult* MaskStore::compute_plain(int32_t macro, int32_t exit_set) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = (static_cast<uint64_t>(macro) + 1) << 32 | static_cast<uint32_t>(exit_set);
  if (const uint64_t found = plain_results_.find(key)) return reinterpret_cast<const WalkResult*>(found);
  const WalkResult* result = result_of_state(walker_.state_of({macro, kBaseParents}), exit_set, true);
  plain_results_.insert(key, reinterpret_cast<uint64_t>(result));
  update_memory();
  return result;
}

// A count that no single token can use up is as good as none.
int64_t MaskStore::within_reach(int64_t iterations) const {
  return iterations > vocabulary_->longest_token() ? kUnbounded : iterations;
}

// Frames on top of counted repetitions are walked together with the counters, down to the first ordinary
// parents.
std::vector<MaskStore::CountedResult> MaskStore::counted_results(StackArena& arena, Item item,
                                                                 int32_t exit_set, bool may_walk) {
  struct Path {
    std::vector<int32_t> counters;  // from the item downwards
    int32_t parents;
  };
  const std::lock_guard lock(mutex_);
  std::vector<CountedResult> found;
  std::vector<Path> pending{{{}, item.parents}};
  while (!pending.empty()) {
    const Path path = std::move(pending.back());
    pending.pop_back();
    std::vector<int32_t> ordinary;
    const std::vector<int32_t> parents(arena.parents(path.parents).begin(),
                                       arena.parents(path.parents).end());
    for (const int32_t node : parents) {
      if (!arena.node(node).is_counter()) {
        ordinary.push_back(node);
        continue;
      }
      pending.push_back({path.counters, arena.node(node).parents});
      pending.back().counters.push_back(node);
    }
    if (ordinary.empty()) continue;
    int32_t relative = kBaseParents;
    for (size_t i = path.counters.size(); i-- > 0;) {
      const StackNode& node = arena.node(path.counters[i]);
      relative = walker_.arena().single_parent(walker_.arena().intern_node(
          {kNone, node.counter, relative, within_reach(node.needed), within_reach(node.left)}));
    }
    found.push_back({result_of_state(walker_.state_of({item.macro, relative}), exit_set, may_walk),
                     arena.intern_parents(ordinary)});
  }
  update_memory();
  return found;
}

const WalkResult* MaskStore::result_of_state(int32_t state, int32_t exit_set, bool may_walk) {
  const uint64_t key = static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(exit_set);
  const auto found = results_.find(key);
  if (found != results_.end()) return found->second.get();
  return may_walk ? walk(state, exit_set) : nullptr;
}

// Whether tokens through `node` have a next byte that may follow `reports`.
bool MaskStore::may_continue(uint32_t node, int32_t reports) {
  const auto [entry, added] = follow_.try_emplace(reports);
  Follow& follow = entry->second;
  if (added) {
    follow.bytes = automaton_.follow(reports);
    for (int byte = 0; byte < 256; ++byte)
      if (follow.bytes.contains(static_cast<uint8_t>(byte)))
        follow.groups |= GroupSet{1} << group_of(static_cast<uint8_t>(byte));
  }
  if ((vocabulary_->groups_below(node) & follow.groups) == 0) return false;
  const auto trie = vocabulary_->trie();
  for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end)
    if (follow.bytes.contains(trie[child].byte)) return true;
  return false;
}

const WalkResult* MaskStore::walk(int32_t start, int32_t exit_set) {
  walker_.begin_walk();
  const auto trie = vocabulary_->trie();
  std::vector<std::pair<uint32_t, uint32_t>> accepted;
  std::vector<std::pair<int32_t, int32_t>> exits;  // (reports, trie node)
  const auto accept = [&](std::pair<uint32_t, uint32_t> ranks) {
    if (ranks.first == ranks.second) return;
    if (!accepted.empty() && accepted.back().second == ranks.first)
      accepted.back().second = ranks.second;
    else
      accepted.push_back(ranks);
  };
  const std::vector<int32_t> origins(exit_sets_[exit_set].begin(), exit_sets_[exit_set].end());
  for (const int32_t origin : origins) {
    const uint32_t end = trie[origin].subtree_end;
    path_[trie[origin].depth] = start;
    for (auto node = static_cast<uint32_t>(origin) + 1; node < end;) {
      const TrieNode& n = trie[node];
      const int32_t before = path_[n.depth - 1];
      const int32_t state = walker_.next(before, n.byte);
      if (state == kNone) {
        node = n.subtree_end;
        continue;
      }
      accept(vocabulary_->ranks_at(node));
      if (n.subtree_end == node + 1) {
        ++node;
        continue;
      }
      if ((state == before || walker_.loop_known(state)) &&
          (vocabulary_->groups_below(node) & ~walker_.loop_groups(state)) == 0) {
        accept(vocabulary_->ranks_below(node));
        node = n.subtree_end;
        continue;
      }
      const int32_t reports = walker_.reports(state);
      if (reports != 0 && may_continue(node, reports))
        exits.emplace_back(reports, static_cast<int32_t>(node));
      if (!walker_.has_items(state)) {
        node = n.subtree_end;
        continue;
      }
      path_[n.depth] = state;
      ++node;
    }
  }
  auto result = std::make_unique<WalkResult>();
  result->row = keep(origins.size() == 1 ? Row::from_sorted_ranges(*vocabulary_, accepted)
                                         : Row::from_ranges(*vocabulary_, accepted));
  std::stable_sort(exits.begin(), exits.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < exits.size();) {
    std::vector<int32_t> nodes;
    const int32_t reports = exits[i].first;
    for (; i < exits.size() && exits[i].first == reports; ++i) nodes.push_back(exits[i].second);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    result->exits.push_back({reports, exit_sets_.intern(nodes)});
  }
  const uint64_t key = static_cast<uint64_t>(start) << 32 | static_cast<uint32_t>(exit_set);
  return results_.emplace(key, std::move(result)).first->second.get();
}

const Row* MaskStore::compute_merged(uint64_t key, const Row& a, const Row& b) {
  const std::lock_guard lock(mutex_);
  if (const uint64_t found = merged_.find(key)) return reinterpret_cast<const Row*>(found);
  const Row* row = keep(Row::merge(*vocabulary_, a, b));
  merged_.insert(key, reinterpret_cast<uint64_t>(row));
  update_memory();
  return row;
}

const Row* MaskStore::keep(Row row) {
  row.set_id(static_cast<uint32_t>(rows_.size()));
  rows_.push_back(std::make_unique<Row>(std::move(row)));
  row_bytes_ += rows_.back()->memory_bytes();
  return rows_.back().get();
}

void MaskStore::update_memory() {
  memory_bytes_.store(row_bytes_ + walker_.memory_bytes() + exit_sets_.memory_bytes() +
                          results_.size() * (sizeof(WalkResult) + 96) + plain_results_.memory_bytes() +
                          merged_.memory_bytes(),
                      std::memory_order_relaxed);
}

}  // namespace syntagma
