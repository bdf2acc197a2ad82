#include "automaton/components.hpp"

#include <algorithm>

namespace syntagma {
namespace {

class Tarjan {
 public:
  explicit Tarjan(const Adjacency& successors)
      : successors_(successors),
        index_(successors.size(), -1),
        low_(successors.size()),
        next_edge_(successors.size()) {
    result_.of.assign(successors.size(), -1);
  }

  Components run() {
    for (size_t v = 0; v < successors_.size(); ++v)
      if (index_[v] < 0) visit_from(static_cast<int32_t>(v));
    mark_cyclic();
    return std::move(result_);
  }

 private:
  void open(int32_t v) {
    index_[v] = low_[v] = counter_++;
    path_.push_back(v);
    open_.push_back(v);
  }

  void visit_from(int32_t root) {
    open(root);
    while (!path_.empty()) {
      const int32_t v = path_.back();
      if (const std::span<const int32_t> following = successors_[v]; next_edge_[v] < following.size()) {
        const int32_t w = following[next_edge_[v]++];
        if (index_[w] < 0) {
          open(w);
        } else if (result_.of[w] < 0) {
          low_[v] = std::min(low_[v], index_[w]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[v]);
      if (low_[v] == index_[v]) close(v);
    }
  }

  void close(int32_t v) {
    const auto component = static_cast<int32_t>(result_.cyclic.size());
    result_.cyclic.push_back(open_.back() != v);
    int32_t w;
    do {
      w = open_.back();
      open_.pop_back();
      result_.of[w] = component;
    } while (w != v);
  }

  void mark_cyclic() {
    for (size_t v = 0; v < successors_.size(); ++v)
      for (const int32_t w : successors_[static_cast<int32_t>(v)])
        if (w == static_cast<int32_t>(v)) result_.cyclic[result_.of[v]] = 1;
  }

  const Adjacency& successors_;
  std::vector<int32_t> index_, low_;
  std::vector<size_t> next_edge_;
  std::vector<int32_t> path_, open_;
  int32_t counter_ = 0;
  Components result_;
};

}  // namespace

Components find_components(const Adjacency& successors) { return Tarjan(successors).run(); }

}  // namespace syntagma
