#include "redouble/core/studio/health/health_document.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/studio/registry/capabilities.h"

namespace redouble::inline v0_1::studio {
namespace {

using python::Value;

// The names of the states, in the order of the enumerations.
constexpr std::array<std::string_view, 3> kHttpStates = {"unknown", "reachable", "unreachable"};
constexpr std::array<std::string_view, 4> kCapabilityStates = {"fresh", "stale", "missing",
                                                               "error"};
constexpr std::array<std::string_view, 3> kFreshnessStates = {"fresh", "stale", "missing"};
constexpr std::array<std::string_view, 5> kWorkerStates = {"healthy", "stale", "unhealthy",
                                                           "unsupported", "unknown"};
constexpr std::array<std::string_view, 6> kOverallStates = {"healthy",     "degraded", "stale",
                                                            "unreachable", "disabled", "unknown"};

template <typename State, size_t kCount>
Value StateValue(const std::array<std::string_view, kCount>& names, State state) {
  return Value(names[static_cast<size_t>(state)]);
}

template <typename State, size_t kCount>
State ReadState(python::ModelReader& reader, std::string_view name,
                const std::array<std::string_view, kCount>& names, State otherwise) {
  const std::string text = reader.StringOr(name, names[static_cast<size_t>(otherwise)]);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<State>(found - names.begin());
  reader.Refuse(name, "Input should be the name of a state");
  return otherwise;
}

absl::StatusOr<HttpHealth> ReadHttp(const Value& value) {
  python::ModelReader reader(value, "HttpStatusSummary");
  HttpHealth health;
  health.state = ReadState(reader, "state", kHttpStates, health.state);
  health.checked_at = reader.OptionalTime("checked_at");
  health.error_detail = reader.OptionalString("error_detail");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return health;
}

absl::StatusOr<CapabilityHealth> ReadCapability(const Value& value) {
  python::ModelReader reader(value, "CapabilityHealthSummary");
  CapabilityHealth health;
  health.state = ReadState(reader, "state", kCapabilityStates, health.state);
  health.checked_at = reader.OptionalTime("checked_at");
  health.last_successful_at = reader.OptionalTime("last_successful_at");
  health.error_detail = reader.OptionalString("error_detail");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return health;
}

absl::StatusOr<ObservationFreshness> ReadFreshness(const Value& value) {
  python::ModelReader reader(value, "ObservationFreshnessSummary");
  ObservationFreshness freshness;
  freshness.state = ReadState(reader, "state", kFreshnessStates, freshness.state);
  freshness.latest_status_event_at = reader.OptionalTime("latest_status_event_at");
  freshness.latest_observation_event_at = reader.OptionalTime("latest_observation_event_at");
  freshness.latest_ingested_at = reader.OptionalTime("latest_ingested_at");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return freshness;
}

absl::StatusOr<std::vector<WorkerHeartbeat>> ReadHeartbeats(const Value* value) {
  std::vector<WorkerHeartbeat> heartbeats;
  if (value == nullptr) return heartbeats;
  if (value->array() == nullptr) return python::ValidationError("workers: Input should be a list");
  for (const Value& element : *value->array()) {
    python::ModelReader reader(element, "WorkerHeartbeatSummary");
    WorkerHeartbeat heartbeat;
    heartbeat.worker_name = reader.String("worker_name");
    heartbeat.running = reader.Bool("running");
    heartbeat.last_heartbeat_at = reader.OptionalTime("last_heartbeat_at");
    REDOUBLE_RETURN_IF_ERROR(reader.status());
    heartbeats.push_back(std::move(heartbeat));
  }
  return heartbeats;
}

absl::StatusOr<WorkerHealth> ReadWorker(const Value& value) {
  python::ModelReader reader(value, "WorkerHealthSummary");
  WorkerHealth health;
  health.state = ReadState(reader, "state", kWorkerStates, health.state);
  health.reported_at = reader.OptionalTime("reported_at");
  health.latest_heartbeat_at = reader.OptionalTime("latest_heartbeat_at");
  health.detail = reader.OptionalString("detail");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  REDOUBLE_ASSIGN_OR_RETURN(health.workers, ReadHeartbeats(reader.FindGiven("workers")));
  return health;
}

// Assigns a part, or records its error.
template <typename Part>
void AssignOrUpdate(python::ModelReader& reader, absl::StatusOr<Part> read, Part& part) {
  if (read.ok()) {
    part = *std::move(read);
  } else {
    reader.Update(read.status());
  }
}

Value HeartbeatsValue(const std::vector<WorkerHeartbeat>& workers) {
  python::Array array;
  for (const WorkerHeartbeat& worker : workers) {
    array.emplace_back(
        python::Object{{"worker_name", worker.worker_name},
                       {"running", worker.running},
                       {"last_heartbeat_at", python::OptionalTimeValue(worker.last_heartbeat_at)}});
  }
  return Value(std::move(array));
}

Value HttpValue(const HttpHealth& health) {
  return Value(python::Object{{"state", StateValue(kHttpStates, health.state)},
                              {"checked_at", python::OptionalTimeValue(health.checked_at)},
                              {"error_detail", health.error_detail}});
}

Value CapabilityValue(const CapabilityHealth& health) {
  return Value(
      python::Object{{"state", StateValue(kCapabilityStates, health.state)},
                     {"checked_at", python::OptionalTimeValue(health.checked_at)},
                     {"last_successful_at", python::OptionalTimeValue(health.last_successful_at)},
                     {"error_detail", health.error_detail}});
}

Value FreshnessValue(const ObservationFreshness& freshness) {
  return Value(python::Object{
      {"state", StateValue(kFreshnessStates, freshness.state)},
      {"latest_status_event_at", python::OptionalTimeValue(freshness.latest_status_event_at)},
      {"latest_observation_event_at",
       python::OptionalTimeValue(freshness.latest_observation_event_at)},
      {"latest_ingested_at", python::OptionalTimeValue(freshness.latest_ingested_at)}});
}

Value WorkerValue(const WorkerHealth& health) {
  return Value(
      python::Object{{"state", StateValue(kWorkerStates, health.state)},
                     {"reported_at", python::OptionalTimeValue(health.reported_at)},
                     {"latest_heartbeat_at", python::OptionalTimeValue(health.latest_heartbeat_at)},
                     {"workers", HeartbeatsValue(health.workers)},
                     {"detail", health.detail}});
}

std::optional<python::DateTime> InUtc(const std::optional<python::DateTime>& time) {
  if (!time) return std::nullopt;
  return python::DateTime(time->time);
}

// Returns the instant of a timestamp, in UTC.
std::optional<python::DateTime> InstantOf(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const std::optional<absl::Time> time = python::ParseTimestamp(*text, absl::UTCTimeZone());
  if (!time) return std::nullopt;
  return python::DateTime(*time);
}

CapabilityHealth MaterializeCapability(CapabilityHealth health, const ServiceRecord& service,
                                       absl::Time now, const HealthLimits& limits) {
  if (!health.last_successful_at) health.last_successful_at = service.last_seen_at;
  if (!health.last_successful_at) {
    const bool failed = health.error_detail && !health.error_detail->empty();
    health.state = failed ? CapabilityState::kError : CapabilityState::kMissing;
    return health;
  }
  const bool stale = now - health.last_successful_at->time > limits.capability_stale_after;
  health.state = stale ? CapabilityState::kStale : CapabilityState::kFresh;
  if (!health.checked_at) health.checked_at = health.last_successful_at;
  return health;
}

ObservationFreshness MaterializeFreshness(const ActivitySnapshot& activity, absl::Time now,
                                          const HealthLimits& limits) {
  ObservationFreshness freshness;
  freshness.latest_status_event_at = InstantOf(activity.latest_status_event_at);
  freshness.latest_observation_event_at = InstantOf(activity.latest_observation_event_at);
  freshness.latest_ingested_at = InstantOf(activity.latest_ingested_at);
  const std::optional<python::DateTime> latest =
      Latest(freshness.latest_status_event_at, freshness.latest_observation_event_at);
  if (!latest) return freshness;
  const bool stale = now - latest->time > limits.observation_stale_after;
  freshness.state = stale ? FreshnessState::kStale : FreshnessState::kFresh;
  return freshness;
}

WorkerHealth MaterializeWorker(WorkerHealth health, const ServiceRecord& service, absl::Time now,
                               const HealthLimits& limits) {
  const bool has_capabilities =
      service.capabilities.IsTruthy() && ReadCapabilityDocument(service.capabilities).ok();
  if (has_capabilities && !SupportsRoute(service.capabilities, kHealthWorkersRoute)) {
    WorkerHealth unsupported;
    unsupported.state = WorkerState::kUnsupported;
    return unsupported;
  }
  const bool all_run = std::all_of(health.workers.begin(), health.workers.end(),
                                   [](const WorkerHeartbeat& worker) { return worker.running; });
  if (!has_capabilities || health.workers.empty()) {
    health.state = WorkerState::kUnknown;
    return health;
  }
  health.latest_heartbeat_at = InUtc(health.latest_heartbeat_at);
  if (!all_run) {
    health.state = WorkerState::kUnhealthy;
  } else if (!health.latest_heartbeat_at ||
             now - health.latest_heartbeat_at->time > limits.worker_heartbeat_stale_after) {
    health.state = WorkerState::kStale;
  } else {
    health.state = WorkerState::kHealthy;
  }
  return health;
}

OverallState OverallOf(const HealthDocument& document) {
  const CapabilityState capability = document.capability_status.state;
  const FreshnessState observation = document.observation_freshness.state;
  const WorkerState worker = document.worker_health.state;
  if (document.registry_status == ServiceStatus::kDisabled) return OverallState::kDisabled;
  if (document.http_status.state == HttpState::kUnreachable) return OverallState::kUnreachable;
  if (capability == CapabilityState::kStale || observation == FreshnessState::kStale ||
      worker == WorkerState::kStale) {
    return OverallState::kStale;
  }
  if (worker == WorkerState::kUnhealthy || capability == CapabilityState::kError ||
      worker == WorkerState::kUnknown) {
    return OverallState::kDegraded;
  }
  if (capability == CapabilityState::kFresh && observation == FreshnessState::kFresh) {
    return OverallState::kHealthy;
  }
  return OverallState::kUnknown;
}

}  // namespace

std::optional<python::DateTime> Latest(const std::optional<python::DateTime>& a,
                                       const std::optional<python::DateTime>& b) {
  if (!a || !b) return InUtc(a ? a : b);
  return python::DateTime(std::max(a->time, b->time));
}

std::string_view OverallStateName(OverallState state) {
  return kOverallStates[static_cast<size_t>(state)];
}

Value ToValue(const HealthDocument& document) {
  return Value(
      python::Object{{"service_id", document.service_id},
                     {"registry_status", ServiceStatusName(document.registry_status)},
                     {"http_status", HttpValue(document.http_status)},
                     {"capability_status", CapabilityValue(document.capability_status)},
                     {"observation_freshness", FreshnessValue(document.observation_freshness)},
                     {"worker_health", WorkerValue(document.worker_health)},
                     {"last_checked_at", python::OptionalTimeValue(document.last_checked_at)},
                     {"overall_status", OverallStateName(document.overall_status)}});
}

absl::StatusOr<HealthDocument> ParseHealthDocument(std::string_view json) {
  constexpr std::string_view kModel = "StudioServiceHealthDocument";
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(json, kModel));
  python::ModelReader reader(value, kModel);
  HealthDocument document;
  document.service_id = reader.String("service_id");
  const std::optional<ServiceStatus> status = FindServiceStatus(reader.String("registry_status"));
  if (!status) reader.Refuse("registry_status", "Input should be the status of a service");
  document.registry_status = status.value_or(ServiceStatus::kRegistered);
  AssignOrUpdate(reader, ReadHttp(reader.Object("http_status")), document.http_status);
  AssignOrUpdate(reader, ReadCapability(reader.Object("capability_status")),
                 document.capability_status);
  AssignOrUpdate(reader, ReadFreshness(reader.Object("observation_freshness")),
                 document.observation_freshness);
  AssignOrUpdate(reader, ReadWorker(reader.Object("worker_health")), document.worker_health);
  document.last_checked_at = reader.OptionalTime("last_checked_at");
  document.overall_status =
      ReadState(reader, "overall_status", kOverallStates, document.overall_status);
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return document;
}

absl::StatusOr<WorkerReport> ParseWorkerReport(std::string_view json) {
  constexpr std::string_view kModel = "WorkerHeartbeatListResponse";
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(json, kModel));
  python::ModelReader reader(value, kModel);
  const std::optional<python::DateTime> reported_at = reader.OptionalTime("reported_at");
  if (!reported_at) reader.Refuse("reported_at", "Field required");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<WorkerHeartbeat> workers,
                            ReadHeartbeats(reader.FindGiven("workers")));
  return WorkerReport{*reported_at, std::move(workers)};
}

HealthDocument Materialize(const ServiceFacts& facts, const std::optional<HealthDocument>& stored,
                           absl::Time now, const HealthLimits& limits) {
  HealthDocument document = stored.value_or(HealthDocument());
  document.service_id = facts.service.service_id;
  document.registry_status = facts.service.status;
  if (document.http_status.state == HttpState::kReachable) {
    document.http_status.error_detail.reset();
  }
  document.capability_status =
      MaterializeCapability(std::move(document.capability_status), facts.service, now, limits);
  document.observation_freshness = MaterializeFreshness(facts.activity, now, limits);
  document.worker_health =
      MaterializeWorker(std::move(document.worker_health), facts.service, now, limits);
  document.overall_status = OverallOf(document);
  return document;
}

}  // namespace redouble::inline v0_1::studio
