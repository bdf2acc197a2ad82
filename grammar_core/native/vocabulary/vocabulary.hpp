// The tokens of a tokenizer as bytes, and the trie that mask walks follow.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automaton/byte_set.hpp"
#include "vocabulary/byte_groups.hpp"
#include "vocabulary/byte_pairs.hpp"
#include "vocabulary/byte_runs.hpp"
#include "vocabulary/first_characters.hpp"
#include "vocabulary/mask_words.hpp"
#include "vocabulary/quoted_texts.hpp"

namespace syntagma {

// One byte of the trie. Nodes stand in preorder: the first child of node i is i + 1, its next sibling is
// `subtree_end`. Tokens are ranked in byte order, so a subtree holds a contiguous range of ranks.
struct TrieNode {
  GroupSet groups_below;  // of the bytes below; with kBrokenUtf8 if some token's rest is not whole UTF-8
  uint32_t subtree_end;
  uint32_t first_rank;  // of the tokens that end here or below; the next node's `first_rank` ends those here
  uint16_t depth;       // bytes from the root, which has depth 0 and no byte
  uint16_t characters;  // the same in characters: bytes that do not continue one
  uint8_t byte;
  uint16_t fan;  // number of its Fan, or 0
};

// A node of the trie that is not plain. Its parent is not plain either.
struct UnplainNode {
  uint32_t node;
  uint32_t count;                             // of unplain nodes in its subtree, itself included
  uint32_t first_rank, below_rank, end_rank;  // of tokens that end here, below, and behind the subtree
  uint16_t depth, characters;
  uint8_t byte;
  bool has_plain_byte;  // only what is below is not plain
};

// Text of whole characters that begin with some bytes. Where a grammar lets any of it stand, a walk visits
// only the nodes that are not plain: through a plain node there are only tokens that are such text from its
// byte on.
struct PlainText {
  ByteSet first_bytes;
  GroupSet groups = 0;
  std::vector<UnplainNode> unplain;  // in preorder

  std::span<const UnplainNode> unplain_below(const TrieNode& n, uint32_t node) const;
};

constexpr size_t kPlainTexts = 3;

// The children of a node that has many of them, so that a walk can go to those that matter.
struct Fan {
  ByteSet bytes;
  std::vector<uint32_t> children;  // by byte

  // The first child behind `byte` (-1: the very first) whose byte is in `wanted`; 0 if there is none.
  uint32_t next_child(int byte, const ByteSet& wanted) const {
    const int next = bytes.next_common(byte, wanted);
    return next < 256 ? children[bytes.count_below(static_cast<uint8_t>(next))] : 0;
  }
};

class Vocabulary {
 public:
  // `tokens` by id; an empty string marks a token that never matches text. `size` is the width of a mask, at
  // least the number of tokens. Throws std::invalid_argument for a stop token out of range.
  // `control_tokens` are those that exist but are not text.
  Vocabulary(std::vector<std::string> tokens, std::vector<int32_t> stop_tokens,
             std::vector<int32_t> control_tokens, int32_t size);

  int32_t size() const { return size_; }
  int32_t mask_words() const { return (size_ + 31) / 32; }
  std::string_view token(int32_t id) const {
    return std::string_view(bytes_).substr(token_begin_[id], token_begin_[id + 1] - token_begin_[id]);
  }
  std::span<const int32_t> stop_tokens() const { return stop_tokens_; }
  bool is_stop_token(int32_t id) const;
  // Whether `id` is a token that may stand in free tokens: text or a control token, but no stop token.
  bool is_free_token(int32_t id) const;

  std::span<const TrieNode> trie() const { return {trie_.data(), trie_.size() - 1}; }
  // The children of a node if it has many, or null.
  const Fan* fan(uint32_t node) const { return trie_[node].fan != 0 ? &fans_[trie_[node].fan] : nullptr; }
  // Tokens that end at `node`, and those that end at it or below, as ranks [first, second).
  std::pair<uint32_t, uint32_t> ranks_at(uint32_t node) const {
    return {trie_[node].first_rank, trie_[node + 1].first_rank};
  }
  std::pair<uint32_t, uint32_t> ranks_below(uint32_t node) const {
    return {trie_[node + 1].first_rank, trie_[trie_[node].subtree_end].first_rank};
  }
  // The most bytes that tokens through a node have behind it, up to kTallest.
  static constexpr int kTallest = UINT8_MAX;
  int height(uint32_t node) const { return heights_[node]; }
  // What strings of JSON hold as it is, which is all but control characters, quotes and backslashes; the same
  // without those characters outside ASCII that classes single out; and that without the space too.
  std::span<const PlainText, kPlainTexts> plain_texts() const { return plain_texts_; }
  // The longest token that `text` begins with, or -1, and whether all of `text` is the beginning of a longer
  // one.
  struct LongestMatch {
    int32_t token;
    bool may_be_longer;
  };
  LongestMatch longest_match(std::string_view text) const;

  // The text on the way from the root to a node, without the node's byte.
  std::string_view text_before(uint32_t node) const {
    return token(token_at_rank_[trie_[node].first_rank]).substr(0, trie_[node].depth - 1);
  }
  int32_t token_at_rank(uint32_t rank) const { return token_at_rank_[rank]; }
  uint32_t text_token_count() const { return static_cast<uint32_t>(token_at_rank_.size()); }
  int32_t characters_at_rank(uint32_t rank) const { return characters_at_rank_[rank]; }
  // The most of those of some ranks; 0 if there are none.
  int32_t most_characters(uint32_t first, uint32_t end) const;
  // Tokens of at most so many characters (bytes that do not continue one), as mask words. Thread-safe.
  const std::vector<uint32_t>& tokens_up_to(int32_t characters) const;
  // Runs of some of kSpaces, as bits.
  const ByteRuns& space_runs(unsigned set) const { return space_runs_[set]; }
  // Runs of one of `letter_sets`, by its number.
  const ByteRuns& letter_runs(size_t set) const { return letter_runs_[set]; }
  const BytePairs& byte_pairs() const { return *byte_pairs_; }
  const FirstCharacters& first_characters() const { return *first_characters_; }
  // Tokens that begin with a byte of ASCII, whose ranks come first, and their number.
  const std::shared_ptr<const MaskWords>& ascii_mask() const { return ascii_mask_; }
  uint32_t ascii_count() const { return ascii_count_; }
  // All tokens that are text.
  const std::shared_ptr<const MaskWords>& text_mask() const { return text_mask_; }
  int32_t longest_token() const { return longest_token_; }
  // Made when first asked for. Thread-safe.
  const QuotedTexts& quoted_texts(int between) const;
  size_t memory_bytes() const;

 private:
  void build_trie();
  void summarize_subtrees();
  void build_fans();
  void sort_by_characters();
  void find_unplain_nodes(std::span<const uint32_t> parent, PlainText& plain) const;
  bool has_children(uint32_t node) const { return trie_[node].subtree_end != node + 1; }

  int32_t size_;
  std::string bytes_;
  std::vector<uint32_t> token_begin_;
  std::vector<int32_t> stop_tokens_;
  std::vector<int32_t> control_tokens_;
  std::vector<int32_t> token_at_rank_;
  std::vector<TrieNode> trie_;  // one sentinel at the end
  std::vector<Fan> fans_;       // number 0 is none
  std::vector<uint8_t> heights_;
  std::array<PlainText, kPlainTexts> plain_texts_;
  std::vector<uint16_t> characters_at_rank_;
  std::vector<uint16_t> most_in_block_;     // of kBlock ranks
  std::vector<int32_t> by_characters_;      // tokens that are text, the shortest first
  std::vector<uint32_t> characters_begin_;  // by a number of characters: where its tokens begin there
  mutable std::mutex up_to_mutex_;
  mutable std::map<int32_t, std::vector<uint32_t>> up_to_;
  std::vector<ByteRuns> space_runs_, letter_runs_;
  std::unique_ptr<const BytePairs> byte_pairs_;
  std::unique_ptr<const FirstCharacters> first_characters_;
  std::shared_ptr<const MaskWords> text_mask_, ascii_mask_;
  uint32_t ascii_count_ = 0;
  mutable std::mutex quoted_mutex_;
  mutable std::map<int, QuotedTexts> quoted_texts_;  // by what stands between strings
  int32_t longest_token_ = 0;
};

}  // namespace syntagma
