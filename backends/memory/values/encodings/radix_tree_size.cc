#include "redouble/backends/memory/values/encodings/radix_tree_size.h"

#include <cstdint>

namespace redouble::inline v0_1::memory {
namespace {

using store::StreamId;

constexpr size_t kKeyBytes = 16;

uint8_t ByteAt(const StreamId& id, size_t index) {
  const uint64_t part = index < 8 ? id.ms : id.seq;
  return static_cast<uint8_t>(part >> (8 * (7 - index % 8)));
}

// The number of nodes below a node that has consumed `depth` bytes, in which all keys agree.
size_t SizeBelow(std::span<const StreamId> ids, size_t depth) {
  size_t common = depth;
  while (common < kKeyBytes && ByteAt(ids.front(), common) == ByteAt(ids.back(), common)) ++common;
  // A run of bytes without a branch is one node.
  const size_t run = common > depth ? 1 : 0;
  if (common == kKeyBytes) return run + 1;
  size_t nodes = run + 1;
  for (size_t first = 0; first < ids.size();) {
    size_t end = first + 1;
    while (end < ids.size() && ByteAt(ids[end], common) == ByteAt(ids[first], common)) ++end;
    nodes += SizeBelow(ids.subspan(first, end - first), common + 1);
    first = end;
  }
  return nodes;
}

}  // namespace

size_t RadixTreeSize(std::span<const StreamId> ids) { return ids.empty() ? 1 : SizeBelow(ids, 0); }

}  // namespace redouble::inline v0_1::memory
