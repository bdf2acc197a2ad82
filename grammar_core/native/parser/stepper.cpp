#include "parser/stepper.hpp"

#include <algorithm>
#include <string>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr size_t kLinearSearch = 24;            // items up to which a search beats a hash map
constexpr int64_t kWorkLimit = 1'000'000;       // items and reports handled for one token
constexpr int64_t kWalkWorkLimit = 20'000'000;  // and for one walk of the vocabulary

}  // namespace

void Stepper::begin(Configuration& out) {
  out.clear();
  out_ = &out;
  returned_.clear();
  if (!index_.empty()) index_.clear();
  if (!counted_.empty()) counted_.clear();
  gained_.clear();
  used_up_.clear();
}

void Stepper::start(Item item, Configuration& out) {
  begin(out);
  add({item.macro, frame_parents(item.macro, item.parents, clock_.bytes)});
  finish();
}

// `next(macro)` is the macro-state that what was read leads to, inside the frame.
template <typename Next>
void Stepper::step_items(std::span<const Item> from, int64_t length, Configuration& out, Next next) {
  begin(out);
  const int64_t before = clock_.bytes;
  clock_.bytes += length;
  for (const Item& item : from) {
    const int32_t inside = next(item.macro);
    if (inside != kNone) add_inside(inside, item.parents);
    if (!automaton_.state(item.macro).has_calls) continue;
    const MacroState& m = automaton_.with_calls(item.macro);
    if (m.tail_call_start != kNone) {
      const int32_t called = next(m.tail_call_start);
      if (called != kNone)
        add({called, frame_parents(m.tail_call_start, arena_.without_markers(item.parents), before)});
    }
    if (m.call_start != kNone) {
      const int32_t called = next(m.call_start);
      if (called != kNone) {
        const int32_t node = arena_.intern_node({item.macro, kNone, item.parents, 0, 0});
        add({called, frame_parents(m.call_start, arena_.single_parent(node), before)});
      }
    }
  }
  finish();
}

void Stepper::step(std::span<const Item> from, int byte_class, Configuration& out) {
  reads_quote_ = text_ != nullptr && byte_class == quote_class_ && is_at_quote();
  step_items(from, 1, out, [&](int32_t macro) { return automaton_.next(macro, byte_class); });
  reads_quote_ = false;
}

void Stepper::step_token(std::span<const Item> from, int32_t token, int64_t length, Configuration& out,
                         std::span<const std::pair<int32_t, int32_t>> given) {
  step_items(from, length, out, [&](int32_t macro) {
    for (const auto& [of, target] : given)
      if (of == macro) return target;
    return automaton_.state(macro).has_tokens ? automaton_.next_token(macro, token) : kNone;
  });
}

void Stepper::merge(const Configuration& a, const Configuration& b, std::span<const int32_t> ended,
                    Configuration& out) {
  begin(out);
  for (const Configuration* side : {&a, &b}) {
    for (const Item& item : side->items) {
      const Item* known = find(item.macro);
      if (known == nullptr)
        append(item);
      else if (known->parents != item.parents)
        gained_.push_back(item);
    }
    out.base_reports = automaton_.merge_reports(out.base_reports, side->base_reports);
  }
  settle();
  used_up_.assign(ended.begin(), ended.end());
  end_occurrences();
  sort_items();
}

// On counted paths only the parents stay that may still take as many iterations as this leads to. The others
// are told what is complete here.
void Stepper::add_inside(int32_t macro, int32_t parents) {
  const MacroState& m = automaton_.state(macro);
  if (m.iterations_needed > 0) {
    std::vector<int32_t> kept;
    for (const int32_t node : arena_.parents(parents)) {
      if (!arena_.node(node).is_counter() || arena_.node(node).left >= m.iterations_needed) {
        kept.push_back(node);
      } else {
        record_captures(m.captured, node);
        if (m.reports != 0) pending_.push_back({node, m.reports});
      }
    }
    if (kept.empty()) return;
    parents = arena_.intern_parents(kept);
  }
  add({macro, parents});
}

// The parents of a frame that begins at `position`.
int32_t Stepper::frame_parents(int32_t start, int32_t parents, int64_t position) {
  const bool marks_start = captures_ != nullptr && automaton_.marks_start(start);
  const bool keeps_keys = follows_text_ && automaton_.keeps_keys(start);
  if (!marks_start && !keeps_keys) return parents;
  StackNode marker{kNone, kNone, parents, marks_start ? position : 0, 0};
  if (keeps_keys) marker.keys = KeySets::kEmpty;
  return arena_.single_parent(arena_.intern_node(marker));
}

void Stepper::record_captures(int32_t captured, int32_t node) {
  if (captures_ == nullptr || captured == 0 || !arena_.node(node).is_marker()) return;
  for (const int32_t symbol : automaton_.captured_symbols(captured))
    captures_->push_back({symbol, arena_.node(node).needed, clock_.bytes});
}

void Stepper::resume(int32_t parents, int32_t reports, Configuration& out) {
  begin(out);
  report_to(parents, reports);
  finish();
}

void Stepper::finish() {
  drain();
  settle();
  end_occurrences();
  if (reads_quote_) read_quote();
  if (automaton_.counts()) open_counters();
  sort_items();
}

void Stepper::sort_items() {
  if (out_->items.size() > 1)
    std::sort(out_->items.begin(), out_->items.end(),
              [](const Item& a, const Item& b) { return a.macro < b.macro; });
}

Item* Stepper::find(int32_t macro) {
  std::vector<Item>& items = automaton_.state(macro).has_edges ? out_->items : returned_;
  if (items.size() <= kLinearSearch) {
    for (Item& item : items)
      if (item.macro == macro) return &item;
    return nullptr;
  }
  const auto found = index_.find(macro);
  return found != index_.end() ? &items[found->second] : nullptr;
}

void Stepper::append(Item item) {
  std::vector<Item>& items = automaton_.state(item.macro).has_edges ? out_->items : returned_;
  items.push_back(item);
  if (items.size() == kLinearSearch + 1) {
    for (size_t i = 0; i < items.size(); ++i) index_.emplace(items[i].macro, i);
  } else if (items.size() > kLinearSearch) {
    index_.emplace(item.macro, items.size() - 1);
  }
}

void Stepper::count_work() {
  TimeLimit::tick();
  const int64_t limit = follows_text_ ? kWorkLimit : kWalkWorkLimit;
  if (++work_ > limit)
    throw LimitExceeded("ambiguity", limit,
                        "The text has too many readings in this grammar: following them takes more than " +
                            std::to_string(limit) + " steps for one " + (follows_text_ ? "token" : "mask"));
}

// True if the item is new or gained parents.
bool Stepper::add(Item item) {
  count_work();
  if (Item* known = find(item.macro))
    return known->parents != item.parents && add_parents(*known, item.parents);
  append(item);
  const MacroState& m = automaton_.state(item.macro);
  if (m.captured != 0)
    for (const int32_t node : arena_.parents(item.parents)) record_captures(m.captured, node);
  if (m.ends_early && follows_text_)
    for (const int32_t node : arena_.parents(item.parents)) end_early(m, node);
  if (m.reports != 0) report_to(item.parents, m.reports);
  return true;
}

// Reports to those of `parents` that `known` did not have. The union itself waits until all are known:
// ambiguous grammars add many sets that contain one another.
bool Stepper::add_parents(Item& known, int32_t parents) {
  const auto visit = [&](int32_t set, auto on_node) {
    std::vector<int32_t> pending{set};
    bool gained = false;
    while (!pending.empty()) {
      const int32_t next = pending.back();
      pending.pop_back();
      count_work();
      if (!counted_.insert(static_cast<uint64_t>(known.macro) << 32 | static_cast<uint32_t>(next)).second)
        continue;
      const auto parts = arena_.parts(next);
      if (!parts.empty()) {
        pending.insert(pending.end(), parts.begin(), parts.end());
        continue;
      }
      gained = true;
      on_node(arena_.parents(next)[0]);
    }
    return gained;
  };
  visit(known.parents, [](int32_t) {});
  const MacroState& m = automaton_.state(known.macro);
  const bool gained = visit(parents, [&](int32_t node) {
    record_captures(m.captured, node);
    if (m.ends_early && follows_text_) end_early(m, node);
    if (m.reports != 0) pending_.push_back({node, m.reports});
  });
  if (gained) gained_.push_back({known.macro, parents});
  return gained;
}

// Gives items the union of all parents they gained.
void Stepper::settle() {
  if (gained_.empty()) return;
  std::sort(gained_.begin(), gained_.end(), [](const Item& a, const Item& b) { return a.macro < b.macro; });
  std::vector<int32_t> sets;
  for (size_t i = 0; i < gained_.size();) {
    Item& item = *find(gained_[i].macro);
    sets.assign(1, item.parents);
    for (; i < gained_.size() && gained_[i].macro == item.macro; ++i) sets.push_back(gained_[i].parents);
    item.parents = arena_.union_parents(sets);
  }
  gained_.clear();
}

void Stepper::report_to(int32_t parents, int32_t reports) {
  for (const int32_t node : arena_.parents(parents)) pending_.push_back({node, reports});
}

void Stepper::drain() {
  while (!pending_.empty()) {
    const Report report = pending_.back();
    pending_.pop_back();
    deliver(report);
  }
}

void Stepper::deliver(const Report& report) {
  count_work();
  if (report.node == kBaseNode) {
    out_->base_reports = automaton_.merge_reports(out_->base_reports, report.reports);
    return;
  }
  const StackNode node = arena_.node(report.node);
  if (node.is_counter()) return advance_counter(report.node, report.reports);
  if (node.is_marker()) return report_to(node.parents, report.reports);
  const int32_t target = automaton_.after(node.macro, report.reports);
  if (target != kNone) add({target, node.parents});
}

void Stepper::advance_counter(int32_t id, int32_t reports) {
  const StackNode node = arena_.node(id);
  const Counter& counter = automaton_.counter(node.counter);
  StackNode next = node;
  if (next.needed != kUnbounded && next.needed > 0) --next.needed;
  if (next.left != kUnbounded) --next.left;
  out_->counted |= node.parents == kBaseParents;
  if (follows_text_ && budget_ends(node)) used_up_.push_back(id);
  for (const NextIteration& iteration : automaton_.next_iterations(node.counter, reports)) {
    if (iteration.ends && next.needed == 0) {
      const bool ends_key = reads_quote_ && node.keys == StackNode::kWithinKey;
      const int32_t parents = ends_key ? with_last_key(node.parents) : node.parents;
      if (parents != kNone) report_to(parents, counter.reports);
    }
    if (iteration.start != kNone && next.left >= iteration.rest)
      add({iteration.start,
           frame_parents(iteration.start, arena_.single_parent(arena_.intern_node(next)), clock_.bytes)});
  }
}

// An occurrence may end before its marker if its budget is used up. `node` is what its frame stands on: the
// budget's counter, or a marker of where it began with the counter below.
void Stepper::end_early(const MacroState& state, int32_t node) {
  const StackNode top = arena_.node(node);
  bool ended = false;
  const auto end = [&](int32_t id) {
    const StackNode& counter = arena_.node(id);
    if (!counter.is_counter() || !budget_ends(counter)) return;
    used_up_.push_back(id);
    report_to(counter.parents, automaton_.counter(counter.counter).reports);
    ended = true;
  };
  if (top.is_marker()) {
    for (const int32_t below : arena_.parents(top.parents)) end(below);
  } else {
    end(node);
  }
  if (ended && captures_ != nullptr && state.early_capture != kNone && top.is_marker())
    captures_->push_back({state.early_capture, top.needed, clock_.bytes});
}

void Stepper::set_budgets(StackNode& node, const Counter& counter) const {
  if (!follows_text_) return;
  if (counter.max_chars >= 0 || counter.max_tokens >= 0) node.begin = clock_.bytes;
  if (counter.max_chars >= 0) node.last_char = clock_.characters + counter.max_chars;
  // Between tokens the occurrence begins with the next one; in the middle of one, that one counts.
  const int64_t first = clock_.in_token && clock_.token_ends ? clock_.token + 1 : clock_.token;
  if (counter.max_tokens >= 0) node.last_token = first + counter.max_tokens - 1;
}

// Whether an occurrence that is complete here may not go on: its characters are used up, or its tokens are at
// the end of the last one, or they were before and this is the first place where it can end.
bool Stepper::budget_ends(const StackNode& node) const {
  if (clock_.characters >= node.last_char) return true;
  return clock_.in_token &&
         (clock_.token > node.last_token || (clock_.token == node.last_token && clock_.token_ends));
}

void Stepper::end_occurrences() {
  size_t ended = 0;
  for (const int32_t node : used_up_)
    ended += std::erase_if(out_->items, [&](Item& item) {
      item.parents = arena_.without_node(item.parents, node);
      return item.parents == kNone;
    });
  if (ended != 0) reindex();
}

// After items went.
void Stepper::reindex() {
  if (index_.empty()) return;
  index_.clear();
  for (const std::vector<Item>* items : {&out_->items, &returned_})
    if (items->size() > kLinearSearch)
      for (size_t i = 0; i < items->size(); ++i) index_.emplace((*items)[i].macro, i);
}

// Frames are opened when their first byte comes, but a counted repetition needs its counter first: those that
// may begin now are opened at once.
void Stepper::open_counters() {
  agenda_.clear();
  bool any_only_waits = false;
  for (const Item& item : out_->items)
    if (automaton_.state(item.macro).has_calls) agenda_.push_back(item.macro);
  const auto open = [&](Item item) {
    // An item that gained parents opens its own counters again, for the new ones.
    if (!add(item)) return;
    settle();
    agenda_.push_back(item.macro);
  };
  while (!agenda_.empty()) {
    const Item item = *find(agenda_.back());
    agenda_.pop_back();
    const MacroState& m = automaton_.with_calls(item.macro);
    any_only_waits |= m.only_waits;
    const auto waiting = [&] {
      return arena_.single_parent(arena_.intern_node({item.macro, kNone, item.parents, 0, 0}));
    };
    const auto open_frame = [&](int32_t start, int32_t parents) {
      open({start, frame_parents(start, parents, clock_.bytes)});
    };
    if (m.tail_call_start != kNone && automaton_.state(m.tail_call_start).has_counters)
      open_frame(m.tail_call_start, arena_.without_markers(item.parents));
    if (m.call_start != kNone && automaton_.state(m.call_start).has_counters)
      open_frame(m.call_start, waiting());
    for (const CounterCall& call : m.counter_calls) {
      const Counter& counter = automaton_.counter(call.counter);
      const int32_t parents = call.tail ? arena_.without_markers(item.parents) : waiting();
      StackNode node{kNone, call.counter, parents, counter.min, counter.max};
      if (counter.has_key && follows_text_) node.keys = StackNode::kBeforeKey;
      set_budgets(node, counter);
      open_frame(counter.body_start, arena_.single_parent(arena_.intern_node(node)));
    }
  }
  if (any_only_waits)
    std::erase_if(out_->items, [&](const Item& item) {
      const MacroState& m = automaton_.state(item.macro);
      return m.has_calls && m.only_waits;
    });
}

}  // namespace syntagma
