// SpawnedCluster: a real Redis Cluster on loopback, for tests.
//
// The masters share the slots evenly, and each has the same number of replicas. The nodes start
// with a nodes.conf that describes the whole cluster, so the cluster is ready about two seconds
// after its nodes: a restarted master refuses to serve for that long.
//
//     auto cluster = SpawnedCluster::Start({.replicas = 1});
//     if (!cluster.ok()) return cluster.status();
//     ClusterClient::Connect(executor, *Options::Parse((*cluster)->uri()));
//     (*cluster)->node(0).Kill();  // Its replica is node(3).
//
// The wall clock of the nodes can be held, as for a SpawnedServer. No failover happens then,
// because nodes never consider each other failed.
//
// Thread-safety: as SpawnedServer, for each node.

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/spawn/loopback_port.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/backends/redis/spawn/spawned_server.h"

namespace redouble::inline v0_1::redis {

struct SpawnedClusterOptions {
  size_t masters = 3;
  // The number of replicas of each master.
  size_t replicas = 0;

  // cluster-node-timeout: after this time of silence a node is considered failed. No effect with
  // held_time.
  absl::Duration node_timeout = absl::Seconds(2);

  // As in SpawnedServerOptions, for all nodes. With TLS, which then is all that their ports speak,
  // the nodes use it among themselves as well: their certificate must be valid for clients.
  std::optional<SpawnedTls> tls = std::nullopt;
  std::optional<absl::Time> held_time = std::nullopt;
  std::vector<std::string> config = {};
  absl::Duration patience = absl::Seconds(60);
};

class SpawnedCluster {
 public:
  // Starts the nodes and returns once all of them serve and all replicas follow their masters.
  // Errors: those of SpawnedServer::Start; DeadlineExceeded if the cluster is not ready within
  // `patience`.
  static absl::StatusOr<std::unique_ptr<SpawnedCluster>> Start(
      const SpawnedClusterOptions& options = SpawnedClusterOptions());

  // Kills the nodes.
  ~SpawnedCluster();

  SpawnedCluster(const SpawnedCluster&) = delete;
  SpawnedCluster& operator=(const SpawnedCluster&) = delete;

  // The masters come first, in the order of their slots. Replica r of master m is node(m + (r + 1)
  // * masters).
  SpawnedServer& node(size_t index) { return *nodes_[index]; }
  size_t size() const { return nodes_.size(); }
  // The id of the node in CLUSTER NODES: 40 hexadecimal digits.
  static std::string NodeId(size_t index);
  // The first and the last slot of a master at the start.
  std::pair<int, int> SlotsOf(size_t master) const;

  // The URI for a client: the first node as host, the others as seeds. With TLS, the client needs
  // options for its certificates as well.
  std::string uri() const;

  // Moves all held clocks.
  // Errors: as SpawnedServer::SetTime.
  absl::Status SetTime(absl::Time now);
  // Waits for all nodes that run, as SpawnedServer::Settle does.
  absl::Status Settle();

  // Migrates a slot from one master to another, as redis-cli does: a few keys at a time, then the
  // slot itself. Blocks; clients may use the slot meanwhile. All masters must run.
  // Errors: those of the commands; DeadlineExceeded if the masters have not heard of earlier moves
  // after `patience`.
  absl::Status MoveSlot(int slot, size_t from, size_t to);

  // Waits until every running node serves and every replica follows.
  // Errors: DeadlineExceeded after `patience`.
  absl::Status WaitUntilServing();

 private:
  explicit SpawnedCluster(SpawnedClusterOptions options) : options_(std::move(options)) {}

  absl::Status ReservePorts();
  // Whether nodes.conf names the shards of nodes: Redis 7.2 and later.
  absl::StatusOr<bool> NamesShards() const;
  absl::Status WriteNodesFile(size_t self, bool names_shards) const;
  std::string NodesFile(size_t index) const;
  std::vector<std::string> Config(size_t index) const;
  absl::StatusOr<bool> Serves(const SpawnedServer& node) const;
  // When something that begins now has lasted for `patience`.
  std::chrono::steady_clock::time_point PatienceEnd() const;

  const SpawnedClusterOptions options_;
  std::unique_ptr<PrivateFolder> folder_;
  std::vector<std::shared_ptr<LoopbackPort>> ports_;
  std::vector<std::unique_ptr<LoopbackPort>> bus_ports_;
  std::vector<std::unique_ptr<SpawnedServer>> nodes_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_SPAWNED_CLUSTER_H_
