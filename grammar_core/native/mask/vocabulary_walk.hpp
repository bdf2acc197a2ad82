// Walks of the vocabulary's trie in step with a WalkAutomaton: which tokens a state consumes, and where
// tokens leave it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "automaton/time_limit.hpp"
#include "mask/merged_trie.hpp"
#include "mask/walk_automaton.hpp"
#include "vocabulary/vocabulary.hpp"

namespace syntagma {

constexpr uint32_t kLargeSubtree = 256;  // nodes from which on it pays to look into what a state can read
constexpr uint32_t kNodesPerTick = 32;   // that are told to the limit of time at once
constexpr size_t kLongWalk = 2'000;      // nodes after which that pays below smaller ones too
constexpr uint32_t kSmallSubtree = 24;   // but not below those

// Tokens that are consumed, as ranks. After a token of c characters, c + `extra` iterations of the counter
// right above the base, if there is one, are finished or must still be; or `extra` of them after any token,
// if that is the `total`.
struct ConsumedTokens {
  uint32_t first, last;
  int32_t extra;
  bool is_total = false;
};

// A place in the trie where the base is handed a report, after so many finished iterations.
struct LeavingPlace {
  int32_t reports;
  int32_t node;
  int32_t iterations;
};

// A place in the trie whose rests of tokens begin in an inner frame, to be looked up apart.
struct Handover {
  int32_t state;
  int32_t node;
};

// Which leaving places a walk is to find.
enum class Leaving : uint8_t {
  kFollowed,  // where tokens may go on with what follows the reports
  kAll,       // whatever follows
};

struct WalkFindings {
  std::vector<ConsumedTokens> consumed;
  std::vector<LeavingPlace> leaving;
  std::vector<Handover> handed_over;
  // Sets of tokens that are consumed too; when iterations are counted, with `extra` 0, and bytes of their
  // longest token.
  std::vector<std::shared_ptr<const MaskWords>> sets;
  int32_t longest_run = 0;
  bool all_leaving = true;  // false if some places are left out where tokens do not go on with what follows
  bool countable = true;    // iterations are the same in all readings, so the numbers above hold

  // Adds consumed tokens, in the order of ranks: first and one past.
  void consume(std::pair<uint32_t, uint32_t> ranks, int32_t extra, bool is_total = false) {
    if (ranks.first == ranks.second) return;
    if (!consumed.empty() && consumed.back().last == ranks.first && consumed.back().extra == extra &&
        consumed.back().is_total == is_total)
      consumed.back().last = ranks.second;
    else
      consumed.push_back({ranks.first, ranks.second, extra, is_total});
  }
};

// What of a whole walk is to be changed to get that of another state.
struct WalkDifference {
  std::vector<std::pair<uint32_t, uint32_t>> added, removed;  // ranks of consumed tokens, first and one past
  std::vector<std::pair<int32_t, int32_t>> entered, left;     // leaving places: report set and node
  bool too_large = false;                                     // a walk of its own is better
};

// Not thread-safe.
class VocabularyWalk {
 public:
  VocabularyWalk(MacroAutomaton& automaton, const Vocabulary& vocabulary);

  WalkAutomaton& walker() { return walker_; }
  // From `start`, for the rests of tokens below the trie nodes `origins`. With `counted`, iterations are
  // counted, and leaving places matter also where all tokens below are consumed.
  WalkFindings run(int32_t start, std::span<const int32_t> origins, bool counted,
                   Leaving leaving = Leaving::kFollowed);
  // The same below all origins of `rests` at once, without counting.
  WalkFindings run(int32_t start, const MergedTrie& rests, Leaving leaving);
  // Where a walk from `start` differs from one from `other`, below a trie node.
  WalkDifference compare(int32_t start, int32_t other, uint32_t origin);
  // The same number for reports that the same bytes may follow.
  int32_t follow_id(int32_t reports) { return follow(reports).id; }
  // Whether tokens through `node` have a next byte that may follow `reports`.
  bool may_continue(uint32_t node, int32_t reports);
  // Adds the places of `nodes` where `reports` are handed to the base.
  void add_leaving(int32_t reports, std::span<const int32_t> nodes, WalkFindings& findings,
                   Leaving leaving = Leaving::kFollowed);

 private:
  struct Follow {
    ByteSet bytes;
    GroupSet groups = 0;
    int32_t id = 0;
  };
  struct PathEntry {
    int32_t state;
    int32_t iterations;
    int32_t other;    // of a comparison
    int32_t reading;  // the state of the Nfa that `state` has led to, see reading_target
    const Fan* fan;   // of the node, when only children that `live` has are walked
    ByteSet live;     // with a fan, or in a comparison
    uint32_t end;     // with a fan: the node's subtree_end

    // Not the rest, which is set before the children are walked: this is done for every node.
    void enter(int32_t at, int32_t finished, int32_t compared = kNone, int32_t read = kNone) {
      state = at;
      iterations = finished;
      other = compared;
      reading = read;
      fan = nullptr;
    }
  };

  // What a long walk asks of a state at every node.
  struct TextState {
    enum Kind : uint8_t { kNotKnown, kOther, kText } kind = kNotKnown;
    bool reads_plain = false;  // all bytes that the smallest plain text may begin with
    GroupSet follow = 0;       // of bytes with which tokens leave it
  };
  const TextState& text_state(int32_t state) {
    if (static_cast<size_t>(state) < text_states_.size() && text_states_[state].kind != TextState::kNotKnown)
      return text_states_[state];
    return make_text_state(state);
  }
  const TextState& make_text_state(int32_t state);
  uint32_t walk_text_states(uint32_t node, uint32_t end, Leaving leaving, WalkFindings& findings);
  // A state, or one of the Nfa's that it has led to.
  struct Place {
    int32_t state;
    int32_t reading = kNone;
  };
  Place next_place(const PathEntry& before, uint8_t byte);
  void count_node() {
    if (++nodes_ % kNodesPerTick == 0) TimeLimit::tick(kNodesPerTick);
  }
  // Runs that a state reads, up to a length.
  struct ConsumedRuns {
    const ByteRuns* runs = nullptr;
    int longest = 0;
    ByteSet behind = {};  // bytes that may come behind a run, and maybe others
    int32_t reports = 0;  // handed to the base after every byte
  };
  ConsumedRuns consumed_runs(int32_t start, bool counted);
  int32_t state_before(uint32_t node, int32_t start);
  bool reads_runs(int32_t start, bool counted, ConsumedRuns& consumed);
  void walk_around_runs(int32_t start, const ConsumedRuns& consumed, bool counted, Leaving leaving,
                        WalkFindings& findings);
  // The state that all characters of a group of lead bytes lead to, and the groups of bytes with which tokens
  // go on from it or leave there.
  struct BehindFirst {
    int32_t state = kNone;
    GroupSet next = 0;
  };
  BehindFirst behind_first(int32_t state, Leaving leaving);
  void walk_behind_first(uint8_t lead, int32_t start, const BehindFirst& behind, Leaving leaving,
                         WalkFindings& findings);
  void walk_root(int32_t start, const ByteSet& bytes, bool counted, Leaving leaving, WalkFindings& findings);
  uint32_t arrive(uint32_t node, int32_t state, bool counted, Leaving leaving, WalkFindings& findings);
  void walk_nodes(uint32_t first, uint32_t end, bool counted, Leaving leaving, WalkFindings& findings);
  void walk_below(uint32_t origin, int32_t start, bool counted, Leaving leaving, WalkFindings& findings);
  uint32_t first_below(uint32_t node, bool counted, int32_t extra, Leaving leaving, WalkFindings& findings);
  uint32_t first_child(uint32_t node, const ByteSet& wanted);
  uint32_t after_subtree(uint32_t node) const;
  // What a step to a state makes of the iterations so far, and the `extra` of tokens that end there.
  struct Step {
    int32_t iterations, extra;
  };
  Step step_to(int32_t state, const PathEntry& before, uint8_t byte, int32_t characters, bool counted,
               WalkFindings& findings);
  void add_leaving_at(uint32_t node, int32_t state, int32_t iterations, Leaving leaving,
                      WalkFindings& findings);
  // How what a state consumes is counted, if it is consumed: see ConsumedTokens.
  enum class Consumption : uint8_t { kNone, kByCharacters, kTotal };
  // A node below which not all plain text may be consumed, and the text between the state's node and it.
  struct PlainExit {
    uint32_t node;
    std::string_view before;
  };
  struct ConsumedText {
    const PlainText* plain = nullptr;
    int32_t extra = 0;
    bool is_total = false;
    std::vector<PlainExit> exits = {};  // in preorder
  };
  bool finds_exits(uint32_t node, size_t kind, std::vector<PlainExit>& exits);
  ConsumedText consumed_text(uint32_t node, bool counted, int32_t extra);
  void walk_plain(uint32_t node, const ConsumedText& text, bool counted, Leaving leaving,
                  WalkFindings& findings);
  bool loops_over(int32_t before, int32_t state, GroupSet groups);
  Consumption consumption_below(int32_t before, int32_t state, uint32_t node, bool counted);
  Consumption counted_consumption(int32_t from, int32_t loop, GroupSet groups);
  bool survives_all_below(int32_t state, uint32_t node);
  bool reads_all_children(int32_t state, uint32_t node);
  const Follow& follow(int32_t reports);

  MacroAutomaton& automaton_;
  const Vocabulary& vocabulary_;
  WalkAutomaton walker_;
  int plain_walks_ = 0;  // under way, within one another
  size_t visited_ = 0;   // nodes of this walk
  uint32_t nodes_ = 0;   // of all walks
  std::unordered_map<int32_t, Follow> follow_;
  std::map<ByteSet, int32_t> follow_ids_;
  std::vector<PathEntry> path_;  // by depth
  std::vector<TextState> text_states_;
};

}  // namespace syntagma
