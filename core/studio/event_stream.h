// EventStream: the events of a service, or of one of its tasks, as they are ingested, for
// server-sent events.
//
//   studio::EventStream stream(subscription, clock, events.keys().ServiceChannel("svc-a"));
//   while (true) {
//     absl::StatusOr<StreamFrame> frame = co_await stream.Next();
//     if (!frame.ok()) break;
//     response.Write(frame->Text());
//   }
//
// Nothing is replayed: what was published before the subscription is in the lists of EventStore.
// The stream has no end of its own.
//
// Thread-safety: as the Store. The subscription is a connection of its own, and this is its
// listener until it is destroyed; subscription and clock outlive it.
// Source: reference/relayna.md section 7.
#ifndef REDOUBLE_CORE_STUDIO_EVENT_STREAM_H_
#define REDOUBLE_CORE_STUDIO_EVENT_STREAM_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/server_sent_event.h"
#include "core/base/task.h"
#include "core/store/channel_reader.h"
#include "core/store/message_source.h"
#include "core/studio/service_event.h"

namespace redouble::studio {

struct StreamFrame {
  enum class Kind { kReady, kEvent, kKeepAlive };
  Kind kind = Kind::kReady;
  ControlPlaneEvent event;  // Of an event's frame.

  // As it goes to the client: "id: {dedupe_key}\nevent: event\ndata: {document}\n\n", with the
  // document as it was published; otherwise base::kReadyText or kKeepAliveText.
  std::string Text() const;
};

class EventStream {
 public:
  // `channel` is one of EventKeys. Without `keep_alive` no comment is ever sent.
  EventStream(store::MessageSource& subscription, base::Clock& clock, std::string channel,
              std::optional<absl::Duration> keep_alive = base::kKeepAliveInterval);

  // The next frame. The first is ready, and sent before anything is asked of Redis; the second
  // subscribes, one round trip. Waits for a message, with a comment whenever `keep_alive` passes
  // without one. A message that is no event's document is passed over. One call at a time; a task
  // that is destroyed while it waits for a message leaves the stream as it was.
  // Errors: those of the subscription; a further call subscribes anew.
  base::Task<absl::StatusOr<StreamFrame>> Next();

 private:
  store::ChannelReader messages_;
  const std::optional<absl::Duration> keep_alive_;
  enum class State { kNew, kReady, kFollowing };
  State state_ = State::kNew;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENT_STREAM_H_
