#include "mask/mask_store.hpp"

#include <algorithm>
#include <set>

#include "automaton/time_limit.hpp"
#include "mask/nesting.hpp"

namespace syntagma {
namespace {

constexpr int32_t kPlainWalk[] = {0};
constexpr int32_t kTrieRoot = 0;
constexpr int kMostDerivations = 3;  // within one another
constexpr size_t kManyNodes = 64;    // below a single origin: more than those by which states differ
constexpr size_t kCopiedPerTick = 16;
constexpr size_t kMostMerged = 4'000;  // nodes below the origins: merging them should not take long
constexpr size_t kFewOrigins = 8;      // so few rests of tokens are not worth merging

}  // namespace

MaskStore::MaskStore(MacroAutomaton& automaton, std::shared_ptr<const Vocabulary> vocabulary,
                     std::shared_ptr<FrameRows> shared)
    : automaton_(automaton),
      vocabulary_(std::move(vocabulary)),
      shared_(std::move(shared)),
      walk_(automaton, *vocabulary_) {
  exit_sets_.intern(std::vector<int32_t>{0});
  keep(Row());  // id 0, so that no pair of two other rows has key 0
  nothing_ = rows_.back().get();
  stop_tokens_ = keep(Row::from_stop_tokens(*vocabulary_));
}

const WalkResult* MaskStore::compute_plain(int32_t macro, int32_t exit_set) {
  const std::lock_guard lock(mutex_);
  const MemoryUpdate update{*this};
  const uint64_t key = (static_cast<uint64_t>(macro) + 1) << 32 | static_cast<uint32_t>(exit_set);
  if (const uint64_t found = plain_results_.find(key)) return reinterpret_cast<const WalkResult*>(found);
  const WalkResult* result = result_of_state(walk_.walker().state_of({macro, kBaseParents}), exit_set, true,
                                             {macro, automaton_.frame_reports(macro)});
  plain_results_.insert(key, reinterpret_cast<uint64_t>(result));
  return result;
}

// A counter's node above the base. A count that no single token can use up is as good as none.
StackNode MaskStore::relative_counter(const StackNode& node) const {
  const int64_t reach = vocabulary_->longest_token() + automaton_.longest_rest(node.counter);
  const auto within_reach = [&](int64_t iterations) { return iterations > reach ? kUnbounded : iterations; };
  return {kNone, node.counter, kBaseParents, within_reach(node.needed), within_reach(node.left)};
}

// The ways down from a set of parents over counters. Frames of one iteration end their way: what their
// parents do is looked up when the frame ends. Counts within counts are followed down to the first parents
// that are none: looked up one by one, their exits would be as many as the pairs of counts.
std::vector<MaskStore::CounterPath> MaskStore::counter_paths(StackArena& arena, int32_t parents) {
  if (arena.parents(parents).size() == 1) {  // as mostly
    const int32_t node = arena.parents(parents)[0];
    const StackNode& top = arena.node(node);
    if (!top.is_counter()) return {{{}, parents}};
    if (happens_once(top)) return {{{node}, top.parents}};
  }
  std::vector<CounterPath> found, pending(1);
  pending[0].below = parents;
  while (!pending.empty()) {
    CounterPath path = std::move(pending.back());
    pending.pop_back();
    std::vector<int32_t> ordinary;
    for (const int32_t node : arena.parents(path.below)) {
      const StackNode& top = arena.node(node);
      const bool is_single = top.is_counter() && happens_once(top);
      if (!top.is_counter() || (is_single && !path.counters.empty())) {
        ordinary.push_back(node);
        continue;
      }
      for (size_t copied = 0; copied <= path.counters.size(); copied += kCopiedPerTick) TimeLimit::tick();
      CounterPath& next = is_single ? found.emplace_back(path) : pending.emplace_back(path);
      next.counters.push_back(node);
      next.below = top.parents;
    }
    if (ordinary.empty()) continue;
    path.below = arena.intern_parents(ordinary);
    found.push_back(std::move(path));
  }
  return found;
}

std::vector<MaskStore::CountedResult> MaskStore::results_of_item(StackArena& arena, Item item,
                                                                 int32_t exit_set, bool may_walk) {
  std::vector<CountedResult> found;
  for (const CounterPath& path : counter_paths(arena, item.parents))
    found.push_back({result_on_path(arena, item.macro, path, exit_set, may_walk), path.below});
  return found;
}

const WalkResult* MaskStore::result_on_path(StackArena& arena, int32_t macro, const CounterPath& path,
                                            int32_t exit_set, bool may_walk) {
  const bool is_single = path.counters.size() == 1 && happens_once(arena.node(path.counters[0]));
  if (path.counters.size() == 1 && !is_single) {
    const WalkResult* result = count_result(arena.node(path.counters[0]), macro, exit_set, may_walk);
    if (result != nullptr || !may_walk) return result;
  }
  StackArena& own = walk_.walker().arena();
  int32_t relative = kBaseParents;
  for (size_t i = path.counters.size(); i-- > 0;) {
    TimeLimit::tick();
    StackNode node = relative_counter(arena.node(path.counters[i]));  // a copy: the arena may be our own
    node.parents = relative;
    relative = own.single_parent(own.intern_node(node));
  }
  Frame frame;
  if (path.counters.empty())
    frame = {macro, automaton_.frame_reports(macro)};
  else if (is_single)
    frame = {macro, automaton_.counter(arena.node(path.counters[0]).counter).reports};
  const WalkResult* result =
      result_of_state(walk_.walker().state_of({macro, relative}), exit_set, may_walk, frame);
  if (!is_single || result == nullptr || exit_set != kWholeTrie) return result;
  const uint64_t key = counted_key(arena.node(path.counters[0]).counter, macro);
  if (single_results_.find(key) == 0) single_results_.insert(key, reinterpret_cast<uint64_t>(result));
  return result;
}

const WalkResult* MaskStore::result_of_state(int32_t state, int32_t exit_set, bool may_walk, Frame frame) {
  const uint64_t key = static_cast<uint64_t>(state) << 32 | static_cast<uint32_t>(exit_set);
  const auto found = results_.find(key);
  if (found != results_.end()) return found->second.get();
  if (frame.macro == kNone || !automaton_.is_regular_frame(frame.macro))
    return may_walk ? walk(state, exit_set, {}, frame.reports) : nullptr;
  // Frames differ in what they report more often than in the bytes that may follow.
  const Triple place{frame.macro, exit_set, walk_.follow_id(frame.reports)};
  if (const auto alike = alike_results_.find(place); alike != alike_results_.end()) {
    auto result = std::make_unique<WalkResult>(*alike->second);
    for (Exit& exit : result->exits) exit.reports = frame.reports;
    return results_.emplace(key, std::move(result)).first->second.get();
  }
  const FrameRows::Key shared = shared_key(frame, exit_set, kPlainWalk);
  const WalkResult* result = nullptr;
  if (std::unique_ptr<WalkResult> known = shared.empty() ? nullptr : find_shared(shared, frame.reports))
    result = results_.emplace(key, std::move(known)).first->second.get();
  else if (may_walk)
    result = walk(state, exit_set, shared, frame.reports);
  if (result != nullptr) alike_results_.emplace(place, result);
  return result;
}

// From the result of the state that most letters lead to, such as the rest of a name behind the beginning of
// one that is excluded; null if there is no such state or if it is no help.
std::unique_ptr<WalkResult> MaskStore::derive_result(int32_t start, int32_t exit_set) {
  // What a state is derived from may have its result from inner frames, and those from the same state.
  if (derivations_ == kMostDerivations) return nullptr;
  const Nesting nesting(derivations_);
  WalkAutomaton& walker = walk_.walker();
  const int32_t other = walker.usual_target(start);
  if (other == kNone || walker.usual_target(other) != kNone) return nullptr;
  const WalkDifference change = walk_.compare(start, other, static_cast<uint32_t>(origins(exit_set)[0]));
  if (change.too_large) return nullptr;
  const Item item = walker.lone_item(other);
  const Frame frame = item.macro == kNone ? Frame{} : Frame{item.macro, automaton_.frame_reports(item.macro)};
  const WalkResult& from = *result_of_state(other, exit_set, true, frame);
  std::set<std::pair<int32_t, int32_t>> leaving;
  for (const Exit& exit : from.exits)
    for (const int32_t node : origins(exit.exit_set)) leaving.emplace(exit.reports, node);
  for (const auto& place : change.left) leaving.erase(place);
  leaving.insert(change.entered.begin(), change.entered.end());
  auto result = std::make_unique<WalkResult>();
  result->row = keep(Row::changed(*vocabulary_, *from.row, change.added, change.removed));
  result->exits = group_exits({leaving.begin(), leaving.end()});
  return result;
}

// What it finds is shared unless `shared` is empty, the key of the frame that hands over `reports`.
const WalkResult* MaskStore::walk(int32_t start, int32_t exit_set, const FrameRows::Key& shared,
                                  int32_t reports) {
  const uint64_t key = static_cast<uint64_t>(start) << 32 | static_cast<uint32_t>(exit_set);
  const bool is_shared = !shared.empty();
  const bool is_large = exit_set == kWholeTrie
                            ? !automaton_.has_token_sets()
                            : origins(exit_set).size() == 1 && nodes_below(exit_set) >= kManyNodes;
  if (is_large)
    if (auto derived = derive_result(start, exit_set)) {
      if (is_shared) share(shared, reports, nullptr, *derived);
      return results_.emplace(key, std::move(derived)).first->second.get();
    }
  WalkFindings findings;
  if (exit_set == kWholeTrie && walk_.walker().has_inner_frame(start))
    findings.handed_over.push_back({start, kTrieRoot});
  else
    findings = run(start, exit_set, is_shared ? Leaving::kAll : Leaving::kFollowed);
  std::vector<const Row*> rows = take_over(findings);
  std::vector<RankRange> ranges;
  ranges.reserve(findings.consumed.size());
  for (const ConsumedTokens& tokens : findings.consumed) ranges.emplace_back(tokens.first, tokens.last);
  std::vector<std::pair<int32_t, int32_t>> leaving;
  leaving.reserve(findings.leaving.size());
  for (const LeavingPlace& place : findings.leaving)
    if (!is_shared || walk_.may_continue(static_cast<uint32_t>(place.node), place.reports))
      leaving.emplace_back(place.reports, place.node);
  auto result = std::make_unique<WalkResult>();
  Row own = Row::from_ranges(*vocabulary_, std::move(ranges), findings.sets);
  if (!rows.empty()) {
    rows.push_back(&own);
    result->row = keep(Row::unite(*vocabulary_, rows));
  } else {
    result->row = keep(std::move(own));
  }
  result->row = with_token_sets(result->row, start, exit_set);
  result->exits = group_exits(std::move(leaving));
  if (is_shared) share(shared, reports, findings.all_leaving ? &findings : nullptr, *result);
  return results_.emplace(key, std::move(result)).first->second.get();
}

WalkFindings MaskStore::run(int32_t state, int32_t exit_set, Leaving leaving) {
  if (origins(exit_set).size() >= kFewOrigins && nodes_below(exit_set) <= kMostMerged) {
    // Most sets of large grammars come once, for which merging takes longer than walking.
    const bool came_before = !walked_exit_sets_.insert(exit_set).second;
    if (const MergedTrie* rests = merged_trie(exit_set, came_before))
      return walk_.run(state, *rests, leaving);
  }
  const std::vector<int32_t> from(origins(exit_set).begin(), origins(exit_set).end());
  return walk_.run(state, from, false, leaving);
}

size_t MaskStore::nodes_below(int32_t exit_set) const {
  const auto trie = vocabulary_->trie();
  size_t nodes = 0;
  for (const int32_t node : origins(exit_set)) nodes += trie[node].subtree_end - node;
  return nodes;
}

// Adds to `findings` what inner frames do with the places handed over to them, and then those who wait for
// the frames to end. Returns rows of the tokens that the frames consume.
std::vector<const Row*> MaskStore::take_over(WalkFindings& findings) {
  WalkAutomaton& walker = walk_.walker();
  std::vector<const Row*> rows;
  std::set<std::pair<int32_t, int32_t>> resumed;  // walker states and exit sets
  for (size_t i = 0; i < findings.handed_over.size(); ++i) {
    const auto [state, node] = findings.handed_over[i];
    const int32_t place = exit_sets_.intern({&node, 1});
    for (const Item& item : walker.items(state))
      for (const CountedResult& part : results_of_item(walker.arena(), item, place, true)) {
        if (!part.result->row->empty()) rows.push_back(part.result->row);
        for (const Exit& exit : part.result->exits) {
          const int32_t next = walker.resumed(part.parents, exit.reports);
          if (next != kNone && resumed.emplace(next, exit.exit_set).second)
            go_on(next, exit.exit_set, findings);
        }
      }
  }
  return rows;
}

// Adds what `state` does with the rests of tokens of an exit set.
void MaskStore::go_on(int32_t state, int32_t exit_set, WalkFindings& findings) {
  WalkAutomaton& walker = walk_.walker();
  const std::vector<int32_t> places(origins(exit_set).begin(), origins(exit_set).end());
  if (walker.reports(state) != 0) walk_.add_leaving(walker.reports(state), places, findings);
  if (!walker.has_items(state)) return;
  const WalkFindings more = run(state, exit_set);
  findings.consumed.insert(findings.consumed.end(), more.consumed.begin(), more.consumed.end());
  findings.leaving.insert(findings.leaving.end(), more.leaving.begin(), more.leaving.end());
  findings.handed_over.insert(findings.handed_over.end(), more.handed_over.begin(), more.handed_over.end());
  findings.sets.insert(findings.sets.end(), more.sets.begin(), more.sets.end());
  findings.all_leaving &= more.all_leaving;
}

// Token sets stand at token boundaries only.
const Row* MaskStore::with_token_sets(const Row* row, int32_t state, int32_t exit_set) {
  if (exit_set != kWholeTrie || !automaton_.has_token_sets()) return row;
  for (const int32_t set : walk_.walker().token_sets(state)) {
    const Row* tokens = token_set_row(set);
    if (!tokens->empty()) row = row->empty() ? tokens : keep(Row::merge(*vocabulary_, *row, *tokens));
  }
  return row;
}

const Row* MaskStore::token_set_mask(int32_t macro) {
  const std::lock_guard lock(mutex_);
  return with_token_sets(nothing_, walk_.walker().state_of({macro, kBaseParents}), kWholeTrie);
}

const Row* MaskStore::token_set_row(int32_t set) {
  const Row*& row = token_set_rows_[set];
  if (row == nullptr) {
    const TokenSet& tokens = automaton_.nfa().token_sets()[set];
    std::vector<uint32_t> words(vocabulary_->mask_words(), 0);
    for (int32_t id = 0; id < vocabulary_->size(); ++id)
      if (tokens.contains(id)) words[id / 32] |= uint32_t{1} << (id % 32);
    row = keep(Row::from_words(std::move(words)));
  }
  return row;
}

// From pairs of a report set and a trie node.
std::vector<Exit> MaskStore::group_exits(std::vector<std::pair<int32_t, int32_t>> leaving) {
  std::sort(leaving.begin(), leaving.end());
  leaving.erase(std::unique(leaving.begin(), leaving.end()), leaving.end());
  std::vector<Exit> exits;
  for (size_t i = 0; i < leaving.size();) {
    std::vector<int32_t> nodes;
    const int32_t reports = leaving[i].first;
    for (; i < leaving.size() && leaving[i].first == reports; ++i) nodes.push_back(leaving[i].second);
    exits.push_back({reports, exit_sets_.intern(nodes)});
  }
  return exits;
}

const Row* MaskStore::compute_merged(uint64_t key, const Row& a, const Row& b) {
  const std::lock_guard lock(mutex_);
  if (const uint64_t found = merged_.find(key)) return reinterpret_cast<const Row*>(found);
  const Row* row = keep(Row::merge(*vocabulary_, a, b));
  merged_.insert(key, reinterpret_cast<uint64_t>(row));
  update_memory();
  return row;
}

// Equal rows are one.
const Row* MaskStore::keep(Row row) {
  const uint64_t hash = row.hash();
  const auto [first, last] = rows_by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (known->second->equals(row)) return known->second;
  row.finish(*vocabulary_, static_cast<uint32_t>(rows_.size()));
  rows_.push_back(std::make_unique<Row>(std::move(row)));
  row_bytes_ += rows_.back()->own_bytes();
  if (const MaskWords* base = rows_.back()->base(); base != nullptr && bases_.insert(base).second)
    row_bytes_ += base->memory_bytes();
  rows_by_hash_.emplace(hash, rows_.back().get());
  return rows_.back().get();
}

void MaskStore::update_memory() {
  memory_bytes_.store(row_bytes_ + walk_.walker().memory_bytes() + exit_sets_.memory_bytes() +
                          results_.size() * (sizeof(WalkResult) + 96) +
                          alike_results_.size() * (sizeof(Triple) + 48) + plain_results_.memory_bytes() +
                          merged_.memory_bytes(),
                      std::memory_order_relaxed);
}

}  // namespace syntagma
