#include "redouble/sim/operations/gateway/gateway_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;
using sim::OperationResult;
using ::testing::HasSubstr;

constexpr const char* kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

std::string Held(const std::string& id) {
  return std::string("budget:reservation:") + kKey + ":" + id;
}

class GatewayOperationsTest : public tests::BackendTest<tests::MemoryBackend> {
 protected:
  OperationResult Call(store::Store& store, std::string_view operation, const Json& arguments) {
    base::VirtualClock clock(now());
    base::Rng rng(1);
    const sim::OperationContext context(store, clock, rng);
    const sim::Operation* found = operations_.Find(operation);
    if (found == nullptr) return absl::NotFoundError(std::string(operation));
    return Run((*found)(context, arguments));
  }
  OperationResult Call(std::string_view operation, const Json& arguments) {
    return Call(store(), operation, arguments);
  }
  // The arguments of an operation on request "req-1", with `more` added.
  static Json With(Json more = Json::object()) {
    Json arguments = {{"key_id", kKey}, {"request_id", "req-1"}};
    arguments.update(more);
    return arguments;
  }

  const sim::OperationTable operations_ = GatewayOperations();
};

TEST_F(GatewayOperationsTest, ChecksRateLimits) {
  const Json arguments = {{"key_id", kKey}, {"limit", 1}, {"now", "2026-05-09T14:03:02Z"}};
  EXPECT_EQ(Call("check_request_rate_limit", arguments).value(),
            Json::parse(R"({"decision": "Allowed", "count": 1})"));
  EXPECT_EQ(Call("check_request_rate_limit", arguments).value(),
            Json::parse(R"({"decision": "Exceeded", "count": 2, "retry_after_seconds": 70})"));
  EXPECT_EQ(Call("check_request_rate_limit", {{"key_id", kKey}, {"limit", nullptr}}).value(),
            Json::parse(R"({"decision": "Allowed", "count": 0})"));
}

TEST_F(GatewayOperationsTest, SpendsAndChecksBudgets) {
  EXPECT_EQ(Call("add_budget_spend", {{"key_id", kKey}, {"estimated_cost_usd", "0.25"}}).value(),
            "ok");
  EXPECT_EQ(Call("check_budget", {{"key_id", kKey}, {"daily_budget_usd", 0.25}}).value(),
            Json::parse(R"({"decision": "Exceeded", "daily_spend_usd": 0.25,
                            "monthly_spend_usd": 0.25})"));
  EXPECT_EQ(Call("check_budget", {{"key_id", kKey}}).value(),
            Json::parse(R"({"decision": "Allowed", "daily_spend_usd": 0.0,
                            "monthly_spend_usd": 0.0})"));
}

TEST_F(GatewayOperationsTest, ReservesAndSettles) {
  EXPECT_EQ(Call("reserve_budget", With({{"estimated_cost_usd", 0.5}})).value(), "ok");
  EXPECT_EQ(KeyCount(), 3);
  EXPECT_EQ(Call("reconcile_budget_reservation", With({{"actual_cost_usd", "0.75"}})).value(),
            "ok");
  EXPECT_EQ(KeyCount(), 2);
  EXPECT_EQ(Call("release_budget_reservation", With()).value(), "ok");
  const Json limits = {{"daily_budget_usd", 1}, {"estimated_cost_usd", 0.5}};
  EXPECT_EQ(Call("check_and_reserve_budget", With(limits)).value(),
            Json::parse(R"({"decision": "Allowed", "daily_spend_usd": 0.75,
                            "monthly_spend_usd": 0.75})"));
  EXPECT_EQ(Call("check_and_reserve_budget", With(limits)).value()["decision"], "Exceeded");
}

TEST_F(GatewayOperationsTest, UsesTheScenariosTimeByDefault) {
  ASSERT_TRUE(Call("reserve_budget", With({{"estimated_cost_usd", 1}})).ok());
  EXPECT_THAT(Value(Held("req-1")), HasSubstr(":20260509|"));
  ASSERT_TRUE(
      Call("reserve_budget", With({{"estimated_cost_usd", 1}, {"now", "2026-06-01T00:00:00Z"}}))
          .ok());
  EXPECT_THAT(Value(Held("req-1")), HasSubstr(":20260601|"));
}

TEST_F(GatewayOperationsTest, AdmitsAndSettlesRequests) {
  const Json policy = {{"rpm_limit", 2}, {"daily_budget_usd", 1}, {"estimated_cost_usd", 1.5}};
  EXPECT_EQ(Call("admit", With(policy)).value(),
            Json::parse(R"({"decision": "Admitted", "reserved": true})"));
  EXPECT_EQ(
      Call("admit", With(policy)).value(),
      Json::parse(R"({"decision": "Refused", "http_status": 402, "code": "budget_exceeded"})"));
  EXPECT_EQ(Call("admit", With(policy)).value(),
            Json::parse(R"({"decision": "Refused", "http_status": 429,
                            "code": "rate_limit_exceeded", "retry_after_seconds": 70})"));
  EXPECT_EQ(Call("settle", With({{"reserved", true}, {"final_cost_usd", 0.5}})).value(),
            Json::parse(R"({"action": "Reconciled"})"));
  EXPECT_EQ(Call("settle", With({{"reserved", false}, {"final_cost_usd", 0.5}})).value(),
            Json::parse(R"({"action": "SpendAdded"})"));
  EXPECT_EQ(Call("settle", With({{"reserved", true}, {"completed", false}})).value(),
            Json::parse(R"({"action": "Released"})"));
  EXPECT_EQ(Call("settle", With({{"reserved", false}})).value(),
            Json::parse(R"({"action": "Nothing"})"));
}

TEST_F(GatewayOperationsTest, AnswersReadiness) {
  EXPECT_EQ(Call("readyz", Json::object()).value(),
            Json::parse(R"({"http_status": 200, "status": "ready"})"));
  EXPECT_EQ(Call("readyz", {{"postgres_ready", false}}).value(),
            Json::parse(R"({"http_status": 503, "status": "not_ready"})"));
}

TEST_F(GatewayOperationsTest, ReturnsTheStatusOfAFailure) {
  Ask({"LPUSH", Held("req-1"), "x"});
  const absl::Status status =
      Call("reconcile_budget_reservation", With({{"actual_cost_usd", 1}})).status();
  EXPECT_TRUE(gateway::IsControlStateUnavailable(status));
  EXPECT_EQ(*GatewayErrorResult(status), Json::parse(R"({"error": "ControlStateUnavailable"})"));
  EXPECT_EQ(Call("settle", With({{"reserved", true}, {"final_cost_usd", 1}})).value(),
            Json::parse(R"({"action": "Reconciled", "error": "ControlStateUnavailable"})"));
}

TEST_F(GatewayOperationsTest, RefusesWrongArguments) {
  for (const std::string& operation : operations_.Names()) {
    const absl::Status unknown = Call(operation, {{"surprise", 1}}).status();
    EXPECT_TRUE(sim::IsArgumentError(unknown)) << operation << ": " << unknown;
    EXPECT_EQ(GatewayErrorResult(unknown), std::nullopt);
  }
  const absl::Status wide =
      Call("check_request_rate_limit", {{"key_id", kKey}, {"limit", 1LL << 31}}).status();
  EXPECT_THAT(std::string(wide.message()), HasSubstr("/limit: does not fit 32 bits"));
}

TEST_F(GatewayOperationsTest, PassesOnTheRefusalOfAKeyId) {
  const Json arguments = {{"key_id", "sk-live-1"}, {"request_id", "r"}};
  for (const char* operation : {"check_request_rate_limit", "check_budget"}) {
    const absl::Status status = Call(operation, {{"key_id", "sk-live-1"}}).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_FALSE(sim::IsArgumentError(status));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Call("admit", arguments).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      Call("settle", {{"key_id", "x"}, {"request_id", "r"}, {"reserved", true}}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Call("release_budget_reservation", arguments).status()));
}

TEST_F(GatewayOperationsTest, SweepsReservationsOfAnAge) {
  ASSERT_TRUE(Call("reserve_budget", With({{"estimated_cost_usd", 0.5}})).ok());
  EXPECT_EQ(Call("sweep_reservations", {{"age_s", 60}}).value(),
            Json::parse(R"({"seen": 1, "released": 0, "released_usd": 0})"));
  EXPECT_EQ(Call("sweep_reservations", {{"age_s", 0}}).value(),
            Json::parse(R"({"seen": 1, "released": 1, "released_usd": 0.5})"));
  EXPECT_TRUE(absl::IsInvalidArgument(Call("sweep_reservations", Json::object()).status()));
}

TEST_F(GatewayOperationsTest, SweepsOnlyWithAnInterval) {
  EXPECT_EQ(Call("sweep_loop", {{"abandoned_after", 60}}).value(), "ok");
  const Json too_late = {{"abandoned_after", 3000}, {"sweep_interval", 900}};
  EXPECT_TRUE(absl::IsInvalidArgument(Call("sweep_loop", too_late).status()));
}

TEST_F(GatewayOperationsTest, CountsWithAndWithoutATransaction) {
  const std::string key = "rl:req:" + std::string(kKey) + ":202605091403";
  for (const int count : {1, 2}) {
    const Json request = {{"key_id", kKey}, {"limit", 5}, {"one_transaction", count == 1}};
    EXPECT_EQ(Call("check_request_rate_limit", request).value()["count"], count);
    EXPECT_EQ(Ttl(key), 70);
  }
}

TEST_F(GatewayOperationsTest, TakesTheHardeningOptions) {
  ASSERT_TRUE(Call("release_budget_reservation", With({{"heal_counter_ttl", true}})).ok());
  EXPECT_EQ(Ttl("budget:daily:" + std::string(kKey) + ":20260509"), 172800);
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
