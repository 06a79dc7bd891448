// GroupAdmin: lists, describes and deletes consumer groups over all topics.
//
//   GroupAdmin groups(store, keys);
//   co_await groups.List();                        // {"my-group", "other"}
//   co_await groups.Describe("my-group");
//   co_await groups.Delete("my-group");
//
// Groups are found on the streams of all partitions; there is no other registry. The members of a
// Coordinator are known only to that object (coordinator.h).
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 4.18, D13.
#ifndef REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_
#define REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/stream_id.h"

namespace redouble::korvet {

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
  // Kafka's states: stable if some entry is pending, otherwise empty. For Kafka's state Dead,
  // Describe returns GROUP_ID_NOT_FOUND.
  enum class State { kEmpty, kStable };

  State state = State::kEmpty;
  std::vector<GroupPartitionDescription> partitions;  // By topic, then partition.

  friend bool operator==(const GroupDescription&, const GroupDescription&) = default;
};

class GroupAdmin {
 public:
  // `store` must outlive the object.
  GroupAdmin(store::Store& store, Keys keys) : store_(store), keys_(std::move(keys)) {}

  // Returns the names of all groups, sorted by byte. SMEMBERS, a pipeline of HGET and a pipeline of
  // XINFO GROUPS: three round trips.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // Describes a group. Four round trips: those of List, and a pipeline of XINFO CONSUMERS. Errors:
  // INVALID_GROUP_ID for an empty name, GROUP_ID_NOT_FOUND if no partition has the group.
  base::Task<absl::StatusOr<GroupDescription>> Describe(std::string_view group);

  // Removes the group from all partitions. Five round trips: those of Describe, and a pipeline of
  // XGROUP DESTROY. Errors: as Describe; NON_EMPTY_GROUP while an entry is pending. A record that
  // is delivered between the check and the removal is forgotten with the group.
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
  base::Task<absl::StatusOr<std::vector<Found>>> Find(std::string_view group);

  store::Store& store_;
  const Keys keys_;
};

}  // namespace redouble::korvet

#endif  // REDOUBLE_CORE_KORVET_GROUPS_GROUP_ADMIN_H_
