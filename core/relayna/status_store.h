// StatusStore: the status history of tasks, their latest status, their children, and the channel on
// which each event is published.
//
//   StatusStore statuses(store, {.prefix = "relayna"});
//   co_await statuses.SetHistory("t1", event);       // {"task_id": "t1", "status": "queued", ...}
//   co_await statuses.GetLatest("t1");
//
// An event is accepted once, by its token (tokens.h); a duplicate changes nothing at all. What goes
// wrong by default, and the options that mend it:
//
//   | hazard  | what happens                                          | mended by      |
//   | ------- | ----------------------------------------------------- | -------------- |
//   | R1      | a crash behind the marker loses the event for ever    | atomic_events  |
//   | R3      | a crash in front of the feed keeps the event out of it | atomic_events |
//   | R4      | the event of the later write, not of the later time,  | newest_first   |
//   |         | is the latest                                         |                |
//
// Thread-safety: as the store. The store, and the feed, outlive this; arguments outlive the task.
// Source: reference/relayna.md section 1; goldens status_*.
#ifndef REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_
#define REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/append_once.h"
#include "core/relayna/keys.h"
#include "core/relayna/service_event_feed.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct StatusOptions {
  std::string prefix{kDirectStatusPrefix};
  // None or 0: nothing expires. Redis refuses a negative one.
  std::optional<int64_t> ttl_seconds = kDefaultTtlSeconds;
  // Events kept per task. 0 keeps all; -n keeps all but the n oldest (LTRIM 0 -(n+1)).
  int64_t history_maxlen = 50;
  // Gets every accepted event as well; null: none.
  ServiceEventFeed* feed = nullptr;
  // Hardened: marker, history, children, message and feed item in one script (R1, R3).
  bool atomic_events = false;
  // Hardened, and atomic: an event goes where its `timestamp` belongs among those of the history,
  // behind none that is older, so that the head is the latest in time (R4). One without a time
  // stamp counts as older than any. One more round trip, and more when others write at once.
  bool newest_first = false;
};

class StatusStore {
 public:
  explicit StatusStore(store::Store& store, StatusOptions options = {});

  // Appends an event to the history of `task_id`, which goes into the keys as it is, once: the
  // marker's time to live begins with the first write and is never extended, the history's and the
  // children's begin anew with every accepted event. A child is put down for the event's parent.
  // One round trip for a duplicate, two otherwise, one or two more with a feed.
  //
  // Errors: TypeError or UnicodeEncodeError for an event that cannot be serialised, before anything
  // is sent; those of the store. A key of the wrong type fails the transaction, whose other
  // commands take effect all the same: subscribers may see an event that the history never has, and
  // that is a duplicate from then on.
  base::Task<absl::Status> SetHistory(std::string_view task_id, const python::Value& event);

  // The events, the last written first, at most `limit`: history_maxlen when none is given, and one
  // when it is 0 or less. One round trip. Errors: JSONDecodeError when any of them is corrupt.
  base::Task<absl::StatusOr<std::vector<python::Value>>> GetHistory(
      std::string_view task_id, std::optional<int64_t> limit = std::nullopt);
  // The event that was written last, which need not be the latest in time; none without history.
  // One round trip. Errors: as GetHistory.
  base::Task<absl::StatusOr<std::optional<python::Value>>> GetLatest(std::string_view task_id);
  // The children of a task in the order of code points, at most `limit`, none when it is 0 or less.
  // One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> GetChildTaskIds(
      std::string_view parent_task_id, std::optional<int64_t> limit = std::nullopt);

  // The channel on which a task's events are published.
  std::string ChannelOf(std::string_view task_id) const { return keys_.Channel(task_id); }

 private:
  absl::StatusOr<Append> AppendOf(std::string_view task_id, const python::Value& event) const;
  base::Task<absl::Status> SetAtomically(const Append& append, const python::Value& event);
  base::Task<absl::StatusOr<Append::Place>> PlaceOf(std::string_view list,
                                                    const python::Value& event);

  store::Store& store_;
  const StatusOptions options_;
  const StatusKeys keys_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_STATUS_STORE_H_
