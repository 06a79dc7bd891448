// Client: live Redis as a store::Store, on a Boost.Asio executor.
//
// It multiplexes one connection (TCP, TLS or Unix socket): any number of coroutines may await
// commands on it at once. Commands issued in one turn of the event loop leave in one write, and
// replies are matched in order.
//
//   boost::asio::io_context context;
//   base::Task<void> Work(boost::asio::any_io_executor executor) {
//     auto client = co_await redis::Client::Connect(executor, *redis::Options::Parse(uri));
//     if (!client.ok()) co_return;
//     auto value = co_await store::Get(**client, "greeting");
//   }
//   redis::SpawnTask(context.get_executor(), Work(context.get_executor()));  // await_task.h
//   context.run();
//
// Commands:
// * Transactions (store::Batch) and scripts are atomic, also on a shared client.
// * Blocking commands (BLPOP, XREAD with BLOCK, WAIT...) get their own connections from a pool
//   (blocking_pool.h).
// * Commands that change the connection (MULTI, EXEC, DISCARD, WATCH, UNWATCH by hand, SELECT,
//   AUTH, RESET, QUIT) fail with FailedPrecondition on a shared client. A client of kDedicated
//   allows them, to one caller at a time.
// * Commands without exactly one RESP2 reply (SUBSCRIBE, MONITOR, HELLO, CLIENT REPLY) always fail
//   with FailedPrecondition; see subscriber.h.
//
// Reconnection: a shared client reconnects (Options::reconnect) with exponential backoff and full
// jitter (run_machine.h); requests submitted in the meantime wait for the connection. A dedicated
// client stays disconnected, because the state set by MULTI, WATCH or SELECT is lost with its
// connection: make a new client.
//
// Delivery: no command is ever sent twice silently. When the connection is lost, a command of which
// no byte was written fails as "not sent", any other as "outcome unknown" (core/store/errors.h),
// unless Options::retry allows more; exec_machine.h states the full promise. A command that exceeds
// Options::command_timeout fails with DeadlineExceeded: as "not sent" if it was still waiting to be
// written, else as "outcome unknown". Its late reply is dropped, and the connection stays in use.
// Destroying a task that awaits a command has the same effect, without a status; a blocked command
// is cancelled at the server.
//
// RESP3 and client-side caching: with protocol=3 the server may send pushes (ClientHooks::push).
// With cache_bytes, a shared client keeps replies to commands that read, and the server invalidates
// them (fsm/cache/tracking_cache.h); counters() has hits and misses:
//
//   redis://cache.example?protocol=3&cache_bytes=16777216
//
// A server that refuses HELLO 3 or CLIENT TRACKING is used without a cache.
//
// Lifetime: destroy clients before the execution context, or run the context until their tasks have
// ended.
//
// Thread-safety: only on the executor, one thread or strand at a time; waiters are resumed there. A
// waiter may destroy the client. If several threads run the io_context, pass a strand to Connect as
// its executor and run all users of the client on it (AwaitTaskOn, await_task.h).
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class BlockingPool;
class Connection;
struct ClientContext;

class Client final : public store::Store {
 public:
  // Connects, authenticates and selects the database, within Options::connect_timeout. `sharing` is
  // kShared or kDedicated. Round trips: one after the connection is established.
  //
  // Errors: InvalidArgument for invalid options; Unavailable if the server cannot be reached
  // (unknown host, connection refused, no such socket); DeadlineExceeded; the server's own error,
  // such as Unauthenticated for a wrong password or InvalidArgument for an unknown database. The
  // message names the address and the step, never the password. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<Client>>> Connect(
      boost::asio::any_io_executor executor, Options options, Sharing sharing = Sharing::kShared);
  static base::Task<absl::StatusOr<std::unique_ptr<Client>>> Connect(
      boost::asio::any_io_executor executor, Options options, Sharing sharing, ClientHooks hooks);

  // Returns a shared client at once, without a connection. It connects from the next turn of the
  // event loop on, as after a loss: requests wait for the connection within their timeout. Errors:
  // InvalidArgument for invalid options.
  static absl::StatusOr<std::unique_ptr<Client>> Create(boost::asio::any_io_executor executor,
                                                        Options options,
                                                        ClientHooks hooks = ClientHooks());

  // Closes the connection; requests under way fail as after a loss.
  ~Client() override;

  void Submit(store::Request& request) override;

  // Closes the connection now. Later requests fail as "not sent".
  void Close();

  // Whether there is a connection now. A shared client may reconnect later.
  bool connected() const;
  // Whether there is no connection and there will be none: after Close(), or after a loss without
  // reconnection.
  bool closed() const;
  const Options& options() const;
  // The counters of all its connections.
  const Counters& counters() const;

 private:
  Client(std::shared_ptr<ClientContext> context, std::shared_ptr<Connection> connection,
         Sharing sharing);

  void Pass(store::Request& request);
  void CloseAll(std::string_view reason);

  const std::shared_ptr<ClientContext> context_;
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<BlockingPool> pool_;  // Null unless the client is shared.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_CLIENT_H_
