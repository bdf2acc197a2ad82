// Bytes in groups, and the lead bytes of UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "automaton/byte_set.hpp"

namespace syntagma {

// Sets of bytes coarse enough for one word: every group of ASCII lies in a handful of ranges. Lead bytes with
// characters that classes single out, such as spaces and ends of lines, are groups of their own; those that
// lead out of the basic plane or to private use are one group, all others are another, and so are all bytes
// that continue a character. `kBrokenUtf8` marks text that is not whole UTF-8.
using GroupSet = uint64_t;
constexpr size_t kGroupCount = 64;
constexpr uint8_t kSingleLeads[] = {0xC2, 0xE1, 0xE2, 0xE3, 0xEF};
constexpr int kFirstLeadGroup = 50;  // of the first of these
constexpr int kOtherLeadsGroup = kFirstLeadGroup + static_cast<int>(std::size(kSingleLeads));
constexpr int kRareLeadsGroup = kOtherLeadsGroup + 1, kLastLeadGroup = kRareLeadsGroup;
constexpr int kContinuationGroup = 62;
constexpr GroupSet kBrokenUtf8 = GroupSet{1} << 63;
int group_of(uint8_t byte);
// The groups that some bytes are of.
GroupSet groups_of(const ByteSet& bytes);

// Well-formed characters by lead byte (Unicode Standard, table 3-7): after the lead, the second byte's range,
// and the number of bytes that continue the character.
struct LeadRange {
  int first, last, low, high, rest;
};
constexpr LeadRange kLeads[] = {{0xC2, 0xDF, 0x80, 0xBF, 1}, {0xE0, 0xE0, 0xA0, 0xBF, 2},
                                {0xE1, 0xEC, 0x80, 0xBF, 2}, {0xED, 0xED, 0x80, 0x9F, 2},
                                {0xEE, 0xEF, 0x80, 0xBF, 2}, {0xF0, 0xF0, 0x90, 0xBF, 3},
                                {0xF1, 0xF3, 0x80, 0xBF, 3}, {0xF4, 0xF4, 0x80, 0x8F, 3}};

}  // namespace syntagma
