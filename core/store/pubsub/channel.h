// Channel: where the messages about one unit of work are published, and how.
//
// A cluster passes each message of PUBLISH on to all its nodes. A message of SPUBLISH goes to the
// master of the channel's slot and its replicas only, so that shard channels spread over a cluster
// as keys do. A subscriber of a pattern receives no message of a shard channel, and a subscriber
// has to follow the slot (backends/redis/net/client/following_subscriber.h).
//
// A system has two names for each channel, and its option ChannelKind says on which of them it
// publishes:
//
//   const PublishedChannels channels(options.channels, "run:7", "run:{7}");
//   AddPublish(batch, channels, payload);                        // The publisher.
//   ChannelReader reader(subscription, clock, channels.followed());  // A reader.
//
// To change from one kind to the other without losing a message, change the publishers to kBoth,
// then the readers, and then the publishers again.
//
// Thread-safety: plain values and pure functions.
// Source: Redis 7.0 SPUBLISH; docs/cluster.md.
#ifndef REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_H_
#define REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/batch.h"

namespace redouble::inline v0_1::store {

struct Channel {
  std::string name;
  bool sharded = false;

  friend bool operator==(const Channel&, const Channel&) = default;
};

enum class ChannelKind : uint8_t {
  kDocumented,  // PUBLISH on the documented channel.
  kSharded,     // SPUBLISH on the shard channel of the unit.
  kBoth,        // Both. Readers follow the shard channel, but for readers of patterns.
};

// The names of settings, in the order of ChannelKind.
inline constexpr std::array<std::string_view, 3> kChannelKindNames = {"documented", "sharded",
                                                                      "both"};
// Parses such a name. Errors: InvalidArgument that names what was expected and found.
absl::StatusOr<ChannelKind> ParseChannelKind(std::string_view name);

// Reads a kind for a row of base::VariableRow; keeps the default if the value is blank. kMember is
// a pointer to a ChannelKind member of Settings.
template <typename Settings, ChannelKind Settings::*kMember>
absl::Status ReadChannelKind(std::string_view value, Settings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, ParseChannelKind(value));
  return absl::OkStatus();
}

// The channels that a message is published on.
struct PublishedChannels {
  // None: nothing is published.
  PublishedChannels() = default;
  // Of the two names, those of the kind.
  PublishedChannels(ChannelKind kind, std::string documented_name, std::string sharded_name);

  // The channel for a reader of this unit: the shard channel if there is one.
  Channel followed() const;

  std::string documented;  // Of PUBLISH; empty: none.
  std::string sharded;     // Of SPUBLISH; empty: none.
};

// Adds a PUBLISH, an SPUBLISH or both, which own the arguments.
//
// The batch must be a pipeline: in a transaction, Redis 7.0 takes a shard channel for a key, which
// is always missing, and refuses the transaction while the slot moves. A script may publish.
void AddPublish(Batch& batch, PublishedChannels channels, std::string payload);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_PUBSUB_CHANNEL_H_
