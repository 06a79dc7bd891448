// LiveTest: a fixture with a redis-server, an event loop and helpers to run tasks on it.
//
//   class ReconnectTest : public LiveTest {
//     void SetUp() override { StartServer({}); }
//   };
//   ...
//   auto client = Connect(server->uri());
//   EXPECT_THAT(Run(store::Get(**client, "key")), IsOk());
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class LiveTest : public testing::Test {
 protected:
  void StartServer(const SpawnedServerOptions& options) {
    absl::StatusOr<std::unique_ptr<SpawnedServer>> started = SpawnedServer::Start(options);
    ASSERT_THAT(started, base::IsOk());
    server = std::move(started).value();
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
    return Run(Client::Connect(context.get_executor(), Options::Parse(uri).value(),
                               Sharing::kShared, std::move(hooks)));
  }
  // Sends one command, given by its words.
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

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_LIVE_FIXTURE_FOR_TEST_H_
