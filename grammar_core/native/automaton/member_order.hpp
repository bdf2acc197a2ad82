// Lists of members, each of which may come once, must come, or may come again: which member may come next.
//
// What has come so far is a configuration, interned so that equal ones have equal numbers; there can be
// exponentially many, so they are made when asked for. A configuration exists only if its list can be
// completed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "automaton/adjacency.hpp"
#include "automaton/interner.hpp"

namespace syntagma {

constexpr int64_t kUnbounded = INT64_MAX;

struct MembersShape {
  int32_t count = 0;
  std::vector<uint8_t> required;    // by member: it must come
  std::vector<uint8_t> repeatable;  // by member: it may come again
  bool ordered = false;             // those that are not repeatable come in their order
  int64_t min = 0, max = 0;         // members of a list; kUnbounded when there is no upper bound
  std::vector<std::pair<int32_t, int32_t>> implications;  // (i, j): where i comes, j must come too
  bool has_separator = false;     // there is one, the expression after those of the members
  std::vector<uint8_t> distinct;  // by member: its keys differ from those of other such members
};

class MemberOrder {
 public:
  // Members that are not `possible` never come. Throws InvalidGrammar for implications in a circle together
  // with both bounds, where completeness would be a problem of packing.
  MemberOrder(const MembersShape& shape, const std::vector<uint8_t>& possible);

  int32_t member_count() const { return count_; }
  // The configuration of the empty list, or kNoConfiguration when no list is possible.
  int32_t start() const { return start_; }
  // The configuration after one more member, or kNoConfiguration.
  int32_t after(int32_t configuration, int32_t member);
  // Calls `visit(member, configuration)` for each member that may come next.
  template <typename Visit>
  void for_each_next(int32_t configuration, Visit visit) {
    const Configuration before = read(configuration);
    Configuration next = before;
    for (int32_t member = 0; member < count_; ++member) {
      if (!add(next, member)) {
        next = before;
        continue;
      }
      visit(member, intern(next));
      next.taken = before.taken;
      next.position = before.position;
      if (has(noted_, member)) next.seen[member / 64] = before.seen[member / 64];
    }
  }
  // Whether the list may end.
  bool is_complete(int32_t configuration) const;
  // Whether some member may come.
  bool may_go_on(int32_t configuration) const;
  size_t memory_bytes() const { return configurations_.memory_bytes(); }

  static constexpr int32_t kNoConfiguration = -1;

 private:
  using Bits = std::vector<uint64_t>;
  struct Configuration {
    int64_t taken;     // members so far, as far as bounds tell them apart
    int32_t position;  // ordered: the first member that may still come, of those that come once
    Bits seen;         // members that came, of those in `noted_`
  };

  static bool has(const Bits& bits, int32_t i) { return (bits[i / 64] >> (i % 64) & 1) != 0; }
  static void set(Bits& bits, int32_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
  static uint64_t seen_word(std::span<const int32_t> words, size_t i) {
    return static_cast<uint32_t>(words[3 + 2 * i]) |
           static_cast<uint64_t>(static_cast<uint32_t>(words[4 + 2 * i])) << 32;
  }
  Bits no_bits() const { return Bits((count_ + 63) / 64, 0); }
  bool add(Configuration& c, int32_t member) const;
  Configuration read(int32_t id) const;
  int32_t intern(const Configuration& configuration);
  bool skips_required(int32_t from, int32_t to) const;
  bool is_available(const Configuration& c, int32_t member) const;
  bool has_come(const Configuration& c, int32_t member) const;
  bool can_complete(const Configuration& c) const;
  int64_t owed_without_implications(const Configuration& c) const;
  int64_t left_without_implications(const Configuration& c) const;
  bool add_obligations(const Configuration& c, Bits& owed, int64_t& count) const;
  bool has_more(const Configuration& c, const Bits& owed, int64_t wanted) const;
  void simplify_bounds();
  void note_members();
  bool has_circle() const;

  int32_t count_;
  bool ordered_;
  int64_t min_, max_;
  std::vector<uint8_t> required_, repeatable_, possible_;
  Adjacency implied_;
  bool has_implications_ = false;
  bool may_repeat_ = false;               // some possible member is repeatable
  std::vector<int32_t> required_before_;  // required members that come once, before each index
  std::vector<int32_t> possible_before_;  // possible members that come once, before each index
  Bits noted_, noted_required_, noted_once_;
  SequenceInterner configurations_;
  std::vector<int32_t> words_;  // of the one that is interned
  int32_t start_ = kNoConfiguration;
};

}  // namespace syntagma
