#include "parser/capture_reader.hpp"

#include <algorithm>
#include <tuple>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"
#include "parser/marker_measure.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

}  // namespace

std::vector<Capture> CaptureReader::read(std::vector<CaptureEvent> events, bool deduplicate) {
  sort_inner_first(events);
  if (deduplicate) keep_longest(events);
  const std::vector<Occurrence> occurrences = with_markers(events);
  hide_stops(occurrences);
  std::vector<Capture> captures;
  size_t bytes = 0;
  const auto add = [&](int32_t name, std::string shown) {
    bytes += shown.size();
    if (bytes > kMostBytes)
      throw LimitExceeded("captures", kMostBytes,
                          "The captures take more than " + std::to_string(kMostBytes >> 20) + " MiB");
    captures.push_back({name, std::move(shown)});
  };
  for (const Occurrence& occurrence : occurrences) {
    const auto [symbol, begin, end] = occurrence.event;
    const Symbol& rule = nfa_.symbols()[symbol];
    const int64_t marker = occurrence.marker_begin;
    if (rule.marker.stop_capture >= 0 && marker >= 0)
      add(rule.marker.stop_capture, std::string(text_.substr(marker, end - marker)));
    if (rule.capture >= 0) add(rule.capture, shown_text(occurrence));
  }
  return captures;
}

void CaptureReader::sort_inner_first(std::vector<CaptureEvent>& events) {
  std::sort(events.begin(), events.end(), [](const CaptureEvent& a, const CaptureEvent& b) {
    return std::tuple(a.end, -a.begin, a.symbol) < std::tuple(b.end, -b.begin, b.symbol);
  });
  const auto same_text = [](const CaptureEvent& a, const CaptureEvent& b) {
    return a.begin == b.begin && a.end == b.end;
  };
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if_not(first, events.end(),
                                       [&](const CaptureEvent& event) { return same_text(*first, event); });
    if (first->symbol != std::prev(last)->symbol) sort_same_text({first, last});
    first = last;
  }
}

// By the number of rules that may be inside, then by the rules' order in the grammar.
void CaptureReader::sort_same_text(std::span<CaptureEvent> events) {
  std::map<int32_t, int64_t> inside;
  for (const CaptureEvent& event : events) inside[event.symbol] = 0;
  for (auto& [symbol, count] : inside)
    for (const int32_t inner : inner_symbols(symbol)) count += inner != symbol && inside.contains(inner);
  std::stable_sort(events.begin(), events.end(), [&](const CaptureEvent& a, const CaptureEvent& b) {
    return std::tuple(inside[a.symbol], nfa_.symbols()[a.symbol].rule) <
           std::tuple(inside[b.symbol], nfa_.symbols()[b.symbol].rule);
  });
}

// The symbols that this one may call, directly or not, for the whole of its text.
const std::set<int32_t>& CaptureReader::inner_symbols(int32_t symbol) {
  const auto [found, is_new] = inner_symbols_.try_emplace(symbol);
  if (!is_new) return found->second;
  std::vector<int32_t> pending{symbol};
  while (!pending.empty()) {
    const int32_t caller = pending.back();
    pending.pop_back();
    for (const int32_t callee : nfa_.unit_calls()[caller])
      if (TimeLimit::tick(), found->second.insert(callee).second) pending.push_back(callee);
  }
  return found->second;
}

void CaptureReader::keep_longest(std::vector<CaptureEvent>& events) {
  std::set<std::pair<int32_t, int64_t>> later;  // occurrences with a longer completion
  size_t kept = events.size();
  for (size_t i = events.size(); i-- > 0;)
    if (later.emplace(events[i].symbol, events[i].begin).second) events[--kept] = events[i];
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kept));
}

std::vector<CaptureReader::Occurrence> CaptureReader::with_markers(const std::vector<CaptureEvent>& events) {
  std::map<std::pair<int32_t, int64_t>, int64_t> longest;
  for (const CaptureEvent& event : events) longest[{event.symbol, event.begin}] = event.end;  // by their end
  std::vector<Occurrence> occurrences;
  for (const CaptureEvent& event : events)
    occurrences.push_back({event, marker_begin(event, longest[{event.symbol, event.begin}])});
  return occurrences;
}

// -1 if the occurrence has no marker. All that begin there are measured at once, up to `longest_end`.
int64_t CaptureReader::marker_begin(const CaptureEvent& event, int64_t longest_end) {
  const MarkerUse& marker = nfa_.symbols()[event.symbol].marker;
  if (marker.measure < 0) {
    const int64_t bytes = std::max(marker.suffix_bytes, marker.stop_bytes);
    return bytes < 0 ? -1 : std::max(event.begin, event.end - bytes);
  }
  const auto [found, is_new] = measured_.try_emplace({event.symbol, event.begin});
  if (is_new)
    found->second = measure_markers(nfa_, nfa_.symbols()[marker.measure],
                                    text_.substr(event.begin, longest_end - event.begin));
  const int64_t before = found->second[event.end - event.begin];
  return before < 0 ? -1 : event.begin + before;
}

void CaptureReader::hide_stops(const std::vector<Occurrence>& occurrences) {
  hidden_.clear();
  for (const auto& [event, marker_begin] : occurrences) {
    const MarkerUse& marker = nfa_.symbols()[event.symbol].marker;
    if (marker.stop_bytes < 0 || marker_begin < 0) continue;
    const int64_t fixed = std::max(event.begin, event.end - marker.stop_bytes);
    hidden_.push_back({event.begin, event.end, marker.measure >= 0 ? marker_begin : fixed});
  }
  std::sort(hidden_.begin(), hidden_.end(), [](const Hidden& a, const Hidden& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
}

// Where the rule's own capture ends, since its own suffix is left out.
int64_t CaptureReader::shown_end(const Occurrence& occurrence) const {
  const auto [symbol, begin, end] = occurrence.event;
  const MarkerUse& marker = nfa_.symbols()[symbol].marker;
  if (marker.suffix_bytes < 0 || occurrence.marker_begin < 0) return end;
  return marker.measure >= 0 ? occurrence.marker_begin : std::max(begin, end - marker.suffix_bytes);
}

// The text without its own suffix and the markers hidden from everything around them.
std::string CaptureReader::shown_text(const Occurrence& occurrence) const {
  const auto [symbol, begin, end] = occurrence.event;
  std::vector<std::pair<int64_t, int64_t>> left_out;
  auto first = std::lower_bound(hidden_.begin(), hidden_.end(), begin,
                                [](const Hidden& h, int64_t position) { return h.begin < position; });
  for (; first != hidden_.end() && first->begin < end; ++first) {
    TimeLimit::tick();
    if (first->end <= end) left_out.emplace_back(first->marker_begin, first->end);
  }
  left_out.emplace_back(shown_end(occurrence), end);
  std::sort(left_out.begin(), left_out.end());
  std::string shown;
  int64_t position = begin;
  for (const auto& [from, to] : left_out) {
    if (from > position) shown += text_.substr(position, from - position);
    position = std::max(position, to);
  }
  return shown;
}

}  // namespace syntagma
