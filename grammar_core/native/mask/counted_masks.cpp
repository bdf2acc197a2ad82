// Masks of frames on a counter: one walk for all counts, and what is cut from it for each.
#include <algorithm>
#include <bit>
#include <utility>

#include "mask/mask_store.hpp"

namespace syntagma {

// Whether all counters of a set of parents take one iteration.
bool MaskStore::has_single_counters(const StackArena& arena, int32_t parents) const {
  const auto nodes = arena.parents(parents);
  return std::all_of(nodes.begin(), nodes.end(), [&](int32_t node) {
    return !arena.node(node).is_counter() || happens_once(arena.node(node));
  });
}

// For the common case of one counter over other parents, without the lock.
MaskStore::CountedResult MaskStore::known_counted_result(const StackArena& arena, Item item,
                                                         int32_t exit_set) const {
  const auto parents = arena.parents(item.parents);
  if (exit_set != kWholeTrie || parents.size() != 1) return {nullptr, kNone};
  const StackNode& node = arena.node(parents[0]);
  const uint64_t key = counted_key(node.counter, item.macro);
  if (happens_once(node))
    return {reinterpret_cast<const WalkResult*>(single_results_.find(key)), node.parents};
  if (arena.has_counters(node.parents) && !has_single_counters(arena, node.parents)) return {nullptr, kNone};
  const uint64_t found = whole_counted_walks_.find(key);
  if (found == 0) return {nullptr, kNone};
  const CountedWalk& walk = *reinterpret_cast<const CountedWalk*>(found);
  return {reinterpret_cast<const WalkResult*>(walk.results.find(walk.key(node.needed, node.left))),
          node.parents};
}

// The result for an item on top of one counter; null if that takes a walk, or each count its own.
const WalkResult* MaskStore::count_result(StackNode counter, int32_t macro, int32_t exit_set, bool may_walk) {
  CountedWalk* walk = counted_walk(counter.counter, macro, exit_set, may_walk);
  return walk != nullptr && walk->findings.countable ? cut_result(*walk, counter.needed, counter.left)
                                                     : nullptr;
}

MaskStore::CountedWalk* MaskStore::counted_walk(int32_t counter, int32_t macro, int32_t exit_set,
                                                bool may_walk) {
  StackArena& arena = walk_.walker().arena();
  const int32_t node = arena.intern_node({kNone, counter, kBaseParents, 0, kUnbounded});
  const int32_t start = walk_.walker().state_of({macro, arena.single_parent(node)});
  const uint64_t key = static_cast<uint64_t>(start) << 32 | static_cast<uint32_t>(exit_set);
  const auto found = counted_walks_.find(key);
  if (found != counted_walks_.end()) return found->second.get();
  const int32_t reports = automaton_.counter(counter).reports;
  const std::vector<int32_t>& frame = automaton_.regular_frame(automaton_.counter(counter).body_start);
  FrameRows::Key shared, body;
  if (!frame.empty()) {
    add_frame(frame, body);
    shared = shared_key({macro, reports}, exit_set, body);
  }
  if (!shared.empty()) shared = with_follow(std::move(shared), reports);
  std::unique_ptr<CountedWalk> walk;
  if (!shared.empty())
    if (const auto known = shared_->find(shared)) walk = adopt_counted(*known, reports);
  if (walk == nullptr) {
    if (!may_walk) return nullptr;
    walk = run_counted_walk(start, exit_set);
    if (!shared.empty()) share_counted(shared, *walk);
  }
  row_bytes_ += walk->findings.consumed.size() * sizeof(ConsumedTokens) +
                walk->findings.leaving.size() * sizeof(LeavingPlace) + sizeof(CountedWalk);
  if (exit_set == kWholeTrie && walk->findings.countable)
    whole_counted_walks_.insert(counted_key(counter, macro), reinterpret_cast<uint64_t>(walk.get()));
  return counted_walks_.emplace(key, std::move(walk)).first->second.get();
}

std::unique_ptr<MaskStore::CountedWalk> MaskStore::adopt_counted(const FrameWalk& walk, int32_t reports) {
  auto counted = std::make_unique<CountedWalk>();
  counted->findings = walk.counted;
  for (LeavingPlace& place : counted->findings.leaving) place.reports = reports;
  counted->by_characters = keep(Row(walk.row));
  counted->most = walk.most;
  return counted;
}

void MaskStore::share_counted(const FrameRows::Key& key, const CountedWalk& counted) {
  auto walk = std::make_shared<FrameWalk>();
  walk->row = *counted.by_characters;
  walk->counted = counted.findings;
  walk->most = counted.most;
  shared_->add(key, std::move(walk));
}

std::unique_ptr<MaskStore::CountedWalk> MaskStore::run_counted_walk(int32_t start, int32_t exit_set) {
  auto walk = std::make_unique<CountedWalk>();
  const std::vector<int32_t> from(origins(exit_set).begin(), origins(exit_set).end());
  walk->findings = walk_.run(start, from, true);
  if (automaton_.has_token_sets() && !walk_.walker().token_sets(start).empty())
    walk->findings.countable = false;
  std::vector<RankRange> by_characters;
  walk->most = 0;
  for (const ConsumedTokens& tokens : walk->findings.consumed) {
    if (tokens.is_total) {
      walk->most = std::max(walk->most, tokens.extra);
      continue;
    }
    if (tokens.extra == 0) by_characters.emplace_back(tokens.first, tokens.last);
    walk->most = std::max(walk->most, vocabulary_->most_characters(tokens.first, tokens.last) + tokens.extra);
  }
  for (const LeavingPlace& place : walk->findings.leaving)
    walk->most = std::max(walk->most, place.iterations);
  walk->most = std::max(walk->most, walk->findings.longest_run);
  walk->by_characters = keep(Row::from_ranges(*vocabulary_, by_characters, walk->findings.sets));
  walk->findings.sets.clear();
  return walk;
}

// What is left of a walk when only so many iterations are needed and left.
const WalkResult* MaskStore::cut_result(CountedWalk& walk, int64_t needed, int64_t left) {
  const uint64_t key = walk.key(needed, left);
  if (const uint64_t found = walk.results.find(key)) return reinterpret_cast<const WalkResult*>(found);
  auto result = std::make_unique<WalkResult>();
  std::vector<RankRange> others;
  for (const ConsumedTokens& tokens : walk.findings.consumed) {
    if (tokens.is_total && tokens.extra <= left) others.emplace_back(tokens.first, tokens.last);
    if (tokens.is_total || tokens.extra == 0) continue;
    for (uint32_t rank = tokens.first; rank < tokens.last; ++rank)
      if (vocabulary_->characters_at_rank(rank) + tokens.extra <= left) others.emplace_back(rank, rank + 1);
  }
  const Row* row = walk.by_characters;
  if (left < walk.most)
    row = keep(Row::intersect(*vocabulary_, *row, vocabulary_->tokens_up_to(static_cast<int32_t>(left))));
  if (!others.empty()) row = keep(Row::merge(*vocabulary_, *row, Row::from_ranges(*vocabulary_, others)));
  result->row = row;
  result->exits = cut_exits(walk, needed, left);
  walk.results.insert(key, reinterpret_cast<uint64_t>(result.get()));
  cut_results_.push_back(std::move(result));
  return cut_results_.back().get();
}

// The exits whose iterations are as many as are needed and left. Near the limit every count has other ones,
// so they come in several sets, by the logarithm of their iterations: all but the first and the last are
// those of other counts too, and what followers do with them is known.
std::vector<Exit> MaskStore::cut_exits(const CountedWalk& walk, int64_t needed, int64_t left) {
  const bool is_cut = needed > 0 || left < walk.most;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> leaving(1);
  for (const LeavingPlace& place : walk.findings.leaving) {
    if (place.iterations < needed || place.iterations > left) continue;
    const size_t part = is_cut ? std::bit_width(static_cast<uint32_t>(place.iterations)) : 0;
    if (part >= leaving.size()) leaving.resize(part + 1);
    leaving[part].emplace_back(place.reports, place.node);
  }
  std::vector<Exit> exits;
  for (auto& part : leaving) {
    const std::vector<Exit> more = group_exits(std::move(part));
    exits.insert(exits.end(), more.begin(), more.end());
  }
  return exits;
}

}  // namespace syntagma
