// What the typed commands of streams (streams.h) take and give.
//
// Thread-safety: plain values.
#ifndef REDOUBLE_CORE_STORE_STREAM_TYPES_H_
#define REDOUBLE_CORE_STORE_STREAM_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/store/stream_id.h"

namespace redouble::store {

// An entry as it is read.
struct StreamEntry {
  StreamId id;
  // In the order in which they were added; a field may come twice.
  std::vector<std::pair<std::string, std::string>> fields;
  // Of a consumer's history only: the entry left the stream, its fields are lost.
  bool deleted = false;

  // The first value of the field; none when there is no such field.
  std::optional<std::string_view> Find(std::string_view field) const;

  friend bool operator==(const StreamEntry&, const StreamEntry&) = default;
};

// What was read from one stream.
struct StreamEntries {
  std::string key;
  std::vector<StreamEntry> entries;

  friend bool operator==(const StreamEntries&, const StreamEntries&) = default;
};

// How a stream is cut at its front: to a number of entries, or to the ids from one on. Approximate
// trimming removes whole nodes only, so more may stay; `limit` then bounds the work.
struct StreamTrimming {
  std::optional<int64_t> max_length = std::nullopt;
  std::optional<StreamId> min_id = std::nullopt;
  bool approximate = false;
  std::optional<int64_t> limit = std::nullopt;
};

// From one id to another, both included; for "behind an id" take its Next().
struct StreamRange {
  StreamId first = StreamId::Min();
  StreamId last = StreamId::Max();
  std::optional<int64_t> count = std::nullopt;
};

// One stream to read, and from where.
struct StreamRead {
  std::string_view key;
  // Entries behind this id. None: XRead: those that come from now on; XReadGroup: those that the
  // group has delivered to nobody yet.
  std::optional<StreamId> after = std::nullopt;
};

// A consumer of a group.
struct GroupConsumer {
  std::string_view group;
  std::string_view consumer;
};

// An entry that was delivered and not acknowledged.
struct PendingEntry {
  StreamId id;
  std::string consumer;
  // Since its last delivery.
  absl::Duration idle;
  int64_t deliveries = 0;

  friend bool operator==(const PendingEntry&, const PendingEntry&) = default;
};

struct PendingSummary {
  int64_t count = 0;
  // The smallest and the greatest pending id; none when nothing is pending.
  std::optional<StreamId> first;
  std::optional<StreamId> last;
  // Consumers with pending entries, by name, and how many each has.
  std::vector<std::pair<std::string, int64_t>> consumers;

  friend bool operator==(const PendingSummary&, const PendingSummary&) = default;
};

struct AutoClaimed {
  // Where the next call goes on; 0-0 when all was looked at.
  StreamId next;
  std::vector<StreamEntry> entries;
  // Pending ids whose entries had left the stream: they are pending no more.
  std::vector<StreamId> deleted;

  friend bool operator==(const AutoClaimed&, const AutoClaimed&) = default;
};

struct StreamInfo {
  int64_t length = 0;
  // The greatest id ever given, and the greatest that XDEL removed (0-0: none).
  StreamId last_generated_id;
  StreamId max_deleted_entry_id;
  int64_t entries_added = 0;
  // 0-0 when the stream has no entries.
  StreamId first_entry_id;
  int64_t groups = 0;

  friend bool operator==(const StreamInfo&, const StreamInfo&) = default;
};

struct StreamGroupInfo {
  std::string name;
  int64_t consumers = 0;
  int64_t pending = 0;
  StreamId last_delivered_id;
  // How many entries the group has read, and has not; none where Redis cannot tell.
  std::optional<int64_t> entries_read;
  std::optional<int64_t> lag;

  friend bool operator==(const StreamGroupInfo&, const StreamGroupInfo&) = default;
};

struct StreamConsumerInfo {
  std::string name;
  int64_t pending = 0;
  // Since it was last given or last claimed anything.
  absl::Duration idle;

  friend bool operator==(const StreamConsumerInfo&, const StreamConsumerInfo&) = default;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STREAM_TYPES_H_
