#include "redouble/sim/server/process/deferred_tasks.h"

#include <chrono>
#include <functional>
#include <string>

#include "boost/asio/io_context.hpp"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

using std::chrono::microseconds;

class DeferredTasksTest : public testing::Test {
 protected:
  void RunPart(int parts) {
    log_ += 'p';
    if (parts > 1) tasks_.InBackground([this, parts] { RunPart(parts - 1); });
  }

  boost::asio::io_context context_;
  std::string log_;
  microseconds delay_{0};
  int delays_ = 0;
  DeferredTasks tasks_{context_, [this] { log_ += '.'; },
                       [this] {
                         ++delays_;
                         return delay_;
                       }};
};

TEST_F(DeferredTasksTest, RunInTheirOrder) {
  tasks_.Later([this] { log_ += 'a'; });
  tasks_.Later([this] { log_ += 'b'; });
  EXPECT_TRUE(tasks_.pending());
  EXPECT_EQ(log_, "");
  context_.run();
  EXPECT_FALSE(tasks_.pending());
  EXPECT_EQ(log_, "a.b.");
}

TEST_F(DeferredTasksTest, OnlyTheFirstPartOfWorkInTheBackgroundIsPending) {
  tasks_.InBackground([this] { RunPart(3); });
  EXPECT_TRUE(tasks_.pending());
  context_.run_one();
  EXPECT_FALSE(tasks_.pending());
  EXPECT_EQ(log_, "p.");
  context_.run();
  EXPECT_EQ(log_, "p.p.p.");
}

TEST_F(DeferredTasksTest, FurtherPartsWaitForTheDelay) {
  delay_ = microseconds(1);
  tasks_.InBackground([this] { RunPart(3); });
  context_.run();
  EXPECT_EQ(log_, "p.p.p.");
  // Before and after the wait of each.
  EXPECT_EQ(delays_, 4);
}

TEST_F(DeferredTasksTest, ADelayCanBeShortened) {
  delay_ = std::chrono::hours(1);
  tasks_.InBackground([this] { RunPart(2); });
  EXPECT_EQ(context_.poll(), 1U);
  delay_ = microseconds(0);
  context_.run();
  EXPECT_EQ(log_, "p.p.");
}

TEST_F(DeferredTasksTest, PartsThatWaitAreDroppedWithTheContext) {
  delay_ = std::chrono::hours(1);
  tasks_.InBackground([this] { RunPart(2); });
  EXPECT_EQ(context_.poll(), 1U);
  EXPECT_EQ(log_, "p.");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
