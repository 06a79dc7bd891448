// Routes: the slot of a Redis Cluster to which a command or a transaction belongs.
//
// The slot follows from the keys, and the keys from the command table (command_table.h). The memory
// engine's cluster uses the same table, so this client refuses what a node would refuse. Requests
// are refused before they are sent, so that no half of a pipeline runs.
//
//   absl::StatusOr<Route> route = RouteOf(command);
//   if (!route.ok()) ...  // FailedPrecondition, not sent: the keys belong to several slots.
//
// Commands without keys:
// * Commands that read or change all nodes go to all masters. Their replies are merged as the
//   command tips of COMMAND DOCS say: DBSIZE is summed, KEYS is concatenated, FLUSHALL and SCRIPT
//   LOAD succeed if they succeed on all masters.
// * SCAN visits one master after the other; its cursor contains the master.
// * Other commands go to the node that serves the slot of their first argument, as if it were a
//   key. PUBLISH and SUBSCRIBE of one channel thus use one node, so messages keep their order. A
//   module's command, whose keys are unknown, usually reaches the right node; otherwise the node
//   replies MOVED.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_ROUTE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_ROUTE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/cluster/commands/server_commands.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {

struct Route {
  enum class Kind : uint8_t {
    kSlot,        // To the master of `slot`, which serves the keys.
    kNoKeys,      // To the master of `slot`; any other node would do.
    kAllMasters,  // To all masters; see MergeReplies.
    kScan,        // To the master that the cursor names; see ReadScanCursor.
  };

  Kind kind = Kind::kNoKeys;
  int slot = 0;

  friend bool operator==(const Route&, const Route&) = default;
};

// Whether COMMAND DOCS gives the command this tip, such as "request_policy:multi_shard".
bool HasTip(store::CommandId id, std::string_view tip);

// The route of a command. Errors: FailedPrecondition, of kind "not sent", if its keys belong to
// different slots. The message names the command and two of the slots, never a key, which may be
// secret.
//
// `server`, if not null, knows the positions of keys in commands that the table lacks. Without it
// such a command follows its first argument: most have their key there, and a node that does not
// serve it redirects the command.
absl::StatusOr<Route> RouteOf(const store::Command& command,
                              const ServerCommands* server = nullptr);

// The common route of a transaction: kSlot, or kNoKeys if no command has a key. Errors: as above;
// also for a command that goes to all masters, and for SCAN.
absl::StatusOr<Route> RouteOfTransaction(std::span<const store::Command> commands,
                                         const ServerCommands* server = nullptr);

// Merges the replies of all masters. An error from any of them is the result, except for commands
// that need one success only (SCRIPT KILL). `command` was routed to kAllMasters; `replies` is not
// empty.
store::Reply MergeReplies(const store::Command& command, std::vector<store::Reply> replies);

// The master that a SCAN visits, and the cursor of that master.
struct ScanPosition {
  size_t master = 0;
  uint64_t cursor = 0;

  friend bool operator==(const ScanPosition&, const ScanPosition&) = default;
};

// Splits the cursor of a SCAN over `masters` masters. nullopt if it is not a number: Redis then
// returns its own error.
std::optional<ScanPosition> ReadScanCursor(const store::Command& scan, size_t masters);

// Replaces the cursor in the reply of `master` to SCAN by the cursor that continues over all
// masters; 0 after the last one. A reply that is not a SCAN reply is returned unchanged. A cursor
// that is too large to be combined, which no Redis table produces, is returned as an error.
store::Reply WithClusterCursor(store::Reply reply, size_t master, size_t masters);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_CLUSTER_ROUTE_H_
