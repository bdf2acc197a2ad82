// Lists of numbers by vertex, one after another in one array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace syntagma {

// Puts edges in the order of the vertices they belong to: those of vertex v are `edges[begin[v]]` up to
// `edges[begin[v + 1]]`, in the order in which they were placed. `Placed` has a vertex `from` and an `edge`.
template <typename Placed, typename Edge>
void place_edges(const std::vector<Placed>& placed, size_t vertices, std::vector<uint32_t>& begin,
                 std::vector<Edge>& edges) {
  begin.assign(vertices + 1, 0);
  edges.resize(placed.size());
  if (placed.empty()) return;
  for (const Placed& p : placed) ++begin[p.from];
  uint32_t sum = 0;
  for (uint32_t& end : begin) end = sum += end;
  for (size_t i = placed.size(); i-- > 0;) edges[--begin[placed[i].from]] = placed[i].edge;
}

class Adjacency {
 public:
  struct Placed {
    int32_t from, edge;
  };

  Adjacency() = default;
  Adjacency(size_t vertices, const std::vector<Placed>& placed) {
    place_edges(placed, vertices, begin_, targets_);
  }

  size_t size() const { return begin_.size() - 1; }
  std::span<const int32_t> operator[](int32_t vertex) const {
    return {targets_.data() + begin_[vertex], targets_.data() + begin_[vertex + 1]};
  }

 private:
  std::vector<uint32_t> begin_{0};
  std::vector<int32_t> targets_;
};

}  // namespace syntagma
