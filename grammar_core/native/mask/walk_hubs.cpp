// Hubs: what most of the vocabulary does in a search for some words is known without a step through it.
#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "mask/walk_automaton.hpp"
#include "vocabulary/byte_pairs.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostNear = 48;  // states of a hub and around it
constexpr size_t kMostExits = 400;

}  // namespace

const Hub* WalkAutomaton::hub(int32_t state, size_t kind) {
  const uint64_t key = static_cast<uint64_t>(state) * kPlainTexts + kind;
  auto found = hubs_.find(key);
  if (found == hubs_.end()) {
    found = hubs_.emplace(key, find_hub(state, texts_[kind])).first;
    hub_bytes_ += 64 + (found->second != nullptr ? found->second->exits.size() * sizeof(Hub::Exit) : 0);
  }
  return found->second.get();
}

// Whether most characters lead from a state back to it.
bool WalkAutomaton::leads_back(int32_t state) {
  constexpr std::string_view kSample = "aeioqxzEZ0 -";
  const auto comes_back = [&](char c) { return next(state, static_cast<uint8_t>(c)) == state; };
  return 2 * std::count_if(kSample.begin(), kSample.end(), comes_back) >= std::ssize(kSample);
}

std::unique_ptr<const Hub> WalkAutomaton::find_hub(int32_t state, const PlainText& plain) {
  const auto is_plain = [&](int byte) { return plain.first_bytes.contains(static_cast<uint8_t>(byte)); };
  if (!live_bytes(state).contains_all(plain.first_bytes) || !leads_back(state)) return nullptr;
  // That, other such states next to it, and all that are one character away from these.
  std::vector<int32_t> centers{state}, near{state};
  const auto place = [&](int32_t target) {
    return static_cast<size_t>(std::find(near.begin(), near.end(), target) - near.begin());
  };
  for (size_t i = 0; i < centers.size(); ++i)
    for (int byte = BytePairs::kFirst; byte <= BytePairs::kLast; ++byte) {
      if (!is_plain(byte)) continue;
      const int32_t target = next(centers[i], static_cast<uint8_t>(byte));
      if (target == kNone) return nullptr;
      if (std::find(centers.begin(), centers.end(), target) != centers.end()) continue;
      const bool is_new = place(target) == near.size();
      if (is_new) near.push_back(target);
      if (is_new && leads_back(target)) centers.push_back(target);
      if (near.size() > kMostNear) return nullptr;
    }
  const auto is_center = [&](int32_t target) {
    return std::find(centers.begin(), centers.end(), target) != centers.end();
  };
  // All characters outside ASCII must lead back.
  GroupSet outside = 0;
  for (int group = kFirstLeadGroup; group <= kLastLeadGroup; ++group) outside |= GroupSet{1} << group;
  for (const int32_t from : near)
    if (!is_center(only_target(from, plain.groups & outside))) return nullptr;

  std::vector<ByteSet> entering(near.size());  // bytes that lead to each of them from others of them
  for (const int32_t from : near)
    for (int byte = BytePairs::kFirst; byte <= BytePairs::kLast; ++byte) {
      if (!is_plain(byte)) continue;
      const int32_t target = next(from, static_cast<uint8_t>(byte));
      const size_t at = target == kNone ? near.size() : place(target);
      if (at < near.size()) entering[at].add(static_cast<uint8_t>(byte));
    }
  auto hub = std::make_unique<Hub>();
  for (size_t i = 1; i < near.size(); ++i) {
    if (is_center(near[i])) continue;
    for (int second = BytePairs::kFirst; second <= BytePairs::kLast; ++second) {
      if (!is_plain(second)) continue;
      const int32_t target = next(near[i], static_cast<uint8_t>(second));
      if (target != kNone && place(target) < near.size()) continue;
      for (int first = entering[i].next(-1); first < 256; first = entering[i].next(first))
        hub->exits.push_back({static_cast<uint8_t>(first), static_cast<uint8_t>(second), target});
      if (hub->exits.size() > kMostExits) return nullptr;
    }
  }
  std::sort(hub->exits.begin(), hub->exits.end(), [](const Hub::Exit& a, const Hub::Exit& b) {
    return std::tie(a.first, a.second, a.target) < std::tie(b.first, b.second, b.target);
  });
  return hub;
}

}  // namespace syntagma
