#include "automaton/nfa_builder.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int32_t kMaxStates = 2'000'000;
constexpr int64_t kMaxCopies = 100'000;
constexpr int64_t kMaxCopiedLabels = 256;
constexpr uint32_t kLastOfOneByte = 0x7F;

}  // namespace

NfaBuilder::NfaBuilder(const GrammarSource& source, Nfa& nfa)
    : source_(source), nfa_(nfa), facts_(analyze_expressions(source)) {
  symbol_of_rule_.assign(source.rule_bodies.size(), -1);
  const size_t likely_states = source.literals.size() + source.expressions.size();
  bytes_.reserve(likely_states);
  nfa_.owners_.reserve(likely_states);
}

int32_t NfaBuilder::new_state(int32_t owner) {
  if (state_count_ == kMaxStates)
    throw LimitExceeded("automaton_states", kMaxStates,
                        "The grammar needs more than " + std::to_string(kMaxStates) + " automaton states");
  nfa_.owners_.push_back(owner);
  return state_count_++;
}

int32_t NfaBuilder::add_symbol(Symbol symbol) {
  nfa_.symbols_.push_back(symbol);
  return static_cast<int32_t>(nfa_.symbols_.size()) - 1;
}

// A symbol with a start and an accept state of its own.
int32_t NfaBuilder::symbol_with_states(Symbol symbol) {
  const auto id = static_cast<int32_t>(nfa_.symbols_.size());
  symbol.start = new_state(id);
  symbol.accept = new_state(id);
  return add_symbol(symbol);
}

// The symbol of a text with states of its own.
int32_t NfaBuilder::body_symbol(int32_t expression, Symbol symbol) {
  const int32_t id = symbol_with_states(symbol);
  add_task(expression, nfa_.symbols_[id].start, nfa_.symbols_[id].accept, id);
  return id;
}

void NfaBuilder::build() {
  nfa_.root_nullable_ = facts_.rule_nullable[source_.root];
  nfa_.root_ = root_symbol();
  run_tasks(0);
  finish();
}

// Runs tasks, newest first, until so many are left.
void NfaBuilder::run_tasks(size_t remaining) {
  while (tasks_.size() > remaining) {
    const Task task = tasks_.back();
    tasks_.pop_back();
    TimeLimit::tick();
    run_task(task);
  }
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
      return build_sequence(task, source_.children_of(e));
    case Op::kChoice:
      return build_choice(task, e);
    case Op::kRepeat:
      return build_repeat(task, e);
    case Op::kAutomaton:
      return source_.automata[e.min].is_counted() ? build_counted_paths(task, e) : build_automaton(task, e);
    case Op::kMembers:
      return build_members(task);
    case Op::kOtherTexts:
      return build_other_texts(task, kNoExpression);
    case Op::kTokenSet:
      if (nfa_.symbols_[task.owner].boundary >= 0)
        throw InvalidGrammar("Rule \"" + source_.rule_names[nfa_.symbols_[task.owner].rule] +
                             "\" is a marker at the end of a text, or stands before one, and has token sets");
      tokens_.push_back({task.from, {static_cast<int32_t>(e.first), task.to}});
      return;
  }
}

void NfaBuilder::build_literal(const Task& task, const Expression& e) {
  if (e.count == 0) return add_empty(task.from, task.to);
  int32_t state = task.from;
  for (int64_t i = 0; i < e.count; ++i) {
    const auto byte = static_cast<uint8_t>(source_.literals[e.first + i]);
    const int32_t next = i + 1 == e.count ? task.to : new_state(task.owner);
    bytes_.push_back({state, {byte, byte, next}});
    state = next;
  }
}

void NfaBuilder::build_char_class(const Task& task, const Expression& e) {
  std::vector<Utf8Sequence> sequences;
  for (int64_t i = 0; i < e.count; ++i) {
    const CodePointRange range = source_.ranges[e.first + i];
    if (range.high > kLastOfOneByte)
      append_utf8_sequences(range, sequences);
    else
      bytes_.push_back(
          {task.from, {static_cast<uint8_t>(range.low), static_cast<uint8_t>(range.high), task.to}});
  }
  std::map<std::tuple<int32_t, uint8_t, uint8_t>, int32_t> states;  // shares common endings
  for (const Utf8Sequence& sequence : sequences) {
    int32_t target = task.to;
    for (int i = sequence.length - 1; i > 0; --i) {
      const auto [low, high] = sequence.bytes[i];
      const auto [entry, added] = states.try_emplace({target, low, high}, 0);
      if (added) {
        entry->second = new_state(task.owner);
        bytes_.push_back({entry->second, {low, high, target}});
      }
      target = entry->second;
    }
    bytes_.push_back({task.from, {sequence.bytes[0].low, sequence.bytes[0].high, target}});
  }
}

void NfaBuilder::build_reference(const Task& task, const Expression& e) {
  const auto rule = static_cast<int32_t>(e.first);
  const RuleOptions& options = source_.rule_options[rule];
  if (in_lazy(task) && (facts_.recursive[rule] || options.any()))
    throw InvalidGrammar(
        (nfa_.symbols_[task.owner].boundary >= 0 ? "The marker rule \"" : "The lazy rule \"") +
        source_.rule_names[nfa_.symbols_[task.owner].rule] +
        "\" must have a body without recursive rules and rules with options, but refers to \"" +
        source_.rule_names[rule] + "\"");
  if (facts_.inlined[rule] || copies_all(task)) {
    add_task(source_.rule_bodies[rule], task.from, task.to, task.owner);
    return;
  }
  if (facts_.nullable[task.expression]) add_empty(task.from, task.to);
  const bool ends_at_once = options.lazy || options.max_chars == 0;
  if (ends_at_once && facts_.nullable[task.expression]) return;  // it always commits to the empty text
  if (facts_.nonempty[task.expression]) calls_.push_back({task.from, {rule_symbol(rule), task.to}});
}

void NfaBuilder::build_sequence(const Task& task, std::span<const int32_t> children) {
  if (children.empty()) return add_empty(task.from, task.to);
  int32_t state = task.from;
  for (size_t i = 0; i < children.size(); ++i) {
    const bool has_end = i + 1 < children.size() && !in_lazy(task) &&
                         source_.expressions[children[i]].op == Op::kOtherTexts &&
                         source_.expressions[children[i + 1]].op == Op::kLiteral;
    const int32_t child = children[i], end = has_end ? children[++i] : kNoExpression;
    const int32_t next = i + 1 == children.size() ? task.to : new_state(task.owner);
    if (has_end)
      build_other_texts({child, state, next, task.owner}, end);
    else
      add_task(child, state, next, task.owner);
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
      add_task(child, task.from, task.to, task.owner);
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
      const int32_t next = new_state(task.owner);
      bytes_.push_back({path.back(), {byte, byte, next}});
      path.push_back(next);
    }
    const auto last = static_cast<uint8_t>(current.back());
    bytes_.push_back({path.back(), {last, last, task.to}});
    previous = current;
  }
}

// Any number of `body` between the ends of `task`.
void NfaBuilder::build_loop(const Task& task, int32_t body) {
  const int32_t hub = new_state(task.owner);
  add_empty(task.from, hub);
  add_empty(hub, task.to);
  add_task(body, hub, hub, task.owner);
}

void NfaBuilder::build_repeat(const Task& task, const Expression& e) {
  const auto body = static_cast<int32_t>(e.first);
  if (e.max == 0 || !facts_.productive(body)) return add_empty(task.from, task.to);
  if (facts_.counted[task.expression] && !in_lazy(task))
    return add_call(task, [&] { return counter_symbol(task.expression); });
  if (e.max != kUnbounded || e.min > 1) return build_copies(task, e);
  if (e.min == 0) return build_loop(task, body);
  const int32_t begin = new_state(task.owner), end = new_state(task.owner);
  add_empty(task.from, begin);
  add_task(body, begin, end, task.owner);
  add_empty(end, begin);
  add_empty(end, task.to);
}

void NfaBuilder::build_copies(const Task& task, const Expression& e) {
  const auto body = static_cast<int32_t>(e.first);
  const int64_t copies = e.max == kUnbounded ? e.min : e.max;
  if (copies > kMaxCopies)
    throw LimitExceeded(
        "repetition", kMaxCopies,
        "A repetition in a lazy rule may take at most " + std::to_string(kMaxCopies) + " copies");
  int32_t state = task.from;
  for (int64_t i = 0; i < e.min; ++i) {
    const int32_t next = new_state(task.owner);
    add_task(body, state, next, task.owner);
    state = next;
  }
  if (e.max == kUnbounded) return build_loop({task.expression, state, task.to, task.owner}, body);
  add_empty(state, task.to);
  for (int64_t i = e.min; i < e.max; ++i) {
    const int32_t next = new_state(task.owner);
    add_task(body, state, next, task.owner);
    add_empty(next, task.to);
    state = next;
  }
}

// Only states that can be reached and can be completed.
void NfaBuilder::build_automaton(const Task& task, const Expression& e) {
  const AutomatonShape& shape = source_.automata[e.min];
  const auto labels = source_.children_of(e);
  std::vector<Adjacency::Placed> productive;
  for (size_t i = 0; i < shape.edges.size(); ++i)
    if (facts_.productive(labels[i])) productive.push_back({shape.edges[i].to, shape.edges[i].from});
  const Adjacency before(shape.state_count, productive);
  std::vector<int32_t> state_of(shape.state_count, -1), pending;
  const auto keep = [&](int32_t state) {
    if (state_of[state] >= 0) return;
    state_of[state] = new_state(task.owner);
    pending.push_back(state);
  };
  for (const int32_t state : shape.accepting) keep(state);
  while (!pending.empty()) {
    const int32_t state = pending.back();
    pending.pop_back();
    for (const int32_t source : before[state]) keep(source);
  }
  add_empty(task.from, state_of[0]);
  for (const int32_t state : shape.accepting) add_empty(state_of[state], task.to);
  const auto is_rule = [&](int32_t label) { return source_.expressions[label].op == Op::kRuleRef; };
  const auto rules = std::count_if(labels.begin(), labels.end(), is_rule);
  for (size_t i = 0; i < shape.edges.size(); ++i) {
    const auto [from, to] = shape.edges[i];
    if (facts_.productive(labels[i]) && state_of[from] >= 0 && state_of[to] >= 0)
      build_label({labels[i], state_of[from], state_of[to], task.owner}, rules <= kMaxCopiedLabels);
  }
}

// A rule is called and not copied where an automaton has so many labels that are rules.
void NfaBuilder::build_label(const Task& task, bool may_copy) {
  const Expression& e = source_.expressions[task.expression];
  const bool is_called = !may_copy && e.op == Op::kRuleRef && facts_.inlined[e.first];
  if (!is_called || copies_all(task)) return add_task(task.expression, task.from, task.to, task.owner);
  add_call(task, [&] { return rule_symbol(static_cast<int32_t>(e.first)); });
}

void NfaBuilder::finish() {
  place_edges(bytes_, state_count_, nfa_.byte_begin_, nfa_.byte_edges_);
  place_edges(calls_, state_count_, nfa_.call_begin_, nfa_.call_edges_);
  place_edges(tokens_, state_count_, nfa_.token_begin_, nfa_.token_edges_);
  place_edges(empty_, state_count_, nfa_.empty_begin_, nfa_.empty_edges_);
  nfa_.calls_something_.assign(nfa_.symbols_.size(), 0);
  for (const auto& call : calls_) nfa_.calls_something_[nfa_.owners_[call.from]] = 1;
  nfa_.accepts_.assign(state_count_, -1);
  for (size_t i = 0; i < nfa_.symbols_.size(); ++i)
    if (!nfa_.symbols_[i].is_counter()) nfa_.accepts_[nfa_.symbols_[i].accept] = static_cast<int32_t>(i);
  refuse_lists_that_begin_lists();
  for (size_t i = 0; i < nfa_.loops_.size(); ++i) {
    const MemberLoop& loop = nfa_.loops_[i];
    nfa_.symbols_[loop.symbol].start =
        nfa_.derive(static_cast<int32_t>(i), loop.order.start(), loop.entrance);
  }
}

}  // namespace syntagma
