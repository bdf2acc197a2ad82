// Which groups of bytes, and texts of them, the states of a walk read.
#include <algorithm>
#include <array>
#include <bit>
#include <unordered_set>

#include "automaton/time_limit.hpp"
#include "mask/walk_automaton.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostSafeStates = 48;
constexpr int32_t kNarrow = 4;
constexpr size_t kMostReached = 128;  // states up to which a dead end is looked for
constexpr int kMostSurvived = 24;     // characters; dead ends farther off are not looked for
constexpr int kFarDeadEnd = 3;        // characters that are read before it at least

// Those that are not part of a longer character, or begin one.
using BytesByGroup = std::array<ByteSet, kLastLeadGroup + 1>;
const BytesByGroup kBytesByGroup = [] {
  BytesByGroup by_group;
  const auto add = [&](int byte) {
    by_group[group_of(static_cast<uint8_t>(byte))].add(static_cast<uint8_t>(byte));
  };
  for (int byte = 0; byte < 0x80; ++byte) add(byte);
  for (const LeadRange& range : kLeads)
    for (int lead = range.first; lead <= range.last; ++lead) add(lead);
  return by_group;
}();

const ByteSet& bytes_of(int group) { return kBytesByGroup[group]; }

}  // namespace

// Adds the states after `bytes` more bytes, the first of them from `low` to `high`; false if some text of
// them leads nowhere. What a state in the middle of a character leads to is looked at once: `middles` has
// those of each number of bytes.
bool WalkAutomaton::add_targets(int32_t from, ByteRange bytes, int count, std::vector<int32_t>& targets,
                                std::vector<int32_t> (&middles)[3]) {
  for (int byte = bytes.low; byte <= bytes.high; byte = after_class(byte)) {
    const int32_t target = next(from, static_cast<uint8_t>(byte));
    if (target == kNone) return false;
    std::vector<int32_t>& known = count == 1 ? targets : middles[count - 2];
    if (std::find(known.begin(), known.end(), target) != known.end()) continue;
    known.push_back(target);
    if (count > 1 && !add_targets(target, {0x80, 0xBF}, count - 1, targets, middles)) return false;
  }
  return true;
}

// The states after any one character whose lead byte is of a group; empty if some of them leads nowhere.
std::vector<int32_t> WalkAutomaton::targets_of_leads(int32_t state, int group) {
  std::vector<int32_t> targets;
  const ByteSet& leads = bytes_of(group);
  for (const LeadRange& range : kLeads) {
    std::vector<int32_t> middles[3], seconds;  // after the lead, whose continuation has a range of its own
    for (int lead = leads.next(range.first - 1); lead <= range.last;
         lead = leads.next(after_class(lead) - 1)) {
      const int32_t target = next(state, static_cast<uint8_t>(lead));
      if (target == kNone) return {};
      if (std::find(seconds.begin(), seconds.end(), target) != seconds.end()) continue;
      seconds.push_back(target);
      if (!add_targets(target, {range.low, range.high}, range.rest, targets, middles)) return {};
    }
  }
  return targets;
}

// Whether the lead bytes of a group do what others do that the same bytes continue.
bool WalkAutomaton::is_like_other_leads(int group) const {
  const uint8_t lead = kSingleLeads[group - kFirstLeadGroup];
  const uint8_t other = lead < 0xE0 ? 0xC3 : lead <= 0xEC ? 0xE4 : 0xEE;
  return automaton_.nfa().class_of(lead) == automaton_.nfa().class_of(other);
}

const WalkAutomaton::CharacterTargets& WalkAutomaton::character_targets(int32_t state) {
  const auto found = character_targets_.find(state);
  if (found != character_targets_.end()) return found->second;
  CharacterTargets result;
  std::vector<int32_t> targets;
  const auto add = [&](GroupSet groups) {
    for (const int32_t target : targets) {
      const auto known = std::find_if(result.targets.begin(), result.targets.end(),
                                      [&](const auto& entry) { return entry.first == target; });
      if (known != result.targets.end())
        known->second |= groups;
      else
        result.targets.emplace_back(target, groups);
    }
  };
  GroupSet dead = 0, of_class = 0;
  for (int byte = 0; byte < 0x80; ++byte) {
    const GroupSet group = GroupSet{1} << group_of(static_cast<uint8_t>(byte));
    result.alive |= group;
    of_class |= group;
    const int byte_class = automaton_.nfa().class_of(static_cast<uint8_t>(byte));
    if (byte < 0x7F && automaton_.nfa().class_of(static_cast<uint8_t>(byte + 1)) == byte_class) continue;
    targets.assign(1, next(state, static_cast<uint8_t>(byte)));
    if (targets[0] != kNone)
      add(of_class);
    else
      dead |= of_class;
    of_class = 0;
  }
  result.alive &= ~dead;
  const std::vector<int32_t> others = targets_of_leads(state, kOtherLeadsGroup);
  for (int lead_group = kFirstLeadGroup; lead_group <= kLastLeadGroup; ++lead_group) {
    const bool is_known =
        lead_group == kOtherLeadsGroup ||
        (lead_group < kOtherLeadsGroup && others.size() == 1 && is_like_other_leads(lead_group));
    targets = is_known ? others : targets_of_leads(state, lead_group);
    if (targets.empty()) continue;
    result.alive |= GroupSet{1} << lead_group;
    add(GroupSet{1} << lead_group);
  }
  return character_targets_.emplace(state, std::move(result)).first->second;
}

// The states that `state` leads to with some groups, which shrink to those that all of these states can read.
GroupSet WalkAutomaton::compute_safe(int32_t state) {
  // Where a search for words comes to dead ends, no other groups are tried. A near one may be a character
  // that classes single out, without which text is safe.
  for (size_t kind = 0; kind < kPlainTexts; ++kind) {
    const int known = survived(state, kind);
    const bool is_last = kind + 1 == kPlainTexts;
    if (known < (is_last ? 1 : kFarDeadEnd)) continue;
    states_[state].safe_known = true;
    if (known == TextSurvival::kForever)
      states_[state].safe_groups = texts_[kind].groups | GroupSet{1} << kContinuationGroup;
    return states_[state].safe_groups;
  }
  GroupSet groups = character_targets(state).alive;
  // Bytes that lead to where little can follow, such as a quote or a backslash, would spoil all others.
  const auto narrow = [&](int32_t target) {
    return 2 * std::popcount(character_targets(target).alive & groups) < std::popcount(groups);
  };
  const std::vector<std::pair<int32_t, GroupSet>> first = character_targets(state).targets;
  GroupSet spoiling = 0;
  for (const auto& [target, through] : first)
    if ((through & groups) != 0 && narrow(target)) spoiling |= through;
  groups &= ~spoiling;
  std::vector<int32_t> reached{state};
  for (size_t i = 0; i < reached.size() && groups != 0; ++i) {
    for (const auto& [target, through] : character_targets(reached[i]).targets)
      if ((through & groups) != 0 && std::find(reached.begin(), reached.end(), target) == reached.end())
        reached.push_back(target);
    groups &= character_targets(reached[i]).alive;
    if (reached.size() > kMostSafeStates) groups = 0;
  }
  if (groups != 0) groups |= GroupSet{1} << kContinuationGroup;
  // Where nothing is safe, because text is counted perhaps, it is not from the states on the way either. What
  // is safe one way is not added to what is another: texts mix them.
  for (const int32_t s : reached) {
    if (states_[s].safe_known) continue;
    states_[s].safe_known = true;
    states_[s].safe_groups = groups;
  }
  return states_[state].safe_groups;
}

const WalkAutomaton::CountedGroups& WalkAutomaton::counted_groups(int32_t from, int32_t to) {
  const uint64_t key = static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to);
  if (const auto found = counted_groups_.find(key); found != counted_groups_.end()) return found->second;
  CountedGroups result;
  GroupSet other = 0;
  const auto add = [&](int group, int finished) {
    GroupSet& groups = finished == 0 ? result.none : finished == 1 ? result.each : other;
    groups |= GroupSet{1} << group;
  };
  for (int byte = 0, end = 0; byte < 0x80; byte = end) {
    end = std::min(after_class(byte), 0x80);
    const int finished = finished_by(from, to, {byte, byte}, 1);
    for (int alike = byte; alike < end; ++alike) add(group_of(static_cast<uint8_t>(alike)), finished);
  }
  for (int group = kFirstLeadGroup; group <= kLastLeadGroup; ++group)
    for (const LeadRange& range : kLeads)
      for (int lead = bytes_of(group).next(range.first - 1); lead <= range.last;
           lead = bytes_of(group).next(after_class(lead) - 1)) {
        const int32_t middle = next(from, static_cast<uint8_t>(lead));
        const bool counts = middle != kNone && finished_iterations(from, static_cast<uint8_t>(lead)) == 0;
        add(group, counts ? finished_by(middle, to, {range.low, range.high}, range.rest) : kUncountable);
      }
  const GroupSet each = result.each & ~result.none & ~other, none = result.none & ~result.each & ~other;
  const GroupSet continuations = GroupSet{1} << kContinuationGroup;
  return counted_groups_[key] = {each | continuations, none | continuations};
}

// Iterations that `count` more bytes finish, the first of them in a range, whatever they are; kUncountable if
// they differ or do not lead to `to`.
int WalkAutomaton::finished_by(int32_t from, int32_t to, ByteRange bytes, int count) {
  int all = -1;
  int32_t looked_into = kNone;  // many bytes lead to the same middle of a character
  for (int byte = bytes.low; byte <= bytes.high; byte = after_class(byte)) {
    const int32_t target = next(from, static_cast<uint8_t>(byte));
    if (target == kNone || (count == 1 && target != to)) return kUncountable;
    int finished = finished_iterations(from, static_cast<uint8_t>(byte));
    if (count > 1) {
      if (finished != 0) return kUncountable;
      if (target == looked_into) continue;
      looked_into = target;
      finished = finished_by(target, to, {0x80, 0xBF}, count - 1);
    }
    if (finished == kUncountable || (all >= 0 && finished != all)) return kUncountable;
    all = finished;
  }
  return all;
}

int32_t WalkAutomaton::only_target(int32_t state, GroupSet groups) {
  const CharacterTargets& next = character_targets(state);
  if ((groups & ~next.alive) != 0) return kNone;
  int32_t only = kNone;
  for (const auto& [target, through] : next.targets) {
    if ((through & groups) == 0) continue;
    if (only != kNone) return kNone;
    only = target;
  }
  return only;
}

bool WalkAutomaton::is_narrow(int32_t state) const {
  const auto key = keys_[state];
  return key.size() == 3 && automaton_.state(key[1]).width <= kNarrow;
}

// That of whichever state of the grammar says most.
int WalkAutomaton::compute_survived(int32_t state, size_t kind) {
  int most = 0;
  if (live_bytes(state).contains_all(texts_[kind].first_bytes)) {
    std::unique_ptr<TextSurvival>& survival = survivals_[kind];
    if (survival == nullptr)
      survival = std::make_unique<TextSurvival>(automaton_.nfa(), texts_[kind].first_bytes);
    const auto key = keys_[state];
    for (size_t i = 1; i < key.size(); i += 2)
      for (const int32_t s : automaton_.plain_states(key[i])) {
        const int characters = survival->characters(s);
        if (characters == TextSurvival::kNotNow) return most;
        most = std::max(most, characters);
      }
  }
  return states_[state].survived[kind] = most;
}

bool WalkAutomaton::finds_survival(int32_t state, size_t kind, int characters) {
  const GroupSet groups = texts_[kind].groups;
  if (characters > kMostSurvived || !live_bytes(state).contains_all(texts_[kind].first_bytes)) return false;
  std::vector<std::pair<int32_t, int>> reached{{state, 0}};  // with the characters that it takes
  std::unordered_set<int32_t> seen{state};
  int read = characters;
  for (size_t i = 0; i < reached.size() && reached[i].second < read; ++i) {
    const auto [from, depth] = reached[i];
    TimeLimit::tick();
    if (!character_targets_.contains(from) && --survivors_left_ < 0) return false;
    const CharacterTargets& next = character_targets(from);
    if ((groups & ~next.alive) != 0 || reached.size() > kMostReached) {
      read = depth;
      break;
    }
    for (const auto& [target, through] : next.targets)
      if ((through & groups) != 0 && seen.insert(target).second) reached.emplace_back(target, depth + 1);
  }
  if (read < characters) states_[state].lethal[kind] = static_cast<uint8_t>(read + 1);
  for (const auto& [s, depth] : reached)
    states_[s].surviving[kind] =
        static_cast<uint8_t>(std::max<int>(states_[s].surviving[kind], read - depth));
  return read == characters;
}

// Looks at those of which it is not known, up to one over which `state` does not loop.
bool WalkAutomaton::finds_loops(int32_t state, GroupSet groups) {
  const ByteSet live = live_bytes(state);
  const GroupSet unknown = groups & ~states_[state].looping;
  for (GroupSet rest = unknown; rest != 0; rest &= rest - 1) {  // most do not even read all
    const int group = std::countr_zero(rest);
    if (live.contains_all(bytes_of(group))) continue;
    states_[state].not_looping |= GroupSet{1} << group;
    return false;
  }
  for (GroupSet rest = unknown; rest != 0; rest &= rest - 1) {
    const int group = std::countr_zero(rest);
    const bool loops = loops_over_group(state, group);
    (loops ? states_[state].looping : states_[state].not_looping) |= GroupSet{1} << group;
    if (!loops) return false;
  }
  return true;
}

// Whether some way on from a set of parents depends on how many characters have been read.
bool WalkAutomaton::counts_paths(int32_t parents) const {
  const auto nodes = arena_.parents(parents);
  return arena_.has_counters(parents) && std::any_of(nodes.begin(), nodes.end(), [&](int32_t id) {
           const StackNode& node = arena_.node(id);
           return node.is_counter() && automaton_.counter(node.counter).paths >= 0;
         });
}

// What loops inside a frame does so whatever the frame stands on. All bytes of the group are read.
bool WalkAutomaton::loops_over_group(int32_t state, int group) {
  const auto key = keys_[state];
  if (key.size() == 3 && key[0] == 0 && key[2] != kBaseParents && !counts_paths(key[2])) {
    const MacroState& m = automaton_.state(key[1]);
    if (!m.has_calls && m.reports == 0 && m.iterations_needed == 0)
      return loops_over(state_of({key[1], kBaseParents}), GroupSet{1} << group);
  }
  if (group >= kFirstLeadGroup) {
    const std::vector<int32_t> targets = targets_of_leads(state, group);
    return targets.size() == 1 && targets[0] == state;
  }
  const ByteSet& bytes = bytes_of(group);
  for (int byte = bytes.next(-1); byte < 256; byte = bytes.next(after_class(byte) - 1))
    if (next(state, static_cast<uint8_t>(byte)) != state) return false;
  return true;
}

}  // namespace syntagma
