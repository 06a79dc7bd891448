#include "redouble/core/orchestrator/events/run_event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/tests/support/message_backends.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Screen final : public RunEventListener {
 public:
  void OnEvent(const Event& event) override { seen_.push_back(event.run_id + ":" + event.node_id); }
  void OnGap() override { ++gaps_; }

  const std::vector<std::string>& seen() const { return seen_; }
  int gaps() const { return gaps_; }

 private:
  std::vector<std::string> seen_;
  int gaps_ = 0;
};

template <typename Backend>
class RunEventFeedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = backend_.Start();
    if (!started.ok()) GTEST_SKIP() << Backend::kName << " cannot be had here: " << started;
  }

  // Returns the number of receivers. They have received the message when this returns.
  int64_t Publish(std::string_view channel, std::string_view text) {
    const int64_t receivers = base::Run(store::Publish(backend_.store(), channel, text)).value();
    if (receivers > 0) backend_.Deliver();
    return receivers;
  }
  store::MessageSource& source() { return backend_.subscription(); }

  Backend backend_;
  Screen screen_;
};

TYPED_TEST_SUITE(RunEventFeedTest, tests::MessageBackends, tests::BackendNames);

TYPED_TEST(RunEventFeedTest, HearsTheRunsItFollows) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_THAT(base::Run(feed.FollowRun("run_1")), IsOk());
  ASSERT_THAT(base::Run(feed.FollowRun("run_2")), IsOk());
  this->Publish("run:run_1", R"({"type":"node_completed","run_id":"run_1","node_id":"a"})");
  this->Publish("run:run_2", R"({"type":"node_completed","node_id":"b"})");
  EXPECT_EQ(this->Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})"), 0);
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_1:a", "run_2:b"));
}

TYPED_TEST(RunEventFeedTest, HearsWhatPublishRunEventWrites) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_THAT(base::Run(feed.FollowAll()), IsOk());
  Event event;
  event.run_id = "run_1";
  event.node_id = "a";
  EXPECT_THAT(base::Run(PublishRunEvent(this->backend_.store(), event)), IsOkAndHolds(1));
  this->backend_.Deliver();
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_1:a"));
}

// The pattern `run:*` matches the channels of both key forms, and other messages on them.
TYPED_TEST(RunEventFeedTest, HearsAllRunsAndCountsWhatIsNoEvent) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_THAT(base::Run(feed.FollowAll()), IsOk());
  this->Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})");
  this->Publish("run:run_3", "what?");
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_3:c"));
  EXPECT_EQ(feed.unreadable(), 1);
}

// docs/systems/orchestrator.md H24: with both it would receive each event twice.
TYPED_TEST(RunEventFeedTest, FollowsEitherRunsOrAll) {
  RunEventFeed feed(this->source(), this->screen_);
  EXPECT_THAT(base::Run(feed.FollowRun("run:*")), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_THAT(base::Run(feed.Stop()), IsOk());
  ASSERT_THAT(base::Run(feed.FollowRun("run_1")), IsOk());
  EXPECT_THAT(base::Run(feed.FollowAll()), StatusIs(absl::StatusCode::kFailedPrecondition));
  ASSERT_THAT(base::Run(feed.Stop()), IsOk());
  ASSERT_THAT(base::Run(feed.FollowAll()), IsOk());
  EXPECT_THAT(base::Run(feed.FollowRun("run_1")), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(this->Publish("run:run_1", R"({"type":"workflow_started"})"), 1);
  ASSERT_THAT(base::Run(feed.Stop()), IsOk());
  EXPECT_EQ(this->Publish("run:run_1", R"({"type":"workflow_started"})"), 0);
}

TYPED_TEST(RunEventFeedTest, HearsNothingOnceItIsGone) {
  {
    RunEventFeed feed(this->source(), this->screen_);
    ASSERT_THAT(base::Run(feed.FollowAll()), IsOk());
  }
  this->Publish("run:run_1", R"({"type":"workflow_started"})");
  EXPECT_THAT(this->screen_.seen(), IsEmpty());
}

// A source whose connection the test can break.
class LostSource final : public store::MessageSource {
 public:
  void Submit(store::Request& request) override {
    request.Complete(store::NotSentError("not connected"));
  }
  void Listen(store::PushListener* listener) override { listener_ = listener; }
  void Reconnect() { listener_->OnGap(); }

 private:
  store::PushListener* listener_ = nullptr;
};

TEST(RunEventFeedErrors, OfTheStoreAreTheFeedsAndLeaveItFollowingNothing) {
  LostSource source;
  Screen screen;
  RunEventFeed feed(source, screen);
  EXPECT_THAT(base::Run(feed.FollowRun("run_1")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(base::Run(feed.FollowAll()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(base::Run(feed.FollowRun("run_1")), StatusIs(absl::StatusCode::kUnavailable));
}

TEST(RunEventFeedErrors, AGapIsToldToTheListener) {
  LostSource source;
  Screen screen;
  RunEventFeed feed(source, screen);
  source.Reconnect();
  EXPECT_EQ(screen.gaps(), 1);
}

TEST(RunEventFeedOnShardChannels, HearsARunThatItFollowsAndNotAll) {
  base::VirtualClock clock(tests::DefaultStart());
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions();
  memory::Engine engine(clock, options);
  const auto publisher = engine.Connect();
  for (const store::ChannelKind kind : {store::ChannelKind::kSharded, store::ChannelKind::kBoth}) {
    const bool both = kind == store::ChannelKind::kBoth;
    const auto of_run = engine.Connect();
    const auto of_all = engine.Connect();
    Screen screen;
    Screen all;
    RunEventFeed feed(*of_run, screen, kind);
    RunEventFeed all_runs(*of_all, all, kind);
    ASSERT_THAT(base::Run(feed.FollowRun("run_1")), IsOk());
    EXPECT_THAT(base::Run(all_runs.FollowAll()),
                StatusIs(both ? absl::StatusCode::kOk : absl::StatusCode::kFailedPrecondition));
    Event event;
    event.run_id = "run_1";
    event.node_id = "a";
    EXPECT_THAT(base::Run(PublishRunEvent(*publisher, event, kind)), IsOkAndHolds(both ? 2 : 1));
    EXPECT_THAT(screen.seen(), ElementsAre("run_1:a"));
    EXPECT_EQ(all.seen().size(), both ? 1u : 0u);
    // An event that does not name its run is of the run of its channel.
    EXPECT_THAT(base::Run(store::SPublish(*publisher, "run:{run_1}",
                                          R"({"type":"node_completed","node_id":"b"})")),
                IsOkAndHolds(1));
    EXPECT_THAT(screen.seen(), ElementsAre("run_1:a", "run_1:b"));
    ASSERT_THAT(base::Run(feed.Stop()), IsOk());
    EXPECT_THAT(base::Run(PublishRunEvent(*publisher, event, kind)), IsOkAndHolds(both ? 1 : 0));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
