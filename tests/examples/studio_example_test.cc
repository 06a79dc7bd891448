// The program of docs/systems/studio.md, in memory and on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/redis.h"
#include "redouble/store.h"
#include "redouble/studio.h"
#include "redouble/testing.h"
#include "redouble/tests/support/studio_test.h"

namespace redouble {
namespace {

using testing::IsOkAndHolds;

// A service without events.
class EmptyFeed final : public studio::FeedSource {
 public:
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view,
                                                     studio::FeedRequest) override {
    co_return studio::FeedPage();
  }
};

// The program's HTTP client.
struct Http {
  studio::FixedCapabilities capabilities;
  studio::FixedWorkers workers;
  EmptyFeed feed;

  studio::StudioHttp calls() { return {capabilities, workers, feed}; }
};

// [readme: program]
// Registers a service, takes an event that it pushed, and returns the number of tasks found.
base::Task<absl::StatusOr<size_t>> Program(store::Store& redis, base::Clock& clock, Http& http) {
  const std::pair<std::string_view, std::string_view> variables[] = {
      {"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", "true"}};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto settings, studio::ReadStudioSettings(variables));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto app,
                               studio::Studio::Create(redis, clock, http.calls(), settings));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await app->Start());
  const python::Value service = python::Object({{"service_id", "a"},
                                                {"name", "A"},
                                                {"base_url", "http://a.test"},
                                                {"environment", "prod"},
                                                {"auth_mode", "none"}});
  REDOUBLE_CO_RETURN_IF_ERROR((co_await app->registry().CreateService(service)).status());
  const studio::EventEnvelope events[] = {studio::Event("e1", "2026-05-09T14:00:00Z")};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await app->Push(events)).status());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await app->health().RefreshAll(clock.Now())).status());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto services, co_await app->ListServices());
  std::cout << services[0].name << "\n";
  studio::TaskQuery query;
  query.service_id = "a";
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto page,
                               co_await app->search().SearchTasks(query, clock.Now()));
  co_return page.items.size();
}
// [end]

TEST(StudioExample, RunsInMemory) {
  Http http;
  // [readme: in memory]
  testing::Redis server;
  const std::unique_ptr<store::Store> redis = server.Connect();
  EXPECT_THAT(base::Run(Program(*redis, server.clock(), http)), IsOkAndHolds(1u));
  // [end]
}

TEST(StudioExample, RunsOnARealServer) {
  const auto spawned = redis::SpawnedServer::Start();
  ASSERT_TRUE(spawned.ok()) << spawned.status();
  const std::string& uri = (*spawned)->uri();
  base::SystemClock clock;
  Http http;
  // [readme: live]
  const auto redis = redis::SyncClient::Connect(uri, redis::Sharing::kShared).value();
  EXPECT_THAT(base::Run(Program(*redis, clock, http)), IsOkAndHolds(1u));
  // [end]
}

}  // namespace
}  // namespace redouble
