// SyncClient: live Redis as a store::Store for programs and tests without an event loop.
//
// It owns an event loop, and Submit runs it until the reply has arrived. Every task over this store
// is therefore done at once, and base::Run() can run it, as on the memory engine.
//
//   auto client = redis::SyncClient::Connect("redis://127.0.0.1:6379");
//   if (!client.ok()) return client.status();
//   auto value = base::Run(store::Get(**client, "greeting"));
//
// By default the connection is kDedicated: MULTI, WATCH and SELECT by hand and blocking commands
// are allowed, and a lost connection stays lost. With kShared the client reconnects, and blocking
// commands get their own connections (client.h). Errors are those of Client. If the server closed
// the connection while the client was idle, the client notices before it writes the next command,
// which then fails as "not sent" (kDedicated) or waits for the next connection (kShared).
//
// Thread-safety: one thread at a time; different clients are independent.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_CLIENT_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_CLIENT_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class SyncClient final : public store::Store {
 public:
  // Returns once the client is connected and authenticated. Errors: as Client::Connect.
  static absl::StatusOr<std::unique_ptr<SyncClient>> Connect(const Options& options,
                                                             Sharing sharing = Sharing::kDedicated);
  // The same for a URI. Errors: also those of Options::Parse.
  static absl::StatusOr<std::unique_ptr<SyncClient>> Connect(std::string_view uri,
                                                             Sharing sharing = Sharing::kDedicated);
  // The same with callbacks for connections that are made and lost. They are called inside Connect
  // and Submit.
  static absl::StatusOr<std::unique_ptr<SyncClient>> Connect(const Options& options,
                                                             Sharing sharing, ClientHooks hooks);

  ~SyncClient() override;

  // Returns once the request is complete.
  void Submit(store::Request& request) override;

  // False if the connection is known to be lost.
  bool connected() const;
  const Options& options() const;
  const Counters& counters() const;

 private:
  struct Loop;

  SyncClient();

  // The event loop and the client on it, apart so that this header needs none of Asio's.
  const std::unique_ptr<Loop> loop_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_SYNC_CLIENT_H_
