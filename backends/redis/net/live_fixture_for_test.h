// What tests against a redis-server of their own share: a server, an event loop, clients.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/redis/net/client.h"
#include "backends/redis/spawn/spawned_server.h"
#include "core/base/run.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::redis {

class LiveTest : public testing::Test {
 protected:
  void StartServer(const SpawnedServerOptions& options) {
    absl::StatusOr<std::unique_ptr<SpawnedServer>> started = SpawnedServer::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
  }
  bool Step() {
    if (context.stopped()) context.restart();
    return context.run_one() > 0;
  }
  template <typename T>
  T Run(base::Task<T> task) {
    return base::RunUntilDone(std::move(task), [this] { return Step(); });
  }
  template <typename Condition>
  void RunUntil(Condition condition) {
    while (!condition()) ASSERT_TRUE(Step());
  }
  absl::StatusOr<std::unique_ptr<Client>> Connect(const std::string& uri, ClientHooks hooks = {}) {
    return Run(Client::Connect(context.get_executor(), *Options::Parse(uri), Sharing::kShared,
                               std::move(hooks)));
  }
  // One command, by its words.
  absl::StatusOr<store::Reply> Send(store::Store& store, std::vector<std::string_view> words) {
    return Run(SendWords(store, std::move(words)));
  }
  static base::Task<absl::StatusOr<store::Reply>> SendWords(store::Store& store,
                                                            std::vector<std::string_view> words) {
    const store::Command command = store::Command::Named(words[0], std::span(words).subspan(1));
    co_return co_await store.Execute(command);
  }

  std::unique_ptr<SpawnedServer> server;
  boost::asio::io_context context;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_
