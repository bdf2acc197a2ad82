#include "automaton/member_order.hpp"

#include <algorithm>
#include <bit>

#include "automaton/components.hpp"
#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {

MemberOrder::MemberOrder(const MembersShape& shape, const std::vector<uint8_t>& possible)
    : count_(shape.count),
      ordered_(shape.ordered),
      min_(shape.min),
      max_(shape.max),
      required_(shape.required),
      repeatable_(shape.repeatable),
      possible_(possible) {
  std::vector<Adjacency::Placed> implications;
  for (const auto& [member, other] : shape.implications)
    if (member != other) implications.push_back({member, other});
  has_implications_ = !implications.empty();
  implied_ = Adjacency(count_, implications);
  required_before_.assign(count_ + 1, 0);
  possible_before_.assign(count_ + 1, 0);
  for (int32_t i = 0; i < count_; ++i) {
    required_before_[i + 1] = required_before_[i] + (required_[i] && !repeatable_[i]);
    possible_before_[i + 1] = possible_before_[i] + (possible_[i] && !repeatable_[i]);
    may_repeat_ |= possible_[i] && repeatable_[i];
    if (required_[i] && !possible_[i]) return;  // no list at all
  }
  simplify_bounds();
  if (min_ > max_) return;
  if (min_ > 0 && max_ != kUnbounded && has_circle())
    throw InvalidGrammar(
        "Members that imply each other in a circle cannot be combined with both a minimum and a maximum");
  note_members();
  const Configuration empty{0, 0, no_bits()};
  if (can_complete(empty)) start_ = intern(empty);
}

// Bounds that no list can break need no counting.
void MemberOrder::simplify_bounds() {
  const bool repeats = std::any_of(repeatable_.begin(), repeatable_.end(), [](uint8_t r) { return r != 0; });
  if (!repeats && max_ >= count_) max_ = kUnbounded;
  if (min_ <= std::count(required_.begin(), required_.end(), 1)) min_ = 0;
}

// Whatever later decisions depend on.
void MemberOrder::note_members() {
  noted_ = noted_required_ = noted_once_ = no_bits();
  for (int32_t i = 0; i < count_; ++i) {
    if (!implied_[i].empty()) set(noted_, i);
    for (const int32_t other : implied_[i]) set(noted_, other);
    if (repeatable_[i] ? required_[i] != 0 : !ordered_) set(noted_, i);
    if (required_[i] && (repeatable_[i] || !ordered_)) set(noted_required_, i);
    if (!ordered_ && !repeatable_[i] && possible_[i]) set(noted_once_, i);
  }
}

bool MemberOrder::has_circle() const {
  if (!has_implications_) return false;
  const Components components = find_components(implied_);
  return std::any_of(components.cyclic.begin(), components.cyclic.end(), [](auto c) { return c != 0; });
}

MemberOrder::Configuration MemberOrder::read(int32_t id) const {
  const auto words = configurations_[id];
  Configuration c{static_cast<int64_t>(static_cast<uint32_t>(words[0])) | int64_t{words[1]} << 32, words[2],
                  no_bits()};
  for (size_t i = 0; i < c.seen.size(); ++i) c.seen[i] = seen_word(words, i);
  return c;
}

int32_t MemberOrder::intern(const Configuration& c) {
  words_.assign({static_cast<int32_t>(c.taken), static_cast<int32_t>(c.taken >> 32), c.position});
  for (const uint64_t bits : c.seen) {
    words_.push_back(static_cast<int32_t>(bits));
    words_.push_back(static_cast<int32_t>(bits >> 32));
  }
  return configurations_.intern(words_);
}

bool MemberOrder::skips_required(int32_t from, int32_t to) const {
  return required_before_[to] != required_before_[from];
}

bool MemberOrder::has_come(const Configuration& c, int32_t member) const {
  if (has(noted_, member)) return has(c.seen, member);
  // What is not noted comes in order, and nothing required was skipped.
  return !repeatable_[member] && member < c.position;
}

bool MemberOrder::is_available(const Configuration& c, int32_t member) const {
  if (!possible_[member]) return false;
  if (repeatable_[member]) return true;
  return ordered_ ? member >= c.position : !has(c.seen, member);
}

// Adds a member to a list; false if it may not come next.
bool MemberOrder::add(Configuration& c, int32_t member) const {
  TimeLimit::tick();
  if (!is_available(c, member)) return false;
  if (ordered_ && !repeatable_[member]) {
    if (skips_required(c.position, member)) return false;
    c.position = member + 1;
  }
  if (has(noted_, member)) set(c.seen, member);
  if (max_ != kUnbounded || c.taken < min_) ++c.taken;
  return can_complete(c);
}

int32_t MemberOrder::after(int32_t configuration, int32_t member) {
  Configuration c = read(configuration);
  return add(c, member) ? intern(c) : kNoConfiguration;
}

bool MemberOrder::is_complete(int32_t configuration) const {
  const Configuration c = read(configuration);
  if (!has_implications_) return c.taken >= min_ && owed_without_implications(c) == 0;
  Bits owed = no_bits();
  int64_t count = 0;
  return c.taken >= min_ && add_obligations(c, owed, count) && count == 0;
}

bool MemberOrder::may_go_on(int32_t configuration) const {
  if (!has_implications_ && !ordered_ && max_ == kUnbounded && min_ == 0) {
    // Any member that is left may come, so the words of those that came say it.
    if (may_repeat_) return true;
    const auto words = configurations_[configuration];
    for (size_t i = 0; i < noted_once_.size(); ++i)
      if ((noted_once_[i] & ~seen_word(words, i)) != 0) return true;
    return false;
  }
  const Configuration before = read(configuration);
  for (int32_t member = 0; member < count_; ++member) {
    if (!is_available(before, member)) continue;
    Configuration c = before;
    if (add(c, member)) return true;
  }
  return false;
}

// The members that must still come, in `owed`; false if one of them cannot.
bool MemberOrder::add_obligations(const Configuration& c, Bits& owed, int64_t& count) const {
  std::vector<int32_t> pending;
  for (int32_t i = 0; i < count_; ++i) {
    if (required_[i]) pending.push_back(i);
    if (has(c.seen, i)) pending.insert(pending.end(), implied_[i].begin(), implied_[i].end());
  }
  while (!pending.empty()) {
    const int32_t member = pending.back();
    pending.pop_back();
    if (has_come(c, member) || has(owed, member)) continue;
    if (!is_available(c, member)) return false;
    set(owed, member);
    ++count;
    pending.insert(pending.end(), implied_[member].begin(), implied_[member].end());
  }
  return true;
}

int64_t MemberOrder::owed_without_implications(const Configuration& c) const {
  int64_t owed = ordered_ ? required_before_[count_] - required_before_[c.position] : 0;
  for (size_t i = 0; i < c.seen.size(); ++i) owed += std::popcount(noted_required_[i] & ~c.seen[i]);
  return owed;
}

// Members that come once and may still come.
int64_t MemberOrder::left_without_implications(const Configuration& c) const {
  int64_t left = ordered_ ? possible_before_[count_] - possible_before_[c.position] : 0;
  for (size_t i = 0; i < c.seen.size(); ++i) left += std::popcount(noted_once_[i] & ~c.seen[i]);
  return left;
}

bool MemberOrder::can_complete(const Configuration& c) const {
  if (!has_implications_) {
    if (max_ != kUnbounded && c.taken + owed_without_implications(c) > max_) return false;
    return may_repeat_ || c.taken + left_without_implications(c) >= min_;
  }
  Bits owed = no_bits();
  int64_t count = 0;
  if (!add_obligations(c, owed, count)) return false;
  if (max_ != kUnbounded && c.taken + count > max_) return false;
  const int64_t wanted = min_ - c.taken - count;
  return wanted <= 0 || has_more(c, owed, wanted);
}

// Whether `wanted` more members can come beside those that are owed. Taken from the last implied one on, they
// can come one at a time, so no number up to all of them is left out.
bool MemberOrder::has_more(const Configuration& c, const Bits& owed, int64_t wanted) const {
  std::vector<uint8_t> usable(count_);
  for (int32_t i = 0; i < count_; ++i) usable[i] = has_come(c, i) || has(owed, i) || is_available(c, i);
  for (bool changed = has_implications_; changed;) {
    changed = false;
    for (int32_t i = 0; i < count_; ++i) {
      const auto& implied = implied_[i];
      if (!usable[i] || has_come(c, i) ||
          std::all_of(implied.begin(), implied.end(), [&](int32_t j) { return usable[j] != 0; }))
        continue;
      usable[i] = 0;
      changed = true;
    }
  }
  for (int32_t i = 0; i < count_; ++i) {
    if (!usable[i] || !is_available(c, i)) continue;
    if (repeatable_[i]) return true;
    if (!has(owed, i) && --wanted == 0) return true;
  }
  return false;
}

}  // namespace syntagma
