// NodeConnections: the connections of a client that uses several servers.
//
// Internal to the cluster and sentinel clients. Each server has a Client, which is created for the
// first request, and again for the first request after its connection was lost. It also has a pool
// of connections for blocking commands, which is independent of the Client.
//
// No request waits here for a server to come back: the owner decides which server a request goes
// to. After failed attempts to connect in a row the next one is made only after a wait (backoff.h,
// with Options::backoff_base and backoff_cap). Until then requests fail at once with the last
// failure. A connection that was lost before it answered a request counts as a failed attempt.
//
//   NodeConnections nodes(executor, options, hooks);
//   NodeRequest request(kind, commands, [](bool reached, absl::StatusOr<Reply> result) { ... });
//   nodes.Submit(address, request);
//
// Thread-safety: only on the executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_NODE_CONNECTIONS_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_NODE_CONNECTIONS_H_

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/blocking_pool.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// A request for one server. Destroying it abandons it.
class NodeRequest final : public store::Request {
 public:
  // Receives the result; `reached` is false if no connection could be made.
  using Done = std::function<void(bool reached, absl::StatusOr<store::Reply> result)>;

  // The commands must outlive the request.
  NodeRequest(Kind kind, std::span<const store::Command> commands, Done done)
      : Request(kind, commands), done_(std::move(done)) {}

  // Completes the request as unreachable. `done` may destroy the request.
  void FailUnreachable(absl::Status status) {
    reached_ = false;
    Complete(std::move(status));
  }

 private:
  void OnComplete(absl::StatusOr<store::Reply>&& result) override {
    const Done done = std::move(done_);
    done(reached_, std::move(result));
  }

  Done done_;
  bool reached_ = true;
};

class NodeConnections final : public store::RequestKeeper,
                              public std::enable_shared_from_this<NodeConnections> {
 public:
  // `options` are common to all servers: credentials, TLS, timeouts, the mapping of addresses.
  NodeConnections(boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Sends the request to the server at `address`, over a new connection if it has none. The
  // result is that of Client, or the status of the failed attempt to connect, as unreachable and
  // "not sent". Never completes a request during this call.
  void Submit(const TcpAddress& address, NodeRequest& request);
  void Abandon(store::Request& request) override;

  // Whether there is a connection to the server now.
  bool IsConnected(const TcpAddress& address) const;

  // The counters of all connections, closed ones included.
  Counters counters() const;

  // Closes the connections to a server in the next turn of the event loop; if requests still use
  // them, with a later request. Another request for the server takes this back.
  void Forget(const TcpAddress& address);

  // The options for one server: without the options that concern several servers, and without
  // reconnection.
  static Options ServerOptions(Options options);
  // The same for the server that is named `address`, with the address to connect to.
  static Options ServerOptionsAt(const Options& options, const TcpAddress& address);

  // The number of servers with connections or attempts to connect.
  size_t size() const { return nodes_.size(); }

  // Closes all connections and attempts. Requests under way fail; later ones are unreachable.
  void Close();

 private:
  struct Node {
    explicit Node(Backoff waits) : backoff(std::move(waits)) {}

    std::unique_ptr<Client> client;
    // For blocking commands, with the counters of its connections; made with the first client.
    std::shared_ptr<ClientContext> pool_context;
    std::shared_ptr<BlockingPool> pool;
    Backoff backoff;
    int64_t retry_at_us = 0;    // No attempt to connect is made before.
    absl::Status last_failure;  // Of an attempt to connect.
    bool forgotten = false;     // Forget() was called.

    // Whether no request and no attempt to connect refers to it.
    bool idle() const;
    std::optional<base::Task<void>> dialing;  // Set during an attempt to connect.
    std::list<NodeRequest*> waiting;
    std::list<NodeRequest*> served;  // Being completed after an attempt to connect.
  };

  struct ByHostAndPort {
    bool operator()(const TcpAddress& a, const TcpAddress& b) const {
      return std::tie(a.host, a.port) < std::tie(b.host, b.port);
    }
  };
  using Nodes = std::map<TcpAddress, Node, ByHostAndPort>;

  base::Task<void> Dial(TcpAddress address, Node& node);
  void FailLater(NodeRequest& request, Node& node);
  void Pass(Node& node, NodeRequest& request);
  void NoteLoss(Node& node);
  Options OptionsOf(const TcpAddress& address) const;
  void CloseForgottenLater();
  void CloseForgotten();
  void OnDialed(const TcpAddress& address, Node& node,
                absl::StatusOr<std::unique_ptr<Client>> client);
  void NoteFailure(const TcpAddress& address, const absl::Status& status);
  void Replace(Node& node, std::unique_ptr<Client> client);

  const boost::asio::any_io_executor executor_;
  const Options given_;    // With the mapping of addresses.
  const Options options_;  // For one server.
  const ClientHooks hooks_;
  base::Rng rng_;
  Counters gone_;  // Counters of replaced clients.
  bool closed_ = false;
  Nodes nodes_;
  // Requests that fail in the next turn of the event loop, and why.
  std::list<std::pair<NodeRequest*, absl::Status>> failing_;
  bool has_forgotten_ = false;  // CloseForgottenLater() has nodes to look at.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_NODE_CONNECTIONS_H_
