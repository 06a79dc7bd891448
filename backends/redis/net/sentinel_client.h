// SentinelClient: the master that sentinels watch, as a Store, on a Boost.Asio executor.
//
// It finds the master by asking the sentinels, makes sure of it with ROLE, and follows it when a
// failover makes another server master: told by a sentinel (+switch-master), or because the
// connection is lost or the old master answers READONLY.
//
//   auto options = redis::Options::Parse(
//       "redis://sentinel1:26379?sentinel_master=mymaster&seeds=sentinel2:26379");
//   auto client = co_await redis::SentinelClient::Connect(executor, *options);
//   if (!client.ok()) co_return;
//   co_await store::Set(**client, "user:7", "Ada");
//
// What it promises as a Store is what a shared Client promises, with one difference: requests wait
// for a master as long as their time-out allows. Delivery: nothing is sent twice silently; a
// command that was answered READONLY was not run and is sent to the next master;
// sentinel_machine.h has the table. What the old master acknowledged and had not yet passed on to
// its replica is lost by the failover, as always with Redis's replication: WAIT tells.
//
// Destroy clients before the execution context, or let the context run until their tasks ended.
//
// Thread-safety: one thread or strand at a time, the one of the executor; waiters are resumed
// there. A waiter may destroy the client.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_SENTINEL_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_SENTINEL_CLIENT_H_

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/counters.h"
#include "backends/redis/fsm/sentinel_machine.h"
#include "backends/redis/net/client_hooks.h"
#include "backends/redis/options.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::redis {

class SentinelClient final : public store::Store {
 public:
  // Asks the address of the options, then the seeds, for the master; logs in there with the
  // options' user, password and database, at the sentinels with sentinel_user and
  // sentinel_password.
  //
  // Errors: InvalidArgument for invalid options and for options without sentinel_master; NotFound
  // when no sentinel knows a master of that name; Unavailable when no sentinel can be reached, or
  // what they name is no master. Destroying the task gives up.
  static base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> Connect(
      boost::asio::any_io_executor executor, Options options);
  static base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> Connect(
      boost::asio::any_io_executor executor, Options options, ClientHooks hooks);

  // Closes the connections; requests under way fail as when they are lost.
  ~SentinelClient() override;

  void Submit(store::Request& request) override;

  // Closes the connections now. Later requests fail as not sent.
  void Close();

  const Options& options() const;
  // The master; none while it is being looked for.
  std::optional<TcpAddress> master() const;
  // How the master was found.
  const SentinelCounters& counters() const;
  // Of the connections to masters, those that are gone included.
  Counters traffic() const;

 private:
  class Core;

  explicit SentinelClient(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_SENTINEL_CLIENT_H_
