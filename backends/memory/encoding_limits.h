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
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENCODING_LIMITS_H_
