#include "core/orchestrator/run_event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/orchestrator/run_events.h"
#include "core/store/pubsub.h"
#include "tests/support/backends.h"

namespace redouble::orchestrator {
namespace {

using ::testing::ElementsAre;

class Screen final : public RunEventListener {
 public:
  void OnEvent(const Event& event) override { seen_.push_back(event.run_id + ":" + event.node_id); }
  const std::vector<std::string>& seen() const { return seen_; }

 private:
  std::vector<std::string> seen_;
};

class RunEventFeedTest : public ::testing::Test {
 protected:
  int64_t Publish(std::string_view channel, std::string_view text) {
    return *base::Run(store::Publish(*publisher_, channel, text));
  }

  base::VirtualClock clock_{tests::DefaultStart()};
  memory::Engine engine_{clock_, {}};
  std::unique_ptr<memory::Session> source_ = engine_.Connect();
  std::unique_ptr<memory::Session> publisher_ = engine_.Connect();
  Screen screen_;
};

TEST_F(RunEventFeedTest, HearsTheRunsItFollows) {
  RunEventFeed feed(*source_, screen_);
  ASSERT_TRUE(base::Run(feed.FollowRun("run_1")).ok());
  ASSERT_TRUE(base::Run(feed.FollowRun("run_2")).ok());
  Publish("run:run_1", R"({"type":"node_completed","run_id":"run_1","node_id":"a"})");
  Publish("run:run_2", R"({"type":"node_completed","node_id":"b"})");
  EXPECT_EQ(Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})"), 0);
  EXPECT_THAT(screen_.seen(), ElementsAre("run_1:a", "run_2:b"));
}

TEST_F(RunEventFeedTest, HearsAllRunsAndCountsWhatIsNoEvent) {
  RunEventFeed feed(*source_, screen_);
  ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  Publish("run:run_3", R"({"type":"node_completed","node_id":"c"})");
  Publish("run:run_3", "what?");
  EXPECT_THAT(screen_.seen(), ElementsAre("run_3:c"));
  EXPECT_EQ(feed.unreadable(), 1);
}

// Hazard 24: it would hear each event twice.
TEST_F(RunEventFeedTest, FollowsEitherRunsOrAll) {
  RunEventFeed feed(*source_, screen_);
  EXPECT_TRUE(absl::IsInvalidArgument(base::Run(feed.FollowRun("run:*"))));
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  ASSERT_TRUE(base::Run(feed.FollowRun("run_1")).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(base::Run(feed.FollowAll())));
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(base::Run(feed.FollowRun("run_1"))));
  EXPECT_EQ(Publish("run:run_1", R"({"type":"workflow_started"})"), 1);
  ASSERT_TRUE(base::Run(feed.Stop()).ok());
  EXPECT_EQ(Publish("run:run_1", R"({"type":"workflow_started"})"), 0);
}

TEST_F(RunEventFeedTest, HearsNothingOnceItIsGone) {
  {
    RunEventFeed feed(*source_, screen_);
    ASSERT_TRUE(base::Run(feed.FollowAll()).ok());
  }
  Publish("run:run_1", R"({"type":"workflow_started"})");
  EXPECT_THAT(screen_.seen(), ElementsAre());
}

}  // namespace
}  // namespace redouble::orchestrator
