#include "redouble/core/base/status/status_macros.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"

namespace redouble::inline v0_1::base {
namespace {

using ::testing::HasSubstr;
using ::testing::Pointee;

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) return absl::InvalidArgumentError("odd");
  return value / 2;
}

absl::StatusOr<int> Quarter(int value) {
  REDOUBLE_ASSIGN_OR_RETURN(const int half, Half(value));
  REDOUBLE_ASSIGN_OR_RETURN(const auto quarter, Half(half));
  return quarter;
}

absl::Status CheckQuarter(int value) {
  REDOUBLE_RETURN_IF_ERROR(Half(value).status());
  REDOUBLE_RETURN_IF_ERROR(Quarter(value).status());
  return absl::OkStatus();
}

Task<absl::StatusOr<int>> HalfLater(int value) { co_return Half(value); }

Task<absl::StatusOr<int>> QuarterLater(int value) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int half, co_await HalfLater(value));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int quarter, co_await HalfLater(half));
  co_return quarter;
}

Task<absl::Status> CheckLater(int value) {
  REDOUBLE_CO_RETURN_IF_ERROR((co_await QuarterLater(value)).status());
  co_return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<int>> Boxed(int value) {
  REDOUBLE_ASSIGN_OR_RETURN(const int half, Half(value));
  return std::make_unique<int>(half);
}

absl::StatusOr<std::unique_ptr<int>> Passed(int value) {
  REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<int> box, Boxed(value));
  return box;
}

TEST(StatusMacros, PassOnValuesAndErrors) {
  EXPECT_THAT(Quarter(8), IsOkAndHolds(2));
  EXPECT_THAT(Quarter(6), StatusIs(absl::StatusCode::kInvalidArgument, "odd"));
  EXPECT_THAT(CheckQuarter(8), IsOk());
  EXPECT_THAT(CheckQuarter(7), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StatusMacros, WorkInCoroutines) {
  EXPECT_THAT(base::Run(QuarterLater(12)), IsOkAndHolds(3));
  EXPECT_THAT(base::Run(QuarterLater(10)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(base::Run(CheckLater(4)), IsOk());
  EXPECT_THAT(base::Run(CheckLater(3)), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StatusMacros, MoveValuesThatCannotBeCopied) {
  EXPECT_THAT(Passed(8), IsOkAndHolds(Pointee(4)));
  EXPECT_THAT(Passed(7), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(StatusMatchers, ExplainWhatTheyFound) {
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(::testing::ExplainMatchResult(IsOk(), Half(3), &listener));
  EXPECT_THAT(listener.str(), HasSubstr("INVALID_ARGUMENT: odd"));
  listener.Clear();
  EXPECT_FALSE(::testing::ExplainMatchResult(IsOkAndHolds(2), Half(3), &listener));
  EXPECT_THAT(listener.str(), HasSubstr("INVALID_ARGUMENT: odd"));
  EXPECT_FALSE(::testing::Value(Half(4), IsOkAndHolds(3)));
  EXPECT_FALSE(::testing::Value(Half(4), StatusIs(absl::StatusCode::kNotFound)));
  EXPECT_FALSE(::testing::Value(Half(3), StatusIs(absl::StatusCode::kInvalidArgument, "even")));
}

TEST(StatusMatchers, AssertOkAndAssignDeclaresTheValue) {
  ASSERT_OK_AND_ASSIGN(const int half, Half(4));
  EXPECT_EQ(half, 2);
}

TEST(StatusMatchers, ValueOfIsTheValueAlsoIfItCannotBeCopied) {
  EXPECT_EQ(ValueOf(Half(8)) + ValueOf(Quarter(8)), 6);
  const std::unique_ptr<int> box = ValueOf(Boxed(8));
  EXPECT_EQ(*box, 4);
}

TEST(StatusMatchers, ValueOfAnErrorEndsTheTestAndNamesTheStatusAndThePlace) {
  ::testing::TestPartResultArray failures;
  bool is_ended = false;
  const int line = __LINE__ + 4;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(&failures);
    try {
      ValueOf(Half(3));
    } catch (const ::testing::AssertionException&) {  // GoogleTest's own; it ends one test.
      is_ended = true;
    }
  }
  EXPECT_TRUE(is_ended);
  ASSERT_EQ(failures.size(), 1);
  const ::testing::TestPartResult& failure = failures.GetTestPartResult(0);
  EXPECT_STREQ(failure.file_name(), __FILE__);
  EXPECT_EQ(failure.line_number(), line);
  EXPECT_THAT(failure.message(), HasSubstr("INVALID_ARGUMENT: odd"));
}

}  // namespace
}  // namespace redouble::inline v0_1::base
