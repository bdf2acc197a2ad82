// How a matcher follows text and tokens.
#include <algorithm>
#include <utility>
#include <vector>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"
#include "parser/matcher.hpp"

namespace syntagma {
namespace {

constexpr size_t kArenaLimit = size_t{512} << 20;

bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); });
}

}  // namespace

void Matcher::check_memory() const {
  if (stacks_->arena.memory_bytes() > kArenaLimit)
    throw LimitExceeded("parse_stack_memory", kArenaLimit,
                        "The text's parse needs more than " + std::to_string(kArenaLimit >> 20) + " MiB");
}

// Drops what does not belong to the steps: of steps taken back, or of an attempt that failed.
void Matcher::forget_rest() {
  const Step& last = steps_.back();
  items_.resize(last.items_end);
  captures_.resize(last.captures_end);
  text_.resize(last.text_end);
  if (last_string_.end > text_.size()) last_string_ = {};
  characters_ = last.characters;
  tokens_ = last.tokens;
}

void Matcher::follow_text(bool in_token) {
  if (!steps_.empty()) forget_rest();
  stacks_->stepper.follow_text(grammar_->automaton().captures() ? &captures_ : nullptr,
                               {static_cast<int64_t>(text_.size()), characters_, tokens_, in_token, false});
}

bool Matcher::run(std::string_view text, bool is_token) {
  const TimeLimit limit("Following the text in this grammar", step_seconds());
  const std::lock_guard lock(stacks_->mutex);
  check_memory();
  stacks_->stepper.reset_work();
  follow_text(is_token);
  Configuration& reached = stacks_->reached;
  if (!read_text(items(), text, reached)) return false;
  took(text, is_token);
  push(reached.items, reached.base_reports != 0, false);
  return true;
}

// A token may be read as text and as a member of a token set at once.
bool Matcher::run_token(int32_t id, std::string_view text) {
  const TimeLimit limit("Following the text in this grammar", step_seconds());
  const std::lock_guard lock(stacks_->mutex);
  check_memory();
  Stepper& stepper = stacks_->stepper;
  stepper.reset_work();
  follow_text(true);
  Configuration as_token, merged;
  Configuration& as_text = stacks_->reached;
  std::vector<int32_t> ended;
  const bool is_in_sets = grammar_->matches_token_sets(id);
  std::vector<std::pair<int32_t, int32_t>> lazy;  // macro-states that read the token both ways, and targets
  std::vector<Item> others;
  if (is_in_sets) {
    for (const Item& item : items()) {
      const int32_t target = lazy_target(item.macro, id, text);
      if (target != kNone)
        lazy.emplace_back(item.macro, target);
      else
        others.push_back(item);
    }
  }
  if (!text.empty() && read_text(lazy.empty() ? items() : others, text, as_text)) {
    ended.assign(stepper.ended_occurrences().begin(), stepper.ended_occurrences().end());
  } else {
    as_text.clear();
    if (lazy.empty()) follow_text(true);  // else lazy frames read the text, and what it captured stays
  }
  if (is_in_sets) {
    stepper.follow_text(
        grammar_->automaton().captures() ? &captures_ : nullptr,
        {static_cast<int64_t>(text_.size()), characters_ + count_characters(text), tokens_, true, true});
    stepper.step_token(items(), id, static_cast<int64_t>(text.size()), as_token, lazy);
    ended.insert(ended.end(), stepper.ended_occurrences().begin(), stepper.ended_occurrences().end());
  }
  if (!as_text.alive() && !as_token.alive()) return false;
  stepper.merge(as_text, as_token, ended, merged);
  took(text, true);
  push(merged.items, merged.base_reports != 0, false);
  return true;
}

// Where a token leads to from a state of a lazy frame that reads it both as text and as a member of a set;
// kNone for other states.
int32_t Matcher::lazy_target(int32_t macro, int32_t id, std::string_view text) const {
  MacroAutomaton& automaton = grammar_->automaton();
  if (text.empty() || !automaton.is_lazy_with_tokens(macro) || automaton.next_token(macro, id) == kNone)
    return kNone;
  int32_t state = macro;
  for (const char c : text.substr(0, text.size() - 1)) {
    state = automaton.next(state, automaton.nfa().class_of(static_cast<uint8_t>(c)));
    if (state == kNone) return kNone;
  }
  const auto last = static_cast<uint8_t>(text.back());
  if (!automaton.state(state).live.contains(last)) return kNone;
  return automaton.next_either(macro, id, state, last);
}

void Matcher::took(std::string_view text, bool is_token) {
  text_ += text;
  characters_ += count_characters(text);
  tokens_ += is_token;
}

// Where keys differ, they are read in the text, so it is put there for the time.
bool Matcher::read_text(std::span<const Item> from, std::string_view text, Configuration& out,
                        size_t longest_new_key) {
  if (!grammar_->automaton().keeps_keys()) return run_bytes(from, text, out);
  const size_t size = text_.size();
  text_ += text;
  stacks_->stepper.read_keys(text_, longest_new_key);
  const bool is_read = run_bytes(from, text, out);
  text_.resize(size);
  return is_read;
}

bool Matcher::run_bytes(std::span<const Item> from, std::string_view text, Configuration& out) {
  const Nfa& nfa = grammar_->automaton().nfa();
  Stepper& stepper = stacks_->stepper;
  std::span<const Item> current = from;
  Item single;
  int32_t base_reports = 0;
  int side = 0;
  size_t left = text.size();
  for (const char c : text) {
    const int byte_class = nfa.class_of(static_cast<uint8_t>(c));
    stepper.reset_work();
    stepper.clock().characters += !is_continuation(c);
    stepper.clock().token_ends = --left == 0;
    if (current.size() == 1) {
      const int32_t inside = stepper.step_inside(current[0].macro, byte_class);
      if (inside == kNone) return false;
      if (inside != kUnknown) {
        single = {inside, current[0].parents};
        current = {&single, 1};
        base_reports = 0;
        continue;
      }
    }
    Configuration& next = stacks_->buffers[side];
    stepper.step(current, byte_class, next);
    if (!next.alive()) return false;
    current = next.items;
    base_reports = next.base_reports;
    side ^= 1;
  }
  out.items.assign(current.begin(), current.end());
  out.base_reports = base_reports;
  return true;
}

// Whether the token, as the member of a set that lists it, is the end of a sentence. Its text counts for
// none.
bool Matcher::completes_text(int32_t stop_token, std::vector<CaptureEvent>* captures) const {
  Stepper& stepper = stacks_->stepper;
  stepper.reset_work();
  stepper.follow_text(captures, {static_cast<int64_t>(text_.size()), characters_, tokens_, true, true});
  Configuration reached;
  stepper.step_token(items(), stop_token, 0, reached);
  return reached.base_reports != 0;
}

}  // namespace syntagma
