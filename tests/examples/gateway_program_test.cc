// A gateway's handling of requests: the same code on the memory engine and on a redis-server.
#include "redouble/gateway.h"
#include "redouble/memory.h"
#include "redouble/redis.h"
#include "redouble/store.h"

namespace base = redouble::base;
namespace gateway = redouble::gateway;
namespace memory = redouble::memory;
namespace redis = redouble::redis;
namespace store = redouble::store;

// [readme: gateway program]
constexpr std::string_view kKeyId = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

// Admits a request, forwards it and charges its cost. Returns the response to the client.
base::Task<absl::StatusOr<gateway::HttpResponse>> Handle(gateway::Admission& admission,
                                                         std::string_view request_id) {
  gateway::AdmissionRequest arriving;
  arriving.request = {kKeyId, request_id};
  arriving.rpm_limit = 60;
  arriving.budget.daily_usd = 1;
  arriving.estimated_cost_usd = 0.50;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto decision, co_await admission.Admit(arriving));
  if (const auto refused = gateway::RefusalResponse(decision, request_id)) co_return *refused;

  gateway::Settlement ended;  // Here the gateway forwards the request.
  ended.request = arriving.request;
  ended.reserved = decision.reserved;
  ended.final_cost_usd = 0.75;
  REDOUBLE_CO_RETURN_IF_ERROR((co_await admission.Settle(ended)).status);
  co_return gateway::HttpResponse{200, "{}"};
}

// Handles requests until one is refused, and returns its response.
base::Task<absl::StatusOr<gateway::HttpResponse>> Spend(store::Store& redis, base::Clock& clock) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto admission, gateway::Admission::Create(redis, clock));
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto response, co_await Handle(*admission, "req-1"));
    if (response.status != 200) co_return response;
  }
}
// [end]

// [readme: gateway in memory]
absl::StatusOr<gateway::HttpResponse> SpendInATest() {
  base::VirtualClock clock;
  memory::Engine server(clock);
  const auto redis = server.Connect();
  return base::Run(Spend(*redis, clock));
}
// [end]

// [readme: gateway live]
absl::StatusOr<gateway::HttpResponse> SpendInProduction(std::string_view uri) {
  base::SystemClock clock;
  REDOUBLE_ASSIGN_OR_RETURN(const auto redis,
                            redis::SyncClient::Connect(uri, redis::Sharing::kShared));
  return base::Run(Spend(*redis, clock));
}
// [end]

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/testing.h"

namespace {

const gateway::HttpResponse kRefused = {
    402, R"({"error":{"code":"budget_exceeded","message":"the budget of the key is exceeded",)"
         R"("request_id":"req-1"}})"};

TEST(GatewayProgram, RunsOnTheMemoryEngine) {
  EXPECT_THAT(SpendInATest(), redouble::testing::IsOkAndHolds(kRefused));
}

TEST(GatewayProgram, RunsOnARealServer) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(SpendInProduction((*server)->uri()), redouble::testing::IsOkAndHolds(kRefused));
}

}  // namespace
