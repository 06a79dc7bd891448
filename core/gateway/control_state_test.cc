#include "core/gateway/control_state.h"

#include <gtest/gtest.h>

#include "core/store/errors.h"

namespace redouble::gateway {
namespace {

TEST(ControlState, IsOneErrorThatKeepsItsCause) {
  const absl::Status cause = store::ServerError("WRONGTYPE Operation against a key");
  const absl::Status status = ControlStateUnavailable(cause);
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "control_state_unavailable: WRONGTYPE Operation against a key");
  EXPECT_TRUE(IsControlStateUnavailable(status));
  EXPECT_EQ(ControlStateCause(status), cause);
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(status)), "WRONGTYPE");
}

TEST(ControlState, TellsWhatBecameOfTheCommand) {
  const absl::Status not_sent = ControlStateUnavailable(store::NotSentError("no connection"));
  EXPECT_EQ(store::ErrorKindOf(not_sent), store::ErrorKind::kNotSent);
  const absl::Status unknown = ControlStateUnavailable(
      store::OutcomeUnknownError("timed out", absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(store::ErrorKindOf(unknown), store::ErrorKind::kOutcomeUnknown);
  EXPECT_TRUE(absl::IsDeadlineExceeded(ControlStateCause(unknown)));
}

TEST(ControlState, KnowsItsOwnErrorsOnly) {
  EXPECT_FALSE(IsControlStateUnavailable(absl::OkStatus()));
  EXPECT_FALSE(IsControlStateUnavailable(absl::UnavailableError("control_state_unavailable: x")));
  EXPECT_TRUE(ControlStateCause(absl::UnavailableError("x")).ok());
}

}  // namespace
}  // namespace redouble::gateway
