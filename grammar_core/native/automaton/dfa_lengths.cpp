// Questions about the lengths of texts, and finite languages.
#include <algorithm>

#include "automaton/dfa.hpp"
#include "automaton/dfa_limits.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

using Targets = std::vector<std::vector<int32_t>>;

// The different states after each state, one character on.
Targets targets_of(const Dfa& dfa) {
  Targets result(dfa.state_count());
  for (int32_t state = 0; state < dfa.state_count(); ++state) {
    for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter) {
      TimeLimit::tick();
      if (dfa.target(state, letter) != Dfa::kDead) result[state].push_back(dfa.target(state, letter));
    }
    std::sort(result[state].begin(), result[state].end());
    result[state].erase(std::unique(result[state].begin(), result[state].end()), result[state].end());
  }
  return result;
}

// For each state the length of the longest rest of a text; kUnbounded where a loop can be reached.
std::vector<int64_t> longest_rests(const Dfa& dfa, const Targets& targets) {
  const int32_t states = dfa.state_count();
  std::vector<std::vector<int32_t>> sources(states);
  std::vector<int32_t> open(states, 0), pending;
  for (int32_t state = 0; state < states; ++state) {
    open[state] = static_cast<int32_t>(targets[state].size());
    for (const int32_t target : targets[state]) sources[target].push_back(state);
    if (targets[state].empty()) pending.push_back(state);
  }
  std::vector<int64_t> longest(states, kUnbounded);
  while (!pending.empty()) {  // states all of whose targets are known
    const int32_t state = pending.back();
    pending.pop_back();
    longest[state] = 0;
    for (const int32_t target : targets[state])
      longest[state] = std::max(longest[state], longest[target] + 1);
    for (const int32_t source : sources[state])
      if (--open[source] == 0) pending.push_back(source);
  }
  return longest;
}

// For each state the length of the shortest rest of a text.
std::vector<int64_t> shortest_rests(const Dfa& dfa, const Targets& targets) {
  std::vector<std::vector<int32_t>> sources(dfa.state_count());
  std::vector<int64_t> shortest(dfa.state_count(), kUnbounded);
  std::vector<int32_t> queue;
  for (int32_t state = 0; state < dfa.state_count(); ++state) {
    for (const int32_t target : targets[state]) sources[target].push_back(state);
    if (!dfa.accepts[state]) continue;
    shortest[state] = 0;
    queue.push_back(state);
  }
  for (size_t i = 0; i < queue.size(); ++i)
    for (const int32_t source : sources[queue[i]])
      if (shortest[source] == kUnbounded) {
        shortest[source] = shortest[queue[i]] + 1;
        queue.push_back(source);
      }
  return shortest;
}

// Copies of the states, one for each number of characters read while that still matters.
class LengthProduct {
 public:
  LengthProduct(const Dfa& dfa, int64_t min, int64_t max)
      : dfa_(dfa),
        min_(min),
        max_(max),
        targets_(targets_of(dfa)),
        longest_(longest_rests(dfa, targets_)),
        free_(dfa.state_count(), -1) {}

  Dfa run() {
    result_.alphabet = dfa_.alphabet;
    next_layer_.assign(dfa_.state_count(), -1);
    number_of(0, 0);
    std::fill(next_layer_.begin(), next_layer_.end(), -1);
    for (size_t i = 0; i < origins_.size(); ++i) {
      const Origin origin = origins_[i];
      if (origin.read != kUnbounded && origin.read != read_) {
        read_ = origin.read;
        std::fill(next_layer_.begin(), next_layer_.end(), -1);
      }
      expand(static_cast<int32_t>(i), origin);
    }
    return trim();
  }

 private:
  struct Origin {
    int32_t state;
    int64_t read;  // characters; kUnbounded where their number no longer matters
  };

  bool is_free(int32_t state, int64_t read) const {
    return read >= min_ &&
           (max_ == kUnbounded || (longest_[state] != kUnbounded && read + longest_[state] <= max_));
  }

  int32_t number_of(int32_t state, int64_t read) {
    const bool is_free = read == kUnbounded || this->is_free(state, read);
    int32_t& number = is_free ? free_[state] : next_layer_[state];
    if (number < 0) {
      number = static_cast<int32_t>(origins_.size());
      origins_.push_back({state, is_free ? kUnbounded : read});
      check_dfa_size(static_cast<int64_t>(origins_.size()), dfa_.alphabet.count);
      result_.accepts.push_back(dfa_.accepts[state] && (is_free || read >= min_));
      result_.next.resize(result_.next.size() + dfa_.alphabet.count, Dfa::kDead);
    }
    return number;
  }

  void expand(int32_t number, const Origin& origin) {
    if (origin.read == max_ && max_ != kUnbounded) return;
    const int64_t read = origin.read == kUnbounded ? kUnbounded : origin.read + 1;
    for (int32_t letter = 0; letter < dfa_.alphabet.count; ++letter) {
      TimeLimit::tick();
      const int32_t target = dfa_.target(origin.state, letter);
      if (target == Dfa::kDead) continue;
      const int32_t next = number_of(target, read);
      result_.next[static_cast<size_t>(number) * dfa_.alphabet.count + letter] = next;
    }
  }

  // Leaves out what cannot be completed any more.
  Dfa trim() {
    const std::vector<int64_t> rests = shortest_rests(result_, targets_of(result_));
    Dfa kept;
    kept.alphabet = result_.alphabet;
    std::vector<int32_t> numbers(rests.size(), Dfa::kDead);
    int32_t count = 0;
    for (size_t i = 0; i < rests.size(); ++i)
      if (rests[i] != kUnbounded || i == 0) numbers[i] = count++;
    for (size_t i = 0; i < rests.size(); ++i) {
      if (numbers[i] == Dfa::kDead) continue;
      kept.accepts.push_back(result_.accepts[i]);
      for (int32_t letter = 0; letter < dfa_.alphabet.count; ++letter) {
        const int32_t target = result_.target(static_cast<int32_t>(i), letter);
        kept.next.push_back(target == Dfa::kDead ? Dfa::kDead : numbers[target]);
      }
    }
    return kept;
  }

  const Dfa& dfa_;
  int64_t min_, max_;
  Targets targets_;
  std::vector<int64_t> longest_;
  Dfa result_;
  std::vector<Origin> origins_;
  std::vector<int32_t> free_;        // by state: the copy that does not count
  std::vector<int32_t> next_layer_;  // by state: the copy for one more character than `read_`
  int64_t read_ = 0;
};

}  // namespace

Dfa limit_length(const Dfa& dfa, int64_t min, int64_t max) { return LengthProduct(dfa, min, max).run(); }

LengthRange length_range(const Dfa& dfa) {
  const Targets targets = targets_of(dfa);
  return {shortest_rests(dfa, targets)[0], longest_rests(dfa, targets)[0]};
}

bool can_be_extended(const Dfa& dfa) {
  for (int32_t state = 0; state < dfa.state_count(); ++state) {
    bool is_extended = !dfa.accepts[state];
    for (int32_t letter = 0; !is_extended && letter < dfa.alphabet.count; ++letter) {
      TimeLimit::tick();
      const int32_t target = dfa.target(state, letter);
      is_extended = target != Dfa::kDead && dfa.accepts[target];
    }
    if (!is_extended) return false;
  }
  return true;
}

bool is_endless(const Dfa& dfa) {
  const std::vector<int64_t> longest = longest_rests(dfa, targets_of(dfa));
  return std::all_of(longest.begin(), longest.end(), [](int64_t rest) { return rest == kUnbounded; });
}

std::u32string shortest_text(const Dfa& dfa) {
  const std::vector<int64_t> rests = shortest_rests(dfa, targets_of(dfa));
  std::u32string text;
  for (int32_t state = 0; rests[state] > 0;) {
    for (size_t i = 0; i < dfa.alphabet.starts.size(); ++i) {
      const int32_t letter = dfa.alphabet.letters[i];
      if (letter == Alphabet::kNoLetter) continue;
      const int32_t target = dfa.target(state, letter);
      if (target == Dfa::kDead || rests[target] != rests[state] - 1) continue;
      text.push_back(dfa.alphabet.starts[i]);
      state = target;
      break;
    }
  }
  return text;
}

std::optional<std::vector<std::u32string>> all_texts(const Dfa& dfa, size_t limit) {
  std::vector<std::u32string> texts;
  if (is_empty(dfa)) return texts;
  if (longest_rests(dfa, targets_of(dfa))[0] == kUnbounded) return std::nullopt;
  struct Frame {
    int32_t state;
    size_t interval;
    uint32_t code_point;
  };
  const Alphabet& alphabet = dfa.alphabet;
  std::vector<Frame> path{{0, 0, 0}};
  std::u32string text;
  if (dfa.accepts[0]) texts.push_back(text);
  while (!path.empty()) {  // every state can be completed, so each step leads to a text
    TimeLimit::tick();
    Frame& frame = path.back();
    if (frame.interval == alphabet.starts.size()) {
      path.pop_back();
      if (!text.empty()) text.pop_back();
      continue;
    }
    const size_t interval = frame.interval;
    const int32_t letter = alphabet.letters[interval];
    const int32_t target = letter == Alphabet::kNoLetter ? Dfa::kDead : dfa.target(frame.state, letter);
    const uint32_t end = interval + 1 < alphabet.starts.size() ? alphabet.starts[interval + 1] : 0x110000;
    frame.code_point = std::max(frame.code_point, alphabet.starts[interval]);
    const uint32_t code_point = frame.code_point++;
    if (target == Dfa::kDead || frame.code_point == end) ++frame.interval;
    if (target == Dfa::kDead) continue;
    text.push_back(code_point);
    path.push_back({target, 0, 0});
    if (!dfa.accepts[target]) continue;
    if (texts.size() == limit) return std::nullopt;
    texts.push_back(text);
  }
  return texts;
}

}  // namespace syntagma
