#include "mask/frame_rows.hpp"

#include <utility>

namespace syntagma {

std::shared_ptr<const FrameWalk> FrameRows::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  return known(key);
}

int32_t FrameRows::number_of(const Key& automaton) {
  Key key{-2};  // no walk has this kind
  key.insert(key.end(), automaton.begin(), automaton.end());
  const std::lock_guard lock(mutex_);
  if (const auto found = known(key)) return found->number;
  auto walk = std::make_shared<FrameWalk>();
  walk->number = numbers_++;
  insert(key, walk);
  return walk->number;
}

std::shared_ptr<const FrameWalk> FrameRows::known(const Key& key) {
  if (const auto found = recent_.find(key); found != recent_.end()) return found->second;
  const auto found = older_.find(key);
  if (found == older_.end()) return nullptr;
  std::shared_ptr<const FrameWalk> walk = found->second;
  insert(key, walk);
  return walk;
}

void FrameRows::add(const Key& key, std::shared_ptr<const FrameWalk> walk) {
  const std::lock_guard lock(mutex_);
  insert(key, std::move(walk));
}

void FrameRows::insert(const Key& key, std::shared_ptr<const FrameWalk> walk) {
  const size_t bytes = walk->memory_bytes() + key.size() * sizeof(int32_t) + 64;
  if (2 * bytes > limit_bytes_) return;
  if (2 * (recent_bytes_ + bytes) > limit_bytes_) {
    older_ = std::exchange(recent_, {});
    older_bytes_ = std::exchange(recent_bytes_, 0);
  }
  if (recent_.emplace(key, std::move(walk)).second) recent_bytes_ += bytes;
}

}  // namespace syntagma
