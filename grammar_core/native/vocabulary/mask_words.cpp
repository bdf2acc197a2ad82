#include "vocabulary/mask_words.hpp"

#include <cstring>
#include <utility>

namespace syntagma {
namespace {

uint64_t hash_of(const std::vector<uint32_t>& words) {
  uint64_t lanes[4] = {words.size(), 1, 2, 3};
  size_t i = 0;
  for (; i + 8 <= words.size(); i += 8) {
    uint64_t next[4];
    std::memcpy(next, words.data() + i, sizeof next);
    for (size_t lane = 0; lane < 4; ++lane) {
      lanes[lane] = (lanes[lane] ^ next[lane]) * 0x9E3779B97F4A7C15ull;
      lanes[lane] ^= lanes[lane] >> 32;
    }
  }
  for (; i < words.size(); ++i) lanes[0] = (lanes[0] ^ words[i]) * 0x9E3779B97F4A7C15ull;
  uint64_t h = 0;
  for (const uint64_t lane : lanes) h = (h ^ lane ^ lane >> 29) * 0xBF58476D1CE4E5B9ull;
  return h ^ h >> 32;
}

}  // namespace

MaskWords::MaskWords(std::vector<uint32_t> words) : words_(std::move(words)), hash_(hash_of(words_)) {}

}  // namespace syntagma
