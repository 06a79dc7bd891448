// ServiceEventFeed: the status events and observations of one service in one bounded list. A Studio
// backend pulls it page by page.
//
//   ServiceEventFeed feed(store);
//   co_await feed.AddStatusEvent(event);
//   absl::StatusOr<FeedPage> page = co_await feed.GetFeed({.limit = 100});   // Newest first.
//   page = co_await feed.GetFeed({.after = page->next_cursor});              // Older items.
//
// The status and observation stores add to a feed if one is set in their options. The cursor of an
// item is its event id, or a hash of the event. The marker has only the cursor in its key: of two
// events that share an id only the first is accepted, whatever their tasks and sources (R6). Later
// releases of the SDK store an indexed feed with another layout (docs/systems/relayna.md D1).
//
// Thread-safety: as the store, which must outlive the feed. Arguments must outlive the task.
// Source: docs/systems/relayna.md 2.8, 3.4, 4.5 and 4.6.
#ifndef REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_
#define REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/append_once.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct FeedOptions {
  std::string prefix{kFeedPrefix};
  // Seconds. nullopt and 0: no TTL.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Items kept. 0 keeps all items, because LTRIM 0 -1 removes none.
  int64_t feed_maxlen = 5000;
  // atomic_events applies.
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

// An instance of one of the SDK's observation classes.
struct Observation {
  // The name of the class, which becomes the `event_type`.
  std::string class_name;
  // The fields in the order of their declaration; nullopt if they cannot be read, as for a
  // dictionary.
  std::optional<python::Object> fields;
};

struct FeedPage {
  // Objects with the members cursor, task_id, event_type, source_kind, component, timestamp,
  // event_id, correlation_id, parent_task_id and payload.
  std::vector<python::Value> items;
  // The cursor of the last item if older items exist; otherwise nullopt.
  std::optional<std::string> next_cursor;
};

struct FeedQuery {
  // The cursor after which the page begins, toward older items. The page begins at the newest item
  // if this is nullopt or empty, or if the feed does not have the cursor (R10).
  std::optional<std::string> after = std::nullopt;
  // Items per page; less than 1 counts as 1.
  int64_t limit = 100;
};

class ServiceEventFeed {
 public:
  explicit ServiceEventFeed(store::Store& store, FeedOptions options = {});

  // Add an event once. Return true if it was new. Return false, without a round trip, if the event
  // has no task id; return false if the marker of its cursor exists. One round trip for a
  // duplicate, otherwise two; one with atomic_events.
  //
  // Errors: InvalidArgument (TypeError, PydanticSerializationError) for a value without a JSON
  // form, before anything is sent; those of the store.
  // Source: docs/systems/relayna.md 4.5.
  base::Task<absl::StatusOr<bool>> AddStatusEvent(const python::Value& event);
  base::Task<absl::StatusOr<bool>> AddObservation(const Observation& observation);

  // Returns one page. One round trip, which reads the whole feed. Errors: InvalidArgument
  // (ValidationError) if any item of the feed is corrupt, also outside the page; those of the
  // store.
  // Source: docs/systems/relayna.md 4.6.
  base::Task<absl::StatusOr<FeedPage>> GetFeed(FeedQuery query = {});

  // Return the append for an event, or nullopt if the event has no task id. For the stores that
  // write it together with their own append.
  absl::StatusOr<std::optional<Append>> StatusEventAppend(const python::Value& event) const;
  absl::StatusOr<std::optional<Append>> ObservationAppend(const Observation& observation) const;

 private:
  base::Task<absl::StatusOr<bool>> Add(absl::StatusOr<std::optional<Append>> append);
  absl::StatusOr<Append> AppendOf(std::string cursor, python::Object item) const;

  store::Store& store_;
  const FeedOptions options_;
  const FeedKeys keys_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SERVICE_EVENT_FEED_H_
