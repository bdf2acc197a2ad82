// How far any text of some characters can be read from states of an Nfa, as in a search for words, which
// comes to dead ends behind some of them or nowhere.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "automaton/nfa.hpp"

namespace syntagma {

class TextSurvival {
 public:
  // However long a text is.
  static constexpr int kForever = std::numeric_limits<int>::max();

  // Of whole characters that begin with these bytes.
  TextSurvival(const Nfa& nfa, const ByteSet& first_bytes);

  // At the beginning of a walk, whose work is limited.
  void begin_walk() { left_ = kMostInWalk; }
  // So many characters are surely read from a state on, whatever they are; perhaps more where that would take
  // long to tell, and from derived states. kNotNow where a walk has asked too much already.
  static constexpr int kNotNow = -1;
  int characters(int32_t state);
  size_t memory_bytes() const { return known_.size() * 16; }

 private:
  // Bytes that are to be read, in ranges, and the number of what is to be read behind each.
  struct Rest {
    struct Part {
      uint8_t low, high;
      int next;
    };
    std::vector<Part> parts;
    ByteSet bytes;
  };
  // A state before a character, or before the rest of one.
  struct Place {
    int32_t state;
    int rest;  // its number
    bool operator==(const Place&) const = default;
  };
  class Search;
  static constexpr int kMostPlaces = 2'000;  // that are looked into for one state
  static constexpr int kFewPlaces = 200;     // the same once these were not enough
  static constexpr int kMostInWalk = 2'500;  // by all states of a walk

  const Nfa& nfa_;
  int most_ = kMostPlaces, left_ = kMostInWalk;
  std::vector<Rest> rests_;
  std::unordered_map<int32_t, int> known_;  // by state
};

}  // namespace syntagma
