// SearchIndex: finding tasks and services by what is known of them.
//
// Events of a task make and change its document; the registry and health refreshes make and change
// a service's. Queries trust the sets: a document is found by the values of the sets that its id is
// in.
//
//   studio::SearchIndex index(documents, {});
//   absl::Status indexed = co_await index.UpsertTaskDocument(service, event, now);
//   const TaskQuery query = {.status = "failed"};
//   absl::StatusOr<TaskPage> page = co_await index.SearchTasks(query, now);
//
// Documents of tasks end with their `expires_at`, not with a Redis TTL: searches skip and delete
// those past it, and the retention loop (loops.h) prunes.
//
// Errors common to all: those of SearchStore.
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: reference/relayna.md section 9.
#ifndef REDOUBLE_CORE_STUDIO_SEARCH_INDEX_H_
#define REDOUBLE_CORE_STUDIO_SEARCH_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/studio/event_store.h"
#include "core/studio/registry.h"
#include "core/studio/search_document.h"
#include "core/studio/search_store.h"
#include "core/studio/service_event.h"
#include "core/studio/service_record.h"

namespace redouble::studio {

struct SearchIndexOptions {
  // How long a task's document lives behind its last event; below 60 it is 60.
  int64_t task_ttl_seconds = 86400;
  // Where timestamps without an offset are: the original takes its host's zone here (S7), though
  // everywhere else UTC.
  absl::TimeZone local_zone = absl::UTCTimeZone();
};

// Empty members ask for nothing. Values are compared without the white space around them; case
// counts.
struct TaskQuery {
  std::optional<std::string> service_id = std::nullopt;
  std::optional<std::string> task_id = std::nullopt;
  std::optional<std::string> correlation_id = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  std::optional<std::string> stage = std::nullopt;
  // Of last_seen_at, both inclusive; a text that is no timestamp asks for nothing.
  std::optional<std::string> from_timestamp = std::nullopt;
  std::optional<std::string> to_timestamp = std::nullopt;
  // At least one document is given, whatever this says.
  int64_t limit = 50;
  // The next_cursor of the page before; one that names no document found begins anew.
  std::optional<std::string> cursor = std::nullopt;
};

struct TaskPage {
  std::vector<TaskDocument> items;
  std::optional<std::string> next_cursor;
};

struct ServiceQuery {
  // Words, each of which one and the same field must have as the beginning of a word.
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
  std::vector<std::string> matched_fields;  // By the query; empty without one.
};

struct ServicePage {
  std::vector<FoundService> items;
  std::optional<std::string> next_cursor;
};

class SearchIndex final : public ServiceIndexer {
 public:
  // `documents` must outlive this.
  SearchIndex(SearchStore& documents, SearchIndexOptions options);

  // Makes the task's document say what the event says: a status or stage replaces the old one
  // whatever the timestamps (E5), times seen grow apart, the latest event is the one with the
  // greatest timestamp, the document lives on from `now`. An event without a timestamp counts as of
  // when it was ingested. GET, then SearchStore::SetTaskDocument. Errors: also InvalidArgument for
  // a status or stage that is an array or object.
  base::Task<absl::Status> UpsertTaskDocument(const ServiceRecord& service,
                                              const ControlPlaneEvent& event, absl::Time now);

  // ServiceIndexer. The first also rewrites every document of the service's tasks, to refresh
  // names: 2 round trips and some 15 per task.
  base::Task<absl::Status> UpsertServiceDocument(const ServiceRecord& service,
                                                 std::optional<std::string> health_status) override;
  base::Task<absl::Status> DeleteTaskDocumentsOfService(std::string_view service_id) override;
  base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id) override;

  // Documents by (last_seen_at, service id, task id), descending. Errors: InvalidArgument
  // (ValueError) when nothing is asked for, and for a cursor that cannot be decoded, then behind
  // all reads. A round trip per filter (SMEMBERS), one per candidate (GET), and the deletion of
  // every expired one.
  base::Task<absl::StatusOr<TaskPage>> SearchTasks(const TaskQuery& query, absl::Time now);

  // Services by (name in lower case, id), ascending. Errors: as above, for the cursor. A round trip
  // per filter and per word (SMEMBERS), one per candidate (GET), with words two.
  base::Task<absl::StatusOr<ServicePage>> SearchServices(const ServiceQuery& query);

  // Deletes the documents whose time is over, and forgets ids without a document; gives how many. A
  // document without an expires_at that is a timestamp stays. Ends at the first error.
  base::Task<absl::StatusOr<int64_t>> PruneExpired(absl::Time now);

  // At start-up, when no task has a document: makes documents of the events that are there, oldest
  // first, and of the services. When any task has one, nothing is done, for services neither.
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

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_SEARCH_INDEX_H_
