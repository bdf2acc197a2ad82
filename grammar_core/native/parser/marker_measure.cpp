#include "parser/marker_measure.hpp"

#include "automaton/time_limit.hpp"

namespace syntagma {
namespace {

class MarkerMeasure {
 public:
  MarkerMeasure(const Nfa& nfa, const Symbol& measure)
      : nfa_(nfa), measure_(measure), visited_(nfa.state_count(), 0) {}

  std::vector<int64_t> run(std::string_view text) {
    std::vector<int64_t> begins;
    begins.reserve(text.size() + 1);
    next_position();
    reach_body(measure_.start);
    begins.push_back(marker_begin());
    for (const char c : text) {
      if (in_marker_.empty() && in_body_.empty()) break;
      step(static_cast<uint8_t>(c));
      begins.push_back(marker_begin());
    }
    begins.resize(text.size() + 1, -1);
    return begins;
  }

 private:
  struct Place {
    int32_t state;
    int64_t begin;  // of the marker
  };

  void next_position() {
    ++position_;
    in_marker_.clear();
    in_body_.clear();
  }

  // States within markers come first, those of earlier markers before those of later ones, so that the first
  // visit of a state is the one with the earliest marker.
  void step(uint8_t byte) {
    const std::vector<Place> markers = std::move(in_marker_);
    const std::vector<int32_t> bodies = std::move(in_body_);
    next_position();
    const auto each_target = [&](int32_t state, auto reach) {
      for (const ByteEdge& e : nfa_.byte_edges(state))
        if (TimeLimit::tick(), e.low <= byte && byte <= e.high) reach(e.target);
    };
    for (const Place& place : markers)
      each_target(place.state, [&](int32_t target) { reach_marker(target, place.begin); });
    for (const int32_t s : bodies) each_target(s, [&](int32_t target) { reach_body(target); });
  }

  void reach_marker(int32_t state, int64_t begin) {
    reach(state, [&](int32_t s) {
      in_marker_.push_back({s, begin});
      if (s == measure_.accept) found_ = begin;
      return true;
    });
  }

  // Where what stands before may end, a marker begins.
  void reach_body(int32_t state) {
    bool marker_begins = false;
    reach(state, [&](int32_t s) {
      marker_begins |= s == measure_.boundary;
      if (s != measure_.boundary) in_body_.push_back(s);
      return s != measure_.boundary;
    });
    if (!marker_begins) return;
    visited_[measure_.boundary] = 0;
    reach_marker(measure_.boundary, position_ - 1);
  }

  // Visits what is reached over empty edges, going on where `on_state` says so.
  template <typename OnState>
  void reach(int32_t state, OnState on_state) {
    pending_.assign(1, state);
    while (!pending_.empty()) {
      const int32_t s = pending_.back();
      pending_.pop_back();
      if (visited_[s] == position_) continue;
      visited_[s] = position_;
      TimeLimit::tick();
      if (!on_state(s)) continue;
      for (const int32_t target : nfa_.empty_edges(s)) pending_.push_back(target);
    }
  }

  int64_t marker_begin() const { return visited_[measure_.accept] == position_ ? found_ : -1; }

  const Nfa& nfa_;
  const Symbol& measure_;
  int64_t position_ = 0;          // one more than the bytes read
  std::vector<int64_t> visited_;  // by state: the position it was last reached at
  int64_t found_ = -1;            // where the marker begins that ended last
  std::vector<Place> in_marker_;
  std::vector<int32_t> in_body_, pending_;
};

}  // namespace

std::vector<int64_t> measure_markers(const Nfa& nfa, const Symbol& measure, std::string_view text) {
  return MarkerMeasure(nfa, measure).run(text);
}

}  // namespace syntagma
