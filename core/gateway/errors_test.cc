#include "redouble/core/gateway/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::StatusIs;

TEST(Errors, HaveARowForEachCodeInOrder) {
  int code = 0;
  for (const ErrorSpec& spec : ErrorSpecs()) {
    EXPECT_EQ(static_cast<int>(spec.code), code++);
    const absl::Status status = MakeError(spec.code, "why");
    EXPECT_THAT(status, StatusIs(spec.status_code, absl::StrCat(base::ToAbsl(spec.name), ": why")));
    EXPECT_EQ(ErrorCodeOf(status), spec.code);
  }
  EXPECT_EQ(SpecOf(ErrorCode::kControlStateUnavailable).http_status, 503);
}

TEST(Errors, HaveNoCodeIfTheyAreNotOfTheGateway) {
  EXPECT_EQ(ErrorCodeOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ErrorCodeOf(store::NotSentError("no connection")), std::nullopt);
}

TEST(ControlState, IsOneErrorThatKeepsItsCause) {
  const absl::Status cause = store::ServerError("WRONGTYPE Operation against a key");
  const absl::Status status = ControlStateUnavailable(cause);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(status.message(), "control_state_unavailable: WRONGTYPE Operation against a key");
  EXPECT_TRUE(IsControlStateUnavailable(status));
  EXPECT_EQ(ControlStateCause(status), cause);
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(status)), "WRONGTYPE");
}

TEST(ControlState, KeepsTheKindOfTheCause) {
  const absl::Status not_sent = ControlStateUnavailable(store::NotSentError("no connection"));
  EXPECT_EQ(store::ErrorKindOf(not_sent), store::ErrorKind::kNotSent);
  const absl::Status unknown = ControlStateUnavailable(
      store::OutcomeUnknownError("timed out", absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(unknown), store::ErrorKind::kOutcomeUnknown);
  EXPECT_THAT(ControlStateCause(unknown), StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(ControlState, KnowsItsOwnErrorsOnly) {
  EXPECT_FALSE(IsControlStateUnavailable(absl::OkStatus()));
  EXPECT_FALSE(IsControlStateUnavailable(absl::UnavailableError("control_state_unavailable: x")));
  EXPECT_FALSE(IsControlStateUnavailable(MakeError(ErrorCode::kBudgetExceeded, "x")));
  EXPECT_THAT(ControlStateCause(absl::UnavailableError("x")), IsOk());
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
