// The race of the README: found, shrunk, and gone with the option that removes it.

#include <algorithm>
#include <memory>

#include "core/gateway/budget.h"
#include "core/gateway/hardening.h"
#include "gtest/gtest.h"
#include "sim/explore/explore.h"
#include "sim/world/world.h"

namespace redouble {
namespace {

// [readme: explore]
base::Task<void> Ask(sim::Actor& actor, gateway::Hardening hardening, int& admitted) {
  gateway::BudgetStore budgets(actor.store(), hardening);
  const gateway::BudgetRequest request{"018f8d31-86a7-7c48-8f36-4d1fa4d99101", actor.name()};
  const gateway::BudgetLimits limits{.daily_usd = 0.5, .monthly_usd = {}};
  const auto decision =
      co_await budgets.CheckAndReserveBudget(request, limits, 0.5, actor.clock().Now());
  if (decision->outcome == gateway::BudgetDecision::Outcome::kAllowed) ++admitted;
}

sim::Exploration LetTwoAskForTheLastHalfDollar(gateway::Hardening hardening) {
  return sim::Explore([=](sim::World& world) {
    const auto admitted = std::make_shared<int>(0);
    for (const char* request : {"req-1", "req-2"}) {
      world.Spawn(request, [=](sim::Actor& actor) { return Ask(actor, hardening, *admitted); });
    }
    world.AddFinalInvariant("one is let in", [=] {
      return *admitted == 1 ? absl::OkStatus() : absl::InternalError("both are");
    });
  });
}
// [end]

TEST(ExploreExample, FindsAndShrinksTheRaceOfCheckAndReserve) {
  const sim::Exploration found = LetTwoAskForTheLastHalfDollar({});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->status, absl::InternalError("one is let in: both are"));
  const auto& decisions = found.violation->decisions;
  EXPECT_EQ(decisions.size() - std::count(decisions.begin(), decisions.end(), 0u), 1u);
}

TEST(ExploreExample, FindsNoneWhenTheOptionRemovesIt) {
  const sim::Exploration found = LetTwoAskForTheLastHalfDollar({.atomic_check_and_reserve = true});
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_EQ(found.schedules, 20'000);
}

}  // namespace
}  // namespace redouble
