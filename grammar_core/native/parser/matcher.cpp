#include "parser/matcher.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "automaton/time_limit.hpp"
#include "vocabulary/json_string.hpp"
#include "vocabulary/utf8.hpp"

namespace syntagma {
namespace {

constexpr size_t kForcedTextLimit = 4096;  // bytes

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar, MatcherOptions options)
    : grammar_(std::move(grammar)),
      options_(std::move(options)),
      generation_(grammar_->generation()),
      stacks_(std::make_shared<Stacks>(grammar_->automaton(), grammar_->vocabulary())) {
  masks_ = grammar_->masks();
  if (options_.stop_tokens)
    for (const int32_t id : *options_.stop_tokens)
      if (id < 0 || id >= grammar_->vocabulary().size())
        throw std::invalid_argument("stop token id " + std::to_string(id) + " is outside of the vocabulary");
  find_named_stop_tokens();
  reset();
}

bool Matcher::is_stop_token(int32_t id) const {
  if (!options_.stop_tokens) return grammar_->vocabulary().is_stop_token(id);
  return std::find(options_.stop_tokens->begin(), options_.stop_tokens->end(), id) !=
         options_.stop_tokens->end();
}

std::span<const Item> Matcher::items() const {
  const size_t begin = steps_.size() < 2 ? 0 : steps_[steps_.size() - 2].items_end;
  return {items_.data() + begin, items_.data() + steps_.back().items_end};
}

void Matcher::push(std::span<const Item> items, bool completed, bool terminated) {
  items_.insert(items_.end(), items.begin(), items.end());
  steps_.push_back({items_.size(), captures_.size(), text_.size(), characters_, tokens_, completed,
                    terminated, nullptr, 0, false});
}

void Matcher::reset() {
  items_.clear();
  steps_.clear();
  captures_.clear();
  text_.clear();
  last_string_ = {};
  characters_ = tokens_ = 0;
  if (stacks_.use_count() > 1)
    stacks_ = std::make_shared<Stacks>(grammar_->automaton(), grammar_->vocabulary());
  else
    stacks_->clear();
  const MacroAutomaton& automaton = grammar_->automaton();
  Configuration start;
  follow_text(false);
  if (automaton.root_start() != kNone)  // else the language is only the empty text
    stacks_->stepper.start({automaton.root_start(), kBaseParents}, start);
  push(start.items, automaton.nfa().root_nullable(), false);
}

bool Matcher::accept_token(int32_t id) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (is_terminated() || id < 0 || id >= vocabulary.size()) return false;
  if (is_stop_token(id)) return accept_stop_token(id);
  const std::string_view text = vocabulary.token(id);
  if (!grammar_->automaton().has_token_sets()) return !text.empty() && run(text, true);
  return run_token(id, text);
}

// A stop token is allowed where the text is complete, or where a rule names it and it makes the text
// complete.
bool Matcher::accept_stop_token(int32_t id) {
  if (!is_completed()) {
    if (std::find(named_stop_tokens_.begin(), named_stop_tokens_.end(), id) == named_stop_tokens_.end())
      return false;
    const TimeLimit limit("Following the text in this grammar", step_seconds());
    const std::lock_guard lock(stacks_->mutex);
    check_memory();
    forget_rest();
    if (!completes_text(id, grammar_->automaton().captures() ? &captures_ : nullptr)) return false;
    took("", true);
  }
  push({}, false, true);
  return true;
}

void Matcher::find_named_stop_tokens() {
  for (const TokenSet& set : grammar_->automaton().nfa().token_sets())
    if (!set.negated)
      std::copy_if(set.ids.begin(), set.ids.end(), std::back_inserter(named_stop_tokens_),
                   [&](int32_t id) { return is_stop_token(id); });
}

bool Matcher::accept_bytes(std::string_view text) {
  if (is_terminated()) return false;
  if (!text.empty()) return run(text, false);
  const std::vector<Item> same(items().begin(), items().end());
  push(same, is_completed(), false);
  return true;
}

void Matcher::rollback(size_t steps) {
  steps_.resize(steps_.size() - steps);
  forget_rest();
}

// The only byte that may come next, with the configuration after it; -1 if there is none or a choice.
int Matcher::forced_byte(std::span<const Item> items, Configuration& next) {
  MacroAutomaton& automaton = grammar_->automaton();
  const Nfa& nfa = automaton.nfa();
  int forced = -1;
  Configuration reached;
  for (int byte_class = 0; byte_class < nfa.class_count(); ++byte_class) {
    stacks_->stepper.step(items, byte_class, reached);
    if (!reached.alive()) continue;
    if (forced >= 0 || !nfa.is_single(byte_class)) return -1;
    forced = nfa.representative(byte_class);
    std::swap(next, reached);
  }
  return forced;
}

// Whether a rule may be complete after this text, if its budget is used up then.
bool Matcher::may_end_early(std::span<const Item> items) const {
  const MacroAutomaton& automaton = grammar_->automaton();
  return automaton.has_early_ends() && std::any_of(items.begin(), items.end(), [&](const Item& item) {
           return automaton.state(item.macro).ends_early;
         });
}

std::string Matcher::forced_text() {
  std::string text;
  if (is_terminated() || is_completed()) return text;
  const std::lock_guard lock(stacks_->mutex);
  stacks_->stepper.reset_work();
  stacks_->stepper.ignore_text();
  std::vector<Item> current(items().begin(), items().end());
  while (text.size() < kForcedTextLimit && !grammar_->automaton().has_token_sets()) {
    Configuration next;
    const int byte = forced_byte(current, next);
    if (byte < 0) break;
    text.push_back(static_cast<char>(byte));
    if (next.base_reports != 0 || may_end_early(next.items)) break;
    current = std::move(next.items);
  }
  size_t whole = 0;
  while (const int length = utf8_character_length(std::string_view(text).substr(whole))) whole += length;
  text.resize(whole);
  return text;
}

std::vector<int32_t> Matcher::forced_tokens() {
  const std::string text = forced_text();
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<int32_t> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const Vocabulary::LongestMatch match = vocabulary.longest_match(std::string_view(text).substr(begin));
    if (match.token < 0 || match.may_be_longer) break;
    tokens.push_back(match.token);
    begin += vocabulary.token(match.token).size();
  }
  return tokens;
}

std::vector<Capture> Matcher::captures(bool deduplicate) const {
  const TimeLimit limit("Reading the captures of this grammar", step_seconds());
  std::vector<CaptureEvent> events(captures_.begin(), captures_.begin() + steps_.back().captures_end);
  return CaptureReader(grammar_->automaton().nfa(), text_).read(std::move(events), deduplicate);
}

bool Matcher::is_over_budget() const {
  if (!grammar_->automaton().has_budgets()) return false;
  const auto live = items();
  return std::any_of(live.begin(), live.end(), [&](const Item& item) {
    return stacks_->arena.first_last_char(item.parents) < characters_ ||
           stacks_->arena.first_last_token(item.parents) < tokens_ - 1;
  });
}

ActiveTemperatures Matcher::temperatures() {
  MacroAutomaton& automaton = grammar_->automaton();
  ActiveTemperatures result;
  if (!automaton.has_temperatures()) return result;
  const std::lock_guard lock(stacks_->mutex);
  const StackArena& arena = stacks_->arena;
  std::vector<std::pair<int32_t, int32_t>> pending;  // (waiting node, reports)
  std::set<std::pair<int32_t, int32_t>> seen;
  const auto climb = [&](int32_t parents, int32_t reports) {
    for (const int32_t node : arena.parents(parents))
      if (node != kBaseNode && seen.emplace(node, reports).second) pending.emplace_back(node, reports);
  };
  const auto count = [&](const ActiveTemperatures& active, int32_t parents) {
    if (active.highest >= 0) result.add(active.highest);
    result.differ |= active.differ;
    if (active.inherited != 0) climb(parents, active.inherited);
  };
  for (const Item& item : items()) count(automaton.temperatures(item.macro), item.parents);
  while (!pending.empty()) {
    const auto [id, reports] = pending.back();
    pending.pop_back();
    const StackNode& node = arena.node(id);
    if (node.is_counter())
      climb(node.parents, automaton.counter(node.counter).reports);
    else if (node.is_marker())
      climb(node.parents, reports);
    else
      count(automaton.caller_temperatures(node.macro, reports), node.parents);
  }
  return result;
}

void Matcher::refresh_masks() {
  if (generation_ == grammar_->generation()) return;
  generation_ = grammar_->generation();
  masks_ = grammar_->masks();
}

void Matcher::write(const Row& row, uint32_t* words) const {
  row.write(grammar_->vocabulary(), words);
  const auto set_bit = [&](int32_t id, bool allowed) {
    const uint32_t bit = uint32_t{1} << (id % 32);
    words[id / 32] = allowed ? words[id / 32] | bit : words[id / 32] & ~bit;
  };
  const bool allowed = is_completed() && !is_terminated();
  if (options_.stop_tokens)
    for (const int32_t id : *options_.stop_tokens) set_bit(id, allowed);
  if (named_stop_tokens_.empty() || allowed || is_terminated()) return;
  const std::lock_guard lock(stacks_->mutex);
  for (const int32_t id : named_stop_tokens_) set_bit(id, completes_text(id, nullptr));
}

void Matcher::fill_mask(uint32_t* words) { write(next_mask(), words); }

void Matcher::prepare_mask() {
  refresh_masks();
  worked_out_mask();
}

void Matcher::work_out_mask(uint32_t* words) { write(worked_out_mask(), words); }

bool Matcher::fill_mask_quickly(uint32_t* words) {
  const Row* known = quick_mask();
  if (known != nullptr) write(*known, words);
  return known != nullptr;
}

const Row* Matcher::quick_mask() {
  refresh_masks();
  const Step& step = steps_.back();
  if (step.mask != nullptr && step.generation == generation_) return step.mask;
  const Row* mask = assemble_mask(false);
  return mask != nullptr ? remember(mask) : nullptr;
}

const Row& Matcher::next_mask() {
  const Row* known = quick_mask();
  return known != nullptr ? *known : worked_out_mask();
}

const Row& Matcher::worked_out_mask() {
  // Also after a mask that a limit stopped.
  if (masks_->memory_bytes() > grammar_->mask_bytes_limit()) {
    grammar_->trim_masks();
    refresh_masks();
  }
  return *remember(assemble_mask(true));
}

const Row* Matcher::remember(const Row* mask) {
  steps_.back().mask = mask;
  steps_.back().generation = generation_;
  steps_.back().mask_allows_all = mask->allows_all();
  return mask;
}

// The union of what every live item, and every parent that gets the rest of a token, allows.
const Row* Matcher::assemble_mask(bool may_walk) {
  const TimeLimit limit("Finding the tokens that may come next in this grammar", step_seconds());
  const std::lock_guard lock(stacks_->mutex);
  stacks_->stepper.reset_work();
  stacks_->stepper.ignore_text();
  if (is_terminated()) return masks_->nothing();
  if (grammar_->automaton().has_budgets()) {
    const int64_t reach = budget_reach();
    if (reach < grammar_->vocabulary().longest_token())
      return may_walk ? without_repeated_keys(budgeted_mask(reach), true, true) : nullptr;
  }
  const Row* mask = ordinary_mask(may_walk);
  return mask != nullptr ? without_repeated_keys(mask, false, may_walk) : nullptr;
}

// That of a text without budgets.
const Row* Matcher::ordinary_mask(bool may_walk) {
  const Row* mask = is_completed() && !options_.stop_tokens ? masks_->stop_tokens() : masks_->nothing();
  for (const Item& item : items()) {
    const Row* row = mask_of_item(item, may_walk);
    if (row == nullptr) return nullptr;
    mask = masks_->merged(mask, row);
  }
  return mask;
}

// Within a string or a name one item stays the same for many tokens, so the last masks are kept. Keys that
// came are taken into account elsewhere.
const Row* Matcher::mask_of_item(const Item& live, bool may_walk) {
  StackArena& arena = stacks_->arena;
  const Item item{live.macro, arena.without_keys(live.parents)};
  const bool begins_key = (arena.keys(item.parents) & StackArena::kWithinKey) != 0 && ends_with_quote(text_);
  const uint64_t key = static_cast<uint64_t>(item.macro) << 32 | uint64_t{begins_key} << 31 |
                       static_cast<uint32_t>(item.parents);
  Stacks::KnownMask& known = stacks_->known_masks[(key * 0x9E3779B97F4A7C15ull) >> (64 - kKnownMaskBits)];
  if (known.mask != nullptr && known.key == key && known.generation == generation_) return known.mask;
  std::vector<PendingItem>& pending = stacks_->pending;
  Configuration& resumed = stacks_->buffers[0];
  const Row* mask = masks_->nothing();
  const auto add = [&](int32_t exit_set, const Item& next) {
    for (const PendingItem& p : pending)
      if (p.exit_set == exit_set && p.item == next) return;
    pending.push_back({exit_set, next});
  };
  pending.assign(1, {kWholeTrie, item});
  for (size_t i = 0; i < pending.size(); ++i) {
    const PendingItem next = pending[i];
    const bool found = masks_->for_each_result(arena, next.item, next.exit_set, may_walk,
                                               [&](const WalkResult& result, int32_t parents) {
                                                 mask = masks_->merged(mask, result.row);
                                                 if (parents == kBaseParents) return;  // the text ends there
                                                 for (const Exit& exit : result.exits) {
                                                   stacks_->stepper.resume(parents, exit.reports, resumed);
                                                   for (const Item& live : resumed.items)
                                                     add(exit.exit_set, live);
                                                 }
                                               });
    if (!found) return nullptr;
  }
  if (grammar_->automaton().keeps_keys()) mask = without_double_keys(mask, item, begins_key, may_walk);
  if (mask == nullptr) return nullptr;
  known = {key, generation_, mask};
  return mask;
}

}  // namespace syntagma
