#include "redouble/core/base/task/wait_reporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Waiter final : public WaitReporter {
 public:
  explicit Waiter(std::string line) : line_(std::move(line)) {}
  std::vector<std::string> DescribeWaits() const override { return {line_}; }

 private:
  const std::string line_;
};

TEST(WaitReporter, ReportsWhileItLivesTheOldestFirst) {
  const Waiter a("a");
  {
    const Waiter b("b");
    EXPECT_THAT(DescribeAllWaits(), ElementsAre("a", "b"));
  }
  EXPECT_THAT(DescribeAllWaits(), ElementsAre("a"));
}

TEST(WaitReporter, IsAskedOnlyByTheThreadThatMadeIt) {
  const Waiter a("a");
  std::unique_ptr<Waiter> moved;
  std::thread([&] {
    EXPECT_THAT(DescribeAllWaits(), IsEmpty());
    moved = std::make_unique<Waiter>("b");
    EXPECT_THAT(DescribeAllWaits(), ElementsAre("b"));
  }).join();
  EXPECT_THAT(DescribeAllWaits(), ElementsAre("a"));
  moved.reset();
}

}  // namespace
}  // namespace redouble::inline v0_1::base
