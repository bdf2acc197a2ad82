// A limit on the processor time of one call, checked where work is done.
#pragma once

#include <cstdint>
#include <string>

namespace syntagma {

// Seconds that this thread has computed, so that a busy machine refuses nothing.
double thread_seconds();

[[noreturn]] void throw_time_exceeded(const std::string& what, double seconds);

// While one lives, work on this thread that takes longer throws LimitExceeded. An inner one counts for
// itself.
class TimeLimit {
 public:
  // `what` says what takes too long, as the beginning of a sentence.
  TimeLimit(const char* what, double seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Counts pieces of work of about ten nanoseconds.
  static void tick(uint32_t pieces = 1) {
    if ((ticks_ += pieces) >= kTicksPerCheck) check();
  }

 private:
  static constexpr uint32_t kTicksPerCheck = 1 << 16;
  static void check();

  static constinit thread_local uint32_t ticks_;
  static constinit thread_local TimeLimit* current_;
  const char* what_;
  double seconds_;
  double end_;
  TimeLimit* outer_;
};

}  // namespace syntagma
