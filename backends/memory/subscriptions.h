// Subscriptions: who listens to which channel and pattern.
//
// As in Redis: channels, patterns and shard channels are three worlds; the subscribers of a name
// hear in the order in which they subscribed, those by name before those by pattern. Where Redis
// follows a hash table (the patterns that match, the list of channels) the order here is that of
// the names.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SUBSCRIPTIONS_H_
#define REDOUBLE_BACKENDS_MEMORY_SUBSCRIPTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"

namespace redouble::memory {

class Session;

enum class SubscriptionKind : uint8_t { kChannel, kPattern, kShard };
inline constexpr size_t kSubscriptionKinds = 3;

// Names of each kind: what one session is subscribed to, in the order of subscribing.
using SubscribedNames = std::array<std::vector<std::string>, kSubscriptionKinds>;

class Subscriptions {
 public:
  using Kind = SubscriptionKind;
  using Table = absl::btree_map<std::string, std::vector<Session*>>;

  // Nobody listens to anything: there is nothing to publish.
  bool empty() const;
  // Adds the session behind the subscribers that the name has. It must not be one of them.
  void Add(Session& session, Kind kind, std::string_view name);
  void Remove(Session& session, Kind kind, std::string_view name);

  // The names that have subscribers, with those, sorted by name.
  const Table& table(Kind kind) const { return tables_[static_cast<size_t>(kind)]; }
  // The subscribers of a name in their order.
  const std::vector<Session*>& Of(Kind kind, std::string_view name) const;

 private:
  std::array<Table, kSubscriptionKinds> tables_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SUBSCRIPTIONS_H_
