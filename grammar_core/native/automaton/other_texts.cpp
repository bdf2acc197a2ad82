// Other texts: the NFA of a loop, less some texts.
#include <map>
#include <string_view>
#include <unordered_map>

#include "automaton/errors.hpp"
#include "automaton/nfa_builder.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

constexpr int32_t kNoState = -1;

// The beginnings of some texts; children are in the order of their bytes.
class ByteTrie {
 public:
  static constexpr int32_t kRoot = 0;

  void insert(std::string_view text) {
    int32_t node = kRoot;
    for (const char c : text) {
      const auto [entry, added] =
          nodes_[node].children.try_emplace(static_cast<uint8_t>(c), static_cast<int32_t>(nodes_.size()));
      node = entry->second;
      if (added) nodes_.emplace_back();
    }
    nodes_[node].complete = true;
  }
  bool is_complete(int32_t node) const { return nodes_[node].complete; }
  const std::map<uint8_t, int32_t>& children(int32_t node) const { return nodes_[node].children; }

 private:
  struct Node {
    std::map<uint8_t, int32_t> children;
    bool complete = false;
  };
  std::vector<Node> nodes_ = std::vector<Node>(1);
};

}  // namespace

// What `first_byte` and so on say was added since then, counted from the state `base`: equal for equal texts.
std::vector<int32_t> NfaBuilder::shape_since(size_t first_byte, size_t first_empty, int32_t base) const {
  std::vector<int32_t> shape;
  for (size_t i = first_byte; i < bytes_.size(); ++i) {
    const ByteEdge& edge = bytes_[i].edge;
    shape.insert(shape.end(), {bytes_[i].from - base, edge.low, edge.high, edge.target - base});
  }
  shape.push_back(kNoState);
  for (size_t i = first_empty; i < empty_.size(); ++i)
    shape.insert(shape.end(), {empty_[i].from - base, empty_[i].edge - base});
  return shape;
}

// A symbol with a frame of its own for any number of items and `end` behind them. There is one for all texts
// that are excluded.
int32_t NfaBuilder::rest_symbol(int32_t item, int32_t end) {
  const size_t first_byte = bytes_.size(), first_empty = empty_.size(), waiting = tasks_.size();
  const int32_t id = symbol_with_states({});
  const auto [start, accept] = std::pair(nfa_.symbols_[id].start, nfa_.symbols_[id].accept);
  add_task(item, start, start, id);
  add_task(end, start, accept, id);
  run_tasks(waiting);
  return shared_symbol(id, first_byte, first_empty);
}

// The loop over the item, and beside it a copy of its states for every beginning of an excluded text: in a
// copy the text so far is that beginning, and what leaves it goes on in the loop. With an `end` (a literal,
// or kNoExpression) that comes behind the text, the loop is a symbol of its own, whose masks are those of all
// other such loops.
void NfaBuilder::build_other_texts(const Task& task, int32_t end) {
  const Expression& e = source_.expressions[task.expression];
  const auto item = static_cast<int32_t>(e.first);
  ByteTrie excluded;
  for (const LiteralRange& text : source_.other_texts[e.min])
    excluded.insert(std::string_view(source_.literals).substr(text.offset, text.length));
  const int32_t loop = new_state(task.owner);
  const int32_t start = end == kNoExpression ? loop : new_state(task.owner);
  const size_t first_byte = bytes_.size(), first_empty = empty_.size(), first_call = calls_.size(),
               first_token = tokens_.size();
  add_task(item, start, loop, task.owner);
  run_tasks(tasks_.size() - 1);
  if (calls_.size() != first_call || tokens_.size() != first_token)
    throw InvalidGrammar("The item of other texts must be characters");
  std::unordered_map<int32_t, std::vector<ByteEdge>> bytes;
  std::unordered_map<int32_t, std::vector<int32_t>> empty;
  for (size_t i = first_byte; i < bytes_.size(); ++i) bytes[bytes_[i].from].push_back(bytes_[i].edge);
  for (size_t i = first_empty; i < empty_.size(); ++i) empty[empty_[i].from].push_back(empty_[i].edge);
  const Expression* literal = end == kNoExpression ? nullptr : &source_.expressions[end];
  int32_t behind = task.to;  // the end, or its first byte if it has one
  if (literal == nullptr) {
    add_empty(loop, behind);
  } else {
    calls_.push_back({loop, {rest_symbol(item, end), task.to}});
    if (literal->count > 1) behind = new_state(task.owner);
    for (int64_t i = 1, state = behind; i < literal->count; ++i) {
      const int32_t next = i + 1 == literal->count ? task.to : new_state(task.owner);
      const auto byte = static_cast<uint8_t>(source_.literals[literal->first + i]);
      bytes_.push_back({static_cast<int32_t>(state), {byte, byte, next}});
      state = next;
    }
  }
  // A state that only reads bytes is less work than one with an empty edge.
  const auto add_end = [&](int32_t from) {
    if (literal == nullptr || literal->count == 0) return add_empty(from, behind);
    const auto byte = static_cast<uint8_t>(source_.literals[literal->first]);
    bytes_.push_back({from, {byte, byte, behind}});
  };
  std::map<std::pair<int32_t, int32_t>, int32_t> copies;
  std::vector<std::pair<int32_t, int32_t>> pending;
  const auto copy = [&](int32_t node, int32_t state) {
    if (state == loop) state = start;
    const auto [entry, added] = copies.try_emplace({node, state}, 0);
    if (added) {
      entry->second = new_state(task.owner);
      pending.emplace_back(node, state);
    }
    return entry->second;
  };
  add_empty(task.from, copy(ByteTrie::kRoot, start));
  while (!pending.empty()) {
    const auto [node, state] = pending.back();
    pending.pop_back();
    TimeLimit::tick();
    const int32_t here = copies.at({node, state});
    if (state == start && !excluded.is_complete(node)) add_end(here);
    for (const int32_t target : empty[state]) add_empty(here, copy(node, target));
    for (const ByteEdge& edge : bytes[state]) {
      int low = edge.low;
      for (const auto& [byte, child] : excluded.children(node)) {
        if (byte < edge.low || byte > edge.high) continue;
        if (low < byte)
          bytes_.push_back({here, {static_cast<uint8_t>(low), static_cast<uint8_t>(byte - 1), edge.target}});
        bytes_.push_back({here, {byte, byte, copy(child, edge.target)}});
        low = byte + 1;
      }
      if (low <= edge.high) bytes_.push_back({here, {static_cast<uint8_t>(low), edge.high, edge.target}});
    }
  }
}

}  // namespace syntagma
