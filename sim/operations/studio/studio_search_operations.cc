#include <optional>
#include <string>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/studio/search/search_document.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/python_json.h"
#include "redouble/sim/operations/studio/studio_parts.h"
#include "redouble/sim/operations/studio/studio_perform.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using sim::Json;
using sim::OperationResult;

struct TaskId {
  std::string service_id;
  std::string task_id;
};

TaskId ReadTaskId(ArgumentReader& reader) {
  TaskId id;
  id.service_id = reader.String("service_id");
  id.task_id = reader.String("task_id");
  return id;
}

OperationResult TaskDocumentIdOf(const TaskId& id) {
  return Json(studio::TaskDocumentId({id.service_id, id.task_id}));
}

std::string ReadValue(ArgumentReader& reader) {
  return reader.OptionalString("value").value_or("");
}

OperationResult PrefixTokensOf(const std::string& value) {
  return Json(studio::PrefixTokens(value));
}

std::string ReadDocumentId(ArgumentReader& reader) {
  if (const auto id = reader.OptionalString("document_id")) return *id;
  const TaskId id = ReadTaskId(reader);
  return studio::TaskDocumentId({id.service_id, id.task_id});
}

absl::StatusOr<studio::TaskDocument> ReadDocument(ArgumentReader& reader) {
  return studio::ReadTaskDocument(ToValue(reader.Any("document")));
}

OperationTask SetTaskDocument(StudioParts& parts, const studio::TaskDocument& document) {
  co_return NullOr(co_await parts.documents.SetTaskDocument(document));
}

OperationTask GetTaskDocument(StudioParts& parts, const std::string& id) {
  co_return ModelOr(co_await parts.documents.GetTaskDocument(id));
}

OperationTask DeleteTaskDocument(StudioParts& parts, const std::string& id) {
  co_return NullOr(co_await parts.documents.DeleteTaskDocument(id));
}

absl::StatusOr<studio::ServiceDocument> ReadServiceDocument(ArgumentReader& reader) {
  return studio::ParseServiceDocument(reader.Any("document").dump());
}

OperationTask SetServiceDocument(StudioParts& parts, const studio::ServiceDocument& document) {
  co_return NullOr(co_await parts.documents.SetServiceDocument(document));
}

OperationTask GetServiceDocument(StudioParts& parts, const std::string& service_id) {
  co_return ModelOr(co_await parts.documents.GetServiceDocument(service_id));
}

struct TaskUpsert {
  studio::ServiceRecord service;
  studio::ControlPlaneEvent event;
};

absl::StatusOr<TaskUpsert> ReadTaskUpsert(ArgumentReader& reader) {
  auto service = studio::ReadServiceRecord(ToValue(reader.Any("service")));
  auto event = studio::ParseControlPlaneEvent(reader.Any("event").dump());
  REDOUBLE_RETURN_IF_ERROR(service.status());
  REDOUBLE_RETURN_IF_ERROR(event.status());
  return TaskUpsert{*std::move(service), *std::move(event)};
}

OperationTask UpsertTaskDocument(StudioParts& parts, const TaskUpsert& upsert) {
  co_return NullOr(
      co_await parts.index.UpsertTaskDocument(upsert.service, upsert.event, parts.now()));
}

struct ServiceUpsert {
  ServiceChoice service;
  std::optional<std::string> health_status;
};

absl::StatusOr<ServiceUpsert> ReadServiceUpsert(ArgumentReader& reader) {
  std::optional<std::string> health_status = reader.OptionalString("health_status");
  REDOUBLE_ASSIGN_OR_RETURN(ServiceChoice service, ReadServiceChoice(reader));
  return ServiceUpsert{std::move(service), std::move(health_status)};
}

OperationTask UpsertServiceDocument(StudioParts& parts, const ServiceUpsert& upsert) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto service, co_await Chosen(parts, upsert.service));
  co_return NullOr(co_await parts.index.UpsertServiceDocument(service, upsert.health_status));
}

OperationTask DeleteServiceDocument(StudioParts& parts, const std::string& service_id) {
  co_return NullOr(co_await parts.index.DeleteServiceDocument(service_id));
}

OperationTask DeleteTasksOfService(StudioParts& parts, const std::string& service_id) {
  co_return NullOr(co_await parts.index.DeleteTaskDocumentsOfService(service_id));
}

studio::TaskQuery ReadTaskQuery(ArgumentReader& reader) {
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
  return query;
}

OperationTask SearchTasks(StudioParts& parts, const studio::TaskQuery& query) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto page,
                               co_await parts.index.SearchTasks(query, parts.now()));
  Json items = Json::array();
  for (const studio::TaskDocument& item : page.items) items.push_back(ToJson(ToValue(item)));
  co_return PageJson(std::move(items), page.next_cursor);
}

studio::ServiceQuery ReadServiceQuery(ArgumentReader& reader) {
  studio::ServiceQuery query;
  query.query = reader.OptionalString("query");
  query.environment = reader.OptionalString("environment");
  query.status = reader.OptionalString("status");
  query.health = reader.OptionalString("health");
  query.tag = reader.OptionalString("tag");
  query.limit = reader.IntegerOr("limit", query.limit);
  query.cursor = reader.OptionalString("cursor");
  return query;
}

OperationTask SearchServices(StudioParts& parts, const studio::ServiceQuery& query) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto page, co_await parts.index.SearchServices(query));
  Json items = Json::array();
  for (const studio::FoundService& found : page.items) {
    Json item = ToJson(ToValue(found.document));
    item["matched_fields"] = found.matched_fields;
    items.push_back(std::move(item));
  }
  co_return PageJson(std::move(items), page.next_cursor);
}

OperationTask PruneExpired(StudioParts& parts, NoArguments) {
  co_return ValueOr(co_await parts.index.PruneExpired(parts.now()));
}

OperationTask InitializeSearch(StudioParts& parts, NoArguments) {
  co_return NullOr(co_await parts.index.Initialize(parts.records, parts.events, parts.now()));
}

}  // namespace

void AddSearchOperations(sim::OperationTable& table) {
  table.Add("search.task_document_id", Compute<ReadTaskId, TaskDocumentIdOf>);
  table.Add("search.build_prefix_tokens", Compute<ReadValue, PrefixTokensOf>);
  table.Add("search.set_task_document", Perform<ReadDocument, SetTaskDocument>);
  table.Add("search.get_task_document", Perform<ReadDocumentId, GetTaskDocument>);
  table.Add("search.delete_task_document", Perform<ReadDocumentId, DeleteTaskDocument>);
  table.Add("search.set_service_document", Perform<ReadServiceDocument, SetServiceDocument>);
  table.Add("search.get_service_document", Perform<ReadServiceId, GetServiceDocument>);
  table.Add("search.upsert_task_document", Perform<ReadTaskUpsert, UpsertTaskDocument>);
  table.Add("search.upsert_service_document", Perform<ReadServiceUpsert, UpsertServiceDocument>);
  table.Add("search.delete_service_document", Perform<ReadServiceId, DeleteServiceDocument>);
  table.Add("search.delete_task_documents_for_service",
            Perform<ReadServiceId, DeleteTasksOfService>);
  table.Add("search.search_tasks", Perform<ReadTaskQuery, SearchTasks>);
  table.Add("search.search_services", Perform<ReadServiceQuery, SearchServices>);
  table.Add("search.prune_expired_task_documents", Perform<ReadNothing, PruneExpired>);
  table.Add("search.initialize", Perform<ReadNothing, InitializeSearch>);
}

}  // namespace redouble::inline v0_1::scenarios
