// Log: reads the partitions of a topic by offset, without a consumer group, and cuts them.
//
//   Log log(store, clock, keys, topic);
//   const FetchPosition from[] = {{.partition = 0, .offset = 1264197519485957}};
//   auto fetched = co_await log.Fetch({.positions = from});
//   for (const LogRecord& record : (*fetched)[0].records) ...
//   ... fetch on from (*fetched)[0].next_offset
//
// Offsets are sparse: a fetch gives the first records at or behind the offset, whichever they are.
// A partition that nobody has written to is an empty log, never an error.
//
// A fetch is one transaction: whether the topic is still the one that the caller knows, the bounds
// of each log and its records are of one moment. So retention cannot cut a log between the check of
// the offset and the read, and an offset that outlived a delete and a new topic of the same name is
// recognised, although it is a legal number in the new log, too.
//
// Thread-safety: as Store.
// Source: reference/korvet.md sections 5 to 7.
#ifndef REDOUBLE_CORE_KORVET_LOG_H_
#define REDOUBLE_CORE_KORVET_LOG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/korvet/keys.h"
#include "core/korvet/log_record.h"
#include "core/korvet/retention.h"
#include "core/korvet/topics.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::korvet {

// Where to read on in a partition.
struct FetchPosition {
  int32_t partition = 0;
  int64_t offset = 0;
  int64_t max_bytes = 1 << 20;  // Of this partition's records (SizeOf in record.h).
};

struct FetchRequest {
  // Must outlive the task.
  std::span<const FetchPosition> positions;
  int64_t max_records = 500;     // In all.
  int64_t max_bytes = 50 << 20;  // In all.
  // Waits until there are so many bytes, or max_wait is over. Nothing to read is no error.
  int64_t min_bytes = 0;
  absl::Duration max_wait = absl::ZeroDuration();
};

struct FetchedPartition {
  int32_t partition = 0;
  // OFFSET_OUT_OF_RANGE: the offset is below the log's start or above its end; the bounds say where
  // it is. UNKNOWN_TOPIC_OR_PARTITION. UNKNOWN_SERVER_ERROR: an entry whose id has no offset, or a
  // key that is no stream. CORRUPT_MESSAGE: an entry that is no record. Records before such an
  // entry are given; the error comes when they are behind the reader.
  absl::Status status;
  std::vector<LogRecord> records;
  LogBounds bounds;
  // Where to read on: behind the last record, or where the request began.
  int64_t next_offset = 0;
};

// What a search of an offset found: an offset, -1 for none, and the time of that record's id in
// milliseconds, -1 where there is no record.
struct ListedOffset {
  int64_t offset = -1;
  int64_t timestamp_ms = -1;

  friend bool operator==(const ListedOffset&, const ListedOffset&) = default;
};

// Kafka's special timestamps.
inline constexpr int64_t kLatestTimestamp = -1;
inline constexpr int64_t kEarliestTimestamp = -2;
inline constexpr int64_t kMaxTimestamp = -3;
inline constexpr int64_t kEarliestLocalTimestamp = -4;

// How to cut the logs of a topic.
struct SweepOptions {
  // By which bounds.
  bool by_time = true;
  bool by_size = true;
  Trimming trimming = Trimming::kExact;
  // None: Redis's own time, by a round trip more, since ids have that time, too.
  std::optional<int64_t> now_ms = std::nullopt;
  // Which partitions; empty: all. Must outlive the task.
  std::span<const int32_t> partitions = {};
};

class Log {
 public:
  // `store` and `clock` must outlive the object; `topic` is as Topics described it.
  Log(store::Store& store, base::Clock& clock, Keys keys, Topic topic)
      : store_(store), clock_(clock), keys_(std::move(keys)), topic_(std::move(topic)) {}

  // Records of the partitions from the given offsets on, partitions in the order of the request.
  //
  // Stops before max_bytes, a partition's max_bytes or max_records would be exceeded; but the first
  // record of the first partition that has any is given however large, so that a reader gets on.
  // With min_bytes waits by XREAD BLOCK, which a write wakes.
  //
  // One transaction of HMGET, and XINFO STREAM and XRANGE for each partition; one more for each
  // further 100 records of a partition; an XREAD for each wait. Errors: those of Redis;
  // UNKNOWN_TOPIC_OR_PARTITION and INCONSISTENT_TOPIC_ID when the topic is gone, or another one.
  // What concerns one partition stands in its status.
  base::Task<absl::StatusOr<std::vector<FetchedPartition>>> Fetch(FetchRequest request);

  // Where the partition's log begins and ends. XINFO STREAM: one round trip. Errors:
  // UNKNOWN_TOPIC_OR_PARTITION; UNKNOWN_SERVER_ERROR for an id without an offset.
  base::Task<absl::StatusOr<LogBounds>> Bounds(int32_t partition);

  // The offset for a timestamp:
  //
  //   | timestamp | gives                                  | by                        |
  //   | --------- | -------------------------------------- | ------------------------- |
  //   | -1        | the end of the log                     | XINFO STREAM              |
  //   | -2, -4    | the first record, else the log's start | XRANGE (and XINFO STREAM) |
  //   | -3        | the last record, of the greatest time  | XREVRANGE                 |
  //   | 0 and up  | the first record taken then or later   | XRANGE                    |
  //
  // By the time at which Redis took a record, not by the record's own timestamp. Errors:
  // INVALID_REQUEST for any other timestamp; otherwise as Bounds.
  base::Task<absl::StatusOr<ListedOffset>> ListOffset(int32_t partition, int64_t timestamp_ms);

  // Cuts the logs as the topic's retention says: for what nobody writes to any more, since a write
  // cuts by itself. Gives how many records went. One pipeline of XTRIM; TIME before it. Pending
  // entries of consumer groups stay pending, without their records.
  base::Task<absl::StatusOr<int64_t>> Sweep(SweepOptions options = {});

 private:
  // One fetch, without waiting.
  struct Round {
    std::vector<FetchedPartition> partitions;
    int64_t bytes = 0;
    int64_t count = 0;
    bool full = false;    // A limit was reached.
    bool failed = false;  // Of some partition.
  };
  base::Task<absl::StatusOr<Round>> ReadOnce(FetchRequest request);
  // A position of the request, its stream, and what the first page's commands answered.
  struct Pages {
    size_t index;
    const std::string& stream;
    std::span<const store::Reply> answers;
  };
  base::Task<absl::Status> ReadPages(const FetchRequest& request, Pages pages, Round& round);
  base::Task<absl::Status> Wait(const Round& round, absl::Duration time);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const Topic topic_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_H_
