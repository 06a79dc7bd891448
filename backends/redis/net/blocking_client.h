// BlockingClient: live Redis as a Store for plain programs and tests, without an event loop.
//
// It owns its event loop; Submit runs that until the reply is there, so that every task over it
// finishes at once and base::Run() can run it, as on the memory engine.
//
//   auto client = redis::BlockingClient::Connect("redis://127.0.0.1:6379");
//   if (!client.ok()) return client.status();
//   auto value = base::Run(store::Get(**client, "greeting"));
//
// By default the connection is kDedicated: MULTI, WATCH, SELECT by hand and blocking commands work,
// and a connection that is lost stays lost, with what they had set up. A program that wants none of
// that by hand takes kShared: then the client makes a new connection by itself, and blocking
// commands get connections of their own (client.h). Errors are those of Client. A connection that
// the server has closed while the client was idle is noticed before the next command is written,
// which then fails as not sent (kDedicated) or waits for the next connection (kShared).
//
// Thread-safety: one thread at a time; different clients are independent.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_CLIENT_H_

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/fsm/command_effect.h"
#include "backends/redis/net/client.h"
#include "backends/redis/options.h"
#include "core/store/store.h"

namespace redouble::redis {

class BlockingClient final : public store::Store {
 public:
  // Blocks until the client is connected and logged in. Errors: as Client::Connect.
  static absl::StatusOr<std::unique_ptr<BlockingClient>> Connect(
      const Options& options, Sharing sharing = Sharing::kDedicated);
  // The same by URI. Errors: also those of Options::Parse.
  static absl::StatusOr<std::unique_ptr<BlockingClient>> Connect(
      std::string_view uri, Sharing sharing = Sharing::kDedicated);

  ~BlockingClient() override;

  // Blocks until the request is complete.
  void Submit(store::Request& request) override;

  // False while the connection is known to be lost.
  bool connected() const { return client_->connected(); }
  const Options& options() const { return client_->options(); }
  const Counters& counters() const { return client_->counters(); }

 private:
  BlockingClient();

  // The hint spares the locks: one thread runs the loop.
  boost::asio::io_context context_{1};
  std::unique_ptr<Client> client_;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_BLOCKING_CLIENT_H_
