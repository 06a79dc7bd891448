// Sdk: the stores of one service that uses the Relayna SDK, built as its lifespan builds them.
//
// Use it in a producer, a worker or the web application of a service; all of them must have the
// same settings. The program brings the store and the clock; a test uses the memory engine.
//
//   absl::StatusOr<SdkSettings> settings = ReadSdkSettings(variables);
//   Sdk sdk(store, *settings);
//   co_await sdk.statuses().SetHistory("t1", event);
//   if (DlqStore* const dlq = sdk.dlq()) co_await dlq->Add(record);
//   EventStream stream = sdk.Stream(subscription, clock, {.task_id = "t1"});
//   ExecutionGraphService executions = sdk.Executions(ExecutionTopology::kSharedTasks);
//
// The feed, if there is one, gets each accepted status event and observation. The feed and the
// observation store have the TTL of the status store unless they have their own; the DLQ store has
// none unless it is set, and does not exist without a prefix.
//
// Thread-safety: as the store.
// Source: docs/systems/relayna.md 1.1, D2, D9.
#ifndef REDOUBLE_CORE_RELAYNA_SDK_SDK_H_
#define REDOUBLE_CORE_RELAYNA_SDK_SDK_H_

#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/event_stream.h"
#include "redouble/core/relayna/execution/execution_graph_service.h"
#include "redouble/core/relayna/observation_store.h"
#include "redouble/core/relayna/sdk/settings.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/relayna/workflow_contract_store.h"
#include "redouble/core/store/keyspace/unused_keys.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

class Sdk {
 public:
  // `store` must outlive the object. Sends nothing.
  explicit Sdk(store::Store& store, const SdkSettings& settings = {});
  Sdk(const Sdk&) = delete;
  Sdk& operator=(const Sdk&) = delete;

  StatusStore& statuses() { return statuses_; }
  WorkflowContractStore& workflow_contracts() { return workflow_contracts_; }
  // Null if the settings have no prefix for it.
  ServiceEventFeed* feed() { return feed_ ? &*feed_ : nullptr; }
  ObservationStore* observations() { return observations_ ? &*observations_ : nullptr; }
  DlqStore* dlq() { return dlq_ ? &*dlq_ : nullptr; }

  // Returns a stream of the events of a task for one client. `subscription` and `clock` must
  // outlive it.
  EventStream Stream(store::MessageSource& subscription, base::Clock& clock,
                     StreamOptions options) {
    return EventStream(subscription, statuses_, clock, std::move(options));
  }

  // Returns a reader of execution graphs, which uses the stores that exist. The object must outlive
  // it.
  ExecutionGraphService Executions(ExecutionTopology topology) {
    return ExecutionGraphService(topology, statuses_, observations(), dlq());
  }

  // Deletes what a TTL would have ended, for settings without TTLs: histories and children of tasks
  // and inflight entries that no command has used for so long. Markers of tasks, the feed and
  // contracts get that time as their TTL when they are first seen; an event that arrives again
  // after its marker is stored again. Keeps the feed, which is trimmed, and the DLQ. Can be
  // repeated. Errors and round trips: those of store::DeleteUnusedKeys. Source:
  // docs/systems/relayna.md 4.18.
  base::Task<absl::StatusOr<store::UnusedKeysReport>> DeleteUnused(absl::Duration unused_for);

 private:
  store::Store& store_;
  const SdkSettings settings_;
  std::optional<ServiceEventFeed> feed_;
  StatusStore statuses_;
  std::optional<ObservationStore> observations_;
  std::optional<DlqStore> dlq_;
  WorkflowContractStore workflow_contracts_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SDK_SDK_H_
