// StreamGroup: a consumer group of a stream: its position, its consumers and its pending entries
// list (PEL), the entries that were delivered and not yet acknowledged.
//
// An entry is pending for exactly one consumer of the group. The group's list is authoritative; the
// list of a consumer holds the ids of its own entries. A pending entry may have been removed from
// the stream.
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
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::memory {

using store::StreamId;

struct StreamConsumer {
  std::string name;
  // Time of the last command that named the consumer, in Unix milliseconds.
  int64_t seen_ms;
  // Time of the last delivery to the consumer or claim for it, which must be acknowledged;
  // kNeverActive before the first one. Redis 7.0 does not report it.
  int64_t active_ms = kNeverActive;
  static constexpr int64_t kNeverActive = -1;
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
    // Entries with greater ids are new to the group.
    StreamId last_delivered_id;
    // The number of entries ever added to the stream up to that id; nullopt if unknown.
    std::optional<int64_t> entries_read = std::nullopt;
  };
  // Pending entries by id.
  using PendingMap = absl::btree_map<StreamId, StreamPending>;
  // Consumers by name, in byte order. Their addresses are stable.
  using ConsumerMap = absl::btree_map<std::string, std::unique_ptr<StreamConsumer>, std::less<>>;

  explicit StreamGroup(Position initial) : position(initial) {}
  StreamGroup(StreamGroup&&) = default;
  StreamGroup& operator=(StreamGroup&&) = default;

  // A copy that shares nothing with this group.
  StreamGroup Clone() const;

  Position position;

  const PendingMap& pending() const { return pending_; }
  const ConsumerMap& consumers() const { return consumers_; }

  // Returns null if the consumer does not exist.
  StreamConsumer* FindConsumer(std::string_view name);
  // Adds a consumer, which must not exist.
  StreamConsumer& AddConsumer(std::string_view name, int64_t now_ms);
  // Removes a consumer and its pending entries. Returns the number of those entries; nullopt if the
  // consumer does not exist.
  std::optional<size_t> RemoveConsumer(std::string_view name);

  // Returns null if the entry is not pending. Change the consumer only with Assign.
  StreamPending* FindPending(StreamId id);
  // Makes the entry pending for the consumer as delivered now for the first time, whether or not it
  // was pending before.
  void Deliver(StreamId id, StreamConsumer& consumer, int64_t now_ms);
  // Moves the pending entry to the consumer.
  void Assign(StreamId id, StreamPending& pending, StreamConsumer& consumer);
  // Removes the entry from the pending entries. Returns false if it was not pending.
  bool Acknowledge(StreamId id);

 private:
  PendingMap pending_;
  ConsumerMap consumers_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_STREAM_GROUP_H_
