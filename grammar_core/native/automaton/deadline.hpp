// When all the work of one thread for one compile has to end, be it done by Python or by the core.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>

namespace syntagma {

// The work was given up because nobody waits for it.
class Cancelled : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A flag that any thread may set, to end work that goes on in another one.
class Cancellation {
 public:
  void cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_cancelled_{false};
};

// While one has begun on this thread, work on it that takes longer throws LimitExceeded, and Cancelled once
// it is cancelled. It keeps throwing, so whoever catches the error is not done. The innermost one counts.
class Deadline {
 public:
  // Seconds of the thread's processor time; the cancellation may be null.
  Deadline(double seconds, std::shared_ptr<const Cancellation> cancellation);

  void begin();
  void end();

  // Counts a piece of work of about a microsecond, and looks at the clock where enough has come together.
  static void tick() {
    if (current_ != nullptr && ++ticks_ >= kTicksPerCheck) check();
  }
  // Looks at the clock now.
  static void check();

 private:
  static constexpr uint32_t kTicksPerCheck = 64;

  static constinit thread_local Deadline* current_;
  static constinit thread_local uint32_t ticks_;
  double seconds_;
  double end_ = 0;
  std::shared_ptr<const Cancellation> cancellation_;
  Deadline* outer_ = nullptr;
};

}  // namespace syntagma
