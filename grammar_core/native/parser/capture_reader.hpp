// From places where captured rules were complete to the texts that captures show.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "automaton/nfa.hpp"

namespace syntagma {

// A rule's text from byte `begin` up to byte `end` of the whole text, in one reading.
struct CaptureEvent {
  int32_t symbol;
  int64_t begin, end;
};

struct Capture {
  int32_t name;  // index of the capture's name
  std::string text;
};

// A rule may end with a marker that its own capture leaves out (suffix), or every capture around it (stop).
// A marker of variable length begins where it first can: of the ways to split an occurrence's text into what
// stands before and a marker, the one with the shortest text before. An occurrence that ended otherwise,
// because of a budget, has no such split and no marker.
class CaptureReader {
 public:
  CaptureReader(const Nfa& nfa, std::string_view text) : nfa_(nfa), text_(text) {}

  // The captures of `events` in the order of their ends, of those that end together inner ones first: those
  // that begin later, or that others may call for the whole of their text. With
  // `deduplicate` only the longest event of each occurrence counts.
  std::vector<Capture> read(std::vector<CaptureEvent> events, bool deduplicate);

 private:
  // An occurrence whose marker captures around it leave out.
  struct Hidden {
    int64_t begin, end;    // of the occurrence
    int64_t marker_begin;  // the marker ends with the occurrence
  };
  struct Occurrence {
    CaptureEvent event;
    int64_t marker_begin;  // -1: it has none
  };

  void sort_inner_first(std::vector<CaptureEvent>& events);
  void sort_same_text(std::span<CaptureEvent> events);
  const std::set<int32_t>& inner_symbols(int32_t symbol);
  static void keep_longest(std::vector<CaptureEvent>& events);
  std::vector<Occurrence> with_markers(const std::vector<CaptureEvent>& events);
  int64_t marker_begin(const CaptureEvent& event, int64_t longest_end);
  void hide_stops(const std::vector<Occurrence>& occurrences);
  int64_t shown_end(const Occurrence& occurrence) const;
  std::string shown_text(const Occurrence& occurrence) const;

  const Nfa& nfa_;
  std::string_view text_;
  std::vector<Hidden> hidden_;  // by their beginning
  std::map<int32_t, std::set<int32_t>> inner_symbols_;
  std::map<std::pair<int32_t, int64_t>, std::vector<int64_t>> measured_;  // by measuring symbol and beginning
};

}  // namespace syntagma
