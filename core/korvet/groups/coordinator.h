// Coordinator: keeps the members of consumer groups, and assigns partitions to them.
//
// Membership is kept in memory, for the members of one process; nothing is stored in Redis (D13).
// The protocol is Kafka's, except that the coordinator computes the assignment and not a member:
//
// * Join returns the member id. The group starts to rebalance.
// * Sync returns REBALANCE_IN_PROGRESS until all members have joined again or the rebalance timeout
//   has passed, and then the generation and the partitions of the member.
// * Heartbeat returns OK, or REBALANCE_IN_PROGRESS if the members have changed: join again.
// * Every call returns UNKNOWN_MEMBER_ID for a member that was silent for the session timeout.
//
//   Coordinator coordinator(clock);
//   absl::StatusOr<std::string> id =
//       coordinator.Join({.group = "my-group", .subscriptions = {{"orders", 3}}});
//   absl::StatusOr<Membership> membership = coordinator.Sync("my-group", *id);
//   absl::Status status = coordinator.Heartbeat("my-group", *id, membership->generation);
//
// A partition moves only after all members have joined again or were removed, so no partition has
// two active readers. Timeouts take effect at the next call; there is no timer. Equal calls at
// equal times return equal ids and assignments.
//
// Thread-safety: one thread.
// Source: docs/systems/korvet.md 3.3, 4.19, D13.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_
#define REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/groups/assignment.h"

namespace redouble::korvet {

struct CoordinatorOptions {
  // A member is removed when it has not called for this long.
  absl::Duration session_timeout = absl::Seconds(45);
  // How long a rebalance waits for members to join again; the others are removed.
  absl::Duration rebalance_timeout = absl::Minutes(5);
  Assignor assignor = Assignor::kRange;
};

struct JoinRequest {
  std::string_view group;
  // Empty for a new member, whose id is made of `client_id` and a number.
  std::string_view member_id = {};
  std::string_view client_id = "consumer";
  std::vector<Subscription> subscriptions;
};

struct Membership {
  int32_t generation = 0;
  std::vector<AssignedPartition> partitions;

  friend bool operator==(const Membership&, const Membership&) = default;
};

struct CoordinatedGroup {
  enum class State { kEmpty, kPreparingRebalance, kStable };

  State state = State::kEmpty;
  int32_t generation = 0;
  Assignment assignment;  // During a rebalance: the previous assignment.

  friend bool operator==(const CoordinatedGroup&, const CoordinatedGroup&) = default;
};

class Coordinator {
 public:
  // `clock` must outlive the object.
  explicit Coordinator(const base::Clock& clock, CoordinatorOptions options = {})
      : clock_(clock), options_(options) {}

  // Adds a member, or lets an existing one join again. Returns its id. A new member or changed
  // subscriptions start a rebalance. Errors: INVALID_GROUP_ID for an empty group name;
  // UNKNOWN_MEMBER_ID for an id that the group does not have.
  absl::StatusOr<std::string> Join(const JoinRequest& request);

  // Returns the member's partitions, and counts as a heartbeat. Errors: UNKNOWN_MEMBER_ID;
  // REBALANCE_IN_PROGRESS until all members, including this one, have joined again.
  absl::StatusOr<Membership> Sync(std::string_view group, std::string_view member_id);

  // Keeps the member in the group. Errors: UNKNOWN_MEMBER_ID; REBALANCE_IN_PROGRESS, although the
  // heartbeat counts; ILLEGAL_GENERATION if `generation` is not that of the group.
  absl::Status Heartbeat(std::string_view group, std::string_view member_id, int32_t generation);

  // Returns OK if a commit of the member's partitions is valid, and counts as a heartbeat. During a
  // rebalance the partitions have not moved yet, so the member still commits in the generation that
  // assigned them. Errors: UNKNOWN_MEMBER_ID; ILLEGAL_GENERATION if `generation` is not that of the
  // group.
  absl::Status CheckCommit(std::string_view group, std::string_view member_id, int32_t generation);

  // Removes a member; the others rebalance. Errors: UNKNOWN_MEMBER_ID.
  absl::Status Leave(std::string_view group, std::string_view member_id);

  // Deletes the group. Errors: GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP while it has members.
  absl::Status Delete(std::string_view group);

  // Returns the state of a group. Errors: GROUP_ID_NOT_FOUND if no member ever joined it.
  absl::StatusOr<CoordinatedGroup> Describe(std::string_view group);

 private:
  struct Member {
    std::vector<Subscription> subscriptions;
    absl::Time last_heartbeat;
    bool joined = true;  // Has joined in the current rebalance.
  };
  struct Group {
    CoordinatedGroup::State state = CoordinatedGroup::State::kEmpty;
    int32_t generation = 0;
    absl::Time rebalance_deadline;
    std::map<std::string, Member, std::less<>> members;
    Assignment assignment;
  };

  // Applies the timeouts and returns the group, or null if it does not exist.
  Group* Find(std::string_view name);
  // Records a heartbeat of the member. Errors: UNKNOWN_MEMBER_ID.
  absl::StatusOr<Member*> RecordHeartbeat(Group* group, std::string_view member_id);
  // Errors: ILLEGAL_GENERATION.
  static absl::Status CheckGeneration(const Group& group, int32_t generation);
  // Starts a rebalance unless one is in progress: all members must join again.
  void BeginRebalance(Group& group);
  // Starts a new generation if all members have joined.
  void EndRebalanceIfComplete(Group& group);

  const base::Clock& clock_;
  const CoordinatorOptions options_;
  std::map<std::string, Group, std::less<>> groups_;
  uint64_t ids_given_ = 0;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_COORDINATOR_H_
