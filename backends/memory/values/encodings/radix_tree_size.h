// RadixTreeSize: the number of nodes that Redis's radix tree would need for a stream, which XINFO
// STREAM reports as radix-tree-nodes.
//
// This engine keeps the nodes of a stream in a sequence and has no such tree. The number follows
// from the keys alone, because Redis merges chains of nodes whenever it can.
//
//   RadixTreeSize({});        // 1: the root
//
// Thread-safety: a pure function.
// Source: Redis 7.0 XINFO STREAM.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RADIX_TREE_SIZE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RADIX_TREE_SIZE_H_

#include <cstddef>
#include <span>

#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::memory {

// The number of nodes of a radix tree with these ids as keys, 16 bytes each, most significant byte
// first. `ids` must be in ascending order without duplicates. O(ids).
size_t RadixTreeSize(std::span<const store::StreamId> ids);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_RADIX_TREE_SIZE_H_
