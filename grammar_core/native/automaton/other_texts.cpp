// Other texts: the NFA of a loop, less some texts.
#include <map>
#include <string_view>
#include <unordered_map>

#include "automaton/errors.hpp"
#include "automaton/nfa_builder.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

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

// The loop over the item, and beside it a copy of its states for every beginning of an excluded text: in a
// copy the text so far is that beginning, and what leaves it goes on in the loop.
void NfaBuilder::build_other_texts(const Task& task, const Expression& e) {
  ByteTrie excluded;
  for (const LiteralRange& text : source_.other_texts[e.min])
    excluded.insert(std::string_view(source_.literals).substr(text.offset, text.length));
  const int32_t hub = new_state(task.owner);
  const size_t first_byte = bytes_.size(), first_empty = empty_.size(), first_call = calls_.size();
  add_task(static_cast<int32_t>(e.first), hub, hub, task.owner);
  run_tasks(tasks_.size() - 1);
  if (calls_.size() != first_call) throw InvalidGrammar("The item of other texts must be characters");
  std::unordered_map<int32_t, std::vector<ByteEdge>> bytes;
  std::unordered_map<int32_t, std::vector<int32_t>> empty;
  for (size_t i = first_byte; i < bytes_.size(); ++i) bytes[bytes_[i].from].push_back(bytes_[i].edge);
  for (size_t i = first_empty; i < empty_.size(); ++i) empty[empty_[i].from].push_back(empty_[i].edge);
  std::map<std::pair<int32_t, int32_t>, int32_t> copies;
  std::vector<std::pair<int32_t, int32_t>> pending;
  const auto copy = [&](int32_t node, int32_t state) {
    const auto [entry, added] = copies.try_emplace({node, state}, 0);
    if (added) {
      entry->second = new_state(task.owner);
      pending.emplace_back(node, state);
    }
    return entry->second;
  };
  add_empty(task.from, copy(ByteTrie::kRoot, hub));
  while (!pending.empty()) {
    const auto [node, state] = pending.back();
    pending.pop_back();
    TimeLimit::tick();
    const int32_t here = copies.at({node, state});
    if (state == hub && !excluded.is_complete(node)) add_empty(here, task.to);
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
  add_empty(hub, task.to);
}

}  // namespace syntagma
