// MoveSlot: migrates a slot of a Redis Cluster from one master to another, as redis-cli --cluster
// reshard does.
//
// Clients can use the slot meanwhile: the nodes send them from one to the other (ASK, TRYAGAIN). A
// transaction or a script on several keys of the slot can fail with TRYAGAIN until the move ends.
//
// Before the next move, wait until the masters AgreeOnEpochs.
//
//   const store::SlotNode from{first, "07c3...", "10.0.0.7", 6379};
//   const store::SlotNode to{second, "67ed...", "10.0.0.8", 6379};
//   absl::Status moved = co_await store::MoveSlot(7365, from, to, {third});
//
// Thread-safety: as Store.
// Source: Redis 7.0 CLUSTER SETSLOT; redis-cli.
#ifndef REDOUBLE_CORE_STORE_CLUSTER_SLOT_MOVE_H_
#define REDOUBLE_CORE_STORE_CLUSTER_SLOT_MOVE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

// A master of the cluster.
struct SlotNode {
  Store* store;      // A connection to it.
  std::string id;    // As CLUSTER MYID returns it.
  std::string host;  // Where other masters reach it.
  int port;
};

struct SlotMoveOptions {
  // Replaces keys that the new owner has already; a move fails with BUSYKEY otherwise. It has them
  // if `from` has lost its master during an earlier move, and the replica that took over had not
  // heard which keys had left. As redis-cli's --cluster-replace.
  bool replace = false;
};

// Moves the slot and its keys, and tells the `others`, connections to the remaining masters, which
// would hear it from the new owner later. Round trips: six, two more for each two keys, and one for
// each of the others. Errors: those of the connections and of the commands. The slot is half moved
// then, and clients are still sent to the node that has their key. Call it again to continue; if
// the new owner has the slot already, that tells the other masters.
base::Task<absl::Status> MoveSlot(int slot, SlotNode from, SlotNode to,
                                  std::vector<Store*> others = {}, SlotMoveOptions options = {});

// Returns whether all masters know each other's newest epoch: their CLUSTER NODES have the same
// config epochs. A master that moves a slot to itself takes an epoch and tells the others. Until
// all have heard that, a message of an earlier owner that is still under way can win against it,
// and the slot goes back; then the nodes send clients in circles. Masters tell each other within
// milliseconds. Round trips: one for each master. Errors: those of the connections and of the
// command.
base::Task<absl::StatusOr<bool>> AgreeOnEpochs(std::vector<Store*> masters);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_CLUSTER_SLOT_MOVE_H_
