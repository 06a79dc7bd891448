// EngineOptions: the settings of an engine, at construction and by CONFIG SET.
//
// Names and defaults are those of redis.conf 7.0.15; where a later version has another default, it
// applies if `compatibility` names that version. The table in commands/server/config.cc maps
// the parameters of CONFIG to these fields.
//
//   EngineOptions options;
//   options.maxmemory_bytes = 64 << 20;
//   Engine engine(clock, options);
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/server_options.h"
#include "redouble/backends/memory/values/encoding_limits.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

// Which keys are evicted when the accounted size exceeds maxmemory. Volatile: only keys with a TTL.
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

// The names in redis.conf, in the order of MaxmemoryPolicy.
inline constexpr std::string_view kMaxmemoryPolicyNames[] = {
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl",
    "allkeys-lru",  "allkeys-lfu",  "allkeys-random",  "noeviction"};

// Returns whether the policy evicts the keys that are used least often.
inline bool IsLfu(MaxmemoryPolicy policy) {
  return policy == MaxmemoryPolicy::kVolatileLfu || policy == MaxmemoryPolicy::kAllKeysLfu;
}

struct EngineOptions {
  // The version of Redis or Valkey whose commands, replies and encodings the engine has. It cannot
  // be changed later. docs/versions.md says what is not yet equal.
  store::Version compatibility = store::Version::kRedis70;
  // The seed of all random choices: RANDOMKEY, SPOP, eviction and others.
  uint64_t seed = 0;
  // The number of databases.
  int databases = 16;
  EncodingLimits encoding_limits = {};
  // The keyspace events to publish, for example "KEA". An unknown letter turns all of them off.
  std::string notify_keyspace_events = {};
  // A script that runs longer is busy (scripting/busy_script.h). One millisecond is 100,000 Lua
  // instructions, so that the limit does not depend on the machine. 0: no limit. Also known as
  // lua-time-limit.
  int64_t busy_reply_threshold_ms = 5000;
  // The longest string that APPEND, SETRANGE or SETBIT may make, in bytes.
  uint64_t proto_max_bulk_len_bytes = 512ull << 20;
  // The limit of the accounted size: the keys and the memory of an empty server
  // (eviction/memory_limit.h), in bytes. 0: no limit.
  uint64_t maxmemory_bytes = 0;
  MaxmemoryPolicy maxmemory_policy = MaxmemoryPolicy::kNoEviction;
  // The number of keys sampled for each eviction.
  int maxmemory_samples = 5;
  // LFU: how slowly a key's frequency rises, and after how many minutes it falls by one (0: never).
  int lfu_log_factor = 10;
  int lfu_decay_time_minutes = 1;
  // The password of the user "default". Empty: no AUTH is needed.
  std::string requirepass = {};
  // The number of entries that ACL LOG keeps, and whether a new user may use all channels.
  int64_t acllog_max_len = 128;
  bool acl_pubsub_default_all = false;
  // The number of keys that CLIENT TRACKING remembers (keyspace/tracking.h). 0: no limit.
  int64_t tracking_table_max_keys = 1'000'000;
  // Commands that take at least this long, as measured by a host, are LATENCY samples. 0: off.
  int64_t latency_monitor_threshold_ms = 0;
  // Commands that take at least this long are kept in the slow log. 0: all commands; negative:
  // none.
  int64_t slowlog_log_slower_than_us = 10'000;
  int64_t slowlog_max_len = 128;
  // Whether the host's measurements are also kept as histograms, and the percentiles of them that
  // INFO latencystats shows.
  bool latency_tracking = true;
  std::vector<double> latency_tracking_info_percentiles = {50, 99, 99.9};
  // Writes are refused with NOREPLICAS if this number is not 0, because there are no replicas;
  // unless the lag that a replica may have is 0, which turns the check off.
  int min_replicas_to_write = 0;
  int min_replicas_max_lag_s = 10;
  // Settings of a server around the engine (server_options.h).
  ServerOptions server = {};
  // Parameters without an effect whose values differ from Redis's defaults, by name
  // (server/kept_parameters.h).
  std::map<std::string, std::string> kept_parameters = {};
  // As rename-command: the new names of commands, by their names in Redis, both in small letters.
  // A command whose new name is empty is missing; a name that Redis does not have is ignored.
  // Sessions of Engine::ConnectTrusted, and those that run the commands of a log or of a master,
  // find it by its name in Redis.
  std::map<std::string, std::string> renamed_commands = {};
  // Makes the engine a node of a simulated cluster (cluster/cluster_view.h), as "cluster-enabled
  // yes": commands, scripts and transactions with keys of several slots are refused, there is only
  // database 0, and CLUSTER reports the topology.
  std::optional<ClusterOptions> cluster = {};
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_OPTIONS_H_
