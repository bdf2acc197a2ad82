// The symbols of rules, of counted repetitions and of the root.
#include "automaton/nfa_builder.hpp"

namespace syntagma {

int32_t NfaBuilder::rule_symbol(int32_t rule) {
  if (symbol_of_rule_[rule] >= 0) return symbol_of_rule_[rule];
  const RuleOptions& options = source_.rule_options[rule];
  Symbol symbol;
  symbol.rule = rule;
  symbol.lazy = options.lazy;
  symbol.capture = options.capture;
  symbol.temperature = options.temperature;
  symbol.marker = {options.stop_capture, options.suffix_bytes, options.stop_bytes};
  const int32_t body = symbol_of_rule_[rule] =
      facts_.shares_end[rule] ? member_body(rule, symbol) : body_symbol(source_.rule_bodies[rule], symbol);
  if (options.body_rule >= 0 && options.records()) {
    const int32_t measure = measuring_symbol(options);
    nfa_.symbols_[body].marker.measure = measure;
  }
  if (options.may_end_early()) {
    const int32_t early = early_symbol(options.body_rule);
    nfa_.symbols_[body].early = early;
    add_empty(nfa_.symbols_[body].start, nfa_.symbols_[early].start);
  }
  if (options.lazy || options.has_budget() ||
      facts_.framed[rule]) {  // a frame of its own, so that ending early ends only this occurrence
    Symbol once;
    once.max_tokens = options.max_tokens;
    once.max_chars = options.max_chars;
    once.counter_body = symbol_of_rule_[rule];
    once.min = once.max = 1;
    symbol_of_rule_[rule] = add_symbol(once);
  }
  return symbol_of_rule_[rule];
}

// What an occurrence that ends early may end after, to be followed inside the occurrence's frame.
int32_t NfaBuilder::early_symbol(int32_t body_rule) {
  Symbol symbol;
  symbol.rule = body_rule;
  symbol.lazy = true;  // without frames of its own
  return body_symbol(source_.rule_bodies[body_rule], symbol);
}

// A marker and what stands before it, never called.
int32_t NfaBuilder::measuring_symbol(const RuleOptions& options) {
  const auto id = static_cast<int32_t>(nfa_.symbols_.size());
  Symbol symbol;
  symbol.rule = options.marker_rule;
  symbol.lazy = true;
  symbol.start = new_state(id);
  symbol.boundary = new_state(id);
  symbol.accept = new_state(id);
  add_task(source_.rule_bodies[options.body_rule], symbol.start, symbol.boundary, id);
  add_task(source_.rule_bodies[options.marker_rule], symbol.boundary, symbol.accept, id);
  return add_symbol(symbol);
}

// Counters of one rule share its symbol, and with it what is found out about its frame.
int32_t NfaBuilder::counter_body(int32_t expression) {
  const Expression& e = source_.expressions[expression];
  if (e.op == Op::kRuleRef && !source_.rule_options[e.first].any() && !facts_.framed[e.first])
    return rule_symbol(static_cast<int32_t>(e.first));
  return body_symbol(expression, {});
}

int32_t NfaBuilder::counter_symbol(int32_t repeat) {
  const auto found = symbol_of_repeat_.find(repeat);
  if (found != symbol_of_repeat_.end()) return found->second;
  const Expression& e = source_.expressions[repeat];
  const auto body = static_cast<int32_t>(e.first);
  Symbol counter;
  counter.counter_body = counter_body(body);
  // Iterations are counted only when they consume something, so a nullable body needs none.
  counter.min = facts_.nullable[body] ? 0 : e.min;
  counter.max = e.max;
  const int32_t symbol = add_symbol(counter);
  symbol_of_repeat_.emplace(repeat, symbol);
  return symbol;
}

// A root with a frame of its own gets a symbol that calls it.
int32_t NfaBuilder::root_symbol() {
  const int32_t symbol = rule_symbol(source_.root);
  if (!nfa_.symbols_[symbol].is_counter()) return symbol;
  const auto caller = static_cast<int32_t>(nfa_.symbols_.size());
  Symbol root;
  root.start = new_state(caller);
  root.accept = new_state(caller);
  const RuleOptions& options = source_.rule_options[source_.root];
  const bool is_empty = nfa_.root_nullable_ && (options.lazy || options.max_chars == 0);
  if (!is_empty && facts_.nonempty[source_.rule_bodies[source_.root]])
    calls_.push_back({root.start, {symbol, root.accept}});
  return add_symbol(root);
}

}  // namespace syntagma
