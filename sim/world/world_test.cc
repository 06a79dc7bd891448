#include "redouble/sim/world/world.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOkAndHolds;
using base::Task;

// Increments with GET and SET, so updates can be lost.
Task<void> AddOneUnsafely(Actor& actor) {
  const auto count = co_await store::Get(actor.store(), "count");
  const int next = count.value().has_value() ? std::stoi(*count.value()) + 1 : 1;
  const std::string text = std::to_string(next);
  EXPECT_TRUE((co_await store::Set(actor.store(), "count", text)).ok());
}

std::string Read(World& world, std::string_view key) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, key)).value().value_or("(nil)");
}

TEST(World, RunsAnActorToItsEnd) {
  World world;
  Actor& actor = world.Spawn("a", AddOneUnsafely);
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kDone);
  EXPECT_EQ(report.steps, 3);  // The actor's start and two commands.
  EXPECT_TRUE(actor.done());
  EXPECT_EQ(world.commands(), 2);
  EXPECT_EQ(Read(world, "count"), "1");
}

TEST(World, SomeSeedsLoseAnUpdateAndSomeDoNot) {
  std::set<std::string> counts;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    World world({.seed = seed});
    world.Spawn("a", AddOneUnsafely);
    world.Spawn("b", AddOneUnsafely);
    EXPECT_EQ(world.Run().end, RunEnd::kDone);
    counts.insert(Read(world, "count"));
  }
  EXPECT_EQ(counts, (std::set<std::string>{"1", "2"}));
}

// Runs two actors and returns the hash of the trace.
std::string HashOf(WorldOptions options, std::vector<uint32_t>* decisions = nullptr) {
  World world(std::move(options));
  world.Spawn("a", AddOneUnsafely);
  world.Spawn("b", AddOneUnsafely);
  world.Run();
  if (decisions != nullptr) *decisions = world.decisions();
  return world.TraceHash();
}

TEST(World, RunsEqualForEqualSeeds) {
  std::set<std::string> hashes;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string hash = HashOf({.seed = seed});
    EXPECT_EQ(hash, HashOf({.seed = seed}));
    hashes.insert(hash);
  }
  EXPECT_GT(hashes.size(), 1u);
}

TEST(World, ReplaysRecordedDecisions) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint32_t> decisions;
    const std::string hash = HashOf({.seed = seed}, &decisions);
    RecordedDecisions recorded(decisions);
    EXPECT_EQ(hash, HashOf({.seed = seed, .decisions = &recorded}));
  }
}

TEST(World, QuietDecisionsRunOneActorAfterTheOther) {
  RecordedDecisions quiet({});
  World world({.decisions = &quiet});
  world.Spawn("a", AddOneUnsafely);
  world.Spawn("b", AddOneUnsafely);
  world.Run();
  EXPECT_EQ(Read(world, "count"), "2");
}

TEST(World, ADecisionThatDoesNotFitIsQuiet) {
  RecordedDecisions recorded({7, 7, 7, 7, 7, 7});
  World world({.decisions = &recorded});
  world.Spawn("a", AddOneUnsafely);
  world.Spawn("b", AddOneUnsafely);
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(Read(world, "count"), "2");
}

TEST(World, AdvancesTheClockWhenNoActorCanRun) {
  World world;
  const absl::Time start = world.clock().Now();
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    co_await actor.clock().Sleep(absl::Minutes(5));
    EXPECT_TRUE((co_await store::Set(actor.store(), "k", "v")).ok());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(world.clock().Now(), start + absl::Minutes(5));
}

TEST(World, StopsTheClockAtTheGivenTime) {
  World world;
  const absl::Time start = world.clock().Now();
  Actor& actor = world.Spawn(
      "a", [](Actor& self) -> Task<void> { co_await self.clock().Sleep(absl::Minutes(5)); });
  const RunReport report = world.Run({.until = start + absl::Minutes(4)});
  EXPECT_EQ(report.end, RunEnd::kTimeLimit);
  EXPECT_FALSE(actor.done());
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

TEST(World, StopsAfterTheGivenEvent) {
  World world({.stop_after = [](std::string_view line) {
    return line.find("\"SET\"") != std::string_view::npos;
  }});
  Actor& first = world.Spawn("a", AddOneUnsafely);
  world.Spawn("b", AddOneUnsafely);
  world.AddFinalInvariant("never asked", [] { return absl::InternalError("it was"); });
  EXPECT_EQ(world.Run().end, RunEnd::kStopped);
  EXPECT_LE(world.commands(), 3);
  EXPECT_EQ(Read(world, "count"), "1");
  EXPECT_FALSE(first.done() && world.actors()[1]->done());
  EXPECT_EQ(world.Run().steps, 0);
}

TEST(World, WakesABlockedActorByTheCommandOfAnother) {
  World world;
  std::string popped;
  world.Spawn("consumer", [&](Actor& actor) -> Task<void> {
    const std::string_view queues[] = {"queue"};
    const auto job = co_await store::BLPop(actor.store(), queues, absl::InfiniteDuration());
    popped = job.value().value().element;
  });
  world.Spawn("producer", [](Actor& actor) -> Task<void> {
    const std::string_view jobs[] = {"job"};
    EXPECT_TRUE((co_await store::RPush(actor.store(), "queue", jobs)).ok());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(popped, "job");
}

// Waits on a queue that stays empty.
Task<void> WaitForEver(Actor& actor) {
  const std::string_view queues[] = {"queue"};
  (void)co_await store::BLPop(actor.store(), queues, absl::InfiniteDuration());
}

TEST(World, ReportsAnActorThatIsBlockedForever) {
  World world;
  world.Spawn("a", WaitForEver);
  EXPECT_EQ(world.Run().end, RunEnd::kStuck);
}

TEST(World, DoesNotWaitForDaemons) {
  World world;
  world.Spawn("daemon", WaitForEver, {.daemon = true});
  world.Spawn("a", AddOneUnsafely);
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
}

TEST(World, LimitsTheSteps) {
  World world;
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    while (true) (void)co_await store::Incr(actor.store(), "n");
  });
  const RunReport report = world.Run({.max_steps = 10});
  EXPECT_EQ(report.end, RunEnd::kStepLimit);
  EXPECT_EQ(report.steps, 10);
  EXPECT_EQ(Read(world, "n"), "9");
}

TEST(World, EndsARunAtTheFirstBrokenInvariant) {
  World world;
  world.Spawn("a", [](Actor& actor) -> Task<void> {
    while (true) (void)co_await store::Incr(actor.store(), "n");
  });
  world.AddInvariant("n stays below 3", [&] {
    return Read(world, "n") == "3" ? absl::FailedPreconditionError("n is 3") : absl::OkStatus();
  });
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kViolation);
  EXPECT_EQ(report.violation, absl::FailedPreconditionError("n stays below 3: n is 3"));
  EXPECT_EQ(Read(world, "n"), "3");
}

TEST(World, AsksFinalInvariantsAtTheEndAlone) {
  World world;
  world.Spawn("a", AddOneUnsafely);
  world.AddFinalInvariant("count is 2", [&] {
    return Read(world, "count") == "2" ? absl::OkStatus() : absl::InternalError("it is not");
  });
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kViolation);
  EXPECT_EQ(report.violation, absl::InternalError("count is 2: it is not"));
  EXPECT_EQ(report.steps, 3);
}

TEST(World, AFinalInvariantMayBeAPlainCondition) {
  World world;
  world.Spawn("a", AddOneUnsafely);
  world.AddFinalInvariant("it counts", [&] { return Read(world, "count") == "1"; });
  world.AddFinalInvariant("count is 2", [&] { return Read(world, "count") == "2"; });
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kViolation);
  EXPECT_EQ(report.violation, absl::InternalError("count is 2: does not hold"));
}

TEST(World, RemembersWhichProbesWereReached) {
  RecordedDecisions quiet({});
  World world({.decisions = &quiet});
  world.Spawn("a", AddOneUnsafely);
  world.Spawn("b", AddOneUnsafely);
  world.AddProbe("one on the way", [&] { return Read(world, "count") == "1"; });
  world.AddProbe("three", [&] { return Read(world, "count") == "3"; });
  world.Run();
  ASSERT_EQ(world.probes().size(), 2u);
  EXPECT_EQ(world.probes()[0].name, "one on the way");
  EXPECT_TRUE(world.probes()[0].reached);
  EXPECT_FALSE(world.probes()[1].reached);
}

TEST(World, ACrashEndsAnActorBetweenTwoCommands) {
  RecordedDecisions quiet({});
  World world({.decisions = &quiet});
  Actor& actor = world.Spawn("a", [](Actor& self) -> Task<void> {
    EXPECT_TRUE((co_await store::Set(self.store(), "first", "1")).ok());
    EXPECT_TRUE((co_await store::Set(self.store(), "second", "1")).ok());
  });
  EXPECT_TRUE(world.Step());  // The start.
  EXPECT_TRUE(world.Step());  // The first command.
  world.Crash(actor);
  EXPECT_TRUE(actor.crashed());
  EXPECT_FALSE(world.Step());
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(Read(world, "first"), "1");
  EXPECT_EQ(Read(world, "second"), "(nil)");

  world.Restart(actor);
  EXPECT_EQ(actor.incarnation(), 1);
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_TRUE(actor.done());
  EXPECT_EQ(Read(world, "second"), "1");
}

TEST(World, ACrashTakesABlockedCommandBack) {
  World world;
  Actor& consumer = world.Spawn("consumer", WaitForEver);
  EXPECT_TRUE(world.Step());
  EXPECT_TRUE(world.Step());
  world.Crash(consumer);
  world.Spawn("producer", [](Actor& actor) -> Task<void> {
    const std::string_view jobs[] = {"job"};
    EXPECT_TRUE((co_await store::RPush(actor.store(), "queue", jobs)).ok());
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  const std::unique_ptr<memory::Session> session = world.Connect();
  EXPECT_THAT(base::Run(store::LLen(*session, "queue")), IsOkAndHolds(1));
}

TEST(World, AnActorHasAClockOfItsOwn) {
  World world;
  const absl::Time start = world.clock().Now();
  Actor& ahead = world.Spawn("ahead", [&](Actor& actor) -> Task<void> {
    EXPECT_EQ(actor.clock().Now(), start + absl::Seconds(3));
    co_await actor.clock().SleepUntil(start + absl::Seconds(10));
  });
  ahead.clock().set_skew(absl::Seconds(3));
  EXPECT_EQ(ahead.clock().skew(), absl::Seconds(3));
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(world.clock().Now(), start + absl::Seconds(7));
}

TEST(World, AnActorMayHaveSeveralConnections) {
  World world;
  std::vector<std::string> popped;
  world.Spawn("a", [&](Actor& actor) -> Task<void> {
    const std::unique_ptr<store::MessageSource> blocking = actor.Connect();
    const std::string_view queues[] = {"queue"};
    const std::string_view jobs[] = {"job"};
    Task<absl::StatusOr<std::optional<store::PoppedElement>>> pop =
        store::BLPop(*blocking, queues, absl::InfiniteDuration());
    pop.Start();
    EXPECT_TRUE((co_await store::RPush(actor.store(), "queue", jobs)).ok());
    // The job was taken, whichever of the two requests was sent first.
    co_await actor.clock().Sleep(absl::Seconds(1));
    popped.push_back(pop.TakeResult()->value().element);
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  EXPECT_EQ(popped, std::vector<std::string>{"job"});
}

TEST(World, TracesWhatActorsSendAndNothingElse) {
  std::vector<std::string> lines;
  World world({.trace_listener = [&](std::string_view line) { lines.emplace_back(line); }});
  world.Spawn("a", AddOneUnsafely);
  world.Run();
  EXPECT_EQ(Read(world, "count"), "1");
  EXPECT_EQ(lines, (std::vector<std::string>{
                       R"({"index":0,"us":1767225600000000,"client":"a","command":["GET","count"],)"
                       R"("reply":null})",
                       R"({"index":1,"us":1767225600000000,"client":"a",)"
                       R"("command":["SET","count","1"],"reply":{"status":"OK"}})"}));
}

TEST(World, AnUntracedRunHasTheHashOfNothing) {
  World idle;
  EXPECT_EQ(HashOf({.traced = false}), idle.TraceHash());
}

TEST(World, EndsActorsThatStillWaitWhenItGoes) {
  bool ended = false;
  {
    struct Guard {
      bool& ended;
      ~Guard() { ended = true; }
    };
    World world;
    world.Spawn("a", [&](Actor& actor) -> Task<void> {
      const Guard guard{ended};
      co_await WaitForEver(actor);
    });
    EXPECT_EQ(world.Run().end, RunEnd::kStuck);
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
