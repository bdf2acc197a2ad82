#include "automaton/time_limit.hpp"

#include <cmath>
#include <ctime>
#include <string>

#include "automaton/deadline.hpp"
#include "automaton/errors.hpp"

namespace syntagma {

double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void throw_time_exceeded(const std::string& what, double seconds) {
  throw LimitExceeded(
      "time", static_cast<int64_t>(std::ceil(seconds)),
      what + " takes more than " + std::to_string(seconds).substr(0, 4) + " seconds of processor time");
}

constinit thread_local uint32_t TimeLimit::ticks_ = 0;
constinit thread_local TimeLimit* TimeLimit::current_ = nullptr;

TimeLimit::TimeLimit(const char* what, double seconds)
    : what_(what), seconds_(seconds), end_(-1), outer_(current_) {
  current_ = this;
  ticks_ = 0;
}

TimeLimit::~TimeLimit() { current_ = outer_; }

void TimeLimit::check() {
  ticks_ = 0;
  Deadline::check();
  if (current_ == nullptr) return;
  const double now = thread_seconds();
  if (current_->end_ < 0)
    current_->end_ = now + current_->seconds_;  // the clock is read only where work adds up
  if (now > current_->end_) throw_time_exceeded(current_->what_, current_->seconds_);
}

}  // namespace syntagma
