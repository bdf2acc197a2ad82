// Errors of the core that the bindings turn into Python's GrammarError and GrammarLimitError.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace syntagma {

// The grammar has no meaning: for example, its root matches no finite text.
class InvalidGrammar : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A limit on size, memory or time was reached; `limit` is its name, `value` what it allows.
class LimitExceeded : public std::runtime_error {
 public:
  LimitExceeded(std::string limit, int64_t value, const std::string& message)
      : std::runtime_error(message), limit(std::move(limit)), value(value) {}
  std::string limit;
  int64_t value;
};

}  // namespace syntagma
