// MessageSource: a Store that also hands over what the server sends unasked.
//
// Why it exists: a request has one reply, but a connection that has subscribed gets messages too,
// and SUBSCRIBE with three channels is confirmed three times. The first confirmation is the reply
// of the request; everything else is a push, given to the listener in the order of the wire. The
// memory engine's sessions are message sources, and so is a live connection kept for subscriptions:
// there pushes come through a bounded queue, and a reconnection is told as a gap.
//
//   class Printer final : public store::PushListener {
//     void OnPush(const store::Reply& push) override {
//       if (std::optional<store::Message> message = store::ReadMessage(push)) {
//         std::cout << message->channel << ": " << message->payload << "\n";
//       }
//     }
//   };
//   source.Listen(&printer);
//   co_await store::Subscribe(source, channels);  // pubsub.h
//
// A message is delivered after the command that published it has been answered, never inside it;
// what was published before a subscription ended may still come after that was confirmed.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_
#define REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_

#include <optional>
#include <string>

#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::store {

struct Message {
  std::string channel;
  // The pattern of the subscription that the channel matched; none for one by name.
  std::optional<std::string> pattern;
  std::string payload;
  // Published by SPUBLISH to a shard channel.
  bool sharded = false;

  friend bool operator==(const Message&, const Message&) = default;
};

// The message in a push; none when the push is something else, a confirmation for one.
std::optional<Message> ReadMessage(const Reply& push);

class PushListener {
 public:
  virtual ~PushListener() = default;

  // One push. May send commands, and may end the source.
  virtual void OnPush(const Reply& push) = 0;
  // The connection was lost and is subscribed again: messages in between are missing. The memory
  // engine never says so.
  virtual void OnGap() {}
};

class MessageSource : public Store {
 public:
  // Hands every push from now on to `listener`, in place of the one before; null: pushes are
  // dropped. The listener outlives the source or is replaced first.
  virtual void Listen(PushListener* listener) = 0;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_
