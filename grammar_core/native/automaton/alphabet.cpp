#include "automaton/alphabet.hpp"

#include <algorithm>
#include <map>

#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kFirstSurrogate = 0xD800, kPastSurrogates = 0xE000, kPastCodePoints = 0x110000;

// Numbers vectors and pairs in the order in which they come up.
template <typename Key>
class Numbering {
 public:
  int32_t number(const Key& key) {
    return numbers_.try_emplace(key, static_cast<int32_t>(numbers_.size())).first->second;
  }
  int32_t size() const { return static_cast<int32_t>(numbers_.size()); }

 private:
  std::map<Key, int32_t> numbers_;
};

void append_interval(Alphabet& alphabet, uint32_t start, int32_t letter) {
  if (!alphabet.letters.empty() && alphabet.letters.back() == letter) return;
  alphabet.starts.push_back(start);
  alphabet.letters.push_back(letter);
}

bool is_surrogate(uint32_t code_point) {
  return code_point >= kFirstSurrogate && code_point < kPastSurrogates;
}

}  // namespace

int32_t Alphabet::letter_of(uint32_t code_point) const {
  const auto after = std::upper_bound(starts.begin(), starts.end(), code_point);
  return letters[after - starts.begin() - 1];
}

Partition partition_code_points(const std::vector<std::span<const CodePointRange>>& sets) {
  struct Change {
    uint32_t at;
    int32_t set;
    bool operator<(const Change& other) const { return at < other.at; }
  };
  std::vector<Change> changes{{0, -1}, {kFirstSurrogate, -1}, {kPastSurrogates, -1}};
  for (size_t set = 0; set < sets.size(); ++set)
    for (const CodePointRange range : sets[set]) {
      changes.push_back({range.low, static_cast<int32_t>(set)});
      if (range.high + 1 < kPastCodePoints) changes.push_back({range.high + 1, static_cast<int32_t>(set)});
    }
  std::sort(changes.begin(), changes.end());
  Partition result;
  result.letters_of_set.resize(sets.size());
  Numbering<std::vector<int32_t>> signatures;
  std::vector<int32_t> containing;  // sorted: the sets that hold the code points from here on
  for (size_t i = 0; i < changes.size();) {
    const uint32_t start = changes[i].at;
    for (; i < changes.size() && changes[i].at == start; ++i) {
      TimeLimit::tick();
      if (changes[i].set < 0) continue;
      const auto place = std::lower_bound(containing.begin(), containing.end(), changes[i].set);
      if (place != containing.end() && *place == changes[i].set)
        containing.erase(place);
      else
        containing.insert(place, changes[i].set);
    }
    if (is_surrogate(start)) {
      append_interval(result.alphabet, start, Alphabet::kNoLetter);
      continue;
    }
    const int32_t known = signatures.size(), letter = signatures.number(containing);
    append_interval(result.alphabet, start, letter);
    if (letter == known)
      for (const int32_t set : containing) result.letters_of_set[set].push_back(letter);
  }
  result.alphabet.count = signatures.size();
  return result;
}

CommonAlphabet refine(const Alphabet& one, const Alphabet& other) {
  CommonAlphabet result;
  Numbering<std::pair<int32_t, int32_t>> pairs;
  for (size_t i = 0, j = 0; i < one.starts.size() && j < other.starts.size();) {
    TimeLimit::tick();
    const uint32_t start = std::max(one.starts[i], other.starts[j]);
    if (one.letters[i] == Alphabet::kNoLetter) {
      append_interval(result.alphabet, start, Alphabet::kNoLetter);
    } else {
      const int32_t known = pairs.size(), letter = pairs.number({one.letters[i], other.letters[j]});
      append_interval(result.alphabet, start, letter);
      if (letter == known) {
        result.letter_of_one.push_back(one.letters[i]);
        result.letter_of_other.push_back(other.letters[j]);
      }
    }
    const uint32_t end_of_one = i + 1 < one.starts.size() ? one.starts[i + 1] : kPastCodePoints;
    const uint32_t end_of_other = j + 1 < other.starts.size() ? other.starts[j + 1] : kPastCodePoints;
    if (end_of_one <= end_of_other) ++i;
    if (end_of_other <= end_of_one) ++j;
  }
  result.alphabet.count = pairs.size();
  return result;
}

Alphabet rename_letters(const Alphabet& alphabet, const std::vector<int32_t>& names, int32_t count) {
  Alphabet result;
  for (size_t i = 0; i < alphabet.starts.size(); ++i) {
    const int32_t letter = alphabet.letters[i];
    append_interval(result, alphabet.starts[i],
                    letter == Alphabet::kNoLetter ? Alphabet::kNoLetter : names[letter]);
  }
  result.count = count;
  return result;
}

}  // namespace syntagma
