// Worlds with split events: each test needs one kind of event, and shows that some schedules have
// one outcome and some another one.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;
using store::Batch;
using store::Command;
using store::CommandId;
using Outcomes = std::set<std::string>;

std::string Read(World& world, std::string_view key) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, key)).value().value_or("-");
}

// Fills a world and returns a function that tells the outcome of the run.
using Filling = std::function<std::function<std::string()>(World&)>;

// The outcomes of all schedules.
Outcomes AllOutcomes(const Filling& fill, WorldOptions options = {}) {
  Outcomes outcomes;
  ExhaustiveDecisions decisions;
  do {
    options.decisions = &decisions;
    World world(options);
    const std::function<std::string()> outcome = fill(world);
    const RunReport report = world.Run();
    if (decisions.redundant()) continue;
    EXPECT_EQ(report.end, RunEnd::kDone);
    outcomes.insert(outcome());
  } while (decisions.Next());
  return outcomes;
}

Outcomes OutcomesOf(const Filling& fill, std::vector<FaultRule> faults = {}, int clock_moves = 0,
                    absl::Duration timeout = absl::InfiniteDuration()) {
  return AllOutcomes(fill, {.faults = std::move(faults),
                            .events = Events::kSplit,
                            .clock_moves = clock_moves,
                            .request_timeout = timeout});
}

Batch SetBoth(Batch::Atomicity atomicity) {
  Batch batch(atomicity);
  batch.Add(CommandId::kSet, {"p", "1"});
  batch.Add(CommandId::kSet, {"q", "1"});
  return batch;
}

// One actor sets p and q; another reads both. The outcome is what it has read.
Filling WriterAndReader(Batch::Atomicity atomicity) {
  return [atomicity](World& world) {
    world.Spawn("writer", [atomicity](Actor& actor) -> Task<void> {
      const Batch batch = SetBoth(atomicity);
      EXPECT_TRUE((co_await store::Execute(actor.store(), batch)).ok());
    });
    const auto seen = std::make_shared<std::string>();
    world.Spawn("reader", [seen](Actor& actor) -> Task<void> {
      const Command read(CommandId::kMGet, {"p", "q"});
      const auto reply = co_await actor.store().Execute(read);
      seen->clear();
      for (const store::Reply& value : reply.value().elements())
        *seen += value.is_nil() ? "-" : "1";
    });
    return [seen] { return *seen; };
  };
}

TEST(SplitEvents, OthersRunBetweenTheCommandsOfAPipeline) {
  const Filling pipeline = WriterAndReader(Batch::Atomicity::kPipeline);
  EXPECT_EQ(OutcomesOf(pipeline), (Outcomes{"--", "1-", "11"}));
  EXPECT_EQ(AllOutcomes(pipeline), (Outcomes{"--", "11"}));
}

TEST(SplitEvents, NobodyRunsWithinATransaction) {
  EXPECT_EQ(OutcomesOf(WriterAndReader(Batch::Atomicity::kTransaction)), (Outcomes{"--", "11"}));
}

TEST(SplitEvents, NobodyRunsWithinAScript) {
  const Filling script = [](World& world) {
    world.Spawn("writer", [](Actor& actor) -> Task<void> {
      const Command set(CommandId::kEval,
                        {"redis.call('SET','p','1') return redis.call('SET','q','1')", "0"});
      EXPECT_TRUE((co_await actor.store().Execute(set)).ok());
    });
    const auto seen = std::make_shared<std::string>();
    world.Spawn("reader", [seen](Actor& actor) -> Task<void> {
      const auto p = co_await store::Get(actor.store(), "p");
      const auto q = co_await store::Get(actor.store(), "q");
      *seen = p.value().value_or("-") + q.value().value_or("-");
    });
    return [seen] { return *seen; };
  };
  EXPECT_EQ(OutcomesOf(script), (Outcomes{"--", "-1", "11"}));
}

TEST(SplitEvents, AConnectionBreaksInTheMiddleOfAPipeline) {
  const Filling writer = [](World& world) {
    world.Spawn("writer", [](Actor& actor) -> Task<void> {
      const Batch batch = SetBoth(Batch::Atomicity::kPipeline);
      const auto replies = co_await store::Execute(actor.store(), batch);
      EXPECT_EQ(store::ErrorKindOf(replies.status()), store::ErrorKind::kOutcomeUnknown);
    });
    return [&world] { return Read(world, "p") + Read(world, "q"); };
  };
  EXPECT_EQ(OutcomesOf(writer, {{.fault = Fault::kGiveUp}}), (Outcomes{"--", "1-", "11"}));
}

// Sets a key, and sets it again if that failed.
Task<void> SetTwice(Actor& actor) {
  const auto first = co_await store::Set(actor.store(), "k", "first");
  if (!first.ok()) (void)co_await store::Set(actor.store(), "k", "second");
}

TEST(SplitEvents, ARequestIsExecutedAfterItsClientGaveUp) {
  const Filling writer = [](World& world) {
    world.Spawn("writer", SetTwice);
    return [&world] { return Read(world, "k"); };
  };
  EXPECT_EQ(OutcomesOf(writer, {{.fault = Fault::kGiveUp, .nth = 1}}),
            (Outcomes{"first", "second"}));
  EXPECT_EQ(OutcomesOf(writer), (Outcomes{"first"}));
}

TEST(SplitEvents, ARequestIsExecutedAfterTheRestartOfItsActor) {
  const Filling writer = [](World& world) {
    world.Spawn("writer", [](Actor& actor) -> Task<void> {
      const std::string value = std::to_string(actor.incarnation());
      (void)co_await store::Set(actor.store(), "k", value);
    });
    return [&world] { return Read(world, "k"); };
  };
  const FaultRule crash{.fault = Fault::kCrashInFlight, .nth = 1, .duration = absl::Seconds(1)};
  // A fast network executes it before the restart.
  EXPECT_EQ(OutcomesOf(writer, {crash}), (Outcomes{"1"}));
  EXPECT_EQ(OutcomesOf(writer, {crash}, /*clock_moves=*/1), (Outcomes{"0", "1"}));
}

TEST(SplitEvents, ADuplicateArrivesLate) {
  const Filling writer = [](World& world) {
    world.Spawn("writer", [](Actor& actor) -> Task<void> {
      (void)co_await store::Set(actor.store(), "k", "1");
      (void)co_await store::Set(actor.store(), "k", "2");
    });
    return [&world] { return Read(world, "k"); };
  };
  const std::vector<FaultRule> faults = {{.fault = Fault::kDuplicate, .nth = 1}};
  EXPECT_EQ(OutcomesOf(writer, faults), (Outcomes{"1", "2"}));
  EXPECT_EQ(AllOutcomes(writer, {.faults = faults}), (Outcomes{"2"}));
}

// One actor sets k; another reads it after a second. The outcome: what it read, and how long the
// first one waited.
std::function<std::string()> WriteAndReadLater(World& world) {
  const auto told = std::make_shared<std::string>();
  const absl::Time start = world.clock().Now();
  world.Spawn("writer", [=](Actor& actor) -> Task<void> {
    const auto set = co_await store::Set(actor.store(), "k", "1");
    *told += absl::FormatDuration(actor.clock().Now() - start) + (set.ok() ? " ok" : " unknown");
  });
  world.Spawn("reader", [=](Actor& actor) -> Task<void> {
    co_await actor.clock().Sleep(absl::Seconds(1));
    *told += (co_await store::Get(actor.store(), "k")).value().value_or("-") + " ";
  });
  return [told] { return *told; };
}

TEST(SplitEvents, APartitionHoldsWhatAnActorSends) {
  EXPECT_EQ(
      OutcomesOf(
          WriteAndReadLater,
          {{.fault = Fault::kPartitionRequests, .actor = "writer", .duration = absl::Seconds(5)}}),
      (Outcomes{"- 5s ok"}));
}

TEST(SplitEvents, APartitionHoldsWhatAnActorReceives) {
  EXPECT_EQ(
      OutcomesOf(
          WriteAndReadLater,
          {{.fault = Fault::kPartitionReplies, .actor = "writer", .duration = absl::Seconds(5)}}),
      (Outcomes{"1 5s ok"}));
}

TEST(SplitEvents, AClientGivesUpAtItsTimeout) {
  EXPECT_EQ(
      OutcomesOf(
          WriteAndReadLater,
          {{.fault = Fault::kPartitionRequests, .actor = "writer", .duration = absl::Seconds(5)}},
          /*clock_moves=*/0, /*timeout=*/absl::Seconds(2)),
      (Outcomes{"- 2s unknown"}));
}

TEST(SplitEvents, AReplyIsSlowerThanATimeout) {
  const Filling writer = [](World& world) {
    const auto told = std::make_shared<std::string>();
    world.Spawn("writer", [told](Actor& actor) -> Task<void> {
      const auto set = co_await store::Set(actor.store(), "k", "1");
      *told = set.ok() ? "ok" : "unknown";
    });
    return [&world, told] { return *told + " " + Read(world, "k"); };
  };
  EXPECT_EQ(OutcomesOf(writer, {}, /*clock_moves=*/0, absl::Seconds(2)), (Outcomes{"ok 1"}));
  EXPECT_EQ(OutcomesOf(writer, {}, /*clock_moves=*/1, absl::Seconds(2)),
            (Outcomes{"ok 1", "unknown -", "unknown 1"}));
}

TEST(SplitEvents, TheClockMovesAtMostSoOften) {
  const Filling sleeper = [](World& world) {
    const auto order = std::make_shared<std::string>();
    world.Spawn("slow", [order](Actor& actor) -> Task<void> {
      for (int i = 0; i < 2; ++i) (void)co_await store::Set(actor.store(), "k", "1");
      *order += "s";
    });
    world.Spawn("timer", [order](Actor& actor) -> Task<void> {
      for (int i = 0; i < 3; ++i) {
        co_await actor.clock().Sleep(absl::Seconds(1));
        *order += "t";
      }
    });
    return [order] { return *order; };
  };
  for (const Events events : {Events::kAtomic, Events::kSplit}) {
    const auto with = [&](int moves) {
      return AllOutcomes(sleeper, {.events = events, .clock_moves = moves});
    };
    EXPECT_EQ(with(0), (Outcomes{"sttt"}));
    EXPECT_EQ(with(1), (Outcomes{"sttt", "tstt"}));
    EXPECT_EQ(with(2), (Outcomes{"sttt", "tstt", "ttst"}));
  }
}

TEST(SplitEvents, APushArrivesAfterThePublisherWentOn) {
  class Listener final : public store::PushListener {
   public:
    explicit Listener(std::string& order) : order_(order) {}
    void OnPush(const store::Reply& push) override {
      if (store::ReadMessage(push)) order_ += "m";
    }

   private:
    std::string& order_;
  };
  const Filling publish = [](World& world) {
    const auto order = std::make_shared<std::string>();
    world.Spawn("subscriber", [order](Actor& actor) -> Task<void> {
      Listener listener(*order);
      actor.store().Listen(&listener);
      const Command subscribe(CommandId::kSubscribe, {"c"});
      (void)co_await actor.store().Execute(subscribe);
      co_await actor.clock().Sleep(absl::Seconds(2));
      actor.store().Listen(nullptr);
    });
    world.Spawn("publisher", [order](Actor& actor) -> Task<void> {
      co_await actor.clock().Sleep(absl::Seconds(1));
      const Command message(CommandId::kPublish, {"c", "hello"});
      (void)co_await actor.store().Execute(message);
      *order += "p";
    });
    return [order] { return *order; };
  };
  // The two share a variable, which an exhaustive search does not see.
  Outcomes outcomes;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    World world({.seed = seed, .events = Events::kSplit});
    const std::function<std::string()> outcome = publish(world);
    EXPECT_EQ(world.Run().end, RunEnd::kDone);
    outcomes.insert(outcome());
  }
  EXPECT_EQ(outcomes, (Outcomes{"mp", "pm"}));
}

TEST(SplitEvents, ARequestThatNobodyAwaitsIsExecuted) {
  const Filling writer = [](World& world) {
    world.Spawn("writer", [](Actor& actor) -> Task<void> {
      const auto write = [&]() -> Task<void> {
        (void)co_await store::Set(actor.store(), "k", "1");
      };
      {
        Task<void> abandoned = write();
        abandoned.Start();
        co_await actor.clock().Sleep(absl::Seconds(1));
      }
      (void)co_await store::Append(actor.store(), "k", "2");
    });
    return [&world] { return Read(world, "k"); };
  };
  // With a clock that moves at once, the request has been sent or not, but was not executed.
  EXPECT_EQ(OutcomesOf(writer), (Outcomes{"12"}));
  EXPECT_EQ(OutcomesOf(writer, {}, /*clock_moves=*/1), (Outcomes{"12", "2"}));
}

TEST(SplitEvents, AServerThatRestartsForgetsWhatWasSent) {
  const Filling writers = [](World& world) {
    for (const char* name : {"a", "b"}) {
      world.Spawn(name, [](Actor& actor) -> Task<void> {
        (void)co_await store::Set(actor.store(), actor.name(), "1");
      });
    }
    return [&world] { return Read(world, "a") + Read(world, "b"); };
  };
  EXPECT_EQ(OutcomesOf(writers, {{.fault = Fault::kRestart, .actor = "b"}}),
            (Outcomes{"--", "1-"}));
}

TEST(SplitEvents, AFaultThatNeedsThemIsAMistakeWithoutThem) {
  World world({.faults = {{.fault = Fault::kGiveUp}}});
  world.Spawn("writer", SetTwice);
  const RunReport report = world.Run();
  EXPECT_EQ(report.end, RunEnd::kMistake);
  EXPECT_EQ(report.mistake.message(), "the fault give_up needs split events");
}

TEST(SplitEvents, TheTraceShowsExecutionAndDelivery) {
  RecordedDecisions quiet({});
  std::vector<std::string> lines;
  World world({.decisions = &quiet,
               .events = Events::kSplit,
               .trace_listener = [&](std::string_view line) { lines.emplace_back(line); }});
  world.Spawn("writer", [](Actor& actor) -> Task<void> {
    const Batch batch = SetBoth(Batch::Atomicity::kPipeline);
    (void)co_await store::Execute(actor.store(), batch);
  });
  // The start, the sending, two executions, the delivery.
  EXPECT_EQ(world.Run().steps, 5);
  const std::string begin = R"(,"us":1767225600000000,"client":"writer",)";
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                R"({"index":0)" + begin + R"("command":["SET","p","1"],"reply":{"status":"OK"}})",
                R"({"index":1)" + begin + R"("command":["SET","q","1"],"reply":{"status":"OK"}})",
                R"({"index":2)" + begin + R"("event":"receives"})"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
