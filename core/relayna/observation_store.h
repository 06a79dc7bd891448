// ObservationStore: what was observed of a task, for execution graphs and timelines.
//
//   ObservationStore observations(store);
//   co_await observations.SetEvent({"TaskMessageReceived", fields});
//
// As the status store, but without children and channel, and its token is always a hash: of the
// fields, the trace they were observed in and the class. So one observation made in two spans is
// two. Its prefix must not be that of a status store: both would write one history.
//
// Thread-safety: as the store. The store, and the feed, outlive this; arguments outlive the task.
// Source: reference/relayna.md section 2; goldens observation_*.
#ifndef REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_
#define REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/keys.h"
#include "core/relayna/service_event_feed.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct ObservationOptions {
  std::string prefix{kObservationPrefix};
  // None or 0: nothing expires.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Observations kept per task; as StatusOptions::history_maxlen.
  int64_t history_maxlen = 500;
  // Gets every accepted observation as well; null: none.
  ServiceEventFeed* feed = nullptr;
  // Hardened: marker, history and feed item in one script (R2, R3).
  bool atomic_events = false;
};

// The span that is active while something is observed, where there is one.
struct TraceContext {
  std::string trace_id;
  std::string span_id;
};

class ObservationStore {
 public:
  explicit ObservationStore(store::Store& store, ObservationOptions options = {});

  // Appends an observation to its task's history, once. False, without a round trip, when it has no
  // task id or no fields at all; false when it is a duplicate. The key has the stripped task id,
  // the stored value the one given. One round trip for a duplicate, two otherwise, one or two more
  // with a feed. Errors: TypeError for a field that cannot be serialised, before anything is sent;
  // those of the store.
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

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_OBSERVATION_STORE_H_
