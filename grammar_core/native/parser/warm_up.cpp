#include "parser/warm_up.hpp"

#include <cstddef>
#include <utility>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"
#include "parser/matcher.hpp"

namespace syntagma {
namespace {

enum class Kind { kLetter, kDigit, kSpace, kOther };

Kind kind_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const unsigned char lower = byte | 0x20;
  if (byte >= 0x80 || (lower >= 'a' && lower <= 'z')) return Kind::kLetter;
  if (byte >= '0' && byte <= '9') return Kind::kDigit;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? Kind::kSpace : Kind::kOther;
}

// The length of the first piece that a tokenizer would not merge with what follows: a word with the character
// before it, a digit, signs with the space before them, or spaces; as the pattern of most vocabularies has
// it.
size_t piece_length(std::string_view text) {
  const auto run = [&](size_t from, Kind kind) {
    while (from < text.size() && kind_of(text[from]) == kind) ++from;
    return from;
  };
  const Kind first = kind_of(text[0]);
  if (first == Kind::kDigit) return 1;
  const size_t word = run(first == Kind::kLetter ? 0 : 1, Kind::kLetter);
  if (word > 1 || first == Kind::kLetter) return word;
  const size_t signs = run(text[0] == ' ' ? 1 : 0, Kind::kOther);
  return signs > (text[0] == ' ' ? 1 : 0) ? signs : run(0, first);
}

}  // namespace

void warm_up(std::shared_ptr<CompiledGrammar> grammar, std::string_view text, double seconds) {
  if (text.find_first_of("{[") == std::string_view::npos || text.find('"') == std::string_view::npos) return;
  const double end = thread_seconds() + seconds;
  try {
    Matcher matcher(std::move(grammar), {.stop_tokens = {}, .step_seconds = seconds});
    matcher.prepare_mask();
    bool is_after_comma = false;
    while (!text.empty() && thread_seconds() < end) {
      const std::string_view piece = text.substr(0, piece_length(text));
      text.remove_prefix(piece.size());
      if (!matcher.accept_bytes(piece)) return;
      const bool is_word = kind_of(piece.back()) == Kind::kLetter || kind_of(piece.back()) == Kind::kDigit;
      const bool is_cheap = is_word || std::exchange(is_after_comma, piece.back() == ',');
      if (!is_cheap) matcher.prepare_mask();
    }
  } catch (const LimitExceeded&) {
    // Whoever needs what takes too long is told then.
  }
}

}  // namespace syntagma
