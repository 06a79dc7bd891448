// Consumer: a member of a consumer group that shares a topic with the other members.
//
// The Coordinator says which partitions are this member's; ConsumerGroup reads them. A partition
// that comes to a member comes with what its former reader had not committed: that is claimed and
// delivered first, so that nothing is lost when members die, and what they had in hand is delivered
// again.
//
//   Consumer consumer(group, coordinator, clock);
//   for (;;) {
//     auto records = co_await consumer.Poll();        // also the heartbeat
//     ... work through them ...
//     co_await consumer.Commit();                     // all that Poll has given
//   }
//   consumer.Close();
//
// Poll must be called more often than the coordinator's session time-out, also when there is
// nothing to do: it is the only heartbeat. A member that was given up, or whose Poll failed, goes
// on by calling Poll again: it joins anew, and whatever may have been delivered without its
// knowledge is claimed.
//
// Commit acknowledges just the records that Poll gave, not all below a position: a read that a dead
// member had sent can reach Redis after its partition has gone to another one, and what it takes is
// given to nobody. Such records stay pending, and whoever has the partition claims them after
// ConsumerOptions::claim_idle.
//
// Thread-safety: one thread.
// Source: reference/korvet.md 8.2, 8.3, 8.6, 8.7.
#ifndef REDOUBLE_CORE_KORVET_CONSUMER_H_
#define REDOUBLE_CORE_KORVET_CONSUMER_H_

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
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/korvet/consumer_group.h"
#include "core/korvet/coordinator.h"
#include "core/korvet/log_record.h"

namespace redouble::korvet {

struct ConsumerOptions {
  std::string client_id = "consumer";
  // Of each partition and poll.
  int64_t max_records = 100;
  // How long a poll waits for a record; none: not at all. Keep it below the session time-out.
  std::optional<absl::Duration> max_wait = std::nullopt;
  // What is pending for so long without being committed is claimed by the partition's reader, when
  // it finds nothing else to read; looked for at most that often.
  absl::Duration claim_idle = absl::Seconds(45);
};

// A record, and whether it may have been given to another member before.
struct ConsumedRecord {
  LogRecord record;
  bool claimed = false;

  friend bool operator==(const ConsumedRecord&, const ConsumedRecord&) = default;
};

class Consumer {
 public:
  // All three must outlive the object. The group's topic is what the consumer subscribes to.
  Consumer(ConsumerGroup& group, Coordinator& coordinator, const base::Clock& clock,
           ConsumerOptions options = {})
      : group_(group),
        coordinator_(coordinator),
        clock_(clock),
        options_(std::move(options)),
        looked_for_idle_(clock.Now()) {}

  // The next records of this member's partitions; none while the group rebalances. Joins when
  // needed. What comes is pending with this member until Commit. Offsets of a partition rise, but
  // for claimed records. One XREADGROUP; XAUTOCLAIM for each partition that is new here. Errors: as
  // ConsumerGroup::Poll; INVALID_GROUP_ID.
  base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Poll();

  // Commits all that Poll has given of the partitions that are still this member's. XACK for each
  // partition with anything to commit. Errors: UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION or
  // REBALANCE_IN_PROGRESS, nothing being committed, when they may have another reader by now: what
  // was not committed will be delivered again. Otherwise as ConsumerGroup::Acknowledge; partitions
  // before the one that failed are committed.
  base::Task<absl::Status> Commit();

  // Leaves the group, so that the others need not wait for the session time-out. What was not
  // committed comes to them.
  absl::Status Close();

  // Empty before the first Poll.
  const std::string& member_id() const { return member_id_; }
  // The partitions that are this member's, as far as it knows.
  std::vector<int32_t> partitions() const;

 private:
  struct Partition {
    std::set<int64_t> uncommitted;  // What Poll has given.
    // Whether something may be pending, with whomever, that was not given here.
    bool claim = true;
  };

  // Whether this member has its place in the group; false while others have still to join.
  absl::StatusOr<bool> TakePlace();
  absl::Status Join();
  void Adopt(const Membership& membership);
  // From the partitions that ask for it.
  base::Task<absl::Status> Claim(absl::Duration min_idle, std::vector<ConsumedRecord>& records);
  base::Task<absl::Status> Read(std::vector<ConsumedRecord>& records);
  void SetClaim();

  ConsumerGroup& group_;
  Coordinator& coordinator_;
  const base::Clock& clock_;
  const ConsumerOptions options_;
  absl::Time looked_for_idle_;
  std::string member_id_;
  int32_t generation_ = -1;
  std::map<int32_t, Partition> partitions_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_CONSUMER_H_
