// What a state of a walk consumes at once, without a step for every node.
#include <algorithm>
#include <utility>
#include <vector>

#include "automaton/time_limit.hpp"
#include "mask/vocabulary_walk.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kHugeSubtree =
    16'000;                             // nodes from which on all states that text leads to are looked into
constexpr uint32_t kWorthExits = 96;    // nodes from which on exits of hubs are looked for
constexpr size_t kMostRunStates = 160;  // that are looked into for runs of bytes
constexpr size_t kLikelyRunStates = 8;
constexpr size_t kFewRunStates = 48;  // where each of them counts, or may end the frame

}  // namespace

// Runs of which a state reads all up to a length, before it leads anywhere else; or none.
VocabularyWalk::ConsumedRuns VocabularyWalk::consumed_runs(int32_t start, bool counted) {
  const ByteSet live = walker_.live_bytes(start);
  if (vocabulary_.fan(0) == nullptr) return {};
  ConsumedRuns consumed;
  if (!live.contains('a')) {
    unsigned set = 0;
    for (size_t i = 0; i < kSpaces.size(); ++i)
      if (live.contains(kSpaces[i])) set |= 1U << i;
    if (set == 0) return {};
    consumed.runs = &vocabulary_.space_runs(set);
    return reads_runs(start, counted, consumed) ? consumed : ConsumedRuns{};
  }
  if (live.contains_all(vocabulary_.plain_texts().back().first_bytes)) return {};
  for (size_t i = 0; i < kLetterSets; ++i) {
    if (!live.contains_all(letter_sets()[i])) continue;
    consumed.runs = &vocabulary_.letter_runs(i);
    if (reads_runs(start, counted, consumed)) return consumed;
  }
  return {};
}

// Whether all runs up to a length can be read, and no longer ones, and what else is to be known of that.
// When iterations are counted, every byte must finish one.
bool VocabularyWalk::reads_runs(int32_t start, bool counted, ConsumedRuns& consumed) {
  const ByteRuns& runs = *consumed.runs;
  std::vector<std::pair<int32_t, int>> reached;  // with the bytes that it takes
  reached.reserve(kLikelyRunStates);
  reached.emplace_back(start, 0);
  bool comes_again = false;
  const int first = runs.bytes().next(-1);
  consumed = {&runs, runs.longest()};
  for (size_t i = 0; i < reached.size(); ++i) {
    const auto [from, depth] = reached[i];
    const ByteSet live = walker_.live_bytes(from);
    if (i > 0) consumed.behind.merge(live);
    if (depth == runs.longest()) continue;
    if (!live.intersects(runs.bytes())) {
      if (depth == 0 || reached.back().second > depth) return false;
      consumed.longest = depth;
      continue;
    }
    if (depth == consumed.longest || !live.contains_all(runs.bytes())) return false;
    for (int byte = runs.bytes().next(-1); byte < 256; byte = runs.bytes().next(byte)) {
      TimeLimit::tick();
      const int32_t target = walker_.next(from, static_cast<uint8_t>(byte));
      if (target == kNone) return false;
      const int32_t reports = walker_.reports(target);
      if (reports != consumed.reports && (i > 0 || byte > first)) return false;
      consumed.reports = reports;
      if (counted && (walker_.finished_iterations(from, static_cast<uint8_t>(byte)) != 1 ||
                      walker_.iterations_ahead(target) != 0))
        return false;
      // The start is not among those that were reached.
      const auto known = std::find_if(reached.begin() + 1, reached.end(),
                                      [&](const auto& entry) { return entry.first == target; });
      if (known == reached.end())
        reached.emplace_back(target, depth + 1);
      else
        comes_again |= known->second <= depth;
    }
    const bool is_simple = !counted && consumed.reports == 0;
    if (reached.size() > (is_simple ? kMostRunStates : kFewRunStates)) return false;
  }
  if (comes_again && consumed.longest < runs.longest()) return false;
  return consumed.reports == 0 || !runs.bytes().intersects(follow(consumed.reports).bytes);
}

// Plain text that the state of a node on the path consumes below it, like `consumption_below`, and how its
// tokens are counted: `extra` is that of the node before.
VocabularyWalk::ConsumedText VocabularyWalk::consumed_text(uint32_t node, bool counted, int32_t extra) {
  const TrieNode& n = vocabulary_.trie()[node];
  const int32_t state = path_[n.depth].state;
  // To look into all states that text leads to takes long where it leads to many.
  const bool is_narrow = walker_.is_narrow(state), is_long = is_narrow && visited_ >= kLongWalk,
             is_huge = is_narrow && n.subtree_end - node >= kHugeSubtree;
  const auto texts = vocabulary_.plain_texts();
  for (size_t kind = 0; kind < texts.size(); ++kind) {
    const PlainText& plain = texts[kind];
    if (!walker_.live_bytes(state).contains_all(plain.first_bytes)) continue;
    int32_t loop = state;
    if (counted && is_huge && !walker_.loops_over(loop, plain.groups))
      loop = walker_.only_target(state, plain.groups);  // as behind the first character of a text
    const bool loops = loop != kNone && walker_.loops_over(loop, plain.groups);
    if (counted) {
      const Consumption below = loops ? counted_consumption(state, loop, plain.groups) : Consumption::kNone;
      if (below == Consumption::kNone) continue;
      const bool is_total = below == Consumption::kTotal;
      const int32_t ahead = walker_.iterations_ahead(loop) - walker_.iterations_ahead(state);
      return {&plain, extra + ahead + (is_total ? n.characters : 0), is_total};
    }
    if (loops || ((walker_.safe_known(state) || is_huge || is_long) &&
                  (plain.groups & ~walker_.safe_groups(state)) == 0))
      return {&plain};
    if (is_long && walker_.survives(state, kind, vocabulary_.height(node))) return {&plain};
    if (is_long || is_huge)
      if (ConsumedText text{&plain}; finds_exits(node, kind, text.exits)) return text;
  }
  return {};
}

// Where plain text below a node leaves the surroundings of the hub that is the node's state, and may come to
// a dead end there. False if it is no hub, or has many exits for the nodes there.
bool VocabularyWalk::finds_exits(uint32_t node, size_t kind, std::vector<PlainExit>& exits) {
  const auto trie = vocabulary_.trie();
  const TrieNode& n = trie[node];
  const Hub* hub = walker_.hub(path_[n.depth].state, kind);
  if (hub == nullptr || n.subtree_end - node < kWorthExits + 8 * hub->exits.size()) return false;
  for (size_t first = 0, last = 0; first < hub->exits.size(); first = last) {
    const Hub::Exit& exit = hub->exits[first];
    while (last < hub->exits.size() && hub->exits[last].first == exit.first &&
           hub->exits[last].second == exit.second)
      ++last;
    int survived = TextSurvival::kForever;
    for (size_t i = first; i < last; ++i)
      survived = std::min(survived,
                          hub->exits[i].target == kNone ? -1 : walker_.survived(hub->exits[i].target, kind));
    if (survived == TextSurvival::kForever) continue;
    const int height = std::min(survived + 1, Vocabulary::kTallest);  // from which on it matters
    for (int c = BytePairs::height_class(height); c < BytePairs::kHeights; ++c) {
      const auto nodes = vocabulary_.byte_pairs().nodes(exit.first, exit.second, c);
      const auto is_before = [](const BytePairs::Node& one, uint32_t bound) { return one.node < bound; };
      auto at = std::lower_bound(nodes.begin(), nodes.end(), node + 1, is_before);
      for (; at != nodes.end() && at->node < n.subtree_end; ++at) {
        count_node();
        if (at->depth >= n.depth + 2 && at->height >= height) exits.push_back({at->node, {}});
      }
    }
  }
  std::sort(exits.begin(), exits.end(),
            [](const PlainExit& a, const PlainExit& b) { return a.node < b.node; });
  // Looked up at once, since each look-up waits for memory.
  for (PlainExit& exit : exits) {
    exit.before = vocabulary_.text_before(exit.node).substr(n.depth);
    __builtin_prefetch(exit.before.data());
  }
  return true;
}

// Whether `state` loops over some groups; where `before` led to it, which is not worked out unless that is
// the same.
bool VocabularyWalk::loops_over(int32_t before, int32_t state, GroupSet groups) {
  return (state == before || walker_.loop_known(state)) && walker_.loops_over(state, groups);
}

// Whether `state` loops over every byte below `node`, or consumes all tokens there otherwise. When iterations
// are counted, every character must be an iteration or none may be, and nobody may be waiting for those bytes
// once the iterations are used up.
VocabularyWalk::Consumption VocabularyWalk::consumption_below(int32_t before, int32_t state, uint32_t node,
                                                              bool counted) {
  const GroupSet below = vocabulary_.trie()[node].groups_below;
  const bool loops = loops_over(before, state, below);
  if (counted) return loops ? counted_consumption(state, state, below) : Consumption::kNone;
  const bool is_consumed =
      loops ||
      (vocabulary_.trie()[node].subtree_end - node >= kLargeSubtree && reads_all_children(state, node) &&
       (below & ~walker_.safe_groups(state)) == 0) ||
      (visited_ >= kLongWalk && walker_.is_narrow(state) && survives_all_below(state, node));
  return is_consumed ? Consumption::kByCharacters : Consumption::kNone;
}

// How texts of some groups are counted that lead from a state to one that loops over them.
VocabularyWalk::Consumption VocabularyWalk::counted_consumption(int32_t from, int32_t loop, GroupSet groups) {
  if ((groups & follow(walker_.reports(loop)).groups) != 0) return Consumption::kNone;
  const WalkAutomaton::CountedGroups first = walker_.counted_groups(from, loop);
  const WalkAutomaton::CountedGroups next = walker_.counted_groups(loop, loop);
  if (walker_.between_iterations(loop) && (groups & ~(first.each & next.each)) == 0)
    return Consumption::kByCharacters;
  return (groups & ~(first.none & next.none)) == 0 ? Consumption::kTotal : Consumption::kNone;
}

// Whether `state` is too far from any dead end for the plain texts below `node`, if there are no others.
bool VocabularyWalk::survives_all_below(int32_t state, uint32_t node) {
  const GroupSet below = vocabulary_.trie()[node].groups_below & ~(GroupSet{1} << kContinuationGroup);
  const auto texts = vocabulary_.plain_texts();
  for (size_t kind = texts.size(); kind-- > 0;)  // the first are the ones that hold most
    if ((below & ~texts[kind].groups) == 0) return walker_.survives(state, kind, vocabulary_.height(node));
  return false;
}

// Whether every byte that comes next below `node` leads somewhere, which says at once of most states that
// they do not consume everything: all that was computed is needed by the walk that goes on then.
bool VocabularyWalk::reads_all_children(int32_t state, uint32_t node) {
  const auto trie = vocabulary_.trie();
  if (const Fan* fan = vocabulary_.fan(node)) {
    if (!walker_.live_bytes(state).contains_all(fan->bytes)) return false;
    for (int byte = fan->bytes.next(-1); byte < 256; byte = fan->bytes.next(byte))
      if (walker_.next(state, static_cast<uint8_t>(byte)) == kNone) return false;
    return true;
  }
  for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end)
    if (walker_.next(state, trie[child].byte) == kNone) return false;
  return true;
}

}  // namespace syntagma
