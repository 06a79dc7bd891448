// Topic: what a subscription is for: a channel, a pattern or a shard channel.
//
//   if (std::optional<TopicCommand> command = TopicCommandOf(request)) ...
//   store::Reply confirmation = Confirmation(*topic, /*subscribed=*/true, count);
//
// Thread-safety: plain values.
//
// Source: Redis 7.0 SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_TOPIC_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_TOPIC_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// The kinds of subscription, each with commands and confirmations of its own.
enum class TopicKind : uint8_t { kChannel, kPattern, kShardChannel };

// The words of a kind, as its commands and confirmations write them.
struct TopicWords {
  std::string_view subscribe;
  std::string_view unsubscribe;
};
inline constexpr std::array kTopicWords = {
    TopicWords{"subscribe", "unsubscribe"},
    TopicWords{"psubscribe", "punsubscribe"},
    TopicWords{"ssubscribe", "sunsubscribe"},
};
inline constexpr size_t kTopicKinds = kTopicWords.size();

// The words of a kind.
constexpr const TopicWords& WordsOf(TopicKind kind) {
  return kTopicWords[static_cast<size_t>(kind)];
}

struct Topic {
  TopicKind kind = TopicKind::kChannel;
  std::string name;

  friend auto operator<=>(const Topic&, const Topic&) = default;
};

// A command that begins or ends subscriptions.
struct TopicCommand {
  TopicKind kind;
  bool subscribes;
};

// Reads a request. nullopt for any other one, and for SUBSCRIBE without a name.
std::optional<TopicCommand> TopicCommandOf(const store::Request& request);

// The first word of a push; empty for a reply that is no push.
std::string_view WordOfPush(const store::Reply& reply);

// Whether a push is a message: message, pmessage or smessage.
bool IsMessage(const store::Reply& push);

// The topic that a push concerns: the channel of a message, the pattern of a pmessage, the name in
// a confirmation. nullopt if it concerns none.
std::optional<Topic> TopicOf(const store::Reply& push);

// The reply that confirms a subscription or its end. `count`: the subscriptions of the connection
// after it.
store::Reply Confirmation(TopicKind kind, bool subscribed, store::Reply name, size_t count);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SUBSCRIBE_TOPIC_H_
