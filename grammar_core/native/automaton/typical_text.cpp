#include "automaton/typical_text.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "automaton/utf8_sequences.hpp"

namespace syntagma {
namespace {

constexpr size_t kLongestText = 8'000;  // bytes
constexpr size_t kMostSteps = 10'000;   // expressions that are looked at, and what takes as long
constexpr size_t kItemsPerStep = 32;    // edges, ranges, bytes and the like
constexpr int kDeepest = 160;           // expressions within one another
constexpr int64_t kLetters = 4;         // of a word that may have any length
constexpr int64_t kMostItems = 100;     // that a repetition needs
constexpr size_t kMostEdges = 4'000;    // of an automaton in which a way is searched
constexpr size_t kLongestWay = 64;
constexpr std::string_view kSpaces = " \t\r\n";
constexpr uint32_t kLikely[] = {'a', 'A', '1', ' '};

class Writer {
 public:
  explicit Writer(const GrammarSource& source) : source_(source), is_open_(source.rule_bodies.size(), 0) {}

  std::string write() {
    write_rule(source_.root, 0);
    return std::move(text_);
  }

 private:
  bool has_enough() const { return text_.size() >= kLongestText || steps_ >= kMostSteps; }

  void spend(size_t items) { steps_ += 1 + items / kItemsPerStep; }

  // False, with parts of it written perhaps, if there is no short text. Once there is enough, nothing more is
  // written: then the text is the beginning of one. The depth of the recursion is limited.
  bool write(int32_t expression, int depth) {
    if (has_enough()) return true;
    if (depth == kDeepest) return false;
    spend(0);
    const Expression& e = source_.expressions[expression];
    switch (e.op) {
      case Op::kLiteral:
        text_.append(source_.literals, static_cast<size_t>(e.first),
                     std::min(static_cast<size_t>(e.count), kLongestText));
        return true;
      case Op::kCharClass:
        return write_character(e);
      case Op::kRuleRef:
        return write_rule(static_cast<int32_t>(e.first), depth);
      case Op::kSequence:
        return std::ranges::all_of(source_.children_of(e),
                                   [&](int32_t child) { return write(child, depth + 1); });
      case Op::kChoice:
        return write_longest(e, depth);
      case Op::kRepeat:
        return write_repetition(e, depth);
      case Op::kAutomaton:
        return write_way(e, depth);
      case Op::kMembers:
        return write_members(e, depth);
      case Op::kOtherTexts:
        return write(static_cast<int32_t>(e.first), depth + 1);
      case Op::kTokenSet:
        return false;
    }
    return false;
  }

  // Nothing if there is no short text.
  bool write_whole(int32_t expression, int depth) {
    const size_t before = text_.size();
    if (write(expression, depth)) return true;
    text_.resize(before);
    return false;
  }

  // The alternative that has most to come, of those that are not rare.
  bool write_longest(const Expression& e, int depth) {
    const size_t before = text_.size();
    std::string best;
    std::pair<int, size_t> score;
    bool is_possible = false;
    for (const int32_t child : source_.children_of(e)) {
      if (write(child, depth + 1)) {
        std::string text = text_.substr(before);
        spend(text.size());
        const std::pair<int, size_t> other{likelihood(text), text.size()};
        if (!is_possible || other > score) {
          best = std::move(text);
          score = other;
        }
        is_possible = true;
      }
      text_.resize(before);
      if (steps_ >= kMostSteps) break;
    }
    text_ += best;
    return is_possible;
  }

  // Lists and objects before strings, these before other texts.
  static int likelihood(std::string_view text) {
    if (is_rare(text)) return 0;
    return text.starts_with('{') || text.starts_with('[') ? 3 : text.starts_with('"') ? 2 : 1;
  }

  // Escapes, and the signs and parts of numbers that most have not.
  static bool is_rare(std::string_view text) {
    return text.starts_with('\\') || (text.find_first_not_of("0123456789+-.eE") == std::string_view::npos &&
                                      text.find_first_of("+-.eE") != std::string_view::npos);
  }

  bool write_character(const Expression& e) {
    if (e.count == 0) return false;
    spend(static_cast<size_t>(e.count));
    const std::span<const CodePointRange> ranges(source_.ranges.data() + e.first,
                                                 static_cast<size_t>(e.count));
    for (const uint32_t likely : kLikely)
      if (contains(ranges, likely)) {
        text_ += static_cast<char>(likely);
        return true;
      }
    std::vector<Utf8Sequence> spelled;
    append_utf8_sequences({ranges[0].low, ranges[0].low}, spelled);
    if (spelled.empty()) return false;
    for (int i = 0; i < spelled[0].length; ++i) text_ += static_cast<char>(spelled[0].bytes[i].low);
    return true;
  }

  static bool contains(std::span<const CodePointRange> ranges, uint32_t character) {
    return std::ranges::any_of(ranges, [&](const CodePointRange& range) {
      return range.low <= character && character <= range.high;
    });
  }

  // What a rule begins inside itself is left out where it may be. Its text is that which it got first, but
  // for spaces, which depend on where they stand.
  bool write_rule(int32_t rule, int depth) {
    if (is_open_[rule]) return false;
    if (const auto known = known_.find(rule); known != known_.end()) {
      spend(known->second.size());
      text_ += known->second;
      return true;
    }
    const size_t before = text_.size();
    is_open_[rule] = 1;
    const bool is_written = write(source_.rule_bodies[rule], depth + 1);
    is_open_[rule] = 0;
    const bool is_more = text_.find_first_not_of(kSpaces, before) != std::string::npos;
    if (is_written && is_more && !has_enough()) known_.emplace(rule, text_.substr(before));
    return is_written;
  }

  bool write_repetition(const Expression& e, int depth) {
    const auto body = static_cast<int32_t>(e.first);
    if (e.min > kMostItems) return false;
    const bool is_character = source_.expressions[body].op == Op::kCharClass;
    const int64_t wanted = std::max(e.min, std::min(e.max, is_character ? kLetters : int64_t{1}));
    for (int64_t i = 0; i < wanted && !has_enough(); ++i) {
      const size_t before = text_.size();
      if (!write_whole(body, depth + 1)) return i >= e.min;
      if (text_.size() == before) return true;
      if (i < e.min) continue;
      if (e.max == 1 && is_rare(std::string_view(text_).substr(before))) {
        text_.resize(before);
        return true;
      }
      if (text_.find_first_not_of(kSpaces, before) != std::string::npos) continue;
      // Spaces that need not be: as most write them.
      const bool is_usual = before > 0 && (text_[before - 1] == ',' || text_[before - 1] == ':');
      if (!is_usual || text_[before] != ' ') text_.resize(before);
      return true;
    }
    return true;
  }

  // Along edges to states that are new, where there are such, up to an end.
  bool write_way(const Expression& e, int depth) {
    const AutomatonShape& shape = source_.automata[e.min];
    spend(shape.edges.size() + static_cast<size_t>(shape.state_count));
    if (shape.edges.size() > kMostEdges) return false;
    const Adjacency edges = shape.edges_by_source();
    std::vector<uint8_t> is_end(shape.state_count, 0), is_known(shape.state_count, 0);
    for (const int32_t state : shape.accepting) is_end[state] = 1;
    int32_t state = 0;
    const auto least = static_cast<size_t>(std::max<int64_t>(shape.min_edges, 1));
    for (size_t length = 0; length < kLongestWay; ++length) {
      if ((is_end[state] && length >= least) || has_enough()) return true;
      is_known[state] = 1;
      const auto next = edges[state];
      if (next.empty()) return is_end[state] && static_cast<int64_t>(length) >= shape.min_edges;
      const auto fresh = std::ranges::find_if(next, [&](int32_t i) { return !is_known[shape.edges[i].to]; });
      const int32_t edge = fresh != next.end() ? *fresh : next[0];
      if (!write(source_.children[e.first + edge], depth + 1)) return false;
      state = shape.edges[edge].to;
    }
    return false;
  }

  bool write_members(const Expression& e, int depth) {
    const MembersShape& shape = source_.members[e.min];
    const auto parts = source_.children_of(e);
    spend(parts.size());
    int64_t to_come = std::ranges::count(shape.required, 1), written = 0;
    for (int32_t member = 0; member < shape.count && !has_enough(); ++member) {
      const bool is_required = shape.required[member] != 0;
      if (!is_required && (written + to_come >= shape.max || (shape.repeatable[member] && written > 0)))
        continue;
      to_come -= is_required;
      const size_t before = text_.size();
      if (written > 0 && shape.has_separator && !write(parts[shape.count], depth + 1)) return false;
      if (write(parts[member], depth + 1)) {
        ++written;
      } else if (is_required) {
        return false;
      } else {
        text_.resize(before);
      }
    }
    return true;
  }

  const GrammarSource& source_;
  std::vector<uint8_t> is_open_;                    // by rule
  std::unordered_map<int32_t, std::string> known_;  // texts of rules
  std::string text_;
  size_t steps_ = 0;
};

}  // namespace

std::string typical_text(const GrammarSource& source) { return Writer(source).write(); }

}  // namespace syntagma
