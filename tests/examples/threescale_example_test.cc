// The program of docs/systems/threescale.md, in memory and on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/redis.h"
#include "redouble/store.h"
#include "redouble/testing.h"
#include "redouble/threescale.h"

namespace redouble {
namespace {

using testing::IsOkAndHolds;

// [readme: program]
// Writes the data that system owns, answers a request, counts it, and returns the usage.
base::Task<absl::StatusOr<threescale::Integer>> Program(store::Store& redis, base::Clock& clock) {
  threescale::Backend backend(redis, clock);
  const threescale::ServiceSave service = {.id = "2", .provider_key = "pkey"};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await backend.services().Save(service)).status());
  const threescale::ApplicationSave application = {
      .service_id = "2", .id = "app", .state = "active", .plan_id = "44"};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await backend.applications().Save(application));
  const threescale::Metric hits = {"2", "6", "hits"};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await backend.metrics().Save(hits));

  const threescale::HttpRequest request = {
      .path = "/transactions/authrep.xml",
      .query = "provider_key=pkey&service_id=2&app_id=app&usage[hits]=3"};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto response, co_await backend.Handle(request));
  std::cout << response.status << " " << response.body << "\n";
  REDOUBLE_CO_RETURN_IF_ERROR(co_await backend.RunJobs());

  threescale::StatsQuery today = {.service_id = "2", .application_id = "app", .metric_id = "6"};
  today.since = today.until = clock.Now();
  co_return co_await backend.stats().Total(today);
}
// [end]

TEST(ThreescaleExample, RunsInMemory) {
  // [readme: in memory]
  testing::Redis server;
  const std::unique_ptr<store::Store> redis = server.Connect();
  EXPECT_THAT(base::Run(Program(*redis, server.clock())), IsOkAndHolds(3));
  // [end]
}

TEST(ThreescaleExample, RunsOnARealServer) {
  const auto spawned = redis::SpawnedServer::Start();
  ASSERT_TRUE(spawned.ok()) << spawned.status();
  const std::string& uri = (*spawned)->uri();
  base::VirtualClock clock(absl::FromUnixSeconds(1745430159));
  // [readme: live]
  const auto redis = redis::SyncClient::Connect(uri, redis::Sharing::kShared).value();
  EXPECT_THAT(base::Run(Program(*redis, clock)), IsOkAndHolds(3));
  // [end]
}

}  // namespace
}  // namespace redouble
