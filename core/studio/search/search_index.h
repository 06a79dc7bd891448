// SearchIndex: finds tasks and services by their attributes.
//
// Events of a task create and change its document; the registry and health refreshes create and
// change the document of a service. A query trusts the sets: it finds a document by the sets that
// contain its id.
//
//   studio::SearchIndex index(documents, {});
//   absl::Status indexed = co_await index.UpsertTaskDocument(service, event, now);
//   const TaskQuery query = {.status = "failed"};
//   absl::StatusOr<TaskPage> page = co_await index.SearchTasks(query, now);
//
// Task documents expire by their member `expires_at`, not by a Redis TTL: searches skip and delete
// expired documents, and the retention loop (ingest/loops.h) prunes them. Errors of all operations:
// those of SearchStore.
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 4.14 to 4.18.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_INDEX_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/registry/service_record.h"
#include "redouble/core/studio/search/search_document.h"
#include "redouble/core/studio/search/search_store.h"

namespace redouble::inline v0_1::studio {

struct SearchIndexOptions {
  // Seconds from the last event of a task to the end of its document; at least 60.
  int64_t task_ttl_seconds = 86400;
  // The zone of timestamps without an offset. The original uses the zone of its host here, but UTC
  // for events (S7).
  absl::TimeZone local_zone = absl::UTCTimeZone();
};

// nullopt and blank values do not filter. Values are stripped and compared exactly.
struct TaskQuery {
  std::optional<std::string> service_id = std::nullopt;
  std::optional<std::string> task_id = std::nullopt;
  std::optional<std::string> correlation_id = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  std::optional<std::string> stage = std::nullopt;
  // Inclusive bounds of last_seen_at. A text that is not a valid timestamp is ignored.
  std::optional<std::string> from_timestamp = std::nullopt;
  std::optional<std::string> to_timestamp = std::nullopt;
  // Documents per page; less than 1 counts as 1.
  int64_t limit = 50;
  // The next_cursor of the page before. If it names no document of the result, the first page is
  // returned.
  std::optional<std::string> cursor = std::nullopt;
};

struct TaskPage {
  std::vector<TaskDocument> items;
  std::optional<std::string> next_cursor;
};

struct ServiceQuery {
  // Words that one field must contain, each as the prefix of a word.
  std::optional<std::string> query = std::nullopt;
  std::optional<std::string> environment = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  std::optional<std::string> health = std::nullopt;
  std::optional<std::string> tag = std::nullopt;
  int64_t limit = 50;
  std::optional<std::string> cursor = std::nullopt;
};

struct FoundService {
  ServiceDocument document;
  // The fields that matched the query; empty without a query.
  std::vector<std::string> matched_fields;
};

struct ServicePage {
  std::vector<FoundService> items;
  std::optional<std::string> next_cursor;
};

class SearchIndex final : public ServiceIndexer {
 public:
  // `documents` must outlive this.
  SearchIndex(SearchStore& documents, SearchIndexOptions options);

  // Updates the document of a task from an event. A status or stage replaces the old one, whatever
  // the timestamps are (E5). first_seen_at and last_seen_at are extended, and the latest event is
  // the one with the greatest timestamp. expires_at is set from `now`. An event without a timestamp
  // counts from its ingested_at. One GET, then SearchStore::SetTaskDocument. Errors: also
  // InvalidArgument for a status or stage that is an array or an object.
  // Source: docs/systems/studio.md 4.14.
  base::Task<absl::Status> UpsertTaskDocument(const ServiceRecord& service,
                                              const ControlPlaneEvent& event, absl::Time now);

  // Updates the document of a task from an event that was stored and perhaps never indexed, as
  // UpsertTaskDocument would have done it when the event was ingested. Does nothing if the document
  // has a newer event, or would have expired by `now`. Round trips: as UpsertTaskDocument.
  // Source: docs/systems/studio.md E3.
  base::Task<absl::Status> UpsertMissedEvent(const ServiceRecord& service,
                                             const ControlPlaneEvent& event, absl::Time now);

  // ServiceIndexer. UpsertServiceDocument also rewrites every document of the service's tasks with
  // the current names: 10 to 16 round trips per task.
  // Source: docs/systems/studio.md 4.15.
  base::Task<absl::Status> UpsertServiceDocument(const ServiceRecord& service,
                                                 std::optional<std::string> health_status) override;
  base::Task<absl::Status> DeleteTaskDocumentsOfService(std::string_view service_id) override;
  base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id) override;

  // Returns documents in descending order of last_seen_at, service id and task id. One round trip
  // per filter (SMEMBERS), GetTaskDocuments, and the deletion of each expired candidate.
  // Errors: InvalidArgument (ValueError) if the query has neither a filter nor a bound, and, after
  // all reads, for a cursor that cannot be decoded.
  // Source: docs/systems/studio.md 4.16.
  base::Task<absl::StatusOr<TaskPage>> SearchTasks(const TaskQuery& query, absl::Time now);

  // Returns services in ascending order of name in lower case and id. One round trip per filter and
  // word (SMEMBERS), and GetServiceDocuments, twice with a query. Errors: InvalidArgument
  // (ValueError) for the cursor, as above.
  // Source: docs/systems/studio.md 4.17.
  base::Task<absl::StatusOr<ServicePage>> SearchServices(const ServiceQuery& query);

  // Deletes expired documents and removes ids without a document. Returns how many it removed. A
  // document without a valid expires_at never expires. Stops at the first error. With
  // sweep_task_sets also SearchStore::SweepTaskSets, which is not part of the number, and with
  // sweep_deleted_services SearchStore::SweepDeletedServices, which is.
  // Source: docs/systems/studio.md 4.18.
  base::Task<absl::StatusOr<int64_t>> PruneExpired(absl::Time now);

  // For the start of a backend. If no task has a document, writes documents from the stored events,
  // oldest first, and then the documents of the services. If any task has one, it does nothing;
  // missing service documents stay missing.
  // Source: docs/systems/studio.md 4.18.
  base::Task<absl::Status> Initialize(RegistryStore& services, EventStore& events, absl::Time now);

 private:
  bool IsExpired(const TaskDocument& document, absl::Time now) const;
  std::optional<absl::Time> ParseTime(const std::optional<std::string>& text) const;
  std::optional<std::string> Normalized(std::optional<absl::Time> time) const;
  absl::StatusOr<TaskDocument> Next(const std::optional<TaskDocument>& present,
                                    const ServiceRecord& service, const ControlPlaneEvent& event,
                                    absl::Time now) const;
  base::Task<absl::Status> RefreshTasksOf(const ServiceRecord& service);
  base::Task<absl::StatusOr<std::vector<std::string>>> TaskCandidates(const TaskQuery& query);
  base::Task<absl::StatusOr<std::vector<TaskDocument>>> LoadTasks(std::vector<std::string> ids,
                                                                  absl::Time now);
  base::Task<absl::Status> DeleteExpired(std::vector<std::string> ids, absl::Time now);
  base::Task<absl::StatusOr<std::vector<std::string>>> ServiceCandidates(const ServiceQuery& query);
  base::Task<absl::StatusOr<std::vector<FoundService>>> LoadServices(
      std::vector<std::string> ids, std::vector<std::string> terms);
  base::Task<absl::Status> BackfillService(const ServiceRecord& service, EventStore& events,
                                           absl::Time now);

  SearchStore& documents_;
  const SearchIndexOptions options_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_SEARCH_INDEX_H_
