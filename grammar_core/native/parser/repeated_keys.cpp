// Masks without the tokens that would repeat a key of a list whose keys differ. What came depends on the
// text, so these are taken out of the ordinary mask; only few can be of that kind, and they are tried.
#include <algorithm>
#include <set>
#include <unordered_set>
#include <vector>

#include "automaton/time_limit.hpp"
#include "parser/matcher.hpp"
#include "vocabulary/json_string.hpp"

namespace syntagma {
namespace {

constexpr size_t kFewKeys = 24;  // that begin alike, so few that they are looked at one by one

// What the stacks of some items say of keys.
class KeysInStacks {
 public:
  explicit KeysInStacks(const StackArena& arena) : arena_(arena) {}

  void add(int32_t parents) {
    climb(parents, seen_, StackArena::kKeysInTokens | StackArena::kWithinKey, [&](const StackNode& node) {
      if (node.keys > KeySets::kEmpty) lists.insert(node.keys);
      if (node.keys == StackNode::kWithinKey) add_waiting(node);
      return true;
    });
  }

  std::set<int32_t> lists;    // the sets of keys that came
  std::set<int32_t> waiting;  // those of lists that wait for a key under way

 private:
  // Visits the nodes at and below those of a set, as far as some of them are of interest.
  template <typename Visit>
  void climb(int32_t parents, std::unordered_set<int32_t>& seen, uint8_t interest, Visit goes_on) {
    std::vector<int32_t> pending{parents};
    while (!pending.empty()) {
      const int32_t set = pending.back();
      pending.pop_back();
      if ((arena_.keys(set) & interest) == 0 || !seen.insert(set).second) continue;
      TimeLimit::tick();
      for (const int32_t id : arena_.parents(set))
        if (id != kBaseNode && goes_on(arena_.node(id))) pending.push_back(arena_.node(id).parents);
    }
  }
  void add_waiting(const StackNode& member) {
    climb(member.parents, seen_waiting_, StackArena::kSomeKeys, [&](const StackNode& node) {
      if (node.keys > KeySets::kEmpty) waiting.insert(node.keys);
      return node.keys < 0;
    });
  }

  const StackArena& arena_;
  std::unordered_set<int32_t> seen_, seen_waiting_;
};

// Bytes with which a key that has begun may become some key, whether that came or not.
ByteSet bytes_towards_keys(const KeySets& keys, const JsonStringReader& reader) {
  ByteSet bytes;
  if (reader.is_within_escape()) {  // of which the value does not know yet
    bytes.add_range(0, UINT8_MAX);
    return bytes;
  }
  const KeySets::Continuations next = keys.continuations(reader.value());
  bytes = next.bytes;
  if (next.is_key) bytes.add('"');
  if (bytes.size() > 0) bytes.add('\\');
  return bytes;
}

// Adds where in the trie a key that goes on in some way becomes one of those that came.
void find_repeating_places(const Vocabulary& vocabulary, const KeySets& keys, int32_t came,
                           const JsonStringReader& so_far, std::vector<uint32_t>& places) {
  const auto trie = vocabulary.trie();
  std::vector<std::pair<uint32_t, JsonStringReader>> pending{{0, so_far}};
  while (!pending.empty()) {
    const auto [node, before] = std::move(pending.back());
    pending.pop_back();
    const auto visit = [&, &before = before](uint32_t child) {
      TimeLimit::tick();
      JsonStringReader reader = before;
      if (!reader.read(trie[child].byte)) return;
      if (!reader.has_ended())
        pending.emplace_back(child, std::move(reader));
      else if (keys.has(came, reader.value()))
        places.push_back(child);
    };
    const ByteSet bytes = bytes_towards_keys(keys, before);
    if (const Fan* fan = vocabulary.fan(node)) {
      for (uint32_t child = fan->next_child(-1, bytes); child != 0;
           child = fan->next_child(trie[child].byte, bytes))
        visit(child);
      continue;
    }
    for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end)
      if (bytes.contains(trie[child].byte)) visit(child);
  }
}

}  // namespace

// Adds those of some tokens that a mask allows, by their ranks.
void Matcher::add_allowed(const Row& mask, std::span<const uint32_t> ranks,
                          std::vector<uint32_t>& allowed) const {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(allowed), [&](uint32_t rank) {
    return mask.allows(static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
  });
}

// Whether a token that the ordinary mask allows may come, read as text or as a member of a token set.
bool Matcher::may_come(int32_t id, std::span<const Item> items, size_t longest_new_key) {
  const std::string_view token = grammar_->vocabulary().token(id);
  if (reads(token, items, longest_new_key)) return true;
  if (!grammar_->automaton().has_token_sets() || !grammar_->matches_token_sets(id)) return false;
  Configuration reached;
  stacks_->stepper.step_token(items, id, static_cast<int64_t>(token.size()), reached);
  return reached.alive();
}

// Whether a text may come next where keys differ. Only new keys of so many bytes are told apart.
bool Matcher::reads(std::string_view text, std::span<const Item> items, size_t longest_new_key) {
  stacks_->stepper.reset_work();
  stacks_->stepper.follow_text(nullptr,
                               {static_cast<int64_t>(text_.size()), characters_, tokens_, true, false});
  const bool is_read = read_text(items, text, stacks_->reached, longest_new_key);
  stacks_->stepper.ignore_text();
  return is_read;
}

// `mask`, of an item, without the tokens that hold a key twice: two whole ones, or after the quote that
// begins a key its rest and a whole one. Null if tokens have to be tried for that and `may_try` is not given.
const Row* Matcher::without_double_keys(const Row* mask, const Item& item, bool begins_key, bool may_try) {
  if (!begins_key && (stacks_->arena.keys(item.parents) & StackArena::kWithinKey) != 0) return mask;
  const QuotedTexts& quoted = quoted_texts();
  Suspects suspects;
  add_allowed(*mask, quoted.tokens_with_two(), suspects.doubles);
  if (begins_key) add_allowed(*mask, quoted.tokens_repeating(""), suspects.doubles);
  if (suspects.empty()) return mask;
  return may_try ? without(mask, {&item, 1}, std::move(suspects)) : nullptr;
}

// The string in the middle of which the text ends, read on from where it was read to before.
const JsonStringReader& Matcher::last_string() {
  LastString& last = last_string_;
  while (last.end < text_.size() && last.reader.read(static_cast<uint8_t>(text_[last.end])) &&
         !last.reader.has_ended())
    ++last.end;
  if (last.end == text_.size()) return last.reader;
  last = {};
  last.end = last_quote(text_) + 1;
  for (; last.end < text_.size(); ++last.end) last.reader.read(static_cast<uint8_t>(text_[last.end]));
  return last.reader;
}

// Looks for the tokens that end a key as one of those that came: those, or places in the trie.
void Matcher::find_repetitions(const Row& mask, int32_t came, const JsonStringReader& key,
                               Suspects& suspects) const {
  const KeySets& keys = stacks_->arena.key_sets();
  const std::string& value = key.value();
  const auto suspect_rest = [&](int32_t one) {
    add_allowed(mask, quoted_texts().tokens_ending(keys.value(one).substr(value.size())), suspects.ranks);
  };
  const bool is_one = !key.is_within_escape() && keys.has(came, value);
  if (value.empty() && !key.is_within_escape() && !is_one) {
    keys.for_each_ending(came, suspect_rest);
    return;
  }
  const std::vector<int32_t> longer = keys.beginning_with(value, kFewKeys);
  if (key.is_within_escape() || longer.size() == kFewKeys || is_one) {
    find_repeating_places(grammar_->vocabulary(), keys, came, key, suspects.places);
    return;
  }
  for (const int32_t one : longer)
    if (keys.contains(came, one)) suspect_rest(one);
}

const QuotedTexts& Matcher::quoted_texts() const {
  return grammar_->vocabulary().quoted_texts(grammar_->automaton().nfa().key_separator());
}

// `mask` without the tokens that repeat keys. That of an item is without those that do so whatever came, but
// for masks near a budget. Null if tokens have to be tried for that and `may_try` is not given.
const Row* Matcher::without_repeated_keys(const Row* mask, bool near_budget, bool may_try) {
  if (!grammar_->automaton().keeps_keys()) return mask;
  const StackArena& arena = stacks_->arena;
  constexpr uint8_t kOfInterest = StackArena::kKeysInTokens | StackArena::kWithinKey;
  if (!near_budget && std::none_of(items().begin(), items().end(), [&](const Item& item) {
        return (arena.keys(item.parents) & kOfInterest) != 0;
      }))
    return mask;
  const QuotedTexts& quoted = quoted_texts();
  const KeySets& keys = arena.key_sets();
  Suspects suspects;
  KeysInStacks found(arena);
  bool is_within_key = false;
  for (const Item& item : items()) {
    if ((arena.keys(item.parents) & kOfInterest) != 0) found.add(item.parents);
    is_within_key |= (arena.keys(item.parents) & StackArena::kWithinKey) != 0;
  }
  for (const int32_t list : found.lists)
    keys.for_each_in_tokens(list,
                            [&](int32_t key) { add_allowed(*mask, keys.tokens_with(key), suspects.ranks); });
  if (near_budget) add_allowed(*mask, quoted.tokens_with_two(), suspects.doubles);
  if (is_within_key) {
    const JsonStringReader& reader = last_string();
    if (near_budget || !ends_with_quote(text_)) {
      add_allowed(*mask, quoted.tokens_with_two(), suspects.doubles);
      add_allowed(
          *mask,
          reader.is_within_escape() ? quoted.tokens_with_end() : quoted.tokens_repeating(reader.value()),
          suspects.doubles);
    }
    for (const int32_t came : found.waiting) find_repetitions(*mask, came, reader, suspects);
  }
  if (suspects.empty()) return mask;
  return may_try ? without(mask, items(), std::move(suspects)) : nullptr;
}

// `mask` without those of the suspects that may not come.
const Row* Matcher::without(const Row* mask, std::span<const Item> items, Suspects suspects) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const auto trie = vocabulary.trie();
  for (std::vector<uint32_t>* some : {&suspects.ranks, &suspects.doubles, &suspects.places}) {
    std::sort(some->begin(), some->end());
    some->erase(std::unique(some->begin(), some->end()), some->end());
  }
  // In a token of several keys they are told apart, which are no longer than it: what it repeats may be its
  // own.
  const auto several = quoted_texts().tokens_with_end();
  std::vector<RankRange> removed;
  const auto try_token = [&](uint32_t rank, bool holds_several) {
    const bool told_apart = holds_several || std::binary_search(several.begin(), several.end(), rank);
    const size_t longest_new_key = told_apart ? static_cast<size_t>(vocabulary.longest_token()) : 0;
    if (!may_come(vocabulary.token_at_rank(rank), items, longest_new_key))
      removed.emplace_back(rank, rank + 1);
  };
  for (const uint32_t place : suspects.places) {
    std::string text(vocabulary.text_before(place));
    text.push_back(static_cast<char>(trie[place].byte));
    const RankRange through{trie[place].first_rank, trie[trie[place].subtree_end].first_rank};
    if (!reads(text, items, 0) && !grammar_->automaton().has_token_sets()) {
      removed.push_back(through);
      continue;
    }
    for (uint32_t rank = through.first; rank < through.second; ++rank)
      if (mask->allows(static_cast<uint32_t>(vocabulary.token_at_rank(rank)))) try_token(rank, false);
  }
  for (const uint32_t rank : suspects.ranks) try_token(rank, false);
  for (const uint32_t rank : suspects.doubles) try_token(rank, true);
  if (removed.empty()) return mask;
  return masks_->add(Row::changed(vocabulary, *mask, {}, removed));
}

}  // namespace syntagma
