// PublishRunEvent: publishes an event of a run for user interfaces.
//
//   Event event;
//   event.type = EventType::kNodeCompleted;
//   event.run_id = "run_7f3e4a";
//   event.node_id = "fetch";
//   event.timestamp = clock.Now();
//   absl::StatusOr<int64_t> receivers = co_await PublishRunEvent(store, event);
//
// A subscriber uses the channel `run:<run_id>`, or the pattern kAllRunsPattern for all runs. With
// both on one connection it would receive each event twice. With an option, events are published on
// the shard channel of the run, `run:{<run_id>}`, which no pattern matches. No state of a run
// depends on its events; a client that missed events reads the keys of the run.
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 2.6, 4.16 and hazard H24.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENTS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENTS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// The pattern for PSUBSCRIBE: matches the channels of all runs and no other channel of this system.
inline constexpr std::string_view kAllRunsPattern = "run:*";

// The channels on which the events of a run are published. Both layouts spell them alike. Errors:
// InvalidArgument if the run id is invalid.
absl::StatusOr<store::PublishedChannels> RunChannels(std::string_view run_id,
                                                     store::ChannelKind kind);

// Publishes the event, as FormatEvent writes it, on the channels of its run. Returns the number of
// subscriptions that received it on this server; 0 is no error. One round trip: PUBLISH or
// SPUBLISH; two with ChannelKind::kBoth. Errors: InvalidArgument if the run id is invalid or
// FormatEvent refuses the event (nothing is sent), and those of the store.
base::Task<absl::StatusOr<int64_t>> PublishRunEvent(
    store::Store& store, Event event, store::ChannelKind kind = store::ChannelKind::kDocumented);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENTS_H_
