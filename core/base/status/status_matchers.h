// GoogleTest matchers for absl::Status and absl::StatusOr.
//
// A test that dereferences an absl::StatusOr holding an error ends the whole test program. These
// fail the one assertion, and say which error it was:
//
//   EXPECT_THAT(limiter.Check(key), IsOk());
//   EXPECT_THAT(base::Run(store::Get(store, "k")), IsOkAndHolds(Optional(std::string("v"))));
//   EXPECT_THAT(topics.Create(""), StatusIs(absl::StatusCode::kInvalidArgument,
//   HasSubstr("name"))); ASSERT_OK_AND_ASSIGN(const Topic topic, topics.Find("orders"));
//   EXPECT_EQ(ValueOf(topics.Find("orders")).partitions, 3);
//
// Thread-safety: no state.
#ifndef REDOUBLE_CORE_BASE_STATUS_STATUS_MATCHERS_H_
#define REDOUBLE_CORE_BASE_STATUS_STATUS_MATCHERS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_macros.h"

// Initializes the declaration `lhs` with the value of an absl::StatusOr. On an error the test fails
// and returns from the current function, which must return void.
#define ASSERT_OK_AND_ASSIGN(lhs, ...)                                                      \
  REDOUBLE_INTERNAL_ASSERT_OK_AND_ASSIGN(REDOUBLE_INTERNAL_NAME(status_or_, __LINE__), lhs, \
                                         __VA_ARGS__)

#define REDOUBLE_INTERNAL_ASSERT_OK_AND_ASSIGN(status_or, lhs, ...) \
  auto status_or = (__VA_ARGS__);                                   \
  ASSERT_THAT(status_or, ::redouble::base::IsOk());                 \
  lhs = *std::move(status_or)

namespace redouble::inline v0_1::base {
namespace internal {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& status_or) {
  return status_or.status();
}

// Matches an absl::StatusOr whose value matches `inner`.
template <typename StatusOrType>
class IsOkAndHoldsImpl : public ::testing::MatcherInterface<StatusOrType> {
 public:
  using Value = typename std::remove_reference_t<StatusOrType>::value_type;

  template <typename Inner>
  explicit IsOkAndHoldsImpl(Inner&& inner)
      : inner_(::testing::SafeMatcherCast<const Value&>(std::forward<Inner>(inner))) {}

  void DescribeTo(std::ostream* os) const override {
    *os << "is OK and has a value that ";
    inner_.DescribeTo(os);
  }
  void DescribeNegationTo(std::ostream* os) const override {
    *os << "is an error or has a value that ";
    inner_.DescribeNegationTo(os);
  }
  bool MatchAndExplain(StatusOrType actual,
                       ::testing::MatchResultListener* listener) const override {
    if (!actual.ok()) {
      *listener << "which has the status " << actual.status().ToString();
      return false;
    }
    *listener << "whose value is " << ::testing::PrintToString(*actual);
    return inner_.MatchAndExplain(*actual, listener);
  }

 private:
  const ::testing::Matcher<const Value&> inner_;
};

template <typename Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}

  template <typename StatusOrType>
  operator ::testing::Matcher<StatusOrType>() const {  // NOLINT: implicit, as every matcher's
    return ::testing::Matcher<StatusOrType>(new IsOkAndHoldsImpl<const StatusOrType&>(inner_));
  }

 private:
  Inner inner_;
};

// Fails the test at `place`, and ends it.
[[noreturn]] inline void EndTestWithoutValue(const absl::Status& status,
                                             const std::source_location& place) {
  const int line = static_cast<int>(place.line());
  const std::string message = "This has no value but the status " + status.ToString();
  ADD_FAILURE_AT(place.file_name(), line) << message;
#if GTEST_HAS_EXCEPTIONS
  throw ::testing::AssertionException(::testing::TestPartResult(
      ::testing::TestPartResult::kFatalFailure, place.file_name(), line, message.c_str()));
#else
  std::abort();
#endif
}

}  // namespace internal

// Returns the value of an absl::StatusOr, within an expression. On an error the test fails with the
// status and the place of the call, and the next test runs. (Without exceptions, and within a
// coroutine, the program ends.)
template <typename T>
T ValueOf(absl::StatusOr<T> status_or,
          const std::source_location place = std::source_location::current()) {
  if (!status_or.ok()) internal::EndTestWithoutValue(status_or.status(), place);
  return *std::move(status_or);
}

// Matches an OK absl::Status, and an absl::StatusOr that has a value.
MATCHER(IsOk, negation ? "is an error" : "is OK") {
  const absl::Status& status = internal::StatusOf(arg);
  if (!status.ok()) *result_listener << "which has the status " << status.ToString();
  return status.ok();
}

// Matches an absl::StatusOr that has a value which matches `inner` (a value or a matcher).
template <typename Inner>
internal::IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(Inner&& inner) {
  return internal::IsOkAndHoldsMatcher<std::decay_t<Inner>>(std::forward<Inner>(inner));
}

// Matches an absl::Status or absl::StatusOr by its code, and by its message if that is given (a
// text or a matcher of std::string).
MATCHER_P2(StatusIs, code, message, "") {
  const absl::Status& status = internal::StatusOf(arg);
  *result_listener << "which has the status " << status.ToString();
  return status.code() == code &&
         ::testing::ExplainMatchResult(::testing::SafeMatcherCast<std::string>(message),
                                       std::string(status.message()), result_listener);
}
template <typename Code>
auto StatusIs(Code code) {
  return StatusIs(code, ::testing::A<std::string>());
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_STATUS_STATUS_MATCHERS_H_
