// Temperatures of the rules that are active in macro-states.
#include <algorithm>
#include <utility>
#include <vector>

#include "automaton/macro_automaton.hpp"

namespace syntagma {

const ActiveTemperatures& MacroAutomaton::temperatures_of(int32_t id, int32_t reports) {
  with_calls(id);
  const std::lock_guard lock(mutex_);
  const uint64_t key = static_cast<uint64_t>(id) << 32 | static_cast<uint32_t>(reports);
  const auto found = known_temperatures_.find(key);
  if (found != known_temperatures_.end()) return found->second;
  const ActiveTemperatures result = compute_temperatures(id, reports);
  return known_temperatures_.emplace(key, result).first->second;
}

// With `reports`: of the rules that wait for them. Without: of the rules whose text goes on here, for a call
// those of the rules that begin with it.
ActiveTemperatures MacroAutomaton::compute_temperatures(int32_t id, int32_t reports) {
  const MacroState& m = states_[id];
  ActiveTemperatures result;
  std::vector<int32_t> awaited(report_sets_[reports].begin(), report_sets_[reports].end()), ignored;
  const auto add_own = [&](const MacroState& of, ActiveTemperatures& out, std::vector<int32_t>& inherited) {
    const std::vector<int32_t> states(state_sets_[of.states].begin(), state_sets_[of.states].end());
    for (const int32_t s : states)
      if (!nfa_.byte_edges(s).empty() || !nfa_.token_edges(s).empty())
        add_temperatures_of_owner(of.context, s, out, inherited);
  };
  if (reports == 0) {
    add_own(m, result, ignored);
    for (const int32_t start : {m.call_start, m.tail_call_start}) {
      if (start == kNone) continue;
      ActiveTemperatures begun;
      add_own(states_[start], begun, awaited);
      if (begun.highest >= 0) result.add(begun.highest);
      result.differ |= begun.differ;
    }
  }
  const std::vector<int32_t> states(state_sets_[m.states].begin(), state_sets_[m.states].end());
  for (const int32_t s : states)
    for (const CallEdge& call : nfa_.call_edges(s))
      if (std::find(awaited.begin(), awaited.end(), call.symbol) != awaited.end())
        add_temperatures_of_owner(m.context, s, result, ignored);
  return result;
}

// A rule without a temperature has those of its callers: inside the frame, where it began, or the frame's
// own.
void MacroAutomaton::add_temperatures_of_owner(int32_t context, int32_t nfa_state, ActiveTemperatures& out,
                                               std::vector<int32_t>& inherited) {
  const Context& c = contexts_[context];
  std::vector<int32_t> pending{nfa_.owner(nfa_state)}, seen = pending;
  while (!pending.empty()) {
    const int32_t symbol = pending.back();
    pending.pop_back();
    if (nfa_.symbols()[symbol].temperature >= 0) {
      out.add(nfa_.symbols()[symbol].temperature);
      continue;
    }
    for (size_t i = 0; i < c.wanted.size(); i += 2)
      if (c.wanted[i] == symbol) {
        out.inherited = union_reports(out.inherited, c.wanted[i + 1]);
        inherited.push_back(symbol);
      }
    auto corner = std::lower_bound(c.corners.begin(), c.corners.end(), std::pair(symbol, INT32_MIN));
    for (; corner != c.corners.end() && corner->first == symbol; ++corner) {
      const int32_t caller = nfa_.owner(corner->second);
      if (std::find(seen.begin(), seen.end(), caller) != seen.end()) continue;
      seen.push_back(caller);
      pending.push_back(caller);
    }
  }
}

}  // namespace syntagma
