#include "mask/vocabulary_walk.hpp"

#include <algorithm>
#include <array>

#include "automaton/time_limit.hpp"
#include "mask/nesting.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kHandedOver = 64;  // nodes from which on a look-up is cheaper than walking them
constexpr size_t kLikelyRanges = 48;  // of consumed tokens
constexpr int kMostPlainWalks = 3;    // within one another
constexpr size_t kAhead = 8;  // unplain nodes whose nodes of the trie are asked for before they are needed

}  // namespace

VocabularyWalk::VocabularyWalk(MacroAutomaton& automaton, const Vocabulary& vocabulary)
    : automaton_(automaton), vocabulary_(vocabulary), walker_(automaton, vocabulary.plain_texts()) {
  path_.resize(vocabulary.longest_token() + 1);
}

WalkFindings VocabularyWalk::run(int32_t start, std::span<const int32_t> origins, bool counted,
                                 Leaving leaving) {
  walker_.begin_walk();
  visited_ = 0;
  WalkFindings findings;
  findings.consumed.reserve(kLikelyRanges);
  if (origins.size() == 1 && origins[0] == 0) {
    const std::vector<int32_t> readings = counted ? std::vector<int32_t>{} : walker_.readings(start);
    for (const int32_t reading : readings) {
      path_[0].enter(start, 0, kNone, reading);
      walk_nodes(first_child(0, walker_.reading_bytes(reading)), vocabulary_.trie()[0].subtree_end, false,
                 leaving, findings);
    }
    if (!readings.empty()) return findings;
    if (const ConsumedRuns consumed = consumed_runs(start, counted); consumed.runs != nullptr) {
      walk_around_runs(start, consumed, counted, leaving, findings);
      return findings;
    }
  }
  for (const int32_t origin : origins)
    walk_below(static_cast<uint32_t>(origin), start, counted, leaving, findings);
  return findings;
}

// The state before the byte of a node, from `start` at the root.
int32_t VocabularyWalk::state_before(uint32_t node, int32_t start) {
  int32_t state = start;
  for (const char c : vocabulary_.text_before(node)) state = walker_.next(state, static_cast<uint8_t>(c));
  return state;
}

// From the root, without a step for each run.
void VocabularyWalk::walk_around_runs(int32_t start, const ConsumedRuns& consumed, bool counted,
                                      Leaving leaving, WalkFindings& findings) {
  const auto trie = vocabulary_.trie();
  const ByteRuns& runs = *consumed.runs;
  const auto is_within = [&](const ByteRuns::End& end) { return trie[end.last].depth <= consumed.longest; };
  if (runs.tokens() != nullptr) {
    if (consumed.longest < runs.longest()) {
      std::vector<uint32_t> words = vocabulary_.tokens_up_to(consumed.longest);
      for (size_t i = 0; i < words.size(); ++i) words[i] &= runs.tokens()->words()[i];
      findings.sets.push_back(std::make_shared<MaskWords>(std::move(words)));
    } else {
      findings.sets.push_back(runs.tokens());
    }
  }
  findings.longest_run = consumed.longest;
  for (int byte = consumed.behind.next(-1); byte < 256; byte = consumed.behind.next(byte))
    for (const ByteRuns::End& end : runs.ends(static_cast<uint8_t>(byte))) {
      if (!is_within(end)) continue;
      const TrieNode& n = trie[end.node];
      path_[n.depth - 1].enter(state_before(end.node, start), counted ? n.depth - 1 : 0);
      walk_nodes(end.node, n.subtree_end, counted, leaving, findings);
    }
  if (consumed.reports != 0) {
    findings.all_leaving = false;
    const ByteSet& next = follow(consumed.reports).bytes;
    for (int byte = next.next(-1); byte < 256; byte = next.next(byte))
      for (const ByteRuns::End& end : runs.ends(static_cast<uint8_t>(byte)))
        if (is_within(end))
          findings.leaving.push_back(
              {consumed.reports, static_cast<int32_t>(end.last), trie[end.last].depth});
  }
  ByteSet others = walker_.live_bytes(start);
  others.remove(runs.bytes());
  walk_root(start, others, counted, leaving, findings);
}

void VocabularyWalk::walk_below(uint32_t origin, int32_t start, bool counted, Leaving leaving,
                                WalkFindings& findings) {
  const auto trie = vocabulary_.trie();
  path_[trie[origin].depth].enter(start, 0);
  const int32_t extra = counted ? walker_.iterations_ahead(start) - trie[origin].characters : 0;
  walk_nodes(first_below(origin, counted, extra, leaving, findings), trie[origin].subtree_end, counted,
             leaving, findings);
}

// From node `first`, whose parent's state is on the path, up to node `end`.
void VocabularyWalk::walk_nodes(uint32_t first, uint32_t end, bool counted, Leaving leaving,
                                WalkFindings& findings) {
  const auto trie = vocabulary_.trie();
  for (uint32_t node = first; node < end;) {
    if (visited_ >= kLongWalk && !counted) {
      node = walk_text_states(node, end, leaving, findings);
      if (node >= end) break;
    }
    const TrieNode& n = trie[node];
    __builtin_prefetch(&trie[0] + n.subtree_end);
    count_node();
    ++visited_;
    const PathEntry& before = path_[n.depth - 1];
    const auto [state, reading] =
        counted ? Place{walker_.next(before.state, n.byte)} : next_place(before, n.byte);
    if (state == kNone) {
      node = after_subtree(node);
      continue;
    }
    if (reading != kNone) {
      findings.consume(vocabulary_.ranks_at(node), 0);
      path_[n.depth].enter(state, 0, kNone, reading);
      node =
          n.subtree_end == node + 1 ? after_subtree(node) : first_child(node, walker_.reading_bytes(reading));
      continue;
    }
    node = arrive(node, state, counted, leaving, findings);
  }
}

// With the state that the byte of `node` led to; returns the node to go on with.
uint32_t VocabularyWalk::arrive(uint32_t node, int32_t state, bool counted, Leaving leaving,
                                WalkFindings& findings) {
  const TrieNode& n = vocabulary_.trie()[node];
  const PathEntry& before = path_[n.depth - 1];
  const auto [iterations, extra] = step_to(state, before, n.byte, n.characters, counted, findings);
  findings.consume(vocabulary_.ranks_at(node), extra);
  if (n.subtree_end == node + 1) return after_subtree(node);
  const bool is_handed_over =
      !counted && n.subtree_end - node >= kHandedOver && walker_.has_inner_frame(state);
  const Consumption below =
      is_handed_over ? Consumption::kNone : consumption_below(before.state, state, node, counted);
  if (below != Consumption::kNone) {
    const bool is_total = below == Consumption::kTotal;
    findings.consume(vocabulary_.ranks_below(node), is_total ? extra + n.characters : extra, is_total);
    return after_subtree(node);
  }
  add_leaving_at(node, state, iterations, leaving, findings);
  if (is_handed_over) findings.handed_over.push_back({state, static_cast<int32_t>(node)});
  if (is_handed_over || !walker_.has_items(state)) return after_subtree(node);
  path_[n.depth].enter(state, iterations);
  return first_below(node, counted, extra, leaving, findings);
}

// After one more byte.
VocabularyWalk::Place VocabularyWalk::next_place(const PathEntry& before, uint8_t byte) {
  if (before.reading == kNone) {
    const int32_t reading = walker_.reading_target(before.state, byte);
    return reading != kNone ? Place{before.state, reading} : Place{walker_.next(before.state, byte)};
  }
  const int32_t reading = walker_.reading_next(before.reading, byte);
  if (reading == WalkAutomaton::kDead) return {kNone};
  if (reading != kNone) return {before.state, reading};
  return {walker_.next(walker_.state_of_reading(before.state, before.reading), byte)};
}

VocabularyWalk::Step VocabularyWalk::step_to(int32_t state, const PathEntry& before, uint8_t byte,
                                             int32_t characters, bool counted, WalkFindings& findings) {
  if (!counted) return {0, 0};
  const uint8_t finished = walker_.finished_iterations(before.state, byte);
  if (finished == kUncountable) findings.countable = false;
  const int32_t iterations = before.iterations + finished;
  return {iterations, iterations - characters + walker_.iterations_ahead(state)};
}

void VocabularyWalk::add_leaving_at(uint32_t node, int32_t state, int32_t iterations, Leaving leaving,
                                    WalkFindings& findings) {
  const int32_t reports = walker_.reports(state);
  if (reports != 0 && (leaving == Leaving::kAll || may_continue(node, reports)))
    findings.leaving.push_back({reports, static_cast<int32_t>(node), iterations});
}

// The first child of `node` that its state on the path can read; or what comes after the node.
uint32_t VocabularyWalk::first_below(uint32_t node, bool counted, int32_t extra, Leaving leaving,
                                     WalkFindings& findings) {
  const TrieNode& n = vocabulary_.trie()[node];
  const uint32_t enough = visited_ < kLongWalk ? kLargeSubtree : kSmallSubtree;
  if (n.subtree_end - node >= enough && plain_walks_ < kMostPlainWalks)
    if (const ConsumedText text = consumed_text(node, counted, extra); text.plain != nullptr) {
      walk_plain(node, text, counted, leaving, findings);
      return n.subtree_end;
    }
  if (node == 0 && !counted && vocabulary_.fan(0) != nullptr) {
    const int32_t start = path_[0].state;
    walk_root(start, walker_.live_bytes(start), false, leaving, findings);
    return n.subtree_end;
  }
  return first_child(node, walker_.live_bytes(path_[n.depth].state));
}

// From the root, which has many children, over those whose byte is in `bytes`: in the order of bytes, so that
// what is consumed is in the order of ranks, and with the characters of a group at once where all of them
// lead to one state.
void VocabularyWalk::walk_root(int32_t start, const ByteSet& bytes, bool counted, Leaving leaving,
                               WalkFindings& findings) {
  const FirstCharacters& first = vocabulary_.first_characters();
  const Fan& fan = *vocabulary_.fan(0);
  const auto trie = vocabulary_.trie();
  std::array<BehindFirst, kGroupCount> behind{};
  for (int group = kFirstLeadGroup; group <= kLastLeadGroup && !counted; ++group) {
    if (first.tokens(group) == nullptr || !bytes.contains_all(first.leads(group))) continue;
    const int32_t target = walker_.only_target(start, GroupSet{1} << group);
    if (target == kNone) continue;
    behind[group] = behind_first(target, leaving);
    findings.sets.push_back(first.tokens(group));
  }
  for (uint32_t node = fan.next_child(-1, bytes); node != 0; node = fan.next_child(trie[node].byte, bytes)) {
    const BehindFirst& known = behind[group_of(trie[node].byte)];
    if (known.state != kNone) {
      walk_behind_first(trie[node].byte, start, known, leaving, findings);
    } else {
      path_[0].enter(start, 0);
      walk_nodes(node, trie[node].subtree_end, counted, leaving, findings);
    }
  }
}

VocabularyWalk::BehindFirst VocabularyWalk::behind_first(int32_t state, Leaving leaving) {
  BehindFirst behind{state};
  if (walker_.has_items(state)) behind.next = groups_of(walker_.live_bytes(state));
  const int32_t reports = walker_.reports(state);
  if (reports != 0) behind.next |= leaving == Leaving::kFollowed ? follow(reports).groups : ~GroupSet{0};
  return behind;
}

// Tokens that begin with one of the characters of a lead byte and go on.
void VocabularyWalk::walk_behind_first(uint8_t lead, int32_t start, const BehindFirst& behind,
                                       Leaving leaving, WalkFindings& findings) {
  const auto trie = vocabulary_.trie();
  const FirstCharacters& first = vocabulary_.first_characters();
  for (const FirstCharacters::Longer& longer : first.longer(lead)) {
    count_node();
    if ((longer.groups_below & behind.next) == 0) continue;
    if (walker_.loops_over(behind.state, longer.groups_below)) {
      findings.consume({longer.first_rank, longer.end_rank}, 0);
      continue;
    }
    const TrieNode& n = trie[longer.node];
    path_[n.depth - 1].enter(behind.state, 0);
    walk_nodes(arrive(longer.node, behind.state, false, leaving, findings), n.subtree_end, false, leaving,
               findings);
  }
  for (const uint32_t node : first.broken(lead)) {
    path_[trie[node].depth - 1].enter(state_before(node, start), 0);
    walk_nodes(node, trie[node].subtree_end, false, leaving, findings);
  }
}

// The first child of a node on the path whose byte is in `wanted`, or what comes after the node. Where the
// node has few children, any child; then it is for the walk to look at their bytes.
uint32_t VocabularyWalk::first_child(uint32_t node, const ByteSet& wanted) {
  const TrieNode& n = vocabulary_.trie()[node];
  PathEntry& entry = path_[n.depth];
  entry.live = wanted;
  entry.fan = vocabulary_.fan(node);
  entry.end = n.subtree_end;
  if (entry.fan == nullptr) return node + 1;
  const uint32_t child = entry.fan->next_child(-1, wanted);
  return child != 0 ? child : n.subtree_end;
}

// Below a node whose state, on the path, consumes all plain text: with a step for what is not plain only.
void VocabularyWalk::walk_plain(uint32_t node, const ConsumedText& text, bool counted, Leaving leaving,
                                WalkFindings& findings) {
  const Nesting nesting(plain_walks_);
  const auto [begin, end] = vocabulary_.ranks_below(node);
  uint32_t rank = begin;
  const auto trie = vocabulary_.trie();
  const auto unplain = text.plain->unplain_below(trie[node], node);
  const int32_t start = path_[trie[node].depth].state;
  auto exit = text.exits.begin();
  for (size_t i = 0; i < unplain.size() || exit != text.exits.end();) {
    if (exit != text.exits.end() && (i == unplain.size() || exit->node <= unplain[i].node)) {
      const auto [at, before] = *exit++;
      const TrieNode& n = trie[at];
      if (n.first_rank < rank) continue;  // below what has been walked
      findings.consume({rank, n.first_rank}, text.extra, text.is_total);
      int32_t state = start;
      for (const char c : before)
        if (state != kNone) state = walker_.next(state, static_cast<uint8_t>(c));
      path_[n.depth - 1].enter(state, 0);
      if (state != kNone) walk_nodes(at, n.subtree_end, counted, leaving, findings);
      rank = trie[n.subtree_end].first_rank;
      while (i < unplain.size() && unplain[i].node < n.subtree_end) ++i;
      continue;
    }
    const UnplainNode& n = unplain[i];
    if (i + kAhead < unplain.size() && !unplain[i + kAhead].has_plain_byte)
      __builtin_prefetch(&trie[unplain[i + kAhead].node]);
    count_node();
    findings.consume({rank, n.first_rank}, text.extra, text.is_total);
    const PathEntry& before = path_[n.depth - 1];
    const int32_t state = walker_.next(before.state, n.byte);
    if (state == kNone || !n.has_plain_byte) {
      if (state != kNone) walk_nodes(n.node, trie[n.node].subtree_end, counted, leaving, findings);
      rank = n.end_rank;
      i += n.count;
      continue;
    }
    const Step step = step_to(state, before, n.byte, n.characters, counted, findings);
    findings.consume({n.first_rank, n.below_rank}, step.extra);
    add_leaving_at(n.node, state, step.iterations, leaving, findings);
    path_[n.depth].enter(state, step.iterations);
    rank = n.below_rank;
    ++i;
  }
  findings.consume({rank, end}, text.extra, text.is_total);
}

// What comes after the subtree of `node`, without siblings that the parent's state cannot read.
uint32_t VocabularyWalk::after_subtree(uint32_t node) const {
  const TrieNode& n = vocabulary_.trie()[node];
  const PathEntry& parent = path_[n.depth - 1];
  if (parent.fan == nullptr) return n.subtree_end;
  const uint32_t sibling = parent.fan->next_child(n.byte, parent.live);
  return sibling != 0 ? sibling : parent.end;
}

WalkFindings VocabularyWalk::run(int32_t start, const MergedTrie& rests, Leaving leaving) {
  walker_.begin_walk();
  WalkFindings findings;
  const auto consume = [&](std::span<const uint32_t> ranks) {
    for (const uint32_t rank : ranks) findings.consumed.push_back({rank, rank + 1, 0});
  };
  path_[0].enter(start, 0);
  for (uint32_t node = 1; node < rests.size();) {
    const MergedTrie::Node& n = rests.node(node);
    count_node();
    const int32_t before = path_[n.depth - 1].state;
    const int32_t state = walker_.next(before, n.byte);
    if (state == kNone) {
      node = n.subtree_end;
      continue;
    }
    consume(rests.ranks_at(node));
    if (loops_over(before, state, n.groups_below)) {
      consume(rests.ranks_below(node));
      node = n.subtree_end;
      continue;
    }
    const int32_t reports = walker_.reports(state);
    if (reports != 0) add_leaving(reports, rests.places(node), findings, leaving);
    path_[n.depth].enter(state, 0);
    node = walker_.has_items(state) ? node + 1 : n.subtree_end;
  }
  return findings;
}

void VocabularyWalk::add_leaving(int32_t reports, std::span<const int32_t> nodes, WalkFindings& findings,
                                 Leaving leaving) {
  for (const int32_t node : nodes)
    if (leaving == Leaving::kAll || may_continue(static_cast<uint32_t>(node), reports))
      findings.leaving.push_back({reports, node, 0});
}

const VocabularyWalk::Follow& VocabularyWalk::follow(int32_t reports) {
  const auto [entry, added] = follow_.try_emplace(reports);
  Follow& follow = entry->second;
  if (!added) return follow;
  follow.bytes = automaton_.follow(reports);
  follow.groups = groups_of(follow.bytes);
  follow.id = follow_ids_.try_emplace(follow.bytes, static_cast<int32_t>(follow_ids_.size())).first->second;
  return follow;
}

bool VocabularyWalk::may_continue(uint32_t node, int32_t reports) {
  const Follow& next = follow(reports);
  const auto trie = vocabulary_.trie();
  if ((trie[node].groups_below & next.groups) == 0) return false;
  for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end)
    if (next.bytes.contains(trie[child].byte)) return true;
  return false;
}

}  // namespace syntagma
