// What follows an iteration of a counter, and how far its end is.
#include <utility>
#include <vector>

#include "automaton/macro_automaton.hpp"

namespace syntagma {

// The start of the frame that reads an edge of counted paths from `state` on.
int32_t MacroAutomaton::path_start(const CountedPaths& paths, int32_t state) {
  std::vector<std::pair<int32_t, int32_t>> wanted;
  for (const int32_t symbol : paths.symbols[state]) wanted.emplace_back(symbol, single_report(symbol));
  return contexts_[intern_context(std::move(wanted))].start;
}

const std::vector<NextIteration>& MacroAutomaton::compute_next_iterations(int32_t id, int32_t reports) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = (static_cast<uint64_t>(id) + 1) << 32 | static_cast<uint32_t>(reports);
  if (const uint64_t found = next_iterations_.find(key))
    return *reinterpret_cast<const std::vector<NextIteration>*>(found);
  const Counter counter = counters_[id];
  std::vector<NextIteration> list;
  if (counter.paths < 0) {
    list.push_back({counter.body_start, true, 1});
  } else {
    const CountedPaths& paths = nfa_.paths(counter.paths);
    const std::vector<int32_t> finished(report_sets_[reports].begin(), report_sets_[reports].end());
    for (const int32_t symbol : finished) {
      const int32_t target = nfa_.symbols()[symbol].path_target;
      const bool goes_on = !paths.symbols[target].empty();
      list.push_back(
          {goes_on ? path_start(paths, target) : kNone, paths.accepting[target] != 0, paths.rest[target]});
    }
  }
  iteration_lists_.push_back(std::move(list));
  next_iterations_.insert(key, reinterpret_cast<uint64_t>(&iteration_lists_.back()));
  account(64 + iteration_lists_.back().size() * sizeof(NextIteration));
  return iteration_lists_.back();
}

// Within an edge of counted paths, if only edges are left whose ends are farther off than that of another
// one.
int64_t MacroAutomaton::iterations_needed(int32_t context, std::span<const int32_t> states) const {
  const int32_t symbol = contexts_[context].wanted[0];
  const Symbol& edge = nfa_.symbols()[symbol];
  if (edge.paths < 0 || edge.is_counter()) return 0;
  const int64_t needed = 1 + nfa_.path_rest(states, symbol);
  return needed > nfa_.paths(edge.paths).rest[edge.path_source] ? needed : 0;
}

bool MacroAutomaton::begins_iteration(int32_t id, int32_t macro) {
  const Counter& counter = counters_[id];
  return counter.paths < 0 ? counter.body_start == macro : is_frame_start(macro);
}

int64_t MacroAutomaton::iterations_ahead(int32_t id, int32_t macro) {
  const Counter& counter = counters_[id];
  const bool begins = begins_iteration(id, macro);
  if (counter.paths < 0) return begins ? 0 : 1;
  const std::lock_guard lock(mutex_);
  const MacroState& m = states_[macro];
  const int32_t edge = contexts_[m.context].wanted[0];
  if (begins) return nfa_.paths(counter.paths).to_end(nfa_.symbols()[edge].path_source);
  return 1 + nfa_.path_rest(state_sets_[m.states], edge);
}

}  // namespace syntagma
