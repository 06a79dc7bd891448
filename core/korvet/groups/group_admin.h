// GroupAdmin: lists, describes and deletes consumer groups over all topics.
//
//   GroupAdmin groups(store, keys);
//   co_await groups.List();                        // {"my-group", "other"}
//   co_await groups.Describe("my-group");
//   co_await groups.Offsets("my-group");           // Committed offset, log end and lag.
//   co_await groups.Delete("my-group");
//
// Groups are found on the streams of all partitions; there is no other registry. Their members, if
// they have any, are those of the Coordinator (coordinator.h).
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 4.18, D13, H14.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_
#define REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/korvet/groups/assignment.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/hardening.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::inline v0_1::korvet {

struct GroupMemberDescription {
  std::string name;
  int64_t pending = 0;

  friend bool operator==(const GroupMemberDescription&, const GroupMemberDescription&) = default;
};

// The state of the group on one partition.
struct GroupPartitionDescription {
  std::string topic;
  int32_t partition = 0;
  store::StreamId last_delivered_id;
  int64_t pending = 0;
  std::vector<GroupMemberDescription> members;  // By name.

  friend bool operator==(const GroupPartitionDescription&,
                         const GroupPartitionDescription&) = default;
};

struct GroupDescription {
  // Kafka's states: stable if the group has members or some entry is pending, otherwise empty. For
  // Kafka's state Dead, Describe returns GROUP_ID_NOT_FOUND.
  enum class State { kEmpty, kStable };

  State state = State::kEmpty;
  // The members of the Coordinator, and the partitions that each has. Empty if programs read
  // without it.
  Assignment assignment = {};
  std::vector<GroupPartitionDescription> partitions;  // By topic, then partition.

  friend bool operator==(const GroupDescription&, const GroupDescription&) = default;
};

// How far a group is in one partition of a topic.
struct GroupOffset {
  std::string topic;
  int32_t partition = 0;
  GroupProgress progress;

  friend bool operator==(const GroupOffset&, const GroupOffset&) = default;
};

class GroupAdmin {
 public:
  // `store` must outlive the object. Of the options only delete_idle_groups concerns it.
  GroupAdmin(store::Store& store, Keys keys, Hardening hardening = {})
      : store_(store), keys_(std::move(keys)), hardening_(hardening) {}

  // Returns the names of all groups, sorted by byte. SMEMBERS, a pipeline of HGET and a pipeline of
  // XINFO GROUPS: three round trips.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Describes a group. Five round trips: those of List, a pipeline of XINFO CONSUMERS, and
  // Coordinator::Describe. Errors: INVALID_GROUP_ID for an empty name, GROUP_ID_NOT_FOUND if no
  // partition has the group.
  base::Task<absl::StatusOr<GroupDescription>> Describe(std::string_view group);

  // Returns how far the group is in each partition that has it, by topic, then partition. The round
  // trips of List, an HGETALL for each topic, and ConsumerGroup::Progress for each partition.
  // Errors: as Describe. A topic that is deleted meanwhile fails with UNKNOWN_TOPIC_OR_PARTITION.
  base::Task<absl::StatusOr<std::vector<GroupOffset>>> Offsets(std::string_view group);

  // Removes the group from all partitions, and its membership, which a group keeps when its topics
  // are deleted. Five round trips: those of List, Coordinator::Describe, and a pipeline of XGROUP
  // DESTROY and DEL, or with Hardening::delete_idle_groups a script. Errors: INVALID_GROUP_ID for
  // an empty name; GROUP_ID_NOT_FOUND if there is neither a partition with the group nor a
  // membership; NON_EMPTY_GROUP while the group has members or an entry is pending. Without the
  // option a member that joins, and a record that is delivered, between the check and the removal
  // are forgotten with the group (H14). After a crash or a lost reply, call it again: what is gone
  // already counts as removed, and GROUP_ID_NOT_FOUND means that all is.
  base::Task<absl::Status> Delete(std::string_view group);

 private:
  // One group on one partition, from XINFO GROUPS.
  struct Found {
    std::string group;
    std::string stream;
    GroupPartitionDescription description;
  };
  base::Task<absl::StatusOr<std::vector<Found>>> FindAll();
  base::Task<absl::Status> ReadMembers(std::vector<Found>& found);
  // Without an error if no partition has the group.
  base::Task<absl::StatusOr<std::vector<Found>>> FindIfAny(std::string_view group);
  base::Task<absl::StatusOr<std::vector<Found>>> Find(std::string_view group);
  // Checks and removes by one script.
  base::Task<absl::Status> DeleteByScript(std::string_view group, const std::vector<Found>& found,
                                          std::vector<std::string> membership);
  // The members of the Coordinator; nullopt if no member ever joined.
  base::Task<absl::StatusOr<std::optional<Assignment>>> MembersOf(std::string_view group);

  store::Store& store_;
  const Keys keys_;
  const Hardening hardening_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_
