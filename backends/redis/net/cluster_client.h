// ClusterClient: a Redis Cluster as a Store, on a Boost.Asio executor.
//
// It looks like one server: any number of coroutines await commands on it, and each goes to the
// node that serves its keys, through one connection per node. Nodes are found from any that is
// reachable; slots that move (MOVED, ASK) and masters that fail over are followed.
//
//   auto options = redis::Options::Parse("redis://node1:7000?cluster=yes&seeds=node2:7000");
//   auto cluster = co_await redis::ClusterClient::Connect(executor, *options);
//   if (!cluster.ok()) co_return;
//   co_await store::Set(**cluster, "user:7", "Ada");
//
// What a cluster does to a Store's promises:
// * a command, script or transaction whose keys belong to several slots is refused with
//   FailedPrecondition before anything is sent: give such keys a common {hash tag};
// * a pipeline is split by node; its replies have the caller's order, and commands of one slot run
//   in that order, unless that slot is just being moved; commands of different nodes run in any
//   order;
// * commands that concern the whole keyspace (DBSIZE, KEYS, FLUSHALL, SCRIPT LOAD) go to all
//   masters, and SCAN visits one after the other (cluster_route.h); a SCAN during which the set of
//   masters changes may miss keys;
// * what depends on one connection's state (MULTI, WATCH, SELECT by hand) is refused, as by a
//   shared Client; transactions are batches;
// * blocking commands have connections of their own, Options::blocking_connections at most; one
//   whose slot moves away while it blocks is sent on by the node's MOVED.
//
// Delivery: as Client, nothing is sent twice silently. A redirection says that the command was not
// run, so it is sent on; a connection that is lost before the reply makes the outcome unknown.
// What waits for a node that is down waits within its time-out: cluster_machine.h has the table.
//
// Destroy clients before the execution context, or let the context run until their tasks ended.
//
// Thread-safety: one thread or strand at a time, the one of the executor; waiters are resumed
// there. A waiter may destroy the client.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLUSTER_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLUSTER_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/cluster_machine.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/options.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::redis {

class ClusterClient final : public store::Store {
 public:
  // Asks the address of the options, then the seeds, for the slot map: one round trip to the first
  // that answers. Nodes are connected to when they are first needed, with the options' login, TLS
  // and time-outs.
  //
  // Errors: InvalidArgument for invalid options, for options without `cluster`;
  // when no node gives a map, why the last of them did not, as Client::Connect says it, or
  // the server's error when it is no cluster. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connections; requests under way fail as when they are lost.
  ~ClusterClient() override;

  void Submit(store::Request& request) override;

  // Closes the connections now. Later requests fail as not sent.
  void Close();

  const Options& options() const;
  // What the client believes of the cluster.
  const SlotMap& map() const;

  // The options of a Subscriber, or of a Client, of the master that serves the slot of `key`, which
  // may be a shard channel; they do not reconnect, since the slot may be served elsewhere then.
  // Errors: Unavailable while nobody is known to serve the slot.
  absl::StatusOr<Options> OptionsOfMaster(std::string_view key) const;
  // How requests found their nodes.
  const ClusterCounters& counters() const;
  // Of the connections to all nodes, those that are gone included. O(nodes).
  Counters traffic() const;

 private:
  class Core;

  explicit ClusterClient(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLUSTER_CLIENT_H_
