#include "vocabulary/json_string.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kFirstSurrogate = 0xD800, kFirstLow = 0xDC00, kLastSurrogate = 0xDFFF;
constexpr uint8_t kFirstPrintable = 0x20;

void append_utf8(uint32_t code_point, std::string& text) {
  const auto continuation = [&](int shift) {
    text.push_back(static_cast<char>(0x80 | (code_point >> shift & 0x3F)));
  };
  if (code_point < 0x80) {
    text.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    text.push_back(static_cast<char>(0xC0 | code_point >> 6));
    continuation(0);
  } else if (code_point < 0x10000) {
    text.push_back(static_cast<char>(0xE0 | code_point >> 12));
    continuation(6);
    continuation(0);
  } else {
    text.push_back(static_cast<char>(0xF0 | code_point >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

int hex_value(uint8_t byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const int letter = byte | 0x20;
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// What a letter behind a backslash stands for; 0 if it stands for nothing.
char escaped_character(uint8_t letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/':
      return static_cast<char>(letter);
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

size_t trailing_backslashes(std::string_view text) {
  const size_t last = text.find_last_not_of('\\');
  return last == std::string_view::npos ? text.size() : text.size() - last - 1;
}

}  // namespace

bool JsonStringReader::read(uint8_t byte) {
  if (has_ended_ || byte < kFirstPrintable) return false;
  if (digits_left_ > 0) return read_digit(byte);
  if (is_escaped_) return read_escaped(byte);
  if (byte == '\\') {
    is_escaped_ = true;
    return true;
  }
  end_surrogate();
  if (byte == '"')
    has_ended_ = true;
  else
    value_.push_back(static_cast<char>(byte));
  return true;
}

bool JsonStringReader::read_escaped(uint8_t byte) {
  is_escaped_ = false;
  if (byte == 'u') {
    digits_left_ = 4;
    unit_ = 0;
    return true;
  }
  end_surrogate();
  const char character = escaped_character(byte);
  if (character == 0) return false;
  value_.push_back(character);
  return true;
}

bool JsonStringReader::read_digit(uint8_t byte) {
  const int digit = hex_value(byte);
  if (digit < 0) return false;
  unit_ = unit_ << 4 | static_cast<uint32_t>(digit);
  if (--digits_left_ > 0) return true;
  if (surrogate_ != 0 && unit_ >= kFirstLow && unit_ <= kLastSurrogate) {
    append_utf8(0x10000 + ((surrogate_ - kFirstSurrogate) << 10) + (unit_ - kFirstLow), value_);
    surrogate_ = 0;
    return true;
  }
  end_surrogate();
  if (unit_ >= kFirstSurrogate && unit_ < kFirstLow)
    surrogate_ = unit_;
  else
    append_utf8(unit_, value_);
  return true;
}

void JsonStringReader::end_surrogate() {
  if (surrogate_ != 0) append_utf8(surrogate_, value_);
  surrogate_ = 0;
}

bool ends_with_quote(std::string_view text) {
  return text.ends_with('"') && trailing_backslashes(text.substr(0, text.size() - 1)) % 2 == 0;
}

size_t last_quote(std::string_view text) {
  size_t quote = text.rfind('"');
  while (quote != std::string_view::npos && !ends_with_quote(text.substr(0, quote + 1)))
    quote = text.substr(0, quote).rfind('"');
  return quote;
}

std::optional<std::string> json_string_value(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return std::nullopt;
  JsonStringReader reader;
  for (const char c : text.substr(1))
    if (!reader.read(static_cast<uint8_t>(c))) return std::nullopt;
  if (!reader.has_ended()) return std::nullopt;
  return reader.value();
}

}  // namespace syntagma
