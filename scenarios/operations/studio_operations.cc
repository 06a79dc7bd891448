#include "scenarios/operations/studio_operations.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/studio/model.h"
#include "core/studio/search_document.h"
#include "core/studio/service_record.h"
#include "core/studio/url.h"
#include "scenarios/operations/python_json.h"
#include "scenarios/operations/studio_parts.h"
#include "sim/scenario/arguments.h"

namespace redouble::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

using OperationTask = base::Task<OperationResult>;

OperationResult NullOr(const absl::Status& status) {
  if (!status.ok()) return status;
  return Json();
}

// The result of an operation that gives a model, or none.
template <typename Model>
OperationResult ModelOr(const absl::StatusOr<Model>& model) {
  if (!model.ok()) return model.status();
  return ToJson(ToValue(*model));
}

template <typename Model>
OperationResult ModelOr(const absl::StatusOr<std::optional<Model>>& model) {
  if (!model.ok()) return model.status();
  return *model ? ToJson(ToValue(**model)) : Json();
}

// {"count", "items", "next_cursor"}
Json PageJson(Json items, const std::optional<std::string>& next_cursor) {
  Json page;
  page["count"] = items.size();
  page["items"] = std::move(items);
  page["next_cursor"] = ToJson(next_cursor);
  return page;
}

OperationResult EventPageOr(const absl::StatusOr<studio::EventPage>& page) {
  if (!page.ok()) return page.status();
  Json items = Json::array();
  for (const studio::ControlPlaneEvent& event : page->items) {
    items.push_back(ToJson(ToValue(event)));
  }
  return PageJson(std::move(items), page->next_cursor);
}

OperationTask NormalizeBaseUrl(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string url = reader.String("url");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const absl::StatusOr<std::string> normalized = studio::NormalizeBaseUrl(url);
  if (!normalized.ok()) co_return normalized.status();
  co_return Json(*normalized);
}

// The members of a request, whatever they are: the registry judges them.
python::Value ReadRequest(ArgumentReader& reader) {
  python::Object request;
  for (const char* name : {"service_id", "name", "base_url", "environment", "tags", "auth_mode",
                           "log_config", "metrics_config", "trace_config"}) {
    if (const Json* member = reader.FindOrNull(name))
      request.Set(name, scenarios::ToValue(*member));
  }
  return python::Value(std::move(request));
}

OperationTask CreateService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const python::Value request = ReadRequest(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.registry.CreateService(request));
}

OperationTask GetService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.registry.GetService(service_id));
}

OperationTask ListServices(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto services = co_await parts.registry.ListServices();
  if (!services.ok()) co_return services.status();
  Json list = Json::array();
  for (const studio::ServiceRecord& service : *services) list.push_back(ToJson(ToValue(service)));
  co_return list;
}

OperationTask UpdateService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const python::Value changes = scenarios::ToValue(reader.Any("changes"));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.registry.UpdateService(service_id, changes));
}

OperationTask DeleteService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.registry.DeleteService(service_id));
}

OperationTask RefreshService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.registry.RefreshService(service_id, parts.now()));
}

OperationTask CreateRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const auto record = studio::ReadServiceRecord(scenarios::ToValue(reader.Any("record")));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (!record.ok()) co_return record.status();
  const absl::Status created = co_await parts.records.Create(*record);
  if (!created.ok()) co_return created;
  co_return ToJson(ToValue(*record));
}

OperationTask UpdateRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const auto record = studio::ReadServiceRecord(scenarios::ToValue(reader.Any("record")));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (!record.ok()) co_return record.status();
  const absl::Status updated = co_await parts.records.Update(*record);
  if (!updated.ok()) co_return updated;
  co_return ToJson(ToValue(*record));
}

OperationTask GetRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.records.Get(service_id));
}

OperationTask DeleteRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.records.Delete(service_id));
}

OperationTask InsertEvent(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const auto envelope = studio::ReadEventEnvelope(scenarios::ToValue(reader.Any("envelope")));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (!envelope.ok()) co_return envelope.status();
  const absl::StatusOr<bool> inserted = co_await parts.events.InsertEvent(*envelope, parts.now());
  if (!inserted.ok()) co_return inserted.status();
  co_return Json(*inserted);
}

studio::EventPageRequest ReadPageRequest(ArgumentReader& reader) {
  studio::EventPageRequest request;
  request.before = reader.OptionalString("before");
  request.limit = reader.IntegerOr("limit", request.limit);
  return request;
}

studio::EventFilter ReadFilter(ArgumentReader& reader) {
  studio::EventFilter filter;
  filter.task_id = reader.OptionalString("task_id");
  if (const auto kind = reader.OptionalString("source_kind")) {
    filter.source_kind = studio::FindSourceKind(*kind);
    if (!filter.source_kind) reader.Refuse("source_kind", "expected status or observation");
  }
  filter.event_type = reader.OptionalString("event_type");
  filter.from = reader.OptionalTime("from_time");
  filter.to = reader.OptionalTime("to_time");
  return filter;
}

OperationTask ListServiceEvents(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const studio::EventFilter filter = ReadFilter(reader);
  const studio::EventPageRequest page = ReadPageRequest(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return EventPageOr(co_await parts.events.ListServiceEvents(service_id, filter, page));
}

OperationTask ListTaskEvents(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const std::string task_id = reader.String("task_id");
  const studio::EventPageRequest page = ReadPageRequest(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const studio::TaskName task = {service_id, task_id};
  co_return EventPageOr(co_await parts.events.ListTaskEvents(task, page));
}

OperationTask ListRegisteredServiceEvents(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const studio::EventFilter filter = ReadFilter(reader);
  const studio::EventPageRequest page = ReadPageRequest(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return EventPageOr(co_await parts.ingest.ListServiceEvents(service_id, filter, page));
}

OperationTask ListRegisteredTaskEvents(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const std::string task_id = reader.String("task_id");
  const studio::EventPageRequest page = ReadPageRequest(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const studio::TaskName task = {service_id, task_id};
  co_return EventPageOr(co_await parts.ingest.ListTaskEvents(task, page));
}

OperationTask GetActivity(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto activity = co_await parts.events.GetActivitySnapshot(service_id);
  if (!activity.ok()) co_return activity.status();
  co_return Json{{"service_id", service_id},
                 {"latest_status_event_at", ToJson(activity->latest_status_event_at)},
                 {"latest_observation_event_at", ToJson(activity->latest_observation_event_at)},
                 {"latest_ingested_at", ToJson(activity->latest_ingested_at)}};
}

OperationTask GetPullCursor(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto cursor = co_await parts.events.GetPullCursor(service_id);
  if (!cursor.ok()) co_return cursor.status();
  co_return ToJson(*cursor);
}

OperationTask SetPullCursor(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  const std::string cursor = reader.String("cursor");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.events.SetPullCursor(service_id, cursor));
}

OperationTask IngestEvents(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const Json& events = reader.Any("events");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  std::vector<studio::EventEnvelope> envelopes;
  for (const Json& event : events) {
    absl::StatusOr<studio::EventEnvelope> envelope =
        studio::ReadEventEnvelope(scenarios::ToValue(event));
    if (!envelope.ok()) co_return envelope.status();
    envelopes.push_back(*std::move(envelope));
  }
  const auto report = co_await parts.ingest.IngestEvents(envelopes, parts.now());
  if (!report.ok()) co_return report.status();
  co_return Json{{"inserted", report->inserted},
                 {"duplicate", report->duplicate},
                 {"invalid", report->invalid}};
}

studio::PullSyncOptions ReadPullOptions(ArgumentReader& reader) {
  studio::PullSyncOptions options;
  options.page_limit = reader.IntegerOr("pull_page_limit", options.page_limit);
  options.max_pages = reader.IntegerOr("pull_max_pages", options.max_pages);
  return options;
}

// A moment that stands still.
class FixedClock final : public base::Clock {
 public:
  explicit FixedClock(absl::Time now) : now_(now) {}
  int64_t NowMicros() const override { return absl::ToUnixMicros(now_); }
  base::Task<void> SleepUntil(absl::Time) override { co_return; }

 private:
  absl::Time now_;
};

OperationTask SyncService(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  ScriptedFeed feed(reader);
  const studio::PullSyncOptions options = ReadPullOptions(reader);
  const Json* given = reader.Find("service");
  const std::optional<std::string> service_id = reader.OptionalString("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const FixedClock clock(parts.now());
  studio::PullSync sync(parts.ingest, parts.events, feed, options);
  absl::StatusOr<studio::ServiceRecord> service;
  if (given != nullptr) {
    service = studio::ReadServiceRecord(scenarios::ToValue(*given));
  } else {
    service = co_await parts.registry.GetService(service_id.value_or(""));
  }
  if (!service.ok()) co_return service.status();
  co_return NullOr(co_await sync.SyncService(*service, clock));
}

OperationTask SyncServices(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  ScriptedFeed feed(reader);
  const studio::PullSyncOptions options = ReadPullOptions(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const FixedClock clock(parts.now());
  studio::PullSync sync(parts.ingest, parts.events, feed, options);
  const auto round = co_await sync.SyncAll(clock);
  if (!round.ok()) co_return round.status();
  Json failed = Json::object();
  for (const auto& [id, status] : round->failed) failed[id] = std::string(status.message());
  co_return Json{{"synced", round->synced}, {"failed", std::move(failed)}};
}

OperationTask GetHealth(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.health.GetHealth(service_id, parts.now()));
}

OperationTask RefreshHealth(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.health.RefreshHealth(service_id, parts.now()));
}

OperationTask RefreshAllHealth(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto round = co_await parts.health.RefreshAll(parts.now());
  if (!round.ok()) co_return round.status();
  Json failed = Json::object();
  for (const auto& [id, status] : round->failed) failed[id] = std::string(status.message());
  co_return Json{{"refreshed", round->refreshed}, {"failed", std::move(failed)}};
}

OperationTask GetHealthDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.health_documents.GetHealth(service_id));
}

OperationTask TaskDocumentIdOf(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string service_id = reader.String("service_id");
  const std::string task_id = reader.String("task_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return Json(studio::TaskDocumentId({service_id, task_id}));
}

OperationTask BuildPrefixTokens(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string value = reader.OptionalString("value").value_or("");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return Json(studio::PrefixTokens(value));
}

OperationTask SetTaskDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const auto document = studio::ReadTaskDocument(scenarios::ToValue(reader.Any("document")));
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (!document.ok()) co_return document.status();
  co_return NullOr(co_await parts.documents.SetTaskDocument(*document));
}

std::string ReadDocumentId(ArgumentReader& reader) {
  if (const auto id = reader.OptionalString("document_id")) return *id;
  const std::string service_id = reader.String("service_id");
  const std::string task_id = reader.String("task_id");
  return studio::TaskDocumentId({service_id, task_id});
}

OperationTask GetTaskDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string id = ReadDocumentId(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return ModelOr(co_await parts.documents.GetTaskDocument(id));
}

OperationTask DeleteTaskDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string id = ReadDocumentId(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.documents.DeleteTaskDocument(id));
}

OperationTask UpsertTaskDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const auto service = studio::ReadServiceRecord(scenarios::ToValue(reader.Any("service")));
  const auto event = studio::ParseControlPlaneEvent(reader.Any("event").dump());
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if (!service.ok()) co_return service.status();
  if (!event.ok()) co_return event.status();
  co_return NullOr(co_await parts.index.UpsertTaskDocument(*service, *event, parts.now()));
}

OperationTask UpsertServiceDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const Json* given = reader.Find("service");
  const std::optional<std::string> service_id = reader.OptionalString("service_id");
  const std::optional<std::string> health = reader.OptionalString("health_status");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  absl::StatusOr<studio::ServiceRecord> service;
  if (given != nullptr) {
    service = studio::ReadServiceRecord(scenarios::ToValue(*given));
  } else {
    service = co_await parts.registry.GetService(service_id.value_or(""));
  }
  if (!service.ok()) co_return service.status();
  co_return NullOr(co_await parts.index.UpsertServiceDocument(*service, health));
}

OperationTask DeleteServiceDocument(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  const std::string service_id = reader.String("service_id");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.index.DeleteServiceDocument(service_id));
}

OperationTask SearchTasks(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  studio::TaskQuery query;
  query.service_id = reader.OptionalString("service_id");
  query.task_id = reader.OptionalString("task_id");
  query.correlation_id = reader.OptionalString("correlation_id");
  query.status = reader.OptionalString("status");
  query.stage = reader.OptionalString("stage");
  query.from_timestamp = reader.OptionalString("from_timestamp");
  query.to_timestamp = reader.OptionalString("to_timestamp");
  query.limit = reader.IntegerOr("limit", query.limit);
  query.cursor = reader.OptionalString("cursor");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto page = co_await parts.index.SearchTasks(query, parts.now());
  if (!page.ok()) co_return page.status();
  Json items = Json::array();
  for (const studio::TaskDocument& item : page->items) items.push_back(ToJson(ToValue(item)));
  co_return PageJson(std::move(items), page->next_cursor);
}

OperationTask SearchServices(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  studio::ServiceQuery query;
  query.query = reader.OptionalString("query");
  query.environment = reader.OptionalString("environment");
  query.status = reader.OptionalString("status");
  query.health = reader.OptionalString("health");
  query.tag = reader.OptionalString("tag");
  query.limit = reader.IntegerOr("limit", query.limit);
  query.cursor = reader.OptionalString("cursor");
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto page = co_await parts.index.SearchServices(query);
  if (!page.ok()) co_return page.status();
  Json items = Json::array();
  for (const studio::FoundService& found : page->items) {
    Json item = ToJson(ToValue(found.document));
    item["matched_fields"] = found.matched_fields;
    items.push_back(std::move(item));
  }
  co_return PageJson(std::move(items), page->next_cursor);
}

OperationTask PruneExpired(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  const auto removed = co_await parts.index.PruneExpired(parts.now());
  if (!removed.ok()) co_return removed.status();
  co_return Json(*removed);
}

OperationTask InitializeSearch(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return NullOr(co_await parts.index.Initialize(parts.records, parts.events, parts.now()));
}

}  // namespace

sim::OperationTable StudioOperations() {
  sim::OperationTable table;
  table.Add("registry.normalize_base_url", NormalizeBaseUrl);
  table.Add("registry.create_service", CreateService);
  table.Add("registry.get_service", GetService);
  table.Add("registry.list_services", ListServices);
  table.Add("registry.update_service", UpdateService);
  table.Add("registry.delete_service", DeleteService);
  table.Add("registry.refresh_service", RefreshService);
  table.Add("registry.create", CreateRecord);
  table.Add("registry.update", UpdateRecord);
  table.Add("registry.get", GetRecord);
  table.Add("registry.delete", DeleteRecord);
  table.Add("events.insert_event", InsertEvent);
  table.Add("events.list_service_events", ListServiceEvents);
  table.Add("events.list_task_events", ListTaskEvents);
  table.Add("events.get_service_activity_snapshot", GetActivity);
  table.Add("events.get_pull_cursor", GetPullCursor);
  table.Add("events.set_pull_cursor", SetPullCursor);
  table.Add("ingest.ingest_events", IngestEvents);
  table.Add("ingest.list_service_events", ListRegisteredServiceEvents);
  table.Add("ingest.list_task_events", ListRegisteredTaskEvents);
  table.Add("ingest.sync_service", SyncService);
  table.Add("ingest.sync_registered_services", SyncServices);
  table.Add("health.get_health", GetHealth);
  table.Add("health.refresh_health", RefreshHealth);
  table.Add("health.refresh_all_services", RefreshAllHealth);
  table.Add("health_store.get_health", GetHealthDocument);
  table.Add("search.task_document_id", TaskDocumentIdOf);
  table.Add("search.build_prefix_tokens", BuildPrefixTokens);
  table.Add("search.set_task_document", SetTaskDocument);
  table.Add("search.get_task_document", GetTaskDocument);
  table.Add("search.delete_task_document", DeleteTaskDocument);
  table.Add("search.upsert_task_document", UpsertTaskDocument);
  table.Add("search.upsert_service_document", UpsertServiceDocument);
  table.Add("search.delete_service_document", DeleteServiceDocument);
  table.Add("search.search_tasks", SearchTasks);
  table.Add("search.search_services", SearchServices);
  table.Add("search.prune_expired_task_documents", PruneExpired);
  table.Add("search.initialize", InitializeSearch);
  return table;
}

}  // namespace redouble::scenarios
