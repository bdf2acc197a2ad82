#include "automaton/deadline.hpp"

#include <cmath>
#include <string>
#include <utility>

#include "automaton/errors.hpp"
#include "automaton/time_limit.hpp"

namespace syntagma {

constinit thread_local Deadline* Deadline::current_ = nullptr;
constinit thread_local uint32_t Deadline::ticks_ = 0;

Deadline::Deadline(double seconds, std::shared_ptr<const Cancellation> cancellation)
    : seconds_(seconds), cancellation_(std::move(cancellation)) {}

void Deadline::begin() {
  end_ = thread_seconds() + seconds_;
  outer_ = current_;
  current_ = this;
  ticks_ = 0;
}

void Deadline::end() { current_ = outer_; }

void Deadline::check() {
  ticks_ = 0;
  if (current_ == nullptr) return;
  if (current_->cancellation_ && current_->cancellation_->is_cancelled())
    throw Cancelled("The compile was cancelled");
  if (thread_seconds() > current_->end_) throw_time_exceeded("Compiling the grammar", current_->seconds_);
}

}  // namespace syntagma
