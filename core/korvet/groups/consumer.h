// Consumer: reads topics as a member of a consumer group, together with members in other processes.
//
// The Coordinator gives partitions to members, and ConsumerGroup reads them. When a partition comes
// to a member, the records that its former owner has not committed are claimed and returned first.
// No record is lost when a member fails, but records are delivered again.
//
//   Consumer consumer(store, clock, rng, keys, "my-group");
//   const std::vector<std::string> topics = {"orders", "payments"};
//   absl::Status subscribed = co_await consumer.Subscribe(topics);
//   for (;;) {
//     auto records = co_await consumer.Poll();        // Also the heartbeat.
//     // Process the records.
//     co_await consumer.Commit();                     // All records that Poll returned.
//   }
//   co_await consumer.Close();
//
// Poll is the only heartbeat, so call it more often than the session timeout. A member that was
// removed, or whose Poll failed, continues by calling Poll again: it joins again under a new id and
// claims records that may have been delivered to it without its knowledge. With Assign instead of
// Subscribe the caller chooses the partitions, and there are no members and no heartbeats.
//
// A rebalance is cooperative: a member reads on from the partitions that it keeps. The callbacks of
// ConsumerOptions tell which partitions come and go; on_revoked may still commit.
//
// Commit acknowledges only the records that Poll returned, and not all records below an offset. A
// read that a failed member had sent can reach Redis after its partition was given to another
// member. The records of that read stay pending, and the partition's new owner claims them after
// ConsumerOptions::claim_idle.
//
// A consumer reads its topics again every ConsumerOptions::metadata_max_age, and tells the group if
// partitions were added. An entry that is not a record is reported by unreadable(), and does not
// keep the member from the other records.
//
// A process that crashes loses nothing: its session ends, and its records are delivered to another
// member. A Poll whose reply was lost is repeated by the next one, which claims what it had taken.
// A Commit that is repeated acknowledges nothing more.
//
// Thread-safety: one thread.
// Source: docs/systems/korvet.md 4.19.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_
#define REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log_record.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

// How an entry that is not a record is handled.
enum class UnreadablePolicy {
  kPark,  // It stays pending for an operator; the committed position does not pass it.
  kSkip,  // It is acknowledged; the group never delivers it again.
};

// Called during Poll or Close with sorted partitions. May call Commit, but not Poll or Close.
using PartitionCallback = std::function<base::Task<void>(std::span<const AssignedPartition>)>;

struct ConsumerOptions {
  // The beginning of the member id, without white space; the rest is random.
  std::string client_id = "consumer";
  // The limit per partition and poll.
  int64_t max_records = 100;
  // How long a poll waits for a record; nullopt: it does not wait. Keep it below the session
  // timeout.
  std::optional<absl::Duration> max_wait = std::nullopt;
  // The member is removed when it has not polled for this long, by the clock of Redis.
  absl::Duration session_timeout = absl::Seconds(45);
  // How often Poll sends a heartbeat, by the clock of the consumer. Zero: each time.
  absl::Duration heartbeat_interval = absl::Seconds(3);
  Assignor assignor = Assignor::kCooperativeSticky;
  // Records that have been pending for this long are claimed when a poll finds no new records, at
  // most once in this time.
  absl::Duration claim_idle = absl::Seconds(45);
  // How old the known number of partitions may become; Kafka's metadata.max.age.ms. Zero: a refresh
  // at each poll.
  absl::Duration metadata_max_age = absl::Minutes(5);
  UnreadablePolicy unreadable = UnreadablePolicy::kPark;
  // The position of a group that a poll creates; Kafka's auto.offset.reset. Options that remove
  // hazards.
  GroupOptions group = {};
  // Partitions that the member has got; before their first record is returned.
  PartitionCallback on_assigned = nullptr;
  // Partitions that the member gives up; it still owns them.
  PartitionCallback on_revoked = nullptr;
  // Partitions that may have another owner by now, because the session had ended.
  PartitionCallback on_lost = nullptr;
};

// A record. `claimed` is true if another member may have received it before.
struct ConsumedRecord {
  LogRecord record;
  bool claimed = false;
  std::string topic;

  friend bool operator==(const ConsumedRecord&, const ConsumedRecord&) = default;
};

class Consumer {
 public:
  // `store`, `clock` and `rng` must outlive the object. Equal seeds of `rng` give equal member ids:
  // each process needs its own.
  Consumer(store::Store& store, const base::Clock& clock, base::Rng& rng, Keys keys,
           std::string group, ConsumerOptions options = {});
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Shares the partitions of these topics with the other members of the group, from the next Poll
  // on; replaces the topics of an earlier call. HGETALL for each topic that is new. Errors:
  // UNKNOWN_TOPIC_OR_PARTITION; INVALID_REQUEST after Assign.
  base::Task<absl::Status> Subscribe(std::vector<std::string> topics);

  // Reads exactly these partitions, without members. Otherwise as Subscribe; also
  // UNKNOWN_TOPIC_OR_PARTITION for a partition that its topic does not have.
  base::Task<absl::Status> Assign(std::vector<AssignedPartition> partitions);

  // Returns the next records of this member's partitions. Joins the group if necessary. The records
  // are pending for this member until Commit. The offsets of a partition increase, except for
  // claimed records. One XREADGROUP; one script per heartbeat_interval, and one more for partitions
  // that are given up; XAUTOCLAIM for each newly assigned partition, HGETALL for each topic when
  // the metadata are too old, and XACK for each entry that is skipped. Errors: as
  // Coordinator::Join, ConsumerGroup::Poll and Refresh; INVALID_REQUEST before Subscribe and
  // Assign.
  base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Poll();

  // Commits all records that Poll returned for the partitions that this member still has, all or
  // none. One script, or no command if there are none; after Assign one XACK per partition. Errors:
  // UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION if the partitions may have another member by now;
  // nothing is committed, and the records are delivered again. Otherwise as Coordinator::Commit.
  base::Task<absl::Status> Commit();

  // Calls on_revoked, and leaves the group, so that the others need not wait for the session
  // timeout. Uncommitted records are delivered to them. One script. Errors: as Coordinator::Leave;
  // the consumer has no partitions any more in either case.
  base::Task<absl::Status> Close();

  // The entries that the last Poll found and could not return, in the order in which it found them.
  const std::vector<UnreadableEntry>& unreadable() const { return unreadable_; }

  // How many records retention removed while they were pending, as the claims of this consumer
  // found (H5). The group never delivers them. A claim whose reply was lost is not counted.
  int64_t lost() const { return lost_; }

  // The member id; empty before the first Poll, and after Close.
  const std::string& member_id() const { return member_id_; }
  // The partitions of this member, as of its last Poll, sorted.
  std::vector<AssignedPartition> partitions() const;

 private:
  enum class Mode { kNone, kSubscribed, kAssigned };
  struct Partition {
    std::set<int64_t> uncommitted;  // The offsets that Poll returned.
    // Whether some member may have pending records that were not returned here.
    bool claim = true;
  };
  using Partitions = std::map<AssignedPartition, Partition>;

  // Adds the group of a topic that is not known yet.
  base::Task<absl::Status> Open(const std::string& topic);
  MemberHeartbeat NextCall();
  std::string NewMemberId();
  // Sends a heartbeat if it is due, and takes and gives up partitions.
  base::Task<absl::Status> KeepMembership();
  base::Task<absl::StatusOr<GroupMembership>> Beat();
  base::Task<absl::Status> Reconcile(GroupMembership membership);
  // Calls a callback, and removes the partitions.
  base::Task<void> Drop(std::vector<AssignedPartition> partitions,
                        const PartitionCallback& callback);
  // Claims records of the partitions with `claim` set.
  base::Task<absl::Status> Claim(absl::Duration min_idle, std::vector<ConsumedRecord>& records);
  base::Task<absl::Status> Read(std::vector<ConsumedRecord>& records);
  base::Task<absl::Status> RefreshIfOld();
  base::Task<absl::Status> Skip(size_t first);
  void RequestClaims();

  store::Store& store_;
  const base::Clock& clock_;
  base::Rng& rng_;
  const Keys keys_;
  const std::string group_;
  const ConsumerOptions options_;
  Coordinator coordinator_;
  Mode mode_ = Mode::kNone;
  std::set<std::string> topics_;  // Those of Subscribe or Assign.
  std::map<std::string, std::unique_ptr<ConsumerGroup>> groups_;
  absl::Time last_idle_claim_;
  absl::Time last_refresh_;
  absl::Time next_beat_ = absl::InfinitePast();
  std::vector<UnreadableEntry> unreadable_;
  int64_t lost_ = 0;
  std::string member_id_;
  int64_t calls_ = 0;
  Partitions partitions_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_
