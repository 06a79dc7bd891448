#include "redouble/core/base/task/run.h"

#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/gate_for_test.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::base {
namespace {

Task<int> Number(int value) { co_return value; }

Task<int> NumberAfter(Gate& gate, int value) {
  co_await gate;
  co_return value;
}

// Opens `other` inside its own step, which ends a sibling task.
Task<int> OpenThenWait(Gate& other, Gate& own, std::vector<std::string>& log) {
  log.push_back("opens");
  other.Open();
  log.push_back("opened");
  co_await own;
  log.push_back("ends");
  co_return -1;
}

Task<int> WaitThenOpen(Gate& own, Gate& other, std::vector<std::string>& log) {
  co_await own;
  other.Open();
  log.push_back("still alive after opening");
  co_await Number(0);
  co_return -1;
}

Task<void> VoidAfter(Gate& gate) { co_await gate; }

Task<int> ThrowAfter(Gate& gate, std::string text) {
  co_await gate;
  throw std::runtime_error(text);
}

std::vector<Task<int>> Two(Task<int> first, Task<int> second) {
  std::vector<Task<int>> tasks;
  tasks.push_back(std::move(first));
  tasks.push_back(std::move(second));
  return tasks;
}

TEST(Run, GivesTheResult) { EXPECT_EQ(base::Run(Number(3)), 3); }

TEST(RunDeathTest, EndsTheProgramWhenTheTaskWaits) {
  Gate gate;
  EXPECT_DEATH(base::Run(NumberAfter(gate, 1)),
               "the task did not finish.*\n.*It waits for a timer");
}

TEST(Run, TakesAnAwaiter) {
  Gate gate;
  gate.Open();
  static_assert(std::is_void_v<decltype(base::Run(Gate::Awaiter(gate)))>);
  base::Run(Gate::Awaiter(gate));
}

// The goal: Run accepts the result of Store::Execute, which can be neither copied nor moved.
TEST(Run, ReturnsTheResultOfAnAwaiterThatCannotMove) {
  struct Answer {
    explicit Answer(int value) : value(value) {}
    Answer(const Answer&) = delete;
    bool await_ready() const { return true; }
    void await_suspend(std::coroutine_handle<>) {}
    std::unique_ptr<int> await_resume() { return std::make_unique<int>(value); }
    const int value;
  };
  EXPECT_EQ(*base::Run(Answer(7)), 7);
  Answer kept(8);
  EXPECT_EQ(*base::Run(kept), 8);
}

TEST(RunDeathTest, EndsTheProgramWhenAnAwaiterWaits) {
  Gate gate;
  EXPECT_DEATH(base::Run(Gate::Awaiter(gate)), "the task did not finish.*\n.*It waits for a timer");
}

TEST(RunUntilDone, LetsThingsHappenUntilTheTaskIsDone) {
  Gate gate;
  int steps = 0;
  const int value = RunUntilDone(NumberAfter(gate, 9), [&] {
    if (++steps == 3) gate.Open();
    return true;
  });
  EXPECT_EQ(value, 9);
  EXPECT_EQ(steps, 3);
}

TEST(RunUntilDoneDeathTest, EndsTheProgramWhenNothingIsLeftToHappen) {
  Gate gate;
  EXPECT_DEATH(RunUntilDone(NumberAfter(gate, 1), [] { return false; }),
               "the task did not finish.*\n.*It waits for a timer");
}

TEST(WhenAll, GivesResultsInTheOrderOfTheTasks) {
  Gate first;
  Gate second;
  auto all = WhenAll(Two(NumberAfter(first, 1), NumberAfter(second, 2)));
  all.Start();
  second.Open();
  EXPECT_FALSE(all.done());
  first.Open();
  ASSERT_TRUE(all.done());
  EXPECT_EQ(all.TakeResult(), (std::vector<int>{1, 2}));
}

TEST(WhenAll, FinishesAtOnceWhenAllTasksDo) {
  EXPECT_EQ(base::Run(WhenAll(Two(Number(1), Number(2)))), (std::vector<int>{1, 2}));
}

TEST(WhenAll, OfNothingIsNothing) {
  EXPECT_TRUE(base::Run(WhenAll(std::vector<Task<int>>())).empty());
}

TEST(WhenAll, StartsTheTasksTogether) {
  Gate first;
  Gate second;
  auto all = WhenAll(Two(NumberAfter(first, 1), NumberAfter(second, 2)));
  all.Start();
  EXPECT_TRUE(first.has_waiter());
  EXPECT_TRUE(second.has_waiter());
  first.Open();
  second.Open();
  EXPECT_TRUE(all.done());
}

TEST(WhenAll, WaitsForTheRestWhenOneEndsAtOnce) {
  Gate gate;
  auto all = WhenAll(Two(Number(1), NumberAfter(gate, 2)));
  all.Start();
  EXPECT_FALSE(all.done());
  gate.Open();
  EXPECT_EQ(all.TakeResult(), (std::vector<int>{1, 2}));
}

TEST(WhenAll, SeesATaskThatALaterOneFinishesWhileStarting) {
  Gate first;
  Gate second;
  std::vector<std::string> log;
  auto all = WhenAll(Two(NumberAfter(first, 1), OpenThenWait(first, second, log)));
  all.Start();
  EXPECT_FALSE(all.done());
  second.Open();
  EXPECT_EQ(all.TakeResult(), (std::vector<int>{1, -1}));
}

TEST(WhenAll, SeesATaskThatAnotherFinishesLater) {
  Gate first;
  Gate second;
  std::vector<std::string> log;
  auto all = WhenAll(Two(NumberAfter(first, 1), WaitThenOpen(second, first, log)));
  all.Start();
  second.Open();
  EXPECT_EQ(all.TakeResult(), (std::vector<int>{1, -1}));
}

TEST(WhenAll, TakesTasksWithoutAResult) {
  Gate gate;
  std::vector<Task<void>> tasks;
  tasks.push_back(VoidAfter(gate));
  Task<void> all = WhenAll(std::move(tasks));
  all.Start();
  EXPECT_FALSE(all.done());
  gate.Open();
  EXPECT_TRUE(all.done());
}

TEST(WhenAll, TakesTasksOfDifferentTypes) {
  Gate gate;
  const auto text = [](Gate& gate) -> Task<std::unique_ptr<std::string>> {
    co_await gate;
    co_return std::make_unique<std::string>("text");
  };
  auto all = WhenAll(Number(1), text(gate));
  all.Start();
  EXPECT_FALSE(all.done());
  gate.Open();
  const auto [number, pointer] = all.TakeResult();
  EXPECT_EQ(number, 1);
  EXPECT_EQ(*pointer, "text");
}

TEST(WhenAll, RethrowsTheFirstOfTheTasksThatThrewAfterAllHaveEnded) {
  Gate first;
  Gate second;
  auto all = WhenAll(Two(ThrowAfter(first, "one"), ThrowAfter(second, "two")));
  all.Start();
  second.Open();
  EXPECT_FALSE(all.done());
  first.Open();
  try {
    all.TakeResult();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "one");
  }
}

TEST(WhenAll, CancelsItsTasksWhenItIsDestroyed) {
  Gate first;
  Gate second;
  {
    auto all = WhenAll(Two(NumberAfter(first, 1), NumberAfter(second, 2)));
    all.Start();
  }
  EXPECT_FALSE(first.has_waiter());
  EXPECT_FALSE(second.has_waiter());
}

TEST(WhenAny, GivesTheFirstToEndAndCancelsTheOthers) {
  Gate first;
  Gate second;
  auto any = WhenAny(Two(NumberAfter(first, 1), NumberAfter(second, 2)));
  any.Start();
  EXPECT_FALSE(any.done());
  second.Open();
  ASSERT_TRUE(any.done());
  EXPECT_FALSE(first.has_waiter());
  const FirstResult<int> result = any.TakeResult();
  EXPECT_EQ(result.index, 1u);
  EXPECT_EQ(result.value, 2);
}

TEST(WhenAny, NeverStartsWhatIsBehindATaskThatEndsAtOnce) {
  bool started = false;
  const auto mark = [](bool& started) -> Task<int> {
    started = true;
    co_return 2;
  };
  EXPECT_EQ(base::Run(WhenAny(Two(Number(1), mark(started)))).index, 0u);
  EXPECT_FALSE(started);
}

TEST(WhenAny, CancelsAnEarlierTaskWhenALaterOneEndsAtOnce) {
  Gate gate;
  EXPECT_EQ(base::Run(WhenAny(Two(NumberAfter(gate, 1), Number(2)))).index, 1u);
  EXPECT_FALSE(gate.has_waiter());
}

TEST(WhenAny, GivesATaskThatALaterOneFinishesWhileStarting) {
  Gate first;
  Gate second;
  std::vector<std::string> log;
  auto any = WhenAny(Two(NumberAfter(first, 1), OpenThenWait(first, second, log)));
  any.Start();
  ASSERT_TRUE(any.done());
  EXPECT_EQ(any.TakeResult().index, 0u);
  EXPECT_EQ(log, (std::vector<std::string>{"opens", "opened"}));
  EXPECT_FALSE(second.has_waiter());
}

// The goal: a loser that ends the winner from inside its own step is on the stack; it is cancelled
// only after its step.
TEST(WhenAny, LetsALoserFinishTheStepInWhichItEndedTheWinner) {
  Gate winner;
  Gate loser;
  std::vector<std::string> log;
  const auto race = [](Gate& winner, Gate& loser, std::vector<std::string>& log) -> Task<int> {
    const FirstResult<int> first =
        co_await WhenAny(Two(NumberAfter(winner, 1), WaitThenOpen(loser, winner, log)));
    log.push_back("the race is over");
    co_return first.value;
  };
  Task<int> task = race(winner, loser, log);
  task.Start();
  loser.Open();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.TakeResult(), 1);
  EXPECT_EQ(log, (std::vector<std::string>{"still alive after opening", "the race is over"}));
}

TEST(WhenAny, CanBeCancelledWhileTheWinnersStepIsNotOver) {
  Gate winner;
  Gate loser;
  Gate outer;
  std::vector<std::string> log;
  Task<FirstResult<int>> race = WhenAny(Two(NumberAfter(winner, 1), NumberAfter(loser, 2)));
  race.Start();
  const auto cancel = [](Gate& outer, Gate& winner, Task<FirstResult<int>>& race) -> Task<bool> {
    co_await outer;
    winner.Open();
    const bool deferred = !race.done();
    { const Task<FirstResult<int>> cancelled = std::move(race); }
    co_return deferred;
  };
  Task<bool> task = cancel(outer, winner, race);
  task.Start();
  outer.Open();
  EXPECT_TRUE(task.TakeResult());
  EXPECT_FALSE(loser.has_waiter());
}

TEST(WhenAny, EndsInsideARunThatAnotherCoroutineCalls) {
  const auto outer = []() -> Task<int> {
    Gate winner;
    Gate loser;
    std::vector<std::string> log;
    const FirstResult<int> first =
        RunUntilDone(WhenAny(Two(NumberAfter(winner, 1), WaitThenOpen(loser, winner, log))), [&] {
          loser.Open();
          return true;
        });
    co_return first.value;
  };
  EXPECT_EQ(base::Run(outer()), 1);
}

TEST(WhenAny, OutlivesARunInsideALosersStep) {
  Gate winner;
  Gate loser;
  Gate unrelated;
  std::vector<std::string> log;
  const auto runs = [](Gate& own, Gate& winner, Gate& unrelated,
                       std::vector<std::string>& log) -> Task<int> {
    co_await own;
    RunUntilDone(VoidAfter(unrelated), [&] {
      winner.Open();
      unrelated.Open();
      return true;
    });
    log.push_back("still alive after the run");
    co_return -1;
  };
  auto any = WhenAny(Two(NumberAfter(winner, 1), runs(loser, winner, unrelated, log)));
  any.Start();
  loser.Open();
  ASSERT_TRUE(any.done());
  EXPECT_EQ(any.TakeResult().index, 0u);
  EXPECT_EQ(log, (std::vector<std::string>{"still alive after the run"}));
}

TEST(WhenAny, TakesTasksWithoutAResult) {
  Gate first;
  Gate second;
  std::vector<Task<void>> tasks;
  tasks.push_back(VoidAfter(first));
  tasks.push_back(VoidAfter(second));
  Task<size_t> any = WhenAny(std::move(tasks));
  any.Start();
  second.Open();
  EXPECT_EQ(any.TakeResult(), 1u);
  EXPECT_FALSE(first.has_waiter());
}

TEST(WhenAny, CarriesMoveOnlyResults) {
  const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  std::vector<Task<std::unique_ptr<int>>> tasks;
  tasks.push_back(make());
  EXPECT_EQ(*base::Run(WhenAny(std::move(tasks))).value, 7);
}

TEST(WhenAny, RethrowsWhatTheFirstThrewAndCancelsTheOthers) {
  Gate first;
  Gate second;
  auto any = WhenAny(Two(ThrowAfter(first, "one"), NumberAfter(second, 2)));
  any.Start();
  first.Open();
  ASSERT_TRUE(any.done());
  EXPECT_THROW(any.TakeResult(), std::runtime_error);
  EXPECT_FALSE(second.has_waiter());
}

TEST(WhenAny, CancelsItsTasksWhenItIsDestroyed) {
  Gate first;
  Gate second;
  {
    auto any = WhenAny(Two(NumberAfter(first, 1), NumberAfter(second, 2)));
    any.Start();
  }
  EXPECT_FALSE(first.has_waiter());
  EXPECT_FALSE(second.has_waiter());
}

}  // namespace
}  // namespace redouble::inline v0_1::base
