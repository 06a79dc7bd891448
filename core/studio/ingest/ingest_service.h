// IngestService and PullSync: the two ways in which events reach Studio.
//
// Services push events to IngestService, or PullSync reads the feed of a service page by page,
// newest first, until it reaches the newest event of the previous pull.
//
//   studio::IngestService ingest(registry, events, &index);
//   absl::StatusOr<IngestReport> report = co_await ingest.IngestEvents(envelopes, clock.Now());
//   studio::PullSync sync(ingest, events, feed, {});
//   absl::Status synced = co_await sync.SyncService(service, clock);
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 3.3, 4.7, 4.9 and 4.10.
#ifndef REDOUBLE_CORE_STUDIO_INGEST_INGEST_SERVICE_H_
#define REDOUBLE_CORE_STUDIO_INGEST_INGEST_SERVICE_H_

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
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/events/service_event.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/search/search_index.h"

namespace redouble::inline v0_1::studio {

// The number of events by outcome.
struct IngestReport {
  int64_t inserted = 0;
  int64_t duplicate = 0;
  int64_t invalid = 0;  // Events of services that are not registered.

  friend bool operator==(const IngestReport&, const IngestReport&) = default;
};

class IngestService {
 public:
  // All must outlive this. If `index` is null, events are not indexed.
  IngestService(Registry& registry, EventStore& events, SearchIndex* index,
                Hardening hardening = Hardening())
      : registry_(registry), events_(events), index_(index), hardening_(hardening) {}

  // Inserts each event of a registered service, and indexes the new ones. A duplicate is not
  // indexed, even if its first insert stopped before it was indexed (E3); with index_duplicates it
  // is. Stops at the first error; the events before it stay inserted. Round trips per event: one
  // for the registry, and those of EventStore::InsertEvent and SearchIndex::UpsertTaskDocument.
  // Errors: those of these three.
  // Source: docs/systems/studio.md 4.9.
  base::Task<absl::StatusOr<IngestReport>> IngestEvents(std::span<const EventEnvelope> envelopes,
                                                        absl::Time now);

  // As the operations of EventStore, but the service must be registered: one more round trip.
  // Errors: also NotFound (ServiceNotFoundError).
  base::Task<absl::StatusOr<EventPage>> ListServiceEvents(std::string_view service_id,
                                                          EventFilter filter,
                                                          EventPageRequest page);
  base::Task<absl::StatusOr<EventPage>> ListTaskEvents(TaskName task, EventPageRequest page);

  Registry& registry() const { return registry_; }

 private:
  base::Task<absl::Status> IngestEvent(const EventEnvelope& envelope, absl::Time now,
                                       IngestReport& report);
  base::Task<absl::Status> IndexDuplicate(const ServiceRecord& service,
                                          const EventEnvelope& envelope, absl::Time now);

  Registry& registry_;
  EventStore& events_;
  SearchIndex* const index_;
  const Hardening hardening_;
};

// A page of a service's feed, newest first.
struct FeedPage {
  std::vector<ServiceEvent> items;
  // Requests the next, older page; nullopt if this is the last page.
  std::optional<std::string> next_cursor;
};

// Reads the response of a feed: {"items": [...], "next_cursor": ...}. Errors: InvalidArgument
// (ValidationError).
absl::StatusOr<FeedPage> ParseFeedPage(std::string_view json);

// Selects a page: the cursor after which it begins, and the number of items.
struct FeedRequest {
  std::optional<std::string> after;
  int64_t limit = 0;
};

// Reads feeds. Applications implement it with HTTP. PullSync checks the URL against the outbound
// policy before each pull.
class FeedSource {
 public:
  virtual ~FeedSource() = default;
  // Returns a page of the service at `base_url`: GET base_url/events/feed.
  virtual base::Task<absl::StatusOr<FeedPage>> Fetch(std::string_view base_url,
                                                     FeedRequest request) = 0;
};

struct PullSyncOptions {
  int64_t page_limit = 200;
  // A pull stops after this many pages, and never requests the older events (E7).
  int64_t max_pages = 25;
};

// The outcome of one round.
struct SyncRound {
  std::vector<std::string> synced;
  std::vector<std::pair<std::string, absl::Status>> failed;
};

class PullSync {
 public:
  // All must outlive this.
  PullSync(IngestService& ingest, EventStore& events, FeedSource& feed, PullSyncOptions options)
      : ingest_(ingest), events_(events), feed_(feed), options_(options) {}

  // Pulls the feed of a service and ingests each page in the order of the feed, newest first. Of
  // several events of one task on a page, the oldest therefore decides the search document (E5),
  // and of a page longer than the lists the newest events are trimmed (E4). Finally it stores the
  // cursor of the newest event. An empty feed and an error leave the cursor unchanged; the next
  // pull then counts the same events as duplicates.
  //
  // Round trips: one GET and one SET of the cursor, and those of IngestEvents. Errors:
  // InvalidArgument (RuntimeError) before any I/O; those of the feed and of Redis.
  // Source: docs/systems/studio.md 4.10.
  base::Task<absl::Status> SyncService(const ServiceRecord& service, const base::Clock& clock);

  // Pulls every service that is healthy and offers its feed, one after the other. A service that
  // fails is reported, and the round goes on. Errors: those of listing the services.
  base::Task<absl::StatusOr<SyncRound>> SyncAll(const base::Clock& clock);

 private:
  IngestService& ingest_;
  EventStore& events_;
  FeedSource& feed_;
  const PullSyncOptions options_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_INGEST_INGEST_SERVICE_H_
