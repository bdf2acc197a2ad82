// Configurations relative to an unknown parent, determinised on demand, so that a walk over the vocabulary's
// trie costs one table look-up a byte. Used under the mask store's lock only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automaton/interner.hpp"
#include "automaton/macro_automaton.hpp"
#include "automaton/table_pool.hpp"
#include "mask/text_survival.hpp"
#include "parser/stack_arena.hpp"
#include "parser/stepper.hpp"
#include "vocabulary/vocabulary.hpp"

namespace syntagma {

constexpr uint8_t kUncountable = 2;
constexpr int kMostSurvivors = 400;  // states of a walk that are looked into for dead ends

// A state that characters lead back to, or to others of this kind, such as that of a search which has found
// nothing yet: all of them that are not the beginning of something, and most of the others' next ones.
struct Hub {
  // Two bytes with which texts may lead farther away than one character, and where to; kNone where they end.
  struct Exit {
    uint8_t first, second;
    int32_t target;
  };
  std::vector<Exit> exits;  // in this order
};

class WalkAutomaton {
 public:
  WalkAutomaton(MacroAutomaton& automaton, std::span<const PlainText, kPlainTexts> texts);

  StackArena& arena() { return arena_; }

  // At the beginning of a walk, whose work is limited.
  void begin_walk() {
    stepper_.reset_work();
    survivors_left_ = kMostSurvivors;
    for (const auto& survival : survivals_)
      if (survival != nullptr) survival->begin_walk();
  }
  // The only item of a state that stands on the base alone; kNone as its macro-state if there is none such.
  Item lone_item(int32_t state) const;
  // The first byte behind those of a byte's class.
  int after_class(int byte) const {
    return automaton_.nfa().end_of_class(automaton_.nfa().class_of(static_cast<uint8_t>(byte)));
  }
  // The state that most letters lead to, if it is another one that stays alive; or kNone.
  int32_t usual_target(int32_t state);
  std::vector<Item> items(int32_t state) const;
  // Whether a state has few items, one of them in a regular frame above somebody else than the base: what
  // that does with the rest of a token is a matter of the frame alone. Where a frame only begins, as it may
  // after each of many spaces, its first byte is waited for; not where it begins with free text.
  bool has_inner_frame(int32_t state) {
    const int8_t known = states_[state].inner_frame;
    return known != kNotKnown ? known != 0 : compute_inner_frame(state);
  }
  // Whether two states in the middle of a character do the same with its rest, and are one state behind it.
  bool continue_alike(int32_t a, int32_t b);
  // The state after `reports` were handed to `parents`; kNone if that leads nowhere.
  int32_t resumed(int32_t parents, int32_t reports);
  // The state of a single item.
  int32_t state_of(Item item);
  // The state after a byte, or kNone.
  int32_t next(int32_t state, uint8_t byte) {
    if (states_[state].next == nullptr) compute_live(state);
    const int32_t target = known_next(state, byte);
    return target != kUnknown ? target : compute_next(state, automaton_.nfa().class_of(byte));
  }
  // The state after a byte, or kNone; kUnknown while nobody has asked for it.
  int32_t known_next(int32_t state, uint8_t byte) const {
    const State& s = states_[state];
    if (s.next == nullptr) return kUnknown;
    const uint8_t byte_class = automaton_.nfa().class_of(byte);
    return s.live_classes.contains(byte_class) ? s.next[s.live_classes.count_below(byte_class)] : kNone;
  }
  // The state of the Nfa that a byte leads to, if it leads nowhere else and that only reads bytes: walks
  // follow it without making states. kNone if that is not so, or where the state behind the byte is known
  // already.
  int32_t reading_target(int32_t state, uint8_t byte);
  // Several such states that a state is made of, such as the keys of an object that share a beginning; or
  // none.
  std::vector<int32_t> readings(int32_t state);
  // Where a step from such a state leads to: another such state, kNone if it is none, or kDead.
  static constexpr int32_t kDead = -3;
  int32_t reading_next(int32_t reading, uint8_t byte) const {
    const int32_t target = automaton_.nfa().only_target(reading, byte);
    if (target == Nfa::kNoTarget) return kDead;
    return target >= 0 && is_reading(target) ? target : kNone;
  }
  ByteSet reading_bytes(int32_t reading) const {
    ByteSet bytes;
    for (const ByteEdge& e : automaton_.nfa().byte_edges(reading)) bytes.add_range(e.low, e.high);
    return bytes;
  }
  // The state of such a state of the Nfa, which a lone item in `state` led to.
  int32_t state_of_reading(int32_t state, int32_t reading) {
    const auto key = keys_[state];
    return state_of({automaton_.state_of(key[1], reading), key[2]});
  }
  // What is known of a state that most letters lead to.
  struct UsualFacts {
    ByteSet looping;                     // bytes that lead back to it
    std::unordered_set<uint64_t> alike;  // edges of texts whose usual state it is, to where it leads likewise
    std::unordered_map<int32_t, ByteSet> differing;  // by state of the Nfa inside such a text
  };
  // A text that a state follows while it is the beginning of one that is excluded: most letters lead out of
  // it, to `state`, which loops over them.
  struct UsualText {
    int32_t start = kNone;    // the state that follows the text
    int32_t reading = kNone;  // of the Nfa, what `start` is; kNone if there is no such text
    int32_t state = kNone;
    int32_t target = kNone;  // of the Nfa, what leads to `state`
    UsualFacts* facts = nullptr;
  };
  UsualText usual_text(int32_t start, int32_t usual);
  // Where a byte leads to inside such a text, as a state of the Nfa; kNone for what is no such text.
  int32_t text_target(int32_t reading, uint8_t byte) const {
    const int32_t target = automaton_.nfa().only_target(reading, byte);
    return target >= 0 && target != reading && may_be_text(target) ? target : kNone;
  }
  // Bytes after which `reading` and the usual state may differ.
  const ByteSet& differing_bytes(const UsualText& text, int32_t reading);
  // Bytes that lead somewhere, and maybe a few that do not.
  ByteSet live_bytes(int32_t state) {
    if (states_[state].next == nullptr) compute_live(state);
    return states_[state].live;
  }
  // Bytes that may lead to different states from two states, either of them kNone perhaps.
  ByteSet differing_bytes(int32_t a, int32_t b);
  // Token sets that may come next in `state`, as indices into Nfa::token_sets.
  std::vector<int32_t> token_sets(int32_t state);
  // Iterations of the counter right above the base that this byte finishes: 0 or 1, or kUncountable when the
  // readings differ. The transition must be known.
  uint8_t finished_iterations(int32_t state, uint8_t byte) const {
    const State& s = states_[state];
    return s.finished != nullptr ? s.finished[s.live_classes.count_below(automaton_.nfa().class_of(byte))]
                                 : 0;
  }
  // Whether `state` is the beginning of an iteration of the counter right above the base, and nothing else.
  bool between_iterations(int32_t state) const { return states_[state].between_iterations; }
  // Iterations of that counter that must still be finished, the one that is under way included.
  int32_t iterations_ahead(int32_t state) const { return states_[state].iterations_ahead; }
  // What the byte that led to `state` handed to the base: a report set.
  int32_t reports(int32_t state) const { return states_[state].reports; }
  // Whether `state` can go on without leaving to the base.
  bool has_items(int32_t state) const { return states_[state].has_items; }
  // Whether `state` loops over some groups: their bytes lead from it back to it, as do all characters that
  // begin with one of a group of lead bytes. Bytes that continue a character count as such; over
  // kBrokenUtf8 no state loops.
  bool loops_over(int32_t state, GroupSet groups) {
    const State& s = states_[state];
    return (groups & s.not_looping) == 0 && ((groups & ~s.looping) == 0 || finds_loops(state, groups));
  }
  // Whether something is known of that.
  bool loop_known(int32_t state) const {
    return states_[state].looping != kContinuations || states_[state].not_looping != kBrokenUtf8;
  }
  bool safe_known(int32_t state) const { return states_[state].safe_known; }
  // Groups of bytes of which every text can be read from `state` on, whatever states that leads to; like
  // those over which it loops, but also where a search starts over after every character.
  GroupSet safe_groups(int32_t state) {
    return states_[state].safe_known ? states_[state].safe_groups : compute_safe(state);
  }
  // Groups of which every character leads from one state to another and finishes an iteration, or none.
  struct CountedGroups {
    GroupSet each = 0, none = 0;
  };
  const CountedGroups& counted_groups(int32_t from, int32_t to);
  // The state that any one character of some groups leads to; kNone if there are several, or none for some.
  int32_t only_target(int32_t state, GroupSet groups);
  // Whether to look into many states from this one on costs little: it stands for few states of the grammar.
  bool is_narrow(int32_t state) const;
  // Plain text of number `kind` is read from `state` on for so many characters at least, whatever they are.
  int survived(int32_t state, size_t kind) {
    const int known = states_[state].survived[kind];
    return known != kNotKnown ? known : compute_survived(state, kind);
  }
  // Whether all of it is, where tokens have `height` bytes behind a node at most. What the grammar's
  // automaton does not say, because it counts for instance, is found from the states of the walk.
  bool survives(int32_t state, size_t kind, int height) {
    const int survived = this->survived(state, kind);
    if (survived > 0)
      return survived == TextSurvival::kForever || (height <= survived && height < Vocabulary::kTallest);
    const State& s = states_[state];
    if (height <= s.surviving[kind]) return true;
    return (s.lethal[kind] == 0 || height < s.lethal[kind]) && finds_survival(state, kind, height);
  }
  // What a state is the hub of in the plain text of number `kind`, or null.
  const Hub* hub(int32_t state, size_t kind);
  size_t memory_bytes() const;

 private:
  struct State {
    int32_t reports = 0;
    int32_t lone = kNone;  // of the Nfa, if it stands for that alone
    bool has_items = false;
    bool between_iterations = false;
    int32_t iterations_ahead = 1;
    GroupSet looping = kContinuations, not_looping = kBrokenUtf8;  // groups of which it is known
    bool safe_known = false;
    GroupSet safe_groups = 0;
    int8_t inner_frame = kNotKnown;
    // By kind of plain text; characters that are known to be read otherwise, and so many that some text of
    // them is not, or 0 if that is not known.
    std::array<int, kPlainTexts> survived;
    uint8_t surviving[kPlainTexts] = {}, lethal[kPlainTexts] = {};
    // Of what it may read; with `next`, which is null while nobody asked.
    ByteSet live, live_classes;
    int16_t live_count = 0;               // of classes
    int32_t* next = nullptr;              // by live class
    std::unique_ptr<uint8_t[]> finished;  // likewise; null where no byte finishes an iteration
  };
  // Where the characters of each group lead, if all of them lead somewhere.
  struct CharacterTargets {
    GroupSet alive = 0;
    std::vector<std::pair<int32_t, GroupSet>> targets;  // of the groups in `alive`
  };

  static constexpr int8_t kNotKnown = -1;
  static constexpr GroupSet kContinuations = GroupSet{1} << kContinuationGroup;
  static constexpr size_t kFewBytes = 4;      // that a state reads while no states are made for it
  static constexpr size_t kMostRanges = 160;  // of bytes that a state of an excluded text reads
  // Whether a state of the Nfa reads at most so many bytes, one by one, and none again and again.
  bool is_reading(int32_t nfa_state, size_t most = kFewBytes) const {
    const Nfa& nfa = automaton_.nfa();
    if (!nfa.only_reads(nfa_state)) return false;
    const auto edges = nfa.byte_edges(nfa_state);
    return edges.size() <= most && std::all_of(edges.begin(), edges.end(), [&](const ByteEdge& edge) {
             return edge.low == edge.high && edge.target != nfa_state;
           });
  }
  bool may_be_text(int32_t nfa_state) const {
    const Nfa& nfa = automaton_.nfa();
    return nfa.only_reads(nfa_state) && nfa.byte_edges(nfa_state).size() <= kMostRanges;
  }
  ByteSet alike_bytes(const UsualText& text, int32_t reading, const ByteEdge& edge, const ByteSet& bytes);
  bool leads_alike(const UsualText& text, int32_t reading, const ByteEdge& edge, uint8_t byte);
  bool reads_alike(const UsualText& text, int32_t reading, int32_t state, int depth);
  void compute_live(int32_t state);
  bool is_within_character(int32_t state);
  bool compute_inner_frame(int32_t state);
  bool is_inner_frame(Item item);
  int32_t intern(const Configuration& configuration);
  int32_t intern(std::span<const int32_t> key);
  void set_iterations(std::span<const int32_t> key, State& state);
  int32_t compute_next(int32_t state, int byte_class);
  void note_alike(int32_t state, int byte_class, int live_class);
  bool finds_loops(int32_t state, GroupSet groups);
  bool leads_back(int32_t state);
  std::unique_ptr<const Hub> find_hub(int32_t state, const PlainText& plain);
  int compute_survived(int32_t state, size_t kind);
  bool finds_survival(int32_t state, size_t kind, int characters);
  bool loops_over_group(int32_t state, int group);
  bool counts_paths(int32_t parents) const;
  GroupSet compute_safe(int32_t state);
  const CharacterTargets& character_targets(int32_t state);
  struct ByteRange {
    int low, high;
  };
  bool add_targets(int32_t from, ByteRange bytes, int count, std::vector<int32_t>& targets,
                   std::vector<int32_t> (&middles)[3]);
  bool is_like_other_leads(int group) const;
  std::vector<int32_t> targets_of_leads(int32_t state, int group);
  int finished_by(int32_t from, int32_t to, ByteRange bytes, int count);

  MacroAutomaton& automaton_;
  std::span<const PlainText, kPlainTexts> texts_;
  std::array<std::unique_ptr<TextSurvival>, kPlainTexts> survivals_;  // by kind of plain text
  StackArena arena_;
  Stepper stepper_;
  SequenceInterner keys_;  // reports, then macro-state and parents of each item
  std::vector<State> states_;
  TablePool<int32_t> tables_;
  size_t finished_bytes_ = 0, hub_bytes_ = 0;
  int survivors_left_ = kMostSurvivors;
  Configuration scratch_;
  std::vector<int32_t> key_;
  std::vector<Item> items_;
  struct Moving {
    const MacroState* macro;
    int next_class;  // of its live ones, behind those looked at
    int32_t target;
  };
  std::vector<Moving> moving_;
  std::unordered_map<int32_t, CharacterTargets> character_targets_;
  std::unordered_map<uint64_t, CountedGroups> counted_groups_;     // by pairs of states
  std::unordered_map<uint64_t, bool> alike_;                       // by pairs of states
  std::unordered_map<uint64_t, std::unique_ptr<const Hub>> hubs_;  // by state and kind of text
  // By a usual state, a state of the Nfa, and one that the usual state leads to: see leads_alike.
  std::unordered_map<Triple, bool, TripleHash> alike_texts_;
  std::unordered_map<int32_t, UsualFacts> usual_facts_;  // by state
};

}  // namespace syntagma
