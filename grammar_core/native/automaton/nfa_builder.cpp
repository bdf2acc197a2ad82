#include "automaton/nfa_builder.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "automaton/errors.hpp"

namespace syntagma {
namespace {

constexpr int32_t kMaxStates = 8'000'000;

}  // namespace

NfaBuilder::NfaBuilder(const GrammarSource& source, Nfa& nfa)
    : source_(source), nfa_(nfa), facts_(analyze_expressions(source)) {
  symbol_of_rule_.assign(source.rule_bodies.size(), -1);
}

int32_t NfaBuilder::new_state() {
  if (state_count_ == kMaxStates)
    throw LimitExceeded("automaton_states", kMaxStates,
                        "The grammar needs more than " + std::to_string(kMaxStates) + " automaton states");
  return state_count_++;
}

int32_t NfaBuilder::add_symbol(Symbol symbol) {
  nfa_.symbols_.push_back(symbol);
  return static_cast<int32_t>(nfa_.symbols_.size()) - 1;
}

int32_t NfaBuilder::rule_symbol(int32_t rule) {
  if (symbol_of_rule_[rule] < 0) {
    const int32_t start = new_state(), accept = new_state();
    symbol_of_rule_[rule] = add_symbol({start, accept, -1, 0, 0, rule});
    tasks_.push_back({source_.rule_bodies[rule], start, accept});
  }
  return symbol_of_rule_[rule];
}

int32_t NfaBuilder::counter_symbol(int32_t repeat) {
  const auto found = symbol_of_repeat_.find(repeat);
  if (found != symbol_of_repeat_.end()) return found->second;
  const Expression& e = source_.expressions[repeat];
  const auto body = static_cast<int32_t>(e.first);
  const int32_t start = new_state(), accept = new_state();
  const int32_t body_symbol = add_symbol({start, accept});
  tasks_.push_back({body, start, accept});
  // Iterations are counted only when they consume something, so a nullable body needs none.
  const int64_t min = facts_.nullable[body] ? 0 : e.min;
  const int32_t symbol = add_symbol({-1, -1, body_symbol, min, e.max});
  symbol_of_repeat_.emplace(repeat, symbol);
  return symbol;
}

void NfaBuilder::build() {
  nfa_.root_ = rule_symbol(source_.root);
  nfa_.root_nullable_ = facts_.nullable[source_.rule_bodies[source_.root]];
  while (!tasks_.empty()) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    run_task(task);
  }
  finish();
}

void NfaBuilder::run_task(const Task& task) {
  const Expression& e = source_.expressions[task.expression];
  if (!facts_.productive(task.expression)) return;
  switch (e.op) {
    case Op::kLiteral:
      return build_literal(task, e);
    case Op::kCharClass:
      return build_char_class(task, e);
    case Op::kRuleRef:
      return build_reference(task, e);
    case Op::kSequence:
      return build_sequence(task, e);
    case Op::kChoice:
      return build_choice(task, e);
    case Op::kRepeat:
      return build_repeat(task, e);
  }
}

void NfaBuilder::build_literal(const Task& task, const Expression& e) {
  if (e.count == 0) return add_empty(task.from, task.to);
  int32_t state = task.from;
  for (int64_t i = 0; i < e.count; ++i) {
    const auto byte = static_cast<uint8_t>(source_.literals[e.first + i]);
    const int32_t next = i + 1 == e.count ? task.to : new_state();
    bytes_.push_back({state, {byte, byte, next}});
    state = next;
  }
}

void NfaBuilder::build_char_class(const Task& task, const Expression& e) {
  std::vector<Utf8Sequence> sequences;
  for (int64_t i = 0; i < e.count; ++i) append_utf8_sequences(source_.ranges[e.first + i], sequences);
  std::map<std::tuple<int32_t, uint8_t, uint8_t>, int32_t> states;  // shares common endings
  for (const Utf8Sequence& sequence : sequences) {
    int32_t target = task.to;
    for (int i = sequence.length - 1; i > 0; --i) {
      const auto [low, high] = sequence.bytes[i];
      const auto [entry, added] = states.try_emplace({target, low, high}, 0);
      if (added) {
        entry->second = new_state();
        bytes_.push_back({entry->second, {low, high, target}});
      }
      target = entry->second;
    }
    bytes_.push_back({task.from, {sequence.bytes[0].low, sequence.bytes[0].high, target}});
  }
}

void NfaBuilder::build_reference(const Task& task, const Expression& e) {
  const auto rule = static_cast<int32_t>(e.first);
  if (facts_.inlined[rule]) {
    tasks_.push_back({source_.rule_bodies[rule], task.from, task.to});
    return;
  }
  if (facts_.nullable[task.expression]) add_empty(task.from, task.to);
  if (facts_.nonempty[task.expression]) calls_.push_back({task.from, {rule_symbol(rule), task.to}});
}

void NfaBuilder::build_sequence(const Task& task, const Expression& e) {
  const auto children = source_.children_of(e);
  if (children.empty()) return add_empty(task.from, task.to);
  int32_t state = task.from;
  for (size_t i = 0; i < children.size(); ++i) {
    const int32_t next = i + 1 == children.size() ? task.to : new_state();
    tasks_.push_back({children[i], state, next});
    state = next;
  }
}

void NfaBuilder::build_choice(const Task& task, const Expression& e) {
  std::vector<int32_t> literals;
  for (const int32_t child : source_.children_of(e)) {
    const Expression& option = source_.expressions[child];
    if (option.op == Op::kLiteral && option.count > 0)
      literals.push_back(child);
    else
      tasks_.push_back({child, task.from, task.to});
  }
  build_literal_trie(task, std::move(literals));
}

void NfaBuilder::build_literal_trie(const Task& task, std::vector<int32_t> literals) {
  const auto text = [&](int32_t index) {
    const Expression& e = source_.expressions[index];
    return std::string_view(source_.literals).substr(e.first, e.count);
  };
  std::sort(literals.begin(), literals.end(), [&](int32_t a, int32_t b) { return text(a) < text(b); });
  std::vector<int32_t> path{task.from};  // the states along the previous literal
  std::string_view previous;
  for (const int32_t literal : literals) {
    const std::string_view current = text(literal);
    if (current == previous) continue;
    size_t shared = 0;
    while (shared + 1 < path.size() && shared < current.size() && current[shared] == previous[shared])
      ++shared;
    path.resize(shared + 1);
    for (size_t i = shared; i + 1 < current.size(); ++i) {
      const auto byte = static_cast<uint8_t>(current[i]);
      const int32_t next = new_state();
      bytes_.push_back({path.back(), {byte, byte, next}});
      path.push_back(next);
    }
    const auto last = static_cast<uint8_t>(current.back());
    bytes_.push_back({path.back(), {last, last, task.to}});
    previous = current;
  }
}

void NfaBuilder::build_loop(int32_t body, int32_t from, int32_t to) {
  const int32_t hub = new_state();
  add_empty(from, hub);
  add_empty(hub, to);
  tasks_.push_back({body, hub, hub});
}

void NfaBuilder::build_repeat(const Task& task, const Expression& e) {
  const auto body = static_cast<int32_t>(e.first);
  if (e.max == 0 || !facts_.productive(body)) return add_empty(task.from, task.to);
  if (facts_.counted[task.expression]) {
    if (facts_.nullable[task.expression]) add_empty(task.from, task.to);
    if (facts_.nonempty[task.expression])
      calls_.push_back({task.from, {counter_symbol(task.expression), task.to}});
    return;
  }
  if (e.max == kUnbounded && e.min <= 1) {
    if (e.min == 0) return build_loop(body, task.from, task.to);
    const int32_t begin = new_state(), end = new_state();
    add_empty(task.from, begin);
    tasks_.push_back({body, begin, end});
    add_empty(end, begin);
    add_empty(end, task.to);
    return;
  }
  int32_t state = task.from;
  for (int64_t i = 0; i < e.min; ++i) {
    const int32_t next = new_state();
    tasks_.push_back({body, state, next});
    state = next;
  }
  if (e.max == kUnbounded) return build_loop(body, state, task.to);
  add_empty(state, task.to);
  for (int64_t i = e.min; i < e.max; ++i) {
    const int32_t next = new_state();
    tasks_.push_back({body, state, next});
    add_empty(next, task.to);
    state = next;
  }
}

template <typename Edge>
void NfaBuilder::place_edges(std::vector<Placed<Edge>>& placed, std::vector<uint32_t>& begin,
                             std::vector<Edge>& edges) {
  begin.assign(state_count_ + 1, 0);
  for (const auto& p : placed) ++begin[p.from + 1];
  for (int32_t s = 0; s < state_count_; ++s) begin[s + 1] += begin[s];
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  edges.resize(placed.size());
  for (const auto& p : placed) edges[next[p.from]++] = p.edge;
}

void NfaBuilder::finish() {
  place_edges(bytes_, nfa_.byte_begin_, nfa_.byte_edges_);
  place_edges(calls_, nfa_.call_begin_, nfa_.call_edges_);
  std::vector<Placed<int32_t>> empty;
  empty.reserve(empty_.size());
  for (const EmptyEdge& e : empty_) empty.push_back({e.from, e.to});
  place_edges(empty, nfa_.empty_begin_, nfa_.empty_edges_);
  nfa_.accepts_.assign(state_count_, -1);
  for (size_t i = 0; i < nfa_.symbols_.size(); ++i)
    if (!nfa_.symbols_[i].is_counter()) nfa_.accepts_[nfa_.symbols_[i].accept] = static_cast<int32_t>(i);
}

}  // namespace syntagma
