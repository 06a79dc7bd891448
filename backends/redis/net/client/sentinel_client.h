// SentinelClient: the master that sentinels watch, as a store::Store, on a Boost.Asio executor.
//
// It asks the sentinels for the master, verifies its role with ROLE, and follows it when a failover
// makes another server the master: after a +switch-master message, a lost connection, or a READONLY
// reply.
//
//   auto options = redis::Options::Parse(
//       "redis://sentinel1:26379?sentinel_master=mymaster&seeds=sentinel2:26379");
//   auto client = co_await redis::SentinelClient::Connect(executor, *options);
//   if (!client.ok()) co_return;
//   co_await store::Set(**client, "user:7", "Ada");
//
// Guarantees: as a shared Client, with one difference: requests wait for a master within their
// timeout. Delivery: no command is sent twice silently. A command with a READONLY reply was not run
// and is sent to the next master; sentinel_machine.h has the table. Redis replicates
// asynchronously: a failover loses writes that the old master acknowledged but did not replicate.
// WAIT reports the number of replicas that have a write.
//
// Lifetime: destroy clients before the execution context, or run the context until their tasks have
// ended.
//
// Thread-safety: only on the executor, one thread or strand at a time; waiters are resumed there. A
// waiter may destroy the client.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SENTINEL_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SENTINEL_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class SentinelClient final : public store::Store {
 public:
  // Asks the address of the options or, if it fails, the seeds in turn for the master, and connects
  // to it with the options' user, password and database. sentinel_user and sentinel_password
  // authenticate at the sentinels. Round trips: one to a sentinel and one to the master, if both
  // answer.
  //
  // Errors: InvalidArgument for invalid options and for options without sentinel_master; NotFound
  // if no sentinel knows a master of that name; Unavailable if no sentinel can be reached, or if
  // the named server is not a master. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connections; requests under way fail as after a loss.
  ~SentinelClient() override;

  void Submit(store::Request& request) override;

  // Closes the connections now. Later requests fail as "not sent".
  void Close();

  const Options& options() const;
  // The current master; nullopt while it is being searched.
  std::optional<TcpAddress> master() const;
  // The master may have changed: the sentinels are asked, not sooner than
  // Options::refresh_interval allows.
  void Refresh();
  // Called on the executor whenever the master was found or lost. Must not destroy the client.
  // Null: nothing is called.
  void set_on_topology(std::function<void()> on_topology);
  // Counters of searches and found masters.
  const SentinelCounters& counters() const;
  // The counters of the connections to masters, closed ones included.
  Counters traffic() const;

 private:
  class Core;

  explicit SentinelClient(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SENTINEL_CLIENT_H_
