// The guide to production: the service of the guides on a live Redis.
// [readme: production]
#include <iostream>
#include <memory>

#include "cart.h"
#include "redouble/redis.h"

namespace redis = redouble::redis;

// Connects, and again after each connection that is lost. "redis://user:password@host:6379/0"
absl::StatusOr<std::unique_ptr<redis::SyncClient>> ConnectToRedis(std::string_view uri) {
  REDOUBLE_ASSIGN_OR_RETURN(redis::Options options, redis::Options::Parse(uri));
  options.client_name = "carts";
  redis::ClientHooks hooks;
  hooks.log = [](const redis::LogEvent& event) {
    std::cerr << redis::LogEventName(event.kind) << " " << event.address << " " << event.text
              << "\n";
  };
  return redis::SyncClient::Connect(options, redis::Sharing::kShared, hooks);
}

// Adds an article. Sends the command again only if it was certainly not executed.
absl::StatusOr<int64_t> AddToCart(store::Store& redis, std::string_view user,
                                  std::string_view article) {
  Cart cart(redis, user);
  absl::StatusOr<int64_t> count = base::Run(cart.Add(article));
  if (store::ErrorKindOf(count.status()) == store::ErrorKind::kNotSent) {
    count = base::Run(cart.Add(article));
  }
  return count;
}
// [end]

// [readme: a trace]
#include "redouble/sim.h"

// Writes a line for each request and its reply. `file` and `clock` must outlive the client.
redis::CommandHook TraceTo(std::ostream& file, const base::Clock& clock) {
  const auto trace = std::make_shared<redouble::sim::Trace>(
      clock, [&file](std::string_view line) { file << line << std::endl; });
  return [trace](const redis::CommandEvent& event) {
    if (event.result != nullptr) trace->AddRequest("carts", *event.request, *event.result);
  };
}
// [end]

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/testing.h"

namespace {

using redouble::testing::IsOkAndHolds;
using ::testing::MatchesRegex;

TEST(Production, AddsOnARealServer) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  const auto client = ConnectToRedis((*server)->uri());
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_THAT(AddToCart(**client, "alice", "book"), IsOkAndHolds(1));
  EXPECT_THAT(AddToCart(**client, "alice", "book"), IsOkAndHolds(2));
}

TEST(Production, WritesATrace) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  std::ostringstream file;
  const base::SystemClock clock;
  redis::ClientHooks hooks;
  hooks.command = TraceTo(file, clock);
  const auto client = redis::SyncClient::Connect(redis::Options::Parse((*server)->uri()).value(),
                                                 redis::Sharing::kShared, hooks);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_THAT(AddToCart(**client, "alice", "book"), IsOkAndHolds(1));
  EXPECT_THAT(
      file.str(),
      MatchesRegex(
          R"(\{"index":0,"us":[0-9]+,"client":"carts","command":\["HINCRBY","cart:alice","book","1"\],"reply":1\}
\{"index":1,"us":[0-9]+,"client":"carts","command":\["EXPIRE","cart:alice","1800"\],"reply":1\}
)"));
}

TEST(Production, RefusesAUriWithAnUnknownOption) {
  EXPECT_FALSE(ConnectToRedis("redis://127.0.0.1/?pool=5").ok());
}

TEST(Production, RepeatsWhatWasNotSentOnly) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect({redouble::testing::LoseNth("HINCRBY", 1)});
  EXPECT_EQ(store::ErrorKindOf(AddToCart(*client, "alice", "book").status()),
            store::ErrorKind::kOutcomeUnknown);
  const auto cut_off = redis.Connect(
      {{.fault = redouble::sim::Fault::kDisconnect, .command = "HINCRBY", .limit = 1}});
  EXPECT_THAT(AddToCart(*cut_off, "alice", "book"), IsOkAndHolds(1));
}

}  // namespace
