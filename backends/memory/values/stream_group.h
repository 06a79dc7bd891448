// StreamGroup: a consumer group of a stream: how far it has read, its consumers, and its pending
// entries list (PEL): what was delivered and not yet acknowledged, and to whom.
//
// An entry is pending with exactly one consumer of the group, so the group's list is the truth and
// a consumer's list holds the same ids. The entry itself may be gone from the stream.
//
//   StreamGroup group({.last_delivered_id = StreamId::Min()});
//   StreamConsumer& ann = group.AddConsumer("ann", now_ms);
//   group.Deliver({5, 1}, ann, now_ms);
//   group.Acknowledge({5, 1});                       // true
//
// Thread-safety: one thread.
// Source: Redis 7.0 XREADGROUP, XPENDING, XCLAIM, XINFO.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_GROUP_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_GROUP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "core/store/stream_id.h"

namespace redouble::memory {

using store::StreamId;

struct StreamConsumer {
  std::string name;
  // When it last asked for anything.
  int64_t seen_ms;
  absl::btree_set<StreamId> pending;
};

struct StreamPending {
  StreamConsumer* consumer;
  int64_t delivered_ms;
  int64_t deliveries;
};

class StreamGroup {
 public:
  struct Position {
    // New entries are those behind it.
    StreamId last_delivered_id;
    // How many entries of the stream's whole life come up to there; none: unknown.
    std::optional<int64_t> entries_read = std::nullopt;
  };
  // By id.
  using PendingMap = absl::btree_map<StreamId, StreamPending>;
  // By name, in the order of bytes. Consumers stay where they are.
  using ConsumerMap = absl::btree_map<std::string, std::unique_ptr<StreamConsumer>, std::less<>>;

  explicit StreamGroup(Position initial) : position(initial) {}
  StreamGroup(StreamGroup&&) = default;
  StreamGroup& operator=(StreamGroup&&) = default;

  // An equal group that shares nothing with this one.
  StreamGroup Clone() const;

  Position position;

  const PendingMap& pending() const { return pending_; }
  const ConsumerMap& consumers() const { return consumers_; }

  // Null when there is no such consumer.
  StreamConsumer* FindConsumer(std::string_view name);
  // Adds one that does not exist.
  StreamConsumer& AddConsumer(std::string_view name, int64_t now_ms);
  // Removes a consumer and what is pending with it. Returns how many entries that were; none when
  // there is no such consumer.
  std::optional<size_t> RemoveConsumer(std::string_view name);

  // Null when the entry is not pending. Change the consumer with Assign only.
  StreamPending* FindPending(StreamId id);
  // The entry is pending with the consumer, delivered now for the first time, whatever was before.
  void Deliver(StreamId id, StreamConsumer& consumer, int64_t now_ms);
  // The pending entry is the consumer's from now on.
  void Assign(StreamId id, StreamPending& pending, StreamConsumer& consumer);
  // The entry is no longer pending; false when it was not.
  bool Acknowledge(StreamId id);

 private:
  PendingMap pending_;
  ConsumerMap consumers_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_GROUP_H_
