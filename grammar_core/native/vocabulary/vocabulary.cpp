#include "vocabulary/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include "vocabulary/utf8.hpp"

namespace syntagma {
namespace {

constexpr size_t kManyChildren = 16;  // from which on a node has a Fan
constexpr uint32_t kBlock = 64;       // ranks
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
  std::vector<uint32_t> ascii_mask(mask_words(), 0);
  for (const int32_t id : token_at_rank_) {
    if (static_cast<uint8_t>(token(id)[0]) >= 0x80) break;
    ascii_mask[id / 32] |= uint32_t{1} << (id % 32);
    ++ascii_count_;
  }
  ascii_mask_ = std::make_shared<MaskWords>(std::move(ascii_mask));
  build_trie();
  summarize_subtrees();
  build_fans();
  sort_by_characters();
  for (unsigned set = 0; set < kSpaceSets; ++set) space_runs_.emplace_back(*this, space_set(set));
  for (const ByteSet& letters : letter_sets()) letter_runs_.emplace_back(*this, letters);
  byte_pairs_ = std::make_unique<BytePairs>(*this);
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

void Vocabulary::sort_by_characters() {
  const uint32_t count = text_token_count();
  most_in_block_.assign((count + kBlock - 1) / kBlock, 0);
  for (uint32_t rank = 0; rank < count; ++rank)
    most_in_block_[rank / kBlock] = std::max(most_in_block_[rank / kBlock], characters_at_rank_[rank]);
  characters_begin_.assign(most_characters(0, count) + 2, 0);
  for (uint32_t rank = 0; rank < count; ++rank) ++characters_begin_[characters_at_rank_[rank] + 1];
  for (size_t i = 1; i < characters_begin_.size(); ++i) characters_begin_[i] += characters_begin_[i - 1];
  by_characters_.resize(count);
  std::vector<uint32_t> next = characters_begin_;
  for (uint32_t rank = 0; rank < count; ++rank)
    by_characters_[next[characters_at_rank_[rank]]++] = token_at_rank_[rank];
}

int32_t Vocabulary::most_characters(uint32_t first, uint32_t end) const {
  uint16_t most = 0;
  while (first < end) {
    const bool is_block = first % kBlock == 0 && end - first >= kBlock;
    most = std::max(most, is_block ? most_in_block_[first / kBlock] : characters_at_rank_[first]);
    first += is_block ? kBlock : 1;
  }
  return most;
}

// From the known set with the fewest others between.
const std::vector<uint32_t>& Vocabulary::tokens_up_to(int32_t characters) const {
  const int32_t longest = static_cast<int32_t>(characters_begin_.size()) - 2;
  characters = std::clamp(characters, -1, longest);
  const std::lock_guard lock(up_to_mutex_);
  if (up_to_.empty()) {
    up_to_[-1].assign(mask_words(), 0);
    up_to_[longest] = text_mask_->words();
  }
  const auto above = up_to_.lower_bound(characters);
  if (above->first == characters) return above->second;
  const auto below = std::prev(above);
  // Of so many characters, and one more.
  const auto begin = [&](int32_t number) { return by_characters_.begin() + characters_begin_[number]; };
  const auto middle = begin(characters + 1), first = begin(below->first + 1), last = begin(above->first + 1);
  const bool from_below = middle - first <= last - middle;
  std::vector<uint32_t> words = from_below ? below->second : above->second;
  std::for_each(from_below ? first : middle, from_below ? middle : last,
                [&](int32_t id) { words[id / 32] ^= uint32_t{1} << (id % 32); });
  return up_to_.emplace_hint(above, characters, std::move(words))->second;
}

size_t Vocabulary::memory_bytes() const {
  size_t runs = 0;
  for (const auto* sets : {&space_runs_, &letter_runs_})
    for (const ByteRuns& set : *sets) runs += set.memory_bytes();
  return runs + bytes_.size() + token_begin_.size() * sizeof(uint32_t) +
         (token_at_rank_.size() + by_characters_.size()) * sizeof(int32_t) + trie_.size() * sizeof(TrieNode) +
         fans_.size() * (sizeof(Fan) + 32 * sizeof(uint32_t)) + heights_.size() +
         kPlainTexts * plain_texts_[1].unplain.size() * sizeof(UnplainNode) + 2 * text_mask_->memory_bytes() +
         byte_pairs_->memory_bytes() + first_characters_->memory_bytes();
}

}  // namespace syntagma
