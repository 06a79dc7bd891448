// Log: reads the partitions of a topic by offset, without a consumer group, and trims them.
//
//   Log log(store, clock, keys, topic);
//   const FetchPosition from[] = {{.partition = 0, .offset = 1264197519485957}};
//   auto fetched = co_await log.Fetch({.positions = from});
//   for (const LogRecord& record : (*fetched)[0].records) ...
//   // Continue at (*fetched)[0].next_offset.
//
// Offsets are sparse: a fetch returns the first records at or after the offset. A missing stream is
// an empty log, not an error.
//
// A fetch reads the topic's id, the bounds of each log and the records in one transaction per page.
// Retention therefore cannot remove records between the check of the offset and the read. An offset
// of a topic that was deleted and created again is detected, although it is a legal number in the
// new log (hazard H4). A partition that was added later makes the object read the topic again.
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 4.8 to 4.10, H4.
#ifndef REDOUBLE_CORE_KORVET_LOG_LOG_H_
#define REDOUBLE_CORE_KORVET_LOG_LOG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/korvet/log/retention.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

// Where to read in a partition.
struct FetchPosition {
  int32_t partition = 0;
  int64_t offset = 0;
  int64_t max_bytes = 1 << 20;  // Limit for the records of this partition (SizeOf in record.h).
};

struct FetchRequest {
  // Must outlive the task.
  std::span<const FetchPosition> positions;
  int64_t max_records = 500;     // In total.
  int64_t max_bytes = 50 << 20;  // In total.
  // Waits until there are `min_bytes` bytes or `max_wait` has passed. Too few bytes are not an
  // error.
  int64_t min_bytes = 0;
  absl::Duration max_wait = absl::ZeroDuration();
};

struct FetchedPartition {
  int32_t partition = 0;
  // OFFSET_OUT_OF_RANGE: the offset is below the log start or above the log end, which `bounds`
  // contains. UNKNOWN_TOPIC_OR_PARTITION: the topic does not have the partition.
  // UNKNOWN_SERVER_ERROR: an entry id without an offset, or a key of another type. CORRUPT_MESSAGE:
  // an entry that is not a record. Records before an unreadable entry are returned with OK; the
  // next fetch, which starts at the entry, returns the error.
  absl::Status status;
  std::vector<LogRecord> records;
  LogBounds bounds;
  // The topic's label at the time of the fetch. It does not change the stored bytes (D12).
  Compression compression = Compression::kNone;
  // The next offset to fetch: one above the last record, or the requested offset.
  int64_t next_offset = 0;
};

// The result of ListOffset: an offset, or -1 if there is none, and the time of that record's id in
// milliseconds, or -1 if no record was found.
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

// How to trim the logs of a topic.
struct SweepOptions {
  // Which bounds to apply.
  bool by_time = true;
  bool by_size = true;
  Trimming trimming = Trimming::kExact;
  // The time in milliseconds since 1970. Nullopt: the time of Redis, which entry ids also use; this
  // needs one more round trip.
  std::optional<int64_t> now_ms = std::nullopt;
  // The partitions to trim; empty: all. Must outlive the task.
  std::span<const int32_t> partitions = {};
};

class Log {
 public:
  // `store` and `clock` must outlive the object. `topic` comes from Topics::Create or
  // Topics::Describe.
  Log(store::Store& store, base::Clock& clock, Keys keys, Topic topic)
      : store_(store), clock_(clock), keys_(std::move(keys)), topic_(std::move(topic)) {}

  // Fetches records of the partitions from the given offsets on. The result has the partitions in
  // the order of the request.
  //
  // Stops before max_bytes, a partition's max_bytes or max_records would be exceeded. The first
  // record of the first partition with records is always returned, whatever its size, so that a
  // reader makes progress. With min_bytes waits with XREAD BLOCK, which an append ends.
  //
  // One transaction of HMGET, and XINFO STREAM and XRANGE for each partition; one more for each
  // further 100 records of a partition; an XREAD for each wait. In the cluster layout each
  // partition has its own transaction; they are sent together. A wait for several partitions there
  // blocks on one of them after another, for 100 ms each, and reads all of them in between. Errors:
  // those of Redis; UNKNOWN_TOPIC_OR_PARTITION and INCONSISTENT_TOPIC_ID if the topic was deleted
  // or replaced. An error of one partition is in its `status`. Source: docs/systems/korvet.md 4.9.
  base::Task<absl::StatusOr<std::vector<FetchedPartition>>> Fetch(FetchRequest request);

  // Returns the bounds of the partition's log. XINFO STREAM: one round trip. Errors:
  // UNKNOWN_TOPIC_OR_PARTITION; UNKNOWN_SERVER_ERROR for a last id without an offset.
  // Source: docs/systems/korvet.md 4.8.
  base::Task<absl::StatusOr<LogBounds>> Bounds(int32_t partition);

  // Returns the offset for a timestamp:
  //
  //   | timestamp | result                                  | command                   |
  //   | --------- | --------------------------------------- | ------------------------- |
  //   | -1        | the log end                             | XINFO STREAM              |
  //   | -2, -4    | the first record, or the log start      | XRANGE (and XINFO STREAM) |
  //   | -3        | the last record                         | XREVRANGE                 |
  //   | 0 and up  | the first record at or after that time  | XRANGE                    |
  //
  // Times are those at which Redis accepted the records, not their `timestamp` fields (D15). One
  // round trip, or two for -2 and -4 if the log is empty. Errors: INVALID_REQUEST for any other
  // timestamp; otherwise as Bounds.
  // Source: docs/systems/korvet.md 4.8.
  base::Task<absl::StatusOr<ListedOffset>> ListOffset(int32_t partition, int64_t timestamp_ms);

  // Trims the logs by the topic's retention, and returns the number of removed records. Use it for
  // partitions without writes, because an append trims only its own partition. HGETALL for the
  // current retention and the number of partitions, TIME, then one pipeline of XTRIM: three round
  // trips, or two with `now_ms`. Pending entries of consumer groups stay pending without their
  // records (H5). Errors also: UNKNOWN_TOPIC_OR_PARTITION and INCONSISTENT_TOPIC_ID if the topic
  // was deleted or replaced; nothing is removed then. Source: docs/systems/korvet.md 4.10.
  base::Task<absl::StatusOr<int64_t>> Sweep(SweepOptions options = {});

  // Returns the average size (SizeOf in record.h) of the newest `samples` records of each
  // partition, rounded up, at least 1; nullopt if there are no records. It is the value for the
  // option messageBytes, by which retentionBytes becomes a number of records. HGETALL, then one
  // pipeline of XREVRANGE: two round trips. Entries that are not records are ignored. Errors: as
  // Sweep. Source: docs/systems/korvet.md 4.10.
  base::Task<absl::StatusOr<std::optional<int64_t>>> MeasureMessageBytes(int64_t samples = 100);

 private:
  // The result of one fetch without waiting.
  struct Round {
    std::vector<FetchedPartition> partitions;
    int64_t bytes = 0;
    int64_t count = 0;
    bool full = false;    // A limit was reached.
    bool failed = false;  // Some partition has an error.
  };
  base::Task<absl::StatusOr<Round>> ReadOnce(FetchRequest request);
  // Reads the topic again if its known number of partitions does not include `partition`.
  base::Task<absl::Status> EnsurePartition(int32_t partition);
  // A page of a position of the request: where to read, and the replies that it got.
  struct Page {
    size_t index;
    std::string topic_key;
    std::string stream;
    store::StreamId first;
    int64_t count;
    std::vector<store::Reply> answers = {};
  };
  // Reads the topic and the pages in one transaction, and adopts the topic's answer.
  base::Task<absl::Status> Ask(std::string_view topic_key, std::span<Page> pages);
  // As Ask, in one transaction, or in the cluster layout in one for each partition.
  base::Task<absl::Status> AskAll(const FetchRequest& request, std::span<Page> pages);
  base::Task<absl::Status> ReadPages(const FetchRequest& request, Page page, Round& round);
  // Waits for a record after those of the round; `turn` counts the waits of a fetch.
  base::Task<absl::Status> Wait(const Round& round, absl::Duration time, size_t turn);

  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  Topic topic_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_LOG_H_
