// Storms of Studio: with all remedies no promise breaks; with the defaults the documented hazards
// break them, and nothing else; and a store that loses commands is found.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/storm/storm_for_test.h"
#include "redouble/sim/storm/studio/studio_storm.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(StudioStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(StudioStorm(), {.hardened = true}, 200);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(StudioStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(StudioStorm(), {}, 300);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"E1", "E2", "G5", "G6", "G7", "S1", "S5", "S8"}));
}

TEST(StudioStorm, FindsScriptsThatDoNothing) {
  const StormTally tally = RunStorms(
      StudioStorm(), {.hardened = true, .wrap = AlteredStore::Dropping("evalsha", 4)}, 50);
  EXPECT_THAT(FindingsOf(tally), HasSubstr("a task whose event was ingested is in the index"));
}

TEST(StudioStorm, KeepsItsPromisesInTheClusterLayout) {
  ExpectKeepsPromises(StudioStorm(), InTheClusterLayout(), 200);
}

TEST(StudioStorm, KeepsItsPromisesWhileSlotsMove) {
  ExpectKeepsPromises(StudioStorm(), WhileSlotsMove(), 40);
}

TEST(StudioStorm, MakesTheSameRunsAgain) { ExpectSameRuns(StudioStorm(), 30); }

}  // namespace
}  // namespace redouble::inline v0_1::sim
