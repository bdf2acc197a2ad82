#include "automaton/utf8_sequences.hpp"

namespace syntagma {
namespace {

constexpr uint32_t kLastOfLength[] = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};

int encode(uint32_t code_point, uint8_t out[4]) {
  if (code_point <= 0x7F) {
    out[0] = static_cast<uint8_t>(code_point);
    return 1;
  }
  const int length = code_point <= 0x7FF ? 2 : code_point <= 0xFFFF ? 3 : 4;
  constexpr uint8_t kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (int i = length - 1; i > 0; --i, code_point >>= 6)
    out[i] = static_cast<uint8_t>(0x80 | (code_point & 0x3F));
  out[0] = static_cast<uint8_t>(kLead[length] | code_point);
  return length;
}

void append_sequence(CodePointRange range, std::vector<Utf8Sequence>& out) {
  uint8_t low[4], high[4];
  Utf8Sequence sequence{};
  sequence.length = encode(range.low, low);
  encode(range.high, high);
  for (int i = 0; i < sequence.length; ++i) sequence.bytes[i] = {low[i], high[i]};
  out.push_back(sequence);
}

}  // namespace

void append_utf8_sequences(CodePointRange range, std::vector<Utf8Sequence>& out) {
  std::vector<CodePointRange> pending{range};
  while (!pending.empty()) {
    CodePointRange r = pending.back();
    pending.pop_back();
    if (r.low > r.high) continue;
    if (r.low <= 0xDFFF && r.high >= 0xD800) {  // cut the surrogates out
      if (r.high > 0xDFFF) pending.push_back({0xE000, r.high});
      if (r.low < 0xD800) pending.push_back({r.low, 0xD7FF});
      continue;
    }
    bool split = false;
    for (const uint32_t last : kLastOfLength)
      if (r.low <= last && last < r.high) {  // both ends must have the same length
        pending.push_back({last + 1, r.high});
        pending.push_back({r.low, last});
        split = true;
        break;
      }
    if (split) continue;
    for (int i = 1; i < 4 && r.high > 0x7F && !split; ++i) {  // trailing bytes must be full or shared
      const uint32_t mask = (uint32_t{1} << (6 * i)) - 1;
      if ((r.low & ~mask) == (r.high & ~mask)) break;
      if ((r.low & mask) != 0) {
        pending.push_back({(r.low | mask) + 1, r.high});
        pending.push_back({r.low, r.low | mask});
        split = true;
      } else if ((r.high & mask) != mask) {
        pending.push_back({r.high & ~mask, r.high});
        pending.push_back({r.low, (r.high & ~mask) - 1});
        split = true;
      }
    }
    if (!split) append_sequence(r, out);
  }
}

}  // namespace syntagma
