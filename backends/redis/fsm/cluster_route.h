// Routes: to which slot of a Redis Cluster a command or a transaction belongs.
//
// The slot follows from the keys, and the keys from the one table of commands (command_table.h),
// which is the table that the memory engine's view of a cluster uses, too: what is refused here is
// what a node would refuse. It is refused before anything is sent, so that half of a pipeline does
// not run.
//
//   absl::StatusOr<Route> route = RouteOf(command);
//   if (!route.ok()) ...  // FailedPrecondition, not sent: the keys belong to several slots.
//
// Commands without keys:
// * that tell or change something of every node go to all masters, and their replies become one
//   reply, as their tips in COMMAND DOCS say: DBSIZE adds up, KEYS joins, FLUSHALL and SCRIPT LOAD
//   succeed when all do;
// * SCAN visits one master after the other: its cursors carry which;
// * all others go to the node that serves the slot of their first argument as if it were a key.
//   That sends PUBLISH and SUBSCRIBE of one channel to one node, so that messages keep their order,
//   and a module's command, whose keys no table knows, mostly where it belongs; if not, the node's
//   MOVED corrects it.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_ROUTE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_ROUTE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/store/command.h"
#include "core/store/command_table.h"
#include "core/store/reply.h"

namespace redouble::redis {

struct Route {
  enum class Kind : uint8_t {
    kSlot,        // To the master of `slot`, because of the keys.
    kNoKeys,      // To the master of `slot`, though any would do.
    kAllMasters,  // To all; see MergeReplies.
    kScan,        // To the master that the cursor names; see ReadScanCursor.
  };

  Kind kind = Kind::kNoKeys;
  int slot = 0;

  friend bool operator==(const Route&, const Route&) = default;
};

// The row of a command, that of its subcommand where there is one; kUnknown without a row.
store::CommandId RowOf(const store::Command& command);

// Where a command belongs. Errors: FailedPrecondition, not sent, when its keys belong to different
// slots; the message names the command and two of the slots, never a key, which may be secret.
absl::StatusOr<Route> RouteOf(const store::Command& command);

// Where all commands of a transaction belong together: kSlot, or kNoKeys when none has a key.
// Errors: as above; also for a command that would have to go to all masters, and for SCAN.
absl::StatusOr<Route> RouteOfTransaction(std::span<const store::Command> commands);

// The replies of all masters as one. An error of any of them is the result, except where one
// success is enough (SCRIPT KILL). `command` was routed to kAllMasters; `replies` is not empty.
store::Reply MergeReplies(const store::Command& command, std::vector<store::Reply> replies);

// Which master a SCAN visits, and with which of that master's cursors.
struct ScanPosition {
  size_t master = 0;
  uint64_t cursor = 0;

  friend bool operator==(const ScanPosition&, const ScanPosition&) = default;
};

// Takes the cursor of a SCAN over `masters` masters apart. None when it is no number: then Redis
// shall say what it thinks of it.
std::optional<ScanPosition> ReadScanCursor(const store::Command& scan, size_t masters);

// Puts into a reply to SCAN, that `master` gave, the cursor that leads on over all masters; 0 when
// the last of them was done. A reply that is none of SCAN stays as it is. A cursor too large to be
// combined, which no table of Redis produces, makes it an error.
store::Reply WithClusterCursor(store::Reply reply, size_t master, size_t masters);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_ROUTE_H_
