// Masks without the tokens that would repeat a key of a list whose keys differ. What came depends on the
// text, so these are taken out of the ordinary mask; only few can be of that kind, and they are tried.
#include <algorithm>
#include <compare>
#include <set>
#include <unordered_set>
#include <vector>

#include "automaton/time_limit.hpp"
#include "parser/matcher.hpp"
#include "vocabulary/json_string.hpp"

namespace syntagma {
namespace {

// A key under way, and keys that came in a list that waits for it, or none.
struct OpenKey {
  int64_t begin;
  int32_t came;
  friend auto operator<=>(const OpenKey&, const OpenKey&) = default;
};

// What the stacks of some items say of keys.
class KeysInStacks {
 public:
  explicit KeysInStacks(const StackArena& arena) : arena_(arena) {}

  void add(int32_t parents) {
    climb(parents, seen_, StackArena::kKeysInTokens | StackArena::kWithinKey, [&](const StackNode& node) {
      if (node.keys > KeySets::kEmpty) lists.insert(node.keys);
      if (node.keys == StackNode::kIsOpen) add_open(node);
      return true;
    });
  }

  std::set<int32_t> lists;  // the sets of keys that came
  std::set<OpenKey> open;

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
  void add_open(const StackNode& member) {
    std::unordered_set<int32_t> seen;
    climb(member.parents, seen, StackArena::kSomeKeys, [&](const StackNode& node) {
      if (node.keys > KeySets::kEmpty) open.insert({member.begin, node.keys});
      return node.keys < 0;
    });
    open.insert({member.begin, KeySets::kEmpty});
  }

  const StackArena& arena_;
  std::unordered_set<int32_t> seen_;
};

// Where in the trie a key that goes on in some way becomes one of those that came.
class RepeatingPlaces {
 public:
  RepeatingPlaces(const Vocabulary& vocabulary, const KeySets& keys, int32_t came)
      : vocabulary_(vocabulary), keys_(keys), came_(came) {}

  void find(const JsonStringReader& so_far, std::vector<uint32_t>& places) {
    std::vector<std::pair<uint32_t, JsonStringReader>> pending{{0, so_far}};
    const auto trie = vocabulary_.trie();
    while (!pending.empty()) {
      const auto [node, before] = std::move(pending.back());
      pending.pop_back();
      if (!may_become_one(before)) continue;
      const ByteSet bytes = next_bytes(before);
      for (uint32_t child = node + 1; child < trie[node].subtree_end; child = trie[child].subtree_end) {
        TimeLimit::tick();
        if (!bytes.contains(trie[child].byte)) continue;
        JsonStringReader reader = before;
        if (!reader.read(trie[child].byte)) continue;
        if (!reader.has_ended())
          pending.emplace_back(child, std::move(reader));
        else if (is_one(reader.value()))
          places.push_back(child);
      }
    }
  }

 private:
  bool may_become_one(const JsonStringReader& reader) const {
    const auto keys = keys_.keys(came_);
    return std::any_of(keys.begin(), keys.end(),
                       [&](int32_t key) { return keys_.value(key).starts_with(reader.value()); });
  }
  bool is_one(const std::string& value) const {
    const auto keys = keys_.keys(came_);
    return std::any_of(keys.begin(), keys.end(), [&](int32_t key) { return keys_.value(key) == value; });
  }
  // Bytes with which the key may still become one of those that came, and maybe others.
  ByteSet next_bytes(const JsonStringReader& reader) const {
    ByteSet bytes;
    if (reader.is_within_escape()) {
      bytes.add_range(0, 255);
      return bytes;
    }
    bytes.add('\\');
    for (const int32_t key : keys_.keys(came_)) {
      const std::string& value = keys_.value(key);
      if (!value.starts_with(reader.value())) continue;
      const size_t read = reader.value().size();
      bytes.add(value.size() == read ? uint8_t{'"'} : static_cast<uint8_t>(value[read]));
    }
    return bytes;
  }

  const Vocabulary& vocabulary_;
  const KeySets& keys_;
  int32_t came_;
};

}  // namespace

// Whether a token that the ordinary mask allows may come, read as text or as a member of a token set.
bool Matcher::may_come(int32_t id, std::span<const Item> items) {
  const std::string_view token = grammar_->vocabulary().token(id);
  if (reads(token, items)) return true;
  if (!grammar_->automaton().has_token_sets() || !grammar_->matches_token_sets(id)) return false;
  Configuration reached;
  stacks_->stepper.step_token(items, id, static_cast<int64_t>(token.size()), reached);
  return reached.alive();
}

// Whether a text may come next where keys differ.
bool Matcher::reads(std::string_view text, std::span<const Item> items) {
  stacks_->stepper.reset_work();
  stacks_->stepper.follow_text(nullptr,
                               {static_cast<int64_t>(text_.size()), characters_, tokens_, true, false});
  stacks_->stepper.read_keys(text_, text);
  const bool is_read = run_bytes(items, text, stacks_->reached);
  stacks_->stepper.ignore_text();
  return is_read;
}

// `mask`, of some items, without the tokens that hold a key twice.
const Row* Matcher::without_double_keys(const Row* mask, std::span<const Item> items) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<RankRange> removed;
  for (const uint32_t rank : vocabulary.quoted_texts().tokens_with_two()) {
    const int32_t id = vocabulary.token_at_rank(rank);
    if (mask->allows(static_cast<uint32_t>(id)) && !may_come(id, items)) removed.emplace_back(rank, rank + 1);
  }
  return removed.empty() ? mask : masks_->add(Row::changed(vocabulary, *mask, {}, removed));
}

// Null if tokens have to be tried for that and `may_try` is not given.
const Row* Matcher::without_repeated_keys(const Row* mask, bool may_try) {
  const StackArena& arena = stacks_->arena;
  constexpr uint8_t kOfInterest = StackArena::kKeysInTokens | StackArena::kWithinKey;
  if (std::none_of(items().begin(), items().end(),
                   [&](const Item& item) { return (arena.keys(item.parents) & kOfInterest) != 0; }))
    return mask;
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const QuotedTexts& quoted = vocabulary.quoted_texts();
  std::vector<uint32_t> suspects;  // ranks of tokens
  std::vector<uint32_t> places;    // in the trie, behind keys that came
  const auto suspect = [&](std::span<const uint32_t> ranks) {
    std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(suspects), [&](uint32_t rank) {
      return mask->allows(static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
    });
  };
  KeysInStacks found(arena);
  for (const Item& item : items())
    if ((arena.keys(item.parents) & kOfInterest) != 0) found.add(item.parents);
  for (const int32_t list : found.lists)
    if (arena.key_sets().is_in_tokens(list))
      for (const int32_t key : arena.key_sets().keys(list)) suspect(arena.key_sets().tokens_with(key));
  if (!found.open.empty()) suspect(quoted.tokens_with_two());
  for (const OpenKey& key : found.open) {
    JsonStringReader reader;
    const std::string_view text = std::string_view(text_).substr(static_cast<size_t>(key.begin));
    const bool is_string = text.starts_with('"') && std::all_of(text.begin() + 1, text.end(), [&](char c) {
                             return reader.read(static_cast<uint8_t>(c));
                           });
    if (!is_string) continue;  // tokens that hold all of the key are looked at above
    if (key.came == KeySets::kEmpty)
      suspect(reader.is_within_escape() ? quoted.tokens_with_end() : quoted.tokens_repeating(reader.value()));
    else
      RepeatingPlaces(vocabulary, arena.key_sets(), key.came).find(reader, places);
  }
  if (suspects.empty() && places.empty()) return mask;
  return may_try ? without(mask, suspects, std::move(places)) : nullptr;
}

// `mask` without those of some tokens, and of those through some places in the trie, that may not come.
const Row* Matcher::without(const Row* mask, std::span<const uint32_t> suspects,
                            std::vector<uint32_t> places) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const auto trie = vocabulary.trie();
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<RankRange> removed;
  for (const uint32_t place : places) {
    std::string text(vocabulary.text_before(place));
    text.push_back(static_cast<char>(trie[place].byte));
    const RankRange through{trie[place].first_rank, trie[trie[place].subtree_end].first_rank};
    if (!reads(text, items()) && !grammar_->automaton().has_token_sets()) {
      removed.push_back(through);
      continue;
    }
    for (uint32_t rank = through.first; rank < through.second; ++rank) {
      const int32_t id = vocabulary.token_at_rank(rank);
      if (mask->allows(static_cast<uint32_t>(id)) && !may_come(id, items()))
        removed.emplace_back(rank, rank + 1);
    }
  }
  for (const uint32_t rank : suspects)
    if (!may_come(vocabulary.token_at_rank(rank), items())) removed.emplace_back(rank, rank + 1);
  if (removed.empty()) return mask;
  return masks_->add(Row::changed(vocabulary, *mask, {}, removed));
}

}  // namespace syntagma
