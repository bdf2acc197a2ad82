// Characters outside ASCII at the beginning of tokens. They take up a large part of the trie, and most states
// do the same with all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "automaton/byte_set.hpp"
#include "vocabulary/byte_groups.hpp"
#include "vocabulary/mask_words.hpp"

namespace syntagma {

class Vocabulary;
class FirstCharacters {
 public:
  // Longer tokens behind a character, which ends at `node`.
  struct Longer {
    GroupSet groups_below;
    uint32_t node;
    uint32_t first_rank, end_rank;
  };

  explicit FirstCharacters(const Vocabulary& vocabulary);

  // Lead bytes of a group that tokens begin with.
  const ByteSet& leads(int group) const { return by_group_[group].leads; }
  // Tokens that are one character of a group, or the beginning of one; null if the group is hardly worth it.
  const std::shared_ptr<const MaskWords>& tokens(int group) const { return by_group_[group].tokens; }
  std::span<const Longer> longer(uint8_t lead) const {
    const ByLead& l = by_lead_[lead - kFirstByte];
    return {longer_.data() + l.first_longer, longer_.data() + l.end_longer};
  }
  // Nodes behind the beginning of a character whose byte does not go on with it.
  std::span<const uint32_t> broken(uint8_t lead) const {
    const ByLead& l = by_lead_[lead - kFirstByte];
    return {broken_.data() + l.first_broken, broken_.data() + l.end_broken};
  }
  size_t memory_bytes() const;

 private:
  static constexpr int kFirstByte = 0x80;
  struct ByGroup {
    ByteSet leads;
    std::shared_ptr<const MaskWords> tokens;
  };
  struct ByLead {
    uint32_t first_longer = 0, end_longer = 0, first_broken = 0, end_broken = 0;
  };
  void add_lead(const Vocabulary& vocabulary, const LeadRange& range, uint32_t lead_node,
                std::vector<uint32_t>& words);

  std::array<ByGroup, kGroupCount> by_group_;
  std::array<ByLead, 256 - kFirstByte> by_lead_;
  std::vector<Longer> longer_;
  std::vector<uint32_t> broken_;
};

}  // namespace syntagma
