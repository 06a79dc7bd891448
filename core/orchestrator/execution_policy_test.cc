#include "redouble/core/orchestrator/execution_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::HasSubstr;

constexpr const char* kText =
    R"({"timeout_ms":30000,"retry":{"max_attempts":3,"backoff_ms":1000,"backoff_multiplier":2.5}})";

std::string Written(const ExecutionPolicy& policy) {
  Json object = Json::object();
  AddExecutionPolicy(object, policy);
  return object.dump();
}

TEST(ExecutionPolicy, IsReadAndWritten) {
  const ExecutionPolicy policy = ParseExecutionPolicy(kText).value();
  EXPECT_EQ(policy.timeout, absl::Seconds(30));
  EXPECT_EQ(policy.max_attempts, 3);
  EXPECT_EQ(policy.backoff, absl::Seconds(1));
  EXPECT_EQ(policy.backoff_multiplier, 2.5);
  EXPECT_EQ(Written(policy), kText);
}

TEST(ExecutionPolicy, IsOneAttemptWithoutALimitByDefault) {
  EXPECT_THAT(ParseExecutionPolicy(""), IsOkAndHolds(ExecutionPolicy()));
  EXPECT_THAT(ParseExecutionPolicy(R"({"task":"x"})"), IsOkAndHolds(ExecutionPolicy()));
  EXPECT_THAT(ParseExecutionPolicy(R"({"timeout_ms":0,"retry":{"max_attempts":0,"backoff_ms":0,)"
                                   R"("backoff_multiplier":0}})"),
              IsOkAndHolds(ExecutionPolicy()));
  EXPECT_EQ(Written(ExecutionPolicy()), "{}");
}

TEST(ExecutionPolicy, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> rows[] = {
      {R"([])", "execution policy: "},
      {R"({"timeout_ms":-1})", "/timeout_ms: expected an integer of at least 0, got -1"},
      {R"({"timeout_ms":"1s"})", "/timeout_ms: expected an integer of at least 0"},
      {R"({"retry":3})", "/retry: expected an object, got 3"},
      {R"({"retry":{"max_attempts":-1}})",
       "/retry/max_attempts: expected an integer of at least 0"},
      {R"({"retry":{"backoff_ms":-1}})", "/retry/backoff_ms: expected an integer of at least 0"},
      {R"({"retry":{"backoff_multiplier":0.5}})",
       "/retry/backoff_multiplier: expected a number of at least 1, got 0.5"},
      {R"({"retry":{"backoff_multiplier":"2"}})", "/retry/backoff_multiplier: expected a number"},
  };
  for (const auto& [text, message] : rows) {
    const absl::Status status = ParseExecutionPolicy(text).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message)) << text;
  }
}

TEST(ExecutionPolicy, PausesLongerAfterEachAttempt) {
  ExecutionPolicy policy;
  policy.backoff = absl::Seconds(2);
  EXPECT_EQ(BackoffAfter(policy, 1), absl::Seconds(2));
  EXPECT_EQ(BackoffAfter(policy, 5), absl::Seconds(2));
  policy.backoff_multiplier = 3;
  EXPECT_EQ(BackoffAfter(policy, 1), absl::Seconds(2));
  EXPECT_EQ(BackoffAfter(policy, 2), absl::Seconds(6));
  EXPECT_EQ(BackoffAfter(policy, 3), absl::Seconds(18));
  EXPECT_EQ(BackoffAfter(policy, 100'000), kLongestBackoff);
}

TEST(ExecutionPolicy, RepeatsErrorsThatMayBeOver) {
  EXPECT_TRUE(IsRetryable(absl::UnavailableError("")));
  EXPECT_TRUE(IsRetryable(absl::DeadlineExceededError("")));
  EXPECT_TRUE(IsRetryable(absl::ResourceExhaustedError("")));
  EXPECT_TRUE(IsRetryable(absl::AbortedError("")));
  EXPECT_FALSE(IsRetryable(absl::InternalError("")));
  EXPECT_FALSE(IsRetryable(absl::InvalidArgumentError("")));
  EXPECT_FALSE(IsRetryable(absl::OkStatus()));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
