// GroupAdmin: what consumer groups there are, over all topics, and the end of one.
//
//   GroupAdmin groups(store, keys);
//   co_await groups.List();                        // {"my-group", "other"}
//   co_await groups.Describe("my-group");
//   co_await groups.Delete("my-group");
//
// A group is what is found on the streams of the partitions of all topics; there is no other
// register. Which members a Coordinator has is known to that alone (coordinator.h).
//
// Thread-safety: as Store.
// Source: reference/korvet.md 8.7.
#ifndef REDOUBLE_CORE_KORVET_GROUP_ADMIN_H_
#define REDOUBLE_CORE_KORVET_GROUP_ADMIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/korvet/keys.h"
#include "core/store/store.h"
#include "core/store/stream_id.h"

namespace redouble::korvet {

struct GroupMemberDescription {
  std::string name;
  int64_t pending = 0;

  friend bool operator==(const GroupMemberDescription&, const GroupMemberDescription&) = default;
};

// The group on one partition.
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
  // Kafka's: stable when something is pending with some member, else empty. ("Dead" is
  // GROUP_ID_NOT_FOUND.)
  enum class State { kEmpty, kStable };

  State state = State::kEmpty;
  std::vector<GroupPartitionDescription> partitions;  // By topic, then partition.

  friend bool operator==(const GroupDescription&, const GroupDescription&) = default;
};

class GroupAdmin {
 public:
  // `store` must outlive the object.
  GroupAdmin(store::Store& store, Keys keys) : store_(store), keys_(std::move(keys)) {}

  // The names of all groups, sorted by byte. SMEMBERS, a pipeline of HGET and one of XINFO GROUPS:
  // three round trips.
  base::Task<absl::StatusOr<std::vector<std::string>>> List();

  // As List, and a pipeline of XINFO CONSUMERS. Errors: INVALID_GROUP_ID for an empty name,
  // GROUP_ID_NOT_FOUND when no partition has the group.
  base::Task<absl::StatusOr<GroupDescription>> Describe(std::string_view group);

  // Removes the group everywhere. As Describe, and a pipeline of XGROUP DESTROY. Errors: as
  // Describe; NON_EMPTY_GROUP while something is pending with a member. A record that is delivered
  // between the look and the removal is forgotten with the group.
  base::Task<absl::Status> Delete(std::string_view group);

 private:
  // A group on a partition, as XINFO GROUPS tells it.
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

#endif  // REDOUBLE_CORE_KORVET_GROUP_ADMIN_H_
