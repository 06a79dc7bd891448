// Consumer: a member of a consumer group that shares the partitions of a topic with the other
// members.
//
// The Coordinator assigns partitions to members, and ConsumerGroup reads them. When a partition is
// assigned to a new member, the records that its former member has not committed are claimed and
// returned first. No record is lost when a member fails, but records are delivered again.
//
//   Consumer consumer(group, coordinator, clock);
//   for (;;) {
//     auto records = co_await consumer.Poll();        // Also the heartbeat.
//     // Process the records.
//     co_await consumer.Commit();                     // All records that Poll returned.
//   }
//   consumer.Close();
//
// Poll is the only heartbeat, so call it more often than the coordinator's session timeout. A
// member that was removed, or whose Poll failed, continues by calling Poll again: it joins again
// and claims records that may have been delivered to it without its knowledge.
//
// Commit acknowledges only the records that Poll returned, and not all records below an offset. A
// read that a failed member had sent can reach Redis after its partition was assigned to another
// member. The records of that read stay pending, and the partition's new member claims them after
// ConsumerOptions::claim_idle.
//
// A consumer reads the topic again every ConsumerOptions::metadata_max_age, and joins the group
// again if partitions were added. An entry that is not a record is reported by unreadable(), and
// does not keep the member from the other records.
//
// Thread-safety: one thread.
// Source: docs/systems/korvet.md 4.19.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_
#define REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/log/log_record.h"

namespace redouble::korvet {

// How an entry that is not a record is handled.
enum class UnreadablePolicy {
  kPark,  // It stays pending for an operator; the committed position does not pass it.
  kSkip,  // It is acknowledged; the group never delivers it again.
};

struct ConsumerOptions {
  std::string client_id = "consumer";
  // The limit per partition and poll.
  int64_t max_records = 100;
  // How long a poll waits for a record; nullopt: it does not wait. Keep it below the session
  // timeout.
  std::optional<absl::Duration> max_wait = std::nullopt;
  // Records that have been pending for this long are claimed when a poll finds no new records, at
  // most once in this time.
  absl::Duration claim_idle = absl::Seconds(45);
  // How old the known number of partitions may become; Kafka's metadata.max.age.ms. Zero: a refresh
  // at each poll.
  absl::Duration metadata_max_age = absl::Minutes(5);
  UnreadablePolicy unreadable = UnreadablePolicy::kPark;
};

// A record. `claimed` is true if another member may have received it before.
struct ConsumedRecord {
  LogRecord record;
  bool claimed = false;

  friend bool operator==(const ConsumedRecord&, const ConsumedRecord&) = default;
};

class Consumer {
 public:
  // The references must outlive the object. The consumer subscribes to the topic of `group`.
  Consumer(ConsumerGroup& group, Coordinator& coordinator, const base::Clock& clock,
           ConsumerOptions options = {})
      : group_(group),
        coordinator_(coordinator),
        clock_(clock),
        options_(std::move(options)),
        last_idle_claim_(clock.Now()),
        last_refresh_(clock.Now()) {}

  // Returns the next records of this member's partitions, or no records while the group rebalances.
  // Joins the group if necessary. The records are pending for this member until Commit. The offsets
  // of a partition increase, except for claimed records. One XREADGROUP, XAUTOCLAIM for each newly
  // assigned partition, HGETALL when the metadata are too old, and XACK for each entry that is
  // skipped. Errors: as ConsumerGroup::Poll and Refresh; INVALID_GROUP_ID.
  base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Poll();

  // Commits all records that Poll returned for the partitions that this member still has. One XACK
  // per partition with uncommitted records. During a rebalance the partitions have not moved yet,
  // so the commit is valid. Errors: UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION if the partitions may
  // have another member by now; nothing is committed, and the records are delivered again.
  // Otherwise as ConsumerGroup::Acknowledge; the partitions before the failed one are committed.
  base::Task<absl::Status> Commit();

  // Leaves the group, so that the others need not wait for the session timeout. Uncommitted records
  // are delivered to them. Errors: as Coordinator::Leave.
  absl::Status Close();

  // The entries that the last Poll found and could not return, in the order in which it found them.
  const std::vector<UnreadableEntry>& unreadable() const { return unreadable_; }

  // The member id; empty before the first Poll.
  const std::string& member_id() const { return member_id_; }
  // The partitions of this member, as of its last Poll.
  std::vector<int32_t> partitions() const;

 private:
  struct Partition {
    std::set<int64_t> uncommitted;  // The offsets that Poll returned.
    // Whether some member may have pending records that were not returned here.
    bool claim = true;
  };

  // Sends a heartbeat, and joins the group if necessary. Returns false while other members have not
  // joined yet.
  absl::StatusOr<bool> EnsureAssigned();
  absl::Status Join();
  void Adopt(const Membership& membership);
  // Claims records of the partitions with `claim` set.
  base::Task<absl::Status> Claim(absl::Duration min_idle, std::vector<ConsumedRecord>& records);
  base::Task<absl::Status> Read(std::vector<ConsumedRecord>& records);
  base::Task<absl::Status> RefreshIfOld();
  base::Task<absl::Status> Skip(size_t first);
  void RequestClaims();

  ConsumerGroup& group_;
  Coordinator& coordinator_;
  const base::Clock& clock_;
  const ConsumerOptions options_;
  absl::Time last_idle_claim_;
  absl::Time last_refresh_;
  int32_t subscribed_ = 0;  // The number of partitions of the last Join.
  std::vector<UnreadableEntry> unreadable_;
  std::string member_id_;
  int32_t generation_ = -1;
  std::map<int32_t, Partition> partitions_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_CONSUMER_H_
