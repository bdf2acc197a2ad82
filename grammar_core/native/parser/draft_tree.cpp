#include "parser/draft_tree.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace syntagma {
namespace {

// Nodes in depth-first order with their depths, the root at depth 0.
struct Visit {
  int64_t node;
  size_t depth;
};

std::vector<Visit> depth_first(const DraftTree& tree) {
  const auto size = static_cast<int64_t>(tree.tokens.size());
  if (tree.first_child.size() != tree.tokens.size() || tree.next_sibling.size() != tree.tokens.size() ||
      size == 0)
    throw std::invalid_argument("a draft tree needs one child link, sibling link and token for each node");
  std::vector<Visit> order, pending{{0, 0}};
  std::vector<uint8_t> seen(size, 0);
  while (!pending.empty()) {
    const Visit visit = pending.back();
    pending.pop_back();
    if (visit.node < 0 || visit.node >= size)
      throw std::invalid_argument("a link of the draft tree is out of range");
    if (seen[visit.node]) throw std::invalid_argument("the draft tree has a cycle");
    seen[visit.node] = 1;
    order.push_back(visit);
    if (tree.next_sibling[visit.node] != -1) pending.push_back({tree.next_sibling[visit.node], visit.depth});
    if (tree.first_child[visit.node] != -1)
      pending.push_back({tree.first_child[visit.node], visit.depth + 1});
  }
  return order;
}

}  // namespace

bool traverse_draft_tree(Matcher& matcher, const DraftTree& tree, const DraftResults& results,
                         double seconds) {
  const std::vector<Visit> order = depth_first(tree);
  std::fill_n(results.words, tree.tokens.size() * results.words_per_row, 0);
  if (results.temperatures != nullptr) std::fill_n(results.temperatures, tree.tokens.size(), -1.0f);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const size_t steps_before = matcher.step_count();
  size_t accepted = 0;  // depth of the matcher below the root
  bool in_time = true;
  for (const Visit& visit : order) {
    if (seconds >= 0 && std::chrono::steady_clock::now() > deadline) {
      in_time = false;
      break;
    }
    if (visit.depth > accepted + 1) continue;  // below a node that was refused
    if (visit.depth > 0) {
      matcher.rollback(accepted - (visit.depth - 1));
      accepted = visit.depth - 1;
      const int64_t token = tree.tokens[visit.node];
      if (token < 0 || token > INT32_MAX || !matcher.accept_token(static_cast<int32_t>(token))) continue;
      accepted = visit.depth;
    }
    matcher.fill_mask(results.words + visit.node * results.words_per_row);
    if (results.temperatures == nullptr) continue;
    const double temperature = matcher.temperatures().highest;
    results.temperatures[visit.node] =
        temperature >= 0 ? static_cast<float>(temperature) : results.default_temperature;
  }
  matcher.rollback(matcher.step_count() - steps_before);
  return in_time;
}

}  // namespace syntagma
