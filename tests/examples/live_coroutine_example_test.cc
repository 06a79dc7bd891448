// The same tasks among the coroutines of an Asio program, and without an event loop.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "redouble/backends/redis/net/await_task.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble {
namespace {

// [readme: coroutine]
// One client for the whole program; any number of coroutines may await commands on it.
boost::asio::awaitable<absl::StatusOr<int64_t>> CountVisit(redis::Client& client) {
  co_return co_await redis::AwaitTask(store::Incr(client, "visits"));
}

boost::asio::awaitable<absl::StatusOr<int64_t>> Program(boost::asio::any_io_executor executor,
                                                        std::string uri) {
  absl::StatusOr<redis::Options> options = redis::Options::Parse(uri);
  if (!options.ok()) co_return options.status();
  auto client = co_await redis::AwaitTask(redis::Client::Connect(executor, *std::move(options)));
  if (!client.ok()) co_return client.status();
  co_return co_await CountVisit(**client);
}
// [end]

// [readme: blocking]
// No event loop: each call blocks until the reply arrives, and the client reconnects after a loss.
absl::StatusOr<int64_t> CountVisitAndWait(std::string_view uri) {
  auto client = redis::SyncClient::Connect(uri, redis::Sharing::kShared);
  if (!client.ok()) return client.status();
  return base::Run(store::Incr(**client, "visits"));
}
// [end]

TEST(LiveCoroutineExample, CountsOnARealServer) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  boost::asio::io_context context;
  auto visits = boost::asio::co_spawn(context, Program(context.get_executor(), (*server)->uri()),
                                      boost::asio::use_future);
  context.run();
  const absl::StatusOr<int64_t> first = visits.get();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, 1);
  const absl::StatusOr<int64_t> second = CountVisitAndWait((*server)->uri());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(*second, 2);
}

}  // namespace
}  // namespace redouble
