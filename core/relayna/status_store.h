// StatusStore: the status history of each task, its latest status, its children, and the channel on
// which each event is published.
//
//   StatusStore statuses(store, {.prefix = "relayna"});
//   co_await statuses.SetHistory("t1", event);       // {"task_id": "t1", "status": "queued", ...}
//   co_await statuses.GetLatest("t1");
//
// An event is accepted once, by its token (tokens.h). A duplicate changes nothing. Hazards of the
// documented store, and the option that removes each of them (hardening.h):
//
//   | hazard | what happens                                             | option        |
//   | ------ | -------------------------------------------------------- | ------------- |
//   | R1     | a crash after the marker was set loses the event         | atomic_events |
//   | R3     | a crash before the feed is written keeps the event out   | atomic_events |
//   | R4     | the latest event is the last written, not the last dated | newest_first  |
//
// Thread-safety: as the store. Store and feed must outlive this; arguments must outlive the task.
// Source: docs/systems/relayna.md 2.5, 4.1 and 4.2.
#ifndef REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_
#define REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/append_once.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct StatusOptions {
  std::string prefix{kDirectStatusPrefix};
  // Seconds. nullopt and 0: no TTL. Redis refuses a negative TTL.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Events kept per task. 0 keeps all. -n removes the n oldest with each event (LTRIM 0 -(n+1)).
  int64_t history_maxlen = 50;
  // If set, every accepted event is added to this feed.
  ServiceEventFeed* feed = nullptr;
  // atomic_events and newest_first apply.
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The channels on which events are published. With shard channels, which need a server of Redis
  // 7.0, a status event is written by the script of atomic_events; its feed item, as without.
  store::ChannelKind channels = store::ChannelKind::kDocumented;
};

class StatusStore {
 public:
  explicit StatusStore(store::Store& store, StatusOptions options = {});

  // Appends an event to the history of `task_id`, once. The id is placed in the keys unchanged. The
  // TTL of the marker starts with the first write and is never extended; the TTLs of history and
  // children restart with each accepted event. The task is added to the children of the event's
  // parent. One round trip for a duplicate, otherwise two; one or two more with a feed. With
  // atomic_events one, and with newest_first two or more: a retry means that another writer
  // succeeded.
  //
  // Errors: InvalidArgument (TypeError, UnicodeEncodeError) for an event without a JSON form,
  // before anything is sent; those of the store. A key of the wrong type fails the transaction,
  // whose other commands take effect all the same: subscribers see an event that the history never
  // has, and every retry is a duplicate.
  // Source: docs/systems/relayna.md 4.1.
  base::Task<absl::Status> SetHistory(std::string_view task_id, const python::Value& event);

  // Returns the events, last written first, at most `limit`; nullopt means history_maxlen, and 0 or
  // less returns one event. One round trip. Errors: InvalidArgument (JSONDecodeError) if an event
  // is corrupt.
  // Source: docs/systems/relayna.md 4.2.
  base::Task<absl::StatusOr<std::vector<python::Value>>> GetHistory(
      std::string_view task_id, std::optional<int64_t> limit = std::nullopt);
  // Returns the event that was written last, which need not have the latest timestamp (R4); nullopt
  // if there is no history. One round trip. Errors: as GetHistory.
  base::Task<absl::StatusOr<std::optional<python::Value>>> GetLatest(std::string_view task_id);
  // Returns the children of a task in code point order, at most `limit`; 0 or less returns no
  // children. One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> GetChildTaskIds(
      std::string_view parent_task_id, std::optional<int64_t> limit = std::nullopt);

  // The channels on which the events of a task are published, and the one to follow.
  store::PublishedChannels ChannelsOf(std::string_view task_id) const;
  store::Channel ChannelToFollow(std::string_view task_id) const {
    return ChannelsOf(task_id).followed();
  }

 private:
  absl::StatusOr<Append> AppendOf(std::string_view task_id, const python::Value& event) const;
  base::Task<absl::Status> SetAtomically(const Append& append, const python::Value& event);
  base::Task<absl::StatusOr<Append::Place>> PlaceOf(std::string_view list,
                                                    const python::Value& event);

  store::Store& store_;
  const StatusOptions options_;
  const StatusKeys keys_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_
