// MessageSource: a Store that also receives pushes: messages and confirmations of subscriptions.
//
// A request has one reply, but a subscribed connection receives messages too, and SUBSCRIBE with
// three channels is confirmed three times. The first confirmation is the reply of the request; all
// else is a push and goes to the listener, in the order in which the server sent it. Sessions of
// the memory engine are message sources, and so is a live connection for subscriptions; there
// pushes pass through a bounded queue, and a reconnection is reported as a gap.
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
// A message is delivered after the PUBLISH has been answered, never during it. A message published
// before a subscription ended may be delivered after the confirmation of UNSUBSCRIBE.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_
#define REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_

#include <optional>
#include <string>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

struct Message {
  std::string channel;
  // The pattern that the channel matched; nullopt for a subscription by name.
  std::optional<std::string> pattern;
  std::string payload;
  // Published by SPUBLISH to a shard channel.
  bool sharded = false;

  friend bool operator==(const Message&, const Message&) = default;
};

// Returns the message in a push, or nullopt for any other push, such as a confirmation.
std::optional<Message> ReadMessage(const Reply& push);

class PushListener {
 public:
  virtual ~PushListener() = default;

  // Receives one push. May send commands and may destroy the source.
  virtual void OnPush(const Reply& push) = 0;
  // The connection was lost and has been subscribed again: the messages in between are lost. Never
  // called by the memory engine.
  virtual void OnGap() {}
};

class MessageSource : public Store {
 public:
  // Sends all pushes from now on to `listener`, which replaces the previous one; null drops them.
  // The listener must outlive the source or be replaced first.
  virtual void Listen(PushListener* listener) = 0;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_MESSAGE_SOURCE_H_
