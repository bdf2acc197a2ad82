#include <algorithm>
#include <unordered_map>

#include "automaton/alphabet.hpp"
#include "automaton/dfa.hpp"
#include "automaton/dfa_limits.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

bool decides(SetOperation operation, bool in_one, bool in_other) {
  switch (operation) {
    case SetOperation::kIntersection:
      return in_one && in_other;
    case SetOperation::kUnion:
      return in_one || in_other;
    case SetOperation::kDifference:
      return in_one && !in_other;
  }
  return false;
}

// Pairs of states, made as they are reached.
class Product {
 public:
  Product(const Dfa& one, const Dfa& other, SetOperation operation)
      : one_(one), other_(other), operation_(operation), letters_(refine(one.alphabet, other.alphabet)) {
    result_.alphabet = letters_.alphabet;
    columns_ = static_cast<int64_t>(other.state_count()) + 1;
    const int64_t cells = (one.state_count() + 1) * columns_;
    if (cells <= kMaxCells) table_.assign(cells, -1);
  }

  Combination run() {
    number_of(0, 0);
    const int32_t letters = letters_.alphabet.count;
    for (size_t i = 0; i < pairs_.size(); ++i) {
      TimeLimit::tick(letters);
      const auto [one, other] = pairs_[i];
      for (int32_t letter = 0; letter < letters; ++letter) {
        const int32_t next_one = step(one_, one, letters_.letter_of_one[letter]);
        const int32_t next_other = step(other_, other, letters_.letter_of_other[letter]);
        const int32_t next = number_of(next_one, next_other);  // may grow the table
        result_.next[i * letters + letter] = next;
      }
    }
    if (is_one_) return {Combination::Kind::kOne, {}};
    if (is_other_) return {Combination::Kind::kOther, {}};
    return {Combination::Kind::kNew, minimize(std::move(result_))};
  }

 private:
  static int32_t step(const Dfa& dfa, int32_t state, int32_t letter) {
    return state == Dfa::kDead ? Dfa::kDead : dfa.target(state, letter);
  }
  static bool accepts(const Dfa& dfa, int32_t state) { return state != Dfa::kDead && dfa.accepts[state]; }

  int32_t number_of(int32_t one, int32_t other) {
    if (!decides(operation_, one != Dfa::kDead,
                 other != Dfa::kDead && operation_ != SetOperation::kDifference)) {
      if (one != Dfa::kDead) is_one_ = false;
      if (other != Dfa::kDead) is_other_ = false;
      return Dfa::kDead;
    }
    const int64_t cell = (one + 1) * columns_ + other + 1;
    int32_t& number = table_.empty() ? numbers_.try_emplace(cell, -1).first->second : table_[cell];
    if (number < 0) {
      number = static_cast<int32_t>(pairs_.size());
      pairs_.emplace_back(one, other);
      check_dfa_size(static_cast<int64_t>(pairs_.size()), letters_.alphabet.count);
      const bool in_one = accepts(one_, one), in_other = accepts(other_, other);
      const bool is_accepted = decides(operation_, in_one, in_other);
      if (is_accepted != in_one) is_one_ = false;
      if (is_accepted != in_other) is_other_ = false;
      result_.accepts.push_back(is_accepted);
      result_.next.resize(result_.next.size() + letters_.alphabet.count, Dfa::kDead);
    }
    return number;
  }

  static constexpr int64_t kMaxCells = 1 << 14;

  const Dfa &one_, &other_;
  SetOperation operation_;
  CommonAlphabet letters_;
  Dfa result_;
  int64_t columns_;
  std::vector<int32_t> table_;                    // numbers of pairs, if the possible ones are few
  std::unordered_map<int64_t, int32_t> numbers_;  // else of those that come up
  std::vector<std::pair<int32_t, int32_t>> pairs_;
  // Whether the texts are just those of one of the two, as far as the pairs tell. A state that is left out
  // has texts, since every state can be completed.
  bool is_one_ = true, is_other_ = true;
};

}  // namespace

Combination combine(const Dfa& one, const Dfa& other, SetOperation operation) {
  return Product(one, other, operation).run();
}

Dfa complement(const Dfa& dfa) {
  Dfa result = dfa;
  const int32_t sink = dfa.state_count();
  for (int32_t& target : result.next)
    if (target == Dfa::kDead) target = sink;
  result.next.insert(result.next.end(), dfa.alphabet.count, sink);
  for (uint8_t& accepts : result.accepts) accepts = !accepts;
  result.accepts.push_back(1);
  check_dfa_size(result.state_count(), result.alphabet.count);
  return minimize(std::move(result));
}

bool is_empty(const Dfa& dfa) { return dfa.state_count() == 1 && !dfa.accepts[0]; }

// Every state can be reached, so none may refuse and none may be stuck.
bool is_universal(const Dfa& dfa) {
  return std::all_of(dfa.accepts.begin(), dfa.accepts.end(), [](uint8_t accepts) { return accepts != 0; }) &&
         std::find(dfa.next.begin(), dfa.next.end(), Dfa::kDead) == dfa.next.end();
}

bool contains(const Dfa& dfa, const std::u32string& text) {
  int32_t state = 0;
  for (const char32_t character : text) {
    const int32_t letter = dfa.alphabet.letter_of(character);
    if (letter == Alphabet::kNoLetter) return false;
    state = dfa.target(state, letter);
    if (state == Dfa::kDead) return false;
  }
  return dfa.accepts[state];
}

DfaEdges gather_edges(const Dfa& dfa) {
  std::vector<std::vector<CodePointRange>> ranges_of_letter(dfa.alphabet.count);
  for (size_t i = 0; i < dfa.alphabet.starts.size(); ++i) {
    if (dfa.alphabet.letters[i] == Alphabet::kNoLetter) continue;
    const uint32_t end = i + 1 < dfa.alphabet.starts.size() ? dfa.alphabet.starts[i + 1] : 0x110000;
    ranges_of_letter[dfa.alphabet.letters[i]].push_back({dfa.alphabet.starts[i], end - 1});
  }
  DfaEdges result;
  result.accepts = dfa.accepts;
  std::unordered_map<std::string, int32_t> numbers;  // by the letters of the label
  std::vector<std::pair<int32_t, std::string>> row;  // target and letters
  for (int32_t state = 0; state < dfa.state_count(); ++state) {
    row.clear();
    for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter) {
      TimeLimit::tick();
      const int32_t target = dfa.target(state, letter);
      if (target == Dfa::kDead) continue;
      auto found =
          std::find_if(row.begin(), row.end(), [&](const auto& entry) { return entry.first == target; });
      if (found == row.end()) found = row.insert(row.end(), {target, {}});
      found->second.append(reinterpret_cast<const char*>(&letter), sizeof letter);
    }
    for (auto& [target, letters] : row) {
      const auto [entry, added] = numbers.try_emplace(letters, static_cast<int32_t>(result.labels.size()));
      if (added) {
        std::vector<CodePointRange> ranges;
        for (size_t i = 0; i < letters.size(); i += sizeof(int32_t)) {
          int32_t letter;
          std::copy_n(letters.data() + i, sizeof letter, reinterpret_cast<char*>(&letter));
          ranges.insert(ranges.end(), ranges_of_letter[letter].begin(), ranges_of_letter[letter].end());
        }
        std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
        std::vector<CodePointRange> joined;
        for (const CodePointRange range : ranges)
          if (!joined.empty() && joined.back().high + 1 == range.low)
            joined.back().high = range.high;
          else
            joined.push_back(range);
        result.labels.push_back(std::move(joined));
      }
      result.edges.push_back({state, target, entry->second});
    }
  }
  return result;
}

}  // namespace syntagma
