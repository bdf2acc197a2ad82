#include "vocabulary/byte_pairs.hpp"

#include "vocabulary/vocabulary.hpp"

namespace syntagma {

BytePairs::BytePairs(const Vocabulary& vocabulary) : begin_(kBytes * kBytes * kHeights + 1, 0) {
  const auto trie = vocabulary.trie();
  const auto for_each = [&](auto visit) {
    std::vector<uint8_t> path;  // bytes by depth
    for (uint32_t node = 0; node < trie.size(); ++node) {
      path.resize(trie[node].depth + 1);
      path.back() = trie[node].byte;
      if (path.size() < 3 || !is_looked_at(path.back()) || !is_looked_at(path[path.size() - 2])) continue;
      visit(number(path[path.size() - 2], path.back(), height_class(vocabulary.height(node))), node);
    }
  };
  for_each([&](size_t list, uint32_t) { ++begin_[list + 1]; });
  for (size_t list = 1; list < begin_.size(); ++list) begin_[list] += begin_[list - 1];
  nodes_.resize(begin_.back());
  std::vector<uint32_t> next(begin_.begin(), begin_.end() - 1);
  for_each([&](size_t list, uint32_t node) {
    nodes_[next[list]++] = {node, trie[node].depth, static_cast<uint8_t>(vocabulary.height(node))};
  });
}

}  // namespace syntagma
