// Storms of Relayna: with all remedies no promise breaks; with the defaults the documented hazards
// break them, and nothing else; and a store that loses commands is found.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/storm/relayna/relayna_storm.h"
#include "redouble/sim/storm/storm_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Key;

TEST(RelaynaStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(RelaynaStorm(), {.hardened = true}, 300);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally.limits, Contains(Key("R19")));
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(RelaynaStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(RelaynaStorm(), {}, 300);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"R1", "R2", "R3", "R4", "R12", "R14", "R15", "R16",
                                               "R20", "W2", "W3"}));
}

TEST(RelaynaStorm, FindsEventsThatAreNotWritten) {
  const StormTally tally = RunStorms(
      RelaynaStorm(), {.hardened = true, .wrap = AlteredStore::Dropping("evalsha", 3)}, 50);
  EXPECT_THAT(FindingsOf(tally),
              HasSubstr("an event that was acknowledged or marked is in its history"));
}

TEST(RelaynaStorm, KeepsItsPromisesInTheClusterLayout) {
  ExpectKeepsPromises(RelaynaStorm(), InTheClusterLayout(), 300);
}

TEST(RelaynaStorm, KeepsItsPromisesWhileSlotsMove) {
  ExpectKeepsPromises(RelaynaStorm(), WhileSlotsMove(), 60);
}

TEST(RelaynaStorm, MakesTheSameRunsAgain) { ExpectSameRuns(RelaynaStorm(), 40); }

}  // namespace
}  // namespace redouble::inline v0_1::sim
