#include "redouble/sim/storm/account.h"

#include <optional>

#include "gtest/gtest.h"
#include "redouble/sim/storm/promise.h"

namespace redouble::inline v0_1::sim {
namespace {

TEST(Account, ExpectsTheSumOfItsParts) {
  Account account;
  account.Expect(0.75, 0.75);
  account.Expect(0, 0.5);
  EXPECT_EQ(account.Explain(0.75), std::nullopt);
  EXPECT_EQ(account.Explain(1.25), std::nullopt);
  EXPECT_EQ(account.Explain(1.5), kUndocumented);
  EXPECT_EQ(account.ToString(), "0.75 to 1.25");
}

TEST(Account, NamesTheFirstHazardThatExplainsTheAmountAlone) {
  Account account;
  account.Expect(1, 1);
  account.Allow("R1", 0, 1);
  account.Allow("R2", 0, 3);
  account.Allow("R3", 0, 3);
  EXPECT_EQ(account.Explain(2), "R1");
  EXPECT_EQ(account.Explain(4), "R2");
}

TEST(Account, NamesTheFirstOfTheFewestHazardsThatExplainTheAmountTogether) {
  Account account;
  account.Allow("R1", 0, 1);
  account.Allow("R2", 0, 2);
  account.Allow("R3", 0, 3);
  EXPECT_EQ(account.Explain(5), "R2");
  EXPECT_EQ(account.Explain(6), "R1");
  EXPECT_EQ(account.Explain(7), kUndocumented);
  EXPECT_EQ(account.Explain(-1), kUndocumented);
}

TEST(Account, AddsTheRangesOfAHazard) {
  Account account;
  account.Allow("R1", -1, 0);
  account.Allow("R1", -1, 1);
  EXPECT_EQ(account.Explain(-2), "R1");
  EXPECT_EQ(account.Explain(1), "R1");
  EXPECT_EQ(account.Explain(2), kUndocumented);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
