// Where in the trie two bytes of ASCII follow each other that are no control characters.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace syntagma {

class Vocabulary;
class BytePairs {
 public:
  static constexpr int kFirst = 0x20, kLast = 0x7F;  // of the bytes that are looked at
  static constexpr int kHeights = 7;                 // classes of them, by their logarithms
  // Of the trie, with what is to be known of many at once.
  struct Node {
    uint32_t node;
    uint16_t depth;
    uint8_t height;
  };

  explicit BytePairs(const Vocabulary& vocabulary);

  static int height_class(int height) {
    return std::min(static_cast<int>(std::bit_width(static_cast<unsigned>(height))), kHeights - 1);
  }
  // Nodes of a class of heights whose byte is `second` and whose parent's is `first`, in preorder.
  std::span<const Node> nodes(uint8_t first, uint8_t second, int height_class) const {
    const size_t list = number(first, second, height_class);
    return {nodes_.data() + begin_[list], nodes_.data() + begin_[list + 1]};
  }
  size_t memory_bytes() const {
    return nodes_.capacity() * sizeof(Node) + begin_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr size_t kBytes = kLast - kFirst + 1;
  static constexpr bool is_looked_at(uint8_t byte) { return byte >= kFirst && byte <= kLast; }
  static constexpr size_t number(uint8_t first, uint8_t second, int height_class) {
    return ((first - kFirst) * kBytes + (second - kFirst)) * kHeights + height_class;
  }

  std::vector<uint32_t> begin_;
  std::vector<Node> nodes_;
};

}  // namespace syntagma
