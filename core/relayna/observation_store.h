// ObservationStore: the observations of each task, for execution graphs and timelines.
//
//   ObservationStore observations(store);
//   co_await observations.SetEvent({"TaskMessageReceived", fields});
//
// It works like StatusStore, without children and without a channel. The token of an observation is
// always a hash of its fields, its class and its trace, so one observation made in two spans is
// stored twice. Its prefix must differ from that of a status store, because both would write the
// same history.
//
// Thread-safety: as the store. Store and feed must outlive this; arguments must outlive the task.
// Source: docs/systems/relayna.md 2.7 and 4.4.
#ifndef REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_
#define REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct ObservationOptions {
  std::string prefix{kObservationPrefix};
  // Seconds. nullopt and 0: no TTL.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Observations kept per task, with the rules of StatusOptions::history_maxlen.
  int64_t history_maxlen = 500;
  // If set, every accepted observation is added to this feed.
  ServiceEventFeed* feed = nullptr;
  // atomic_events applies.
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

// The span in which an observation is made.
struct TraceContext {
  std::string trace_id;
  std::string span_id;
};

class ObservationStore {
 public:
  explicit ObservationStore(store::Store& store, ObservationOptions options = {});

  // Appends an observation to the history of its task, once. Returns true if it was new. Returns
  // false, without a round trip, if it has no task id or no readable fields; returns false for a
  // duplicate. The key has the stripped task id, the stored value the original one. One round trip
  // for a duplicate, otherwise two; one or two more with a feed; one with atomic_events.
  //
  // Errors: InvalidArgument (TypeError) for a field without a JSON form, before anything is sent;
  // those of the store.
  // Source: docs/systems/relayna.md 4.4.
  base::Task<absl::StatusOr<bool>> SetEvent(const Observation& observation,
                                            std::optional<TraceContext> trace = std::nullopt);

  // As StatusStore::GetHistory.
  base::Task<absl::StatusOr<std::vector<python::Value>>> GetHistory(
      std::string_view task_id, std::optional<int64_t> limit = std::nullopt);

 private:
  absl::StatusOr<std::optional<Append>> AppendOf(const Observation& observation,
                                                 const std::optional<TraceContext>& trace) const;

  store::Store& store_;
  const ObservationOptions options_;
  const ObservationKeys keys_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_
