// NodeLines: the connections of a client that talks to several servers.
//
// Internal to the cluster and sentinel clients. Each server has a Client, made when the first
// request for it comes, and made anew by the first request after it was lost: which server a
// request goes to is decided above, so none waits here for one to come back.
//
//   NodeLines lines(executor, options, hooks);
//   NodeRequest request(kind, commands, [](bool reached, absl::StatusOr<Reply> result) { ... });
//   lines.Submit(address, request);
//
// Thread-safety: one thread or strand at a time, the one of the executor.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_NODE_LINES_H_
#define REDOUBLE_BACKENDS_REDIS_NET_NODE_LINES_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/net/client.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/options.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

// A request that NodeLines sends. Destroying it takes it back.
class NodeRequest final : public store::Request {
 public:
  // How it ended: with a result, or because no connection could be made.
  using Done = std::function<void(bool reached, absl::StatusOr<store::Reply> result)>;

  // The commands must outlive the request.
  NodeRequest(Kind kind, std::span<const store::Command> commands, Done done)
      : Request(kind, commands), done_(std::move(done)) {}

  // `done` is called with the request's end and may destroy it.
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

class NodeLines final : public store::RequestKeeper,
                        public std::enable_shared_from_this<NodeLines> {
 public:
  // What is the same for all servers: login, TLS, time-outs, whom to tell.
  NodeLines(boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Sends the request to the server at `address`, over a connection that is made when there is
  // none. It ends with what Client says, or as unreachable and not sent, with the status of the
  // failed attempt.
  void Submit(const TcpAddress& address, NodeRequest& request);
  void Abandon(store::Request& request) override;

  // Whether there is a connection to the server now.
  bool IsConnected(const TcpAddress& address) const;

  // Of all connections, those that are gone included.
  Counters counters() const;

  // The options of one server among several: without those that mean something to several only, and
  // without a reconnection of its own.
  static Options ServerOptions(Options options);

  // Closes all connections and attempts. Requests under way fail; later ones are unreachable.
  void Close();

 private:
  struct Line {
    std::unique_ptr<Client> client;
    // While an attempt to connect is made.
    std::unique_ptr<boost::asio::cancellation_signal> dialing;
    std::list<NodeRequest*> waiting;
    std::list<NodeRequest*> served;  // Whose attempt is over; they are just being told.
  };

  void Dial(const TcpAddress& address, Line& line);
  void OnDialed(const TcpAddress& address, Line& line,
                absl::StatusOr<std::unique_ptr<Client>> client);
  void NoteFailure(const TcpAddress& address, const absl::Status& status);
  void Replace(Line& line, std::unique_ptr<Client> client);

  const boost::asio::any_io_executor executor_;
  const Options options_;
  const ClientHooks hooks_;
  Counters gone_;  // Of the clients that were replaced.
  bool closed_ = false;
  std::map<std::string, Line> lines_;  // By host and port.
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_NODE_LINES_H_
