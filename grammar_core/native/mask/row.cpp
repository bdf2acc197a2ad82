#include "mask/row.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace syntagma {
namespace {

constexpr size_t kListLimit = 256;  // tokens up to which a list is smaller and as fast to write as words

void set_bit(uint32_t* words, uint32_t id) { words[id / 32] |= uint32_t{1} << (id % 32); }
void clear_bit(uint32_t* words, uint32_t id) { words[id / 32] &= ~(uint32_t{1} << (id % 32)); }

std::vector<uint32_t> ids_of(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  std::vector<uint32_t> ids;
  for (const auto& [first, last] : ranges)
    for (uint32_t rank = first; rank < last; ++rank)
      ids.push_back(static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<RankRange> complement(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  std::vector<RankRange> rest;
  uint32_t next = 0;
  for (const auto& [first, last] : ranges) {
    if (next < first) rest.emplace_back(next, first);
    next = last;
  }
  if (next < vocabulary.text_token_count()) rest.emplace_back(next, vocabulary.text_token_count());
  return rest;
}

size_t total(std::span<const RankRange> ranges) {
  size_t sum = 0;
  for (const auto& [first, last] : ranges) sum += last - first;
  return sum;
}

}  // namespace

Row Row::from_sorted_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  Row row;
  const size_t allowed = total(ranges), excluded = vocabulary.text_token_count() - allowed;
  if (allowed <= kListLimit) {
    row.data_ = ids_of(vocabulary, ranges);
  } else if (excluded <= kListLimit) {
    row.form_ = Form::kExcluded;
    row.data_ = ids_of(vocabulary, complement(vocabulary, ranges));
  } else if (allowed <= excluded) {
    row.form_ = Form::kDense;
    row.data_.assign(vocabulary.mask_words(), 0);
    for (const auto& [first, last] : ranges)
      for (uint32_t rank = first; rank < last; ++rank)
        set_bit(row.data_.data(), static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
  } else {
    row.form_ = Form::kDense;
    row.data_.assign(vocabulary.text_mask().begin(), vocabulary.text_mask().end());
    for (const auto& [first, last] : complement(vocabulary, ranges))
      for (uint32_t rank = first; rank < last; ++rank)
        clear_bit(row.data_.data(), static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
  }
  return row;
}

Row Row::from_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  std::vector<RankRange> sorted(ranges.begin(), ranges.end());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  size_t kept = 0;
  for (const RankRange& range : sorted) {
    if (kept > 0 && range.first <= sorted[kept - 1].second)
      sorted[kept - 1].second = std::max(sorted[kept - 1].second, range.second);
    else
      sorted[kept++] = range;
  }
  sorted.resize(kept);
  return from_sorted_ranges(vocabulary, sorted);
}

Row Row::from_stop_tokens(const Vocabulary& vocabulary) {
  Row row;
  row.data_.assign(vocabulary.stop_tokens().begin(), vocabulary.stop_tokens().end());
  return row;
}

Row Row::intersect(const Vocabulary& vocabulary, const Row& row, std::span<const uint32_t> words) {
  std::vector<uint32_t> common(vocabulary.mask_words());
  row.write(vocabulary, common.data());
  for (size_t i = 0; i < common.size(); ++i) common[i] &= words[i];
  return from_words(vocabulary, std::move(common));
}

Row Row::merge(const Vocabulary& vocabulary, const Row& a, const Row& b) {
  if (a.form_ == Form::kAllowed && b.form_ == Form::kAllowed &&
      a.data_.size() + b.data_.size() <= kListLimit) {
    Row row;
    std::set_union(a.data_.begin(), a.data_.end(), b.data_.begin(), b.data_.end(),
                   std::back_inserter(row.data_));
    return row;
  }
  const Row& larger = a.form_ == Form::kAllowed ? b : a;
  const Row& other = a.form_ == Form::kAllowed ? a : b;
  Row row;
  row.form_ = Form::kDense;
  row.data_.resize(vocabulary.mask_words());
  larger.write(vocabulary, row.data_.data());
  other.add_to(vocabulary, row.data_.data());
  return row;
}

Row Row::unite(const Vocabulary& vocabulary, std::span<const Row* const> rows) {
  size_t listed = 0;
  for (const Row* row : rows) listed += row->form_ == Form::kAllowed ? row->data_.size() : kListLimit + 1;
  if (listed <= kListLimit) {
    Row united;
    for (const Row* row : rows) united.data_.insert(united.data_.end(), row->data_.begin(), row->data_.end());
    std::sort(united.data_.begin(), united.data_.end());
    united.data_.erase(std::unique(united.data_.begin(), united.data_.end()), united.data_.end());
    return united;
  }
  std::vector<uint32_t> words(vocabulary.mask_words(), 0);
  for (const Row* row : rows) row->add_to(vocabulary, words.data());
  return from_words(vocabulary, std::move(words));
}

Row Row::from_words(const Vocabulary& vocabulary, std::vector<uint32_t> words) {
  Row row;
  for (int32_t i = 0; i < vocabulary.mask_words(); ++i) {
    if (words[i] == 0) continue;
    if (row.data_.size() > kListLimit) {
      row.form_ = Form::kDense;
      row.data_ = std::move(words);
      return row;
    }
    for (uint32_t word = words[i]; word != 0; word &= word - 1)
      row.data_.push_back(static_cast<uint32_t>(32 * i + std::countr_zero(word)));
  }
  return row;
}

void Row::finish(const Vocabulary& vocabulary, uint32_t id) {
  id_ = id;
  const auto size = static_cast<size_t>(vocabulary.size());
  if (form_ == Form::kDense) {
    const size_t whole = size / 32;
    const uint32_t rest = (uint32_t{1} << (size % 32)) - 1;
    allows_all_ = std::all_of(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(whole),
                              [](uint32_t word) { return word == UINT32_MAX; }) &&
                  (rest == 0 || (data_[whole] & rest) == rest);
    return;
  }
  const size_t listed = data_.size();
  allows_all_ = (form_ == Form::kExcluded ? vocabulary.text_token_count() - listed : listed) == size;
}

uint64_t Row::hash() const {
  uint64_t lanes[4] = {static_cast<uint64_t>(form_), data_.size(), 1, 2};
  size_t i = 0;
  for (; i + 8 <= data_.size(); i += 8) {
    uint64_t words[4];
    std::memcpy(words, data_.data() + i, sizeof words);
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = (lanes[lane] ^ words[lane]) * 0x9E3779B97F4A7C15ull;
      lanes[lane] ^= lanes[lane] >> 32;
    }
  }
  for (; i < data_.size(); ++i) lanes[0] = (lanes[0] ^ data_[i]) * 0x9E3779B97F4A7C15ull;
  uint64_t h = 0;
  for (const uint64_t lane : lanes) h = (h ^ lane ^ lane >> 29) * 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 32;
}

void Row::write(const Vocabulary& vocabulary, uint32_t* words) const {
  const size_t bytes = vocabulary.mask_words() * sizeof(uint32_t);
  switch (form_) {
    case Form::kAllowed:
      std::memset(words, 0, bytes);
      for (const uint32_t id : data_) set_bit(words, id);
      return;
    case Form::kExcluded:
      std::memcpy(words, vocabulary.text_mask().data(), bytes);
      for (const uint32_t id : data_) clear_bit(words, id);
      return;
    case Form::kDense:
      std::memcpy(words, data_.data(), bytes);
      return;
  }
}

void Row::add_to(const Vocabulary& vocabulary, uint32_t* words) const {
  if (form_ == Form::kAllowed) {
    for (const uint32_t id : data_) set_bit(words, id);
    return;
  }
  if (form_ == Form::kDense) {
    for (int32_t i = 0; i < vocabulary.mask_words(); ++i) words[i] |= data_[i];
    return;
  }
  std::vector<uint32_t> mine(vocabulary.mask_words());
  write(vocabulary, mine.data());
  for (int32_t i = 0; i < vocabulary.mask_words(); ++i) words[i] |= mine[i];
}

}  // namespace syntagma
