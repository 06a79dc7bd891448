// The program of docs/systems/relayna.md, in memory and on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/redis.h"
#include "redouble/relayna.h"
#include "redouble/store.h"
#include "redouble/testing.h"

namespace redouble {
namespace {

using testing::IsOkAndHolds;

// [readme: program]
// Stores two statuses and an observation of a task, and returns the length of the service's feed.
base::Task<absl::StatusOr<size_t>> Program(store::Store& redis) {
  const std::pair<std::string_view, std::string_view> variables[] = {
      {"RELAYNA_STORE_TTL_SECONDS", "3600"}, {"RELAYNA_DLQ_STORE_PREFIX", "relayna"}};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto settings, relayna::ReadSdkSettings(variables));
  relayna::Sdk sdk(redis, settings);

  for (const std::string_view status : {"queued", "completed"}) {
    const python::Value event = python::Object({{"task_id", "t1"}, {"status", status}});
    REDOUBLE_CO_RETURN_IF_ERROR(co_await sdk.statuses().SetHistory("t1", event));
  }
  const relayna::Observation received = {
      "TaskMessageReceived",
      python::Object({{"task_id", "t1"}, {"timestamp", "2026-01-01T11:00:00+00:00"}})};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await sdk.observations()->SetEvent(received)).status());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto latest, co_await sdk.statuses().GetLatest("t1"));
  std::cout << *latest->Find("status")->text() << "\n";
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto history, co_await sdk.observations()->GetHistory("t1"));
  for (const auto& entry : relayna::BuildTaskTimeline(history, "t1")) {
    std::cout << entry.event_type << "\n";
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto page, co_await sdk.feed()->GetFeed());
  co_return page.items.size();
}
// [end]

TEST(RelaynaExample, RunsInMemory) {
  // [readme: in memory]
  testing::Redis server;
  const std::unique_ptr<store::Store> redis = server.Connect();
  EXPECT_THAT(base::Run(Program(*redis)), IsOkAndHolds(3u));
  // [end]
}

TEST(RelaynaExample, RunsOnARealServer) {
  const auto spawned = redis::SpawnedServer::Start();
  ASSERT_TRUE(spawned.ok()) << spawned.status();
  const std::string& uri = (*spawned)->uri();
  // [readme: live]
  const auto redis = redis::SyncClient::Connect(uri, redis::Sharing::kShared).value();
  EXPECT_THAT(base::Run(Program(*redis)), IsOkAndHolds(3u));
  // [end]
}

}  // namespace
}  // namespace redouble
