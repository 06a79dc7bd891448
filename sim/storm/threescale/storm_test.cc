// Storms of the 3scale backend: with all remedies no promise breaks; with the defaults the
// documented hazards break them, and nothing else; and a store that repeats commands is found.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/storm/storm_for_test.h"
#include "redouble/sim/storm/threescale/threescale_storm.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(ThreescaleStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(ThreescaleStorm(), {.hardened = true}, 300);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(ThreescaleStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(ThreescaleStorm(), {}, 400);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"H2", "H6", "H9", "H10", "H11"}));
}

TEST(ThreescaleStorm, FindsUsageThatIsCountedTwice) {
  const StormTally tally =
      RunStorms(ThreescaleStorm(), {.wrap = AlteredStore::Doubling("incrby", 2)}, 50);
  EXPECT_THAT(FindingsOf(tally),
              HasSubstr("the usage of an application is the sum of its reports: in "));
}

TEST(ThreescaleStorm, KeepsItsPromisesInTheClusterLayout) {
  ExpectKeepsPromises(ThreescaleStorm(), InTheClusterLayout(), 300);
}

TEST(ThreescaleStorm, KeepsItsPromisesWhileSlotsMoveAndMastersFailOver) {
  ExpectLosesMasters(ExpectKeepsPromises(ThreescaleStorm(), WhileSlotsMove(), 40), "H27");
}

TEST(ThreescaleStorm, MakesTheSameRunsAgain) { ExpectSameRuns(ThreescaleStorm(), 40); }

}  // namespace
}  // namespace redouble::inline v0_1::sim
