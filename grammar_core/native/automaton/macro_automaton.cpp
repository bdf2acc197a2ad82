#include "automaton/macro_automaton.hpp"

#include <algorithm>
#include <iterator>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr size_t kMemoryLimit = size_t{256} << 20;

}  // namespace

MacroAutomaton::MacroAutomaton(Nfa nfa) : nfa_(std::move(nfa)) {
  in_set_.assign(nfa_.state_count(), 0);
  owner_in_set_.assign(nfa_.symbols().size(), 0);
  own_bytes_ = nfa_.memory_bytes() + in_set_.size() * sizeof(uint32_t);
  for (const Symbol& symbol : nfa_.symbols()) {
    counts_ |= symbol.is_counter();
    captures_ |= symbol.records();
    early_ends_ |= symbol.early >= 0;
    temperatures_ |= symbol.temperature >= 0;
    budgets_ |= symbol.has_budget();
    keeps_keys_ |= symbol.keeps_keys;
    if (symbol.max_chars >= 0) smallest_char_budget_ = std::min(smallest_char_budget_, symbol.max_chars);
  }
  is_counted_body_.assign(nfa_.symbols().size(), 0);
  for (const Symbol& symbol : nfa_.symbols())
    if (symbol.is_counter() && symbol.max != 1 && symbol.paths < 0) is_counted_body_[symbol.counter_body] = 1;
  captured_lists_.intern({});  // 0 is the empty list
  report_sets_.intern({});     // 0 is the empty set
  const int32_t root_report = single_report(nfa_.root());
  root_start_ = contexts_[intern_context({{nfa_.root(), root_report}})].start;
}

// Notes `bytes` more beside what the interners hold.
void MacroAutomaton::account(size_t bytes) {
  own_bytes_ += bytes;
  const size_t total = own_bytes_ + report_sets_.memory_bytes() + state_sets_.memory_bytes() +
                       context_keys_.memory_bytes() + state_keys_.memory_bytes() + nfa_.derived_bytes() +
                       captured_lists_.memory_bytes() + after_.memory_bytes() +
                       next_iterations_.memory_bytes();
  memory_bytes_.store(total, std::memory_order_relaxed);
  if (total > kMemoryLimit)
    throw LimitExceeded(
        "automaton_memory", kMemoryLimit,
        "The grammar's automaton needs more than " + std::to_string(kMemoryLimit >> 20) + " MiB");
}

int32_t MacroAutomaton::intern_context(Calls wanted) {
  std::sort(wanted.begin(), wanted.end());
  std::vector<int32_t>& key = context_key_;
  key.clear();
  for (const auto& [symbol, reports] : wanted) {
    if (!key.empty() && key[key.size() - 2] == symbol) {
      key.back() = union_reports(key.back(), reports);
    } else {
      key.push_back(symbol);
      key.push_back(reports);
    }
  }
  const int32_t id = context_keys_.intern(key);
  if (id == static_cast<int32_t>(contexts_.size())) contexts_.emplace_back().wanted = key;
  if (contexts_[id].start == kNone) {  // new, or a limit stopped an earlier attempt
    contexts_[id].corners.clear();
    const int32_t start = build_start(id);
    contexts_[id].start = start;
  }
  return id;
}

// Starts of the wanted symbols and of all that they can begin with.
int32_t MacroAutomaton::build_start(int32_t context) {
  Context& c = contexts_[context];
  begin_set();
  for (size_t i = 0; i < c.wanted.size(); i += 2) add_state(nfa_.symbols()[c.wanted[i]].start);
  for (size_t i = 0; i < set_.size(); ++i)
    for (const CallEdge& call : nfa_.call_edges(set_[i])) {
      const Symbol& symbol = nfa_.symbols()[call.symbol];
      if (symbol.is_counter()) {
        // A budgeted rule that begins with itself: the same occurrence, in the same frame.
        if (symbol.has_budget() && c.wanted[0] == symbol.counter_body)
          c.corners.emplace_back(symbol.counter_body, call.target);
        continue;
      }
      c.corners.emplace_back(call.symbol, call.target);
      add_state(symbol.start);
    }
  c.lazy = nfa_.symbols()[c.wanted[0]].lazy;
  for (size_t i = 0; i < c.wanted.size(); i += 2) c.captures |= nfa_.symbols()[c.wanted[i]].records();
  for (const auto& [symbol, target] : c.corners) c.captures |= nfa_.symbols()[symbol].records();
  for (size_t i = 0; i < c.wanted.size(); i += 2) c.keeps_keys |= nfa_.symbols()[c.wanted[i]].keeps_keys;
  for (const auto& [symbol, target] : c.corners) c.keeps_keys |= nfa_.symbols()[symbol].keeps_keys;
  std::sort(c.corners.begin(), c.corners.end());
  account(c.corners.size() * sizeof(c.corners[0]) + c.wanted.size() * sizeof(int32_t) + sizeof(Context));
  return intern_state(context, true, 0);
}

void MacroAutomaton::begin_set() {
  set_.clear();
  accepted_.clear();
  ++set_number_;
}

// Adds a state and all that it reaches over empty edges.
void MacroAutomaton::add_state(int32_t nfa_state) {
  reached_.clear();
  reach(nfa_state);
  uint32_t visited = 0;
  while (!reached_.empty()) {
    const int32_t s = reached_.back();
    reached_.pop_back();
    ++visited;
    const int32_t accepted = nfa_.accepts(s);
    if (accepted >= 0 || nfa_.has_edges(s)) set_.push_back(s);
    if (accepted >= 0) accepted_.push_back(accepted);
    for (const int32_t target : nfa_.empty_edges(s)) reach(target);
  }
  TimeLimit::tick(visited);
}

void MacroAutomaton::reach(int32_t nfa_state) {
  if (static_cast<size_t>(nfa_state) >= in_set_.size()) in_set_.resize(2 * nfa_state + 1, 0);
  if (in_set_[nfa_state] == set_number_) return;
  in_set_[nfa_state] = set_number_;
  reached_.push_back(nfa_state);
}

// Adds what follows inside the frame from symbols that completed, and collects what the frame reports.
int32_t MacroAutomaton::close_set(int32_t context) {
  const Context& c = contexts_[context];
  reported_.clear();
  for (size_t i = 0; i < accepted_.size(); ++i) {
    const int32_t symbol = accepted_[i];
    TimeLimit::tick();
    auto corner = std::lower_bound(c.corners.begin(), c.corners.end(), std::pair(symbol, INT32_MIN));
    for (; corner != c.corners.end() && corner->first == symbol; ++corner) add_state(corner->second);
    size_t low = 0, high = c.wanted.size() / 2;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (c.wanted[2 * middle] < symbol)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == c.wanted.size() / 2 || c.wanted[2 * low] != symbol) continue;
    const auto reports = report_sets_[c.wanted[2 * low + 1]];
    reported_.insert(reported_.end(), reports.begin(), reports.end());
  }
  std::sort(reported_.begin(), reported_.end());
  reported_.erase(std::unique(reported_.begin(), reported_.end()), reported_.end());
  return intern_state(narrowed(context), false, reported_.empty() ? 0 : report_sets_.intern(reported_));
}

int32_t MacroAutomaton::intern_state(int32_t context, bool is_start, int32_t reports) {
  std::vector<int32_t>& states = edge_states_;
  states.clear();
  // A lazy rule ends where it first can.
  const bool ends_here = contexts_[context].lazy && reports != 0;
  const int32_t early_end = nfa_.symbols()[contexts_[context].wanted[0]].early;
  bool has_calls = false, has_corners = false, has_counters = false, has_tokens = false, goes_on = false;
  for (const int32_t s : set_) {
    if (!nfa_.has_edges(s) || ends_here) continue;
    states.push_back(s);
    // What only follows the end of an occurrence is no way on for it.
    goes_on |= early_end < 0 || nfa_.owner(s) != early_end;
    has_tokens |= !nfa_.token_edges(s).empty();
    for (const CallEdge& call : nfa_.call_edges(s)) {
      const bool is_counter = nfa_.symbols()[call.symbol].is_counter();
      has_counters |= is_counter;
      has_calls |= is_counter || !is_start;
      has_corners |= !is_counter;
    }
  }
  if (!goes_on && reports == 0) return kNone;
  // The start of a loop over characters is the loop itself, but for the body of a counter: there it matters
  // whether an iteration has begun.
  if (!has_corners && !has_calls && !captures_ && !early_ends_ &&
      !is_counted_body_[contexts_[context].wanted[0]])
    is_start = false;
  std::sort(states.begin(), states.end());
  const int32_t set_id = state_sets_.intern(states);
  captured_now_.clear();
  if (captures_ && !is_start)
    for (const int32_t symbol : accepted_)
      if (nfa_.symbols()[symbol].records()) captured_now_.push_back(symbol);
  const int32_t captured = captured_now_.empty() ? 0 : captured_lists_.intern(captured_now_);
  const bool early = !is_start && !ends_here && ends_early(context);
  const int32_t key[] = {context, is_start, reports, set_id, captured, early};
  const int32_t id = state_keys_.intern(key);
  if (id < static_cast<int32_t>(states_.size())) return id;
  ByteSet live, live_classes;
  for (const int32_t s : states)
    for (const ByteEdge& edge : nfa_.byte_edges(s)) {
      const uint8_t first = nfa_.class_of(edge.low);
      if (edge.low == edge.high) {  // as most are, inside a key
        live.add(edge.low);
        live_classes.add(first);
      } else {
        live.add_range(edge.low, edge.high);
        live_classes.add_range(first, nfa_.class_of(edge.high));
      }
    }
  const int live_count = live_classes.size();
  account(sizeof(MacroState) + live_count * sizeof(int32_t) + 64);
  MacroState& m = states_.emplace_back();
  m.live = live;
  m.live_classes = live_classes;
  m.context = context;
  m.reports = reports;
  m.has_edges = !states.empty();
  m.has_calls = has_calls;
  m.has_counters = has_counters;
  m.has_tokens = has_tokens;
  m.captured = captured;
  m.marks_start = is_start && contexts_[context].captures;
  m.keeps_keys = is_start && contexts_[context].keeps_keys;
  m.is_start = is_start;
  m.ends_early = early;
  const int32_t occurrence = contexts_[context].wanted[0];
  if (early && nfa_.symbols()[occurrence].records()) m.early_capture = occurrence;
  m.states = set_id;
  m.width = static_cast<int32_t>(states.size());
  if (m.width == 1 && !has_calls && !is_start && is_plain(contexts_[context]) &&
      states[0] < nfa_.state_count())
    m.lone_state = states[0];
  if (!is_start && !states.empty()) m.iterations_needed = iterations_needed(context, states);
  m.next = tables_.allocate(live_count);
  for (int i = 0; i < live_count; ++i) m.next[i].store(kUnknown, std::memory_order_relaxed);
  return id;
}

// Whether the set last closed completes what the frame's occurrence may end after once its budget is used up.
bool MacroAutomaton::ends_early(int32_t context) const {
  const int32_t early = nfa_.symbols()[contexts_[context].wanted[0]].early;
  return early >= 0 && in_set_[nfa_.symbols()[early].accept] == set_number_;
}

// What a call that returns to `nfa_state` reports at once, if it can do nothing else; 0 if it can go on.
int32_t MacroAutomaton::tail_reports(int32_t context, int32_t nfa_state) {
  const uint64_t key = static_cast<uint64_t>(context) << 32 | static_cast<uint32_t>(nfa_state);
  const auto found = tail_reports_.find(key);
  if (found != tail_reports_.end()) return found->second;
  if (nfa_.surely_goes_on(nfa_state)) return 0;
  const int32_t closed = target_of(context, {&nfa_state, 1});
  const bool returns = closed != kNone && !states_[closed].has_edges && !completes_options();
  const int32_t reports = returns ? states_[closed].reports : 0;
  tail_reports_.emplace(key, reports);
  return reports;
}

// Whether a start state's call of a budgeted rule stays in the frame, because the frame is that rule's.
bool MacroAutomaton::is_corner(int32_t context, const CallEdge& call) const {
  const Symbol& symbol = nfa_.symbols()[call.symbol];
  return symbol.has_budget() && contexts_[context].wanted[0] == symbol.counter_body;
}

// Whether the set last closed completes a rule whose frame must still be there then.
bool MacroAutomaton::completes_options() const {
  return std::any_of(accepted_.begin(), accepted_.end(),
                     [&](int32_t symbol) { return nfa_.symbols()[symbol].has_options(); });
}

void MacroAutomaton::compute_calls(int32_t id) {
  const std::lock_guard lock(mutex_);
  MacroState& m = states_[id];
  if (m.calls_ready.load(std::memory_order_relaxed)) return;
  m.counter_calls.clear();  // of an attempt that a limit stopped
  Calls &called = calls_.ordinary, &tail_called = calls_.tail, &counted = calls_.counted,
        &tail_counted = calls_.tail_counted;
  for (Calls* calls : {&called, &tail_called, &counted, &tail_counted}) calls->clear();
  calling_.assign(state_sets_[m.states].begin(), state_sets_[m.states].end());
  for (const int32_t s : calling_)
    for (const CallEdge& call : nfa_.call_edges(s)) {
      const bool is_counter = nfa_.symbols()[call.symbol].is_counter();
      if (m.is_start && (!is_counter || is_corner(m.context, call))) continue;
      const int32_t reports = tail_reports(m.context, call.target);
      if (reports != 0)
        (is_counter ? tail_counted : tail_called).emplace_back(call.symbol, reports);
      else
        (is_counter ? counted : called).emplace_back(call.symbol, single_report(call.symbol));
    }
  if (!called.empty()) m.call_start = contexts_[intern_context(called)].start;
  if (!tail_called.empty()) m.tail_call_start = contexts_[intern_context(tail_called)].start;
  const auto add_counters = [&](Calls& calls, bool tail) {
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    for (const auto& [symbol_id, reports] : calls) {
      const Symbol& symbol = nfa_.symbols()[symbol_id];
      const int32_t body_start =
          symbol.paths >= 0
              ? path_start(nfa_.paths(symbol.paths), 0)
              : contexts_[intern_context({{symbol.counter_body, single_report(symbol.counter_body)}})].start;
      const Counter counter{symbol.min,        symbol.max,       reports,      body_start,
                            symbol.max_tokens, symbol.max_chars, symbol.paths, symbol.has_key};
      m.counter_calls.push_back({intern_counter(counter), tail});
    }
  };
  add_counters(counted, false);
  add_counters(tail_counted, true);
  m.only_waits =
      !m.is_start && !m.has_tokens && called.empty() && tail_called.empty() &&
      std::all_of(calling_.begin(), calling_.end(), [&](int32_t s) { return nfa_.byte_edges(s).empty(); });
  m.calls_ready.store(true, std::memory_order_release);
}

int32_t MacroAutomaton::intern_counter(Counter counter) {
  const auto low = [](int64_t v) { return static_cast<int32_t>(v); };
  const auto high = [](int64_t v) { return static_cast<int32_t>(v >> 32); };
  const int32_t key[] = {low(counter.max_tokens), low(counter.max_chars), low(counter.min),
                         high(counter.min),       low(counter.max),       high(counter.max),
                         counter.reports,         counter.body_start,     counter.paths,
                         counter.has_key};
  const int32_t id = counter_keys_.intern(key);
  if (id == static_cast<int32_t>(counters_.size())) counters_.emplace_back() = counter;
  return id;
}

int32_t MacroAutomaton::compute_after(int32_t id, int32_t reports) {
  const std::lock_guard lock(mutex_);
  const uint64_t key = (static_cast<uint64_t>(id) + 1) << 32 | static_cast<uint32_t>(reports);
  if (const uint64_t found = after_.find(key)) return static_cast<int32_t>(found - 2);
  const MacroState& m = states_[id];
  const std::vector<int32_t> completed(report_sets_[reports].begin(), report_sets_[reports].end());
  const std::vector<int32_t> states(state_sets_[m.states].begin(), state_sets_[m.states].end());
  std::vector<int32_t> targets;
  for (const int32_t s : states)
    for (const CallEdge& call : nfa_.call_edges(s)) {
      if (!std::binary_search(completed.begin(), completed.end(), call.symbol)) continue;
      if (m.is_start && (!nfa_.symbols()[call.symbol].is_counter() || is_corner(m.context, call))) continue;
      if (tail_reports(m.context, call.target) == 0) targets.push_back(call.target);
    }
  const int32_t result = target_of(m.context, targets);
  after_.insert(key, static_cast<uint64_t>(result + 2));
  account(32);
  return result;
}

std::vector<int32_t> MacroAutomaton::captured_symbols(int32_t list) {
  const std::lock_guard lock(mutex_);
  return {captured_lists_[list].begin(), captured_lists_[list].end()};
}

int32_t MacroAutomaton::union_reports(int32_t a, int32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  std::vector<int32_t> merged;
  const auto left = report_sets_[a], right = report_sets_[b];
  std::set_union(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(merged));
  return report_sets_.intern(merged);
}

int32_t MacroAutomaton::merge_reports(int32_t a, int32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const std::lock_guard lock(mutex_);
  return union_reports(a, b);
}

ByteSet MacroAutomaton::follow(int32_t reports) {
  const std::lock_guard lock(mutex_);
  ByteSet bytes;
  for (const int32_t symbol : report_sets_[reports]) bytes.merge(nfa_.follow(symbol));
  return bytes;
}

}  // namespace syntagma
