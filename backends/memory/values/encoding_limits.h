// EncodingLimits: the sizes at which a compact encoding is converted to a table, and how large the
// nodes of lists and streams may grow.
//
// The members are Redis's configuration parameters under their names (hash-max-listpack-entries is
// hash_max_listpack_entries); the defaults are Redis's. Functions that add to a value take the
// limits as an argument.
//
//   EncodingLimits limits{.hash_max_listpack_entries = 2};
//   hash.Set("field", "value", limits);
//
// Thread-safety: a plain value.
// Source: Redis 7.0 CONFIG GET; redis.conf, "ADVANCED CONFIG".
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODING_LIMITS_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODING_LIMITS_H_

#include <cstddef>

namespace redouble::inline v0_1::memory {

struct EncodingLimits {
  size_t hash_max_listpack_entries = 512;
  size_t hash_max_listpack_value = 64;
  size_t set_max_intset_entries = 512;
  // A set of strings is a listpack up to these limits. The engine sets the first to 0 for Redis
  // 7.0, whose sets are tables then.
  size_t set_max_listpack_entries = 128;
  size_t set_max_listpack_value = 64;
  size_t zset_max_listpack_entries = 128;
  // Whether sorted sets in listpacks have their scores with the fewest digits. The engine sets it.
  bool shortest_scores = false;
  size_t zset_max_listpack_value = 64;
  size_t stream_node_max_bytes = 4096;
  size_t stream_node_max_entries = 100;
  size_t hll_sparse_max_bytes = 3000;
  // The limit of a list's node: -1 to -5 for 4, 8, 16, 32 and 64 KiB, a positive number for
  // elements. A list keeps the limit that it was created with.
  int list_max_listpack_size = -2;
  // Whether a list begins as a listpack (Redis 7.2), and whether an element larger than the limit
  // of a node is kept without one (7.4). The engine sets both.
  bool packed_lists = false;
  bool plain_list_nodes = false;
  // Number of nodes at each end of a list that are not compressed. Only reported by CONFIG GET: no
  // reply depends on it, and this engine compresses no list.
  int list_compress_depth = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODING_LIMITS_H_
