#include "mask/row.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace syntagma {
namespace {

constexpr size_t kMostListed = 256;   // tokens up to which a list is smaller than words and as fast to write
constexpr size_t kMostFlipped = 128;  // tokens up to which words and a list are about as fast as words alone

constexpr size_t kFewIds = 32;
constexpr size_t kBlock = 16;  // words that are counted together

uint32_t bit_of(uint32_t id) { return uint32_t{1} << (id % 32); }

size_t total(std::span<const RankRange> ranges) {
  size_t sum = 0;
  for (const auto& [first, last] : ranges) sum += last - first;
  return sum;
}

struct Bits {
  std::vector<uint64_t> words, touched;  // nothing but zeros between calls
};

// Out of line, so that the address is not worked out at each use.
[[gnu::noinline]] Bits& bits_of_thread() {
  static thread_local Bits bits;
  return bits;
}

// Sorts the ids by setting bits, which most lists are long enough for, and drops those that come twice.
void sort_ids(const Vocabulary& vocabulary, std::vector<uint32_t>& ids) {
  if (ids.size() <= kFewIds) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return;
  }
  auto& [words, touched] = bits_of_thread();
  const size_t word_count = static_cast<size_t>(vocabulary.size()) / 64 + 1;
  if (words.size() < word_count) {
    words.resize(word_count, 0);
    touched.resize(word_count / 64 + 1, 0);
  }
  for (const uint32_t id : ids) {
    words[id / 64] |= uint64_t{1} << (id % 64);
    touched[id / 4096] |= uint64_t{1} << (id / 64 % 64);
  }
  size_t sorted = 0;
  for (size_t i = 0; i < touched.size(); ++i)
    for (; touched[i] != 0; touched[i] &= touched[i] - 1) {
      const size_t at = 64 * i + std::countr_zero(touched[i]);
      for (; words[at] != 0; words[at] &= words[at] - 1)
        ids[sorted++] = static_cast<uint32_t>(64 * at + std::countr_zero(words[at]));
    }
  ids.resize(sorted);
}

std::vector<uint32_t> ids_of(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  std::vector<uint32_t> ids;
  ids.reserve(total(ranges));
  for (const auto& [first, last] : ranges)
    for (uint32_t rank = first; rank < last; ++rank)
      ids.push_back(static_cast<uint32_t>(vocabulary.token_at_rank(rank)));
  sort_ids(vocabulary, ids);
  return ids;
}

void add_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges,
                std::vector<uint32_t>& words) {
  for (const auto& [first, last] : ranges)
    for (uint32_t rank = first; rank < last; ++rank) {
      const auto id = static_cast<uint32_t>(vocabulary.token_at_rank(rank));
      words[id / 32] |= bit_of(id);
    }
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

// A bit per rank, of ranges in any order.
std::vector<uint64_t> bits_of(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  std::vector<uint64_t> bits(vocabulary.text_token_count() / 64 + 1, 0);
  for (const auto& [first, last] : ranges) {
    const uint64_t low = ~uint64_t{0} << (first % 64), high = (uint64_t{1} << (last % 64)) - 1;
    if (first / 64 == last / 64) {
      bits[first / 64] |= low & high;
      continue;
    }
    bits[first / 64] |= low;
    std::fill(bits.begin() + first / 64 + 1, bits.begin() + last / 64, ~uint64_t{0});
    bits[last / 64] |= high;
  }
  return bits;
}

// Ranges in any order, and sets. What the ranges leave out is often little where text begins with ASCII, and
// much elsewhere, where the sets have it.
std::vector<uint32_t> words_of(const Vocabulary& vocabulary, std::span<const RankRange> ranges,
                               std::span<const std::shared_ptr<const MaskWords>> sets) {
  std::vector<uint64_t> bits = bits_of(vocabulary, ranges);
  const uint32_t ascii = vocabulary.ascii_count();
  size_t allowed = 0;
  for (size_t i = 0; i < ascii / 64; ++i) allowed += std::popcount(bits[i]);
  const bool allows_most = 2 * allowed > ascii;
  std::vector<uint32_t> words =
      allows_most ? vocabulary.ascii_mask()->words() : std::vector<uint32_t>(vocabulary.mask_words(), 0);
  if (allows_most) {
    for (size_t i = 0; i < ascii / 64; ++i) bits[i] = ~bits[i];
    bits[ascii / 64] ^= (uint64_t{1} << (ascii % 64)) - 1;
  }
  for (size_t i = 0; i < bits.size(); ++i)
    for (; bits[i] != 0; bits[i] &= bits[i] - 1) {
      const auto rank = static_cast<uint32_t>(64 * i + std::countr_zero(bits[i]));
      const auto id = static_cast<uint32_t>(vocabulary.token_at_rank(rank));
      words[id / 32] ^= bit_of(id);
    }
  for (const auto& set : sets)
    for (size_t i = 0; i < words.size(); ++i) words[i] |= set->words()[i];
  return words;
}

}  // namespace

Row Row::with_flipped(const Vocabulary& vocabulary, std::shared_ptr<const MaskWords> base,
                      std::vector<uint32_t> flipped) {
  Row row;
  row.base_ = std::move(base);
  row.flipped_ = std::move(flipped);
  if (row.flipped_.size() <= (row.base_ == nullptr ? kMostListed : kMostFlipped)) return row;
  std::vector<uint32_t> words = row.words(vocabulary);
  if (row.base_ != nullptr) return from_words(std::move(words));
  row = {};  // too many to be listed
  row.base_ = std::make_shared<MaskWords>(std::move(words));
  return row;
}

Row Row::from_sorted_ranges(const Vocabulary& vocabulary, std::span<const RankRange> ranges) {
  const size_t allowed = total(ranges), excluded = vocabulary.text_token_count() - allowed;
  Row row;
  if (allowed <= kMostListed) {
    row.flipped_ = ids_of(vocabulary, ranges);
    return row;
  }
  row.base_ = vocabulary.text_mask();
  if (excluded <= kMostFlipped) {
    row.flipped_ = ids_of(vocabulary, complement(vocabulary, ranges));
    return row;
  }
  std::vector<uint32_t> words;
  if (allowed <= excluded) {
    words.assign(vocabulary.mask_words(), 0);
    add_ranges(vocabulary, ranges, words);
  } else {
    words = row.base_->words();
    for (const auto& [first, last] : complement(vocabulary, ranges))
      for (uint32_t rank = first; rank < last; ++rank) {
        const auto id = static_cast<uint32_t>(vocabulary.token_at_rank(rank));
        words[id / 32] &= ~bit_of(id);
      }
  }
  row.base_ = std::make_shared<MaskWords>(std::move(words));
  return row;
}

Row Row::from_ranges(const Vocabulary& vocabulary, std::vector<RankRange> ranges,
                     std::span<const std::shared_ptr<const MaskWords>> sets) {
  if (sets.size() > 1 || (!sets.empty() && ranges.size() > kMostFlipped))
    return from_words(words_of(vocabulary, ranges, sets));
  if (!std::is_sorted(ranges.begin(), ranges.end())) std::sort(ranges.begin(), ranges.end());
  size_t kept = 0;
  for (const RankRange& range : ranges) {
    if (kept > 0 && range.first <= ranges[kept - 1].second)
      ranges[kept - 1].second = std::max(ranges[kept - 1].second, range.second);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
  if (sets.empty()) return from_sorted_ranges(vocabulary, ranges);
  if (total(ranges) > kMostFlipped) return from_words(words_of(vocabulary, ranges, sets));
  std::vector<uint32_t> flipped = ids_of(vocabulary, ranges);
  std::erase_if(flipped, [&](uint32_t id) { return sets[0]->contains(id); });
  return with_flipped(vocabulary, sets[0], std::move(flipped));
}

Row Row::from_stop_tokens(const Vocabulary& vocabulary) {
  Row row;
  row.flipped_.assign(vocabulary.stop_tokens().begin(), vocabulary.stop_tokens().end());
  return row;
}

Row Row::intersect(const Vocabulary& vocabulary, const Row& row, std::span<const uint32_t> words) {
  std::vector<uint32_t> common = row.words(vocabulary);
  for (size_t i = 0; i < common.size(); ++i) common[i] &= words[i];
  return from_words(std::move(common));
}

Row Row::merge(const Vocabulary& vocabulary, const Row& a, const Row& b) {
  if (a.base_ != nullptr && b.base_ != nullptr && a.base_ != b.base_) {
    std::vector<uint32_t> words = a.words(vocabulary);
    b.add_to(words);
    return from_words(std::move(words));
  }
  const std::shared_ptr<const MaskWords>& base = a.base_ != nullptr ? a.base_ : b.base_;
  std::vector<uint32_t> flipped;
  flipped.reserve(a.flipped_.size() + b.flipped_.size());
  const auto add = [&](uint32_t id, bool allowed) {
    if (allowed != (base != nullptr && base->contains(id))) flipped.push_back(id);
  };
  size_t i = 0, j = 0;
  while (i < a.flipped_.size() || j < b.flipped_.size()) {
    const bool has_a = i < a.flipped_.size() && (j == b.flipped_.size() || a.flipped_[i] <= b.flipped_[j]);
    const bool has_b = j < b.flipped_.size() && (i == a.flipped_.size() || b.flipped_[j] <= a.flipped_[i]);
    const uint32_t id = has_a ? a.flipped_[i] : b.flipped_[j];
    add(id, a.base_allows(id) != has_a || b.base_allows(id) != has_b);
    i += has_a;
    j += has_b;
  }
  return with_flipped(vocabulary, base, std::move(flipped));
}

Row Row::unite(const Vocabulary& vocabulary, std::span<const Row* const> rows) {
  std::vector<uint32_t> listed;
  const Row* based = nullptr;
  bool have_one_base = true;
  for (const Row* row : rows) {
    if (row->base_ == nullptr) {
      listed.insert(listed.end(), row->flipped_.begin(), row->flipped_.end());
      continue;
    }
    have_one_base &= based == nullptr || based->base_ == row->base_;
    based = row;
  }
  if (!have_one_base) {
    std::vector<uint32_t> words(vocabulary.mask_words(), 0);
    for (const Row* row : rows) row->add_to(words);
    return from_words(std::move(words));
  }
  sort_ids(vocabulary, listed);
  if (based == nullptr) return with_flipped(vocabulary, nullptr, std::move(listed));
  Row united;
  united.flipped_ = std::move(listed);  // however many: there are words to come
  for (const Row* row : rows)
    if (row->base_ != nullptr) united = merge(vocabulary, united, *row);
  return united;
}

Row Row::changed(const Vocabulary& vocabulary, const Row& row, std::span<const RankRange> added,
                 std::span<const RankRange> removed) {
  std::vector<uint32_t> changed;
  for (const uint32_t id : ids_of(vocabulary, added))
    if (!row.allows(id)) changed.push_back(id);
  for (const uint32_t id : ids_of(vocabulary, removed))
    if (row.allows(id)) changed.push_back(id);
  sort_ids(vocabulary, changed);
  std::vector<uint32_t> flipped;
  std::set_symmetric_difference(row.flipped_.begin(), row.flipped_.end(), changed.begin(), changed.end(),
                                std::back_inserter(flipped));
  return with_flipped(vocabulary, row.base_, std::move(flipped));
}

Row Row::from_words(std::vector<uint32_t> words) {
  Row row;
  size_t count = 0;
  for (size_t i = 0; i < words.size() && count <= kMostListed;) {
    const size_t end = std::min(i + kBlock, words.size());
    for (; i < end; ++i) count += std::popcount(words[i]);
  }
  if (count > kMostListed) {
    row.base_ = std::make_shared<MaskWords>(std::move(words));
    return row;
  }
  row.flipped_.reserve(count);
  for (size_t i = 0; i < words.size(); ++i)
    for (uint32_t word = words[i]; word != 0; word &= word - 1)
      row.flipped_.push_back(static_cast<uint32_t>(32 * i + std::countr_zero(word)));
  return row;
}

void Row::finish(const Vocabulary& vocabulary, uint32_t id) {
  id_ = id;
  allows_all_ = base_ != nullptr || flipped_.size() == static_cast<size_t>(vocabulary.size());
  size_t next = 0;
  for (uint32_t i = 0; allows_all_ && i < static_cast<uint32_t>(vocabulary.mask_words()); ++i) {
    uint32_t word = base_ != nullptr ? base_->words()[i] : 0;
    for (; next < flipped_.size() && flipped_[next] / 32 == i; ++next) word ^= bit_of(flipped_[next]);
    for (uint32_t token = 32 * i; token < 32 * (i + 1); ++token)
      allows_all_ &= token >= static_cast<uint32_t>(vocabulary.size()) || (word & bit_of(token)) != 0;
  }
}

bool Row::allows(uint32_t id) const {
  return base_allows(id) != std::binary_search(flipped_.begin(), flipped_.end(), id);
}

uint64_t Row::hash() const {
  uint64_t h = base_ != nullptr ? base_->hash() : flipped_.size();
  for (const uint32_t id : flipped_) {
    h = (h ^ id) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 32;
  }
  return h;
}

bool Row::equals(const Row& other) const {
  if (flipped_ != other.flipped_ || (base_ == nullptr) != (other.base_ == nullptr)) return false;
  return base_ == nullptr || *base_ == *other.base_;
}

void Row::write(const Vocabulary& vocabulary, uint32_t* words) const {
  const size_t bytes = vocabulary.mask_words() * sizeof(uint32_t);
  if (base_ != nullptr)
    std::memcpy(words, base_->words().data(), bytes);
  else
    std::memset(words, 0, bytes);
  for (const uint32_t id : flipped_) words[id / 32] ^= bit_of(id);
}

std::vector<uint32_t> Row::words(const Vocabulary& vocabulary) const {
  std::vector<uint32_t> words =
      base_ != nullptr ? base_->words() : std::vector<uint32_t>(vocabulary.mask_words(), 0);
  for (const uint32_t id : flipped_) words[id / 32] ^= bit_of(id);
  return words;
}

void Row::add_to(std::span<uint32_t> words) const {
  if (base_ == nullptr) {
    for (const uint32_t id : flipped_) words[id / 32] |= bit_of(id);
    return;
  }
  // Where the base is wrong, what was there is looked at first.
  std::vector<bool> allowed;
  allowed.reserve(flipped_.size());
  for (const uint32_t id : flipped_)
    allowed.push_back(!base_allows(id) || (words[id / 32] & bit_of(id)) != 0);
  const std::span<const uint32_t> base = base_->words();
  for (size_t i = 0; i < base.size(); ++i) words[i] |= base[i];
  for (size_t i = 0; i < flipped_.size(); ++i) {
    uint32_t& word = words[flipped_[i] / 32];
    word = allowed[i] ? word | bit_of(flipped_[i]) : word & ~bit_of(flipped_[i]);
  }
}

}  // namespace syntagma
