#include "vocabulary/quoted_texts.hpp"

#include <string_view>

#include "vocabulary/json_string.hpp"
#include "vocabulary/vocabulary.hpp"

namespace syntagma {
namespace {

// A string between two of a token's quotes.
struct Quoted {
  std::string value;
  size_t begin, end;  // places of the quotes
};

// Reads the rest of a string from a place on; up to its end, if there is one.
Quoted read_rest(std::string_view token, size_t from) {
  JsonStringReader reader;
  size_t i = from;
  while (i < token.size() && reader.read(static_cast<uint8_t>(token[i]))) ++i;
  return {reader.value(), from - 1, reader.has_ended() ? i - 1 : std::string::npos};
}

std::vector<Quoted> strings_in(std::string_view token) {
  std::vector<Quoted> strings;
  for (size_t quote = token.find('"'); quote != std::string_view::npos; quote = token.find('"', quote + 1))
    if (Quoted string = read_rest(token, quote + 1); string.end != std::string::npos)
      strings.push_back(std::move(string));
  return strings;
}

bool has_two(const std::vector<Quoted>& strings) {
  for (const Quoted& first : strings)
    for (const Quoted& second : strings)
      if (second.begin > first.end && second.value == first.value) return true;
  return false;
}

}  // namespace

QuotedTexts::QuotedTexts(const Vocabulary& vocabulary) {
  const auto add = [](std::vector<uint32_t>& tokens, uint32_t rank) {
    if (tokens.empty() || tokens.back() != rank) tokens.push_back(rank);
  };
  for (uint32_t rank = 0; rank < vocabulary.text_token_count(); ++rank) {
    const std::string_view token = vocabulary.token(vocabulary.token_at_rank(rank));
    const std::vector<Quoted> strings = strings_in(token);
    if (strings.empty()) continue;
    if (has_two(strings)) with_two_.push_back(rank);
    const Quoted end = read_rest(token, 0);
    for (const Quoted& string : strings) {
      add(with_[string.value], rank);
      if (string.begin <= end.end) continue;
      add(with_end_, rank);
      if (string.value.ends_with(end.value))
        add(repeating_[string.value.substr(0, string.value.size() - end.value.size())], rank);
    }
  }
}

}  // namespace syntagma
