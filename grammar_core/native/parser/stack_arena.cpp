#include "parser/stack_arena.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace syntagma {
namespace {

uint64_t hash_node(const StackNode& n) {
  const int32_t words[] = {n.macro,
                           n.counter,
                           n.parents,
                           static_cast<int32_t>(n.needed),
                           static_cast<int32_t>(n.needed >> 32),
                           static_cast<int32_t>(n.left),
                           static_cast<int32_t>(n.left >> 32),
                           static_cast<int32_t>(n.last_char),
                           static_cast<int32_t>(n.last_token),
                           static_cast<int32_t>(n.begin),
                           n.keys};
  return hash_words(words);
}

bool same_node(const StackNode& a, const StackNode& b) {
  return a.macro == b.macro && a.counter == b.counter && a.parents == b.parents && a.needed == b.needed &&
         a.left == b.left && a.last_char == b.last_char && a.last_token == b.last_token &&
         a.begin == b.begin && a.keys == b.keys;
}

}  // namespace

StackArena::StackArena() { clear(); }

void StackArena::clear() {
  nodes_.clear();
  node_slots_.assign(64, -1);
  parent_sets_.clear();
  sets_.clear();
  key_sets_.clear();
  nodes_.push_back({kNone, kNone, kNone, 0, 0});
  single_parent(kBaseNode);
}

int32_t StackArena::intern_node(const StackNode& node) {
  const auto find = [&](const StackNode& n) {
    size_t i = hash_node(n) & (node_slots_.size() - 1);
    while (node_slots_[i] >= 0 && !same_node(nodes_[node_slots_[i]], n))
      i = (i + 1) & (node_slots_.size() - 1);
    return i;
  };
  size_t slot = find(node);
  if (node_slots_[slot] >= 0) return node_slots_[slot];
  if (2 * (nodes_.size() + 1) > node_slots_.size()) {
    node_slots_.assign(2 * node_slots_.size(), -1);
    for (size_t id = 1; id < nodes_.size(); ++id) node_slots_[find(nodes_[id])] = static_cast<int32_t>(id);
    slot = find(node);
  }
  const auto id = static_cast<int32_t>(nodes_.size());
  nodes_.push_back(node);
  node_slots_[slot] = id;
  return id;
}

int32_t StackArena::intern_parents(std::span<const int32_t> nodes, std::span<const int32_t> parts) {
  const int32_t id = parent_sets_.intern(nodes);
  if (id < static_cast<int32_t>(sets_.size())) return id;
  ParentSet set;
  set.parts.assign(parts.begin(), parts.end());
  bool is_marked = false;
  for (const int32_t n : nodes) {
    const StackNode& node = nodes_[n];
    set.has_counters |= node.is_counter();
    is_marked |= node.is_marker();
    if (node.keys > KeySets::kEmpty)
      set.keys |= kSomeKeys | (key_sets_.is_in_tokens(node.keys) ? kKeysInTokens : 0);
    if (node.keys == StackNode::kBeforeKey) set.keys |= kBeforeKey;
    if (node.keys == StackNode::kWithinKey) set.keys |= kWithinKey;
    set.last_char = std::min(set.last_char, node.last_char);
    set.last_token = std::min(set.last_token, node.last_token);
    if (node.parents == kNone) continue;
    const ParentSet& below = sets_[node.parents];
    set.keys |= below.keys;
    set.last_char = std::min(set.last_char, below.last_char);
    set.last_token = std::min(set.last_token, below.last_token);
  }
  set.without_keys = id;
  set.without_markers = is_marked ? kUnknown : id;
  const bool has_keys = (set.keys & kSomeKeys) != 0;
  sets_.push_back(std::move(set));
  if (has_keys) {
    const int32_t plain = interned_without_keys(id);
    sets_[id].without_keys = plain;
  }
  return id;
}

int32_t StackArena::interned_without_keys(int32_t set) {
  std::vector<int32_t> plain;
  for (const int32_t id : std::vector<int32_t>(parents(set).begin(), parents(set).end())) {
    StackNode node = nodes_[id];
    if (id == kBaseNode) {
      plain.push_back(id);
      continue;
    }
    node.parents = sets_[node.parents].without_keys;
    if (node.keys > KeySets::kEmpty) node.keys = KeySets::kEmpty;
    plain.push_back(intern_node(node));
  }
  std::sort(plain.begin(), plain.end());
  plain.erase(std::unique(plain.begin(), plain.end()), plain.end());
  return intern_parents(plain);
}

int32_t StackArena::without_node(int32_t set, int32_t removed) {
  return with_replaced(set, {{removed, kNone}});
}

int32_t StackArena::with_key(int32_t set, int32_t key, bool adds) {
  std::unordered_map<int32_t, int32_t> lists;
  std::vector<int32_t> pending(parents(set).begin(), parents(set).end());
  std::unordered_set<int32_t> seen;
  while (!pending.empty()) {
    const int32_t node = pending.back();
    pending.pop_back();
    if (node == kBaseNode || !seen.insert(node).second) continue;
    StackNode copy = nodes_[node];
    if (copy.keys < 0) {
      const auto next = parents(copy.parents);
      pending.insert(pending.end(), next.begin(), next.end());
    } else if (key_sets_.contains(copy.keys, key)) {
      lists.emplace(node, kNone);
    } else if (adds) {
      copy.keys = key_sets_.with(copy.keys, key);
      lists.emplace(node, intern_node(copy));
    } else {
      lists.emplace(node, node);  // what is below is of no interest
    }
  }
  return with_replaced(set, std::move(lists));
}

std::vector<int32_t> StackArena::unended_members(int32_t set) const {
  std::vector<int32_t> found, pending{set};
  std::unordered_set<int32_t> seen;
  while (!pending.empty()) {
    const int32_t next = pending.back();
    pending.pop_back();
    if ((sets_[next].keys & (kBeforeKey | kWithinKey)) == 0 || !seen.insert(next).second) continue;
    for (const int32_t node : parents(next)) {
      if (node == kBaseNode) continue;
      const int32_t keys = nodes_[node].keys;
      if (keys == StackNode::kBeforeKey || keys == StackNode::kWithinKey) found.push_back(node);
      pending.push_back(nodes_[node].parents);
    }
  }
  return found;
}

int32_t StackArena::after_quote(int32_t set, int32_t key, bool adds) {
  std::unordered_map<int32_t, int32_t> replaced;
  for (const int32_t id : unended_members(set)) {
    StackNode member = nodes_[id];
    if (member.keys == StackNode::kBeforeKey) {
      member.keys = StackNode::kWithinKey;
    } else {
      member.keys = StackNode::kNoKeys;
      if (key != KeySets::kNoString) member.parents = with_key(member.parents, key, adds);
    }
    replaced.emplace(id, member.parents == kNone ? kNone : intern_node(member));
  }
  return with_replaced(set, std::move(replaced));
}

// Parents have smaller ids than their children, so only nodes above the first of those that are replaced can
// go through them.
int32_t StackArena::with_replaced(int32_t set, std::unordered_map<int32_t, int32_t> replaced) {
  int32_t first = INT32_MAX;
  for (const auto& [node, other] : replaced) first = std::min(first, node);
  std::vector<int32_t> above, pending(parents(set).begin(), parents(set).end());
  while (!pending.empty()) {
    const int32_t node = pending.back();
    pending.pop_back();
    if (node <= first || !replaced.emplace(node, node).second) continue;
    above.push_back(node);
    const auto next = parents(nodes_[node].parents);
    pending.insert(pending.end(), next.begin(), next.end());
  }
  const auto filtered = [&](int32_t old_set) {
    std::vector<int32_t> kept;
    for (const int32_t node : parents(old_set)) {
      const auto found = replaced.find(node);
      const int32_t now = found == replaced.end() ? node : found->second;
      if (now != kNone) kept.push_back(now);
    }
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept.empty() ? kNone : intern_parents(kept);
  };
  std::sort(above.begin(), above.end());
  for (const int32_t node : above) {
    StackNode copy = nodes_[node];
    copy.parents = filtered(copy.parents);
    replaced[node] = copy.parents == kNone ? kNone : intern_node(copy);
  }
  return filtered(set);
}

int32_t StackArena::without_markers(int32_t set) {
  if (sets_[set].without_markers != kUnknown) return sets_[set].without_markers;
  std::vector<int32_t> sets;
  const std::vector<int32_t> nodes(parents(set).begin(), parents(set).end());
  for (const int32_t node : nodes)
    sets.push_back(nodes_[node].is_marker() ? nodes_[node].parents : single_parent(node));
  const int32_t result = union_parents(sets);
  sets_[set].without_markers = result;
  return result;
}

int32_t StackArena::intern_parents(std::span<const int32_t> nodes) {
  std::vector<int32_t> parts;
  if (nodes.size() > 1)
    for (const int32_t node : nodes) parts.push_back(single_parent(node));
  return intern_parents(nodes, parts);
}

int32_t StackArena::union_parents(std::span<const int32_t> sets) {
  if (sets.size() == 1) return sets[0];
  ++visit_;
  std::vector<int32_t> nodes, pending(sets.begin(), sets.end());
  while (!pending.empty()) {
    const int32_t set = pending.back();
    pending.pop_back();
    if (sets_[set].visited == visit_) continue;
    sets_[set].visited = visit_;
    if (sets_[set].parts.empty())
      nodes.push_back(parents(set)[0]);
    else
      pending.insert(pending.end(), sets_[set].parts.begin(), sets_[set].parts.end());
  }
  std::sort(nodes.begin(), nodes.end());
  return intern_parents(nodes, sets);
}

size_t StackArena::memory_bytes() const {
  return key_sets_.memory_bytes() + nodes_.capacity() * sizeof(StackNode) +
         node_slots_.capacity() * sizeof(int32_t) + parent_sets_.memory_bytes() +
         sets_.capacity() * (sizeof(ParentSet) + 2 * sizeof(int32_t));
}

}  // namespace syntagma
