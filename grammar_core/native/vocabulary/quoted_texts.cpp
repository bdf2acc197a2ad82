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

// Whether one of a token's strings may end in one list, and the other begin in it.
bool may_follow(std::string_view token, size_t end, size_t begin, int between) {
  if (begin <= end) return false;
  const std::string_view text = token.substr(end + 1, begin - end - 1);
  return between < 0 || text.find(static_cast<char>(between)) != std::string_view::npos;
}

}  // namespace

QuotedTexts::QuotedTexts(const Vocabulary& vocabulary, int between) {
  const auto add = [](std::vector<uint32_t>& tokens, uint32_t rank) {
    if (tokens.empty() || tokens.back() != rank) tokens.push_back(rank);
  };
  for (uint32_t rank = 0; rank < vocabulary.text_token_count(); ++rank) {
    const std::string_view token = vocabulary.token(vocabulary.token_at_rank(rank));
    if (token.find('"') == std::string_view::npos) continue;
    const Quoted rest = read_rest(token, 0);
    const bool has_end = rest.end != std::string::npos;
    if (has_end) ending_[rest.value].push_back(rank);
    for (const Quoted& string : strings_in(token)) {
      add(with_[string.value], rank);
      if (may_follow(token, token.find('"'), string.begin, between)) add(with_end_, rank);
      for (const Quoted& other : strings_in(token))
        if (other.value == string.value && may_follow(token, string.end, other.begin, between))
          add(with_two_, rank);
      if (has_end && may_follow(token, rest.end, string.begin, between) && string.value.ends_with(rest.value))
        add(repeating_[string.value.substr(0, string.value.size() - rest.value.size())], rank);
    }
  }
}

}  // namespace syntagma
