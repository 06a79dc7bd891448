// Monitor: queue depths, and the keys of a run.
//
//   Monitor monitor(store, keys);
//   absl::StatusOr<QueueDepths> depths = co_await monitor.Depths();
//   absl::StatusOr<std::vector<RunKey>> run = co_await monitor.KeysOf("run_123");
//
// The key names of a run are computed from its graph. KEYS is not used: it blocks the server, and
// the pattern `*run_123*` of the original documents also matches the keys of run_1234.
//
// Errors of every operation: InvalidArgument for an invalid run id, and those of the store.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.17.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_MONITOR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_MONITOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::orchestrator {

// A consumer group of a task stream.
struct GroupDepth {
  store::StreamGroupInfo info;  // Includes pending entries and lag.
  // By name: pending entries, and the time since a worker last asked for entries.
  std::vector<store::StreamConsumerInfo> consumers;
};

struct StreamDepth {
  std::string type;                  // The task type.
  std::optional<int64_t> shard = 0;  // Nullopt: of another number of shards.
  int64_t length = 0;                // Entries, including acknowledged ones.
  std::vector<GroupDepth> groups;
};

// The signals that one coordinator has taken and not finished.
struct ProcessingDepth {
  std::string consumer;
  std::optional<int64_t> shard = 0;  // As in StreamDepth.
  int64_t length = 0;
};

struct QueueDepths {
  std::vector<StreamDepth> streams;         // The streams that exist, by type and shard.
  int64_t signals = 0;                      // Of all shards.
  std::vector<ProcessingDepth> processing;  // By consumer and shard.
};

struct RunKey {
  std::string key;
  store::KeyType type = store::KeyType::kNone;
  store::Ttl ttl{-2};
};

class Monitor {
 public:
  // The store must outlive the monitor.
  Monitor(store::Store& store, Keys keys) : store_(store), keys_(keys) {}

  // Depths of the task streams, the signal lists and the processing lists. Not a snapshot: other
  // clients run between the commands. Round trips: those of two SCANs, two for each stream, one for
  // each group, one for the signals of each shard, and one for each processing list.
  base::Task<absl::StatusOr<QueueDepths>> Depths();

  // The existing keys of a run, in the order of the inventory, with its pending and its decided
  // approvals; empty if the run does not exist. Linear in the nodes of its graph; a pipeline for
  // each 200 names, and three round trips more.
  base::Task<absl::StatusOr<std::vector<RunKey>>> KeysOf(std::string_view run_id);

 private:
  store::Store& store_;
  const Keys keys_;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_MONITOR_H_
