#include "mask/text_survival.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "automaton/adjacency.hpp"
#include "automaton/interner.hpp"
#include "automaton/time_limit.hpp"
#include "vocabulary/byte_groups.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostPlaces = 600;                                            // that are looked into
constexpr int kFar = 16;                                                       // characters that say enough
constexpr int kCharacter = 0, kOneByte = 1, kTwoBytes = 2, kFirstOfLeads = 3;  // numbers of Rests

}  // namespace

TextSurvival::TextSurvival(const Nfa& nfa, const ByteSet& first_bytes) : nfa_(nfa) {
  rests_.resize(kFirstOfLeads + std::size(kLeads));
  const auto add = [&](int number, int low, int high, int next) {
    Rest& rest = rests_[number];
    rest.parts.push_back({static_cast<uint8_t>(low), static_cast<uint8_t>(high), next});
    rest.bytes.add_range(static_cast<uint8_t>(low), static_cast<uint8_t>(high));
  };
  add(kOneByte, 0x80, 0xBF, kCharacter);
  add(kTwoBytes, 0x80, 0xBF, kOneByte);
  add(kCharacter, 0, 0x7F, kCharacter);
  int number = kFirstOfLeads;
  for (const LeadRange& leads : kLeads) {
    add(kCharacter, leads.first, leads.last, number);
    add(number++, leads.low, leads.high,
        leads.rest == 1   ? kCharacter
        : leads.rest == 2 ? kOneByte
                          : kTwoBytes);
  }
  rests_[kCharacter].bytes.intersect(first_bytes);
}

// Looks into the places that are reached from one, and then back from those that cannot read something or
// were not looked into: the fewest characters to such a place are surely read.
class TextSurvival::Search {
 public:
  explicit Search(TextSurvival& owner) : owner_(owner) {}

  int run(int32_t state) {
    number({state, kCharacter}, 0);
    std::vector<Adjacency::Placed> backwards;
    std::vector<int32_t> level{0}, next_level;  // by characters
    int unknown_depth = kForever;               // of the first place that is not looked into
    int left = std::min(owner_.most_, owner_.left_);
    owner_.left_ -= left;
    for (int depth = 0; !level.empty(); ++depth) {
      for (size_t at = 0; at < level.size(); ++at) {
        const int32_t i = level[at];
        TimeLimit::tick(4);
        const bool is_known = know(i);
        if (!is_known && left-- <= 0) {
          unknown_depth = std::min(unknown_depth, depth);
          found_[i] = 0;
        } else if (!is_known && !find_targets(places_[i])) {
          found_[i] = 0;
        } else if (!is_known) {
          for (const Place& target : targets_) {
            const size_t known = places_.size();
            const int32_t to = number(target, target.rest == kCharacter ? depth + 1 : depth);
            backwards.push_back({to, i});
            if (known < places_.size()) (target.rest == kCharacter ? next_level : level).push_back(to);
          }
        }
      }
      level = std::exchange(next_level, {});
    }
    owner_.left_ += std::max(left, 0);
    if (unknown_depth != kForever) owner_.most_ = kFewPlaces;
    spread(Adjacency(places_.size(), backwards));
    for (size_t i = 0; i < places_.size(); ++i) {
      const bool is_exact = found_[i] == kForever || found_[i] < unknown_depth - depths_[i];
      if (places_[i].rest == kCharacter && (i == 0 || is_exact || found_[i] >= kFar))
        owner_.known_[places_[i].state] = found_[i];
    }
    return found_[0];
  }

 private:
  int32_t number(const Place& place, int depth) {
    const int32_t key[] = {place.state, place.rest};
    const int32_t number = numbers_.intern(key);
    if (number == static_cast<int32_t>(places_.size())) {
      places_.push_back(place);
      found_.push_back(kForever);
      depths_.push_back(depth);
    }
    return number;
  }
  // Whether it has been found before how far a place reads.
  bool know(int32_t place) {
    if (places_[place].rest != kCharacter) return false;
    const auto known = owner_.known_.find(places_[place].state);
    if (known != owner_.known_.end()) found_[place] = known->second;
    return known != owner_.known_.end();
  }
  // False if not all that is to be read in a place can be.
  bool find_targets(Place place) {
    targets_.clear();
    closure_.assign(1, place.state);
    const Rest& rest = owner_.rests_[place.rest];
    ByteSet read;
    for (size_t i = 0; i < closure_.size(); ++i) {
      const int32_t state = closure_[i];
      if (state >= owner_.nfa_.state_count()) continue;  // derived
      for (const ByteEdge& edge : owner_.nfa_.byte_edges(state)) {
        auto part = rest.parts.begin();  // in the order of their bytes
        while (part != rest.parts.end() && part->high < edge.low) ++part;
        for (; part != rest.parts.end() && part->low <= edge.high; ++part) {
          const uint8_t low = std::max(part->low, edge.low), high = std::min(part->high, edge.high);
          if (rest.bytes.next(low - 1) > high) continue;
          read.add_range(low, high);
          add(behind_character({edge.target, part->next}), targets_);
        }
      }
      for (const int32_t target : owner_.nfa_.empty_edges(state)) add(target, closure_);
      for (const CallEdge& call : owner_.nfa_.call_edges(state)) {
        const Symbol& symbol = owner_.nfa_.symbols()[call.symbol];  // which need not come to its end
        if (!symbol.is_counter() && !symbol.lazy && symbol.paths < 0 && symbol.early < 0)
          add(symbol.start, closure_);
      }
    }
    return read.contains_all(rest.bytes);
  }
  // Where the rest of a character leads if a single edge reads each of its bytes, or as far as that is so.
  Place behind_character(Place place) const {
    while (place.rest != kCharacter && place.state < owner_.nfa_.state_count()) {
      const Rest::Part& part = owner_.rests_[place.rest].parts[0];
      const auto edges = owner_.nfa_.byte_edges(place.state);
      if (edges.size() != 1 || edges[0].low > part.low || edges[0].high < part.high) break;
      place = {edges[0].target, part.next};
    }
    return place;
  }
  template <typename T>
  static void add(const T& value, std::vector<T>& values) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  // By numbers of characters, fewest first.
  void spread(const Adjacency& before) {
    std::map<int, std::vector<int32_t>> waiting;
    for (size_t i = 0; i < places_.size(); ++i)
      if (found_[i] != kForever) waiting[found_[i]].push_back(static_cast<int32_t>(i));
    while (!waiting.empty()) {
      std::vector<int32_t>& nearest = waiting.begin()->second;
      const int characters = waiting.begin()->first;
      for (size_t next = 0; next < nearest.size(); ++next) {
        if (found_[nearest[next]] != characters) continue;
        for (const int32_t place : before[nearest[next]]) {
          TimeLimit::tick();
          const int with = characters + (places_[place].rest == kCharacter ? 1 : 0);
          if (with >= found_[place]) continue;
          found_[place] = with;
          waiting[with].push_back(place);
        }
      }
      waiting.erase(waiting.begin());
    }
  }

  TextSurvival& owner_;
  std::vector<Place> places_;
  std::vector<int> found_, depths_;  // by place: characters that it reads, and that lead there
  SequenceInterner numbers_;
  std::vector<Place> targets_;
  std::vector<int32_t> closure_;
};

int TextSurvival::characters(int32_t state) {
  const auto found = known_.find(state);
  if (found != known_.end()) return found->second;
  return left_ > 0 ? Search(*this).run(state) : kNotNow;
}

}  // namespace syntagma
