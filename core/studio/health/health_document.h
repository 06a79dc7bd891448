// HealthDocument: the health of one service, and the rules that compute its states.
//
// Redis holds the facts of the last refresh. Every read computes the states again from these facts
// and the current time (Materialize), so a document becomes stale without a write.
//
//   HealthDocument current = Materialize(facts, stored, clock.Now(), HealthLimits());
//   OverallStateName(current.overall_status);   // "stale"
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/studio.md 2.8.
#ifndef REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_DOCUMENT_H_
#define REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/python/value.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/registry/service_record.h"

namespace redouble::inline v0_1::studio {

enum class HttpState { kUnknown, kReachable, kUnreachable };
enum class CapabilityState { kFresh, kStale, kMissing, kError };
enum class FreshnessState { kFresh, kStale, kMissing };
enum class WorkerState { kHealthy, kStale, kUnhealthy, kUnsupported, kUnknown };
enum class OverallState { kHealthy, kDegraded, kStale, kUnreachable, kDisabled, kUnknown };
// The name in the document, such as "healthy".
std::string_view OverallStateName(OverallState state);

// Date-times have the offset that the service wrote; one without an offset is compared as UTC.

struct HttpHealth {
  HttpState state = HttpState::kUnknown;
  std::optional<python::DateTime> checked_at;
  std::optional<std::string> error_detail;

  friend bool operator==(const HttpHealth&, const HttpHealth&) = default;
};

struct CapabilityHealth {
  CapabilityState state = CapabilityState::kMissing;
  std::optional<python::DateTime> checked_at;
  std::optional<python::DateTime> last_successful_at;
  std::optional<std::string> error_detail;

  friend bool operator==(const CapabilityHealth&, const CapabilityHealth&) = default;
};

struct ObservationFreshness {
  FreshnessState state = FreshnessState::kMissing;
  std::optional<python::DateTime> latest_status_event_at;
  std::optional<python::DateTime> latest_observation_event_at;
  std::optional<python::DateTime> latest_ingested_at;

  friend bool operator==(const ObservationFreshness&, const ObservationFreshness&) = default;
};

struct WorkerHeartbeat {
  std::string worker_name;
  bool running = false;
  std::optional<python::DateTime> last_heartbeat_at;

  friend bool operator==(const WorkerHeartbeat&, const WorkerHeartbeat&) = default;
};

struct WorkerHealth {
  WorkerState state = WorkerState::kUnknown;
  std::optional<python::DateTime> reported_at;
  std::optional<python::DateTime> latest_heartbeat_at;
  std::vector<WorkerHeartbeat> workers;
  std::optional<std::string> detail;

  friend bool operator==(const WorkerHealth&, const WorkerHealth&) = default;
};

struct HealthDocument {
  std::string service_id;
  ServiceStatus registry_status = ServiceStatus::kRegistered;
  HttpHealth http_status;
  CapabilityHealth capability_status;
  ObservationFreshness observation_freshness;
  WorkerHealth worker_health;
  std::optional<python::DateTime> last_checked_at;
  OverallState overall_status = OverallState::kUnknown;

  friend bool operator==(const HealthDocument&, const HealthDocument&) = default;
};

// The later instant of the two, in UTC; nullopt if neither has a value.
std::optional<python::DateTime> Latest(const std::optional<python::DateTime>& a,
                                       const std::optional<python::DateTime>& b);

// The document as an object, with the members in the order of the model.
python::Value ToValue(const HealthDocument& document);
// Errors: InvalidArgument (ValidationError).
absl::StatusOr<HealthDocument> ParseHealthDocument(std::string_view json);

// The report of a service about its workers. Values that pydantic accepts are accepted: heartbeats
// as seconds since the epoch, `running` as 1.
struct WorkerReport {
  python::DateTime reported_at;
  std::vector<WorkerHeartbeat> workers;
};
// Errors: InvalidArgument (ValidationError).
absl::StatusOr<WorkerReport> ParseWorkerReport(std::string_view json);

// A fact is stale if it is older than its limit. An age of exactly the limit is not stale.
struct HealthLimits {
  absl::Duration capability_stale_after = absl::Seconds(180);
  absl::Duration observation_stale_after = absl::Seconds(300);
  absl::Duration worker_heartbeat_stale_after = absl::Seconds(90);
};

// The facts about a service that are not in its health document.
struct ServiceFacts {
  ServiceRecord service;
  ActivitySnapshot activity;
};

// Returns `stored`, or an empty document, with all states computed for `now`:
//   http         the stored state; reachable clears the error.
//   capability   by the last success (in the document, else the record's last_seen_at). No
//                success: `error` if there is an error, else `missing`. Otherwise `stale` or
//                `fresh`, also if a later check failed.
//   observation  by the later of the two activity timestamps; `missing` if there is neither.
//   worker       `unknown` without capabilities or workers; `unsupported`, with all other members
//                cleared, if the service does not offer the route; `unhealthy` if a worker does not
//                run; otherwise by the latest heartbeat of any worker, so that one live worker is
//                enough.
//   overall      the first that applies: disabled; unreachable; stale (any part); degraded
//                (a worker unhealthy or unknown, or a capability error); healthy (capability and
//                observation fresh, worker healthy or unsupported); unknown.
// A timestamp in the future is fresh.
HealthDocument Materialize(const ServiceFacts& facts, const std::optional<HealthDocument>& stored,
                           absl::Time now, const HealthLimits& limits);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_DOCUMENT_H_
