// Storms of the orchestrator: with all remedies no promise breaks; without them the documented
// hazards break promises, and nothing else; and a store that loses or repeats commands is found.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/storm/orchestrator/orchestrator_storm.h"
#include "redouble/sim/storm/storm_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(OrchestratorStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(OrchestratorStorm(), {.hardened = true}, 80);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(OrchestratorStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(OrchestratorStorm(), {}, 250);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  // A storm of some thousands of runs finds H27 as well.
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"H6", "H7", "H25", "H26", "H28"}));
}

TEST(OrchestratorStorm, FindsScriptsThatDoNothing) {
  const StormTally tally = RunStorms(
      OrchestratorStorm(), {.hardened = true, .wrap = AlteredStore::Dropping("evalsha", 7)}, 30);
  EXPECT_THAT(FindingsOf(tally), HasSubstr("a run that was started comes to its end"));
}

TEST(OrchestratorStorm, KeepsItsPromisesInTheClusterLayout) {
  ExpectKeepsPromises(OrchestratorStorm(), InTheClusterLayout(), 40);
}

TEST(OrchestratorStorm, KeepsItsPromisesWhileSlotsMove) {
  ExpectKeepsPromises(OrchestratorStorm(), WhileSlotsMove(), 8);
}

TEST(OrchestratorStorm, MakesTheSameRunsAgain) { ExpectSameRuns(OrchestratorStorm(), 15); }

}  // namespace
}  // namespace redouble::inline v0_1::sim
