#include "redouble/core/studio/search/search_index.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::studio {
namespace {

constexpr int64_t kMinTtlSeconds = 60;

// The stripped text; nullopt if it is blank.
std::optional<std::string> Stripped(const std::optional<std::string>& value) {
  if (!value) return std::nullopt;
  const std::string_view stripped = python::Strip(*value);
  if (stripped.empty()) return std::nullopt;
  return std::string(stripped);
}

bool HasText(const std::optional<std::string>& value) { return value && !value->empty(); }

bool HasCriteria(const TaskQuery& query) {
  return HasText(query.service_id) || HasText(query.task_id) || HasText(query.correlation_id) ||
         HasText(query.status) || HasText(query.stage) || HasText(query.from_timestamp) ||
         HasText(query.to_timestamp);
}

// Intersects two sorted lists. nullopt in `so_far` means all documents.
void Intersect(std::optional<std::vector<std::string>>& so_far, std::vector<std::string> ids) {
  if (!so_far) {
    so_far = std::move(ids);
    return;
  }
  std::vector<std::string> both;
  std::set_intersection(so_far->begin(), so_far->end(), ids.begin(), ids.end(),
                        std::back_inserter(both));
  so_far = std::move(both);
}

// The index after the item that the cursor names; 0 if it names no item.
template <typename Item, typename MembersOf>
absl::StatusOr<size_t> FirstOfPage(const std::vector<Item>& items,
                                   const std::optional<std::string>& cursor,
                                   const MembersOf& names) {
  if (!HasText(cursor)) return 0;
  REDOUBLE_ASSIGN_OR_RETURN(const python::Value decoded, DecodeCursor(*cursor));
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const Item& item) { return names(decoded, item); });
  return found == items.end() ? 0 : static_cast<size_t>(found - items.begin()) + 1;
}

// Cuts `items` to one page. Returns true if more items follow.
template <typename Item>
bool CutToPage(std::vector<Item>& items, size_t first, int64_t limit) {
  const size_t size =
      std::min(static_cast<size_t>(std::max<int64_t>(1, limit)), items.size() - first);
  const bool more = first + size < items.size();
  items.erase(items.begin() + static_cast<ptrdiff_t>(first + size), items.end());
  items.erase(items.begin(), items.begin() + static_cast<ptrdiff_t>(first));
  return more && size > 0;
}

absl::StatusOr<std::optional<std::string>> PayloadText(const python::Value& payload,
                                                       std::string_view name) {
  return python::NormalizedText(payload.Find(name));
}

// A missing timestamp has the place of Python's first datetime.
absl::Time TimeOrFirst(const std::optional<absl::Time>& time) {
  return time.value_or(absl::FromCivil(absl::CivilDay(1, 1, 1), absl::UTCTimeZone()));
}

}  // namespace

SearchIndex::SearchIndex(SearchStore& documents, SearchIndexOptions options)
    : documents_(documents), options_(options) {}

std::optional<absl::Time> SearchIndex::ParseTime(const std::optional<std::string>& text) const {
  return text ? python::ParseTimestamp(*text, options_.local_zone) : std::nullopt;
}

std::optional<std::string> SearchIndex::Normalized(std::optional<absl::Time> time) const {
  if (!time) return std::nullopt;
  return python::FormatIsoZ(*time);
}

bool SearchIndex::IsExpired(const TaskDocument& document, absl::Time now) const {
  const std::optional<absl::Time> expires_at = ParseTime(document.expires_at);
  return expires_at && *expires_at <= now;
}

absl::StatusOr<TaskDocument> SearchIndex::Next(const std::optional<TaskDocument>& present,
                                               const ServiceRecord& service,
                                               const ControlPlaneEvent& event,
                                               absl::Time now) const {
  const std::optional<std::string> timestamp =
      HasText(event.event.timestamp) ? event.event.timestamp : event.ingested_at;
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> status,
                            PayloadText(event.event.payload, "status"));
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> stage,
                            PayloadText(event.event.payload, "stage"));

  TaskDocument document;
  if (present) {
    document = *present;
  } else {
    document.service_id = service.service_id;
    document.task_id = event.event.task_id;
    document.correlation_id = event.event.correlation_id;
    document.first_seen_at = timestamp;
    document.last_seen_at = timestamp;
    document.latest_event_type = event.event.event_type;
    document.latest_event_at = event.event.timestamp;
    document.latest_ingested_at = event.ingested_at;
  }
  document.service_name = service.name;
  document.environment = service.environment;
  if (HasText(event.event.correlation_id)) document.correlation_id = event.event.correlation_id;
  if (status) document.status = status;
  if (stage) document.stage = stage;

  // nullopt is less than every time.
  const std::optional<absl::Time> time = ParseTime(timestamp);
  const std::optional<absl::Time> first = ParseTime(document.first_seen_at);
  document.first_seen_at =
      Normalized(time && first ? std::min(time, first) : std::max(time, first));
  document.last_seen_at = Normalized(std::max(time, ParseTime(document.last_seen_at)));
  if (time && time >= ParseTime(document.latest_event_at)) {
    document.latest_event_at = Normalized(time);
    document.latest_event_type = event.event.event_type;
  }
  document.latest_ingested_at = Normalized(std::max(ParseTime(document.latest_ingested_at),
                                                    ParseTime(std::optional(event.ingested_at))));
  document.detail_path =
      absl::StrCat("/studio/tasks/", service.service_id, "/", event.event.task_id);
  document.expires_at =
      python::FormatIsoZ(now + absl::Seconds(std::max(kMinTtlSeconds, options_.task_ttl_seconds)));
  return document;
}

base::Task<absl::Status> SearchIndex::UpsertTaskDocument(const ServiceRecord& service,
                                                         const ControlPlaneEvent& event,
                                                         absl::Time now) {
  const std::string id = TaskDocumentId({service.service_id, event.event.task_id});
  const SearchStore::TaskChange change = [&](const std::optional<TaskDocument>& present)
      -> absl::StatusOr<std::optional<TaskDocument>> {
    REDOUBLE_ASSIGN_OR_RETURN(TaskDocument next, Next(present, service, event, now));
    return std::optional<TaskDocument>(std::move(next));
  };
  co_return co_await documents_.ModifyTaskDocument(id, change);
}

base::Task<absl::Status> SearchIndex::UpsertMissedEvent(const ServiceRecord& service,
                                                        const ControlPlaneEvent& event,
                                                        absl::Time now) {
  const std::optional<absl::Time> time = ParseTime(event.event.timestamp);
  const std::optional<absl::Time> ingested = ParseTime(std::optional(event.ingested_at));
  const std::string id = TaskDocumentId({service.service_id, event.event.task_id});
  const SearchStore::TaskChange change = [&](const std::optional<TaskDocument>& present)
      -> absl::StatusOr<std::optional<TaskDocument>> {
    const bool is_newest = !present || (time && time >= ParseTime(present->latest_event_at));
    if (!ingested || !is_newest) return std::optional<TaskDocument>();
    REDOUBLE_ASSIGN_OR_RETURN(TaskDocument next, Next(present, service, event, *ingested));
    if (present && ParseTime(present->expires_at) > ParseTime(next.expires_at)) {
      next.expires_at = present->expires_at;
    }
    if (IsExpired(next, now)) return std::optional<TaskDocument>();
    return std::optional<TaskDocument>(std::move(next));
  };
  co_return co_await documents_.ModifyTaskDocument(id, change);
}

base::Task<absl::Status> SearchIndex::UpsertServiceDocument(
    const ServiceRecord& service, std::optional<std::string> health_status) {
  const SearchStore::ServiceChange change = [&](const std::optional<ServiceDocument>& present) {
    ServiceDocument document;
    document.service_id = service.service_id;
    document.name = service.name;
    document.environment = service.environment;
    document.tags = service.tags;
    document.status = std::string(ServiceStatusName(service.status));
    document.health_status = health_status;
    if (!health_status && present) document.health_status = present->health_status;
    document.base_url = service.base_url;
    document.auth_mode = service.auth_mode;
    if (service.last_seen_at) document.last_seen_at = Normalized(service.last_seen_at->time);
    return document;
  };
  REDOUBLE_CO_RETURN_IF_ERROR(
      co_await documents_.ModifyServiceDocument(service.service_id, change));
  co_return co_await RefreshTasksOf(service);
}

base::Task<absl::Status> SearchIndex::RefreshTasksOf(const ServiceRecord& service) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto ids,
                               co_await documents_.TaskIdsOfService(service.service_id));
  const SearchStore::TaskChange change = [&](const std::optional<TaskDocument>& present)
      -> absl::StatusOr<std::optional<TaskDocument>> {
    std::optional<TaskDocument> document = present;
    if (!document) return document;
    document->service_name = service.name;
    document->environment = service.environment;
    document->detail_path =
        absl::StrCat("/studio/tasks/", service.service_id, "/", document->task_id);
    return document;
  };
  for (const std::string& id : ids) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await documents_.ModifyTaskDocument(id, change));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchIndex::DeleteTaskDocumentsOfService(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto ids, co_await documents_.TaskIdsOfService(service_id));
  for (const std::string& id : ids) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await documents_.DeleteTaskDocument(id));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchIndex::DeleteServiceDocument(std::string_view service_id) {
  co_return co_await documents_.DeleteServiceDocument(service_id);
}

base::Task<absl::StatusOr<std::vector<std::string>>> SearchIndex::TaskCandidates(
    const TaskQuery& query) {
  const std::array<std::pair<std::string_view, const std::optional<std::string>*>, 5> filters = {{
      {"service_id", &query.service_id},
      {"task_id", &query.task_id},
      {"correlation_id", &query.correlation_id},
      {"status", &query.status},
      {"stage", &query.stage},
  }};
  std::optional<std::vector<std::string>> candidates;
  for (const auto& [field, value] : filters) {
    const std::optional<std::string> wanted = Stripped(*value);
    if (!wanted) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto ids, co_await documents_.TaskIdsWith(field, *wanted));
    Intersect(candidates, std::move(ids));
  }
  if (candidates) co_return *std::move(candidates);
  co_return co_await documents_.TaskIds();
}

base::Task<absl::StatusOr<std::vector<TaskDocument>>> SearchIndex::LoadTasks(
    std::vector<std::string> ids, absl::Time now) {
  std::vector<TaskDocument> documents;
  std::vector<std::string> expired;
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto found, co_await documents_.GetTaskDocuments(ids));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!found[i]) continue;
    if (IsExpired(*found[i], now)) {
      expired.push_back(std::move(ids[i]));
    } else {
      documents.push_back(*std::move(found[i]));
    }
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await DeleteExpired(std::move(expired), now));
  co_return documents;
}

base::Task<absl::Status> SearchIndex::DeleteExpired(std::vector<std::string> ids, absl::Time now) {
  const SearchStore::TaskTest is_expired = [&](const std::optional<TaskDocument>& document) {
    return !document || IsExpired(*document, now);
  };
  for (const std::string& id : ids) {
    if (documents_.hardening().atomic_search_documents) {
      REDOUBLE_CO_RETURN_IF_ERROR(
          (co_await documents_.DeleteTaskDocumentIf(id, is_expired)).status());
    } else {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await documents_.DeleteTaskDocument(id));
    }
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<TaskPage>> SearchIndex::SearchTasks(const TaskQuery& query,
                                                              absl::Time now) {
  if (!HasCriteria(query)) {
    co_return python::ValueError("Provide at least one task search filter or a time range.");
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto candidates, co_await TaskCandidates(query));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto found, co_await LoadTasks(std::move(candidates), now));

  const std::optional<absl::Time> from = ParseTime(query.from_timestamp);
  const std::optional<absl::Time> to = ParseTime(query.to_timestamp);
  std::erase_if(found, [&](const TaskDocument& document) {
    const std::optional<absl::Time> seen = ParseTime(document.last_seen_at);
    if (!seen) return from || to;
    return (from && *seen < *from) || (to && *seen > *to);
  });
  const auto order = [&](const TaskDocument& document) {
    return std::make_tuple(TimeOrFirst(ParseTime(document.last_seen_at)),
                           std::string_view(document.service_id),
                           std::string_view(document.task_id));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return order(a) > order(b); });
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const size_t first,
      FirstOfPage(found, query.cursor, [](const python::Value& cursor, const TaskDocument& item) {
        return CursorNames(cursor, {{"last_seen_at", item.last_seen_at.value_or("")},
                                    {"service_id", item.service_id},
                                    {"task_id", item.task_id}});
      }));
  TaskPage page;
  page.items = std::move(found);
  if (CutToPage(page.items, first, query.limit)) {
    const TaskDocument& last = page.items.back();
    page.next_cursor = EncodeCursor({{"last_seen_at", last.last_seen_at.value_or("")},
                                     {"service_id", last.service_id},
                                     {"task_id", last.task_id}});
  }
  co_return page;
}

base::Task<absl::StatusOr<std::vector<std::string>>> SearchIndex::ServiceCandidates(
    const ServiceQuery& query) {
  const std::array<std::pair<std::string_view, const std::optional<std::string>*>, 4> filters = {{
      {"environment", &query.environment},
      {"status", &query.status},
      {"health", &query.health},
      {"tag", &query.tag},
  }};
  std::optional<std::vector<std::string>> candidates;
  for (const auto& [field, value] : filters) {
    const std::optional<std::string> wanted = Stripped(*value);
    if (!wanted) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto ids, co_await documents_.ServiceIdsWith(field, *wanted));
    Intersect(candidates, std::move(ids));
  }
  if (!candidates) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto ids, co_await documents_.ServiceIds());
    candidates = std::move(ids);
  }
  for (const std::string& term : Tokens(query.query.value_or(""))) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto ids, co_await documents_.ServiceIdsOfToken(term));
    Intersect(candidates, std::move(ids));
  }
  co_return *std::move(candidates);
}

base::Task<absl::StatusOr<std::vector<FoundService>>> SearchIndex::LoadServices(
    std::vector<std::string> ids, std::vector<std::string> terms) {
  std::vector<std::vector<std::string>> fields(ids.size());
  if (!terms.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto candidates,
                                 co_await documents_.GetServiceDocuments(ids));
    std::vector<std::string> matches;
    fields.clear();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!candidates[i]) continue;
      std::vector<std::string> matched = MatchedFields(*candidates[i], terms);
      if (matched.empty()) continue;
      matches.push_back(std::move(ids[i]));
      fields.push_back(std::move(matched));
    }
    ids = std::move(matches);
  }
  // As the original, which reads the documents of the matches again.
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto documents, co_await documents_.GetServiceDocuments(ids));
  std::vector<FoundService> found;
  for (size_t i = 0; i < documents.size(); ++i) {
    if (!documents[i]) continue;
    FoundService service;
    service.document = *std::move(documents[i]);
    service.matched_fields = std::move(fields[i]);
    found.push_back(std::move(service));
  }
  co_return found;
}

base::Task<absl::StatusOr<ServicePage>> SearchIndex::SearchServices(const ServiceQuery& query) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto candidates, co_await ServiceCandidates(query));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      auto found, co_await LoadServices(std::move(candidates), Tokens(query.query.value_or(""))));
  const auto order = [](const FoundService& service) {
    return std::make_pair(python::Lower(service.document.name),
                          std::string_view(service.document.service_id));
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const size_t first,
      FirstOfPage(found, query.cursor, [](const python::Value& cursor, const FoundService& item) {
        const std::string name = python::Lower(item.document.name);
        return CursorNames(cursor, {{"name", name}, {"service_id", item.document.service_id}});
      }));
  ServicePage page;
  page.items = std::move(found);
  if (CutToPage(page.items, first, query.limit)) {
    const ServiceDocument& last = page.items.back().document;
    const std::string name = python::Lower(last.name);
    page.next_cursor = EncodeCursor({{"name", name}, {"service_id", last.service_id}});
  }
  co_return page;
}

base::Task<absl::StatusOr<int64_t>> SearchIndex::PruneExpired(absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto ids, co_await documents_.TaskIds());
  const SearchStore::TaskTest is_expired = [&](const std::optional<TaskDocument>& document) {
    return !document || IsExpired(*document, now);
  };
  int64_t removed = 0;
  for (const std::string& id : ids) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool deleted,
                                 co_await documents_.DeleteTaskDocumentIf(id, is_expired));
    if (deleted) ++removed;
  }
  if (documents_.hardening().sweep_task_sets) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await documents_.SweepTaskSets()).status());
  }
  if (documents_.hardening().sweep_deleted_services) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t swept, co_await documents_.SweepDeletedServices());
    removed += swept;
  }
  co_return removed;
}

base::Task<absl::Status> SearchIndex::Initialize(RegistryStore& services, EventStore& events,
                                                 absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto ids, co_await documents_.TaskIds());
  if (!ids.empty()) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto records, co_await services.List());
  for (const ServiceRecord& service : records) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await BackfillService(service, events, now));
    REDOUBLE_CO_RETURN_IF_ERROR(co_await UpsertServiceDocument(service, std::nullopt));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> SearchIndex::BackfillService(const ServiceRecord& service,
                                                      EventStore& events, absl::Time now) {
  EventPageRequest all;
  all.limit = events.history_maxlen();
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      EventPage page, co_await events.ListServiceEvents(service.service_id, EventFilter(), all));
  const auto order = [&](const ControlPlaneEvent& event) {
    return std::make_pair(TimeOrFirst(ParseTime(event.event.timestamp)),
                          std::string_view(event.ingested_at));
  };
  std::stable_sort(page.items.begin(), page.items.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (const ControlPlaneEvent& event : page.items) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await UpsertTaskDocument(service, event, now));
  }
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::studio
