// How many calls of a kind are under way within one another, also when an error ends them.
#pragma once

namespace syntagma {

struct Nesting {
  explicit Nesting(int& depth) : depth(depth) { ++depth; }
  ~Nesting() { --depth; }
  Nesting(const Nesting&) = delete;
  int& depth;
};

}  // namespace syntagma
