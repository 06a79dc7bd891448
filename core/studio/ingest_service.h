// IngestService and PullSync: how events come into Studio.
//
// Services push events, or Studio pulls them from a service's feed, page by page, newest first,
// down to the newest that it has seen before.
//
//   studio::IngestService ingest(registry, events, &index);
//   absl::StatusOr<IngestReport> report = co_await ingest.IngestEvents(envelopes, clock.Now());
//   studio::PullSync sync(ingest, events, feed, {});
//   absl::Status synced = co_await sync.SyncService(service, clock);
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: reference/relayna.md section 7.
#ifndef REDOUBLE_CORE_STUDIO_INGEST_SERVICE_H_
#define REDOUBLE_CORE_STUDIO_INGEST_SERVICE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/studio/event_store.h"
#include "core/studio/registry.h"
#include "core/studio/search_index.h"
#include "core/studio/service_event.h"

namespace redouble::studio {

// How many events were what.
struct IngestReport {
  int64_t inserted = 0;
  int64_t duplicate = 0;
  int64_t invalid = 0;  // Of services that are not registered.

  friend bool operator==(const IngestReport&, const IngestReport&) = default;
};

class IngestService {
 public:
  // All must outlive this; `index` may be null: tasks are not searched for.
  IngestService(Registry& registry, EventStore& events, SearchIndex* index)
      : registry_(registry), events_(events), index_(index) {}

  // Inserts each event of a registered service, and has the search index follow those that are new.
  // A duplicate is not indexed, also when its first insert died before it was (E3). Ends at the
  // first error, the events before it being inserted. Round trips per event: one for the registry,
  // those of InsertEvent and of UpsertTaskDocument. Errors: those of these three.
  base::Task<absl::StatusOr<IngestReport>> IngestEvents(std::span<const EventEnvelope> envelopes,
                                                        absl::Time now);

  // As EventStore, for a service that must be registered: one round trip more. Errors: also
  // NotFound (ServiceNotFoundError).
  base::Task<absl::StatusOr<EventPage>> ListServiceEvents(std::string_view service_id,
                                                          EventFilter filter,
                                                          EventPageRequest page);
  base::Task<absl::StatusOr<EventPage>> ListTaskEvents(TaskName task, EventPageRequest page);

  Registry& registry() const { return registry_; }

 private:
  base::Task<absl::Status> IngestEvent(const EventEnvelope& envelope, absl::Time now,
                                       IngestReport& report);

  Registry& registry_;
  EventStore& events_;
  SearchIndex* const index_;
};

// One page of a service's feed, newest first.
struct FeedPage {
  std::vector<ServiceEvent> items;
  // Asks for the page behind this one; none: there is none.
  std::optional<std::string> next_cursor;
};

// The page in a feed's response: {"items": [...], "next_cursor": ...}. Errors: InvalidArgument
// (ValidationError).
absl::StatusOr<FeedPage> ParseFeedPage(std::string_view json);

// Which page is wanted.
struct FeedRequest {
  std::optional<std::string> after;
  int64_t limit = 0;
};

// Reads feeds. Implementations do the HTTP.
class FeedSource {
 public:
  virtual ~FeedSource() = default;
  // The page of the service at `base_url`, GET base_url/events/feed.
  virtual base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view base_url,
                                                     FeedRequest request) = 0;
};

struct PullSyncOptions {
  int64_t page_limit = 200;
  // More pages than this are given up: what is older is never pulled (E7).
  int64_t max_pages = 25;
};

// What became of the services of one round.
struct SyncRound {
  std::vector<std::string> synced;
  std::vector<std::pair<std::string, absl::Status>> failed;
};

class PullSync {
 public:
  // All must outlive this.
  PullSync(IngestService& ingest, EventStore& events, FeedSource& feed, PullSyncOptions options)
      : ingest_(ingest), events_(events), feed_(feed), options_(options) {}

  // Pulls the service's feed: each page is ingested in the feed's order, newest first, so that of
  // several events of one task the oldest has the last word in the search index (E5), and of a page
  // longer than the lists the newest are trimmed off (E4). Then the cursor of the newest event is
  // kept; a feed without events leaves the cursor as it was, and so does any error: the next pull
  // then meets duplicates, which do no harm.
  // Round trips: one GET and one SET of the cursor, and those of IngestEvents. Errors: those of the
  // feed and of Redis.
  base::Task<absl::Status> SyncService(const ServiceRecord& service, const base::Clock& clock);

  // Pulls every service that is healthy and offers its feed, one after the other; one that fails is
  // reported, and the round goes on. Errors: of listing the services.
  base::Task<absl::StatusOr<SyncRound>> SyncAll(const base::Clock& clock);

 private:
  IngestService& ingest_;
  EventStore& events_;
  FeedSource& feed_;
  const PullSyncOptions options_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_INGEST_SERVICE_H_
