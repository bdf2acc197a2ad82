// From expressions to a nondeterministic automaton (K. Thompson, 1968), from there to a deterministic one.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "automaton/alphabet.hpp"
#include "automaton/dfa.hpp"
#include "automaton/dfa_limits.hpp"
#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int32_t kMaxNfaStates = 1'000'000;

struct SetEdge {
  int32_t set, target;
};

// Edges over sets of code points, and empty ones. State 0 is the start, state 1 the only accepting one.
struct CodePointNfa {
  std::vector<std::vector<CodePointRange>> sets;
  std::vector<std::vector<SetEdge>> edges;
  std::vector<std::vector<int32_t>> empty;
};

class CodePointNfaBuilder {
 public:
  explicit CodePointNfaBuilder(const GrammarSource& source) : source_(source) {}

  CodePointNfa build() {
    new_state();
    new_state();
    tasks_.push_back({source_.rule_bodies[source_.root], 0, 1});
    while (!tasks_.empty()) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      TimeLimit::tick();
      run_task(task);
    }
    return std::move(nfa_);
  }

 private:
  struct Task {
    int32_t expression, from, to;
  };

  int32_t new_state() {
    if (nfa_.edges.size() == kMaxNfaStates)
      throw LimitExceeded("regular_language_positions", kMaxNfaStates,
                          "The set of texts needs more than " + std::to_string(kMaxNfaStates) +
                              " positions, repetitions copied");
    TimeLimit::tick();
    nfa_.edges.emplace_back();
    nfa_.empty.emplace_back();
    return static_cast<int32_t>(nfa_.edges.size()) - 1;
  }

  void add_empty(int32_t from, int32_t to) { nfa_.empty[from].push_back(to); }

  int32_t number_of_set(std::vector<CodePointRange> ranges) {
    std::vector<std::pair<uint32_t, uint32_t>> key;
    for (const CodePointRange range : ranges) key.emplace_back(range.low, range.high);
    const auto [entry, added] =
        set_numbers_.try_emplace(std::move(key), static_cast<int32_t>(nfa_.sets.size()));
    if (added) nfa_.sets.push_back(std::move(ranges));
    return entry->second;
  }

  void run_task(const Task& task) {
    const Expression& e = source_.expressions[task.expression];
    switch (e.op) {
      case Op::kLiteral:
        return build_literal(task, e);
      case Op::kCharClass:
        return build_char_class(task, e);
      case Op::kSequence:
        return build_sequence(task, e);
      case Op::kChoice:
        for (const int32_t child : source_.children_of(e)) tasks_.push_back({child, task.from, task.to});
        return;
      case Op::kRepeat:
        return build_repeat(task, e);
      case Op::kAutomaton:
        if (source_.automata[e.min].is_counted())
          throw InvalidGrammar("a regular language has no automaton that counts");
        return build_automaton(task, e);
      default:
        throw InvalidGrammar("a regular language has neither rules nor tokens");
    }
  }

  void build_literal(const Task& task, const Expression& e) {
    int32_t state = task.from;
    const std::string_view bytes = std::string_view(source_.literals).substr(e.first, e.count);
    for (size_t i = 0; i < bytes.size();) {
      const auto lead = static_cast<uint8_t>(bytes[i]);
      const int length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      if (i + length > bytes.size()) throw InvalidGrammar("a literal of a regular language must be text");
      uint32_t code = length == 1 ? lead : lead & (0x7F >> length);
      for (int k = 1; k < length; ++k) code = code << 6 | (static_cast<uint8_t>(bytes[i + k]) & 0x3F);
      i += length;
      const int32_t next = i == bytes.size() ? task.to : new_state();
      nfa_.edges[state].push_back({number_of_set({{code, code}}), next});
      state = next;
    }
    if (bytes.empty()) add_empty(state, task.to);
  }

  void build_char_class(const Task& task, const Expression& e) {
    const auto begin = source_.ranges.begin() + e.first;
    if (e.count > 0) nfa_.edges[task.from].push_back({number_of_set({begin, begin + e.count}), task.to});
  }

  void build_sequence(const Task& task, const Expression& e) {
    int32_t state = task.from;
    const auto children = source_.children_of(e);
    for (size_t i = 0; i < children.size(); ++i) {
      const int32_t next = i + 1 == children.size() ? task.to : new_state();
      tasks_.push_back({children[i], state, next});
      state = next;
    }
    if (children.empty()) add_empty(state, task.to);
  }

  void build_repeat(const Task& task, const Expression& e) {
    const auto body = static_cast<int32_t>(e.first);
    int32_t state = task.from;
    const auto copy = [&] {
      const int32_t next = new_state();
      tasks_.push_back({body, state, next});
      state = next;
    };
    for (int64_t i = 0; i < e.min; ++i) copy();
    if (e.max == kUnbounded) {
      const int32_t hub = new_state();
      add_empty(state, hub);
      add_empty(hub, task.to);
      tasks_.push_back({body, hub, hub});
      return;
    }
    add_empty(state, task.to);
    for (int64_t i = e.min; i < e.max; ++i) {
      copy();
      add_empty(state, task.to);
    }
  }

  void build_automaton(const Task& task, const Expression& e) {
    const AutomatonShape& shape = source_.automata[e.min];
    const auto labels = source_.children_of(e);
    std::vector<int32_t> states(shape.state_count);
    for (int32_t& state : states) state = new_state();
    add_empty(task.from, states[0]);
    for (const int32_t state : shape.accepting) add_empty(states[state], task.to);
    for (size_t i = 0; i < shape.edges.size(); ++i)
      tasks_.push_back({labels[i], states[shape.edges[i].from], states[shape.edges[i].to]});
  }

  const GrammarSource& source_;
  CodePointNfa nfa_;
  std::map<std::vector<std::pair<uint32_t, uint32_t>>, int32_t> set_numbers_;
  std::vector<Task> tasks_;
};

using StateSet = std::vector<int32_t>;  // sorted

struct StateSetHash {
  size_t operator()(const StateSet& set) const {
    uint64_t hash = set.size();
    for (const int32_t state : set) hash = (hash ^ static_cast<uint32_t>(state)) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 29;
  }
};

class SubsetConstruction {
 public:
  explicit SubsetConstruction(const CodePointNfa& nfa) : nfa_(nfa), seen_(nfa.edges.size(), 0) {}

  Dfa run() {
    partition();
    number_of(closure({0}));
    for (size_t state = 0; state < subsets_.size(); ++state) expand(static_cast<int32_t>(state));
    return std::move(dfa_);
  }

 private:
  void partition() {
    std::vector<std::span<const CodePointRange>> sets(nfa_.sets.begin(), nfa_.sets.end());
    Partition found = partition_code_points(sets);
    dfa_.alphabet = std::move(found.alphabet);
    letters_of_set_ = std::move(found.letters_of_set);
    reached_.resize(dfa_.alphabet.count);
  }

  // What the states reach over empty edges, as far as it has edges or accepts.
  const StateSet& closure(const StateSet& states) {
    ++round_;
    pending_.clear();
    const auto visit = [&](int32_t state) {
      if (seen_[state] == round_) return;
      seen_[state] = round_;
      pending_.push_back(state);
    };
    for (const int32_t state : states) visit(state);
    closed_.clear();
    while (!pending_.empty()) {
      const int32_t state = pending_.back();
      pending_.pop_back();
      TimeLimit::tick();
      if (state == 1 || !nfa_.edges[state].empty()) closed_.push_back(state);
      for (const int32_t target : nfa_.empty[state]) visit(target);
    }
    std::sort(closed_.begin(), closed_.end());
    return closed_;
  }

  int32_t number_of(const StateSet& set) {
    const auto [entry, added] = numbers_.try_emplace(set, static_cast<int32_t>(subsets_.size()));
    if (added) {
      subsets_.push_back(&entry->first);
      check_dfa_size(static_cast<int64_t>(subsets_.size()), dfa_.alphabet.count);
      dfa_.accepts.push_back(std::binary_search(entry->first.begin(), entry->first.end(), 1));
      dfa_.next.resize(dfa_.next.size() + dfa_.alphabet.count, Dfa::kDead);
    }
    return entry->second;
  }

  void expand(int32_t state) {
    for (const int32_t position : *subsets_[state])
      for (const SetEdge edge : nfa_.edges[position])
        for (const int32_t letter : letters_of_set_[edge.set]) {
          TimeLimit::tick();
          reached_[letter].push_back(edge.target);
        }
    known_.clear();  // letters often lead to the same positions
    for (int32_t letter = 0; letter < dfa_.alphabet.count; ++letter) {
      const StateSet& targets = reached_[letter];
      if (targets.empty()) continue;
      const auto same = std::find_if(known_.begin(), known_.end(),
                                     [&](const auto& entry) { return reached_[entry.first] == targets; });
      const int32_t next = same != known_.end() ? same->second : number_of(closure(targets));
      if (same == known_.end()) known_.emplace_back(letter, next);
      dfa_.next[static_cast<size_t>(state) * dfa_.alphabet.count + letter] = next;
    }
    for (StateSet& targets : reached_) targets.clear();
  }

  const CodePointNfa& nfa_;
  Dfa dfa_;
  std::vector<std::vector<int32_t>> letters_of_set_;
  std::vector<StateSet> reached_;  // by letter
  std::unordered_map<StateSet, int32_t, StateSetHash> numbers_;
  std::vector<const StateSet*> subsets_;
  std::vector<uint32_t> seen_;
  uint32_t round_ = 0;
  StateSet pending_, closed_;
  std::vector<std::pair<int32_t, int32_t>> known_;  // letters, and the states they lead to
};

}  // namespace

Dfa determinize(const GrammarSource& source) {
  const CodePointNfa nfa = CodePointNfaBuilder(source).build();
  return minimize(SubsetConstruction(nfa).run());
}

}  // namespace syntagma
