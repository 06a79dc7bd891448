// A program that runs workflows: the same code on the memory engine and on a redis-server.
#include "redouble/memory.h"
#include "redouble/orchestrator.h"
#include "redouble/redis.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace memory = redouble::memory;
namespace orchestrator = redouble::orchestrator;
namespace redis = redouble::redis;
namespace store = redouble::store;

// [readme: orchestrator program]
constexpr std::string_view kOrder = R"({
    "nodes": [{"id": "price", "type": "function"},
              {"id": "bill", "type": "http", "config": {"amount": "$nodes.price.total"}}],
    "edges": [{"from": "price", "to": "bill"}]})";

base::Task<absl::StatusOr<orchestrator::NodeResult>> Price(const orchestrator::Token&) {
  co_return orchestrator::NodeResult{.data_json = R"({"total":42})"};
}
base::Task<absl::StatusOr<orchestrator::NodeResult>> Bill(const orchestrator::Token& token) {
  co_return orchestrator::NodeResult{.data_json = token.config_json};
}

// Runs the workflow to its end, and returns the output of its last node.
base::Task<absl::StatusOr<std::string>> Order(store::Store& redis, base::Clock& clock) {
  orchestrator::MemoryRunStore runs;  // In production: a store of your database, or FileRunStore.
  orchestrator::MemoryArtifacts outputs;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto engine,
                               orchestrator::Engine::Create(redis, clock, {runs, outputs}));
  engine->AddWorker("function", "function-1", Price);
  engine->AddWorker("http", "http-1", Bill);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await engine->StartWorkflow("order-7", kOrder)).status());
  REDOUBLE_CO_RETURN_IF_ERROR((co_await engine->RunUntilIdle()).status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto run, co_await engine->GetRun("order-7"));
  if (run->record.status != orchestrator::RunStatus::kCompleted) {
    co_return absl::InternalError("the order was not completed");
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto bill, co_await engine->NodeOutput("order-7", "bill"));
  co_return bill.value_or("");
}
// [end]

// [readme: orchestrator in memory]
absl::StatusOr<std::string> OrderInATest() {
  base::VirtualClock clock;
  memory::Engine server(clock);
  const auto redis = server.Connect();
  return base::Run(Order(*redis, clock));
}
// [end]

// [readme: orchestrator live]
absl::StatusOr<std::string> OrderInProduction(std::string_view uri) {
  base::SystemClock clock;
  REDOUBLE_ASSIGN_OR_RETURN(const auto redis,
                            redis::SyncClient::Connect(uri, redis::Sharing::kShared));
  return base::Run(Order(*redis, clock));
}
// [end]

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/testing.h"

namespace {

using redouble::testing::IsOkAndHolds;

TEST(OrchestratorProgram, RunsOnTheMemoryEngine) {
  EXPECT_THAT(OrderInATest(), IsOkAndHolds(R"({"amount":42})"));
}

TEST(OrchestratorProgram, RunsOnARealServer) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(OrderInProduction((*server)->uri()), IsOkAndHolds(R"({"amount":42})"));
}

}  // namespace
