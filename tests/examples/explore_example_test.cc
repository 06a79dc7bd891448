// The race of the README: found, shrunk, and gone with the option that removes it.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/budget.h"
#include "redouble/core/gateway/hardening.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/testing/explore.h"
#include "redouble/sim/world/world.h"

namespace redouble {
namespace {

constexpr std::string_view kKeyId = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr gateway::BudgetLimits kHalfADollar{.daily_usd = 0.5, .monthly_usd = {}};

// [readme: explore]
sim::Experiment TwoAskForTheLastHalfDollar(gateway::Hardening hardening) {
  return [=](sim::World& world) {
    const auto admitted = std::make_shared<int>(0);
    for (const char* request_id : {"req-1", "req-2"}) {
      world.Spawn(request_id, [=](sim::Actor& actor) -> base::Task<void> {
        gateway::BudgetStore budgets(actor.store(), hardening);
        const gateway::BudgetRequest request{kKeyId, request_id};
        const auto decision =
            co_await budgets.CheckAndReserveBudget(request, kHalfADollar, 0.5, actor.clock().Now());
        *admitted += decision->outcome == gateway::BudgetDecision::Outcome::kAllowed;
      });
    }
    world.AddFinalInvariant("one request is admitted", [=] { return *admitted == 1; });
  };
}
// [end]

// Who sent it, and the names of the commands.
std::string Brief(const nlohmann::json& event) {
  std::string text = absl::StrCat(event["client"].get<std::string>(), ":");
  if (event.contains("command")) {
    absl::StrAppend(&text, " ", event["command"][0].get<std::string>());
    return text;
  }
  absl::StrAppend(&text, " MULTI");
  for (const nlohmann::json& command : event["transaction"]) {
    absl::StrAppend(&text, " ", command[0].get<std::string>());
  }
  return text;
}

TEST(ExploreExample, FindsAndShrinksTheRaceOfCheckAndReserve) {
  // [readme: found]
  const sim::Exploration found = sim::Explore(TwoAskForTheLastHalfDollar({}));
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->status, absl::InternalError("one request is admitted: does not hold"));
  // [end]
  const auto& decisions = found.violation->decisions;
  EXPECT_EQ(decisions.size() - std::count(decisions.begin(), decisions.end(), 0u), 1u);
}

TEST(ExploreExample, RepeatsWhatItFound) {
  const sim::Exploration found = sim::Explore(TwoAskForTheLastHalfDollar({}));
  ASSERT_TRUE(found.violation.has_value());
  std::vector<std::string> lines;
  // [readme: replay]
  const sim::RunOutcome again = sim::Replay(
      TwoAskForTheLastHalfDollar({}), {}, found.violation->seed, found.violation->decisions,
      [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(again.violation, found.violation->status);
  EXPECT_EQ(again.trace_hash, found.violation->trace_hash);
  // [end]
  std::vector<std::string> requests;
  for (const std::string& line : lines) requests.push_back(Brief(nlohmann::json::parse(line)));
  // [readme: lines]
  EXPECT_EQ(requests, (std::vector<std::string>{
                          "req-1: GET",
                          "req-2: GET",
                          "req-2: GET",
                          "req-2: MULTI SET INCRBYFLOAT EXPIRE INCRBYFLOAT EXPIRE",
                          "req-1: GET",
                          "req-1: MULTI SET INCRBYFLOAT EXPIRE INCRBYFLOAT EXPIRE",
                      }));
  // [end]
}

TEST(ExploreExample, FindsNoneWhenTheOptionRemovesIt) {
  // [readme: remedy]
  const sim::Exploration found =
      sim::Explore(TwoAskForTheLastHalfDollar({.atomic_check_and_reserve = true}));
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_TRUE(found.complete);
  // [end]
}

// [readme: case]
REDOUBLE_EXPLORE(ExploreExample, AdmitsOneRequest, .schedules = 1'000) {
  TwoAskForTheLastHalfDollar({.atomic_check_and_reserve = true})(world);
}
// [end]

}  // namespace
}  // namespace redouble
