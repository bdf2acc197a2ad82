#include "vocabulary/mask_words.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace syntagma {
namespace {

constexpr size_t kLanes = 16;

// Of each of some lanes, which the compiler computes at once, and then of these.
uint64_t hash_of(const std::vector<uint32_t>& words) {
  std::array<uint32_t, kLanes> lanes;
  lanes.fill(0x811C9DC5u);
  const auto add = [&](size_t lane, uint32_t word) {
    lanes[lane] = (lanes[lane] ^ word) * 0x9E3779B1u;
    lanes[lane] ^= lanes[lane] >> 15;
  };
  size_t i = 0;
  for (; i + kLanes <= words.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) add(lane, words[i + lane]);
  for (; i < words.size(); ++i) add(i % kLanes, words[i]);
  uint64_t h = words.size();
  for (const uint32_t lane : lanes) {
    h = (h ^ lane) * 0xBF58476D1CE4E5B9ull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace

MaskWords::MaskWords(std::vector<uint32_t> words) : words_(std::move(words)), hash_(hash_of(words_)) {}

}  // namespace syntagma
