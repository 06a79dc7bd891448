// HealthDocument: what is known of a service's health, and the rules by which its states follow.
//
// Redis holds what the last refresh found out; states are worked out again, with the present time,
// by whoever reads (Materialize), so that a document goes stale by itself.
//
//   HealthDocument now_so = Materialize(facts, stored, clock.Now(), HealthLimits());
//   OverallStateName(now_so.overall_status)   // "stale"
//
// Thread-safety: plain values, pure functions.
// Source: reference/relayna.md section 8.
#ifndef REDOUBLE_CORE_STUDIO_HEALTH_DOCUMENT_H_
#define REDOUBLE_CORE_STUDIO_HEALTH_DOCUMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/python/value.h"
#include "core/studio/event_store.h"
#include "core/studio/service_record.h"

namespace redouble::studio {

enum class HttpState { kUnknown, kReachable, kUnreachable };
enum class CapabilityState { kFresh, kStale, kMissing, kError };
enum class FreshnessState { kFresh, kStale, kMissing };
enum class WorkerState { kHealthy, kStale, kUnhealthy, kUnsupported, kUnknown };
enum class OverallState { kHealthy, kDegraded, kStale, kUnreachable, kDisabled, kUnknown };
// "healthy" and so on.
std::string_view OverallStateName(OverallState state);

struct HttpHealth {
  HttpState state = HttpState::kUnknown;
  std::optional<absl::Time> checked_at;
  std::optional<std::string> error_detail;

  friend bool operator==(const HttpHealth&, const HttpHealth&) = default;
};

struct CapabilityHealth {
  CapabilityState state = CapabilityState::kMissing;
  std::optional<absl::Time> checked_at;
  std::optional<absl::Time> last_successful_at;
  std::optional<std::string> error_detail;

  friend bool operator==(const CapabilityHealth&, const CapabilityHealth&) = default;
};

struct ObservationFreshness {
  FreshnessState state = FreshnessState::kMissing;
  std::optional<absl::Time> latest_status_event_at;
  std::optional<absl::Time> latest_observation_event_at;
  std::optional<absl::Time> latest_ingested_at;

  friend bool operator==(const ObservationFreshness&, const ObservationFreshness&) = default;
};

struct WorkerHeartbeat {
  std::string worker_name;
  bool running = false;
  std::optional<absl::Time> last_heartbeat_at;

  friend bool operator==(const WorkerHeartbeat&, const WorkerHeartbeat&) = default;
};

struct WorkerHealth {
  WorkerState state = WorkerState::kUnknown;
  std::optional<absl::Time> reported_at;
  std::optional<absl::Time> latest_heartbeat_at;
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
  std::optional<absl::Time> last_checked_at;
  OverallState overall_status = OverallState::kUnknown;

  friend bool operator==(const HealthDocument&, const HealthDocument&) = default;
};

// Members in the model's order.
python::Value ToValue(const HealthDocument& document);
// Errors: InvalidArgument (ValidationError).
absl::StatusOr<HealthDocument> ParseHealthDocument(std::string_view json);

// What a service says of its workers.
struct WorkerReport {
  absl::Time reported_at;
  std::vector<WorkerHeartbeat> workers;
};
// Errors: InvalidArgument (ValidationError).
absl::StatusOr<WorkerReport> ParseWorkerReport(std::string_view json);

// Something is stale when it is older than this; at exactly this age it is not.
struct HealthLimits {
  absl::Duration capability_stale_after = absl::Seconds(180);
  absl::Duration observation_stale_after = absl::Seconds(300);
  absl::Duration worker_heartbeat_stale_after = absl::Seconds(90);
};

// What is known of a service beside its health document.
struct ServiceFacts {
  ServiceRecord service;
  ActivitySnapshot activity;
};

// `stored`, or an empty document, with all states as of `now`:
//   http         as stored; reachable clears the error.
//   capability   by the last success (of the document, else the registry's last_seen_at): none:
//                `error` with an error, else `missing`; then `stale` or `fresh`, which hides an
//                error that came later.
//   observation  by the later of the two activity timestamps; none: `missing`.
//   worker       `unknown` without capabilities or workers; `unsupported`, with nothing else left,
//                when the service does not offer the route; `unhealthy` when a worker is not
//                running; else by the latest heartbeat of any worker: one live worker hides any
//                number of dead ones.
//   overall      the first of: disabled, unreachable, stale (any part), degraded (a worker
//   unhealthy
//                or unknown, a capability error), healthy (capability and observation fresh, worker
//                healthy or unsupported), unknown.
// A moment in the future is fresh.
HealthDocument Materialize(const ServiceFacts& facts, const std::optional<HealthDocument>& stored,
                           absl::Time now, const HealthLimits& limits);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_HEALTH_DOCUMENT_H_
