// ConsumerGroup: a Kafka consumer group on the partitions of one topic: Redis's own groups, one of
// the same name on each partition's stream.
//
//   ConsumerGroup group(store, keys, topic, "my-group");
//   const int32_t partitions[] = {0, 1};
//   auto polled = co_await group.Poll({.member = "consumer-1", .partitions = partitions});
//   ... work through (*polled) ...
//   co_await group.Commit({.partition = 0, .offset = polled->back().offset + 1});
//
// What a member was given is pending with it until committed. Committing an offset acknowledges
// every pending entry below it, whoever holds it; a record that is not committed when its member
// dies is claimed by another one and delivered again: at least once, never "at most". The committed
// position is where a member that knows nothing has to go on: the first pending record, or what the
// group has not delivered yet.
//
// Redis alone lets several members share a partition; then each record still goes to one of them.
// Which member reads which partitions, as Kafka's users know it, is settled by Coordinator
// (coordinator.h), and Consumer (consumer.h) is the two together.
//
// Errors that all have: INVALID_GROUP_ID for an empty name, UNKNOWN_TOPIC_OR_PARTITION for a
// partition that the topic does not have, COORDINATOR_NOT_AVAILABLE while Redis cannot be reached,
// and those of Redis (error_code.h).
//
// Thread-safety: as Store.
// Source: seed 003 "Consumer Groups"; reference/korvet.md section 8.
#ifndef REDOUBLE_CORE_KORVET_CONSUMER_GROUP_H_
#define REDOUBLE_CORE_KORVET_CONSUMER_GROUP_H_

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
#include "core/base/task.h"
#include "core/korvet/keys.h"
#include "core/korvet/log_record.h"
#include "core/korvet/topics.h"
#include "core/store/store.h"

namespace redouble::korvet {

// Where a group begins to read, or is set to.
struct GroupPosition {
  enum class Kind { kEarliest, kLatest, kOffset };

  Kind kind = Kind::kEarliest;
  int64_t offset = 0;  // Of kOffset: the next record to read.
  // How many entries the stream ever had up to there, where that is known. Redis cannot tell the
  // lag of a group that begins in the middle without it; ConsumerGroup::Lag counts then.
  std::optional<int64_t> entries_read = std::nullopt;
};

struct GroupOptions {
  // Where a group begins that a poll had to create.
  GroupPosition start = {};
  // Creates a group by a script that first looks whether the topic is still there. Removes a
  // hazard: XGROUP CREATE ... MKSTREAM brings the stream of a deleted topic back, and the next
  // topic of its name inherits it. Off, the documented command is sent.
  bool guard_topic = false;
};

struct PollRequest {
  std::string_view member;
  std::span<const int32_t> partitions;  // Must outlive the task.
  int64_t max_records = 100;            // Of each partition.
  // Waits so long for the first record; none: not at all.
  std::optional<absl::Duration> max_wait = std::nullopt;
};

// Entries that are pending, with those among them whose records are gone: retention cuts a log
// whatever is pending. They are lost, and given to nobody.
struct PendingRecords {
  std::vector<LogRecord> records;
  int64_t lost = 0;
};

struct BacklogRequest {
  std::string_view member;
  int32_t partition = 0;
  int64_t offset = 0;  // From there on.
  int64_t max_records = 100;
};

struct CommitRequest {
  // Kafka's limit.
  static constexpr size_t kMaxMetadataBytes = 4096;

  int32_t partition = 0;
  int64_t offset = 0;              // The next record to read.
  std::string_view metadata = {};  // Checked, not stored.
  // Only what is pending with that member, in one step. Removes a hazard: an entry that somebody
  // claimed between XPENDING and XACK is acknowledged all the same, because XACK asks for no owner.
  std::optional<std::string_view> only_of = std::nullopt;
};

struct GroupLag {
  int64_t undelivered = 0;
  int64_t pending = 0;  // Without those that are lost.

  int64_t total() const { return undelivered + pending; }
  friend bool operator==(const GroupLag&, const GroupLag&) = default;
};

struct ClaimRequest {
  std::string_view member;  // Who gets it.
  int32_t partition = 0;
  // Only what was delivered so long ago, or longer: Kafka's session time-out. A slow member cannot
  // be told from a dead one, so a record may be delivered twice.
  absl::Duration min_idle = absl::Seconds(45);
  int64_t page = 100;  // How many at once.
};

class ConsumerGroup {
 public:
  // `store` must outlive the object; `topic` is as Topics described it.
  ConsumerGroup(store::Store& store, Keys keys, Topic topic, std::string group,
                GroupOptions options = {})
      : store_(store),
        keys_(std::move(keys)),
        topic_(std::move(topic)),
        group_(std::move(group)),
        options_(options) {}

  const Topic& topic() const { return topic_; }
  const std::string& group() const { return group_; }

  // Creates the group on the partitions; one that has it already keeps its position. XGROUP CREATE
  // ... MKSTREAM for each in one pipeline, or a script each: one round trip. Errors:
  // OFFSET_OUT_OF_RANGE for an offset below 0; with guard_topic, UNKNOWN_TOPIC_OR_PARTITION and
  // INCONSISTENT_TOPIC_ID when the topic is gone, or another one.
  base::Task<absl::Status> Create(std::span<const int32_t> partitions, GroupPosition position);

  // Records that the group has delivered to nobody yet, partitions in the order of the request.
  // They are pending with the member now. One XREADGROUP; where a partition does not have the group
  // it is created at GroupOptions::start, and the read tried once more. Nothing to read is no
  // error. Errors: UNKNOWN_SERVER_ERROR for an id without an offset, CORRUPT_MESSAGE; what was
  // delivered with it is pending, and comes by Backlog. UNKNOWN_MEMBER_ID for an empty member.
  base::Task<absl::StatusOr<std::vector<LogRecord>>> Poll(PollRequest request);

  // What is pending with the member, in the order of offsets: what it goes on with after a restart.
  // XREADGROUP: one round trip. Errors: GROUP_ID_NOT_FOUND; as Poll.
  base::Task<absl::StatusOr<PendingRecords>> Backlog(BacklogRequest request);

  // Acknowledges everything pending below the offset, and gives how much that was: 0 the second
  // time. Ahead of what was delivered it has no effect there, and it cannot be taken back (Seek
  // can). XPENDING and XACK for each 1000 entries, or one script. Errors: GROUP_ID_NOT_FOUND;
  // OFFSET_OUT_OF_RANGE for an offset below 0; OFFSET_METADATA_TOO_LARGE.
  base::Task<absl::StatusOr<int64_t>> Commit(CommitRequest request);

  // Acknowledges just these records, as the seed does with an entry's id; gives how many were
  // pending, 0 also where there is no group. XACK: one round trip, none for no offsets. Errors:
  // OFFSET_OUT_OF_RANGE for an offset below 0.
  base::Task<absl::StatusOr<int64_t>> Acknowledge(int32_t partition,
                                                  std::span<const int64_t> offsets);

  // The committed position; none when there is none: no group, or nothing delivered yet. Never
  // past a pending record. A group that begins at the end and has read nothing is not told from one
  // that has read everything. One transaction of XPENDING and XINFO GROUPS.
  base::Task<absl::StatusOr<std::optional<int64_t>>> Committed(int32_t partition);

  // How many records the group has before it, counted, since differences of sparse offsets mean
  // nothing. One transaction of XPENDING, XINFO GROUPS and XINFO STREAM; XRANGE over what is not
  // delivered where Redis cannot tell; and, only where entries were removed beneath pending ones, a
  // look at each pending one. Errors: GROUP_ID_NOT_FOUND.
  base::Task<absl::StatusOr<GroupLag>> Lag(int32_t partition);

  // Sets where the group reads on; what is pending stays pending. Records behind the position are
  // delivered again, so the group should have no members at work. XINFO STREAM and XGROUP SETID:
  // two round trips. Errors: OFFSET_OUT_OF_RANGE for an offset outside the log;
  // GROUP_ID_NOT_FOUND.
  base::Task<absl::Status> Seek(int32_t partition, GroupPosition position);

  // Takes over what is pending with whichever member, and gives it in the order of offsets. Counts
  // as a delivery. Lost entries are pending no more. XAUTOCLAIM from 0-0 until it has seen all.
  // Errors: GROUP_ID_NOT_FOUND; as Poll.
  base::Task<absl::StatusOr<PendingRecords>> Claim(ClaimRequest request);

  // Removes a member; gives how many entries were pending with it, which the group will never
  // deliver: claim first. XGROUP DELCONSUMER. Errors: GROUP_ID_NOT_FOUND.
  base::Task<absl::StatusOr<int64_t>> RemoveMember(int32_t partition, std::string_view member);

 private:
  // The partition's stream, once the group's name is fine.
  absl::StatusOr<std::string> StreamOf(int32_t partition) const;
  absl::StatusOr<std::vector<std::string>> StreamsOf(std::span<const int32_t> partitions) const;
  // NOGROUP and "no such key" as GROUP_ID_NOT_FOUND; the rest as AsGroupError.
  absl::Status Explain(const absl::Status& status) const;
  absl::Status NoGroup() const;

  base::Task<absl::Status> CreateGuarded(std::span<const std::string> streams, std::string_view id,
                                         const GroupPosition& position);
  base::Task<absl::StatusOr<int64_t>> CommitOwn(std::string_view stream, std::string_view last,
                                                std::string_view member);
  base::Task<absl::StatusOr<int64_t>> CountBehind(std::string_view stream, store::StreamId id);
  base::Task<absl::StatusOr<int64_t>> CountLost(std::string_view stream);

  store::Store& store_;
  const Keys keys_;
  const Topic topic_;
  const std::string group_;
  const GroupOptions options_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_CONSUMER_GROUP_H_
