// Strongly connected components (R. Tarjan, "Depth-first search and linear graph algorithms", 1972), without
// recursion.
#pragma once

#include <cstdint>
#include <vector>

#include "automaton/adjacency.hpp"

namespace syntagma {

struct Components {
  std::vector<int32_t> of;      // component by vertex; a component's successors have smaller numbers
  std::vector<uint8_t> cyclic;  // by component: has an edge inside itself
};

Components find_components(const Adjacency& successors);

}  // namespace syntagma
