// Client: live Redis as a Store, on a Boost.Asio executor.
//
// One connection, TCP or Unix socket, multiplexed: any number of coroutines may await commands on
// it at once. What they issue in one turn of the event loop leaves in one write, replies are
// matched in order, and no reply reaches another's command.
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
// shares the client. What would change the connection for all of them (MULTI, EXEC, DISCARD,
// WATCH, UNWATCH by hand, SELECT, AUTH, RESET, QUIT), and what may block it (BLPOP, XREAD with
// BLOCK, WAIT...) is refused with FailedPrecondition unless the client was made kDedicated: then
// one line of control may use them, and has the connection to itself by its own discipline.
// Commands without exactly one RESP2 reply (SUBSCRIBE, MONITOR, HELLO, CLIENT REPLY) are refused
// always. A reply nested deeper than eight arrays cannot be read (reply_reader.h) and costs the
// connection.
//
// Errors, as statuses of errors.h: when the connection is lost, a command of which no byte was
// written fails as not sent, any other as outcome unknown; nothing is ever sent twice. A command
// that waits longer than Options::command_timeout fails with DeadlineExceeded, as not sent if it
// was still waiting to be written, else as outcome unknown; its late reply is dropped and the
// connection stays in use. Destroying a task that awaits a command does the same, silently. A
// client that lost its connection stays lost: make a new one.
//
// Destroy clients before the execution context, or let the context run until their tasks ended.
//
// Thread-safety: one thread or strand at a time, the one of the executor; waiters are resumed
// there. A waiter may destroy the client.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/net/counters.h"
#include "backends/redis/options.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::redis {

class Connection;

class Client final : public store::Store {
 public:
  // Connects, logs in and selects the database, all within Options::connect_timeout: one round
  // trip once the connection stands.
  //
  // Errors: InvalidArgument for invalid options; Unavailable when there is no way to the server
  // (unknown host, refused, no such socket); DeadlineExceeded; the server's own error, such as
  // Unauthenticated for a wrong password or InvalidArgument for a database it does not have. The
  // message names the address and the step, never the password. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<Client>>> Connect(
      boost::asio::any_io_executor executor, Options options, Sharing sharing = Sharing::kShared);

  // Closes the connection; requests under way fail as when it is lost.
  ~Client() override;

  void Submit(store::Request& request) override;

  // Closes the connection now. Later requests fail as not sent.
  void Close();

  // False once the connection is lost or closed.
  bool connected() const;
  const Options& options() const { return options_; }
  const Counters& counters() const;

 private:
  Client(Options options, std::shared_ptr<Connection> connection);

  const Options options_;
  const std::shared_ptr<Connection> connection_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_H_
