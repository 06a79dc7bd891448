// The three forms of an event: the item of a service's feed (ServiceEvent), the envelope that is
// handed to Studio (EventEnvelope), and the document that Studio stores (ControlPlaneEvent).
//
//   absl::StatusOr<EventEnvelope> envelope = ReadEventEnvelope(json);
//   DedupeKey(envelope->service_id, envelope->event);   // "svc-a:status:e1"
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/studio.md 2.4, 2.5 and 2.6.
#ifndef REDOUBLE_CORE_STUDIO_EVENTS_SERVICE_EVENT_H_
#define REDOUBLE_CORE_STUDIO_EVENTS_SERVICE_EVENT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::studio {

enum class SourceKind { kStatus, kObservation };
// "status" or "observation".
std::string_view SourceKindName(SourceKind kind);
std::optional<SourceKind> FindSourceKind(std::string_view name);

enum class IngestMethod { kPush, kPull };
// "push" or "pull".
std::string_view IngestMethodName(IngestMethod method);

// An item of a service's event feed.
struct ServiceEvent {
  std::string cursor;
  std::string task_id;
  std::string event_type;
  SourceKind source_kind = SourceKind::kStatus;
  std::optional<std::string> component;
  // The text of the service, which need not be a valid timestamp.
  std::optional<std::string> timestamp;
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

// An event document: what Studio stores, publishes and lists.
struct ControlPlaneEvent {
  std::string service_id;
  IngestMethod ingest_method = IngestMethod::kPull;
  std::string ingested_at;  // ISO with +00:00.
  std::string dedupe_key;
  bool out_of_order = false;
  ServiceEvent event;  // Its cursor is not stored.

  friend bool operator==(const ControlPlaneEvent&, const ControlPlaneEvent&) = default;
};

// Read the three forms. Errors: InvalidArgument (ValidationError).
absl::StatusOr<ServiceEvent> ReadServiceEvent(const python::Value& value);
absl::StatusOr<EventEnvelope> ReadEventEnvelope(const python::Value& value);
absl::StatusOr<ControlPlaneEvent> ParseControlPlaneEvent(std::string_view json);

// The document as an object, with the members in the order of the model.
python::Value ToValue(const ControlPlaneEvent& event);

// The key that identifies an event within Studio: service id, source kind and event id, also if the
// event id is empty. Without an event id: service id, source kind, cursor and a hash of the event.
// Errors: InvalidArgument if a text of the event is not UTF-8.
// Source: docs/systems/studio.md 2.6.
absl::StatusOr<std::string> DedupeKey(std::string_view service_id, const ServiceEvent& event);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENTS_SERVICE_EVENT_H_
