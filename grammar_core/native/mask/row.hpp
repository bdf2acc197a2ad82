// A finished mask: which tokens may come next. Immutable; kept in the smallest of three forms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

using RankRange = std::pair<uint32_t, uint32_t>;  // ranks from the first up to the second

class Row {
 public:
  enum class Form : uint8_t { kAllowed, kExcluded, kDense };

  // From ranges of ranks, in order and apart from each other.
  static Row from_sorted_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges);
  // From ranges of ranks in any order, with overlaps.
  static Row from_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges);
  static Row from_words(const Vocabulary& vocabulary, std::vector<uint32_t> words);
  static Row from_stop_tokens(const Vocabulary& vocabulary);
  // The allowed tokens of `row` that `words` has too.
  static Row intersect(const Vocabulary& vocabulary, const Row& row, std::span<const uint32_t> words);
  // The union of two rows.
  static Row merge(const Vocabulary& vocabulary, const Row& a, const Row& b);

  // The union of some rows.
  static Row unite(const Vocabulary& vocabulary, std::span<const Row* const> rows);

  // A number that its keeper gives it, once it is finished.
  uint32_t id() const { return id_; }
  void finish(const Vocabulary& vocabulary, uint32_t id);
  // Whether every id of the vocabulary is allowed.
  bool allows_all() const { return allows_all_; }
  bool empty() const { return form_ == Form::kAllowed && data_.empty(); }
  // Writes the mask's words.
  void write(const Vocabulary& vocabulary, uint32_t* words) const;
  // Adds the allowed tokens to the mask at `words`.
  void add_to(const Vocabulary& vocabulary, uint32_t* words) const;
  uint64_t hash() const;
  // Whether the same tokens are allowed, kept in the same form.
  bool equals(const Row& other) const { return form_ == other.form_ && data_ == other.data_; }
  size_t memory_bytes() const { return sizeof(Row) + data_.capacity() * sizeof(uint32_t); }

 private:
  Form form_ = Form::kAllowed;
  bool allows_all_ = false;
  uint32_t id_ = 0;
  std::vector<uint32_t> data_;  // token ids that are allowed, or text tokens that are not; or the words
};

}  // namespace syntagma
