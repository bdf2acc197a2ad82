// Automata whose edges are counted.
#include <algorithm>

#include "automaton/errors.hpp"
#include "automaton/nfa_builder.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int64_t kMaxPathCopies = 100'000;

// The useful part of an automaton: what leads to an accepting state, with the least number of edges to it.
struct UsefulPaths {
  UsefulPaths(const AutomatonShape& shape, std::span<const uint8_t> is_productive) : shape(shape) {
    std::vector<Adjacency::Placed> backwards;
    for (size_t i = 0; i < shape.edges.size(); ++i)
      if (is_productive[i]) backwards.push_back({shape.edges[i].to, shape.edges[i].from});
    const Adjacency before(shape.state_count, backwards);
    to_end.assign(shape.state_count, kUnbounded);
    rest.assign(shape.state_count, kUnbounded);
    accepting.assign(shape.state_count, 0);
    std::vector<int32_t> queue;
    for (const int32_t state : shape.accepting) {
      if (accepting[state]) continue;
      accepting[state] = 1;
      to_end[state] = 0;
      queue.push_back(state);
    }
    for (size_t i = 0; i < queue.size(); ++i)
      for (const int32_t source : before[queue[i]]) {
        rest[source] = std::min(rest[source], to_end[queue[i]] + 1);
        if (to_end[source] != kUnbounded) continue;
        to_end[source] = to_end[queue[i]] + 1;
        queue.push_back(source);
      }
    for (size_t i = 0; i < shape.edges.size(); ++i)
      is_useful.push_back(is_productive[i] && to_end[shape.edges[i].to] != kUnbounded);
  }

  // Whether every number of edges from the least one on is that of some text, from each state.
  bool has_all_lengths() const {
    std::vector<uint8_t> goes_on(shape.state_count, 0);
    for (size_t i = 0; i < shape.edges.size(); ++i)
      if (is_useful[i] && accepting[shape.edges[i].to]) goes_on[shape.edges[i].from] = 1;
    return std::all_of(shape.accepting.begin(), shape.accepting.end(),
                       [&](int32_t state) { return goes_on[state] != 0; });
  }

  const AutomatonShape& shape;
  std::vector<int64_t> to_end, rest;          // by state; `rest` of at least one edge
  std::vector<uint8_t> accepting, is_useful;  // by state; by edge
};

}  // namespace

// Where a repetition is counted on the stack, so are the edges of these paths.
void NfaBuilder::build_counted_paths(const Task& task, const Expression& e) {
  if (in_lazy(task)) return build_path_copies(task, e);
  add_call(task, [&] { return paths_symbol(task.expression); });
}

int32_t NfaBuilder::paths_symbol(int32_t expression) {
  const auto found = symbol_of_repeat_.find(expression);
  if (found != symbol_of_repeat_.end()) return found->second;
  const Expression& e = source_.expressions[expression];
  const AutomatonShape& shape = source_.automata[e.min];
  const UsefulPaths useful(shape, productive_labels(e));
  if (useful.rest[0] > shape.max_edges || (shape.min_edges > useful.to_end[0] && !useful.has_all_lengths()))
    throw InvalidGrammar("an automaton that counts its edges would have texts that cannot be completed");
  CountedPaths paths;
  paths.symbols.resize(shape.state_count);
  paths.accepting = useful.accepting;
  paths.rest = useful.rest;
  for (const int64_t rest : paths.rest)
    if (rest != kUnbounded) paths.longest_rest = std::max(paths.longest_rest, rest);
  const auto index = static_cast<int32_t>(nfa_.paths_.size());
  const Adjacency edges = shape.edges_by_source();
  for (int32_t state = 0; state < shape.state_count; ++state) {
    TimeLimit::tick();
    int32_t start = -1;
    std::map<int32_t, int32_t> symbols;  // by target
    for (const int32_t i : edges[state]) {
      if (!useful.is_useful[i]) continue;
      const int32_t target = shape.edges[i].to;
      const auto [entry, added] = symbols.try_emplace(target, static_cast<int32_t>(nfa_.symbols_.size()));
      if (added) {
        if (start < 0) start = new_state(entry->second);
        Symbol edge;
        edge.start = start;
        edge.accept = new_state(entry->second);
        edge.paths = index;
        edge.path_source = state;
        edge.path_target = target;
        paths.symbols[state].push_back(add_symbol(edge));
      }
      const Symbol& edge = nfa_.symbols_[entry->second];
      build_path_label({source_.children_of(e)[i], edge.start, edge.accept, entry->second});
    }
  }
  Symbol counter;
  counter.counter_body = paths.symbols[0][0];
  counter.min = shape.min_edges;
  counter.max = shape.max_edges;
  counter.paths = index;
  nfa_.paths_.push_back(std::move(paths));
  const int32_t symbol = add_symbol(counter);
  symbol_of_repeat_.emplace(expression, symbol);
  return symbol;
}

std::vector<uint8_t> NfaBuilder::productive_labels(const Expression& e) const {
  std::vector<uint8_t> productive;
  for (const int32_t label : source_.children_of(e)) {
    if (facts_.nullable[label]) throw InvalidGrammar("an automaton that counts its edges has an empty one");
    productive.push_back(facts_.nonempty[label]);
  }
  return productive;
}

// The label's own edges, so that a frame reads it without calls.
void NfaBuilder::build_path_label(const Task& task) {
  const Expression& e = source_.expressions[task.expression];
  if (e.op != Op::kRuleRef) return add_task(task.expression, task.from, task.to, task.owner);
  if (facts_.recursive[e.first] || source_.rule_options[e.first].any())
    throw InvalidGrammar("an automaton that counts its edges has a recursive rule or one with options");
  add_task(source_.rule_bodies[e.first], task.from, task.to, task.owner);
}

// In a lazy rule, which has no counters: states for every number of edges.
void NfaBuilder::build_path_copies(const Task& task, const Expression& e) {
  const AutomatonShape& shape = source_.automata[e.min];
  const UsefulPaths useful(shape, productive_labels(e));
  const int64_t last = shape.max_edges == kUnbounded ? shape.min_edges : shape.max_edges;
  if (last >= kMaxPathCopies / std::max<int64_t>(1, shape.state_count))
    throw LimitExceeded("repetition", kMaxPathCopies,
                        "An automaton in a lazy rule may take at most " + std::to_string(kMaxPathCopies) +
                            " copies of its states");
  std::vector<std::vector<int32_t>> copies(last + 1);  // by number of edges and state
  for (std::vector<int32_t>& layer : copies)
    for (int32_t state = 0; state < shape.state_count; ++state) layer.push_back(new_state(task.owner));
  add_empty(task.from, copies[0][0]);
  for (int64_t count = 0; count <= last; ++count) {
    const bool stays = count == last && shape.max_edges == kUnbounded;
    if (count >= shape.min_edges)
      for (const int32_t state : shape.accepting) add_empty(copies[count][state], task.to);
    if (count == last && !stays) break;
    for (size_t i = 0; i < shape.edges.size(); ++i) {
      const auto [from, to] = shape.edges[i];
      const int64_t left = shape.max_edges == kUnbounded ? kUnbounded : last - count - 1;
      if (useful.is_useful[i] && useful.to_end[to] <= left)
        build_path_label({source_.children_of(e)[i], copies[count][from],
                          copies[stays ? count : count + 1][to], task.owner});
    }
  }
}

}  // namespace syntagma
