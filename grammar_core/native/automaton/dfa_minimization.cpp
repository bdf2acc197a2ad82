#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "automaton/alphabet.hpp"
#include "automaton/dfa.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

// The sources of the edges that lead to a state, by letter.
class Predecessors {
 public:
  explicit Predecessors(const Dfa& dfa) : states_(dfa.state_count()) {
    const int32_t letters = dfa.alphabet.count;
    begin_.assign(static_cast<size_t>(states_) * letters + 1, 0);
    for (int32_t state = 0; state < states_; ++state) {
      TimeLimit::tick(letters);
      for (int32_t letter = 0; letter < letters; ++letter) {
        const int32_t target = dfa.target(state, letter);
        if (target != Dfa::kDead) ++begin_[place(target, letter) + 1];
      }
    }
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    sources_.resize(begin_.back());
    std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (int32_t state = 0; state < states_; ++state)
      for (int32_t letter = 0; letter < letters; ++letter) {
        const int32_t target = dfa.target(state, letter);
        if (target != Dfa::kDead) sources_[next[place(target, letter)]++] = state;
      }
  }

  std::span<const int32_t> of(int32_t state, int32_t letter) const {
    const size_t i = place(state, letter);
    return {sources_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }

 private:
  size_t place(int32_t state, int32_t letter) const { return static_cast<size_t>(letter) * states_ + state; }

  int32_t states_;
  std::vector<uint32_t> begin_;
  std::vector<int32_t> sources_;
};

std::vector<uint8_t> reachable(const Dfa& dfa) {
  std::vector<uint8_t> found(dfa.state_count(), 0);
  std::vector<int32_t> pending{0};
  found[0] = 1;
  while (!pending.empty()) {
    const int32_t state = pending.back();
    pending.pop_back();
    TimeLimit::tick(dfa.alphabet.count);
    for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter) {
      const int32_t target = dfa.target(state, letter);
      if (target == Dfa::kDead || found[target]) continue;
      found[target] = 1;
      pending.push_back(target);
    }
  }
  return found;
}

// The states that can be reached and completed.
std::vector<uint8_t> useful(const Dfa& dfa, const Predecessors& before) {
  const std::vector<uint8_t> reached = reachable(dfa);
  std::vector<uint8_t> found(dfa.state_count(), 0);
  std::vector<int32_t> pending;
  const auto visit = [&](int32_t state) {
    if (found[state] || !reached[state]) return;
    found[state] = 1;
    pending.push_back(state);
  };
  for (int32_t state = 0; state < dfa.state_count(); ++state)
    if (dfa.accepts[state]) visit(state);
  while (!pending.empty()) {
    const int32_t state = pending.back();
    pending.pop_back();
    for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter)
      for (const int32_t source : before.of(state, letter)) {
        TimeLimit::tick();
        visit(source);
      }
  }
  return found;
}

// Blocks of states not yet told apart. The states of a block lie together; split ones come first in it.
class Refinement {
 public:
  Refinement(const Dfa& dfa, const std::vector<uint8_t>& live, const Predecessors& before)
      : letters_(dfa.alphabet.count), live_(live), before_(before) {
    place_.assign(dfa.state_count(), 0);
    block_of_.assign(dfa.state_count(), -1);
    for (const bool accepting : {true, false}) {
      const auto begin = static_cast<int32_t>(states_.size());
      for (int32_t state = 0; state < dfa.state_count(); ++state)
        if (live[state] && (dfa.accepts[state] != 0) == accepting) states_.push_back(state);
      if (static_cast<size_t>(begin) < states_.size()) add_block(begin, static_cast<int32_t>(states_.size()));
    }
    for (size_t i = 0; i < states_.size(); ++i) place_[states_[i]] = static_cast<int32_t>(i);
    // What is refused leads to one more block: that one may be left out as a splitter.
    for (size_t block = 0; block < begin_.size(); ++block)
      for (int32_t letter = 0; letter < letters_; ++letter) enqueue(static_cast<int32_t>(block), letter);
  }

  // The block of each live state.
  std::vector<int32_t> run() {
    std::vector<int32_t> sources;
    while (!queue_.empty()) {
      const auto [block, letter] = queue_.back();
      queue_.pop_back();
      queued_[static_cast<size_t>(block) * letters_ + letter] = 0;
      sources.clear();
      for (int32_t i = begin_[block]; i < end_[block]; ++i)
        for (const int32_t source : before_.of(states_[i], letter)) {
          TimeLimit::tick();
          if (live_[source]) sources.push_back(source);
        }
      split(sources);
    }
    return std::move(block_of_);
  }

 private:
  int32_t add_block(int32_t begin, int32_t end) {
    const auto block = static_cast<int32_t>(begin_.size());
    begin_.push_back(begin);
    end_.push_back(end);
    marked_.push_back(0);
    queued_.resize(queued_.size() + letters_, 0);
    for (int32_t i = begin; i < end; ++i) block_of_[states_[i]] = block;
    return block;
  }

  void enqueue(int32_t block, int32_t letter) {
    uint8_t& queued = queued_[static_cast<size_t>(block) * letters_ + letter];
    if (queued) return;
    queued = 1;
    queue_.emplace_back(block, letter);
  }

  void split(const std::vector<int32_t>& sources) {
    touched_.clear();
    for (const int32_t state : sources) {
      const int32_t block = block_of_[state], boundary = begin_[block] + marked_[block];
      if (place_[state] < boundary) continue;
      if (marked_[block]++ == 0) touched_.push_back(block);
      const int32_t other = states_[boundary];
      std::swap(states_[place_[state]], states_[boundary]);
      std::swap(place_[state], place_[other]);
    }
    for (const int32_t block : touched_) split_block(block);
  }

  void split_block(int32_t block) {
    const int32_t marked = std::exchange(marked_[block], 0), size = end_[block] - begin_[block];
    if (marked == size) return;
    const int32_t boundary = begin_[block] + marked;
    int32_t fresh;
    if (marked <= size - marked) {
      fresh = add_block(begin_[block], boundary);
      begin_[block] = boundary;
    } else {
      fresh = add_block(boundary, end_[block]);
      end_[block] = boundary;
    }
    for (int32_t letter = 0; letter < letters_; ++letter) enqueue(fresh, letter);
  }

  int32_t letters_;
  const std::vector<uint8_t>& live_;
  const Predecessors& before_;
  std::vector<int32_t> states_, place_, block_of_;
  std::vector<int32_t> begin_, end_, marked_;  // by block
  std::vector<uint8_t> queued_;                // by block and letter
  std::vector<std::pair<int32_t, int32_t>> queue_;
  std::vector<int32_t> touched_;
};

Dfa nothing(const Alphabet& alphabet) {
  Dfa dfa;
  dfa.alphabet = rename_letters(alphabet, std::vector<int32_t>(alphabet.count, 0), 1);
  dfa.next = {Dfa::kDead};
  dfa.accepts = {0};
  return dfa;
}

// One state a block, numbered in the order in which they are reached.
Dfa quotient(const Dfa& dfa, const std::vector<uint8_t>& live, const std::vector<int32_t>& block_of) {
  Dfa result;
  result.alphabet = dfa.alphabet;
  std::vector<int32_t> number_of_block(dfa.state_count(), -1), members{0};
  number_of_block[block_of[0]] = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    const int32_t member = members[i];
    result.accepts.push_back(dfa.accepts[member]);
    TimeLimit::tick(dfa.alphabet.count);
    for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter) {
      const int32_t target = dfa.target(member, letter);
      if (target == Dfa::kDead || !live[target]) {
        result.next.push_back(Dfa::kDead);
        continue;
      }
      int32_t& number = number_of_block[block_of[target]];
      if (number < 0) {
        number = static_cast<int32_t>(members.size());
        members.push_back(target);
      }
      result.next.push_back(number);
    }
  }
  return result;
}

// For each letter the first one that does the same in every state. They are found by a hash of what they do;
// letters of one hash that differ after all stay apart from all others.
std::vector<int32_t> first_alike(const Dfa& dfa) {
  const int32_t letters = dfa.alphabet.count;
  std::vector<uint64_t> hashes(letters, 0);
  const int32_t* row = dfa.next.data();
  for (int32_t state = 0; state < dfa.state_count(); ++state, row += letters) {
    TimeLimit::tick(letters);
    for (int32_t letter = 0; letter < letters; ++letter)
      hashes[letter] = (hashes[letter] ^ static_cast<uint32_t>(row[letter])) * 0x9E3779B97F4A7C15ull;
  }
  std::unordered_map<uint64_t, int32_t> by_hash;
  std::vector<int32_t> first(letters);
  for (int32_t letter = 0; letter < letters; ++letter)
    first[letter] = by_hash.try_emplace(hashes[letter], letter).first->second;
  row = dfa.next.data();
  for (int32_t state = 0; state < dfa.state_count(); ++state, row += letters)
    for (int32_t letter = 0; letter < letters; ++letter)
      if (row[letter] != row[first[letter]]) first[letter] = letter;
  return first;
}

// Letters that do the same in every state become one.
Dfa merge_letters(Dfa dfa) {
  const std::vector<int32_t> first = first_alike(dfa);
  std::vector<int32_t> names(dfa.alphabet.count), kept;
  for (int32_t letter = 0; letter < dfa.alphabet.count; ++letter) {
    if (first[letter] == letter) {
      names[letter] = static_cast<int32_t>(kept.size());
      kept.push_back(letter);
    } else {
      names[letter] = names[first[letter]];
    }
  }
  if (static_cast<int32_t>(kept.size()) == dfa.alphabet.count) return dfa;
  Dfa result;
  result.alphabet = rename_letters(dfa.alphabet, names, static_cast<int32_t>(kept.size()));
  result.accepts = std::move(dfa.accepts);
  result.next.reserve(result.accepts.size() * kept.size());
  for (int32_t state = 0; state < result.state_count(); ++state)
    for (const int32_t letter : kept) result.next.push_back(dfa.target(state, letter));
  return result;
}

}  // namespace

Dfa minimize(Dfa whole) {
  if (std::find(whole.accepts.begin(), whole.accepts.end(), 1) == whole.accepts.end())
    return nothing(whole.alphabet);
  const Dfa dfa = merge_letters(std::move(whole));  // all that follows looks at every letter of every state
  const Predecessors before(dfa);
  const std::vector<uint8_t> live = useful(dfa, before);
  if (!live[0]) return nothing(dfa.alphabet);
  return merge_letters(quotient(dfa, live, Refinement(dfa, live, before).run()));
}

}  // namespace syntagma
