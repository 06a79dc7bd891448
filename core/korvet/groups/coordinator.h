// Coordinator: the members of consumer groups, in Redis, and the partitions that they have.
//
// Members in different processes share the partitions of their topics: each partition has at most
// one owner at a time. A member sends Heartbeat; nothing else runs, and no process has a special
// role. The protocol is that of Kafka's new consumer groups (KIP-848), so that every rebalance is
// cooperative:
//
// * The group has a target: the member that shall have each partition. It changes when a member
// joins,
//   leaves, is silent for its session timeout or changes its subscriptions. The epoch then rises.
// * A heartbeat names the partitions that the member has. Its reply names those that it may have:
// what
//   is missing must be given up; the next heartbeat, without it, frees it.
// * A partition that is free goes to its target with the target's next heartbeat. All other
// partitions
//   are read without interruption meanwhile.
//
//   Coordinator coordinator(store, keys);
//   MemberHeartbeat beat = {.group = "my-group", .member = "c-6ba7b810"};
//   beat.subscriptions = {{"orders", 3}};
//   absl::StatusOr<GroupMembership> joined = co_await coordinator.Join(beat);
//   beat.owned = joined->partitions;
//   ++beat.call;
//   absl::StatusOr<GroupMembership> kept = co_await coordinator.Heartbeat(beat);
//
// Consumer (consumer.h) does all of this. Every call is one script, and can be repeated after a
// lost reply with a greater `call`: the script then answers by the state that the first one left. A
// member that crashes keeps its partitions until its session timeout has passed; then the next call
// of any member frees them. Times are those of Redis; if its clock is set back, the deadlines
// follow it.
//
// Errors of every call: INVALID_GROUP_ID for an empty group name; INVALID_REQUEST for a member id
// that is empty or contains white space; UNKNOWN_SERVER_ERROR for a value in Redis that is not
// readable; COORDINATOR_NOT_AVAILABLE while Redis is unreachable, and those of Redis (errors.h).
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 2.8, 3.3, 4.19, D13.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_
#define REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/korvet/groups/assignment.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

struct CoordinatorOptions {
  // A member is removed when it has not called for this long; at least one millisecond.
  absl::Duration session_timeout = absl::Seconds(45);
  // All members of a group must have the same.
  Assignor assignor = Assignor::kCooperativeSticky;
};

struct MemberHeartbeat {
  std::string group;
  // Unique among all processes and never used again: Join after UNKNOWN_MEMBER_ID needs a new one.
  std::string member;
  // Must rise with every call of the member. A delayed copy of an earlier call then changes
  // nothing.
  int64_t call = 1;
  std::vector<Subscription> subscriptions;
  // The partitions that the member reads; ignored by Join.
  std::vector<AssignedPartition> owned = {};
};

struct GroupMembership {
  int64_t epoch = 0;
  std::vector<AssignedPartition> partitions;  // What the member may have, sorted.
  // Whether other members have not yet given up partitions that this member shall have.
  bool waiting = false;

  friend bool operator==(const GroupMembership&, const GroupMembership&) = default;
};

// The ids to acknowledge in one partition.
struct OwnedCommit {
  AssignedPartition partition;
  std::vector<store::StreamId> ids;
};

struct CoordinatedGroup {
  enum class State {
    kEmpty,        // No members.
    kReconciling,  // Some partition does not have its target as its owner.
    kStable,
  };

  State state = State::kEmpty;
  int64_t epoch = 0;
  Assignment assignment;  // The partitions that each member has.
  Assignment target;      // Those that it shall have.

  friend bool operator==(const CoordinatedGroup&, const CoordinatedGroup&) = default;
};

class Coordinator {
 public:
  // `store` must outlive the object.
  Coordinator(store::Store& store, Keys keys, CoordinatorOptions options = {})
      : store_(store), keys_(std::move(keys)), options_(options) {}

  // Adds the member. Repeated, it is a heartbeat without partitions. One script. Errors:
  // INCONSISTENT_GROUP_PROTOCOL if the group's members have another assignor; ILLEGAL_GENERATION
  // for a `call` that is not above the last one.
  base::Task<absl::StatusOr<GroupMembership>> Join(MemberHeartbeat request);

  // Keeps the member in the group, frees the partitions that it has given up, and returns what it
  // may have. One script. Errors: UNKNOWN_MEMBER_ID if the group does not have the member, for
  // example because its session ended; ILLEGAL_GENERATION as in Join.
  base::Task<absl::StatusOr<GroupMembership>> Heartbeat(MemberHeartbeat request);

  // Removes the member and frees its partitions. One script. Errors: UNKNOWN_MEMBER_ID, also if the
  // call is repeated; ILLEGAL_GENERATION as in Join.
  base::Task<absl::Status> Leave(MemberHeartbeat request);

  // Acknowledges entries of partitions that the member owns, all or none. Returns how many of them
  // were pending: 0 if the call is repeated. One script, or no command without partitions. Errors:
  // UNKNOWN_MEMBER_ID; ILLEGAL_GENERATION if another member may have one of the partitions by now.
  //
  // In the cluster layout two round trips: a transaction that checks the member and all its
  // partitions, then a script for each partition, which acknowledges the entries that are pending
  // for this member. After a crash between them, or an error of one partition, others may be
  // committed; repeat the call. An entry that another member has claimed is never acknowledged.
  base::Task<absl::StatusOr<int64_t>> Commit(std::string_view group, std::string_view member,
                                             std::span<const OwnedCommit> commits);

  // Returns the state of a group. Members whose session ended are left out. One transaction of
  // HGET, HGETALL, HGETALL and TIME. Errors: GROUP_ID_NOT_FOUND if no member ever joined it.
  base::Task<absl::StatusOr<CoordinatedGroup>> Describe(std::string_view group);

  // Deletes the membership of a group, but not its position in the logs (GroupAdmin::Delete). As
  // Describe, then one DEL. Errors: GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP while it has members. A
  // member that joins between the two steps gets UNKNOWN_MEMBER_ID and joins again.
  base::Task<absl::Status> Delete(std::string_view group);

 private:
  base::Task<absl::StatusOr<GroupMembership>> Call(std::string_view mode, MemberHeartbeat request);
  // The two steps of Commit in the cluster layout.
  base::Task<absl::Status> CheckOwner(std::string_view group, std::string_view member,
                                      std::span<const OwnedCommit> commits);
  base::Task<absl::StatusOr<int64_t>> CommitEach(std::string_view group, std::string_view member,
                                                 std::span<const OwnedCommit> commits);

  store::Store& store_;
  const Keys keys_;
  const CoordinatorOptions options_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_
