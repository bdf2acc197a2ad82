// What walks found in frames that look the same in many grammars, kept beside one vocabulary.
//
// A frame of one regular symbol depends on nothing but the symbol's automaton and the bytes that may follow.
// The strings and numbers of one schema are those of the next, so their rows are computed once for all. Keys
// are the automata themselves and not hashes of them: grammars come from strangers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "automaton/interner.hpp"
#include "mask/row.hpp"
#include "mask/vocabulary_walk.hpp"

namespace syntagma {

struct FrameWalk {
  Row row;                       // tokens consumed; of a counted frame those that count by characters
  std::vector<int32_t> leaving;  // trie nodes where tokens leave the frame; not of a counted frame
  WalkFindings counted;          // of a counted frame, with reports left out
  int32_t most = 0;              // of a counted frame: iterations that a token can start or finish
  int32_t number = 0;            // instead of all that: of an automaton
  std::shared_ptr<const MergedTrie> rests;  // instead of all that: rests of tokens, merged

  size_t memory_bytes() const {
    return sizeof(FrameWalk) + row.memory_bytes() + leaving.capacity() * sizeof(int32_t) +
           counted.consumed.capacity() * sizeof(ConsumedTokens) +
           counted.leaving.capacity() * sizeof(LeavingPlace) + (rests ? rests->memory_bytes() : 0);
  }
};

// Thread-safe. What was not asked for since the last half of the limit was filled is forgotten.
class FrameRows {
 public:
  explicit FrameRows(size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  using Key = std::vector<int32_t>;
  // Null if it is not known.
  std::shared_ptr<const FrameWalk> find(const Key& key);
  void add(const Key& key, std::shared_ptr<const FrameWalk> walk);
  // A number for an automaton that would be too long as a part of many keys.
  int32_t number_of(const Key& automaton);
  size_t memory_bytes() const {
    const std::lock_guard lock(mutex_);
    return recent_bytes_ + older_bytes_;
  }

 private:
  struct Hash {
    size_t operator()(const Key& key) const { return hash_words(key); }
  };
  using Map = std::unordered_map<Key, std::shared_ptr<const FrameWalk>, Hash>;
  std::shared_ptr<const FrameWalk> known(const Key& key);
  void insert(const Key& key, std::shared_ptr<const FrameWalk> walk);

  mutable std::mutex mutex_;
  size_t limit_bytes_;
  Map recent_, older_;
  size_t recent_bytes_ = 0, older_bytes_ = 0;
  int32_t numbers_ = 0;  // given to automata; one that was forgotten gets another
};

}  // namespace syntagma
