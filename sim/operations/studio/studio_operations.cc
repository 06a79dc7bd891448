#include "redouble/sim/operations/studio/studio_operations.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/studio/registry/service_record.h"
#include "redouble/core/studio/registry/url.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/python_json.h"
#include "redouble/sim/operations/studio/studio_parts.h"
#include "redouble/sim/operations/studio/studio_perform.h"

namespace redouble::inline v0_1::scenarios {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationResult;

absl::StatusOr<ServiceChoice> ReadServiceChoice(ArgumentReader& reader) {
  ServiceChoice choice;
  choice.service_id = reader.OptionalString("service_id").value_or("");
  const Json* given = reader.Find("service");
  if (given == nullptr) return choice;
  REDOUBLE_ASSIGN_OR_RETURN(choice.record, studio::ReadServiceRecord(ToValue(*given)));
  return choice;
}

base::Task<absl::StatusOr<studio::ServiceRecord>> Chosen(StudioParts& parts,
                                                         const ServiceChoice& choice) {
  if (choice.record) co_return *choice.record;
  co_return co_await parts.registry.GetService(choice.service_id);
}

namespace {

OperationResult EventPageOr(const absl::StatusOr<studio::EventPage>& page) {
  REDOUBLE_RETURN_IF_ERROR(page.status());
  Json items = Json::array();
  for (const studio::ControlPlaneEvent& event : page->items) {
    items.push_back(ToJson(ToValue(event)));
  }
  return PageJson(std::move(items), page->next_cursor);
}

// Returns {"refreshed" or "synced": [ids], "failed": {id: message}}.
Json RoundJson(const char* name, const std::vector<std::string>& succeeded,
               const std::vector<std::pair<std::string, absl::Status>>& failures) {
  Json failed = Json::object();
  for (const auto& [id, status] : failures) failed[id] = std::string(status.message());
  return Json{{name, succeeded}, {"failed", std::move(failed)}};
}

std::string ReadUrl(ArgumentReader& reader) { return reader.String("url"); }

OperationResult NormalizeBaseUrl(const std::string& url) {
  return ValueOr(studio::NormalizeBaseUrl(url));
}

// Reads all members of a request; the registry validates them.
python::Value ReadRequest(ArgumentReader& reader) {
  python::Object request;
  for (const char* name : {"service_id", "name", "base_url", "environment", "tags", "auth_mode",
                           "status", "log_config", "metrics_config", "trace_config"}) {
    if (const Json* member = reader.FindOrNull(name)) request.Set(name, ToValue(*member));
  }
  return python::Value(std::move(request));
}

OperationTask CreateService(StudioParts& parts, const python::Value& request) {
  co_return ModelOr(co_await parts.registry.CreateService(request));
}

OperationTask GetService(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.registry.GetService(service_id));
}

OperationTask ListServices(StudioParts& parts, NoArguments) {
  co_return ModelsOr(co_await parts.registry.ListServices());
}

struct ServiceUpdate {
  std::string service_id;
  python::Value changes;
};

ServiceUpdate ReadUpdate(ArgumentReader& reader) {
  ServiceUpdate update;
  update.service_id = reader.String("service_id");
  update.changes = ToValue(reader.Any("changes"));
  return update;
}

OperationTask UpdateService(StudioParts& parts, const ServiceUpdate& update) {
  co_return ModelOr(co_await parts.registry.UpdateService(update.service_id, update.changes));
}

OperationTask DeleteService(StudioParts& parts, const std::string& service_id) {
  co_return NullOr(co_await parts.registry.DeleteService(service_id));
}

OperationTask RefreshService(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.registry.RefreshService(service_id, parts.now()));
}

absl::StatusOr<studio::ServiceRecord> ReadRecord(ArgumentReader& reader) {
  return studio::ReadServiceRecord(ToValue(reader.Any("record")));
}

OperationTask CreateRecord(StudioParts& parts, const studio::ServiceRecord& record) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await parts.records.Create(record));
  co_return ToJson(ToValue(record));
}

OperationTask UpdateRecord(StudioParts& parts, const studio::ServiceRecord& record) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await parts.records.Update(record));
  co_return ToJson(ToValue(record));
}

OperationTask GetRecord(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.records.Get(service_id));
}

OperationTask ListRecords(StudioParts& parts, NoArguments) {
  co_return ModelsOr(co_await parts.records.List());
}

OperationTask DeleteRecord(StudioParts& parts, const std::string& service_id) {
  co_return NullOr(co_await parts.records.Delete(service_id));
}

absl::StatusOr<studio::EventEnvelope> ReadEnvelope(ArgumentReader& reader) {
  return studio::ReadEventEnvelope(ToValue(reader.Any("envelope")));
}

OperationTask InsertEvent(StudioParts& parts, const studio::EventEnvelope& envelope) {
  co_return ValueOr(co_await parts.events.InsertEvent(envelope, parts.now()));
}

// The scope of a query: the events of a service, or of one of its tasks.
struct EventQuery {
  std::string service_id;
  std::string task_id;
  studio::EventFilter filter;
  studio::EventPageRequest page;
};

EventQuery ReadPage(ArgumentReader& reader) {
  EventQuery query;
  query.service_id = reader.String("service_id");
  query.page.before = reader.OptionalString("before");
  query.page.limit = reader.IntegerOr("limit", query.page.limit);
  return query;
}

EventQuery ReadServiceQuery(ArgumentReader& reader) {
  EventQuery query = ReadPage(reader);
  query.filter.task_id = reader.OptionalString("task_id");
  if (const auto kind = reader.OptionalString("source_kind")) {
    query.filter.source_kind = studio::FindSourceKind(*kind);
    if (!query.filter.source_kind) reader.Refuse("source_kind", "expected status or observation");
  }
  query.filter.event_type = reader.OptionalString("event_type");
  query.filter.from = reader.OptionalTime("from_time");
  query.filter.to = reader.OptionalTime("to_time");
  return query;
}

EventQuery ReadTaskQuery(ArgumentReader& reader) {
  EventQuery query = ReadPage(reader);
  query.task_id = reader.String("task_id");
  return query;
}

// `kPart` is the event store, or the ingest service, which first asks the registry.
template <auto kPart>
OperationTask ListServiceEvents(StudioParts& parts, const EventQuery& query) {
  co_return EventPageOr(
      co_await (parts.*kPart).ListServiceEvents(query.service_id, query.filter, query.page));
}

template <auto kPart>
OperationTask ListTaskEvents(StudioParts& parts, const EventQuery& query) {
  const studio::TaskName task = {query.service_id, query.task_id};
  co_return EventPageOr(co_await (parts.*kPart).ListTaskEvents(task, query.page));
}

OperationTask GetActivity(StudioParts& parts, const std::string& service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto activity,
                               co_await parts.events.GetActivitySnapshot(service_id));
  co_return Json{{"service_id", service_id},
                 {"latest_status_event_at", ToJson(activity.latest_status_event_at)},
                 {"latest_observation_event_at", ToJson(activity.latest_observation_event_at)},
                 {"latest_ingested_at", ToJson(activity.latest_ingested_at)}};
}

OperationTask GetPullCursor(StudioParts& parts, const std::string& service_id) {
  co_return ValueOr(co_await parts.events.GetPullCursor(service_id));
}

struct PullCursor {
  std::string service_id;
  std::string cursor;
};

PullCursor ReadPullCursor(ArgumentReader& reader) {
  PullCursor cursor;
  cursor.service_id = reader.String("service_id");
  cursor.cursor = reader.String("cursor");
  return cursor;
}

OperationTask SetPullCursor(StudioParts& parts, const PullCursor& cursor) {
  co_return NullOr(co_await parts.events.SetPullCursor(cursor.service_id, cursor.cursor));
}

absl::StatusOr<std::vector<studio::EventEnvelope>> ReadEvents(ArgumentReader& reader) {
  std::vector<studio::EventEnvelope> envelopes;
  for (const Json& event : reader.Any("events")) {
    REDOUBLE_ASSIGN_OR_RETURN(studio::EventEnvelope envelope,
                              studio::ReadEventEnvelope(ToValue(event)));
    envelopes.push_back(std::move(envelope));
  }
  return envelopes;
}

OperationTask IngestEvents(StudioParts& parts,
                           const std::vector<studio::EventEnvelope>& envelopes) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto report,
                               co_await parts.ingest.IngestEvents(envelopes, parts.now()));
  co_return Json{
      {"inserted", report.inserted}, {"duplicate", report.duplicate}, {"invalid", report.invalid}};
}

// The feed, and how far to pull it.
struct Pull {
  explicit Pull(ArgumentReader& reader) : feed(reader) {
    options.page_limit = reader.IntegerOr("pull_page_limit", options.page_limit);
    options.max_pages = reader.IntegerOr("pull_max_pages", options.max_pages);
  }

  ScriptedFeed feed;
  studio::PullSyncOptions options;
};

struct ServicePull {
  Pull pull;
  ServiceChoice service;
};

Pull ReadPull(ArgumentReader& reader) { return Pull(reader); }

absl::StatusOr<ServicePull> ReadServicePull(ArgumentReader& reader) {
  Pull pull(reader);
  REDOUBLE_ASSIGN_OR_RETURN(ServiceChoice service, ReadServiceChoice(reader));
  return ServicePull{std::move(pull), std::move(service)};
}

OperationTask SyncService(StudioParts& parts, ServicePull& request) {
  const FixedClock clock(parts.now());
  studio::PullSync sync(parts.ingest, parts.events, request.pull.feed, request.pull.options);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto service, co_await Chosen(parts, request.service));
  co_return NullOr(co_await sync.SyncService(service, clock));
}

OperationTask SyncServices(StudioParts& parts, Pull& pull) {
  const FixedClock clock(parts.now());
  studio::PullSync sync(parts.ingest, parts.events, pull.feed, pull.options);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto round, co_await sync.SyncAll(clock));
  co_return RoundJson("synced", round.synced, round.failed);
}

OperationTask GetHealth(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.health.GetHealth(service_id, parts.now()));
}

struct HealthRefresh {
  std::string service_id;
  studio::HealthRefreshOptions options;
};

HealthRefresh ReadHealthRefresh(ArgumentReader& reader) {
  HealthRefresh refresh;
  refresh.service_id = reader.String("service_id");
  refresh.options.use_cached_capabilities = reader.BoolOr("use_cached_capabilities", false);
  return refresh;
}

OperationTask RefreshHealth(StudioParts& parts, const HealthRefresh& refresh) {
  co_return ModelOr(
      co_await parts.health.RefreshHealth(refresh.service_id, parts.now(), refresh.options));
}

OperationTask RefreshAllHealth(StudioParts& parts, NoArguments) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto round, co_await parts.health.RefreshAll(parts.now()));
  co_return RoundJson("refreshed", round.refreshed, round.failed);
}

OperationTask GetHealthDocument(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.health_documents.GetHealth(service_id));
}

}  // namespace

sim::OperationTable StudioOperations() {
  sim::OperationTable table;
  table.Add("registry.normalize_base_url", Compute<ReadUrl, NormalizeBaseUrl>);
  table.Add("registry.create_service", Perform<ReadRequest, CreateService>);
  table.Add("registry.get_service", Perform<ReadServiceId, GetService>);
  table.Add("registry.list_services", Perform<ReadNothing, ListServices>);
  table.Add("registry.update_service", Perform<ReadUpdate, UpdateService>);
  table.Add("registry.delete_service", Perform<ReadServiceId, DeleteService>);
  table.Add("registry.refresh_service", Perform<ReadServiceId, RefreshService>);
  table.Add("registry.create", Perform<ReadRecord, CreateRecord>);
  table.Add("registry.update", Perform<ReadRecord, UpdateRecord>);
  table.Add("registry.get", Perform<ReadServiceId, GetRecord>);
  table.Add("registry.list", Perform<ReadNothing, ListRecords>);
  table.Add("registry.delete", Perform<ReadServiceId, DeleteRecord>);
  table.Add("events.insert_event", Perform<ReadEnvelope, InsertEvent>);
  table.Add("events.list_service_events",
            Perform<ReadServiceQuery, ListServiceEvents<&StudioParts::events>>);
  table.Add("events.list_task_events",
            Perform<ReadTaskQuery, ListTaskEvents<&StudioParts::events>>);
  table.Add("events.get_service_activity_snapshot", Perform<ReadServiceId, GetActivity>);
  table.Add("events.get_pull_cursor", Perform<ReadServiceId, GetPullCursor>);
  table.Add("events.set_pull_cursor", Perform<ReadPullCursor, SetPullCursor>);
  table.Add("ingest.ingest_events", Perform<ReadEvents, IngestEvents>);
  table.Add("ingest.list_service_events",
            Perform<ReadServiceQuery, ListServiceEvents<&StudioParts::ingest>>);
  table.Add("ingest.list_task_events",
            Perform<ReadTaskQuery, ListTaskEvents<&StudioParts::ingest>>);
  table.Add("ingest.sync_service", Perform<ReadServicePull, SyncService>);
  table.Add("ingest.sync_registered_services", Perform<ReadPull, SyncServices>);
  table.Add("health.get_health", Perform<ReadServiceId, GetHealth>);
  table.Add("health.refresh_health", Perform<ReadHealthRefresh, RefreshHealth>);
  table.Add("health.refresh_all_services", Perform<ReadNothing, RefreshAllHealth>);
  table.Add("health_store.get_health", Perform<ReadServiceId, GetHealthDocument>);
  AddSearchOperations(table);
  AddFacadeOperations(table);
  return table;
}

}  // namespace redouble::inline v0_1::scenarios
