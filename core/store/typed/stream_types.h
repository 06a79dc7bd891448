// The arguments and results of the typed stream commands (streams.h).
//
// All are plain structs with the names of Redis's own fields; optional fields that are nullopt are
// left out of the command.
//
// Thread-safety: plain values.
#ifndef REDOUBLE_CORE_STORE_TYPED_STREAM_TYPES_H_
#define REDOUBLE_CORE_STORE_TYPED_STREAM_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::store {

// An entry of a stream.
struct StreamEntry {
  StreamId id;
  // In the order in which they were added. A field may occur twice.
  std::vector<std::pair<std::string, std::string>> fields;
  // Only in a consumer's history: the entry was removed from the stream and has no fields.
  bool deleted = false;

  // Returns the first value of the field, or nullopt if the entry does not have it.
  std::optional<std::string_view> Find(std::string_view field) const;

  friend bool operator==(const StreamEntry&, const StreamEntry&) = default;
};

// The entries read from one stream.
struct StreamEntries {
  std::string key;
  std::vector<StreamEntry> entries;

  friend bool operator==(const StreamEntries&, const StreamEntries&) = default;
};

// How a stream is trimmed at its front: to at most `max_length` entries, or to ids of at least
// `min_id`; not both. Approximate trimming only removes whole nodes, so that more entries may stay;
// `limit` bounds how many it removes.
struct StreamTrimming {
  std::optional<int64_t> max_length = std::nullopt;
  std::optional<StreamId> min_id = std::nullopt;
  bool approximate = false;
  std::optional<int64_t> limit = std::nullopt;
};

// A range of ids, both ends included. For a range after an id, start at its Next().
struct StreamRange {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
  std::optional<int64_t> count = std::nullopt;
};

// A stream to read and the position from which to read it.
struct StreamRead {
  std::string_view key;
  // Reads the entries after this id. nullopt means, for XRead, entries added from now on ("$"), and
  // for XReadGroup, entries that the group has not delivered to any consumer (">").
  std::optional<StreamId> after = std::nullopt;
};

// A consumer and its group.
struct GroupConsumer {
  std::string_view group;
  std::string_view consumer;
};

// An entry that was delivered to a consumer and is not acknowledged.
struct PendingEntry {
  StreamId id;
  std::string consumer;
  // Since its last delivery.
  absl::Duration idle;
  int64_t deliveries = 0;

  friend bool operator==(const PendingEntry&, const PendingEntry&) = default;
};

// The pending entries of a group, in total and per consumer.
struct PendingSummary {
  int64_t count = 0;
  // The smallest and the greatest pending id; nullopt if no entry is pending.
  std::optional<StreamId> first;
  std::optional<StreamId> last;
  // The consumers with pending entries, ordered by name, and how many each has.
  std::vector<std::pair<std::string, int64_t>> consumers;

  friend bool operator==(const PendingSummary&, const PendingSummary&) = default;
};

// The result of XAutoClaim.
struct AutoClaimed {
  // The start of the next call; 0-0 if the pending entries have been scanned to the end.
  StreamId next;
  std::vector<StreamEntry> entries;
  // Ids that were pending although their entries had been removed from the stream. They are no
  // longer pending.
  std::vector<StreamId> deleted;

  friend bool operator==(const AutoClaimed&, const AutoClaimed&) = default;
};

// The reply of XINFO STREAM.
struct StreamInfo {
  int64_t length = 0;
  // The greatest id ever added, and the greatest id that XDEL removed (0-0 if it removed none).
  StreamId last_generated_id;
  StreamId max_deleted_entry_id;
  int64_t entries_added = 0;
  // 0-0 if the stream has no entries.
  StreamId first_entry_id;
  int64_t groups = 0;

  friend bool operator==(const StreamInfo&, const StreamInfo&) = default;
};

// A group in the reply of XINFO GROUPS.
struct StreamGroupInfo {
  std::string name;
  int64_t consumers = 0;
  int64_t pending = 0;
  StreamId last_delivered_id;
  // How many entries the group has read, and how many it has not; nullopt if Redis does not know.
  std::optional<int64_t> entries_read;
  std::optional<int64_t> lag;

  friend bool operator==(const StreamGroupInfo&, const StreamGroupInfo&) = default;
};

// A consumer in the reply of XINFO CONSUMERS.
struct StreamConsumerInfo {
  std::string name;
  int64_t pending = 0;
  // The time since the consumer last tried to read or claim entries.
  absl::Duration idle;

  friend bool operator==(const StreamConsumerInfo&, const StreamConsumerInfo&) = default;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_STREAM_TYPES_H_
