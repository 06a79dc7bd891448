#include "redouble/core/studio/events/service_event.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/model_reader.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using python::Value;

constexpr std::array<std::string_view, 2> kSourceKinds = {"status", "observation"};
constexpr std::array<std::string_view, 2> kIngestMethods = {"push", "pull"};

SourceKind ReadSourceKind(python::ModelReader& reader) {
  const std::optional<SourceKind> kind = FindSourceKind(reader.String("source_kind"));
  if (!kind) reader.Refuse("source_kind", "Input should be 'status' or 'observation'");
  return kind.value_or(SourceKind::kStatus);
}

IngestMethod ReadIngestMethod(python::ModelReader& reader) {
  const std::string name = reader.String("ingest_method");
  const auto found = std::find(kIngestMethods.begin(), kIngestMethods.end(), name);
  if (found == kIngestMethods.end()) {
    reader.Refuse("ingest_method", "Input should be 'push' or 'pull'");
    return IngestMethod::kPull;
  }
  return static_cast<IngestMethod>(found - kIngestMethods.begin());
}

// Reads all members but the cursor, which only feed items have.
ServiceEvent ReadEventMembers(python::ModelReader& reader) {
  ServiceEvent event;
  event.task_id = reader.String("task_id");
  event.event_type = reader.String("event_type");
  event.source_kind = ReadSourceKind(reader);
  event.component = reader.OptionalString("component");
  event.timestamp = reader.OptionalString("timestamp");
  event.event_id = reader.OptionalString("event_id");
  event.correlation_id = reader.OptionalString("correlation_id");
  event.parent_task_id = reader.OptionalString("parent_task_id");
  event.payload = reader.Object("payload");
  return event;
}

}  // namespace

std::string_view SourceKindName(SourceKind kind) { return kSourceKinds[static_cast<size_t>(kind)]; }

std::optional<SourceKind> FindSourceKind(std::string_view name) {
  const auto found = std::find(kSourceKinds.begin(), kSourceKinds.end(), name);
  if (found == kSourceKinds.end()) return std::nullopt;
  return static_cast<SourceKind>(found - kSourceKinds.begin());
}

std::string_view IngestMethodName(IngestMethod method) {
  return kIngestMethods[static_cast<size_t>(method)];
}

absl::StatusOr<ServiceEvent> ReadServiceEvent(const Value& value) {
  python::ModelReader reader(value, "RelaynaServiceEvent");
  std::string cursor = reader.String("cursor");
  ServiceEvent event = ReadEventMembers(reader);
  event.cursor = std::move(cursor);
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return event;
}

absl::StatusOr<EventEnvelope> ReadEventEnvelope(const Value& value) {
  python::ModelReader reader(value, "StudioEventEnvelope");
  EventEnvelope envelope;
  envelope.service_id = reader.String("service_id");
  if (envelope.service_id.empty()) {
    reader.Refuse("service_id", "String should have at least 1 character");
  }
  envelope.ingest_method = ReadIngestMethod(reader);
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  REDOUBLE_ASSIGN_OR_RETURN(envelope.event, ReadServiceEvent(reader.Object("event")));
  return envelope;
}

absl::StatusOr<ControlPlaneEvent> ParseControlPlaneEvent(std::string_view json) {
  constexpr std::string_view kModel = "StudioControlPlaneEvent";
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(json, kModel));
  python::ModelReader reader(value, kModel);
  ControlPlaneEvent event;
  event.service_id = reader.String("service_id");
  event.ingest_method = ReadIngestMethod(reader);
  event.ingested_at = reader.String("ingested_at");
  event.dedupe_key = reader.String("dedupe_key");
  event.out_of_order = reader.BoolOr("out_of_order", false);
  event.event = ReadEventMembers(reader);
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return event;
}

Value ToValue(const ControlPlaneEvent& event) {
  return Value(python::Object{{"service_id", event.service_id},
                              {"ingest_method", IngestMethodName(event.ingest_method)},
                              {"ingested_at", event.ingested_at},
                              {"dedupe_key", event.dedupe_key},
                              {"out_of_order", event.out_of_order},
                              {"task_id", event.event.task_id},
                              {"event_type", event.event.event_type},
                              {"source_kind", SourceKindName(event.event.source_kind)},
                              {"component", event.event.component},
                              {"timestamp", event.event.timestamp},
                              {"event_id", event.event.event_id},
                              {"correlation_id", event.event.correlation_id},
                              {"parent_task_id", event.event.parent_task_id},
                              {"payload", event.event.payload}});
}

absl::StatusOr<std::string> DedupeKey(std::string_view service_id, const ServiceEvent& event) {
  std::string key =
      absl::StrCat(ToAbsl(service_id), ":", ToAbsl(SourceKindName(event.source_kind)), ":");
  if (event.event_id) return key + *event.event_id;
  const Value said(python::Object{{"event_type", event.event_type},
                                  {"payload", event.payload},
                                  {"service_id", service_id},
                                  {"source_kind", SourceKindName(event.source_kind)},
                                  {"task_id", event.task_id},
                                  {"timestamp", event.timestamp}});
  REDOUBLE_ASSIGN_OR_RETURN(const std::string hash, python::HashOfPyJson(said, {.sorted = true}));
  absl::StrAppend(&key, event.cursor, ":", hash);
  return key;
}

}  // namespace redouble::inline v0_1::studio
