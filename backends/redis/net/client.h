// Client: live Redis as a Store, on a Boost.Asio executor.
//
// One connection (TCP, TLS or Unix socket), multiplexed: any number of coroutines may await
// commands on it at once. What they issue in one turn of the event loop leaves in one write,
// replies are matched in order, and no reply reaches another's command.
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
// What it promises as a Store: a transaction (store::Batch) and a script are atomic, whoever else
// shares the client. Commands that block (BLPOP, XREAD with BLOCK, WAIT...) get connections of
// their own, from a pool (blocking_pool.h). What would change the connection for all coroutines
// (MULTI, EXEC, DISCARD, WATCH, UNWATCH by hand, SELECT, AUTH, RESET, QUIT) is refused with
// FailedPrecondition unless the client was made kDedicated: then one line of control may use them,
// and has the one connection to itself by its own discipline. Commands without exactly one RESP2
// reply (SUBSCRIBE, MONITOR, HELLO, CLIENT REPLY) are refused always; see subscriber.h.
//
// Losing the connection: a shared client makes a new one (Options::reconnect), with exponential
// backoff and full jitter (fsm/run_machine.h), and requests submitted meanwhile wait for it. A
// dedicated client stays lost, since what MULTI, WATCH or SELECT had set up is gone with its
// connection: make a new one.
//
// Delivery: nothing is ever sent twice silently. When the connection is lost, a command of which no
// byte was written fails as not sent, any other as outcome unknown (errors.h), unless
// Options::retry asks for more; the promise in full stands in fsm/exec_machine.h. A command that
// waits longer than Options::command_timeout fails with DeadlineExceeded, as not sent if it was
// still waiting to be written, else as outcome unknown; its late reply is dropped and the
// connection stays in use. Destroying a task that awaits a command does the same, silently; one
// that blocks is taken back.
//
// Destroy clients before the execution context, or let the context run until their tasks ended.
//
// Thread-safety: one thread or strand at a time, the one of the executor; waiters are resumed
// there. A waiter may destroy the client. An io_context that several threads run shares a client
// through a strand: give Connect the strand as its executor, and run on it what uses the client
// (AwaitTaskOn, await_task.h).
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/options.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::redis {

class BlockingPool;
class Connection;
struct ClientContext;

class Client final : public store::Store {
 public:
  // Connects, logs in and selects the database, all within Options::connect_timeout: one round
  // trip once the connection stands.
  //
  // Errors: InvalidArgument for invalid options; Unavailable when there is no way to the server
  // (unknown host, refused, no such socket); DeadlineExceeded; the server's own error, such as
  // Unauthenticated for a wrong password or InvalidArgument for a database it does not have. The
  // message names the address and the step, never the password. Destroying the task gives up.
  // `sharing` is kShared or kDedicated.
  static base::Task<absl::StatusOr<std::unique_ptr<Client>>> Connect(
      boost::asio::any_io_executor executor, Options options, Sharing sharing = Sharing::kShared);
  static base::Task<absl::StatusOr<std::unique_ptr<Client>>> Connect(
      boost::asio::any_io_executor executor, Options options, Sharing sharing, ClientHooks hooks);

  // A shared client at once, which connects by itself from the event loop's next turn on, as after
  // a loss: requests wait for the connection, however many attempts it takes.
  // Errors: InvalidArgument for invalid options.
  static absl::StatusOr<std::unique_ptr<Client>> Create(boost::asio::any_io_executor executor,
                                                        Options options,
                                                        ClientHooks hooks = ClientHooks());

  // Closes the connection; requests under way fail as when it is lost.
  ~Client() override;

  void Submit(store::Request& request) override;

  // Closes the connection now. Later requests fail as not sent.
  void Close();

  // Whether there is a connection now. One that is lost comes back when the client reconnects.
  bool connected() const;
  // True when there is none and none will come: after Close(), or a loss without reconnection.
  bool closed() const;
  const Options& options() const;
  // Of all its connections.
  const Counters& counters() const;

 private:
  Client(std::shared_ptr<ClientContext> context, std::shared_ptr<Connection> connection,
         Sharing sharing);

  void CloseAll(std::string_view reason);

  const std::shared_ptr<ClientContext> context_;
  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<BlockingPool> pool_;  // Null for a dedicated client.
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_
