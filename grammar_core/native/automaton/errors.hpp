// Errors of the core that the bindings turn into Python's GrammarError and GrammarLimitError.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace syntagma {

// The grammar has no meaning: for example, its root matches no finite text.
class InvalidGrammar : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A limit on size, memory or time was reached; `limit` is its name.
class LimitExceeded : public std::runtime_error {
 public:
  LimitExceeded(std::string limit, const std::string& message)
      : std::runtime_error(message), limit(std::move(limit)) {}
  std::string limit;
};

}  // namespace syntagma
