// Storms of Korvet: with all remedies no promise breaks; with the defaults the documented hazards
// break them, and nothing else; and groups that skip records are found.

#include <memory>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/storm/korvet/korvet_storm.h"
#include "redouble/sim/storm/storm_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Key;

TEST(KorvetStorm, BreaksNoPromiseWhenHardened) {
  const StormTally tally = RunStorms(KorvetStorm(), {.hardened = true}, 300);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(KorvetStorm, FindsTheDocumentedHazardsAndNothingElse) {
  const StormTally tally = RunStorms(KorvetStorm(), {}, 300);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"H2", "H3", "H10"}));
}

// Creates groups at the end of the log instead of its beginning.
class LateGroupStore final : public store::InterceptingStore {
 public:
  using InterceptingStore::InterceptingStore;

 private:
  bool Intercepts(const store::Request& request) override {
    return request.commands()[0].id() == store::CommandId::kXGroupCreate;
  }

  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    const auto given = request.commands()[0].arguments();
    std::vector<std::string_view> words(given.begin(), given.end());
    words[3] = "$";
    const auto late = store::Command::Named("XGROUP", words);
    co_return co_await inner().Execute(late);
  }
};

TEST(KorvetStorm, FindsGroupsThatSkipRecords) {
  const StormTally tally = RunStorms(
      KorvetStorm(),
      {.wrap = [](store::Store& inner) { return std::make_unique<LateGroupStore>(inner); }}, 50);
  EXPECT_THAT(FindingsOf(tally),
              HasSubstr("an acknowledged record is delivered to the group unless retention has "
                        "removed it: in "));
}

TEST(KorvetStorm, BreaksNoPromiseInTheClusterLayoutWhenHardened) {
  StormVariant variant = InTheClusterLayout();
  variant.hardened = true;
  const StormTally tally = RunStorms(KorvetStorm(), variant, 300);
  EXPECT_THAT(tally, FindsNothing());
  EXPECT_THAT(tally, ChecksEveryPromise());
}

TEST(KorvetStorm, FindsTheSameHazardsInTheClusterLayout) {
  const StormTally tally = RunStorms(KorvetStorm(), InTheClusterLayout(), 300);
  EXPECT_FALSE(tally.HasUnexpected(/*hardened=*/false)) << FindingsOf(tally);
  EXPECT_THAT(SectionsOf(tally), IsSupersetOf({"H2", "H3", "H10"}));
}

TEST(KorvetStorm, KeepsItsPromisesWhileSlotsMoveAndMastersFailOver) {
  // What is lost with a master is rarely a record that a consumer misses: in 4 of 400 runs.
  const StormTally tally = ExpectKeepsPromises(KorvetStorm(), WhileSlotsMove(), 60);
  EXPECT_THAT(tally.faults, Contains(Key("promote")));
}

TEST(KorvetStorm, MakesTheSameRunsAgain) { ExpectSameRuns(KorvetStorm(), 40); }

}  // namespace
}  // namespace redouble::inline v0_1::sim
