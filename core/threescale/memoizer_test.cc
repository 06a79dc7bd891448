#include "redouble/core/threescale/memoizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOkAndHolds;
using ::testing::Pointee;

class MemoizerTest : public ::testing::Test {
 protected:
  base::VirtualClock clock_{base::ParseRfc3339("2025-04-23T17:42:39.5Z").value()};
  Memoizer memoizer_{clock_};
};

TEST_F(MemoizerTest, KeepsAnEntryThroughThe60thSecondAfterIt) {
  memoizer_.Put<int>("k", 7);
  clock_.Advance(absl::Milliseconds(60'499));  // In the 60th second: 17:43:39.999.
  ASSERT_NE(memoizer_.Find<int>("k"), nullptr);
  EXPECT_THAT(memoizer_.Find<int>("k"), Pointee(7));
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(memoizer_.Find<int>("k"), nullptr);
}

TEST_F(MemoizerTest, RemembersThatThereWasNothing) {
  memoizer_.Put("k", std::optional<std::string>());
  const auto* found = memoizer_.Find<std::optional<std::string>>("k");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, std::nullopt);
  EXPECT_EQ(memoizer_.Find<std::optional<std::string>>("other"), nullptr);
}

TEST_F(MemoizerTest, TellsTypesApart) {
  memoizer_.Put<int>("k", 7);
  EXPECT_EQ(memoizer_.Find<std::string>("k"), nullptr);
}

TEST_F(MemoizerTest, ForgetsWhatItIsToldTo) {
  memoizer_.Put<int>("a", 1);
  memoizer_.Put<int>("b", 2);
  memoizer_.Clear("a");
  memoizer_.Clear("never there");
  EXPECT_EQ(memoizer_.Find<int>("a"), nullptr);
  EXPECT_NE(memoizer_.Find<int>("b"), nullptr);
  memoizer_.ClearAll();
  EXPECT_EQ(memoizer_.Find<int>("b"), nullptr);
}

TEST_F(MemoizerTest, StartsTheMinuteAnewWhenAnEntryIsPutAgain) {
  memoizer_.Put<int>("k", 1);
  clock_.Advance(absl::Seconds(50));
  memoizer_.Put<int>("k", 2);
  clock_.Advance(absl::Seconds(50));
  ASSERT_NE(memoizer_.Find<int>("k"), nullptr);
  EXPECT_THAT(memoizer_.Find<int>("k"), Pointee(2));
}

TEST_F(MemoizerTest, DropsExpiredEntriesInPassingAfterAMinute) {
  memoizer_.Put<int>("old", 1);
  clock_.Advance(absl::Seconds(30));
  memoizer_.Put<int>("young", 2);
  clock_.Advance(absl::Seconds(30));
  EXPECT_EQ(memoizer_.Find<int>("none"), nullptr);
  EXPECT_EQ(memoizer_.size(), 2u);  // The purge is not due yet.
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(memoizer_.Find<int>("none"), nullptr);
  EXPECT_EQ(memoizer_.size(), 1u);
}

TEST_F(MemoizerTest, DropsEverythingWhenTooMuchIsLeft) {
  clock_.Advance(absl::Seconds(30));
  for (size_t i = 0; i <= Memoizer::kMostEntries; ++i) {
    memoizer_.Put<int>(std::to_string(i), 0);
  }
  clock_.Advance(absl::Seconds(31));
  EXPECT_EQ(memoizer_.Find<int>("none"), nullptr);
  EXPECT_EQ(memoizer_.size(), 0u);
}

base::Task<absl::StatusOr<int>> Count(int* reads) { co_return ++*reads; }

TEST_F(MemoizerTest, ReadsOnceAMinute) {
  int reads = 0;
  const auto read = [&reads] { return Count(&reads); };
  EXPECT_THAT(base::Run(Memoized<int>(&memoizer_, "k", read)), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(Memoized<int>(&memoizer_, "k", read)), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(Memoized<int>(&memoizer_, "other", read)), IsOkAndHolds(2));
  clock_.Advance(absl::Seconds(61));
  EXPECT_THAT(base::Run(Memoized<int>(&memoizer_, "k", read)), IsOkAndHolds(3));
}

TEST_F(MemoizerTest, IsNotNeeded) {
  int reads = 0;
  const auto read = [&reads] { return Count(&reads); };
  EXPECT_THAT(base::Run(Memoized<int>(nullptr, "k", read)), IsOkAndHolds(1));
  EXPECT_THAT(base::Run(Memoized<int>(nullptr, "k", read)), IsOkAndHolds(2));
}

base::Task<absl::StatusOr<int>> Fail(int* reads) {
  ++*reads;
  co_return absl::UnavailableError("gone");
}

TEST_F(MemoizerTest, DoesNotRememberFailures) {
  int reads = 0;
  const auto read = [&reads] { return Fail(&reads); };
  EXPECT_TRUE(absl::IsUnavailable(base::Run(Memoized<int>(&memoizer_, "k", read)).status()));
  EXPECT_TRUE(absl::IsUnavailable(base::Run(Memoized<int>(&memoizer_, "k", read)).status()));
  EXPECT_EQ(reads, 2);
}

TEST(MemoizerKey, JoinsItsArguments) {
  EXPECT_EQ(MemoizerKey("Service.load_by_id", "2"), "Service.load_by_id-2");
  EXPECT_EQ(MemoizerKey("Metric.load_id", "2", "hits"), "Metric.load_id-2-hits");
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
