#include "redouble/core/orchestrator/run/signal_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;

template <typename Backend>
class SignalQueueTest : public OrchestratorTest<Backend> {
 protected:
  SignalQueue Make(std::string_view consumer, bool reliable = true, int64_t shards = 1) {
    SignalQueueOptions options;
    options.consumer = std::string(consumer);
    return SignalQueue(this->store(), Keys(this->layout(), shards), options,
                       {.reliable_pop = reliable});
  }
  std::vector<std::string> List(std::string_view key) {
    std::vector<std::string> elements;
    for (const Reply& element : this->Ask({"LRANGE", key, "0", "-1"}).elements()) {
      elements.push_back(element.text());
    }
    return elements;
  }
};
TYPED_TEST_SUITE(SignalQueueTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(SignalQueueTest, KeepsWhatIsTakenUntilItIsDone) {
  this->Ask({"RPUSH", "completion_signals", "a", "b", "a"});
  SignalQueue queue = this->Make("c1");
  EXPECT_THAT(this->Run(queue.Take()), IsOkAndHolds("a"));
  EXPECT_THAT(this->Run(queue.TakeNow()), IsOkAndHolds("b"));
  EXPECT_EQ(this->List("completion_signals:processing:c1"), (std::vector<std::string>{"a", "b"}));
  ASSERT_THAT(this->Run(queue.Done("a")), IsOk());
  EXPECT_EQ(this->List("completion_signals:processing:c1"), (std::vector<std::string>{"b"}));
}

TYPED_TEST(SignalQueueTest, RecoversInTheOrderInWhichItWasTaken) {
  this->Ask({"RPUSH", "completion_signals", "a", "b", "c"});
  SignalQueue dead = this->Make("c1");
  (void)this->Run(dead.TakeNow());
  (void)this->Run(dead.TakeNow());
  SignalQueue other = this->Make("c2");
  EXPECT_THAT(this->Run(other.Recover("c1")), IsOkAndHolds(2));
  EXPECT_THAT(this->Run(other.Recover("c1")), IsOkAndHolds(0));
  EXPECT_EQ(this->List("completion_signals"), (std::vector<std::string>{"a", "b", "c"}));
}

TYPED_TEST(SignalQueueTest, BlocksOnlyForAPositiveTime) {
  struct Case {
    std::optional<absl::Duration> block;
    bool reliable;
    std::vector<std::string> commands;
  };
  const std::string move =
      "completion_signals completion_signals:processing:coordinator LEFT RIGHT";
  const Case cases[] = {
      {std::nullopt, true, {"LMOVE " + move}},
      {absl::ZeroDuration(), true, {"LMOVE " + move}},
      {absl::Seconds(5), true, {"BLMOVE " + move + " 5.000"}},
      {absl::InfiniteDuration(), true, {"BLMOVE " + move + " 0"}},
      {std::nullopt, false, {"LPOP completion_signals"}},
      {absl::Seconds(5), false, {"BLPOP completion_signals 5.000"}},
      {absl::InfiniteDuration(), false, {"BLPOP completion_signals 0"}},
  };
  for (const Case& test : cases) {
    tests::InterceptedStore store(this->store());
    store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> { return Reply::Nil(); };
    SignalQueueOptions options;
    options.block = test.block;
    SignalQueue queue(store, this->keys(), options, {.reliable_pop = test.reliable});
    EXPECT_THAT(this->Run(queue.Take()), IsOkAndHolds(::testing::Eq(std::nullopt)));
    EXPECT_EQ(this->Documented(store.log()), test.commands);
  }
}

TYPED_TEST(SignalQueueTest, APlainPopKeepsNothing) {
  this->Ask({"RPUSH", "completion_signals", "a", "b"});
  SignalQueue queue = this->Make("c1", /*reliable=*/false);
  EXPECT_THAT(this->Run(queue.Take()), IsOkAndHolds("a"));
  EXPECT_THAT(this->Run(queue.TakeNow()), IsOkAndHolds("b"));
  EXPECT_THAT(this->Run(queue.TakeNow()), IsOkAndHolds(::testing::Eq(std::nullopt)));
  EXPECT_THAT(this->Run(queue.Done("a")), IsOk());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SignalQueueTest, ReadsItsShardsInTurn) {
  this->Ask({"RPUSH", "completion_signals", "a0", "a1", "a2"});
  const Keys keys(this->layout(), /*queue_shards=*/3);
  this->Ask({"RPUSH", keys.CompletionSignals(2), "c0", "c1"});
  const std::string in_work = *keys.ProcessingSignals("c1", 2);
  SignalQueue queue = this->Make("c1", /*reliable=*/true, /*shards=*/3);
  std::vector<std::string> taken;
  while (true) {
    const auto next = this->Run(queue.TakeNow());
    ASSERT_THAT(next, IsOk());
    if (!*next) break;
    taken.push_back(**next);
  }
  ASSERT_EQ(taken.size(), 5u);
  // While both have signals, they alternate.
  for (size_t i = 0; i + 1 < 4; ++i) EXPECT_NE(taken[i][0], taken[i + 1][0]) << i;
  EXPECT_EQ(this->List(in_work), (std::vector<std::string>{"c0", "c1"}));
  ASSERT_THAT(this->Run(queue.Done("c0")), IsOk());
  EXPECT_EQ(this->List(in_work), (std::vector<std::string>{"c1"}));
  EXPECT_EQ(this->List("completion_signals:processing:c1").size(), 3u);
}

// After a restart the queue does not know which shard a signal came from.
TYPED_TEST(SignalQueueTest, RecoversAndRemovesWhatAnotherObjectTook) {
  const std::string queue_1 = Keys(this->layout(), /*queue_shards=*/3).CompletionSignals(1);
  this->Ask({"RPUSH", queue_1, "b0", "b1"});
  SignalQueue dead = this->Make("c1", /*reliable=*/true, /*shards=*/3);
  (void)this->Run(dead.TakeNow());
  (void)this->Run(dead.TakeNow());
  SignalQueue again = this->Make("c1", /*reliable=*/true, /*shards=*/3);
  ASSERT_THAT(this->Run(again.Done("b1")), IsOk());
  EXPECT_THAT(this->Run(again.Recover("c1")), IsOkAndHolds(1));
  EXPECT_EQ(this->List(queue_1), (std::vector<std::string>{"b0"}));
}

TYPED_TEST(SignalQueueTest, BlocksOnOneShardForASecondAtMost) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> { return Reply::Nil(); };
  SignalQueueOptions options;
  options.block = absl::Seconds(5);
  SignalQueue queue(store, Keys(this->layout(), 2), options);
  std::set<std::string> blocked_on;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(this->Run(queue.Take()), IsOkAndHolds(::testing::Eq(std::nullopt)));
    ASSERT_EQ(store.log().size(), 3u * (i + 1));
    const std::string& last = store.log().back();
    EXPECT_THAT(last, ::testing::StartsWith("BLMOVE "));
    EXPECT_THAT(last, ::testing::HasSubstr("completion_signals"));
    EXPECT_THAT(last, ::testing::EndsWith(" 1.000"));
    blocked_on.insert(last);
  }
  EXPECT_EQ(blocked_on.size(), 2u);
}

TYPED_TEST(SignalQueueTest, AConsumerThatIsNoIdIsRefused) {
  SignalQueue queue = this->Make("c:1");
  EXPECT_THAT(this->Run(queue.Take()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(queue.TakeNow()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(queue.Done("a")), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(this->Run(queue.Recover("*")), StatusIs(absl::StatusCode::kInvalidArgument));
}

TYPED_TEST(SignalQueueTest, ASignalThatIsNoTextIsRefused) {
  CompletionSignal signal;
  signal.run_id = "run_1";
  signal.node_id = "a";
  signal.job_id = "\xff";
  EXPECT_THAT(this->Run(PushSignal(this->store(), this->keys(), signal)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SignalQueueTest, PassesTheStoresErrorsOn) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("gone");
  };
  for (const bool reliable : {true, false}) {
    SignalQueue queue(store, this->keys(), {}, {.reliable_pop = reliable});
    EXPECT_THAT(this->Run(queue.Take()), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(this->Run(queue.TakeNow()), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(absl::IsUnavailable(this->Run(queue.Done("a"))), reliable);
    EXPECT_THAT(this->Run(queue.Recover("c1")), StatusIs(absl::StatusCode::kUnavailable));
  }
  CompletionSignal signal;
  signal.run_id = "run_1";
  signal.node_id = "a";
  signal.job_id = "t1";
  EXPECT_THAT(this->Run(PushSignal(store, this->keys(), signal)),
              StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
