// ClusterSession: a connection to all servers of a world that is a Redis Cluster, which bypasses
// the schedule.
//
// Use it to set up data and to check it: World::ConnectToAll returns one. Each command goes at once
// to the master that has its keys, also while a slot moves. KEYS, SCAN, DBSIZE, FLUSHALL and
// FLUSHDB concern all masters. The commands of a pipeline may have keys of any slots; those of a
// transaction, and of one command, are refused as in Redis (CROSSSLOT, TRYAGAIN).
//
// Errors: FailedPrecondition if a server does not reply at once, because the command blocks or the
// server is paused.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_SESSION_H_
#define REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_SESSION_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/world/servers/world_server.h"

namespace redouble::inline v0_1::sim {

class ClusterSession final : public store::Store {
 public:
  // The servers must be the nodes of one cluster, and outlive the session.
  explicit ClusterSession(std::span<const std::unique_ptr<WorldServer>> servers);

  void Submit(store::Request& request) override;

 private:
  using Result = absl::StatusOr<store::Reply>;

  struct Node {
    WorldServer* server;
    std::unique_ptr<memory::Session> session;
  };

  static Result Send(Node& node, store::Request::Kind kind, std::span<const store::Command> sent);
  static Result Send(Node& node, const store::Command& command) {
    return Send(node, store::Request::Kind::kCommand, {&command, 1});
  }
  // Runs commands with keys of one slot.
  Result Run(store::Request::Kind kind, std::span<const store::Command> commands);
  Result RunEach(std::span<const store::Command> commands);
  // The node that has the key, ready for a request on it.
  absl::StatusOr<Node*> Find(std::string_view key);
  std::vector<Node*> Masters();
  // Commands about all masters.
  Result SendToAll(const store::Command& command);
  Result Scan(const store::Command& command);

  std::vector<Node> nodes_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_SERVERS_CLUSTER_SESSION_H_
