// EventStream: the status events of one task as they come, for server-sent events: first the
// history, oldest first, then what is published.
//
//   EventStream stream(subscription, statuses, clock, {.task_id = "t1"});
//   while (true) {
//     absl::StatusOr<std::optional<StreamFrame>> frame = co_await stream.Next();
//     if (!frame.ok() || !frame->has_value()) break;
//     response.Write((*frame)->Text());
//   }
//
// It subscribes before it reads the history, so that nothing between the two is lost; what comes
// both ways is dropped the second time when it has an event id, and delivered twice when it has
// none (hazard R8), or when the client had seen it before it came again. The stream ends behind the
// first event whose status is terminal, completed or failed in any case, also when the history goes
// on behind it.
//
// Thread-safety: as the store. The subscription is a connection of its own, and this is its
// listener until it is destroyed; subscription, store and clock outlive it.
// Source: reference/relayna.md 1.3.
#ifndef REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_
#define REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/server_sent_event.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/relayna/status_store.h"
#include "core/store/channel_reader.h"
#include "core/store/message_source.h"

namespace redouble::relayna {

struct StreamFrame {
  enum class Kind { kReady, kStatus, kKeepAlive };
  Kind kind = Kind::kReady;
  // Of a status frame: the event, and its usable id.
  python::Value event;
  std::optional<std::string> id = std::nullopt;

  // As it goes to the client: "id: e1\nevent: status\ndata: {...}\n\n" with the event as PYJSON;
  // base::kReadyText; base::kKeepAliveText.
  std::string Text() const;
};

// True for a status of "completed" or "failed", in any case.
bool IsTerminal(const python::Value& event);

struct StreamOptions {
  std::string task_id = {};
  // The id of the last event that the client has seen: what is newer is replayed. One that is not
  // in the history, and none, replay all of it.
  std::optional<std::string> last_event_id = std::nullopt;
  // How long nothing is sent before a comment is; none: for ever.
  std::optional<absl::Duration> keep_alive = base::kKeepAliveInterval;
};

class EventStream {
 public:
  EventStream(store::MessageSource& subscription, StatusStore& statuses, base::Clock& clock,
              StreamOptions options);

  // The next frame; none behind the last. The first is ready, and sent before anything is asked of
  // Redis; the second subscribes and reads the history: two round trips. Waits for a message, with
  // a comment whenever `keep_alive` passes without one. A message that is no JSON object is passed
  // over. One call at a time; a task that is destroyed while it waits for a message leaves the
  // stream as it was.
  // Errors: those of the subscription and of StatusStore::GetHistory, after which the stream ends.
  base::Task<absl::StatusOr<std::optional<StreamFrame>>> Next();

 private:
  base::Task<absl::Status> Begin();
  void Replay(std::vector<python::Value> newest_first);
  void Follow(const std::string& payload);
  void Enqueue(python::Value event);

  StatusStore& statuses_;
  const StreamOptions options_;
  store::ChannelReader messages_;

  enum class State { kNew, kReady, kFollowing };
  State state_ = State::kNew;
  // Nothing comes behind what is in `frames_`.
  bool ended_ = false;
  std::deque<StreamFrame> frames_;
  // Usable ids of what has been delivered.
  absl::btree_set<std::string> seen_ids_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_EVENT_STREAM_H_
