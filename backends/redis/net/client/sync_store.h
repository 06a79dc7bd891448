// SyncStore: a server, a cluster or a master that sentinels watch, by its URI, as a store::Store
// for programs and tests without an event loop.
//
//   auto store = redis::SyncStore::Connect("redis://node1:7000?cluster=yes");
//   if (!store.ok()) return store.status();
//   auto value = base::Run(store::Get(**store, "greeting"));
//
// It owns an event loop, and Submit runs it until the reply has arrived. The guarantees are those
// of the client that the URI selects: Client, ClusterClient or SentinelClient. For one server the
// connection is kShared by default: it reconnects (Options::reconnect), and MULTI, WATCH and SELECT
// by hand are refused, as for the other two. With kDedicated, which is for one server and has no
// effect on the others, they are allowed, and a lost connection stays lost. The event loop does not
// run between two calls, so a lost connection or a failover is noticed by the next command.
//
// Thread-safety: one thread at a time; different stores are independent.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_STORE_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_STORE_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

// Internal to SyncStore: one of the clients.
struct OpenedStore {
  std::unique_ptr<store::Store> store;  // Null once it has failed.
  std::function<bool()> is_closed;
  std::function<Counters()> counters;
};

class SyncStore final : public store::Store {
 public:
  // Returns once the server, the slot map or the master is found. Errors: as Client::Connect,
  // ClusterClient::Connect and SentinelClient::Connect.
  static absl::StatusOr<std::unique_ptr<SyncStore>> Connect(const Options& options,
                                                            Sharing sharing = Sharing::kShared);
  // The same with hooks, which are called inside Connect and Submit.
  static absl::StatusOr<std::unique_ptr<SyncStore>> Connect(const Options& options, Sharing sharing,
                                                            ClientHooks hooks);
  // The same for a URI. Errors: also those of Options::Parse.
  static absl::StatusOr<std::unique_ptr<SyncStore>> Connect(std::string_view uri,
                                                            Sharing sharing = Sharing::kShared);

  ~SyncStore() override;

  // Returns once the request is complete.
  void Submit(store::Request& request) override;

  // Handles what has happened since the last call, and returns false if the connection is lost for
  // good: a dedicated connection, or one of a URI with reconnect=no. Does not wait.
  bool IsUsable();
  // The counters of its connections.
  Counters counters() const;

 private:
  SyncStore();

  // One thread runs the loop; this hint avoids locks.
  boost::asio::io_context context_{1};
  OpenedStore opened_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_STORE_H_
