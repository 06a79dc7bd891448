#include "redouble/core/store/decode.h"

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::Eq;
using Strings = std::vector<std::string>;
using StringsOrNil = std::vector<std::optional<std::string>>;
using base::IsOkAndHolds;

// All functions, for the tests of their common behavior.
struct Function {
  std::string name;
  std::function<absl::Status(absl::StatusOr<Reply>)> status_of;
  // A reply that the function refuses; nullopt if it accepts all.
  std::optional<Reply> refused;
  // The message of the error.
  std::string message = {};
};
template <typename T>
std::function<absl::Status(absl::StatusOr<Reply>)> StatusOf(
    absl::StatusOr<T> (*decode)(absl::StatusOr<Reply>)) {
  return [decode](absl::StatusOr<Reply> reply) { return decode(std::move(reply)).status(); };
}

std::vector<Function> AllFunctions() {
  return {
      {"DecodeAny", StatusOf(DecodeAny), std::nullopt},
      {"DecodeStatus", DecodeStatus, Reply::Integer(1), "expected a status as the reply, got 1"},
      {"DecodeStatusOrNil", StatusOf(DecodeStatusOrNil), Reply::Bulk("x"),
       "expected a status or nil as the reply, got \"x\""},
      {"DecodeInteger", StatusOf(DecodeInteger), Reply::Bulk("1"),
       "expected an integer as the reply, got \"1\""},
      {"DecodeIntegerOrNil", StatusOf(DecodeIntegerOrNil), Reply::Ok(),
       "expected an integer or nil as the reply, got OK"},
      {"DecodeBool", StatusOf(DecodeBool), Reply::Nil(),
       "expected an integer as the reply, got nil"},
      {"DecodeString", StatusOf(DecodeString), Reply::Nil(),
       "expected a string as the reply, got nil"},
      {"DecodeStringOrNil", StatusOf(DecodeStringOrNil), Reply::EmptyArray(),
       "expected a string or nil as the reply, got []"},
      {"DecodeArray", StatusOf(DecodeArray), Reply::Nil(),
       "expected an array as the reply, got nil"},
      {"DecodeStrings", StatusOf(DecodeStrings), Reply::Bulk("x"),
       "expected an array of strings as the reply, got \"x\""},
      {"DecodeStringsOrNil", StatusOf(DecodeStringsOrNil), Reply::Bulk("x"),
       "expected an array of strings or nils as the reply, got \"x\""},
      {"DecodePairs", StatusOf(DecodePairs), Reply::Bulk("x"),
       "expected an array of strings as the reply, got \"x\""},
      {"DecodeDouble", StatusOf(DecodeDouble), Reply::Integer(1),
       "expected a double as the reply, got 1"},
  };
}

TEST(Decode, MakesAnErrorReplyAServerError) {
  for (const Function& function : AllFunctions()) {
    const absl::Status status = function.status_of(Reply::Error("WRONGTYPE no"));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << function.name;
    EXPECT_EQ(ServerErrorCode(status), "WRONGTYPE") << function.name;
  }
}

TEST(Decode, PassesAFailureOn) {
  const absl::Status failure = OutcomeUnknownError("connection lost");
  for (const Function& function : AllFunctions()) {
    EXPECT_EQ(function.status_of(failure), failure) << function.name;
  }
}

TEST(Decode, NamesTheExpectedAndTheActualReply) {
  for (const Function& function : AllFunctions()) {
    if (!function.refused) continue;
    const absl::Status status = function.status_of(*function.refused);
    EXPECT_EQ(ErrorKindOf(status), ErrorKind::kProtocol) << function.name;
    EXPECT_EQ(status.message(), function.message) << function.name;
  }
}

TEST(DecodeAny, GivesTheReply) {
  EXPECT_THAT(DecodeAny(Reply::Integer(1)), IsOkAndHolds(Reply::Integer(1)));
  EXPECT_THAT(DecodeAny(Reply::Nil()), IsOkAndHolds(Reply::Nil()));
}

TEST(DecodeStatus, TakesAnyStatus) {
  EXPECT_TRUE(DecodeStatus(Reply::Ok()).ok());
  EXPECT_TRUE(DecodeStatus(Reply::Status("PONG")).ok());
}

TEST(DecodeStatusOrNil, DistinguishesStatusFromNil) {
  EXPECT_THAT(DecodeStatusOrNil(Reply::Ok()), IsOkAndHolds(true));
  EXPECT_THAT(DecodeStatusOrNil(Reply::Nil()), IsOkAndHolds(false));
}

TEST(DecodeInteger, GivesTheInteger) {
  EXPECT_THAT(DecodeInteger(Reply::Integer(-5)), IsOkAndHolds(-5));
}

TEST(DecodeIntegerOrNil, GivesTheIntegerOrNothing) {
  EXPECT_THAT(DecodeIntegerOrNil(Reply::Integer(0)), IsOkAndHolds(0));
  EXPECT_THAT(DecodeIntegerOrNil(Reply::Nil()), IsOkAndHolds(Eq(std::nullopt)));
}

TEST(DecodeBool, IsTrueUnlessZero) {
  EXPECT_THAT(DecodeBool(Reply::Integer(0)), IsOkAndHolds(false));
  EXPECT_THAT(DecodeBool(Reply::Integer(1)), IsOkAndHolds(true));
  EXPECT_THAT(DecodeBool(Reply::Integer(2)), IsOkAndHolds(true));
}

TEST(DecodeString, TakesBulkStringsAndStatuses) {
  EXPECT_THAT(DecodeString(Reply::Bulk("text")), IsOkAndHolds("text"));
  EXPECT_THAT(DecodeString(Reply::Status("string")), IsOkAndHolds("string"));
}

TEST(DecodeStringOrNil, GivesTheStringOrNothing) {
  EXPECT_THAT(DecodeStringOrNil(Reply::Bulk("")), IsOkAndHolds(""));
  EXPECT_THAT(DecodeStringOrNil(Reply::Status("QUEUED")), IsOkAndHolds("QUEUED"));
  EXPECT_THAT(DecodeStringOrNil(Reply::Nil()), IsOkAndHolds(Eq(std::nullopt)));
}

TEST(DecodePairs, GivesNamesAndValuesInOrder) {
  const Reply reply =
      Reply::Array({Reply::Bulk("b"), Reply::Bulk("1"), Reply::Bulk("a"), Reply::Bulk("2")});
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_THAT(DecodePairs(reply), IsOkAndHolds(Pairs{{"b", "1"}, {"a", "2"}}));
  EXPECT_THAT(DecodePairs(Reply::EmptyArray()), IsOkAndHolds(Pairs()));
}

TEST(DecodeArray, GivesTheElements) {
  EXPECT_TRUE(DecodeArray(Reply::EmptyArray()).value().empty());
  EXPECT_THAT(DecodeArray(Reply::Array({Reply::Error("ERR kept")})),
              IsOkAndHolds(std::vector<Reply>{Reply::Error("ERR kept")}));
}

TEST(DecodeStrings, GivesTheStrings) {
  EXPECT_THAT(DecodeStrings(Reply::Array({Reply::Bulk("a"), Reply::Status("b")})),
              IsOkAndHolds(Strings{"a", "b"}));
  EXPECT_TRUE(DecodeStrings(Reply::EmptyArray()).value().empty());
}

TEST(DecodeStrings, RefusesAnElementOfAnotherType) {
  const absl::Status status =
      DecodeStrings(Reply::Array({Reply::Bulk("a"), Reply::Nil()})).status();
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "expected a string in an array as the reply, got nil");
}

TEST(DecodeStringsOrNil, GivesTheStringsAndNothings) {
  EXPECT_THAT(DecodeStringsOrNil(Reply::Array({Reply::Bulk("a"), Reply::Nil()})),
              IsOkAndHolds(StringsOrNil{"a", std::nullopt}));
}

TEST(DecodeStringsOrNil, RefusesAnElementThatIsNeither) {
  const absl::Status status = DecodeStringsOrNil(Reply::Array({Reply::Integer(3)})).status();
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "expected a string or nil in an array as the reply, got 3");
}

TEST(DecodeDouble, GivesTheNumber) {
  EXPECT_THAT(DecodeDouble(Reply::Bulk("0.10000000000000001")), IsOkAndHolds(0.1));
  EXPECT_THAT(DecodeDouble(Reply::Double("-inf")),
              IsOkAndHolds(-std::numeric_limits<double>::infinity()));
}

TEST(DecodeDouble, RefusesATextThatIsNoNumber) {
  const absl::Status status = DecodeDouble(Reply::Bulk("one")).status();
  EXPECT_EQ(ErrorKindOf(status), ErrorKind::kProtocol);
  EXPECT_EQ(status.message(), "expected a double as the reply, got \"one\"");
}

TEST(FirstError, IsTheFirstErrorOrOk) {
  EXPECT_TRUE(FirstError({}).ok());
  const std::vector<Reply> fine = {Reply::Ok(), Reply::Nil()};
  EXPECT_TRUE(FirstError(fine).ok());
  const std::vector<Reply> broken = {Reply::Ok(), Reply::Error("OOM a"), Reply::Error("ERR b")};
  EXPECT_EQ(ServerErrorCode(FirstError(broken)), "OOM");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
