#include "automaton/time_limit.hpp"

#include <cmath>
#include <ctime>
#include <string>

#include "automaton/errors.hpp"

namespace syntagma {
namespace {

// Seconds that this thread has computed, so that a busy machine refuses nothing.
double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

thread_local uint32_t TimeLimit::ticks_ = 0;
thread_local TimeLimit* TimeLimit::current_ = nullptr;

TimeLimit::TimeLimit(const char* what, double seconds)
    : what_(what), seconds_(seconds), end_(-1), outer_(current_) {
  current_ = this;
  ticks_ = 0;
}

TimeLimit::~TimeLimit() { current_ = outer_; }

void TimeLimit::check() {
  ticks_ = 0;
  if (current_ == nullptr) return;
  const double now = thread_seconds();
  if (current_->end_ < 0)
    current_->end_ = now + current_->seconds_;  // the clock is read only where work adds up
  if (now > current_->end_)
    throw LimitExceeded("time", static_cast<int64_t>(std::ceil(current_->seconds_)),
                        std::string(current_->what_) + " takes more than " +
                            std::to_string(current_->seconds_).substr(0, 4) + " seconds of processor time");
}

}  // namespace syntagma
