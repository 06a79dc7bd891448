// SpawnedCluster: a real Redis Cluster of one's own on loopback, for tests.
//
// Masters share the slots evenly; each has the same number of replicas. The nodes know each other
// from their first moment, by the file in which a node remembers its cluster, so that the cluster
// stands as soon as Redis lets it: some two seconds after its nodes, which is how long a master
// that has just started refuses to serve.
//
// Its wall clock can be held, as that of a SpawnedServer; then nodes never find each other dead.
//
// Thread-safety: as SpawnedServer, for each node.
//
//     auto cluster = SpawnedCluster::Start({.replicas = 1});
//     if (!cluster.ok()) return cluster.status();
//     ClusterClient::Connect(executor, *Options::Parse((*cluster)->uri()));
//     (*cluster)->node(0).Kill();  // Its replica is node(3).

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/spawn/loopback_port.h"
#include "backends/redis/spawn/private_folder.h"
#include "backends/redis/spawn/spawned_server.h"

namespace redouble::redis {

struct SpawnedClusterOptions {
  size_t masters = 3;
  // Of each master.
  size_t replicas = 0;

  // How long a node may be silent before the others hold it for dead. Of no effect with held_time.
  absl::Duration node_timeout = absl::Seconds(2);

  // As in SpawnedServerOptions, for all nodes.
  std::optional<absl::Time> held_time = std::nullopt;
  std::vector<std::string> config = {};
  absl::Duration patience = absl::Seconds(60);
};

class SpawnedCluster {
 public:
  // Starts the nodes and returns once all of them serve and all replicas follow their masters.
  // Errors: those of SpawnedServer::Start; DeadlineExceeded when the cluster does not stand in
  // time.
  static absl::StatusOr<std::unique_ptr<SpawnedCluster>> Start(
      const SpawnedClusterOptions& options = SpawnedClusterOptions());

  // Kills the nodes.
  ~SpawnedCluster();

  SpawnedCluster(const SpawnedCluster&) = delete;
  SpawnedCluster& operator=(const SpawnedCluster&) = delete;

  // Masters first, in the order of their slots; replica r of master m is node(m + (r + 1) *
  // masters).
  SpawnedServer& node(size_t index) { return *nodes_[index]; }
  size_t size() const { return nodes_.size(); }
  // What the node is called in CLUSTER NODES; 40 hexadecimal digits.
  static std::string NodeId(size_t index);

  // Where it is, for a client: the first node as host, the others as seeds.
  std::string uri() const;

  // Moves all held clocks.
  // Errors: as SpawnedServer::SetTime.
  absl::Status SetTime(absl::Time now);
  // Waits for all nodes as SpawnedServer::Settle does.
  absl::Status Settle();

  // Waits until every node that runs serves, and every replica follows.
  // Errors: DeadlineExceeded after `patience`.
  absl::Status WaitUntilServing();

 private:
  explicit SpawnedCluster(SpawnedClusterOptions options) : options_(std::move(options)) {}

  absl::Status ReservePorts();
  absl::Status WriteNodesFile(size_t self) const;
  std::string NodesFile(size_t index) const;
  std::vector<std::string> Config(size_t index) const;
  std::pair<int, int> SlotsOf(size_t master) const;
  absl::StatusOr<bool> Serves(const SpawnedServer& node) const;

  const SpawnedClusterOptions options_;
  std::unique_ptr<PrivateFolder> folder_;
  std::vector<std::shared_ptr<LoopbackPort>> ports_;
  std::vector<std::unique_ptr<LoopbackPort>> bus_ports_;
  std::vector<std::unique_ptr<SpawnedServer>> nodes_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_
