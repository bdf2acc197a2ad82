#include "vocabulary/byte_groups.hpp"

#include <array>

namespace syntagma {
namespace {

constexpr std::array<uint8_t, 256> make_groups() {
  std::array<uint8_t, 256> groups{};
  int next = 0;
  const auto assign = [&](int low, int high) {
    for (int byte = low; byte <= high; ++byte) groups[byte] = static_cast<uint8_t>(next);
    ++next;
  };
  assign(0x00, 0x08);
  assign('\t', '\t');
  assign('\n', '\n');
  assign(0x0B, 0x0C);
  assign('\r', '\r');
  assign(0x0E, 0x1F);
  for (int byte = 0x20; byte < '0'; ++byte) assign(byte, byte);
  assign('0', '0');
  assign('1', '9');
  for (int byte = ':'; byte < 'A'; ++byte) assign(byte, byte);
  assign('A', 'F');
  assign('G', 'Z');
  for (int byte = '['; byte < 'a'; ++byte) assign(byte, byte);
  assign('a', 'f');
  assign('g', 'z');
  for (int byte = '{'; byte <= 0x7F; ++byte) assign(byte, byte);
  for (int byte = 0x80; byte < 0xC0; ++byte) groups[byte] = kContinuationGroup;
  for (int byte = 0xC0; byte < 0xF0; ++byte) groups[byte] = kOtherLeadsGroup;
  for (int byte = 0xF0; byte < 256; ++byte) groups[byte] = kRareLeadsGroup;
  groups[0xEE] = kRareLeadsGroup;  // private use
  for (size_t i = 0; i < std::size(kSingleLeads); ++i)
    groups[kSingleLeads[i]] = static_cast<uint8_t>(kFirstLeadGroup + i);
  return groups;
}

constexpr std::array<uint8_t, 256> kGroups = make_groups();  // before any object is made

}  // namespace

int group_of(uint8_t byte) { return kGroups[byte]; }

GroupSet groups_of(const ByteSet& bytes) {
  GroupSet groups = 0;
  for (int byte = bytes.next(-1); byte < 256; byte = bytes.next(byte))
    groups |= GroupSet{1} << group_of(static_cast<uint8_t>(byte));
  return groups;
}

}  // namespace syntagma
