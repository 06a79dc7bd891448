// Subscriptions: the subscribers of each channel, pattern and shard channel.
//
// As in Redis, channels, patterns and shard channels are three separate tables. The subscribers of
// a name receive a message in the order in which they subscribed; subscribers of the channel before
// those of patterns. Where Redis follows the order of a hash table (matching patterns, PUBSUB
// CHANNELS), the order here is that of the names.
//
// Thread-safety: one thread.
// Source: Redis 7.0 SUBSCRIBE, PSUBSCRIBE, SSUBSCRIBE.
#ifndef REDOUBLE_BACKENDS_MEMORY_PUBSUB_SUBSCRIPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_PUBSUB_SUBSCRIPTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"

namespace redouble::inline v0_1::memory {

class SessionCore;

enum class SubscriptionKind : uint8_t { kChannel, kPattern, kShard };
inline constexpr size_t kSubscriptionKinds = 3;

// The names of each kind that one session is subscribed to, in the order of subscribing.
using SubscribedNames = std::array<std::vector<std::string>, kSubscriptionKinds>;

class Subscriptions {
 public:
  using Kind = SubscriptionKind;
  using Table = absl::btree_map<std::string, std::vector<SessionCore*>>;

  // True if there is no subscription of any kind.
  bool empty() const;
  // Adds the session as the last subscriber of the name. It must not be subscribed to it yet.
  void Add(SessionCore& session, Kind kind, std::string_view name);
  void Remove(SessionCore& session, Kind kind, std::string_view name);

  // The names that have subscribers, sorted by name.
  const Table& table(Kind kind) const { return tables_[static_cast<size_t>(kind)]; }
  // The subscribers of a name, in the order of subscribing.
  const std::vector<SessionCore*>& Of(Kind kind, std::string_view name) const;

 private:
  std::array<Table, kSubscriptionKinds> tables_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PUBSUB_SUBSCRIPTIONS_H_
