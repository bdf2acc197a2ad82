// A grammar ready to match over a vocabulary: immutable to its users, filled in lazily, shared by matchers
// and threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "automaton/errors.hpp"
#include "automaton/macro_automaton.hpp"
#include "mask/mask_store.hpp"
#include "vocabulary/vocabulary.hpp"

namespace syntagma {

struct CompiledGrammarLimits {
  size_t mask_bytes;    // of one mask store
  double step_seconds;  // processor time of one mask, and of one accepted token or text
};

class CompiledGrammar {
 public:
  // Throws InvalidGrammar for a token id out of the vocabulary's range.
  CompiledGrammar(GrammarSource source, std::shared_ptr<const Vocabulary> vocabulary,
                  std::shared_ptr<FrameRows> shared, CompiledGrammarLimits limits)
      : automaton_(Nfa(with_resolved_tokens(std::move(source), *vocabulary))),
        vocabulary_(std::move(vocabulary)),
        shared_(std::move(shared)),
        limits_(limits),
        masks_(std::make_shared<MaskStore>(automaton_, vocabulary_, shared_)) {}

  MacroAutomaton& automaton() { return automaton_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }

  // Whether any of the grammar's token sets has the token.
  bool matches_token_sets(int32_t id) const {
    for (const TokenSet& set : automaton_.nfa().token_sets())
      if (set.contains(id)) return true;
    return false;
  }

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
    if (masks_->memory_bytes() <= limits_.mask_bytes) return;
    masks_ = std::make_shared<MaskStore>(automaton_, vocabulary_, shared_);
    generation_.fetch_add(1, std::memory_order_release);
  }
  size_t mask_bytes_limit() const { return limits_.mask_bytes; }
  double step_seconds() const { return limits_.step_seconds; }
  size_t memory_bytes() const { return automaton_.memory_bytes() + masks()->memory_bytes(); }

 private:
  // What a negated set leaves over is text and control tokens, but neither stop tokens nor ids without a
  // token.
  static GrammarSource with_resolved_tokens(GrammarSource source, const Vocabulary& vocabulary) {
    for (TokenSet& set : source.token_sets) {
      if (!set.ids.empty() && set.ids.back() >= vocabulary.size())
        throw InvalidGrammar("Token id " + std::to_string(set.ids.back()) +
                             " is outside of the vocabulary of " + std::to_string(vocabulary.size()) +
                             " tokens");
      if (!set.negated) continue;
      for (int32_t id = 0; id < vocabulary.size(); ++id)
        if (!vocabulary.is_free_token(id)) set.ids.push_back(id);
      std::sort(set.ids.begin(), set.ids.end());
    }
    return source;
  }

  MacroAutomaton automaton_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<FrameRows> shared_;
  CompiledGrammarLimits limits_;
  mutable std::mutex mutex_;
  std::shared_ptr<MaskStore> masks_;
  std::atomic<uint32_t> generation_{0};
};

}  // namespace syntagma
