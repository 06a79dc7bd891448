// BlockingStore: whatever a URI names, a server, a cluster or a master that sentinels watch, as a
// Store for plain programs and tests without an event loop.
//
//   auto store = redis::BlockingStore::Connect("redis://node1:7000?cluster=yes");
//   if (!store.ok()) return store.status();
//   auto value = base::Run(store::Get(**store, "greeting"));
//
// It owns its event loop; Submit runs that until the reply is there. What the store promises is
// what the client behind it does: Client as in BlockingClient, for one server; ClusterClient;
// SentinelClient. Between two calls nothing runs: a failover is noticed by the next command.
//
// Thread-safety: one thread at a time; different stores are independent.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_STORE_H_
#define REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_STORE_H_

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/options.h"
#include "core/store/store.h"

namespace redouble::redis {

class BlockingStore final : public store::Store {
 public:
  // Blocks until the server, the cluster's map or the master is found. Errors: as Client::Connect,
  // ClusterClient::Connect and SentinelClient::Connect.
  static absl::StatusOr<std::unique_ptr<BlockingStore>> Connect(const Options& options);
  // The same by URI. Errors: also those of Options::Parse.
  static absl::StatusOr<std::unique_ptr<BlockingStore>> Connect(std::string_view uri);

  ~BlockingStore() override;

  // Blocks until the request is complete.
  void Submit(store::Request& request) override;

 private:
  BlockingStore();

  // The hint spares the locks: one thread runs the loop.
  boost::asio::io_context context_{1};
  std::unique_ptr<store::Store> store_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_STORE_H_
