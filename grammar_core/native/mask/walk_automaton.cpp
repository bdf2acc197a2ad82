#include "mask/walk_automaton.hpp"

#include <algorithm>
#include <bit>

namespace syntagma {
namespace {

constexpr size_t kFewItems = 4;
constexpr size_t kLikelyStates = 128;

}  // namespace

WalkAutomaton::WalkAutomaton(MacroAutomaton& automaton, std::span<const PlainText, kPlainTexts> texts)
    : automaton_(automaton), texts_(texts), stepper_(automaton, arena_) {
  states_.reserve(kLikelyStates);
}

size_t WalkAutomaton::memory_bytes() const {
  size_t survivals = 0;
  for (const auto& survival : survivals_)
    if (survival != nullptr) survivals += survival->memory_bytes();
  return states_.size() * sizeof(State) + tables_.memory_bytes() + finished_bytes_ + hub_bytes_ + survivals +
         arena_.memory_bytes() + keys_.memory_bytes();
}

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
  const auto key = keys_[state];
  bool has_inner = false;
  for (size_t i = 1; i < key.size() && key.size() <= 1 + 2 * kFewItems && !has_inner; i += 2)
    has_inner = is_inner_frame({key[i], key[i + 1]});
  states_[state].inner_frame = has_inner ? 1 : 0;
  return has_inner;
}

bool WalkAutomaton::is_inner_frame(Item item) {
  int32_t parents = item.parents;
  while (arena_.has_counters(parents)) {
    if (arena_.parents(parents).size() != 1) return false;
    parents = arena_.node(arena_.parents(parents)[0]).parents;
  }
  return parents != kBaseParents && automaton_.is_regular_frame(item.macro) &&
         (!automaton_.is_frame_start(item.macro) ||
          automaton_.next(item.macro, automaton_.nfa().class_of('a')) == item.macro);
}

int32_t WalkAutomaton::reading_target(int32_t state, uint8_t byte) {
  const int32_t lone = states_[state].lone;
  if (lone == kNone || known_next(state, byte) != kUnknown) return kNone;
  const int32_t target = automaton_.nfa().only_target(lone, byte);
  return target >= 0 && is_reading(target) ? target : kNone;
}

std::vector<int32_t> WalkAutomaton::readings(int32_t state) {
  const auto key = keys_[state];
  if (key.size() != 3 || automaton_.state(key[1]).width < 2) return {};
  std::vector<int32_t> found = automaton_.reading_states(key[1]);
  if (!std::all_of(found.begin(), found.end(), [&](int32_t s) { return is_reading(s, 1); })) found.clear();
  return found;
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
  const auto key = keys_[state];
  bool is_within = states_[state].reports == 0;
  for (size_t i = 1; i < key.size() && is_within; i += 2) is_within = automaton_.is_within_character(key[i]);
  return is_within;
}

// Recurses for the rest of a character, which is three bytes at most.
bool WalkAutomaton::continue_alike(int32_t a, int32_t b) {
  if (a == b) return true;
  if (a == kNone || b == kNone) return false;
  const auto [known, added] = alike_.try_emplace(static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b));
  if (!added) return known->second;
  bool alike = is_within_character(a) && is_within_character(b);
  for (int byte = 0x80; alike && byte <= 0xBF; byte = after_class(byte))
    alike = continue_alike(next(a, static_cast<uint8_t>(byte)), next(b, static_cast<uint8_t>(byte)));
  return alike_[static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b)] = alike;
}

int32_t WalkAutomaton::resumed(int32_t parents, int32_t reports) {
  stepper_.resume(parents, reports, scratch_);
  return scratch_.alive() ? intern(scratch_) : kNone;
}

int32_t WalkAutomaton::usual_target(int32_t state) {
  const auto key = keys_[state];
  const bool edges_tell = key.size() == 3 && !automaton_.state(key[1]).has_calls;
  const int letter = edges_tell ? automaton_.usual_letter(key[1])
                                : majority_letter([&](uint8_t byte) { return next(state, byte); });
  const int32_t candidate = letter < 0 ? kNone : next(state, static_cast<uint8_t>(letter));
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
    state.survived.fill(kNotKnown);
    state.has_items = key.size() > 1;
    if (key.size() == 3) state.lone = automaton_.state(key[1]).lone_state;
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

int32_t WalkAutomaton::compute_next(int32_t state, int byte_class) {
  const int live_class = states_[state].live_classes.count_below(static_cast<uint8_t>(byte_class));
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
  if (!is_alone) {
    note_alike(state, byte_class, live_class);
    return target;
  }
  // Bytes that move the only frame alike do everything alike; the classes are those of its macro-state.
  const auto* next = automaton_.state(items_[0].macro).next;
  const int32_t moved = next[live_class].load(std::memory_order_relaxed);
  for (int i = 0; i < s.live_count; ++i)
    if (next[i].load(std::memory_order_relaxed) == moved) note(i);
  return target;
}

// Notes what a byte does for the next ones that move all frames of a state alike, as spaces do.
void WalkAutomaton::note_alike(int32_t state, int byte_class, int live_class) {
  State& s = states_[state];
  moving_.clear();
  const auto add = [&](int32_t macro) {
    const MacroState& m = automaton_.state(macro);
    const auto reached = static_cast<uint8_t>(byte_class);
    moving_.push_back({&m, m.live_classes.count_below(reached) + (m.live_classes.contains(reached) ? 1 : 0),
                       automaton_.known_next(macro, byte_class)});
  };
  for (const Item& item : items_) {
    add(item.macro);
    const MacroState& m = automaton_.state(item.macro);
    if (!m.has_calls) continue;
    for (const int32_t start : {m.call_start, m.tail_call_start})
      if (start != kNone) add(start);
  }
  int at = live_class + 1;
  for (int other = s.live_classes.next(byte_class); other < 256; other = s.live_classes.next(other), ++at) {
    bool moves_alike = true;
    for (Moving& moving : moving_) {
      const bool reads = moving.macro->live_classes.contains(static_cast<uint8_t>(other));
      const int32_t target =
          reads ? moving.macro->next[moving.next_class++].load(std::memory_order_relaxed) : kNone;
      moves_alike &= target == moving.target && target != kUnknown;
    }
    if (s.next[at] != kUnknown) continue;
    if (!moves_alike) break;
    s.next[at] = s.next[live_class];
    if (s.finished != nullptr) s.finished[at] = s.finished[live_class];
  }
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

}  // namespace syntagma
