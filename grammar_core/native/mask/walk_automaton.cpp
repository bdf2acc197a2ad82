#include "mask/walk_automaton.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostSafeStates = 48;
constexpr size_t kFewItems = 4;
constexpr size_t kMostSurvivors = 128;

// Well-formed characters by lead byte (Unicode Standard, table 3-7): after the lead, the second byte's range.
struct LeadRange {
  int first, last, low, high, rest;
};
constexpr LeadRange kLeads[] = {{0xC2, 0xDF, 0x80, 0xBF, 1}, {0xE0, 0xE0, 0xA0, 0xBF, 2},
                                {0xE1, 0xEC, 0x80, 0xBF, 2}, {0xED, 0xED, 0x80, 0x9F, 2},
                                {0xEE, 0xEF, 0x80, 0xBF, 2}, {0xF0, 0xF0, 0x90, 0xBF, 3},
                                {0xF1, 0xF3, 0x80, 0xBF, 3}, {0xF4, 0xF4, 0x80, 0x8F, 3}};

const ByteSet& leads_of(int group) {
  static const std::vector<ByteSet> leads = [] {
    std::vector<ByteSet> by_group(kOtherLeadsGroup + 1);
    for (const LeadRange& range : kLeads)
      for (int lead = range.first; lead <= range.last; ++lead)
        by_group[group_of(static_cast<uint8_t>(lead))].add(static_cast<uint8_t>(lead));
    return by_group;
  }();
  return leads[group];
}

}  // namespace

WalkAutomaton::WalkAutomaton(MacroAutomaton& automaton)
    : automaton_(automaton), stepper_(automaton, arena_) {}

int32_t WalkAutomaton::state_of(Item item) {
  scratch_.clear();
  scratch_.items.push_back(item);
  return intern(scratch_);
}

Item WalkAutomaton::lone_item(int32_t state) const {
  const auto key = keys_[state];
  if (key.size() != 3 || key[0] != 0 || key[2] != kBaseParents) return {kNone, kNone};
  return {key[1], key[2]};
}

std::vector<Item> WalkAutomaton::items(int32_t state) const {
  std::vector<Item> items;
  const auto key = keys_[state];
  for (size_t i = 1; i < key.size(); i += 2) items.push_back({key[i], key[i + 1]});
  return items;
}

bool WalkAutomaton::compute_inner_frame(int32_t state) {
  const std::vector<Item> all = items(state);
  const bool has_inner =
      all.size() <= kFewItems &&
      std::any_of(all.begin(), all.end(), [&](const Item& item) { return is_inner_frame(item); });
  states_[state].inner_frame = has_inner ? 1 : 0;
  return has_inner;
}

bool WalkAutomaton::is_inner_frame(Item item) {
  int32_t parents = item.parents;
  while (arena_.has_counters(parents)) {
    if (arena_.parents(parents).size() != 1) return false;
    parents = arena_.node(arena_.parents(parents)[0]).parents;
  }
  return parents != kBaseParents && !automaton_.regular_frame(item.macro).empty() &&
         (!automaton_.is_frame_start(item.macro) ||
          automaton_.next(item.macro, automaton_.nfa().class_of('a')) == item.macro);
}

void WalkAutomaton::compute_live(int32_t state) {
  State& s = states_[state];
  const auto add = [&](int32_t macro) {
    s.live.merge(automaton_.state(macro).live);
    s.live_classes.merge(automaton_.state(macro).live_classes);
  };
  const auto key = keys_[state];
  for (size_t i = 1; i < key.size(); i += 2) {
    add(key[i]);
    if (!automaton_.state(key[i]).has_calls) continue;
    const MacroState& m = automaton_.with_calls(key[i]);
    for (const int32_t start : {m.call_start, m.tail_call_start})
      if (start != kNone) add(start);
  }
  s.live_count = static_cast<int16_t>(s.live_classes.size());
  s.next = tables_.allocate(s.live_count);
  std::fill_n(s.next, s.live_count, kUnknown);
}

ByteSet WalkAutomaton::differing_bytes(int32_t a, int32_t b) {
  if (a == kNone) return live_bytes(b);
  if (b == kNone) return live_bytes(a);
  const Item mine = lone_item(a), theirs = lone_item(b);
  if (mine.macro != kNone && theirs.macro != kNone)
    return automaton_.differing_bytes(mine.macro, theirs.macro);
  ByteSet either = live_bytes(a);
  either.merge(live_bytes(b));
  return either;
}

bool WalkAutomaton::is_within_character(int32_t state) {
  const std::vector<Item> all = items(state);
  return states_[state].reports == 0 && std::all_of(all.begin(), all.end(), [&](const Item& item) {
           return automaton_.is_within_character(item.macro);
         });
}

// Recurses for the rest of a character, which is three bytes at most.
bool WalkAutomaton::continue_alike(int32_t a, int32_t b) {
  if (a == b) return true;
  if (a == kNone || b == kNone) return false;
  const auto [known, added] = alike_.try_emplace(static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b));
  if (!added) return known->second;
  bool alike = is_within_character(a) && is_within_character(b);
  int previous_class = -1;
  for (int byte = 0x80; alike && byte <= 0xBF; ++byte) {
    const int byte_class = automaton_.nfa().class_of(static_cast<uint8_t>(byte));
    if (byte_class == previous_class) continue;
    previous_class = byte_class;
    alike = continue_alike(next(a, static_cast<uint8_t>(byte)), next(b, static_cast<uint8_t>(byte)));
  }
  return alike_[static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b)] = alike;
}

int32_t WalkAutomaton::resumed(int32_t parents, int32_t reports) {
  stepper_.resume(parents, reports, scratch_);
  return scratch_.alive() ? intern(scratch_) : kNone;
}

int32_t WalkAutomaton::usual_target(int32_t state) {
  const Item item = lone_item(state);
  int32_t candidate = kNone;
  if (item.macro != kNone && !automaton_.state(item.macro).has_calls) {
    const int letter = automaton_.usual_letter(item.macro);
    if (letter >= 0) candidate = next(state, static_cast<uint8_t>(letter));
  } else {
    int lead = 0;  // R. Boyer and J. Moore, "MJRTY: a fast majority vote algorithm", 1991
    for (int byte = 'a'; byte <= 'z'; ++byte) {
      const int32_t target = next(state, static_cast<uint8_t>(byte));
      if (lead == 0) candidate = target;
      lead += target == candidate ? 1 : -1;
    }
  }
  return candidate != state && candidate != kNone && has_items(candidate) ? candidate : kNone;
}

int32_t WalkAutomaton::intern(const Configuration& configuration) {
  key_.assign(1, configuration.base_reports);
  for (const Item& item : configuration.items) {
    key_.push_back(item.macro);
    key_.push_back(item.parents);
  }
  return intern(key_);
}

int32_t WalkAutomaton::intern(std::span<const int32_t> key) {
  const int32_t id = keys_.intern(key);
  if (id == static_cast<int32_t>(states_.size())) {
    State& state = states_.emplace_back();
    state.reports = key[0];
    state.has_items = key.size() > 1;
    set_iterations(key, state);
  }
  return id;
}

// How a state stands to the iterations of a counter right above the base, if it is above one.
void WalkAutomaton::set_iterations(std::span<const int32_t> key, State& state) {
  if (key.size() == 1) {  // the last one has ended
    state.between_iterations = true;
    state.iterations_ahead = 0;
    return;
  }
  if (key.size() != 3 || !arena_.has_counters(key[2])) return;
  const Item item{key[1], key[2]};
  const auto parents = arena_.parents(item.parents);
  if (parents.size() != 1) return;
  const StackNode& node = arena_.node(parents[0]);
  if (!node.is_counter() || node.parents != kBaseParents) return;
  state.between_iterations = automaton_.begins_iteration(node.counter, item.macro);
  const int64_t ahead = automaton_.iterations_ahead(node.counter, item.macro);
  state.iterations_ahead = state.reports != 0 ? 0 : static_cast<int32_t>(ahead);
}

int32_t WalkAutomaton::compute_next(int32_t state, int byte_class, int live_class) {
  const auto key = keys_[state];
  items_.clear();
  for (size_t i = 1; i < key.size(); i += 2) items_.push_back({key[i], key[i + 1]});
  const bool is_alone = items_.size() == 1 && !automaton_.state(items_[0].macro).has_calls;
  const int32_t inside = is_alone ? stepper_.step_inside(items_[0].macro, byte_class) : kUnknown;
  int32_t target = kNone;
  uint8_t finished = 0;
  if (inside != kUnknown) {
    const int32_t reached[] = {0, inside, items_[0].parents};
    if (inside != kNone) target = intern(reached);
  } else {
    stepper_.step(items_, byte_class, scratch_);
    if (scratch_.alive()) target = intern(scratch_);
    if (scratch_.counted) finished = target != kNone && states_[target].between_iterations ? 1 : kUncountable;
  }
  State& s = states_[state];
  if (finished != 0 && s.finished == nullptr) {
    s.finished = std::make_unique<uint8_t[]>(s.live_count);
    finished_bytes_ += s.live_count;
  }
  const auto note = [&](int at) {
    s.next[at] = target;
    if (finished != 0) s.finished[at] = finished;
  };
  note(live_class);
  if (!is_alone) return target;
  // Bytes that move the only frame alike do everything alike; the classes are those of its macro-state.
  const auto* next = automaton_.state(items_[0].macro).next;
  const int32_t moved = next[live_class].load(std::memory_order_relaxed);
  for (int i = 0; i < s.live_count; ++i)
    if (next[i].load(std::memory_order_relaxed) == moved) note(i);
  return target;
}

std::vector<int32_t> WalkAutomaton::token_sets(int32_t state) {
  std::vector<int32_t> sets;
  const auto add = [&](int32_t macro) {
    if (macro == kNone || !automaton_.state(macro).has_tokens) return;
    const std::vector<int32_t> more = automaton_.token_sets(macro);
    sets.insert(sets.end(), more.begin(), more.end());
  };
  const auto key = keys_[state];
  for (size_t i = 1; i < key.size(); i += 2) {
    add(key[i]);
    const MacroState& m = automaton_.with_calls(key[i]);
    add(m.call_start);
    add(m.tail_call_start);
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

// Adds the states after `bytes` more bytes, the first of them from `low` to `high`; false if some text of
// them leads nowhere. What a state in the middle of a character leads to is looked at once: `middles` has
// those of each number of bytes.
bool WalkAutomaton::add_targets(int32_t from, ByteRange bytes, int count, std::vector<int32_t>& targets,
                                std::vector<int32_t> (&middles)[3]) {
  int previous_class = -1;
  for (int byte = bytes.low; byte <= bytes.high; ++byte) {
    const int byte_class = automaton_.nfa().class_of(static_cast<uint8_t>(byte));
    if (byte_class == previous_class) continue;
    previous_class = byte_class;
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
  const ByteSet& leads = leads_of(group);
  for (const LeadRange& range : kLeads) {
    std::vector<int32_t> middles[3], seconds;  // after the lead, whose continuation has a range of its own
    int previous_class = -1;
    for (int lead = leads.next(range.first - 1); lead <= range.last; lead = leads.next(lead)) {
      const int byte_class = automaton_.nfa().class_of(static_cast<uint8_t>(lead));
      if (byte_class == previous_class) continue;
      previous_class = byte_class;
      const int32_t target = next(state, static_cast<uint8_t>(lead));
      if (target == kNone) return {};
      if (std::find(seconds.begin(), seconds.end(), target) != seconds.end()) continue;
      seconds.push_back(target);
      if (!add_targets(target, {range.low, range.high}, range.rest, targets, middles)) return {};
    }
  }
  return targets;
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
  for (int lead_group = kFirstLeadGroup; lead_group <= kOtherLeadsGroup; ++lead_group) {
    targets = targets_of_leads(state, lead_group);
    if (targets.empty()) continue;
    result.alive |= GroupSet{1} << lead_group;
    add(GroupSet{1} << lead_group);
  }
  return character_targets_.emplace(state, std::move(result)).first->second;
}

// The states that `state` leads to with some groups, which shrink to those that all of these states can read.
GroupSet WalkAutomaton::compute_safe(int32_t state) {
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

bool WalkAutomaton::survives(int32_t state, GroupSet groups, size_t kind, int characters) {
  if (characters <= states_[state].surviving[kind]) return true;
  if (characters >= states_[state].lethal[kind]) return false;
  std::vector<std::pair<int32_t, int>> reached{{state, 0}};  // with the characters that it takes
  std::unordered_set<int32_t> seen{state};
  int read = characters;
  for (size_t i = 0; i < reached.size() && reached[i].second < read; ++i) {
    const auto [from, depth] = reached[i];
    TimeLimit::tick();
    const CharacterTargets& next = character_targets(from);
    if ((groups & ~next.alive) != 0 || reached.size() > kMostSurvivors) {
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

GroupSet WalkAutomaton::compute_loop(int32_t state) {
  const GroupSet loop = loop_of_frame(state);
  states_[state].loop_groups = loop;
  states_[state].loop_known = true;
  return loop;
}

// What loops inside a frame does so whatever the frame stands on.
GroupSet WalkAutomaton::loop_of_frame(int32_t state) {
  const auto key = keys_[state];
  if (key.size() == 3 && key[0] == 0 && key[2] != kBaseParents) {
    const MacroState& m = automaton_.state(key[1]);
    if (!m.has_calls && m.reports == 0) return loop_groups(state_of({key[1], kBaseParents}));
  }
  GroupSet leaving = 0, all = 0;
  int previous_class = -1;
  bool loops = false;
  for (int byte = 0; byte < 0x80; ++byte) {
    const int byte_class = automaton_.nfa().class_of(static_cast<uint8_t>(byte));
    if (byte_class != previous_class) loops = next(state, static_cast<uint8_t>(byte)) == state;
    previous_class = byte_class;
    const GroupSet group = GroupSet{1} << group_of(static_cast<uint8_t>(byte));
    all |= group;
    if (!loops) leaving |= group;
  }
  GroupSet loop = all & ~leaving;
  if (live_bytes(state).next(0x7F) != 256)
    for (int lead_group = kFirstLeadGroup; lead_group <= kOtherLeadsGroup; ++lead_group) {
      const std::vector<int32_t> targets = targets_of_leads(state, lead_group);
      if (targets.size() == 1 && targets[0] == state) loop |= GroupSet{1} << lead_group;
    }
  return loop | GroupSet{1} << kContinuationGroup;
}

}  // namespace syntagma
