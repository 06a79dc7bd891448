// ClusterClient: a Redis Cluster as a store::Store, on a Boost.Asio executor.
//
// It is used like a client of one server: any number of coroutines await commands on it. Each
// command goes to the node that serves its keys, through one connection per node. The nodes are
// found through any reachable node; migrating slots (MOVED, ASK) and failovers are followed.
//
//   auto options = redis::Options::Parse("redis://node1:7000?cluster=yes&seeds=node2:7000");
//   auto cluster = co_await redis::ClusterClient::Connect(executor, *options);
//   if (!cluster.ok()) co_return;
//   co_await store::Set(**cluster, "user:7", "Ada");
//
// Differences from a single server:
// * A command, script or transaction whose keys belong to several slots fails with
//   FailedPrecondition before anything is sent: give such keys a common {hash tag}.
// * A pipeline is split by node. Its replies have the caller's order. Commands of one slot run in
//   that order, except during a migration of the slot; commands of different nodes run in any
//   order.
// * Commands that concern the whole keyspace (DBSIZE, KEYS, FLUSHALL, SCRIPT LOAD) go to all
//   masters, and SCAN visits one after the other (cluster_route.h). A SCAN during which the set of
//   masters changes may miss keys.
// * Commands that change the connection (MULTI, WATCH, SELECT by hand) fail as on a shared Client;
//   use a store::Batch for transactions.
// * Blocking commands have their own connections, at most Options::blocking_connections. If the
//   slot of a blocked command migrates, the MOVED of the node sends it to the new one.
//
// Delivery: as in Client, no command is sent twice silently. A redirection proves that the command
// was not run, so it is sent again; a connection that is lost before the reply makes the outcome
// unknown. Requests for an unreachable node wait within their timeout. cluster_machine.h has the
// table.
//
// Lifetime: destroy clients before the execution context, or run the context until their tasks have
// ended.
//
// Thread-safety: only on the executor, one thread or strand at a time; waiters are resumed there. A
// waiter may destroy the client.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLUSTER_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLUSTER_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class ClusterClient final : public store::Store {
 public:
  // Reads the slot map from the address of the options or, if it fails, from the seeds in turn.
  // Connections to nodes are made when they are first needed, with the options' credentials, TLS
  // settings and timeouts. Round trips: one to the first node that answers.
  //
  // Errors: InvalidArgument for invalid options and for options without `cluster`. If no node
  // returns a map, the error of the last one: as Client::Connect, or the server's error if it is
  // not a cluster node. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connections; requests under way fail as after a loss.
  ~ClusterClient() override;

  void Submit(store::Request& request) override;

  // Closes the connections now. Later requests fail as "not sent".
  void Close();

  const Options& options() const;
  // The current slot map of the client.
  const SlotMap& map() const;

  // The options for a Subscriber or a Client of the master that serves the slot of `key`, which may
  // be a shard channel. They do not reconnect, because another node may serve the slot after a
  // loss. Errors: Unavailable if no master is known for the slot.
  absl::StatusOr<Options> OptionsOfMaster(std::string_view key) const;
  // The map may be out of date: reads it again, not sooner than Options::refresh_interval allows.
  void Refresh();
  // Called on the executor whenever the map was read or has changed. Must not destroy the client.
  // Null: nothing is called.
  void set_on_topology(std::function<void()> on_topology);
  // Counters of redirections and map reads.
  const ClusterCounters& counters() const;
  // The counters of all connections, closed ones included. O(nodes).
  Counters traffic() const;

 private:
  class Core;

  explicit ClusterClient(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLUSTER_CLIENT_H_
