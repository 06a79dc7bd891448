#include "core/orchestrator/run_event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/run.h"
#include "core/orchestrator/run_events.h"
#include "core/store/errors.h"
#include "core/store/pubsub.h"
#include "tests/support/backends.h"
#include "tests/support/message_backends.h"

namespace redouble::orchestrator {
namespace {

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

  // How many heard it; they have it when this returns.
  int64_t Publish(std::string_view channel, std::string_view text) {
    const int64_t heard = *base::Run(store::Publish(backend_.store(), channel, text));
    if (heard > 0) backend_.Deliver();
    return heard;
  }
  store::MessageSource& source() { return backend_.subscription(); }

  Backend backend_;
  Screen screen_;
};

TYPED_TEST_SUITE(RunEventFeedTest, tests::MessageBackends, tests::BackendNames);

TYPED_TEST(RunEventFeedTest, HearsTheRunsItFollows) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_TRUE(base::Run(feed.FollowRun("run_1")).ok());
  ASSERT_TRUE(base::Run(feed.FollowRun("run_2")).ok());
  this->Publish("run:run_1", R"({"type":"node_completed","run_id":"run_1","node_id":"a"})");
  this->Publish("run:run_2", R"({"type":"node_completed","node_id":"b"})");
  EXPECT_EQ(this->Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})"), 0);
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_1:a", "run_2:b"));
}

TYPED_TEST(RunEventFeedTest, HearsWhatPublishRunEventWrites) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  Event event;
  event.run_id = "run_1";
  event.node_id = "a";
  EXPECT_EQ(*base::Run(PublishRunEvent(this->backend_.store(), event)), 1);
  this->backend_.Deliver();
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_1:a"));
}

// `run:*` takes runs of both key forms, and whatever else is published there.
TYPED_TEST(RunEventFeedTest, HearsAllRunsAndCountsWhatIsNoEvent) {
  RunEventFeed feed(this->source(), this->screen_);
  ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  this->Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})");
  this->Publish("run:run_3", "what?");
  EXPECT_THAT(this->screen_.seen(), ElementsAre("run_3:c"));
  EXPECT_EQ(feed.unreadable(), 1);
}

// Hazard 24: it would hear each event twice.
TYPED_TEST(RunEventFeedTest, FollowsEitherRunsOrAll) {
  RunEventFeed feed(this->source(), this->screen_);
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(feed.FollowRun("run:*"))));
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  ASSERT_TRUE(base::Run(feed.FollowRun("run_1")).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(base::Run(feed.FollowAll())));
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(base::Run(feed.FollowRun("run_1"))));
  EXPECT_EQ(this->Publish("run:run_1", R"({"type":"workflow_started"})"), 1);
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  EXPECT_EQ(this->Publish("run:run_1", R"({"type":"workflow_started"})"), 0);
}

TYPED_TEST(RunEventFeedTest, HearsNothingOnceItIsGone) {
  {
    RunEventFeed feed(this->source(), this->screen_);
    ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  }
  this->Publish("run:run_1", R"({"type":"workflow_started"})");
  EXPECT_THAT(this->screen_.seen(), IsEmpty());
}

// A connection that is lost at a time of the test's choosing.
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
  EXPECT_TRUE(absl::IsUnavailable(base::Run(feed.FollowRun("run_1"))));
  EXPECT_TRUE(absl::IsUnavailable(base::Run(feed.FollowAll())));
  EXPECT_TRUE(absl::IsUnavailable(base::Run(feed.FollowRun("run_1"))));
}

TEST(RunEventFeedErrors, AGapIsToldToTheListener) {
  LostSource source;
  Screen screen;
  RunEventFeed feed(source, screen);
  source.Reconnect();
  EXPECT_EQ(screen.gaps(), 1);
}

}  // namespace
}  // namespace redouble::orchestrator
