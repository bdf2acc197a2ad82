// The symbols of Members, and of texts that many of them share.
#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "automaton/errors.hpp"
#include "automaton/nfa_builder.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int kDeepestLook = 8;  // into nested expressions
constexpr char kSeparator = ',';

}  // namespace

void NfaBuilder::build_members(const Task& task) {
  if (in_lazy(task))
    throw InvalidGrammar("The lazy rule \"" + source_.rule_names[nfa_.symbols_[task.owner].rule] +
                         "\" must have a body without Members");
  add_call(task, [&] { return members_symbol(task.expression); });
}

int32_t NfaBuilder::members_symbol(int32_t expression) {
  const auto found = symbol_of_members_.find(expression);
  if (found != symbol_of_members_.end()) return found->second;
  const Expression& e = source_.expressions[expression];
  const MembersShape& shape = source_.members[e.min];
  const auto children = source_.children_of(e);
  const auto id = static_cast<int32_t>(nfa_.symbols_.size());
  Symbol symbol;
  symbol.accept = new_state(id);
  symbol.keeps_keys =
      std::any_of(shape.distinct.begin(), shape.distinct.end(), [](uint8_t d) { return d != 0; });
  add_symbol(symbol);
  symbol_of_members_.emplace(expression, id);
  MemberLoop loop{id, new_state(id), new_state(id), symbol.accept, {}, facts_.member_order(source_, e)};
  for (int32_t i = 0; i < shape.count; ++i) {
    const bool may_come = facts_.nonempty[children[i]] != 0;
    if (facts_.nullable[children[i]])
      throw InvalidGrammar("Rule \"" + source_.rule_names[source_.expressions[children[i]].first] +
                           "\" is a member of Members and must not match the empty text");
    const auto symbol_of = [&] {
      return shape.distinct[i] ? distinct_member(children[i])
                               : member_symbol(children[i], shape.repeatable[i] != 0);
    };
    loop.calls.push_back(may_come ? symbol_of() : -1);
    if (may_come) calls_.push_back({loop.entrance, {loop.calls.back(), loop.between}});
  }
  if (nfa_.symbols_[id].keeps_keys &&
      (!shape.has_separator || !always_holds(children[shape.count], kSeparator, 0)))
    nfa_.key_separator_ = -1;
  add_empty(loop.between, loop.accept);
  if (shape.has_separator)
    add_task(children[shape.count], loop.between, loop.entrance, id);
  else
    add_empty(loop.between, loop.entrance);
  nfa_.loops_.push_back(std::move(loop));
  return id;
}

// A repeatable member may come at many places, and its masks are the same at all of them if it has a frame of
// its own.
int32_t NfaBuilder::member_symbol(int32_t reference, bool repeatable) {
  const auto rule = static_cast<int32_t>(source_.expressions[reference].first);
  const int32_t symbol = rule_symbol(rule);
  if (!repeatable || facts_.left_recursive[rule] || nfa_.symbols_[symbol].is_counter()) return symbol;
  const auto [found, added] = frame_of_rule_.try_emplace(rule, -1);
  if (added) found->second = framed(symbol);
  return found->second;
}

// Whether every text of an expression holds a byte, as far as that is easily told.
bool NfaBuilder::always_holds(int32_t expression, char byte, int depth) const {
  const Expression& e = source_.expressions[expression];
  const auto holds = [&](int32_t child) { return always_holds(child, byte, depth + 1); };
  if (depth == kDeepestLook) return false;
  if (e.op == Op::kRuleRef) return holds(source_.rule_bodies[e.first]);
  if (e.op == Op::kLiteral)
    return std::string_view(source_.literals).substr(e.first, e.count).find(byte) != std::string_view::npos;
  if (e.op != Op::kSequence) return false;
  const auto parts = source_.children_of(e);
  return std::any_of(parts.begin(), parts.end(), holds);
}

// They would share a frame, and so what is kept of their keys.
void NfaBuilder::refuse_lists_that_begin_lists() const {
  std::unordered_map<int32_t, int32_t> entrances;  // by symbol
  for (const MemberLoop& loop : nfa_.loops_) entrances.emplace(loop.symbol, loop.entrance);
  for (const MemberLoop& loop : nfa_.loops_) {
    if (!nfa_.symbols_[loop.symbol].keeps_keys) continue;
    std::vector<int32_t> pending{loop.entrance};
    std::unordered_set<int32_t> seen{loop.entrance};
    while (!pending.empty()) {
      const int32_t state = pending.back();
      pending.pop_back();
      TimeLimit::tick();
      const auto reach = [&](int32_t next) {
        if (seen.insert(next).second) pending.push_back(next);
      };
      for (const int32_t next : std::as_const(nfa_).empty_edges(state)) reach(next);
      for (const CallEdge& call : std::as_const(nfa_).call_edges(state)) {
        const Symbol& called = nfa_.symbols_[call.symbol];
        if (called.keeps_keys)
          throw InvalidGrammar(
              "A list with distinct members begins a member of such a list, without anything before it");
        if (called.is_counter()) continue;
        const auto list = entrances.find(call.symbol);
        reach(list != entrances.end() ? list->second : called.start);
      }
    }
  }
}

// In a frame of its own, so that it is known where its key begins.
int32_t NfaBuilder::distinct_member(int32_t reference) {
  const auto rule = static_cast<int32_t>(source_.expressions[reference].first);
  const auto [found, added] = distinct_members_.try_emplace(rule, -1);
  if (!added) return found->second;
  if (source_.rule_options[rule].any() || facts_.left_recursive[rule])
    throw InvalidGrammar("Rule \"" + source_.rule_names[rule] +
                         "\" is a distinct member and must neither have options nor begin with itself");
  const int32_t symbol = rule_symbol(rule);
  const bool is_framed = nfa_.symbols_[symbol].is_counter();
  const int32_t member = framed(is_framed ? nfa_.symbols_[symbol].counter_body : symbol);
  nfa_.symbols_[member].has_key = true;
  return found->second = member;
}

// A literal, and what comes behind it in a frame of its own: the values of many keys are alike, and those of
// one grammar are like those of another.
int32_t NfaBuilder::member_body(int32_t rule, Symbol symbol) {
  const auto parts = source_.children_of(source_.expressions[source_.rule_bodies[rule]]);
  const int32_t id = symbol_with_states(symbol), behind = new_state(id);
  const int32_t accept = nfa_.symbols_[id].accept;
  add_task(parts[0], nfa_.symbols_[id].start, behind, id);
  const auto end = parts.subspan(1);
  if (std::all_of(end.begin(), end.end(), [&](int32_t part) { return facts_.nullable[part] != 0; }))
    add_empty(behind, accept);
  if (std::any_of(end.begin(), end.end(), [&](int32_t part) { return facts_.nonempty[part] != 0; }))
    calls_.push_back({behind, {end_symbol(end), accept}});
  return id;
}

int32_t NfaBuilder::end_symbol(std::span<const int32_t> parts) {
  std::vector<int32_t> key;
  for (const int32_t part : parts) {
    const Expression& e = source_.expressions[part];
    key.insert(key.end(),
               {e.op == Op::kRuleRef, e.op == Op::kRuleRef ? static_cast<int32_t>(e.first) : part});
  }
  const auto found = ends_.find(key);
  if (found != ends_.end()) return found->second;
  const size_t first_byte = bytes_.size(), first_empty = empty_.size(), waiting = tasks_.size();
  Symbol end;
  end.is_whole = true;
  const int32_t id = symbol_with_states(end);
  build_sequence({kNoExpression, nfa_.symbols_[id].start, nfa_.symbols_[id].accept, id}, parts);
  run_tasks(waiting);
  return ends_[key] = shared_symbol(id, first_byte, first_empty);
}

// The newest symbol, whose edges are those from the given ones on, in a frame of its own; or the one that is
// the same and was there before.
int32_t NfaBuilder::shared_symbol(int32_t symbol, size_t first_byte, size_t first_empty) {
  const int32_t start = nfa_.symbols_[symbol].start;
  const auto [known, added] =
      shared_symbols_.try_emplace(shape_since(first_byte, first_empty, start), symbol + 1);
  if (added) return framed(symbol);
  bytes_.resize(first_byte);
  empty_.resize(first_empty);
  nfa_.symbols_.pop_back();
  state_count_ = start;
  nfa_.owners_.resize(state_count_);
  return known->second;
}

// A symbol that gives another one a frame of its own.
int32_t NfaBuilder::framed(int32_t symbol) {
  Symbol once;
  once.counter_body = symbol;
  once.min = once.max = 1;
  return add_symbol(once);
}

}  // namespace syntagma
