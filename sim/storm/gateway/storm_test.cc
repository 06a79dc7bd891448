// Storms of the gateway: with all remedies no promise breaks; with the defaults the documented
// hazards break them, and nothing else; and a store that loses or repeats commands is found.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/storm/gateway/gateway_storm.h"
#include "redouble/sim/storm/storm_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::IsSupersetOf;

TEST(GatewayStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(GatewayStorm(), {.hardened = true}, 400);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(GatewayStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(GatewayStorm(), {}, 400);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"R2", "R3", "R5", "R6", "R8", "R9", "R10", "R12"}));
}

TEST(GatewayStorm, FindsASettlementThatIsNotExecuted) {
  const StormTally tally = RunStorms(
      GatewayStorm(), {.hardened = true, .wrap = AlteredStore::Dropping("EVALSHA", 3)}, 100);
  EXPECT_TRUE(tally.HasUnexpected(/*hardened=*/true));
}

TEST(GatewayStorm, FindsSpendThatIsAddedTwice) {
  const StormTally tally = RunStorms(
      GatewayStorm(), {.hardened = true, .wrap = AlteredStore::Doubling("INCRBYFLOAT", 2)}, 100);
  EXPECT_TRUE(tally.HasUnexpected(/*hardened=*/true));
}

TEST(GatewayStorm, ShrinksWhatItFinds) {
  const StormRunner runner(GatewayStorm(), {}, /*seed=*/1);
  const Finding finding{"the spend of a key is the sum of what was settled", "R6"};
  ExpectShrinks(runner, finding, {.actors = 3, .operations = 2});
}

TEST(GatewayStorm, KeepsItsPromisesInTheClusterLayout) {
  ExpectKeepsPromises(GatewayStorm(), InTheClusterLayout(), 300);
}

TEST(GatewayStorm, KeepsItsPromisesWhileSlotsMoveAndMastersFailOver) {
  ExpectLosesMasters(ExpectKeepsPromises(GatewayStorm(), WhileSlotsMove(), 60), "R13");
}

TEST(GatewayStorm, MakesTheSameRunsAgain) { ExpectSameRuns(GatewayStorm(), 40); }

TEST(GatewayStorm, MakesTheSameRunsAgainWhileSlotsMove) {
  ExpectSameRuns(GatewayStorm(), 10, WhileSlotsMove());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
