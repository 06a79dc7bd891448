#include "redouble/backends/redis/net/await_task.h"

#include <gtest/gtest.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::StatusIs;

namespace asio = boost::asio;

// A gate that tasks wait for and a test opens.
class Gate {
 public:
  struct Awaiter {
    explicit Awaiter(Gate& gate) : gate(gate) {}
    ~Awaiter() { gate.waiting_ = {}; }
    bool await_ready() { return gate.open_; }
    void await_suspend(std::coroutine_handle<> awaiting) { gate.waiting_ = awaiting; }
    void await_resume() {}
    Gate& gate;
  };
  Awaiter Wait() { return Awaiter(*this); }

  bool has_waiter() const { return static_cast<bool>(waiting_); }
  void Open() {
    open_ = true;
    if (waiting_) base::Resume(waiting_);
  }

 private:
  bool open_ = false;
  std::coroutine_handle<> waiting_;
};

base::Task<absl::StatusOr<int>> Answer(Gate& gate) {
  co_await gate.Wait();
  co_return 42;
}

base::Task<std::string> Text(Gate& gate) {
  co_await gate.Wait();
  co_return "text";
}

base::Task<void> Throw(Gate& gate) {
  co_await gate.Wait();
  throw std::runtime_error("thrown");
}

asio::awaitable<void> Store(base::Task<absl::StatusOr<int>> task, absl::StatusOr<int>& result) {
  result = co_await AwaitTask(std::move(task));
}

asio::awaitable<void> StoreText(base::Task<std::string> task, std::string& result) {
  try {
    result = co_await AwaitTask(std::move(task));
  } catch (const boost::system::system_error& error) {
    result = error.code().message();
  }
}

TEST(AwaitTask, ReturnsTheResultOfATaskThatFinishesAtOnce) {
  asio::io_context context;
  Gate gate;
  gate.Open();
  absl::StatusOr<int> result;
  asio::co_spawn(context, Store(Answer(gate), result), asio::detached);
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
}

TEST(AwaitTask, WaitsForATaskThatIsResumedLater) {
  asio::io_context context;
  Gate gate;
  absl::StatusOr<int> result;
  asio::co_spawn(context, Store(Answer(gate), result), asio::detached);
  context.poll();
  ASSERT_TRUE(gate.has_waiter());
  EXPECT_FALSE(result.ok());
  asio::post(context, [&] { gate.Open(); });
  context.restart();
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
}

TEST(AwaitTask, ReturnsToItsExecutorWhenTheTaskIsResumedElsewhere) {
  asio::io_context context;
  Gate gate;
  absl::StatusOr<int> result;
  asio::co_spawn(context, Store(Answer(gate), result), asio::detached);
  context.poll();
  gate.Open();
  EXPECT_FALSE(result.ok());
  context.restart();
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
}

TEST(AwaitTask, CancellingDestroysTheTaskAndReturnsCancelled) {
  asio::io_context context;
  Gate gate;
  asio::cancellation_signal signal;
  absl::StatusOr<int> result;
  asio::co_spawn(context, Store(Answer(gate), result),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.poll();
  ASSERT_TRUE(gate.has_waiter());
  signal.emit(asio::cancellation_type::terminal);
  signal.emit(asio::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_FALSE(gate.has_waiter());
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled));
}

TEST(AwaitTask, CancellingATaskWithoutAStatusThrowsAsAsioDoes) {
  asio::io_context context;
  Gate gate;
  asio::cancellation_signal signal;
  std::string result;
  asio::co_spawn(context, StoreText(Text(gate), result),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.poll();
  signal.emit(asio::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_EQ(result, "Operation canceled");
}

TEST(AwaitTask, CancellingAfterTheEndDoesNothing) {
  asio::io_context context;
  Gate gate;
  asio::cancellation_signal signal;
  absl::StatusOr<int> result;
  asio::co_spawn(context, Store(Answer(gate), result),
                 asio::bind_cancellation_slot(signal.slot(), asio::detached));
  context.poll();
  gate.Open();
  signal.emit(asio::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
}

// Opens a gate, so that another operand of the || ends first.
base::Task<absl::StatusOr<int>> OpenAndAnswer(Gate& own, Gate& other) {
  co_await own.Wait();
  other.Open();
  co_return 1;
}

asio::awaitable<void> FirstOf(base::Task<absl::StatusOr<int>> a, base::Task<absl::StatusOr<int>> b,
                              size_t& first) {
  using namespace asio::experimental::awaitable_operators;
  const auto result = co_await (AwaitTask(std::move(a)) || AwaitTask(std::move(b)));
  first = result.index();
}

TEST(AwaitTask, MayBeCancelledByWhatTheTaskItselfSetOff) {
  asio::io_context context;
  Gate own, other;
  size_t first = 9;
  asio::co_spawn(context, FirstOf(OpenAndAnswer(own, other), Answer(other), first), asio::detached);
  context.poll();
  ASSERT_TRUE(own.has_waiter() && other.has_waiter());
  asio::post(context, [&] { own.Open(); });
  context.restart();
  context.run();
  EXPECT_EQ(first, 1u);
}

base::Task<void> Note(bool& ran) {
  ran = true;
  co_return;
}

TEST(SpawnTask, RunsTheTaskFromTheNextTurnOn) {
  asio::io_context context;
  bool ran = false;
  SpawnTask(context.get_executor(), Note(ran));
  EXPECT_FALSE(ran);
  context.run();
  EXPECT_TRUE(ran);
}

TEST(SpawnTask, LetsWhatATaskThrowsOutOfRun) {
  asio::io_context context;
  Gate gate;
  gate.Open();
  SpawnTask(context.get_executor(), Throw(gate));
  EXPECT_THROW(context.run(), std::runtime_error);
}

TEST(AsyncTask, CallsAFunctionOnTheExecutor) {
  asio::io_context context;
  Gate gate;
  std::vector<absl::StatusOr<int>> results;
  AsyncTask(context.get_executor(), Answer(gate),
            [&](absl::StatusOr<int> result) { results.push_back(result); });
  // The operation is work of the context, so run() would wait for it.
  context.poll();
  EXPECT_TRUE(results.empty());
  asio::post(context, [&] { gate.Open(); });
  context.run();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0], base::IsOkAndHolds(42));
}

TEST(AsyncTask, MakesAFutureForAThreadThatBlocks) {
  asio::thread_pool pool(2);
  const auto strand = asio::make_strand(pool);
  Gate gate;
  std::future<absl::StatusOr<int>> answer = AsyncTask(strand, Answer(gate), asio::use_future);
  std::future<std::string> text;
  asio::post(strand, [&] { gate.Open(); });
  EXPECT_THAT(answer.get(), base::IsOkAndHolds(42));
  text = AsyncTask(strand, Text(gate), asio::use_future);
  EXPECT_EQ(text.get(), "text");
  pool.join();
}

TEST(AsyncTask, StartsADeferredOperationWhenItIsAsked) {
  asio::io_context context;
  Gate gate;
  gate.Open();
  absl::StatusOr<int> result = absl::UnknownError("not called");
  auto operation = AsyncTask(context.get_executor(), Answer(gate), asio::deferred);
  context.run();
  context.restart();
  EXPECT_FALSE(result.ok());
  std::move(operation)([&](absl::StatusOr<int> value) { result = value; });
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
}

TEST(AsyncTask, CallsTheFunctionOnItsOwnExecutor) {
  asio::io_context client, caller;
  Gate gate;
  gate.Open();
  bool called = false;
  AsyncTask(client.get_executor(), Answer(gate),
            asio::bind_executor(caller, [&](absl::StatusOr<int>) { called = true; }));
  client.run();
  EXPECT_FALSE(called);
  caller.run();
  EXPECT_TRUE(called);
}

// An executor of a program's own: it counts what it runs.
class CountingExecutor {
 public:
  CountingExecutor(asio::io_context& context, int& count) : context_(&context), count_(&count) {}

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  template <typename Function>
  void execute(Function function) const {
    ++*count_;
    asio::post(*context_, std::move(function));
  }
  friend bool operator==(const CountingExecutor&, const CountingExecutor&) = default;

 private:
  asio::io_context* context_;
  int* count_;
};

TEST(AsyncTask, RunsOnACustomExecutor) {
  asio::io_context context;
  int count = 0;
  Gate gate;
  gate.Open();
  absl::StatusOr<int> result = absl::UnknownError("not called");
  AsyncTask(asio::any_io_executor(CountingExecutor(context, count)), Answer(gate),
            [&](absl::StatusOr<int> value) { result = value; });
  context.run();
  EXPECT_THAT(result, base::IsOkAndHolds(42));
  EXPECT_GT(count, 0);
}

TEST(AsyncTask, ACancelledOperationDestroysTheTask) {
  asio::io_context context;
  Gate gate;
  asio::cancellation_signal signal;
  absl::StatusOr<int> result = 0;
  AsyncTask(context.get_executor(), Answer(gate),
            asio::bind_cancellation_slot(signal.slot(),
                                         [&](absl::StatusOr<int> value) { result = value; }));
  context.poll();
  EXPECT_TRUE(gate.has_waiter());
  signal.emit(asio::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_FALSE(gate.has_waiter());
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
