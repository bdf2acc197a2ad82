// Chains of states that only count.
#include <algorithm>
#include <utility>

#include "automaton/counting_limits.hpp"
#include "automaton/dfa.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

class RunFolder {
 public:
  explicit RunFolder(DfaEdges whole) : whole_(std::move(whole)), states_(whole_.accepts.size()) {
    first_.assign(states_ + 1, 0);
    for (const DfaEdges::Edge& edge : whole_.edges) ++first_[edge.source + 1];
    for (size_t state = 0; state < states_; ++state) first_[state + 1] += first_[state];
    incoming_.assign(states_, 0);
    incoming_[0] = 1;  // the beginning of the text
    incoming_label_.assign(states_, -1);
    for (const DfaEdges::Edge& edge : whole_.edges) {
      ++incoming_[edge.target];
      incoming_label_[edge.target] = edge.label;
    }
    for (const auto& ranges : whole_.labels) {
      int64_t letters = 0;
      for (const CodePointRange range : ranges) letters += range.high - range.low + 1;
      is_large_.push_back(letters >= kManyLetters);
    }
    is_inside_.assign(states_, 0);
  }

  DfaEdges run() {
    for (size_t i = 0; i < whole_.edges.size(); ++i)
      if (begins_run(whole_.edges[i])) fold(i);
    return without_inner_states();
  }

 private:
  bool begins_run(const DfaEdges::Edge& edge) const {
    const bool goes_on =
        edge.source != 0 && incoming_[edge.source] == 1 && incoming_label_[edge.source] == edge.label;
    return edge.label != kNoLabel && is_large_[edge.label] && !goes_on;
  }

  // The index of the edge of `state` with the label, or of none.
  size_t edge_with(int32_t state, int32_t label) {
    for (size_t i = first_[state]; i < first_[state + 1]; ++i)
      if (whole_.edges[i].label == label) return i;
    return kNoEdge;
  }

  // What can be done in a state beside going on along the edge.
  std::vector<std::pair<int32_t, int32_t>> rest_of(int32_t state, size_t edge) {
    std::vector<std::pair<int32_t, int32_t>> rest;
    if (whole_.accepts[state]) rest.emplace_back(-1, -1);
    for (size_t i = first_[state]; i < first_[state + 1]; ++i)
      if (i != edge) rest.emplace_back(whole_.edges[i].label, whole_.edges[i].target);
    return rest;
  }

  // Folds the end of the chain that begins with an edge.
  void fold(size_t edge) {
    const int32_t label = whole_.edges[edge].label;
    std::vector<size_t> chain;  // edges, each but the first from the target of the one before
    for (size_t next = edge; next != kNoEdge;) {
      TimeLimit::tick();
      chain.push_back(next);
      const int32_t target = whole_.edges[next].target;
      next = incoming_[target] == 1 ? edge_with(target, label) : kNoEdge;
    }
    const size_t loop = loop_at(whole_.edges[chain.back()].target, label);
    // rests[i]: of the state before chain[i]; the last one of the state behind the chain.
    std::vector<std::vector<std::pair<int32_t, int32_t>>> rests;
    for (const size_t i : chain) rests.push_back(rest_of(whole_.edges[i].source, i));
    rests.push_back(rest_of(whole_.edges[chain.back()].target, loop));
    const size_t end = chain.size();
    size_t same = end;  // from here on to the end all states can do the same
    while (same > 1 && rests[same - 1] == rests[end]) --same;
    size_t begin = same - 1;  // nothing else can be done between this state and those
    while (begin > 0 && rests[begin].empty()) --begin;
    if (end - begin > kFewCopies && !reads_on(rests[end], label))
      replace(chain, begin, static_cast<int64_t>(same - begin), loop);
  }

  // Whether letters of a run are read behind it too: tokens would leave the run wherever it may end.
  bool reads_on(const std::vector<std::pair<int32_t, int32_t>>& rest, int32_t label) const {
    int64_t letters = 0;
    for (const auto& [other, target] : rest) {
      if (other < 0) continue;
      for (const CodePointRange one : whole_.labels[label])
        for (const CodePointRange range : whole_.labels[other])
          if (std::max(one.low, range.low) <= std::min(one.high, range.high))
            letters += std::min(one.high, range.high) - std::max(one.low, range.low) + 1;
    }
    return letters >= kManyLetters;
  }

  // A loop that only the state's chain and the loop itself lead to.
  size_t loop_at(int32_t state, int32_t label) {
    const size_t edge = edge_with(state, label);
    return edge != kNoEdge && whole_.edges[edge].target == state && incoming_[state] == 2 ? edge : kNoEdge;
  }

  // One edge in place of those from `begin` on, and of a loop behind them.
  void replace(const std::vector<size_t>& chain, size_t begin, int64_t least, size_t loop) {
    DfaEdges::Edge& first = whole_.edges[chain[begin]];
    first.min = least;
    first.max = loop == kNoEdge ? static_cast<int64_t>(chain.size() - begin) : kUnbounded;
    for (size_t i = begin + 1; i < chain.size(); ++i) is_inside_[whole_.edges[chain[i]].source] = 1;
    first.target = whole_.edges[chain.back()].target;
    if (loop != kNoEdge) whole_.edges[loop].label = kNoLabel;
  }

  DfaEdges without_inner_states() {
    DfaEdges result;
    std::vector<int32_t> numbers(states_, -1);
    for (size_t state = 0; state < states_; ++state) {
      if (is_inside_[state]) continue;
      numbers[state] = static_cast<int32_t>(result.accepts.size());
      result.accepts.push_back(whole_.accepts[state]);
    }
    for (DfaEdges::Edge edge : whole_.edges) {
      if (is_inside_[edge.source] || edge.label == kNoLabel) continue;
      edge.source = numbers[edge.source];
      edge.target = numbers[edge.target];
      result.edges.push_back(edge);
    }
    result.labels = std::move(whole_.labels);
    return result;
  }

  static constexpr size_t kNoEdge = SIZE_MAX;
  static constexpr int32_t kNoLabel = -1;  // of edges that are left out

  DfaEdges whole_;
  size_t states_;
  std::vector<size_t> first_;  // by state: its first edge; one more at the end
  std::vector<int32_t> incoming_, incoming_label_;
  std::vector<uint8_t> is_large_, is_inside_;
};

}  // namespace

DfaEdges fold_runs(DfaEdges whole) { return RunFolder(std::move(whole)).run(); }

}  // namespace syntagma
