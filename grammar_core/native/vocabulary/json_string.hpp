// The value of a JSON string, read byte by byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace syntagma {

// Reads a string from behind its opening quote. Bytes outside ASCII are taken as they are; a surrogate that
// is alone becomes its three bytes, so that equal strings always have equal values.
class JsonStringReader {
 public:
  // False if the string has ended before, or if the byte cannot stand there.
  bool read(uint8_t byte);
  bool has_ended() const { return has_ended_; }
  // Whether what has been read of a character, or of the first half of a pair, is not in the value yet.
  bool is_within_escape() const { return is_escaped_ || digits_left_ > 0 || surrogate_ != 0; }
  // The value of the characters that are whole.
  const std::string& value() const { return value_; }

 private:
  bool read_escaped(uint8_t byte);
  bool read_digit(uint8_t byte);
  void end_surrogate();

  std::string value_;
  bool has_ended_ = false, is_escaped_ = false;
  int digits_left_ = 0;
  uint32_t unit_ = 0, surrogate_ = 0;  // `surrogate_`: a high one whose low one may follow, or 0
};

// Whether a text ends with a quote that is not escaped.
bool ends_with_quote(std::string_view text);
// Where the last quote of a text is that is not escaped; npos if there is none.
size_t last_quote(std::string_view text);
// The value of a whole string with its quotes; none for any other text.
std::optional<std::string> json_string_value(std::string_view text);

}  // namespace syntagma
