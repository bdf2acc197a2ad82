// What a stepper does where keys of a list begin and end that are to differ.
#include "parser/stepper.hpp"
#include "vocabulary/json_string.hpp"

namespace syntagma {

// Whether the next byte is a quote that is not escaped.
bool Stepper::is_at_quote() const {
  return ends_with_quote(std::string_view(*text_).substr(0, static_cast<size_t>(clock_.bytes) + 1));
}

// The number of the string whose last quote has just been read.
int32_t Stepper::last_key() {
  const std::string_view text = std::string_view(*text_).substr(0, static_cast<size_t>(clock_.bytes));
  const size_t begin = last_quote(text.substr(0, text.size() - 1));
  return begin == std::string_view::npos ? KeySets::kNoString
                                         : arena_.key_sets().key_of(text.substr(begin), longest_new_key_);
}

// The parents of a member that ends with its key, in whose lists the key is new; kNone if there are none.
int32_t Stepper::with_last_key(int32_t parents) {
  const int32_t key = last_key();
  return key == KeySets::kNoString ? parents : arena_.with_key(parents, key, longest_new_key_ > 0);
}

// Keys begin here or end: then they come into their lists, and where they came before, the stacks are no
// more.
void Stepper::read_quote() {
  int32_t key = kUnknown;
  std::erase_if(out_->items, [&](Item& item) {
    const uint8_t keys = arena_.keys(item.parents);
    if ((keys & (StackArena::kBeforeKey | StackArena::kWithinKey)) == 0) return false;
    if (key == kUnknown) key = (keys & StackArena::kWithinKey) != 0 ? last_key() : kUnknown;
    item.parents = arena_.after_quote(item.parents, key, longest_new_key_ > 0);
    return item.parents == kNone;
  });
  reindex();
}

}  // namespace syntagma
