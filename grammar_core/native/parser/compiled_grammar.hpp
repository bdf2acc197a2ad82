// A grammar ready to match over a vocabulary: immutable to its users, filled in lazily, shared by matchers
// and threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "automaton/macro_automaton.hpp"
#include "mask/mask_store.hpp"
#include "vocabulary/vocabulary.hpp"

namespace syntagma {

class CompiledGrammar {
 public:
  CompiledGrammar(const GrammarSource& source, std::shared_ptr<const Vocabulary> vocabulary,
                  size_t mask_bytes_limit)
      : automaton_(Nfa(source)),
        vocabulary_(std::move(vocabulary)),
        mask_bytes_limit_(mask_bytes_limit),
        masks_(std::make_shared<MaskStore>(automaton_, vocabulary_)) {}

  MacroAutomaton& automaton() { return automaton_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Changes when the mask store was replaced.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }
  std::shared_ptr<MaskStore> masks() const {
    const std::lock_guard lock(mutex_);
    return masks_;
  }
  // Starts an empty store if the current one has outgrown its limit; matchers keep the old one until they
  // notice.
  void trim_masks() {
    const std::lock_guard lock(mutex_);
    if (masks_->memory_bytes() <= mask_bytes_limit_) return;
    masks_ = std::make_shared<MaskStore>(automaton_, vocabulary_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  size_t mask_bytes_limit() const { return mask_bytes_limit_; }
  size_t memory_bytes() const { return automaton_.memory_bytes() + masks()->memory_bytes(); }

 private:
  MacroAutomaton automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  size_t mask_bytes_limit_;
  mutable std::mutex mutex_;
  std::shared_ptr<MaskStore> masks_;
  std::atomic<uint32_t> generation_{0};
};

}  // namespace syntagma
