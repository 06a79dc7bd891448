#include "redouble/core/base/task/task.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/gate_for_test.h"
#include "redouble/core/base/task/run.h"

namespace redouble::inline v0_1::base {
namespace {

// Sets a flag when it is destroyed, which shows when a frame is destroyed.
class Tracker {
 public:
  explicit Tracker(bool& destroyed) : destroyed_(destroyed) {}
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;
  ~Tracker() { destroyed_ = true; }

 private:
  bool& destroyed_;
};

Task<int> Number(int value) { co_return value; }

Task<int> Sum(int a, int b) {
  const int left = co_await Number(a);
  const int right = co_await Number(b);
  co_return left + right;
}

Task<void> Mark(bool& ran) {
  ran = true;
  co_return;
}

Task<int> NumberBehind(Gate& gate, int value) {
  co_await gate;
  co_return value;
}

Task<int> Throw() {
  throw std::runtime_error("broken");
  co_return 0;
}

Task<int> ThrowBehind(Gate& gate) {
  co_await gate;
  throw std::runtime_error("broken later");
}

TEST(Task, DoesNothingUntilItIsStarted) {
  bool ran = false;
  Task<void> task = Mark(ran);
  EXPECT_FALSE(ran);
  task.Start();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(task.done());
}

TEST(Task, DoesNothingWhenItIsNeverStarted) {
  bool ran = false;
  { const Task<void> task = Mark(ran); }
  EXPECT_FALSE(ran);
}

TEST(Task, GivesTheResultsOfWhatItAwaits) { EXPECT_EQ(base::Run(Sum(2, 3)), 5); }

TEST(Task, CarriesMoveOnlyResults) {
  const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  const auto pass = [&]() -> Task<std::unique_ptr<int>> {
    std::unique_ptr<int> value = co_await make();
    ++*value;
    co_return value;
  };
  EXPECT_EQ(*base::Run(pass()), 8);
}

TEST(Task, CarriesResultsWithoutADefaultConstructor) {
  struct Point {
    explicit Point(int x) : x(x) {}
    int x;
  };
  const auto make = []() -> Task<Point> { co_return Point(4); };
  EXPECT_EQ(base::Run(make()).x, 4);
}

TEST(Task, ConvertsWhatIsReturned) {
  const auto make = []() -> Task<std::optional<std::string>> { co_return "text"; };
  EXPECT_EQ(base::Run(make()), "text");
  const auto nothing = []() -> Task<std::optional<std::string>> { co_return {}; };
  EXPECT_EQ(base::Run(nothing()), std::nullopt);
}

TEST(Task, SuspendsItsAwaiterUntilTheWaitIsOver) {
  Gate gate;
  const auto twice = [](Gate& gate) -> Task<int> {
    const int value = co_await NumberBehind(gate, 21);
    co_return 2 * value;
  };
  Task<int> task = twice(gate);
  task.Start();
  EXPECT_FALSE(task.done());
  gate.Open();
  ASSERT_TRUE(task.done());
  EXPECT_EQ(task.TakeResult(), 42);
}

TEST(Task, WaitsSeveralTimes) {
  Gate first;
  Gate second;
  const auto both = [](Gate& first, Gate& second) -> Task<int> {
    const int a = co_await NumberBehind(first, 1);
    const int b = co_await NumberBehind(second, 2);
    co_return a + b;
  };
  Task<int> task = both(first, second);
  task.Start();
  first.Open();
  EXPECT_FALSE(task.done());
  second.Open();
  EXPECT_EQ(task.TakeResult(), 3);
}

TEST(Task, RethrowsToWhoeverTakesTheResult) {
  EXPECT_THROW(base::Run(Throw()), std::runtime_error);
}

TEST(Task, RethrowsIntoTheAwaitingCoroutine) {
  Gate gate;
  const auto recover = [](Gate& gate) -> Task<std::string> {
    try {
      co_await ThrowBehind(gate);
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing was thrown";
  };
  Task<std::string> task = recover(gate);
  task.Start();
  gate.Open();
  EXPECT_EQ(task.TakeResult(), "broken later");
}

TEST(Task, RethrowsWhatTheResultsOwnConstructorThrows) {
  struct Grumpy {
    Grumpy() = default;
    Grumpy(Grumpy&& other) : fuse(other.fuse - 1) {
      if (fuse < 0) throw std::runtime_error("will not move");
    }
    int fuse = 0;
  };
  const auto make = []() -> Task<Grumpy> {
    Grumpy grumpy;
    co_return grumpy;
  };
  EXPECT_THROW(base::Run(make()), std::runtime_error);
}

TEST(Task, IsCancelledByDestructionWhereItStands) {
  Gate gate;
  bool inner_destroyed = false;
  bool outer_destroyed = false;
  const auto inner = [](Gate& gate, bool& destroyed) -> Task<void> {
    const Tracker tracker(destroyed);
    co_await gate;
  };
  const auto outer = [&inner](Gate& gate, bool& destroyed, bool& inner_destroyed) -> Task<void> {
    const Tracker tracker(destroyed);
    co_await inner(gate, inner_destroyed);
  };
  {
    Task<void> task = outer(gate, outer_destroyed, inner_destroyed);
    task.Start();
    EXPECT_TRUE(gate.has_waiter());
    EXPECT_FALSE(inner_destroyed);
  }
  EXPECT_TRUE(inner_destroyed);
  EXPECT_TRUE(outer_destroyed);
  EXPECT_FALSE(gate.has_waiter());
  gate.Open();
}

TEST(Task, CancelsTheOldTaskWhenItIsAssignedANewOne) {
  Gate gate;
  bool destroyed = false;
  const auto wait = [](Gate& gate, bool& destroyed) -> Task<int> {
    const Tracker tracker(destroyed);
    co_await gate;
    co_return 1;
  };
  Task<int> task = wait(gate, destroyed);
  task.Start();
  task = Number(2);
  EXPECT_TRUE(destroyed);
  task.Start();
  EXPECT_EQ(task.TakeResult(), 2);
}

TEST(Task, KeepsRunningWhenItIsMoved) {
  Gate gate;
  Task<int> task = NumberBehind(gate, 5);
  task.Start();
  Task<int> moved = std::move(task);
  gate.Open();
  ASSERT_TRUE(moved.done());
  EXPECT_EQ(moved.TakeResult(), 5);
}

TEST(Task, ResumesWhoeverIsNamedWhenItEnds) {
  Gate gate;
  Gate never;
  Task<int> watched = NumberBehind(gate, 5);
  Task<int> watcher = NumberBehind(never, 6);
  watched.Start();
  // The resumed coroutine waits for nothing else: the end of the other task starts it.
  struct Named {
    static Task<void> Wait(Task<int>& watched, bool& resumed) {
      struct Awaiter {
        explicit Awaiter(Task<int>& watched) : watched(watched) {}
        bool await_ready() { return watched.done(); }
        void await_suspend(std::coroutine_handle<> awaiting) { watched.ResumeWhenDone(awaiting); }
        void await_resume() {}
        Task<int>& watched;
      };
      co_await Awaiter(watched);
      resumed = true;
    }
  };
  bool resumed = false;
  Task<void> waiter = Named::Wait(watched, resumed);
  waiter.Start();
  EXPECT_FALSE(resumed);
  gate.Open();
  EXPECT_TRUE(resumed);
  EXPECT_EQ(watched.TakeResult(), 5);
}

// The goal: a loop over commands that the memory engine answers at once does not grow the stack,
// even without optimization. A million frames would take hundreds of megabytes.
TEST(Task, KeepsTheStackFlatInALoopOfAwaitsThatFinishAtOnce) {
  const auto count = [](int64_t rounds) -> Task<int64_t> {
    int64_t sum = 0;
    for (int64_t i = 0; i < rounds; ++i) sum += co_await Number(1);
    co_return sum;
  };
  EXPECT_EQ(base::Run(count(1'000'000)), 1'000'000);
}

TEST(Task, KeepsTheStackFlatWhenEachRoundIsResumedFromOutside) {
  Gate gate;
  const auto count = [](Gate& gate, int64_t rounds) -> Task<int64_t> {
    int64_t sum = 0;
    for (int64_t i = 0; i < rounds; ++i) {
      gate.Close();
      sum += co_await NumberBehind(gate, 1);
    }
    co_return sum;
  };
  const int64_t rounds = 200'000;
  const int64_t sum = RunUntilDone(count(gate, rounds), [&] {
    gate.Open();
    return true;
  });
  EXPECT_EQ(sum, rounds);
}

TEST(Task, UnwindsADeepChainOfAwaits) {
  Gate gate;
  struct Chain {
    static Task<int> Of(int depth, Gate& gate) {
      if (depth == 0) co_return co_await NumberBehind(gate, 0);
      co_return 1 + co_await Of(depth - 1, gate);
    }
  };
  Task<int> task = Chain::Of(1000, gate);
  task.Start();
  gate.Open();
  EXPECT_EQ(task.TakeResult(), 1000);
}

}  // namespace
}  // namespace redouble::inline v0_1::base
