// EventStream: the status events of one task as server-sent events. It sends the history, oldest
// first, and then the events that are published.
//
//   EventStream stream(subscription, statuses, clock, {.task_id = "t1"});
//   while (true) {
//     absl::StatusOr<std::optional<StreamFrame>> frame = co_await stream.Next();
//     if (!frame.ok() || !frame->has_value()) break;
//     response.Write((*frame)->Text());
//   }
//
// The stream subscribes before it reads the history, so no event between the two is lost. An event
// that arrives both ways is sent once if it has a usable id, and twice if it has none (R8). It is
// also sent again if it is published after the client had seen it. The stream ends after the first
// event with a terminal status, even if the history continues after it. It ends with an error where
// the original raises an exception: at an item or message that is JSON but no object, and after an
// event whose status is neither falsy nor a text.
//
// If the connection of the subscription is lost and comes back, the stream reads the history again
// and sends what it has missed: the events after the newest one that it has sent.
//
// Thread-safety: as the store. The subscription is a connection of its own, and this is its
// listener until it is destroyed. Subscription, store and clock must outlive it.
// Source: docs/systems/relayna.md 2.11, 3.3 and 4.3.
#ifndef REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_
#define REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/server_sent_event.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/python/value.h"
#include "redouble/core/relayna/status_store.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/channel_reader.h"

namespace redouble::inline v0_1::relayna {

struct StreamFrame {
  enum class Kind { kReady, kStatus, kKeepAlive };
  Kind kind = Kind::kReady;
  // For kStatus: the event, and its usable id.
  python::Value event;
  std::optional<std::string> id = std::nullopt;

  // The text for the client: "id: e1\nevent: status\ndata: {...}\n\n" with the event as PYJSON, or
  // base::kReadyText, or base::kKeepAliveText.
  std::string Text() const;
};

// True if the event's status is "completed" or "failed", in any case.
bool IsTerminal(const python::Value& event);
// True if the event's status is one of `statuses`, in any case.
bool IsTerminal(const python::Value& event, const absl::btree_set<std::string>& statuses);

struct StreamOptions {
  std::string task_id = {};
  // The id of the last event that the client has seen; the replay starts after it. nullopt, or an
  // id that the history does not have: the whole history is replayed.
  std::optional<std::string> last_event_id = std::nullopt;
  // The time without output after which a comment is sent; nullopt: no comments are sent.
  std::optional<absl::Duration> keep_alive = base::kKeepAliveInterval;
  // The statuses that end the stream, in any case; nullopt: those of IsTerminal. None end it if the
  // set is empty.
  std::optional<absl::btree_set<std::string>> terminal_statuses = std::nullopt;
  // Returns the event to send for a stored one, for example with other names of members. The id, by
  // which copies are recognised, and the status that may end the stream are those of the result;
  // `last_event_id` is compared with the stored event. sdk/output_aliases.h has those of the SDK.
  // Null: events are sent as they are.
  std::function<python::Value(python::Value)> adapter = nullptr;
};

class EventStream {
 public:
  EventStream(store::MessageSource& subscription, StatusStore& statuses, base::Clock& clock,
              StreamOptions options);

  // Returns the next frame, or nullopt after the last one. The first call returns the ready frame
  // without I/O. The second subscribes and reads the history: two round trips. Later calls wait for
  // a message, and return a comment after each `keep_alive` without one. A message that is not JSON
  // is skipped. After a gap of the subscription the history is read: one round trip.
  //
  // One call at a time. Destroying a task that waits for a message leaves the stream unchanged.
  // Errors: those of the subscription and of StatusStore::GetHistory; InvalidArgument (TypeError,
  // ValueError, AttributeError, UnicodeDecodeError) for data that is no event. The stream ends
  // after an error.
  base::Task<absl::StatusOr<std::optional<StreamFrame>>> Next();

 private:
  base::Task<absl::Status> Begin();
  // Sends the `count` newest events, the oldest of them first.
  void Replay(std::vector<python::Value> newest_first, size_t count);
  // Sends all events, or those after `last_event_id`.
  void ReplayFromTheStart(std::vector<python::Value> newest_first);
  // Sends what was published while the subscription was lost.
  base::Task<absl::Status> CatchUp();
  void Follow(const std::string& payload);
  // Returns the event to send for a stored or published item. Errors: TypeError, ValueError.
  absl::StatusOr<python::Value> Adapted(python::Value item) const;
  // Sends an adapted event, or ends the stream with the error.
  void Enqueue(absl::StatusOr<python::Value> event);
  // Ends the stream after the frames that are left.
  void Fail(absl::Status failure);
  bool WasSent(const python::Value& item) const;

  StatusStore& statuses_;
  const StreamOptions options_;
  store::ChannelReader messages_;

  enum class State { kNew, kReady, kFollowing };
  State state_ = State::kNew;
  // True if no frame follows those in `frames_`.
  bool ended_ = false;
  // What Next returns after `frames_`, once.
  absl::Status failure_;
  std::deque<StreamFrame> frames_;
  // The usable ids of the events that were sent.
  absl::btree_set<std::string> seen_ids_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_
