#include "redouble/core/store/errors.h"

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

struct Expected {
  std::string_view text;
  std::string_view error_code;
  absl::StatusCode status_code;
};
constexpr Expected kExpected[] = {
    {"ERR syntax error", "ERR", absl::StatusCode::kInvalidArgument},
    {"MADEUP by a script", "MADEUP", absl::StatusCode::kInvalidArgument},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", "WRONGTYPE",
     absl::StatusCode::kFailedPrecondition},
    {"READONLY You can't write against a read only replica.", "READONLY",
     absl::StatusCode::kFailedPrecondition},
    {"NOREPLICAS Not enough good replicas to write.", "NOREPLICAS",
     absl::StatusCode::kFailedPrecondition},
    {"MISCONF Redis is configured to save", "MISCONF", absl::StatusCode::kFailedPrecondition},
    {"NOSCRIPT No matching script. Please use EVAL.", "NOSCRIPT", absl::StatusCode::kNotFound},
    {"NOGROUP No such key", "NOGROUP", absl::StatusCode::kNotFound},
    {"NOTBUSY No scripts in execution right now.", "NOTBUSY", absl::StatusCode::kNotFound},
    {"BUSYGROUP Consumer Group name already exists", "BUSYGROUP", absl::StatusCode::kAlreadyExists},
    {"BUSYKEY Target key name already exists.", "BUSYKEY", absl::StatusCode::kAlreadyExists},
    {"OOM command not allowed when used memory > 'maxmemory'.", "OOM",
     absl::StatusCode::kResourceExhausted},
    {"NOAUTH Authentication required.", "NOAUTH", absl::StatusCode::kUnauthenticated},
    {"WRONGPASS invalid username-password pair or user is disabled.", "WRONGPASS",
     absl::StatusCode::kUnauthenticated},
    {"NOPERM this user has no permissions", "NOPERM", absl::StatusCode::kPermissionDenied},
    {"DENIED Redis is running in protected mode", "DENIED", absl::StatusCode::kPermissionDenied},
    {"EXECABORT Transaction discarded because of previous errors.", "EXECABORT",
     absl::StatusCode::kAborted},
    {"UNBLOCKED client unblocked via CLIENT UNBLOCK", "UNBLOCKED", absl::StatusCode::kAborted},
    {"BUSY Redis is busy running a script.", "BUSY", absl::StatusCode::kUnavailable},
    {"LOADING Redis is loading the dataset in memory", "LOADING", absl::StatusCode::kUnavailable},
    {"MASTERDOWN Link with MASTER is down", "MASTERDOWN", absl::StatusCode::kUnavailable},
    {"CLUSTERDOWN Hash slot not served", "CLUSTERDOWN", absl::StatusCode::kUnavailable},
    {"TRYAGAIN Multiple keys request during rehashing of slot", "TRYAGAIN",
     absl::StatusCode::kUnavailable},
    {"MOVED 3999 127.0.0.1:6381", "MOVED", absl::StatusCode::kUnavailable},
    {"ASK 3999 127.0.0.1:6381", "ASK", absl::StatusCode::kUnavailable},
    {"ALONE", "ALONE", absl::StatusCode::kInvalidArgument},
    {"", "", absl::StatusCode::kInvalidArgument},
};

TEST(ServerError, HasTheStatusCodeOfItsErrorCodeAndRedissOwnText) {
  for (const Expected& expected : kExpected) {
    const absl::Status status = ServerError(expected.text);
    EXPECT_EQ(status.code(), expected.status_code) << expected.text;
    EXPECT_EQ(status.message(), std::string(expected.text));
    EXPECT_EQ(ErrorKindOf(status), ErrorKind::kServer) << expected.text;
    EXPECT_EQ(ServerErrorCode(status), expected.error_code);
  }
}

TEST(NotSentError, IsUnavailableOrTheGivenCode) {
  const absl::Status status = NotSentError("no connection");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "no connection");
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kNotSent);
  const absl::Status timed_out = NotSentError("no time", absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(timed_out.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ErrorKindOf(timed_out), ErrorKind::kNotSent);
}

TEST(OutcomeUnknownError, IsUnavailableOrTheGivenCode) {
  const absl::Status status = OutcomeUnknownError("connection lost");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kOutcomeUnknown);
  const absl::Status timed_out =
      OutcomeUnknownError("no answer", absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(timed_out.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(ErrorKindOf(timed_out), ErrorKind::kOutcomeUnknown);
}

TEST(ProtocolError, IsInternal) {
  EXPECT_EQ(ProtocolError("what").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ErrorKindOf(ProtocolError("what")), ErrorKind::kProtocol);
}

TEST(ErrorKindOf, IsNoneForOtherStatuses) {
  EXPECT_EQ(ErrorKindOf(absl::OkStatus()), std::nullopt);
  EXPECT_EQ(ErrorKindOf(absl::UnavailableError("elsewhere")), std::nullopt);
  absl::Status foreign = absl::UnavailableError("elsewhere");
  foreign.SetPayload("redouble/error-kind", absl::Cord("something else"));
  EXPECT_EQ(ErrorKindOf(foreign), std::nullopt);
}

TEST(ServerErrorCode, IsEmptyForWhatTheServerDidNotSay) {
  EXPECT_EQ(ServerErrorCode(absl::OkStatus()), "");
  EXPECT_EQ(ServerErrorCode(absl::InvalidArgumentError("ERR like a server")), "");
  EXPECT_EQ(ServerErrorCode(NotSentError("ERR like a server")), "");
}

TEST(ErrorKindName, NamesEveryKind) {
  EXPECT_EQ(ErrorKindName(ErrorKind::kServer), "server");
  EXPECT_EQ(ErrorKindName(ErrorKind::kNotSent), "not sent");
  EXPECT_EQ(ErrorKindName(ErrorKind::kOutcomeUnknown), "outcome unknown");
  EXPECT_EQ(ErrorKindName(ErrorKind::kProtocol), "protocol");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
