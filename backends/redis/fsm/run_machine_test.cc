#include "redouble/backends/redis/fsm/run_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace redouble::inline v0_1::redis {
namespace {

using Kind = RunAction::Kind;

RunOptions TestOptions() {
  RunOptions options;
  options.backoff_base_us = 100;
  options.backoff_cap_us = 1000;
  options.health_check_interval_us = 10'000;
  options.health_timeout_us = 2'000;
  return options;
}

RunMachine Machine(RunOptions options = TestOptions(), uint64_t seed = 1) {
  return RunMachine(options, base::Rng(seed));
}

// The waits before the attempts after a loss; all attempts fail.
std::vector<int64_t> Waits(RunMachine& machine, int count) {
  std::vector<int64_t> waits;
  int64_t now_us = 1'000'000;
  RunAction action = machine.Resume(RunEvent::Lost(now_us));
  EXPECT_EQ(action.kind, Kind::kConnect) << "the first attempt is made at once";
  for (int i = 0; i < count; ++i) {
    action = machine.Resume(RunEvent::Failed(now_us));
    EXPECT_EQ(action.kind, Kind::kWait);
    waits.push_back(action.wake_at_us - now_us);
    now_us = action.wake_at_us;
    EXPECT_EQ(machine.Resume(RunEvent::Timer(now_us)).kind, Kind::kConnect);
  }
  return waits;
}

TEST(RunMachine, ConnectsAndWatchesTheConnection) {
  RunMachine machine = Machine();
  EXPECT_EQ(machine.Resume(RunEvent::Started(5)).kind, Kind::kConnect);
  const RunAction action = machine.Resume(RunEvent::Connected(20));
  EXPECT_EQ(action.kind, Kind::kWait);
  EXPECT_EQ(action.wake_at_us, 10'020);
}

TEST(RunMachine, WaitsLongerAfterEachFailureUpToTheCap) {
  std::vector<int64_t> longest(8, 0);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RunMachine machine = Machine(TestOptions(), seed);
    const std::vector<int64_t> waits = Waits(machine, 8);
    for (size_t i = 0; i < waits.size(); ++i) longest[i] = std::max(longest[i], waits[i]);
  }
  const std::vector<int64_t> limits = {100, 200, 400, 800, 1000, 1000, 1000, 1000};
  for (size_t i = 0; i < limits.size(); ++i) {
    EXPECT_LE(longest[i], limits[i]) << i;
    EXPECT_GE(longest[i], limits[i] * 9 / 10) << "full jitter uses the whole range: " << i;
  }
}

TEST(RunMachine, DrawsTheSameWaitsForTheSameSeedAndOthersForAnother) {
  RunMachine first = Machine(), second = Machine(), other = Machine(TestOptions(), 2);
  const std::vector<int64_t> waits = Waits(first, 8);
  EXPECT_EQ(waits, Waits(second, 8));
  EXPECT_NE(waits, Waits(other, 8));
}

TEST(RunMachine, CountsFailuresAnewOnlyOnceTheServerHasAnswered) {
  RunMachine machine = Machine();
  Waits(machine, 3);
  machine.Resume(RunEvent::Connected(0));
  EXPECT_EQ(machine.Resume(RunEvent::Lost(1)).kind, Kind::kWait) << "it hung up at once";
  machine.Resume(RunEvent::Timer(2000));
  machine.Resume(RunEvent::Connected(2000));
  EXPECT_EQ(machine.Resume(RunEvent::Received(2001)).kind, Kind::kNone);
  EXPECT_EQ(machine.failures(), 0);
  EXPECT_EQ(machine.Resume(RunEvent::Lost(2002)).kind, Kind::kConnect);
}

TEST(RunMachine, NeverOverflowsItsWaits) {
  RunOptions options = TestOptions();
  options.backoff_cap_us = RunOptions::kNever;
  options.backoff_base_us = RunOptions::kNever / 4;
  RunMachine machine = Machine(options);
  machine.Resume(RunEvent::Lost(1));
  for (int i = 0; i < 100; ++i) {
    const RunAction action = machine.Resume(RunEvent::Failed(1'000'000));
    ASSERT_EQ(action.kind, Kind::kWait);
    ASSERT_GE(action.wake_at_us, 1'000'000);
  }
}

TEST(RunMachine, GivesUpWithoutReconnection) {
  RunOptions options = TestOptions();
  options.reconnect = false;
  RunMachine machine = Machine(options);
  machine.Resume(RunEvent::Connected(0));
  EXPECT_EQ(machine.Resume(RunEvent::Lost(1)).kind, Kind::kFinish);
  EXPECT_EQ(machine.Resume(RunEvent::Timer(2)).kind, Kind::kFinish);
  RunMachine dialing = Machine(options);
  dialing.Resume(RunEvent::Started(0));
  EXPECT_EQ(dialing.Resume(RunEvent::Failed(1)).kind, Kind::kFinish);
}

TEST(RunMachine, PingsAfterSilenceAndWatchesOnWhenAnswered) {
  RunMachine machine = Machine();
  machine.Resume(RunEvent::Connected(0));
  const RunAction ping = machine.Resume(RunEvent::Timer(10'000));
  EXPECT_EQ(ping.kind, Kind::kPing);
  EXPECT_EQ(ping.wake_at_us, 12'000);
  const RunAction watch = machine.Resume(RunEvent::Received(10'500));
  EXPECT_EQ(watch.kind, Kind::kWait);
  EXPECT_EQ(watch.wake_at_us, 20'500);
  EXPECT_EQ(machine.Resume(RunEvent::Timer(20'500)).kind, Kind::kPing);
}

TEST(RunMachine, DropsAConnectionThatDoesNotAnswerThePing) {
  RunMachine machine = Machine();
  machine.Resume(RunEvent::Connected(0));
  machine.Resume(RunEvent::Timer(10'000));
  EXPECT_EQ(machine.Resume(RunEvent::Timer(12'000)).kind, Kind::kDrop);
  EXPECT_EQ(machine.Resume(RunEvent::Lost(12'000)).kind, Kind::kConnect);
}

TEST(RunMachine, DoesNotPingAConnectionThatReceives) {
  RunMachine machine = Machine();
  machine.Resume(RunEvent::Connected(0));
  machine.Resume(RunEvent::Received(9'000));
  const RunAction action = machine.Resume(RunEvent::Timer(10'000));
  EXPECT_EQ(action.kind, Kind::kWait);
  EXPECT_EQ(action.wake_at_us, 19'000);
}

TEST(RunMachine, IgnoresTimersThatComeEarlyOrForNothing) {
  RunMachine machine = Machine();
  EXPECT_EQ(machine.Resume(RunEvent::Timer(5)).kind, Kind::kNone);
  machine.Resume(RunEvent::Started(0));
  EXPECT_EQ(machine.Resume(RunEvent::Timer(5)).kind, Kind::kNone);
  machine.Resume(RunEvent::Connected(6));
  EXPECT_EQ(machine.Resume(RunEvent::Timer(7)).kind, Kind::kNone);
}

TEST(RunMachine, AsksForNoTimerWithoutHealthChecks) {
  RunOptions options = TestOptions();
  options.health_check_interval_us = RunOptions::kNever;
  RunMachine machine = Machine(options);
  EXPECT_EQ(machine.Resume(RunEvent::Connected(0)).kind, Kind::kNone);
}

TEST(RunMachine, TakesItsTimesFromTheOptions) {
  const RunOptions options = RunOptions::From(
      Options::Parse(
          "redis://h?reconnect=no&backoff_base=2ms&backoff_cap=3ms&health_check_interval=inf&"
          "command_timeout=4ms")
          .value());
  EXPECT_FALSE(options.reconnect);
  EXPECT_EQ(options.backoff_base_us, 2000);
  EXPECT_EQ(options.backoff_cap_us, 3000);
  EXPECT_EQ(options.health_check_interval_us, RunOptions::kNever);
  EXPECT_EQ(options.health_timeout_us, 4000);
}

TEST(RunMachine, WatchesAConnectionAlsoIfCommandsHaveNoLimit) {
  const auto timeout_us = [](const char* query) {
    return RunOptions::From(Options::Parse(query).value()).health_timeout_us;
  };
  EXPECT_EQ(timeout_us("redis://h?command_timeout=3s"), 3'000'000);
  EXPECT_EQ(timeout_us("redis://h?command_timeout=inf&connect_timeout=7s"), 7'000'000);
  EXPECT_EQ(timeout_us("redis://h?command_timeout=inf&connect_timeout=inf"), 10'000'000);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
