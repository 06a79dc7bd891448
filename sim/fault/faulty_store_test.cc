#include "redouble/sim/fault/faulty_store.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;
using testing::HasSubstr;
using testing::Optional;

// Each fault on the memory engine, which replies during Submit().
class FaultyMemoryStore : public testing::Test {
 protected:
  FaultyStore Faulty(FaultRule rule) { return FaultyStore(*session_, clock_, {.faults = {rule}}); }
  std::optional<std::string> ValueOf(std::string_view key) {
    return base::Run(store::Get(*session_, key)).value();
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
};

TEST_F(FaultyMemoryStore, DropsRequests) {
  FaultyStore faulty = Faulty({.fault = Fault::kDropRequest, .command = "incr", .limit = 1});
  EXPECT_EQ(store::ErrorKindOf(base::Run(store::Incr(faulty, "n")).status()),
            ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(ValueOf("n"), std::nullopt);
  EXPECT_THAT(base::Run(store::Incr(faulty, "n")), IsOkAndHolds(1));
  EXPECT_EQ(faulty.faults_injected(), 1);
}

TEST_F(FaultyMemoryStore, DropsReplies) {
  FaultyStore faulty = Faulty({.fault = Fault::kDropReply, .key = "n*", .limit = 1});
  EXPECT_EQ(store::ErrorKindOf(base::Run(store::Incr(faulty, "n")).status()),
            ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(ValueOf("n"), "1");
}

TEST_F(FaultyMemoryStore, ExecutesADuplicateTwiceAndReturnsTheSecondReply) {
  FaultyStore faulty = Faulty({.fault = Fault::kDuplicate, .nth = 1});
  EXPECT_THAT(base::Run(store::Incr(faulty, "n")), IsOkAndHolds(2));
  EXPECT_EQ(ValueOf("n"), "2");
}

TEST_F(FaultyMemoryStore, RepliesWithAnError) {
  FaultyStore faulty = Faulty({.fault = Fault::kErrorReply, .error = "READONLY no writes"});
  EXPECT_THAT(base::Run(store::Incr(faulty, "n")).status().message(), "READONLY no writes");
  EXPECT_EQ(ValueOf("n"), std::nullopt);
}

TEST_F(FaultyMemoryStore, DelaysRequests) {
  FaultyStore faulty = Faulty({.fault = Fault::kDelay, .duration = absl::Milliseconds(5)});
  auto task = store::Incr(faulty, "n");
  task.Start();
  EXPECT_FALSE(task.done());
  clock_.Advance(absl::Milliseconds(4));
  EXPECT_EQ(ValueOf("n"), std::nullopt);
  clock_.Advance(absl::Milliseconds(1));
  ASSERT_TRUE(task.done());
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(1));
}

TEST_F(FaultyMemoryStore, ForgetsDelayedRequestsThatAreAbandoned) {
  FaultyStore faulty = Faulty({.fault = Fault::kDelay, .duration = absl::Milliseconds(5)});
  {
    auto task = store::Incr(faulty, "n");
    task.Start();
  }
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_EQ(ValueOf("n"), std::nullopt);
}

TEST_F(FaultyMemoryStore, HealsWhileARequestIsDelayed) {
  FaultyStore faulty = Faulty({.fault = Fault::kDelay, .duration = absl::Milliseconds(5)});
  auto task = store::Incr(faulty, "n");
  task.Start();
  faulty.Heal();
  EXPECT_THAT(base::Run(store::Incr(faulty, "n")), IsOkAndHolds(1));
  clock_.Advance(absl::Milliseconds(5));
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(2));
}

TEST_F(FaultyMemoryStore, DisconnectsBeforeARequestIsSent) {
  int disconnects = 0;
  FaultyStore faulty(
      *session_, clock_,
      {.faults = {{.fault = Fault::kDisconnect, .nth = 2}}, .disconnect = [&] { ++disconnects; }});
  EXPECT_THAT(base::Run(store::Incr(faulty, "n")), IsOkAndHolds(1));
  EXPECT_EQ(disconnects, 0);
  EXPECT_EQ(store::ErrorKindOf(base::Run(store::Incr(faulty, "n")).status()), ErrorKind::kNotSent);
  EXPECT_EQ(disconnects, 1);
  EXPECT_EQ(ValueOf("n"), "1");
}

// Which of 32 INCRs fail, as a text of X and dots.
std::string Pattern(store::Store& inner, base::Clock& clock, FaultyStoreOptions options) {
  FaultyStore faulty(inner, clock, std::move(options));
  std::string pattern;
  for (int i = 0; i < 32; ++i) pattern += base::Run(store::Incr(faulty, "n")).ok() ? '.' : 'X';
  return pattern;
}

TEST_F(FaultyMemoryStore, RepeatsItsFaultsForTheSameSeed) {
  const std::vector<FaultRule> rules = {{.fault = Fault::kDropReply, .probability = 0.5}};
  const std::string first = Pattern(*session_, clock_, {.seed = 7, .faults = rules});
  EXPECT_EQ(Pattern(*session_, clock_, {.seed = 7, .faults = rules}), first);
  EXPECT_NE(Pattern(*session_, clock_, {.seed = 8, .faults = rules}), first);
  RecordedDecisions never({});
  EXPECT_EQ(Pattern(*session_, clock_, {.faults = rules, .decisions = &never}),
            std::string(32, '.'));
}

TEST_F(FaultyMemoryStore, ComparesTheActorWithItsClientName) {
  const std::vector<FaultRule> rules = {{.fault = Fault::kDropReply, .actor = "a"}};
  EXPECT_EQ(Pattern(*session_, clock_, {.faults = rules, .client = "a"}), std::string(32, 'X'));
  EXPECT_EQ(Pattern(*session_, clock_, {.faults = rules, .client = "b"}), std::string(32, '.'));
}

TEST_F(FaultyMemoryStore, RefusesFaultsThatDoNotApplyToStores) {
  for (const FaultSpec& spec : AllFaults()) {
    FaultyStore faulty = Faulty({.fault = spec.fault, .nth = 99});
    const absl::Status status = base::Run(store::Incr(faulty, "n")).status();
    if (spec.AppliesTo(FaultSite::kStore)) {
      EXPECT_THAT(status, IsOk()) << spec.name;
    } else {
      EXPECT_THAT(status,
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(std::string(spec.name))));
    }
  }
}

// On a store that completes requests later, as a live client does.
TEST(FaultyStoreOverAFakeStore, WaitsForTheReplyThatIsLost) {
  base::VirtualClock clock;
  store::FakeStore fake;
  FaultyStore faulty(fake, clock, {.faults = {{.fault = Fault::kDropReply}}});
  fake.ExpectHeld({"INCR", "n"});
  auto task = store::Incr(faulty, "n");
  task.Start();
  EXPECT_FALSE(task.done());
  fake.Answer(Reply::Integer(1));
  EXPECT_EQ(store::ErrorKindOf(task.TakeResult().status()), ErrorKind::kOutcomeUnknown);
}

TEST(FaultyStoreOverAFakeStore, PassesOnThatALostReplyWasNeverSent) {
  base::VirtualClock clock;
  store::FakeStore fake;
  FaultyStore faulty(fake, clock, {.faults = {{.fault = Fault::kDropReply}}});
  fake.Expect({"INCR", "n"}, store::NotSentError("not connected"));
  EXPECT_EQ(store::ErrorKindOf(base::Run(store::Incr(faulty, "n")).status()), ErrorKind::kNotSent);
}

TEST(FaultyStoreOverAFakeStore, SendsADuplicateAfterTheFirstReply) {
  base::VirtualClock clock;
  store::FakeStore fake;
  FaultyStore faulty(fake, clock, {.faults = {{.fault = Fault::kDuplicate}}});
  fake.ExpectHeld({"INCR", "n"});
  fake.ExpectHeld({"INCR", "n"});
  auto task = store::Incr(faulty, "n");
  task.Start();
  EXPECT_EQ(fake.held(), 1u);
  fake.Answer(Reply::Integer(1));
  EXPECT_FALSE(task.done());
  fake.Answer(Reply::Integer(2));
  EXPECT_THAT(task.TakeResult(), IsOkAndHolds(2));
}

TEST(FaultyStoreOverAFakeStore, ForwardsRequestsThatNoRuleMatches) {
  base::VirtualClock clock;
  store::FakeStore fake;
  FaultyStore faulty(fake, clock, {.faults = {{.fault = Fault::kDropReply, .command = "SET"}}});
  fake.Expect({"GET", "k"}, Reply::Bulk("v"));
  EXPECT_THAT(base::Run(store::Get(faulty, "k")), IsOkAndHolds(Optional(std::string("v"))));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
