// ConsumerGroup: a Kafka consumer group on the partitions of one topic. It consists of a native
// Redis group with the same name on each partition's stream.
//
//   ConsumerGroup group(store, keys, topic, "my-group");
//   const int32_t partitions[] = {0, 1};
//   auto polled = co_await group.Poll({.member = "consumer-1", .partitions = partitions});
//   // Process *polled, then commit:
//   co_await group.Commit({.partition = 0, .offset = polled->back().offset + 1});
//
// A record that a member has read is pending for that member until it is committed. A commit of an
// offset acknowledges all pending entries below it, of any member. A record that is not committed
// when its member fails can be claimed by another member and is delivered again: delivery is at
// least once. The committed position is where a new member must continue: at the first pending
// record, or else at the first record that was not delivered.
//
// Redis lets several members read one partition; each record is then delivered to one of them. Use
// Coordinator (coordinator.h) to assign partitions to members, as in Kafka, and Consumer
// (consumer.h) for both together, and for several topics.
//
// Errors of every operation: INVALID_GROUP_ID for an empty group name, UNKNOWN_TOPIC_OR_PARTITION
// for a partition that the topic does not have, COORDINATOR_NOT_AVAILABLE while Redis is
// unreachable, and those of Redis (errors.h).
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 3.2, 4.11 to 4.17.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_GROUP_H_
#define REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_GROUP_H_

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
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"
#include "redouble/core/store/typed/stream_types.h"

namespace redouble::inline v0_1::korvet {

// The position of a new group, or the target of Seek.
struct GroupPosition {
  enum class Kind { kEarliest, kLatest, kOffset };

  Kind kind = Kind::kEarliest;
  int64_t offset = 0;  // For kOffset: the next record to read.
  // The number of entries that the stream ever had before the position, if known. Without it, Redis
  // cannot compute the lag of a group that starts in the middle of a stream, and ConsumerGroup::Lag
  // counts.
  std::optional<int64_t> entries_read = std::nullopt;
};

struct GroupOptions {
  // The position of a group that Poll creates.
  GroupPosition start = {};
  // Options that remove hazards; all off.
  Hardening hardening = {};
};

// An entry that is not a record of the topic: a foreign program wrote it.
struct UnreadableEntry {
  int32_t partition = 0;
  store::StreamId id;
  absl::Status error;  // UNKNOWN_SERVER_ERROR or CORRUPT_MESSAGE, with the id.
  std::string topic;
};

struct PollRequest {
  std::string_view member;
  std::span<const int32_t> partitions;  // Must outlive the task.
  int64_t max_records = 100;            // The limit per partition.
  // How long to wait for the first record; nullopt: does not wait.
  std::optional<absl::Duration> max_wait = std::nullopt;
  // Receives the entries that are not records; they are pending, as the records are. Must outlive
  // the task. Null: such an entry fails the call.
  std::vector<UnreadableEntry>* unreadable = nullptr;
};

// Pending entries. `lost` counts those whose records retention has removed; they are not returned
// (H5).
struct PendingRecords {
  std::vector<LogRecord> records;
  int64_t lost = 0;
};

struct BacklogRequest {
  std::string_view member;
  int32_t partition = 0;
  int64_t offset = 0;  // The first offset to return.
  int64_t max_records = 100;
};

struct CommitRequest {
  // Kafka's limit for metadata.
  static constexpr size_t kMaxMetadataBytes = 4096;

  int32_t partition = 0;
  int64_t offset = 0;              // The next record to read.
  std::string_view metadata = {};  // Checked, not stored.
  // The member that commits. Used only with Hardening::commit_own_entries.
  std::string_view member = {};
};

struct GroupLag {
  int64_t undelivered = 0;
  int64_t pending = 0;  // Without lost entries.

  int64_t total() const { return undelivered + pending; }
  friend bool operator==(const GroupLag&, const GroupLag&) = default;
};

// How far a group is in one partition.
struct GroupProgress {
  // As Committed and Lag below; nullopt also if the first pending entry has no offset.
  std::optional<int64_t> committed;
  GroupLag lag;
  // Kafka's log end offset; -1 if the last id has no offset. It is not `committed` plus the lag,
  // because offsets are sparse.
  int64_t log_end = 0;

  friend bool operator==(const GroupProgress&, const GroupProgress&) = default;
};

struct ClaimRequest {
  std::string_view member;  // The member that takes over the entries.
  int32_t partition = 0;
  // The minimum time since the last delivery, by default Kafka's session timeout. A slow member
  // cannot be distinguished from a failed one, so a record may be delivered twice.
  absl::Duration min_idle = absl::Seconds(45);
  int64_t page = 100;  // Entries per XAUTOCLAIM.
  // As PollRequest::unreadable.
  std::vector<UnreadableEntry>* unreadable = nullptr;
};

class ConsumerGroup;

// What a member reads from one topic, and a record that it read.
struct TopicPoll {
  ConsumerGroup* group = nullptr;
  std::vector<int32_t> partitions;
};
struct PolledRecord {
  ConsumerGroup* group = nullptr;
  LogRecord record;
};

class ConsumerGroup {
 public:
  // `store` must outlive the object. `topic` comes from Topics::Create or Topics::Describe.
  ConsumerGroup(store::Store& store, Keys keys, Topic topic, std::string group,
                GroupOptions options = {})
      : store_(store),
        keys_(std::move(keys)),
        topic_(std::move(topic)),
        group_(std::move(group)),
        options_(options) {}

  const Topic& topic() const { return topic_; }
  const std::string& group() const { return group_; }

  // Reads the topic again, and creates the group at the earliest record of partitions that were
  // added since: they had no records before. HGETALL, and Create for added partitions. Errors: as
  // RefreshTopic (topics.h) and Create.
  // Source: docs/systems/korvet.md 4.19.
  base::Task<absl::Status> Refresh();

  // Creates the group on the partitions. An existing group keeps its position. XGROUP CREATE ...
  // MKSTREAM for each partition in one pipeline: one round trip; with Hardening::guard_topic, one
  // script per partition. Errors: OFFSET_OUT_OF_RANGE for an offset below 0; with guard_topic
  // UNKNOWN_TOPIC_OR_PARTITION or INCONSISTENT_TOPIC_ID if the topic was deleted or replaced.
  // Source: docs/systems/korvet.md 4.11, H3.
  base::Task<absl::Status> Create(std::span<const int32_t> partitions, GroupPosition position);

  // Returns records that were not delivered to the group yet, in the order of the requested
  // partitions. They become pending for the member. One XREADGROUP. If a partition does not have
  // the group, it is created at GroupOptions::start, and the read is sent once more. Errors:
  // UNKNOWN_SERVER_ERROR for an id without an offset and CORRUPT_MESSAGE for an entry that is not a
  // record, unless PollRequest::unreadable receives them; records of the same read stay pending,
  // and Backlog returns them. UNKNOWN_MEMBER_ID for an empty member name. Source:
  // docs/systems/korvet.md 4.12.
  base::Task<absl::StatusOr<std::vector<LogRecord>>> Poll(PollRequest request);

  // As Poll, from several topics by one XREADGROUP. The groups must have one name and one store;
  // PollRequest::partitions is not used. In the cluster layout one pipeline of an XREADGROUP for
  // each partition; a wait for several partitions blocks on one of them after another, for 100 ms
  // each, and reads all of them in between.
  static base::Task<absl::StatusOr<std::vector<PolledRecord>>> PollTopics(
      std::span<const TopicPoll> topics, PollRequest request);

  // Returns the records that are pending for the member, in the order of their offsets. Use it
  // after a restart of the member. XREADGROUP: one round trip. Errors: GROUP_ID_NOT_FOUND; as Poll.
  // Source: docs/systems/korvet.md 4.12.
  base::Task<absl::StatusOr<PendingRecords>> Backlog(BacklogRequest request);

  // Acknowledges all pending entries below the offset, and returns their number, which is 0 if the
  // commit is repeated. Records that were not delivered are not affected. Use Seek to read records
  // again. XPENDING and XACK for each 1000 entries; with Hardening::commit_own_entries one script
  // for the entries of CommitRequest::member. Errors: GROUP_ID_NOT_FOUND; OFFSET_OUT_OF_RANGE for
  // an offset below 0; OFFSET_METADATA_TOO_LARGE.
  // Source: docs/systems/korvet.md 4.13, H6.
  base::Task<absl::StatusOr<int64_t>> Commit(CommitRequest request);

  // Acknowledges exactly these records. Returns how many were pending, which is 0 if the group is
  // missing. XACK: one round trip, or zero without offsets. Errors: OFFSET_OUT_OF_RANGE for an
  // offset below 0.
  // Source: docs/systems/korvet.md 4.13.
  base::Task<absl::StatusOr<int64_t>> Acknowledge(int32_t partition,
                                                  std::span<const int64_t> offsets);

  // Acknowledges entries by their ids, also those that have no offset. Otherwise as above.
  base::Task<absl::StatusOr<int64_t>> AcknowledgeIds(int32_t partition,
                                                     std::span<const store::StreamId> ids);

  // Returns the committed position, or nullopt if there is no group or it has not read yet. The
  // position never passes a pending record. A group at the end that has read nothing cannot be
  // distinguished from one that has read everything. One transaction of XPENDING and XINFO GROUPS.
  // Source: docs/systems/korvet.md 4.14.
  base::Task<absl::StatusOr<std::optional<int64_t>>> Committed(int32_t partition);

  // Returns the committed position, the log end and the lag of one moment. The lag is a number of
  // records that exist, because differences of sparse offsets have no meaning. One transaction of
  // XPENDING, XINFO GROUPS and XINFO STREAM; pages of XRANGE over the undelivered records if Redis
  // returns no lag, or if records were removed and the group is inside the log; and pages of
  // XPENDING and XRANGE if records were removed while pending. Errors: GROUP_ID_NOT_FOUND. Source:
  // docs/systems/korvet.md 4.14, 4.15.
  base::Task<absl::StatusOr<GroupProgress>> Progress(int32_t partition);

  // Returns the lag of Progress.
  base::Task<absl::StatusOr<GroupLag>> Lag(int32_t partition);

  // Sets the position of the group. Pending entries stay pending. Records after the new position
  // are delivered again, so no member should be reading. XINFO STREAM for an offset, then XGROUP
  // SETID: up to two round trips. Errors: OFFSET_OUT_OF_RANGE for an offset outside the log;
  // GROUP_ID_NOT_FOUND.
  // Source: docs/systems/korvet.md 4.16.
  base::Task<absl::Status> Seek(int32_t partition, GroupPosition position);

  // Takes over pending entries of all members, and returns them in the order of their offsets. Each
  // claim counts as a delivery. Lost entries are removed from the pending list. XAUTOCLAIM,
  // repeated until the cursor is 0-0. Errors: GROUP_ID_NOT_FOUND; as Poll.
  // Source: docs/systems/korvet.md 4.17.
  base::Task<absl::StatusOr<PendingRecords>> Claim(ClaimRequest request);

  // Removes a member. Returns the number of its pending entries; the group never delivers them, so
  // claim them first. XGROUP DELCONSUMER: one round trip. Errors: GROUP_ID_NOT_FOUND.
  // Source: docs/systems/korvet.md 4.17.
  base::Task<absl::StatusOr<int64_t>> RemoveMember(int32_t partition, std::string_view member);

 private:
  // Returns the partition's stream, after checking the name of the group.
  absl::StatusOr<std::string> StreamOf(int32_t partition) const;
  absl::StatusOr<std::vector<std::string>> StreamsOf(std::span<const int32_t> partitions) const;
  // Converts NOGROUP and the error for a missing key to GROUP_ID_NOT_FOUND, and others by
  // AsGroupError.
  absl::Status Explain(const absl::Status& status) const;
  absl::Status NoGroup() const;

  base::Task<absl::Status> CreateGuarded(std::span<const int32_t> partitions, std::string_view id,
                                         const GroupPosition& position);
  base::Task<absl::StatusOr<ErrorCode>> RunCreateScript(int32_t partition, std::string_view id,
                                                        const GroupPosition& position);

  // A partition of a poll, and its stream.
  struct PolledPlace {
    ConsumerGroup* group;
    int32_t partition;
    std::string stream;
  };
  // By one XREADGROUP.
  static base::Task<absl::StatusOr<std::vector<PolledRecord>>> ReadTogether(
      std::span<const TopicPoll> topics, std::span<const PolledPlace> places, PollRequest request);
  // By one XREADGROUP for each partition, in the cluster layout.
  static base::Task<absl::StatusOr<std::vector<PolledRecord>>> ReadEach(
      std::span<const PolledPlace> places, PollRequest request);
  // As ReadEach, without a wait.
  static base::Task<absl::StatusOr<std::vector<PolledRecord>>> ReadPipelined(
      std::span<const PolledPlace> places, PollRequest request);
  static absl::StatusOr<std::vector<PolledRecord>> RecordsOfStreams(
      std::span<const PolledPlace> places, std::span<const store::StreamEntries> streams,
      std::vector<UnreadableEntry>* unreadable);
  base::Task<absl::StatusOr<int64_t>> CommitOwn(std::string_view stream, std::string_view last,
                                                std::string_view member);
  base::Task<absl::StatusOr<int64_t>> CountBehind(std::string_view stream, store::StreamId id);
  base::Task<absl::StatusOr<int64_t>> CountLost(std::string_view stream);

  store::Store& store_;
  const Keys keys_;
  Topic topic_;
  const std::string group_;
  const GroupOptions options_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_GROUP_H_
