// When a compact encoding gives way to a hash table: Redis's configuration, under its names.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENCODING_LIMITS_H_
#define REDOUBLE_BACKENDS_MEMORY_ENCODING_LIMITS_H_

#include <cstddef>

namespace redouble::memory {

struct EncodingLimits {
  size_t hash_max_listpack_entries = 512;
  size_t hash_max_listpack_value = 64;
  size_t set_max_intset_entries = 512;
  size_t zset_max_listpack_entries = 128;
  size_t zset_max_listpack_value = 64;
  size_t stream_node_max_bytes = 4096;
  size_t stream_node_max_entries = 100;
  size_t hll_sparse_max_bytes = 3000;
  // Of a list's node: from -1 to -5 for 4, 8, 16, 32 and 64 KiB, otherwise elements. A list keeps
  // the one that it began with.
  int list_max_listpack_size = -2;
  // How many nodes at each end of a list stay as they are while those between are compressed. Told
  // as it was set: no reply depends on it, and nothing is compressed here.
  int list_compress_depth = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENCODING_LIMITS_H_
