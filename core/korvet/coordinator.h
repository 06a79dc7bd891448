// Coordinator: who is a member of which consumer group, and which partitions each member reads.
//
// The group's membership lives in memory, for the members of one process; Redis knows nothing of
// it. The protocol is Kafka's, with the assignment made here rather than by a member:
//
//   | a member           | and hears                                                             |
//   | ------------------ | --------------------------------------------------------------------- |
//   | joins              | its id; the group begins to rebalance                                 |
//   | asks for partitions | REBALANCE_IN_PROGRESS until every member has joined (again) or the    |
//   |                    | rebalance time-out is over; then the generation and its partitions    |
//   | heartbeats         | OK, or REBALANCE_IN_PROGRESS: somebody came or went, join again       |
//   | says nothing       | UNKNOWN_MEMBER_ID once the session time-out is over                   |
//
//   Coordinator coordinator(clock);
//   absl::StatusOr<std::string> id =
//       coordinator.Join({.group = "my-group", .subscriptions = {{"orders", 3}}});
//   absl::StatusOr<Membership> membership = coordinator.Sync("my-group", *id);
//   absl::Status status = coordinator.Heartbeat("my-group", *id, membership->generation);
//
// No partition changes hands while its reader still believes in it: a new generation begins only
// when all members have joined anew, or were given up. Time-outs take effect when somebody next
// asks; there is no timer. Equal calls at equal times give equal ids and assignments.
//
// Thread-safety: one thread.
// Source: reference/korvet.md 8.7 (the protocol is Kafka's).
#ifndef REDOUBLE_CORE_KORVET_COORDINATOR_H_
#define REDOUBLE_CORE_KORVET_COORDINATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/korvet/assignment.h"

namespace redouble::korvet {

struct CoordinatorOptions {
  // A member that was not heard of for so long is given up.
  absl::Duration session_timeout = absl::Seconds(45);
  // How long a rebalance waits for members to join again; those that have not are given up.
  absl::Duration rebalance_timeout = absl::Minutes(5);
  Assignor assignor = Assignor::kRange;
};

struct JoinRequest {
  std::string_view group;
  // None yet: empty; the id is made of the client's name and a number.
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
  Assignment assignment;  // Of each member; what it had last while the group rebalances.

  friend bool operator==(const CoordinatedGroup&, const CoordinatedGroup&) = default;
};

class Coordinator {
 public:
  // `clock` must outlive the object.
  explicit Coordinator(const base::Clock& clock, CoordinatorOptions options = {})
      : clock_(clock), options_(options) {}

  // Adds a member, or lets one join again; gives its id. A new member, other subscriptions, or a
  // rebalance under way: the group rebalances. Otherwise nothing changes. Errors: INVALID_GROUP_ID
  // for an empty name; UNKNOWN_MEMBER_ID for an id that the group does not have (any more).
  absl::StatusOr<std::string> Join(const JoinRequest& request);

  // The member's partitions. Counts as a heartbeat. Errors: UNKNOWN_MEMBER_ID;
  // REBALANCE_IN_PROGRESS while others have still to join, or this one has.
  absl::StatusOr<Membership> Sync(std::string_view group, std::string_view member_id);

  // Errors: UNKNOWN_MEMBER_ID; REBALANCE_IN_PROGRESS, the heartbeat counting all the same;
  // ILLEGAL_GENERATION for another generation than the group's.
  absl::Status Heartbeat(std::string_view group, std::string_view member_id, int32_t generation);

  // Removes a member; the others rebalance. Errors: UNKNOWN_MEMBER_ID.
  absl::Status Leave(std::string_view group, std::string_view member_id);

  // Forgets the group. Errors: GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP while it has members.
  absl::Status Delete(std::string_view group);

  // Errors: GROUP_ID_NOT_FOUND for a group that nobody ever joined.
  absl::StatusOr<CoordinatedGroup> Describe(std::string_view group);

 private:
  struct Member {
    std::vector<Subscription> subscriptions;
    absl::Time heard_of;
    bool joined = true;  // In the rebalance under way.
  };
  struct Group {
    CoordinatedGroup::State state = CoordinatedGroup::State::kEmpty;
    int32_t generation = 0;
    absl::Time rebalance_deadline;
    std::map<std::string, Member, std::less<>> members;
    Assignment assignment;
  };

  // The group as it is now, time-outs applied; null when there is none.
  Group* Find(std::string_view name);
  // Notes that the member was heard of. Errors: UNKNOWN_MEMBER_ID.
  absl::StatusOr<Member*> Hear(Group* group, std::string_view member_id);
  // Unless one is under way: all members have to join again.
  void BeginRebalance(Group& group);
  // When all have: a new generation.
  void EndRebalanceIfComplete(Group& group);

  const base::Clock& clock_;
  const CoordinatorOptions options_;
  std::map<std::string, Group, std::less<>> groups_;
  uint64_t ids_given_ = 0;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_COORDINATOR_H_
