// ServiceEventFeed: the status events and observations of one service in one bounded list, which a
// Studio backend pulls page by page.
//
//   ServiceEventFeed feed(store);
//   co_await feed.AddStatusEvent(event);
//   absl::StatusOr<FeedPage> page = co_await feed.GetFeed({.limit = 100});
//   // page->items newest first; {.after = *page->next_cursor} for what is older
//
// An item's cursor is its event id, or a hash of the event. The marker is keyed by the cursor
// alone: of two events that share an id, whatever their tasks and sources, only the first gets here
// (hazard R6). The list is that of the seed; the indexed feed of later releases is another layout.
//
// Thread-safety: as the store. The store outlives the feed; a feed is a plain value.
// Source: reference/relayna.md section 3; goldens feed_*, status_with_feed, observation_with_feed.
#ifndef REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_
#define REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/append_once.h"
#include "core/relayna/keys.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct FeedOptions {
  std::string prefix{kFeedPrefix};
  // None or 0: nothing expires.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Items kept. 0 keeps all, since LTRIM 0 -1 removes none.
  int64_t feed_maxlen = 5000;
  // Hardened: marker and item in one script, so that a crash between them loses nothing (R3).
  bool atomic_events = false;
};

// An instance of an observation class, as the original hands it over.
struct Observation {
  // The class: its `event_type`.
  std::string class_name;
  // Its fields in the order of their declaration; none when they cannot be told, as of a dict.
  std::optional<python::Object> fields;
};

struct FeedPage {
  // Each an object: cursor, task_id, event_type, source_kind, component, timestamp, event_id,
  // correlation_id, parent_task_id, payload.
  std::vector<python::Value> items;
  // The last item's, when older ones are left.
  std::optional<std::string> next_cursor;
};

struct FeedQuery {
  // Give what is older than the item of this cursor. One that is not in the feed, evicted or never
  // there, starts anew at the newest item (hazard R10); so do none and the empty text.
  std::optional<std::string> after = std::nullopt;
  // At least one item is given, whatever this says.
  int64_t limit = 100;
};

class ServiceEventFeed {
 public:
  explicit ServiceEventFeed(store::Store& store, FeedOptions options = {});

  // Adds an event, once. False, without a round trip, when it has no task id; false when its cursor
  // was there. One round trip for a duplicate, two otherwise (atomic: one). Errors: TypeError or
  // PydanticSerializationError for what cannot be serialised, before anything is sent; those of the
  // store. Arguments must outlive the task.
  base::Task<absl::StatusOr<bool>> AddStatusEvent(const python::Value& event);
  base::Task<absl::StatusOr<bool>> AddObservation(const Observation& observation);

  // A page. One round trip, which reads the whole feed. Errors: ValidationError when any element of
  // the feed is corrupt, also one that is not on the page; those of the store.
  base::Task<absl::StatusOr<FeedPage>> GetFeed(FeedQuery query = {});

  // What would be written for an event; none when it has no task id. For the stores that write it
  // together with something else.
  absl::StatusOr<std::optional<Append>> StatusEventAppend(const python::Value& event) const;
  absl::StatusOr<std::optional<Append>> ObservationAppend(const Observation& observation) const;

 private:
  base::Task<absl::StatusOr<bool>> Add(absl::StatusOr<std::optional<Append>> append);
  absl::StatusOr<Append> AppendOf(std::string cursor, python::Object item) const;

  store::Store& store_;
  const FeedOptions options_;
  const FeedKeys keys_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_
