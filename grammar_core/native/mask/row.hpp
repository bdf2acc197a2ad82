// A finished mask: which tokens may come next. Immutable; words that rows share, and the few tokens that
// differ from them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

using RankRange = std::pair<uint32_t, uint32_t>;  // ranks from the first up to the second

class Row {
 public:
  // From ranges of ranks in any order, with overlaps, and all of some sets.
  static Row from_ranges(const Vocabulary& vocabulary, std::vector<RankRange> ranges,
                         std::span<const std::shared_ptr<const MaskWords>> sets = {});
  static Row from_words(std::vector<uint32_t> words);
  static Row from_stop_tokens(const Vocabulary& vocabulary);
  // The allowed tokens of `row` that `words` has too.
  static Row intersect(const Vocabulary& vocabulary, const Row& row, std::span<const uint32_t> words);
  // The union of two rows.
  static Row merge(const Vocabulary& vocabulary, const Row& a, const Row& b);
  // The union of some rows.
  static Row unite(const Vocabulary& vocabulary, std::span<const Row* const> rows);
  // `row` with other tokens allowed: those of `added`, without those of `removed`.
  static Row changed(const Vocabulary& vocabulary, const Row& row, std::span<const RankRange> added,
                     std::span<const RankRange> removed);

  // A number that its keeper gives it, once it is finished.
  uint32_t id() const { return id_; }
  void finish(const Vocabulary& vocabulary, uint32_t id);
  // Whether every id of the vocabulary is allowed.
  bool allows_all() const { return allows_all_; }
  bool empty() const { return base_ == nullptr && flipped_.empty(); }
  bool allows(uint32_t id) const;
  // Writes the mask's words.
  void write(const Vocabulary& vocabulary, uint32_t* words) const;
  // The mask's words.
  std::vector<uint32_t> words(const Vocabulary& vocabulary) const;
  // Adds the allowed tokens to the mask at `words`.
  void add_to(std::span<uint32_t> words) const;
  uint64_t hash() const;
  // Whether the same tokens are allowed, kept in the same form.
  bool equals(const Row& other) const;
  // The words that other rows may share, or null.
  const MaskWords* base() const { return base_.get(); }
  // Without the base.
  size_t own_bytes() const { return sizeof(Row) + flipped_.capacity() * sizeof(uint32_t); }
  size_t memory_bytes() const { return own_bytes() + (base_ != nullptr ? base_->memory_bytes() : 0); }

 private:
  bool base_allows(uint32_t id) const { return base_ != nullptr && base_->contains(id); }
  static Row from_sorted_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges);
  // With the flipped tokens in the words if they are many.
  static Row with_flipped(const Vocabulary& vocabulary, std::shared_ptr<const MaskWords> base,
                          std::vector<uint32_t> flipped);

  bool allows_all_ = false;
  uint32_t id_ = 0;
  std::shared_ptr<const MaskWords> base_;  // null where nothing is allowed
  std::vector<uint32_t> flipped_;          // token ids, sorted, about which the base is wrong
};

}  // namespace syntagma
