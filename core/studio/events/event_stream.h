// EventStream: the events of a service, or of one task, as server-sent events while they are
// ingested.
//
//   studio::EventStream stream(subscription, clock, events.ServiceChannelToFollow("svc-a"));
//   while (true) {
//     absl::StatusOr<StreamFrame> frame = co_await stream.Next();
//     if (!frame.ok()) break;
//     response.Write(frame->Text());
//   }
//
// Nothing is replayed: earlier events are in the lists of EventStore. The stream has no end.
//
// Thread-safety: as the store. The subscription is a connection of its own, and this is its
// listener until it is destroyed. Subscription and clock must outlive it.
// Source: docs/systems/studio.md 4.8.
#ifndef REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STREAM_H_
#define REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STREAM_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/server_sent_event.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/store/pubsub/channel_reader.h"
#include "redouble/core/studio/events/service_event.h"

namespace redouble::inline v0_1::studio {

struct StreamFrame {
  enum class Kind { kReady, kEvent, kKeepAlive };
  Kind kind = Kind::kReady;
  ControlPlaneEvent event;  // For kEvent.

  // The text for the client: "id: {dedupe_key}\nevent: event\ndata: {document}\n\n" with the
  // document as it was published, or base::kReadyText, or base::kKeepAliveText.
  std::string Text() const;
};

class EventStream {
 public:
  // `channel` is a channel of EventStore. `keep_alive` is the time without output after which a
  // comment is sent; nullopt: no comments are sent.
  EventStream(store::MessageSource& subscription, base::Clock& clock, store::Channel channel,
              std::optional<absl::Duration> keep_alive = base::kKeepAliveInterval);

  // Returns the next frame. The first call returns the ready frame without I/O. The second
  // subscribes: one round trip. Later calls wait for a message, and return a comment after each
  // `keep_alive` without one. A message that is not a valid event document is skipped.
  //
  // One call at a time. Destroying a task that waits for a message leaves the stream unchanged.
  // Errors: those of the subscription, after which the next call subscribes again. Unavailable: the
  // connection was lost and came back, so events may be missing; the next call continues.
  base::Task<absl::StatusOr<StreamFrame>> Next();

 private:
  store::ChannelReader messages_;
  const std::optional<absl::Duration> keep_alive_;
  enum class State { kNew, kReady, kFollowing };
  State state_ = State::kNew;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_EVENTS_EVENT_STREAM_H_
