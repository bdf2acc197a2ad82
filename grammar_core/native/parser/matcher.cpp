#include "parser/matcher.hpp"

#include <algorithm>

#include "automaton/errors.hpp"

namespace syntagma {
namespace {

constexpr size_t kArenaLimit = size_t{512} << 20;

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar)
    : grammar_(std::move(grammar)),
      generation_(grammar_->generation()),
      stacks_(std::make_shared<Stacks>(grammar_->automaton())) {
  masks_ = grammar_->masks();
  reset();
}

std::span<const Item> Matcher::items() const {
  const size_t begin = steps_.size() < 2 ? 0 : steps_[steps_.size() - 2].items_end;
  return {items_.data() + begin, items_.data() + steps_.back().items_end};
}

void Matcher::push(std::span<const Item> items, bool completed, bool terminated) {
  items_.insert(items_.end(), items.begin(), items.end());
  steps_.push_back({items_.size(), completed, terminated, nullptr, 0});
}

void Matcher::reset() {
  items_.clear();
  steps_.clear();
  if (stacks_.use_count() > 1)
    stacks_ = std::make_shared<Stacks>(grammar_->automaton());
  else
    stacks_->clear();
  const MacroAutomaton& automaton = grammar_->automaton();
  Configuration start;
  if (automaton.root_start() != kNone)  // else the language is only the empty text
    stacks_->stepper.start({automaton.root_start(), kBaseParents}, start);
  push(start.items, automaton.nfa().root_nullable(), false);
}

bool Matcher::accept_token(int32_t id) {
  const Vocabulary& vocabulary = grammar_->vocabulary();
  if (is_terminated() || id < 0 || id >= vocabulary.size()) return false;
  if (vocabulary.is_stop_token(id)) {
    if (!is_completed()) return false;
    push({}, false, true);
    return true;
  }
  const std::string_view text = vocabulary.token(id);
  return !text.empty() && run(text);
}

bool Matcher::accept_bytes(std::string_view text) {
  if (is_terminated()) return false;
  if (!text.empty()) return run(text);
  const std::vector<Item> same(items().begin(), items().end());
  push(same, is_completed(), false);
  return true;
}

bool Matcher::run(std::string_view text) {
  const std::lock_guard lock(stacks_->mutex);
  if (stacks_->arena.memory_bytes() > kArenaLimit)
    throw LimitExceeded("parse_stack_memory", kArenaLimit,
                        "The text's parse needs more than " + std::to_string(kArenaLimit >> 20) + " MiB");
  const Nfa& nfa = grammar_->automaton().nfa();
  Stepper& stepper = stacks_->stepper;
  stepper.reset_work();
  std::span<const Item> current = items();
  Item single;
  bool completed = false;
  int side = 0;
  for (const char c : text) {
    const int byte_class = nfa.class_of(static_cast<uint8_t>(c));
    if (current.size() == 1) {
      const int32_t inside = stepper.step_inside(current[0].macro, byte_class);
      if (inside == kNone) return false;
      if (inside != kUnknown) {
        single = {inside, current[0].parents};
        current = {&single, 1};
        completed = false;
        continue;
      }
    }
    Configuration& next = stacks_->buffers[side];
    stepper.step(current, byte_class, next);
    if (!next.alive()) return false;
    current = next.items;
    completed = next.base_reports != 0;
    side ^= 1;
  }
  push(current, completed, false);
  return true;
}

void Matcher::rollback(size_t steps) {
  steps_.resize(steps_.size() - steps);
  items_.resize(steps_.back().items_end);
}

void Matcher::refresh_masks() {
  if (generation_ == grammar_->generation()) return;
  generation_ = grammar_->generation();
  masks_ = grammar_->masks();
}

const Row* Matcher::quick_mask() {
  refresh_masks();
  const Step& step = steps_.back();
  if (step.mask != nullptr && step.generation == generation_) return step.mask;
  const Row* mask = assemble_mask(false);
  return mask != nullptr ? remember(mask) : nullptr;
}

const Row& Matcher::next_mask() {
  if (const Row* known = quick_mask()) return *known;
  const Row* mask = remember(assemble_mask(true));
  if (masks_->memory_bytes() > grammar_->mask_bytes_limit()) grammar_->trim_masks();
  return *mask;
}

const Row* Matcher::remember(const Row* mask) {
  steps_.back().mask = mask;
  steps_.back().generation = generation_;
  return mask;
}

// The union of what every live item, and every parent that gets the rest of a token, allows.
const Row* Matcher::assemble_mask(bool may_walk) {
  const std::lock_guard lock(stacks_->mutex);
  stacks_->stepper.reset_work();
  const Row* mask = is_completed() ? masks_->stop_tokens() : masks_->nothing();
  for (const Item& item : items()) {
    const Row* row = mask_of_item(item, may_walk);
    if (row == nullptr) return nullptr;
    mask = masks_->merged(mask, row);
  }
  return mask;
}

// Within a string or a name one item stays the same for many tokens, so the last masks are kept.
const Row* Matcher::mask_of_item(const Item& item, bool may_walk) {
  const uint64_t key = static_cast<uint64_t>(item.macro) << 32 | static_cast<uint32_t>(item.parents);
  Stacks::KnownMask& known = stacks_->known_masks[(key * 0x9E3779B97F4A7C15ull) >> (64 - kKnownMaskBits)];
  if (known.mask != nullptr && known.key == key && known.generation == generation_) return known.mask;
  StackArena& arena = stacks_->arena;
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
  known = {key, generation_, mask};
  return mask;
}

}  // namespace syntagma
