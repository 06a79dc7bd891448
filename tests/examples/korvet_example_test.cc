// The program of docs/systems/korvet.md, in memory and on a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/korvet.h"
#include "redouble/redis.h"
#include "redouble/store.h"
#include "redouble/testing.h"

namespace redouble {
namespace {

using testing::IsOkAndHolds;

// [readme: program]
// Writes two records, reads them as a member of a group, and returns how many are left to read.
base::Task<absl::StatusOr<int64_t>> Program(store::Store& redis, base::Clock& clock) {
  base::Rng rng(1);  // Another seed in each process.
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto broker, korvet::Broker::Create(redis, clock, rng));
  REDOUBLE_CO_RETURN_IF_ERROR((co_await broker->EnsureTopic("orders")).status());

  REDOUBLE_CO_ASSIGN_OR_RETURN(korvet::Producer producer, co_await broker->OpenProducer("orders"));
  std::vector<korvet::NewRecord> records(2);
  records[0].value = R"({"product": "widget"})";
  records[1].value = R"({"product": "gadget"})";
  REDOUBLE_CO_RETURN_IF_ERROR((co_await producer.Send(records)).status());

  const std::unique_ptr<korvet::Consumer> consumer = broker->MakeConsumer("billing");
  const std::vector<std::string> topics = {"orders"};
  REDOUBLE_CO_RETURN_IF_ERROR(co_await consumer->Subscribe(topics));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto polled, co_await consumer->Poll());
  for (const korvet::ConsumedRecord& one : polled) std::cout << *one.record.record.value << "\n";
  REDOUBLE_CO_RETURN_IF_ERROR(co_await consumer->Commit());
  REDOUBLE_CO_RETURN_IF_ERROR(co_await consumer->Close());

  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto offsets, co_await broker->groups().Offsets("billing"));
  co_return offsets[0].progress.lag.total();
}
// [end]

TEST(KorvetExample, RunsInMemory) {
  // [readme: in memory]
  testing::Redis server;
  const std::unique_ptr<store::Store> redis = server.Connect();
  EXPECT_THAT(base::Run(Program(*redis, server.clock())), IsOkAndHolds(0));
  // [end]
}

TEST(KorvetExample, RunsOnARealServer) {
  const auto spawned = redis::SpawnedServer::Start();
  ASSERT_TRUE(spawned.ok()) << spawned.status();
  const std::string& uri = (*spawned)->uri();
  base::SystemClock clock;
  // [readme: live]
  const auto redis = redis::SyncClient::Connect(uri, redis::Sharing::kShared).value();
  EXPECT_THAT(base::Run(Program(*redis, clock)), IsOkAndHolds(0));
  // [end]
}

}  // namespace
}  // namespace redouble
