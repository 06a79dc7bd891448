#include "redouble/core/gateway/rate_limiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "redouble/backends/testing/layout_backends.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using tests::InterceptedStore;
using Outcome = RateLimitDecision::Outcome;

constexpr std::string_view kKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
constexpr std::string_view kOtherKey = "018f8d31-86a7-7c48-8f36-4d1fa4d99102";

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

template <typename Backend>
class RateLimiterTest : public tests::LayoutTest<Backend> {
 protected:
  // The decision on a request at the time of the backend.
  RateLimitDecision Hit(std::optional<int32_t> limit, std::string_view key = kKey) {
    RateLimiter limiter(this->store(), this->keys_);
    const auto decision = this->Run(limiter.CheckRequestRateLimit(key, limit, this->now()));
    EXPECT_THAT(decision, IsOk());
    return decision.value_or(RateLimitDecision());
  }
  absl::Status Failure(store::Store& store) {
    RateLimiter limiter(store, this->keys_);
    return this->Run(limiter.CheckRequestRateLimit(kKey, 5, this->now())).status();
  }

  std::string Minute(std::string_view minute, std::string_view key = kKey) const {
    return "rl:req:" + this->Tag(key) + ":" + std::string(minute);
  }

  const Keys keys_{this->layout()};
  const std::string counter_ = Minute("202605091403");
};
TYPED_TEST_SUITE(RateLimiterTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(RateLimiterTest, AllowsUpToTheLimit) {
  for (const int64_t count : {1, 2}) {
    const RateLimitDecision decision = this->Hit(2);
    EXPECT_EQ(decision.outcome, Outcome::kAllowed);
    EXPECT_EQ(decision.count, count);
    EXPECT_EQ(decision.retry_after_seconds, std::nullopt);
  }
  const RateLimitDecision rejected = this->Hit(2);
  EXPECT_EQ(rejected.outcome, Outcome::kExceeded);
  EXPECT_EQ(rejected.count, 3);
  EXPECT_EQ(rejected.retry_after_seconds, 70);
  EXPECT_EQ(this->Value(this->counter_), "3");
  EXPECT_EQ(this->Ttl(this->counter_), 70);
}

TYPED_TEST(RateLimiterTest, CountsRejectedRequestsAndRestartsTheTtl) {
  this->Hit(1);
  this->Advance(absl::Seconds(30));
  EXPECT_EQ(this->Ttl(this->counter_), 40);
  EXPECT_EQ(this->Hit(1).count, 2);
  EXPECT_EQ(this->Ttl(this->counter_), 70);
}

TYPED_TEST(RateLimiterTest, SendsATransactionAndAsksForTheTtlOfARejection) {
  InterceptedStore store(this->store());
  RateLimiter limiter(store, this->keys_);
  ASSERT_THAT(this->Run(limiter.CheckRequestRateLimit(kKey, 1, this->now())), IsOk());
  ASSERT_THAT(this->Run(limiter.CheckRequestRateLimit(kKey, 1, this->now())), IsOk());
  const std::string incr = "INCR " + this->counter_;
  const std::string expire = "EXPIRE " + this->counter_ + " 70";
  EXPECT_THAT(store.log(), ElementsAre("MULTI", incr, expire, "EXEC", "MULTI", incr, expire, "EXEC",
                                       "TTL " + this->counter_));
  EXPECT_EQ(store.requests(), 3u);
}

TYPED_TEST(RateLimiterTest, SendsNothingWithoutALimit) {
  InterceptedStore store(this->store());
  RateLimiter limiter(store, this->keys_);
  const auto decision = this->Run(limiter.CheckRequestRateLimit(kKey, std::nullopt, this->now()));
  ASSERT_THAT(decision, IsOk());
  EXPECT_EQ(decision->outcome, Outcome::kAllowed);
  EXPECT_EQ(decision->count, 0);
  EXPECT_TRUE(store.log().empty());
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(RateLimiterTest, RejectsTheFirstRequestAtLimitZeroAndBelow) {
  EXPECT_EQ(this->Hit(0).outcome, Outcome::kExceeded);
  EXPECT_EQ(this->Hit(-1).outcome, Outcome::kExceeded);
  EXPECT_EQ(this->Hit(std::numeric_limits<int32_t>::min()).count, 3);
}

TYPED_TEST(RateLimiterTest, ComparesInSixtyFourBits) {
  this->Ask({"SET", this->counter_, "4294967296"});
  EXPECT_EQ(this->Hit(std::numeric_limits<int32_t>::max()).outcome, Outcome::kExceeded);
  this->Ask({"SET", this->counter_, "-5000000000"});
  const RateLimitDecision decision = this->Hit(0);
  EXPECT_EQ(decision.outcome, Outcome::kAllowed);
  EXPECT_EQ(decision.count, -4999999999);
}

TYPED_TEST(RateLimiterTest, StartsAnewWithEachMinute) {
  this->AdvanceTo(At("2026-05-09T14:03:59.999Z"));
  EXPECT_EQ(this->Hit(1).outcome, Outcome::kAllowed);
  EXPECT_EQ(this->Hit(1).outcome, Outcome::kExceeded);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Hit(1).outcome, Outcome::kAllowed) << "twice the limit within a millisecond";
  EXPECT_EQ(this->Value(this->Minute("202605091403")), "2");
  EXPECT_EQ(this->Value(this->Minute("202605091404")), "1");
}

TYPED_TEST(RateLimiterTest, StartsAnewWithEachYear) {
  this->AdvanceTo(At("2027-12-31T23:59:59.999Z"));
  this->Hit(9);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Hit(9).count, 1);
  EXPECT_EQ(this->Value(this->Minute("202712312359")), "1");
  EXPECT_EQ(this->Value(this->Minute("202801010000")), "1");
}

TYPED_TEST(RateLimiterTest, KeepsACounterForSeventySecondsAfterItsLastHit) {
  this->Hit(9);
  this->Advance(absl::Seconds(70));
  EXPECT_EQ(this->Value(this->counter_), "1");
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(RateLimiterTest, GivesACounterWithoutTtlOneOnTheNextHit) {
  this->Ask({"SET", this->counter_, "7"});
  EXPECT_EQ(this->Hit(9).count, 8);
  EXPECT_EQ(this->Ttl(this->counter_), 70);
}

TYPED_TEST(RateLimiterTest, CountsEveryKeyOnItsOwn) {
  EXPECT_EQ(this->Hit(1).count, 1);
  EXPECT_EQ(this->Hit(1, kOtherKey).count, 1);
  EXPECT_EQ(this->Value(this->Minute("202605091403", kOtherKey)), "1");
}

TYPED_TEST(RateLimiterTest, FailsOnACounterThatIsNoIntegerAndStillSetsItsTtl) {
  for (const char* value : {"abc", "9223372036854775807", "1.5", ""}) {
    this->Ask({"SET", this->counter_, value});
    const absl::Status status = this->Failure(this->store());
    EXPECT_TRUE(IsControlStateUnavailable(status)) << status;
    EXPECT_EQ(store::ServerErrorCode(ControlStateCause(status)), "ERR");
    EXPECT_EQ(this->Value(this->counter_), value);
    EXPECT_EQ(this->Ttl(this->counter_), 70);
  }
}

TYPED_TEST(RateLimiterTest, FailsOnACounterOfAnotherTypeAndStillSetsItsTtl) {
  this->Ask({"LPUSH", this->counter_, "x"});
  const absl::Status status = this->Failure(this->store());
  EXPECT_TRUE(IsControlStateUnavailable(status)) << status;
  EXPECT_EQ(store::ServerErrorCode(ControlStateCause(status)), "WRONGTYPE");
  EXPECT_EQ(this->Ttl(this->counter_), 70);
}

TYPED_TEST(RateLimiterTest, RefusesAKeyIdThatIsNoUuidBeforeItSendsAnything) {
  InterceptedStore store(this->store());
  RateLimiter limiter(store, this->keys_);
  for (const std::optional<int32_t> limit : {std::optional<int32_t>(1), std::optional<int32_t>()}) {
    const absl::Status status =
        this->Run(limiter.CheckRequestRateLimit("sk-live-1", limit, this->now())).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_FALSE(IsControlStateUnavailable(status));
  }
  EXPECT_TRUE(store.log().empty());
}

// Replies that a server does not send on its own, or only after the command of another client.
class RateLimiterFaultTest : public RateLimiterTest<tests::MemoryBackend> {
 protected:
  // The status of a check in which the request with this index gets the result `answer`.
  absl::Status FailureOf(size_t number, absl::StatusOr<Reply> answer) {
    InterceptedStore store(this->store());
    store.on_request = [&](size_t index) {
      return index == number ? std::optional(answer) : std::nullopt;
    };
    RateLimiter limiter(store, this->keys_);
    return Run(limiter.CheckRequestRateLimit(kKey, 0, now())).status();
  }
  std::optional<int64_t> RetryAfter(int64_t ttl) {
    InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == 1) return Reply::Integer(ttl);
      return std::nullopt;
    };
    RateLimiter limiter(store, this->keys_);
    return Run(limiter.CheckRequestRateLimit(kKey, 0, now())).value().retry_after_seconds;
  }
};

TEST_F(RateLimiterFaultTest, KnowsNoTimeToRetryWhenTheCounterLostItsTtl) {
  EXPECT_EQ(RetryAfter(70), 70);
  EXPECT_EQ(RetryAfter(1), 1);
  EXPECT_EQ(RetryAfter(0), std::nullopt);
  EXPECT_EQ(RetryAfter(-1), std::nullopt);
  EXPECT_EQ(RetryAfter(-2), std::nullopt);
}

TEST_F(RateLimiterFaultTest, FailsClosedWhateverGoesWrong) {
  for (const size_t number : {0, 1}) {
    for (const absl::StatusOr<Reply>& answer :
         {absl::StatusOr<Reply>(store::NotSentError("no connection")),
          absl::StatusOr<Reply>(store::OutcomeUnknownError("reset")),
          absl::StatusOr<Reply>(Reply::Error("LOADING Redis is loading the dataset in memory")),
          absl::StatusOr<Reply>(Reply::Nil()), absl::StatusOr<Reply>(Reply::Bulk("x")),
          absl::StatusOr<Reply>(Reply::Array({Reply::Bulk("1"), Reply::Integer(1)}))}) {
      const absl::Status status = FailureOf(number, answer);
      EXPECT_TRUE(IsControlStateUnavailable(status)) << number << ": " << status;
    }
  }
}

TEST_F(RateLimiterFaultTest, FailsWhenOnlyTheDiscardedReplyIsAnError) {
  const absl::Status status =
      FailureOf(0, Reply::Array({Reply::Integer(1), Reply::Error("ERR no")}));
  EXPECT_TRUE(IsControlStateUnavailable(status));
  EXPECT_EQ(ControlStateCause(status).message(), "ERR no");
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
