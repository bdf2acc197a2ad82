// Where what two states do with the vocabulary differs.
#include <algorithm>
#include <utility>

#include "automaton/time_limit.hpp"
#include "mask/vocabulary_walk.hpp"

namespace syntagma {
namespace {

constexpr size_t kLargeDifference = 4'000;  // nodes of a comparison that cost more than a walk of its own
constexpr uint8_t kFirstLead = 0xC2;        // of the bytes that begin a character outside ASCII
constexpr int kLongestEscape = 12;          // bytes, as of a pair of surrogates

}  // namespace

WalkDifference VocabularyWalk::compare(int32_t start, int32_t other, uint32_t origin) {
  walker_.begin_walk();
  WalkDifference found;
  const auto trie = vocabulary_.trie();
  const WalkAutomaton::UsualText text = walker_.usual_text(start, other);
  path_[trie[origin].depth].enter(start, 0, other, text.reading);
  size_t visited = 0;
  std::pair<int32_t, int32_t> made{kNone, kNone};  // the last state of the Nfa that got one of ours
  const ByteSet differing = text.reading != kNone ? walker_.differing_bytes(text, text.reading)
                                                  : walker_.differing_bytes(start, other);
  for (uint32_t node = first_child(origin, differing); node < trie[origin].subtree_end;) {
    const TrieNode& n = trie[node];
    count_node();
    const PathEntry& before = path_[n.depth - 1];
    if (!before.live.contains(n.byte)) {
      node = after_subtree(node);
      continue;
    }
    const int32_t theirs = before.other == kNone ? kNone : walker_.next(before.other, n.byte);
    int32_t mine = before.state;
    if (before.reading != kNone) {
      const int32_t reading = walker_.text_target(before.reading, n.byte);
      if (reading != kNone && theirs == other) {
        if (++visited > kLargeDifference) {
          found.too_large = true;
          return found;
        }
        path_[n.depth].enter(start, 0, other, reading);
        node = n.subtree_end == node + 1 ? after_subtree(node)
                                         : first_child(node, walker_.differing_bytes(text, reading));
        continue;
      }
      if (made.first != before.reading)
        made = {before.reading, walker_.state_of_reading(start, before.reading)};
      mine = made.second;
    }
    if (mine != kNone) mine = walker_.next(mine, n.byte);
    if (mine == theirs || (n.byte >= kFirstLead && walker_.continue_alike(mine, theirs))) {
      node = after_subtree(node);
      continue;
    }
    if (++visited > kLargeDifference) {
      found.too_large = true;
      return found;
    }
    const auto [first, last] = vocabulary_.ranks_at(node);
    if (first != last && (mine == kNone) != (theirs == kNone))
      (theirs == kNone ? found.added : found.removed).emplace_back(first, last);
    const auto leaves = [&](int32_t state, auto& places) {
      const int32_t reports = state == kNone ? 0 : walker_.reports(state);
      if (reports != 0 && may_continue(node, reports))
        places.emplace_back(reports, static_cast<int32_t>(node));
    };
    leaves(mine, found.entered);
    leaves(theirs, found.left);
    path_[n.depth].enter(mine, 0, theirs);
    node = n.subtree_end == node + 1 ? after_subtree(node)
                                     : first_child(node, walker_.differing_bytes(mine, theirs));
  }
  return found;
}

WalkAutomaton::UsualText WalkAutomaton::usual_text(int32_t start, int32_t usual) {
  UsualText text;
  const auto key = keys_[start];
  if (key.size() != 3 || reports(usual) != 0) return text;
  const int32_t macro = key[1], reading = automaton_.state(macro).lone_state;
  const int letter = reading == kNone ? -1 : automaton_.usual_letter(macro);
  if (letter < 0 || !may_be_text(reading)) return text;
  const int32_t target = automaton_.nfa().only_target(reading, static_cast<uint8_t>(letter));
  if (target < 0) return text;
  const auto [known, added] = usual_facts_.try_emplace(usual);
  text = {start, reading, usual, target, &known->second};
  if (!added) return text;
  const ByteSet live = live_bytes(usual);
  for (int byte = live.next(-1); byte < 256; byte = live.next(byte))
    if (next(usual, static_cast<uint8_t>(byte)) == usual)
      known->second.looping.add(static_cast<uint8_t>(byte));
  return text;
}

const ByteSet& WalkAutomaton::differing_bytes(const UsualText& text, int32_t reading) {
  const auto found = text.facts->differing.find(reading);
  if (found != text.facts->differing.end()) return found->second;
  ByteSet differing = live_bytes(text.state), seen, again;  // `again`: which several edges read
  for (const ByteEdge& edge : automaton_.nfa().byte_edges(reading)) {
    ByteSet bytes;
    bytes.add_range(edge.low, edge.high);
    ByteSet common = bytes;
    common.intersect(seen);
    again.merge(common);
    seen.merge(bytes);
    const ByteSet alike = alike_bytes(text, reading, edge, bytes);
    bytes.remove(alike);
    differing.remove(alike);
    differing.merge(bytes);
  }
  differing.merge(again);
  return text.facts->differing[reading] = differing;
}

// Those of `bytes`, which an edge reads, after which everything is as after the same byte in the usual state.
ByteSet WalkAutomaton::alike_bytes(const UsualText& text, int32_t reading, const ByteEdge& edge,
                                   const ByteSet& bytes) {
  UsualFacts& facts = *text.facts;
  const bool is_usual = edge.target == text.target;
  if (is_usual && facts.looping.contains_all(bytes)) return bytes;
  // The edges that do not follow the text are those of all its places.
  const uint64_t key = static_cast<uint64_t>(edge.target) << 16 | edge.low << 8 | edge.high;
  if (facts.alike.contains(key)) return bytes;
  ByteSet alike = bytes;
  for (int byte = edge.low, end = 0; byte <= edge.high; byte = end) {
    TimeLimit::tick();
    end = after_class(byte);
    if (leads_alike(text, reading, edge, static_cast<uint8_t>(byte))) continue;
    for (int other = byte; other < end; ++other) alike.remove(static_cast<uint8_t>(other));
  }
  if (alike == bytes) facts.alike.insert(key);
  return alike;
}

// Whether after `byte`, which leads along `edge`, everything is as after the same byte in the usual state.
bool WalkAutomaton::leads_alike(const UsualText& text, int32_t reading, const ByteEdge& edge, uint8_t byte) {
  const int32_t theirs = next(text.state, byte);
  if (theirs == kNone || automaton_.nfa().only_target(reading, byte) != edge.target) return false;
  if (edge.target == text.target) return theirs == text.state;
  if (automaton_.nfa().only_reads(edge.target)) {
    if (theirs == text.state) return false;  // goes on along the excluded text
    return reads_alike(text, edge.target, theirs, 0);
  }
  const auto [known, added] = alike_texts_.try_emplace(Triple{text.state, edge.target, theirs}, false);
  if (added) known->second = next(state_of_reading(text.start, reading), byte) == theirs;
  return known->second;
}

// Whether a state of the Nfa, which only reads bytes, and one that the usual state led to come back to the
// usual state in the same ways: both are within a character, or an escape of one. Recurses for its bytes.
bool WalkAutomaton::reads_alike(const UsualText& text, int32_t reading, int32_t state, int depth) {
  if (depth == kLongestEscape || reports(state) != 0) return false;
  const auto found = alike_texts_.find(Triple{text.state, reading, state});
  if (found != alike_texts_.end()) return found->second;
  const Nfa& nfa = automaton_.nfa();
  ByteSet bytes = live_bytes(state);
  bytes.merge(reading_bytes(reading));
  bool alike = true;
  for (int byte = bytes.next(-1); alike && byte < 256; byte = bytes.next(after_class(byte) - 1)) {
    TimeLimit::tick();
    const int32_t mine = nfa.only_target(reading, static_cast<uint8_t>(byte));
    const int32_t theirs = next(state, static_cast<uint8_t>(byte));
    if (mine == Nfa::kNoTarget && theirs == kNone) continue;
    if (mine == text.target && theirs == text.state) continue;
    alike = mine >= 0 && theirs != kNone && theirs != text.state && nfa.only_reads(mine) &&
            reads_alike(text, mine, theirs, depth + 1);
  }
  return alike_texts_[Triple{text.state, reading, state}] = alike;
}

}  // namespace syntagma
