#include "core/orchestrator/signal_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::orchestrator {
namespace {

using store::Reply;

template <typename Backend>
class SignalQueueTest : public tests::BackendTest<Backend> {
 protected:
  SignalQueue Make(std::string_view consumer, PopMode pop = PopMode::kReliable,
                   KeyForm form = KeyForm::kPlain) {
    SignalQueueOptions options;
    options.consumer = std::string(consumer);
    options.pop = pop;
    return SignalQueue(this->store(), Keys(form), options);
  }
  std::vector<std::string> List(std::string_view key) {
    std::vector<std::string> elements;
    for (const Reply& element : this->Ask({"LRANGE", key, "0", "-1"}).elements()) {
      elements.push_back(element.text());
    }
    return elements;
  }
};
TYPED_TEST_SUITE(SignalQueueTest, tests::Backends, tests::BackendNames);

TYPED_TEST(SignalQueueTest, KeepsWhatIsTakenUntilItIsDone) {
  this->Ask({"RPUSH", "completion_signals", "a", "b", "a"});
  SignalQueue queue = this->Make("c1");
  EXPECT_EQ(*this->Run(queue.Take()), "a");
  EXPECT_EQ(*this->Run(queue.TakeNow()), "b");
  EXPECT_EQ(this->List("completion_signals:processing:c1"), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(this->Run(queue.Done("a")).ok());
  EXPECT_EQ(this->List("completion_signals:processing:c1"), (std::vector<std::string>{"b"}));
}

TYPED_TEST(SignalQueueTest, RecoversInTheOrderInWhichItWasTaken) {
  this->Ask({"RPUSH", "completion_signals", "a", "b", "c"});
  SignalQueue dead = this->Make("c1");
  (void)this->Run(dead.TakeNow());
  (void)this->Run(dead.TakeNow());
  SignalQueue other = this->Make("c2");
  EXPECT_EQ(*this->Run(other.Recover("c1")), 2);
  EXPECT_EQ(*this->Run(other.Recover("c1")), 0);
  EXPECT_EQ(this->List("completion_signals"), (std::vector<std::string>{"a", "b", "c"}));
}

TYPED_TEST(SignalQueueTest, APlainPopKeepsNothing) {
  this->Ask({"RPUSH", "completion_signals", "a", "b"});
  SignalQueue queue = this->Make("c1", PopMode::kPlain);
  EXPECT_EQ(*this->Run(queue.Take()), "a");
  EXPECT_EQ(*this->Run(queue.TakeNow()), "b");
  EXPECT_EQ(*this->Run(queue.TakeNow()), std::nullopt);
  EXPECT_TRUE(this->Run(queue.Done("a")).ok());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SignalQueueTest, SharesOneTagInACluster) {
  this->Ask({"RPUSH", "{completion_signals}", "a"});
  SignalQueue queue = this->Make("c1", PopMode::kReliable, KeyForm::kHashTagged);
  EXPECT_EQ(*this->Run(queue.TakeNow()), "a");
  EXPECT_EQ(this->List("{completion_signals}:processing:c1"), (std::vector<std::string>{"a"}));
}

TYPED_TEST(SignalQueueTest, AConsumerThatIsNoIdIsRefused) {
  SignalQueue queue = this->Make("c:1");
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(queue.Take()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(queue.TakeNow()).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(queue.Done("a"))));
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(queue.Recover("*")).status()));
}

TYPED_TEST(SignalQueueTest, ASignalThatIsNoTextIsRefused) {
  CompletionSignal signal;
  signal.job_id = "\xff";
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(PushSignal(this->store(), Keys(), signal))));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(SignalQueueTest, PassesTheStoresErrorsOn) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("gone");
  };
  for (const PopMode pop : {PopMode::kReliable, PopMode::kPlain}) {
    SignalQueueOptions options;
    options.pop = pop;
    SignalQueue queue(store, Keys(), options);
    EXPECT_TRUE(absl::IsUnavailable(this->Run(queue.Take()).status()));
    EXPECT_TRUE(absl::IsUnavailable(this->Run(queue.TakeNow()).status()));
    EXPECT_EQ(absl::IsUnavailable(this->Run(queue.Done("a"))), pop == PopMode::kReliable);
    EXPECT_TRUE(absl::IsUnavailable(this->Run(queue.Recover("c1")).status()));
  }
  CompletionSignal signal;
  signal.run_id = "run_1";
  signal.node_id = "a";
  EXPECT_TRUE(absl::IsUnavailable(this->Run(PushSignal(store, Keys(), signal))));
}

}  // namespace
}  // namespace redouble::orchestrator
