#include "redouble/core/orchestrator/events/run_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/testing/orchestrator_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;

Event Completed() {
  Event event;
  event.type = EventType::kNodeCompleted;
  event.run_id = "run_7f3e4a";
  event.node_id = "fetch";
  event.timestamp = base::ParseRfc3339("2025-10-15T10:30:00Z").value();
  return event;
}

template <typename Backend>
class RunEventsTest : public OrchestratorTest<Backend> {};
TYPED_TEST_SUITE(RunEventsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RunEventsTest, GoToTheChannelOfTheirRunInOneCommand) {
  tests::InterceptedStore store(this->store());
  EXPECT_THAT(this->Run(PublishRunEvent(store, Completed())), IsOkAndHolds(0));
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
  EXPECT_THAT(this->Run(PublishRunEvent(store, Completed())), IsOkAndHolds(3));
}

TYPED_TEST(RunEventsTest, AreRefusedWithoutARunOrWhenTheyAreNoText) {
  tests::InterceptedStore store(this->store());
  Event event = Completed();
  event.run_id = "";
  EXPECT_THAT(this->Run(PublishRunEvent(store, event)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  event.run_id = "a:b";
  EXPECT_THAT(this->Run(PublishRunEvent(store, event)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  event = Completed();
  event.status = "\xff";
  EXPECT_THAT(this->Run(PublishRunEvent(store, event)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(RunEventsTest, PassTheStoresErrorsOn) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) {
    return std::optional<absl::StatusOr<store::Reply>>(store::NotSentError("gone"));
  };
  EXPECT_THAT(this->Run(PublishRunEvent(store, Completed())),
              StatusIs(absl::StatusCode::kUnavailable));
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
  ASSERT_THAT(base::Run(store::Subscribe(*one, channels)), IsOk());
  ASSERT_THAT(base::Run(store::PSubscribe(*all, patterns)), IsOk());

  Event other = Completed();
  other.run_id = "run_7f3e4";
  EXPECT_THAT(base::Run(PublishRunEvent(*publisher, Completed())), IsOkAndHolds(2));
  EXPECT_THAT(base::Run(PublishRunEvent(*publisher, other)), IsOkAndHolds(1));
  EXPECT_THAT(of_one.channels(), ElementsAre("run:run_7f3e4a"));
  EXPECT_THAT(of_all.channels(), ElementsAre("run:run_7f3e4a", "run:run_7f3e4"));
}

TEST(RunEvents, HaveAPatternForAllRuns) {
  EXPECT_TRUE(base::GlobMatch(kAllRunsPattern, "run:run_7f3e4a"));
  EXPECT_FALSE(base::GlobMatch(kAllRunsPattern, "completion_events"));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
