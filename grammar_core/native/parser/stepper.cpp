#include "parser/stepper.hpp"

#include <algorithm>

namespace syntagma {
namespace {

constexpr size_t kLinearSearch = 24;  // items up to which a search beats a hash map

}  // namespace

void Stepper::begin(Configuration& out) {
  out.clear();
  out_ = &out;
  returned_.clear();
  if (!index_.empty()) index_.clear();
}

void Stepper::start(Item item, Configuration& out) {
  begin(out);
  add(item);
  finish();
}

void Stepper::step(std::span<const Item> from, int byte_class, Configuration& out) {
  begin(out);
  for (const Item& item : from) {
    const int32_t inside = automaton_.next(item.macro, byte_class);
    if (inside != kNone) add({inside, item.parents});
    const MacroState& m = automaton_.with_calls(item.macro);
    if (m.tail_call_start != kNone) {
      const int32_t called = automaton_.next(m.tail_call_start, byte_class);
      if (called != kNone) add({called, item.parents});
    }
    if (m.call_start != kNone) {
      const int32_t called = automaton_.next(m.call_start, byte_class);
      if (called != kNone) {
        const int32_t node = arena_.intern_node({item.macro, kNone, item.parents, 0, 0});
        add({called, arena_.single_parent(node)});
      }
    }
  }
  finish();
}

void Stepper::resume(int32_t node, int32_t reports, Configuration& out) {
  begin(out);
  pending_.push_back({node, reports});
  finish();
}

void Stepper::finish() {
  drain();
  open_counters();
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

void Stepper::add(Item item) {
  const MacroState& m = automaton_.state(item.macro);
  if (Item* known = find(item.macro)) {
    const int32_t merged = arena_.union_parents(known->parents, item.parents);
    if (merged == known->parents) return;
    const int32_t old = known->parents;
    known->parents = merged;
    if (m.reports == 0) return;
    std::vector<int32_t> added;
    const auto all = arena_.parents(merged), before = arena_.parents(old);
    std::set_difference(all.begin(), all.end(), before.begin(), before.end(), std::back_inserter(added));
    for (const int32_t node : added) pending_.push_back({node, m.reports});
    return;
  }
  append(item);
  if (m.reports != 0) report_to(item.parents, m.reports);
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
  if (report.node == kBaseNode) {
    out_->base_reports = automaton_.merge_reports(out_->base_reports, report.reports);
    return;
  }
  const StackNode node = arena_.node(report.node);
  if (node.is_counter()) return advance_counter(node);
  const int32_t target = automaton_.after(node.macro, report.reports);
  if (target != kNone) add({target, node.parents});
}

void Stepper::advance_counter(const StackNode& node) {
  const Counter& counter = automaton_.counter(node.counter);
  StackNode next = node;
  if (next.needed != kUnbounded && next.needed > 0) --next.needed;
  if (next.left != kUnbounded) --next.left;
  if (next.needed == 0) report_to(node.parents, counter.reports);
  if (next.left > 0) add({counter.body_start, arena_.single_parent(arena_.intern_node(next))});
}

// Frames are opened when their first byte comes, but a counted repetition needs its counter first: those that may
// begin now are opened at once.
void Stepper::open_counters() {
  std::vector<int32_t> agenda;
  for (const Item& item : out_->items) agenda.push_back(item.macro);
  const auto open = [&](Item item) {
    const Item* known = find(item.macro);
    const int32_t before = known != nullptr ? known->parents : kNone;
    add(item);
    // An item that gained parents opens its own counters again, for the new ones.
    if (find(item.macro)->parents != before) agenda.push_back(item.macro);
  };
  while (!agenda.empty()) {
    const Item item = *find(agenda.back());
    agenda.pop_back();
    const MacroState& m = automaton_.with_calls(item.macro);
    const auto waiting = [&] {
      return arena_.single_parent(arena_.intern_node({item.macro, kNone, item.parents, 0, 0}));
    };
    if (m.tail_call_start != kNone && automaton_.state(m.tail_call_start).has_counters)
      open({m.tail_call_start, item.parents});
    if (m.call_start != kNone && automaton_.state(m.call_start).has_counters) open({m.call_start, waiting()});
    for (const CounterCall& call : m.counter_calls) {
      const Counter& counter = automaton_.counter(call.counter);
      const int32_t parents = call.tail ? item.parents : waiting();
      open({counter.body_start,
            arena_.single_parent(arena_.intern_node({kNone, call.counter, parents, counter.min, counter.max}))});
    }
  }
}

}  // namespace syntagma
