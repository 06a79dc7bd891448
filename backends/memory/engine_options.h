// EngineOptions: what an engine can be told when it is made, and by CONFIG SET afterwards.
//
// Names and defaults are those of redis.conf 7.0.15; commands/config.cc has the table that CONFIG
// reads and writes them by.
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/cluster_view.h"
#include "backends/memory/encoding_limits.h"
#include "backends/memory/server_options.h"

namespace redouble::memory {

// Which keys go when the accounted size passes maxmemory. Volatile: only keys with an expiry.
enum class MaxmemoryPolicy : uint8_t {
  kVolatileLru,
  kVolatileLfu,
  kVolatileRandom,
  kVolatileTtl,
  kAllKeysLru,
  kAllKeysLfu,
  kAllKeysRandom,
  kNoEviction,
};

// As redis.conf has them, in the order of MaxmemoryPolicy.
inline constexpr std::string_view kMaxmemoryPolicyNames[] = {
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
    "allkeys-lru",  "allkeys-lfu",  "allkeys-random",  "noeviction"};

inline bool IsLfu(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileLfu || policy == MaxmemoryPolicy::kAllKeysLfu;
}

struct EngineOptions {
  // Decides what Redis leaves to chance: RANDOMKEY, SPOP and their like.
  uint64_t seed = 0;
  // As Redis's option "databases".
  int databases = 16;
  EncodingLimits encoding_limits = {};
  // Which keyspace events are published ("KEA", ...), as Redis's option of this name; letters that
  // it does not know turn all of them off.
  std::string notify_keyspace_events = {};
  // A script that runs longer is busy (busy_script.h): in milliseconds of 100,000 instructions of
  // Lua each, which do not depend on the machine. 0: never. Also known as lua-time-limit.
  int64_t busy_reply_threshold_ms = 5000;
  // How long APPEND, SETRANGE, SETBIT and their like may make a string, in bytes.
  uint64_t proto_max_bulk_len_bytes = 512ull << 20;
  // What keys may take together with what an empty server takes (memory_limit.h), in bytes; 0: no
  // limit.
  uint64_t maxmemory_bytes = 0;
  MaxmemoryPolicy maxmemory_policy = MaxmemoryPolicy::kNoEviction;
  // How many keys are drawn to find one to evict.
  int maxmemory_samples = 5;
  // How slowly the frequency of a key rises, and after how many minutes it falls by one (0: never).
  int lfu_log_factor = 10;
  int lfu_decay_time_minutes = 1;
  // What the user "default" has to say (AUTH) before anything else; empty: nothing.
  std::string requirepass = {};
  // How many denials ACL LOG keeps, and whether a new user may use all channels.
  int64_t acllog_max_len = 128;
  bool acl_pubsub_default_all = false;
  // How many keys clients may hold in caches of their own (tracking.h); 0: any number.
  int64_t tracking_table_max_keys = 1'000'000;
  // Commands that take at least so long, in a host's time, are samples of LATENCY; 0: none.
  int64_t latency_monitor_threshold_ms = 0;
  // Commands that take at least so long are kept in the slow log; 0: all, less: none.
  int64_t slowlog_log_slower_than_us = 10'000;
  int64_t slowlog_max_len = 128;
  // Whether a host's measurements are kept as histograms too (INFO latencystats).
  bool latency_tracking = true;
  // What a server makes of its connections (server_options.h).
  ServerOptions server = {};
  // Makes the engine a node of a simulated cluster (cluster_view.h), as "cluster-enabled yes":
  // keys of several slots in one command, script or transaction are refused, there is only database
  // 0, and CLUSTER tells of the topology.
  std::optional<ClusterOptions> cluster = {};
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_
