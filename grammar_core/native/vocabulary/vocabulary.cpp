#include "vocabulary/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "vocabulary/utf8.hpp"

namespace syntagma {
namespace {

constexpr size_t kManyChildren = 16;  // from which on a node has a Fan
constexpr size_t kMostFans = UINT16_MAX;
constexpr uint8_t kFirstLead = 0xC2, kLastLead = 0xF4;  // of characters outside ASCII

bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, std::vector<int32_t> stop_tokens,
                       std::vector<int32_t> control_tokens, int32_t size)
    : size_(size), stop_tokens_(std::move(stop_tokens)), control_tokens_(std::move(control_tokens)) {
  std::sort(control_tokens_.begin(), control_tokens_.end());
  if (size < static_cast<int32_t>(tokens.size()))
    throw std::invalid_argument("the vocabulary size is smaller than the number of tokens");
  std::sort(stop_tokens_.begin(), stop_tokens_.end());
  stop_tokens_.erase(std::unique(stop_tokens_.begin(), stop_tokens_.end()), stop_tokens_.end());
  for (const int32_t id : stop_tokens_) {
    if (id < 0 || id >= size) throw std::invalid_argument("a stop token id is out of the vocabulary's range");
    if (id < static_cast<int32_t>(tokens.size())) tokens[id].clear();  // its text never counts as text
  }
  tokens.resize(size);
  token_begin_.reserve(tokens.size() + 1);
  std::vector<uint32_t> text_mask(mask_words(), 0);
  for (int32_t id = 0; id < size; ++id) {
    token_begin_.push_back(static_cast<uint32_t>(bytes_.size()));
    bytes_ += tokens[id];
    longest_token_ = std::max(longest_token_, static_cast<int32_t>(tokens[id].size()));
    if (tokens[id].empty()) continue;
    if (tokens[id].size() > UINT16_MAX)
      throw std::invalid_argument("token " + std::to_string(id) + " is longer than 65535 bytes");
    token_at_rank_.push_back(id);
    text_mask[id / 32] |= uint32_t{1} << (id % 32);
  }
  text_mask_ = std::make_shared<MaskWords>(std::move(text_mask));
  token_begin_.push_back(static_cast<uint32_t>(bytes_.size()));
  std::sort(token_at_rank_.begin(), token_at_rank_.end(), [&](int32_t a, int32_t b) {
    const int order = token(a).compare(token(b));
    return order != 0 ? order < 0 : a < b;
  });
  build_trie();
  summarize_subtrees();
  build_fans();
  for (unsigned set = 0; set < kSpaceSets; ++set) space_runs_.emplace_back(*this, space_set(set));
  for (const ByteSet& letters : letter_sets()) letter_runs_.emplace_back(*this, letters);
  first_characters_ = std::make_unique<FirstCharacters>(*this);
}

const QuotedTexts& Vocabulary::quoted_texts(int between) const {
  const std::lock_guard lock(quoted_mutex_);
  const auto found = quoted_texts_.find(between);
  return found != quoted_texts_.end()
             ? found->second
             : quoted_texts_.emplace(between, QuotedTexts(*this, between)).first->second;
}

bool Vocabulary::is_stop_token(int32_t id) const {
  return std::binary_search(stop_tokens_.begin(), stop_tokens_.end(), id);
}

bool Vocabulary::is_free_token(int32_t id) const {
  if (is_stop_token(id)) return false;
  return !token(id).empty() || std::binary_search(control_tokens_.begin(), control_tokens_.end(), id);
}

void Vocabulary::build_trie() {
  std::vector<uint32_t> path{0};  // open nodes from the root down
  trie_.push_back({});
  std::string_view previous;
  const auto close_to = [&](size_t depth) {
    while (path.size() > depth + 1) {
      trie_[path.back()].subtree_end = static_cast<uint32_t>(trie_.size());
      path.pop_back();
    }
  };
  for (uint32_t rank = 0; rank < token_at_rank_.size(); ++rank) {
    const std::string_view current = token(token_at_rank_[rank]);
    size_t shared = 0;
    while (shared < previous.size() && shared < current.size() && previous[shared] == current[shared])
      ++shared;
    close_to(shared);
    for (size_t i = shared; i < current.size(); ++i) {
      TrieNode& node = trie_.emplace_back();
      node.first_rank = rank;
      node.depth = static_cast<uint16_t>(i + 1);
      node.byte = static_cast<uint8_t>(current[i]);
      node.characters = static_cast<uint16_t>(trie_[path[i]].characters + !is_continuation(node.byte));
      path.push_back(static_cast<uint32_t>(trie_.size()) - 1);
    }
    characters_at_rank_.push_back(trie_[path.back()].characters);
    previous = current;
  }
  close_to(0);
  trie_[0].subtree_end = static_cast<uint32_t>(trie_.size());
  trie_.emplace_back().first_rank = text_token_count();
}

void Vocabulary::summarize_subtrees() {
  // Parents have smaller indices than their children.
  std::vector<uint32_t> parent(trie_.size(), 0);
  std::vector<uint32_t> path{0};
  for (uint32_t node = 1; node + 1 < trie_.size(); ++node) {
    path.resize(trie_[node].depth);
    parent[node] = path.back();
    path.push_back(node);
  }
  for (uint32_t node = static_cast<uint32_t>(trie_.size()) - 2; node > 0; --node)
    trie_[parent[node]].groups_below |=
        (trie_[node].groups_below & ~kBrokenUtf8) | (GroupSet{1} << group_of(trie_[node].byte));
  heights_.assign(trie_.size(), 0);
  for (uint32_t node = static_cast<uint32_t>(trie_.size()) - 2; node > 0; --node)
    heights_[parent[node]] =
        static_cast<uint8_t>(std::max<int>(heights_[parent[node]], std::min(heights_[node] + 1, kTallest)));
  // Rests that are not whole UTF-8, token by token.
  for (uint32_t node = 1; node + 1 < trie_.size(); ++node) {
    const auto [first, last] = ranks_at(node);
    if (first == last) continue;
    const std::string_view text = token(token_at_rank_[first]);
    if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; }))
      continue;
    std::vector<uint8_t> whole(text.size() + 1, 0);
    whole[text.size()] = 1;
    for (size_t i = text.size(); i-- > 0;) {
      const int length = utf8_character_length(text.substr(i));
      whole[i] = length > 0 && whole[i + length];
    }
    uint32_t ancestor = node;
    for (size_t i = text.size(); i-- > 0;) {
      ancestor = parent[ancestor];
      if (!whole[i]) trie_[ancestor].groups_below |= kBrokenUtf8;
    }
  }
  PlainText& text = plain_texts_[0];
  text.first_bytes.add_range(0x20, 0x7F);
  text.first_bytes.add_range(kFirstLead, kLastLead);
  text.first_bytes.remove('"');
  text.first_bytes.remove('\\');
  plain_texts_[1].first_bytes = text.first_bytes;
  for (const uint8_t lead : kSingleLeads) plain_texts_[1].first_bytes.remove(lead);
  plain_texts_[2].first_bytes = plain_texts_[1].first_bytes;
  plain_texts_[2].first_bytes.remove(' ');
  for (PlainText& plain : plain_texts_) {
    plain.groups = groups_of(plain.first_bytes);
    find_unplain_nodes(parent, plain);
  }
}

void Vocabulary::find_unplain_nodes(std::span<const uint32_t> parent, PlainText& plain) const {
  const auto size = static_cast<uint32_t>(trie_.size()) - 1;
  const auto has_plain_byte = [&](uint32_t node) {
    const uint8_t byte = trie_[node].byte;
    return is_continuation(byte) || plain.first_bytes.contains(byte);
  };
  std::vector<uint8_t> is_plain(size, 1);
  for (uint32_t node = 1; node < size; ++node) {
    is_plain[node] &= has_plain_byte(node);
    const auto [first, last] = ranks_at(node);
    if (first == last) continue;
    const std::string_view text = token(token_at_rank_[first]);
    size_t whole = 0;
    while (const int length = utf8_character_length(text.substr(whole))) whole += length;
    if (whole < text.size())
      for (uint32_t ancestor = node; ancestor != 0; ancestor = parent[ancestor]) is_plain[ancestor] = 0;
  }
  for (uint32_t node = size; node-- > 1;) is_plain[parent[node]] &= is_plain[node];
  std::vector<uint32_t> count(size, 0);
  for (uint32_t node = size; node-- > 1;) {
    if (!is_plain[node]) ++count[node];
    count[parent[node]] += count[node];
  }
  for (uint32_t node = 1; node < size; ++node) {
    if (is_plain[node]) continue;
    const TrieNode& n = trie_[node];
    plain.unplain.push_back({node, count[node], n.first_rank, trie_[node + 1].first_rank,
                             trie_[n.subtree_end].first_rank, n.depth, n.characters, n.byte,
                             has_plain_byte(node)});
  }
}

std::span<const UnplainNode> PlainText::unplain_below(const TrieNode& n, uint32_t node) const {
  const auto at = [&](uint32_t first) {
    return std::lower_bound(unplain.begin(), unplain.end(), first,
                            [](const UnplainNode& other, uint32_t bound) { return other.node < bound; });
  };
  return {at(node + 1), at(n.subtree_end)};
}

void Vocabulary::build_fans() {
  fans_.resize(1);
  for (uint32_t node = 0; node + 1 < trie_.size() && fans_.size() < kMostFans; ++node) {
    if (trie_[node].subtree_end - node <= kManyChildren) continue;
    Fan fan;
    for (uint32_t child = node + 1; child < trie_[node].subtree_end; child = trie_[child].subtree_end) {
      fan.bytes.add(trie_[child].byte);
      fan.children.push_back(child);
    }
    if (fan.children.size() < kManyChildren) continue;
    trie_[node].fan = static_cast<uint16_t>(fans_.size());
    fans_.push_back(std::move(fan));
  }
}

Vocabulary::LongestMatch Vocabulary::longest_match(std::string_view text) const {
  LongestMatch match{-1, false};
  uint32_t node = 0;
  for (const char c : text) {
    uint32_t child = node + 1;
    while (child < trie_[node].subtree_end && trie_[child].byte != static_cast<uint8_t>(c))
      child = trie_[child].subtree_end;
    if (child >= trie_[node].subtree_end) return match;
    node = child;
    const auto [first, last] = ranks_at(node);
    if (first != last) match.token = token_at_rank_[first];
  }
  match.may_be_longer = has_children(node);
  return match;
}

const std::vector<uint32_t>& Vocabulary::tokens_up_to(int32_t characters) const {
  const std::lock_guard lock(up_to_mutex_);
  std::vector<uint32_t>& words = up_to_[characters];
  if (!words.empty()) return words;
  words.assign(mask_words(), 0);
  for (uint32_t rank = 0; rank < text_token_count(); ++rank)
    if (characters_at_rank_[rank] <= characters)
      words[token_at_rank_[rank] / 32] |= uint32_t{1} << (token_at_rank_[rank] % 32);
  return words;
}

size_t Vocabulary::memory_bytes() const {
  size_t runs = 0;
  for (const auto* sets : {&space_runs_, &letter_runs_})
    for (const ByteRuns& set : *sets) runs += set.memory_bytes();
  return runs + bytes_.size() + token_begin_.size() * sizeof(uint32_t) +
         token_at_rank_.size() * sizeof(int32_t) + trie_.size() * sizeof(TrieNode) +
         fans_.size() * (sizeof(Fan) + 32 * sizeof(uint32_t)) + heights_.size() +
         kPlainTexts * plain_texts_[1].unplain.size() * sizeof(UnplainNode) + text_mask_->memory_bytes() +
         first_characters_->memory_bytes();
}

}  // namespace syntagma
