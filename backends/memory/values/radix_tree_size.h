// How many nodes Redis's radix tree would need for a stream: what XINFO STREAM reports as
// radix-tree-nodes.
//
// The double keeps a stream's nodes in a plain sequence; the number of a tree that it does not have
// follows from the keys alone, for Redis merges chains of nodes whenever it can.
//
// Thread-safety: a pure function.
// Source: Redis 7.0 XINFO STREAM.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_RADIX_TREE_SIZE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_RADIX_TREE_SIZE_H_

#include <cstddef>
#include <span>

#include "core/store/stream_id.h"

namespace redouble::memory {

// The number of nodes of a radix tree with these ids as keys, 16 bytes each, most significant byte
// first. They are in ascending order, without repetition. O(ids).
size_t RadixTreeSize(std::span<const store::StreamId> ids);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_RADIX_TREE_SIZE_H_
