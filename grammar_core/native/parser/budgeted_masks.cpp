// Masks near the end of a budget, which depend on the text.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "automaton/time_limit.hpp"
#include "parser/matcher.hpp"

namespace syntagma {
namespace {

// Configurations of the texts of tokens, with the characters that they took. Equal ones go on alike, so that
// each is followed once by a byte, however many tokens lead to it.
class TokenConfigurations {
 public:
  TokenConfigurations(Stepper& stepper, const Nfa& nfa, TextClock start)
      : stepper_(stepper), nfa_(nfa), start_(start) {}

  int32_t add(std::span<const Item> items, int64_t characters) {
    words_.assign(1, static_cast<int32_t>(characters));
    for (const Item& item : items) words_.insert(words_.end(), {item.macro, item.parents});
    return known_.intern(words_);
  }
  // The configuration after the byte of a node; kNone if there is none.
  int32_t next(int32_t from, const TrieNode& node) {
    const auto [target, added] = next_.try_emplace(static_cast<uint64_t>(from) << 8 | node.byte, kNone);
    if (added) target->second = step(from, node);
    return target->second;
  }

 private:
  int32_t step(int32_t from, const TrieNode& node) {
    items_.clear();
    const auto words = known_[from];
    for (size_t i = 1; i < words.size(); i += 2) items_.push_back({words[i], words[i + 1]});
    // Whether the token ends here matters to budgets of tokens, but only for what comes after the token.
    TextClock clock = start_;
    clock.bytes += node.depth - 1;
    clock.characters += node.characters;
    stepper_.follow_text(nullptr, clock);
    stepper_.reset_work();
    stepper_.step(items_, nfa_.class_of(node.byte), reached_);
    return reached_.alive() ? add(reached_.items, node.characters) : kNone;
  }

  Stepper& stepper_;
  const Nfa& nfa_;
  TextClock start_;
  SequenceInterner known_;  // characters, then macro-state and parents of each item
  std::unordered_map<uint64_t, int32_t> next_;
  std::vector<Item> items_;
  std::vector<int32_t> words_;
  Configuration reached_;
};

}  // namespace

// Characters that can be read before any budget ends an occurrence; none or fewer if one may with any token.
int64_t Matcher::budget_reach() const {
  int64_t reach = grammar_->automaton().smallest_char_budget();
  for (const Item& item : items()) {
    if (stacks_->arena.first_last_token(item.parents) < tokens_) return 0;
    const int64_t last = stacks_->arena.first_last_char(item.parents);
    if (last != kUnbounded) reach = std::min(reach, last - characters_);
  }
  return reach;
}

// Tokens of more than `reach` characters are tried, with shared prefixes.
const Row* Matcher::budgeted_mask(int64_t reach) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  const auto trie = vocabulary.trie();
  TokenConfigurations configurations(stacks_->stepper, grammar_->automaton().nfa(),
                                     {static_cast<int64_t>(text_.size()), characters_, tokens_, true, false});
  std::vector<int32_t> path(vocabulary.longest_token() + 1);  // by depth
  std::vector<RankRange> accepted;
  path[0] = configurations.add(items(), 0);
  for (uint32_t node = 1; node < trie.size();) {
    const TrieNode& n = trie[node];
    TimeLimit::tick();
    const int height = vocabulary.height(node);
    if (reach > 0 && height < Vocabulary::kTallest && n.characters + height <= reach) {
      node = n.subtree_end;
      continue;
    }
    path[n.depth] = configurations.next(path[n.depth - 1], n);
    if (path[n.depth] == kNone) {
      node = n.subtree_end;
      continue;
    }
    const auto [first, last] = vocabulary.ranks_at(node);
    if (first != last) accepted.emplace_back(first, last);
    ++node;
  }
  stacks_->stepper.ignore_text();
  const Row* mask = masks_->add(Row::from_ranges(vocabulary, std::move(accepted)));
  if (reach > 0) {
    const Row* shorter = ordinary_mask(true);
    const auto& words = vocabulary.tokens_up_to(static_cast<int32_t>(reach));
    mask = masks_->merged(mask, masks_->add(Row::intersect(vocabulary, *shorter, words)));
  }
  for (const Item& item : items()) mask = masks_->merged(mask, masks_->token_set_mask(item.macro));
  return is_completed() && !options_.stop_tokens ? masks_->merged(mask, masks_->stop_tokens()) : mask;
}

}  // namespace syntagma
