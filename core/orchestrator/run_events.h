// The events of a run, published for user interfaces.
//
//   Event event;
//   event.type = EventType::kNodeCompleted;
//   event.run_id = "run_7f3e4a";
//   event.node_id = "fetch";
//   event.timestamp = clock.Now();
//   absl::StatusOr<int64_t> receivers = co_await PublishRunEvent(store, event);
//
// A subscriber listens to `run:<run_id>`, or to all runs by the pattern kAllRunsPattern, never to
// both on one connection: it would get each event twice. Nothing of a run depends on its events;
// whoever was not listening reads the run's keys.
//
// Thread-safety: as Store.
// Source: seed 001 "Real-Time Events"; reference/orchestrator.md sections 2.6 and 10 (hazard 24).
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENTS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/orchestrator/messages.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

// For PSUBSCRIBE. Matches the channels of all runs and no other channel of this system.
inline constexpr std::string_view kAllRunsPattern = "run:*";

// Publishes the event on its run's channel, spelled alike in both forms of keys, as FormatEvent
// writes it. The number of subscriptions that got it, on the server that was asked; 0 is no error.
// One round trip: PUBLISH. Errors: InvalidArgument when the run's id is none or FormatEvent refuses
// the event (nothing is sent), and those of the store.
base::Task<absl::StatusOr<int64_t>> PublishRunEvent(store::Store& store, Event event);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENTS_H_
