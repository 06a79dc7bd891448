// Monitor: how much work waits where, and which keys a run has.
//
//   Monitor monitor(store, keys);
//   absl::StatusOr<QueueDepths> depths = co_await monitor.Depths();
//   absl::StatusOr<std::vector<RunKey>> run = co_await monitor.KeysOf("run_123");
//
// The names of a run's keys are computed from its graph: no KEYS, which blocks the server and, by
// the pattern of the documents' example, also finds those of run_1234 (reference 9.2).
//
// Thread-safety: as Store.
// Source: seed 001 "Monitoring & Debugging"; reference/orchestrator.md section 9.2.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_MONITOR_H_
#define REDOUBLE_CORE_ORCHESTRATOR_MONITOR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/orchestrator/keys.h"
#include "core/store/key_type.h"
#include "core/store/keys.h"
#include "core/store/store.h"
#include "core/store/stream_types.h"

namespace redouble::orchestrator {

struct StreamDepth {
  std::string type;                            // The task type.
  int64_t length = 0;                          // Entries, acknowledged ones included.
  std::vector<store::StreamGroupInfo> groups;  // With their pending entries and lag.
};

// Signals that a coordinator has taken and not finished.
struct ProcessingDepth {
  std::string consumer;
  int64_t length = 0;
};

struct QueueDepths {
  std::vector<StreamDepth> streams;  // Those that exist, in alphabetical order of the type.
  int64_t signals = 0;
  std::vector<ProcessingDepth> processing;  // By consumer.
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

  // One round trip per task type, another one per stream that exists, one for the signals and those
  // of a SCAN and of each processing list. Not a moment in time: work goes on in between.
  base::Task<absl::StatusOr<QueueDepths>> Depths();

  // The keys of a run that exist, in the order of the inventory. Linear in the nodes of its graph;
  // two round trips per name. Empty when the run is gone.
  base::Task<absl::StatusOr<std::vector<RunKey>>> KeysOf(std::string_view run_id);

 private:
  store::Store& store_;
  const Keys keys_;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_MONITOR_H_
