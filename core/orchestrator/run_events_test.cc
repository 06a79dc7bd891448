#include "core/orchestrator/run_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "core/base/glob.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/store/errors.h"
#include "core/store/message_source.h"
#include "core/store/pubsub.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::orchestrator {
namespace {

using ::testing::ElementsAre;

Event Completed() {
  Event event;
  event.type = EventType::kNodeCompleted;
  event.run_id = "run_7f3e4a";
  event.node_id = "fetch";
  event.timestamp = *base::ParseRfc3339("2025-10-15T10:30:00Z");
  return event;
}

template <typename Backend>
class RunEventsTest : public tests::BackendTest<Backend> {};
TYPED_TEST_SUITE(RunEventsTest, tests::Backends, tests::BackendNames);

TYPED_TEST(RunEventsTest, GoToTheChannelOfTheirRunInOneCommand) {
  tests::InterceptedStore store(this->store());
  EXPECT_EQ(*this->Run(PublishRunEvent(store, Completed())), 0);
  EXPECT_THAT(store.log(), ElementsAre("PUBLISH run:run_7f3e4a {\"type\":\"node_completed\","
                                       "\"run_id\":\"run_7f3e4a\",\"node_id\":\"fetch\","
                                       "\"timestamp\":\"2025-10-15T10:30:00Z\"}"));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(RunEventsTest, AreCountedByTheirReceivers) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) {
    return std::optional<absl::StatusOr<store::Reply>>(store::Reply::Integer(3));
  };
  EXPECT_EQ(*this->Run(PublishRunEvent(store, Completed())), 3);
}

TYPED_TEST(RunEventsTest, AreRefusedWithoutARunOrWhenTheyAreNoText) {
  tests::InterceptedStore store(this->store());
  Event event = Completed();
  event.run_id = "";
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(PublishRunEvent(store, event)).status()));
  event.run_id = "a:b";
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(PublishRunEvent(store, event)).status()));
  event = Completed();
  event.status = "\xff";
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(PublishRunEvent(store, event)).status()));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(RunEventsTest, PassTheStoresErrorsOn) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) {
    return std::optional<absl::StatusOr<store::Reply>>(store::NotSentError("gone"));
  };
  EXPECT_TRUE(absl::IsUnavailable(this->Run(PublishRunEvent(store, Completed())).status()));
}

class Listener final : public store::PushListener {
 public:
  void OnPush(const store::Reply& push) override {
    if (const auto message = store::ReadMessage(push)) channels_.push_back(message->channel);
  }
  const std::vector<std::string>& channels() const { return channels_; }

 private:
  std::vector<std::string> channels_;
};

TEST(RunEvents, ReachThoseWhoListenToTheRunOrToAllRuns) {
  base::VirtualClock clock(tests::DefaultStart());
  memory::Engine engine(clock, {});
  const auto one = engine.Connect();
  const auto all = engine.Connect();
  const auto publisher = engine.Connect();
  Listener of_one;
  Listener of_all;
  one->Listen(&of_one);
  all->Listen(&of_all);
  const std::vector<std::string_view> channels = {"run:run_7f3e4a"};
  const std::vector<std::string_view> patterns = {kAllRunsPattern};
  ASSERT_TRUE(base::Run(store::Subscribe(*one, channels)).ok());
  ASSERT_TRUE(base::Run(store::PSubscribe(*all, patterns)).ok());

  Event other = Completed();
  other.run_id = "run_7f3e4";
  EXPECT_EQ(*base::Run(PublishRunEvent(*publisher, Completed())), 2);
  EXPECT_EQ(*base::Run(PublishRunEvent(*publisher, other)), 1);
  EXPECT_THAT(of_one.channels(), ElementsAre("run:run_7f3e4a"));
  EXPECT_THAT(of_all.channels(), ElementsAre("run:run_7f3e4a", "run:run_7f3e4"));
}

TEST(RunEvents, HaveAPatternForAllRuns) {
  EXPECT_TRUE(base::GlobMatch(kAllRunsPattern, "run:run_7f3e4a"));
  EXPECT_FALSE(base::GlobMatch(kAllRunsPattern, "completion_events"));
}

}  // namespace
}  // namespace redouble::orchestrator
