// Events: what a service's feed holds, what is handed to Studio, and what Studio keeps.
//
//   absl::StatusOr<EventEnvelope> envelope = ReadEventEnvelope(json);
//   DedupeKey(envelope->service_id, envelope->event)   // "svc-a:status:e1"
//
// Thread-safety: plain values, pure functions.
// Source: reference/relayna.md section 7.
#ifndef REDOUBLE_CORE_STUDIO_SERVICE_EVENT_H_
#define REDOUBLE_CORE_STUDIO_SERVICE_EVENT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "core/python/value.h"

namespace redouble::studio {

enum class SourceKind { kStatus, kObservation };
// "status", "observation".
std::string_view SourceKindName(SourceKind kind);
std::optional<SourceKind> FindSourceKind(std::string_view name);

enum class IngestMethod { kPush, kPull };
// "push", "pull".
std::string_view IngestMethodName(IngestMethod method);

// One item of a service's event feed.
struct ServiceEvent {
  std::string cursor;
  std::string task_id;
  std::string event_type;
  SourceKind source_kind = SourceKind::kStatus;
  std::optional<std::string> component;
  std::optional<std::string> timestamp;  // As it was written; may be no timestamp at all.
  std::optional<std::string> event_id;
  std::optional<std::string> correlation_id;
  std::optional<std::string> parent_task_id;
  python::Value payload;  // An object.

  friend bool operator==(const ServiceEvent&, const ServiceEvent&) = default;
};

struct EventEnvelope {
  std::string service_id;
  IngestMethod ingest_method = IngestMethod::kPull;
  ServiceEvent event;
};

// What Studio keeps, publishes and lists.
struct ControlPlaneEvent {
  std::string service_id;
  IngestMethod ingest_method = IngestMethod::kPull;
  std::string ingested_at;  // ISO with +00:00.
  std::string dedupe_key;
  bool out_of_order = false;
  ServiceEvent event;  // Its cursor is not kept.

  friend bool operator==(const ControlPlaneEvent&, const ControlPlaneEvent&) = default;
};

// Errors of all three: InvalidArgument (ValidationError).
absl::StatusOr<ServiceEvent> ReadServiceEvent(const python::Value& value);
absl::StatusOr<EventEnvelope> ReadEventEnvelope(const python::Value& value);
absl::StatusOr<ControlPlaneEvent> ParseControlPlaneEvent(std::string_view json);

// Members in the model's order.
python::Value ToValue(const ControlPlaneEvent& event);

// What makes an event the same as another one of the service: its id with its source kind, also
// when the id is empty; without an id the cursor and a hash of what the event says. Errors:
// InvalidArgument when a text in it is not UTF-8.
absl::StatusOr<std::string> DedupeKey(std::string_view service_id, const ServiceEvent& event);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_SERVICE_EVENT_H_
