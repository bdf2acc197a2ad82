// What walks of other grammars have found, and what ours leave to them.
#include <memory>
#include <utility>
#include <vector>

#include "mask/mask_store.hpp"

namespace syntagma {
namespace {

constexpr size_t kMostSharedOrigins = 64;
constexpr size_t kMostSharedPlaces = 4'000;

}  // namespace

// Empty for what is not shared. `kind` tells walks of one frame apart.
FrameRows::Key MaskStore::shared_key(Frame frame, int32_t exit_set, std::span<const int32_t> kind) {
  if (frame.macro == kNone || origins(exit_set).size() > kMostSharedOrigins) return {};
  const std::vector<int32_t>& own = automaton_.regular_frame(frame.macro);
  if (own.empty()) return {};
  FrameRows::Key key(kind.begin(), kind.end());
  key.push_back(static_cast<int32_t>(own.size()));
  add_frame(own, key);
  key.insert(key.end(), origins(exit_set).begin(), origins(exit_set).end());
  return key;
}

// Adds what tells a regular frame.
void MaskStore::add_frame(const std::vector<int32_t>& frame, FrameRows::Key& key) {
  key.insert(key.end(), frame.begin(), frame.end());
  if (frame[0] != MacroAutomaton::kWholeSymbol) return;
  const auto [number, added] = shape_numbers_.try_emplace(frame[1]);
  if (added) number->second = shared_->number_of(automaton_.symbol_shape(frame[1]));
  key[key.size() - frame.size() + 1] = number->second;
}

FrameRows::Key MaskStore::with_follow(FrameRows::Key key, int32_t reports) {
  key.push_back(-1);
  const ByteSet follow = automaton_.follow(reports);
  for (int byte = 0; byte < 256; ++byte)
    if (follow.contains(static_cast<uint8_t>(byte))) key.push_back(byte);
  return key;
}

// What another grammar found in such a frame, whatever follows it or before the same bytes; or null.
std::unique_ptr<WalkResult> MaskStore::find_shared(const FrameRows::Key& key, int32_t reports) {
  std::shared_ptr<const FrameWalk> known = shared_->find(key);
  const bool has_all = known != nullptr;
  if (!has_all) known = shared_->find(with_follow(key, reports));
  if (known == nullptr) return nullptr;
  auto result = std::make_unique<WalkResult>();
  result->row = keep(Row(known->row));
  std::vector<int32_t> leaving;
  for (const int32_t node : known->leaving)
    if (!has_all || walk_.may_continue(static_cast<uint32_t>(node), reports)) leaving.push_back(node);
  if (!leaving.empty()) result->exits.push_back({reports, exit_sets_.intern(leaving)});
  return result;
}

// `all` leaving places of the walk, if they are known, serve whatever follows the frame.
void MaskStore::share(const FrameRows::Key& key, int32_t reports, const WalkFindings* all,
                      const WalkResult& result) {
  auto walk = std::make_shared<FrameWalk>();
  walk->row = *result.row;
  if (all != nullptr && all->leaving.size() <= kMostSharedPlaces) {
    for (const LeavingPlace& place : all->leaving) walk->leaving.push_back(place.node);
    shared_->add(key, std::move(walk));
    return;
  }
  for (const Exit& exit : result.exits)
    walk->leaving.assign(origins(exit.exit_set).begin(), origins(exit.exit_set).end());
  shared_->add(with_follow(key, reports), std::move(walk));
}

// Null for an exit set that nobody has merged, unless `build`.
const MergedTrie* MaskStore::merged_trie(int32_t exit_set, bool build) {
  if (const auto found = merged_tries_.find(exit_set); found != merged_tries_.end())
    return found->second.get();
  FrameRows::Key key;
  key.reserve(origins(exit_set).size() + 1);
  key.push_back(-1);  // no walk has this kind
  key.insert(key.end(), origins(exit_set).begin(), origins(exit_set).end());
  std::shared_ptr<const FrameWalk> walk = shared_->find(key);
  if (walk == nullptr && !build) return nullptr;
  if (walk == nullptr) {
    auto built = std::make_shared<FrameWalk>();
    built->rests = std::make_shared<MergedTrie>(*vocabulary_, origins(exit_set));
    shared_->add(key, built);
    walk = std::move(built);
  }
  row_bytes_ += walk->rests->memory_bytes();
  return merged_tries_.emplace(exit_set, walk->rests).first->second.get();
}

}  // namespace syntagma
