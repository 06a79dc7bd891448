// The guide to test suites: tests of a service on the embedded engine, and on both backends.
// [readme: the suite]
#include "cart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/testing.h"

using redouble::testing::CommandsWere;
using redouble::testing::FailNth;
using redouble::testing::HasTtl;
using redouble::testing::IsOkAndHolds;
using redouble::testing::IsRedisError;
using redouble::testing::KeyspaceIs;
using redouble::testing::LoseNthReply;

TEST(Cart, IsForgottenHalfAnHourAfterTheLastChange) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect();
  Cart cart(*client, "alice");
  EXPECT_THAT(redis.Await(cart.Add("book")), IsOkAndHolds(1));
  redis.AdvanceBy(absl::Minutes(20));
  EXPECT_THAT(redis.Await(cart.Add("book")), IsOkAndHolds(2));
  EXPECT_THAT(redis, HasTtl("cart:alice", absl::Minutes(30)));
  redis.AdvanceBy(absl::Minutes(30) + absl::Milliseconds(1));
  EXPECT_THAT(redis, KeyspaceIs("{}"));
}

TEST(Cart, SendsTwoCommands) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect();
  Cart cart(*client, "alice");
  EXPECT_THAT(redis.Await(cart.Add("book")), IsOkAndHolds(1));
  EXPECT_THAT(redis, CommandsWere({"HINCRBY cart:alice book 1", "EXPIRE cart:alice 1800"}));
}

TEST(Cart, ReportsErrorsOfTheServer) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect({FailNth("HINCRBY", 1, "OOM command not allowed")});
  Cart cart(*client, "alice");
  EXPECT_THAT(redis.Await(cart.Add("book")), IsRedisError("OOM"));
  EXPECT_THAT(redis, KeyspaceIs("{}"));
}

TEST(Cart, AddsTwiceIfTheCallerRepeatsAnUnknownOutcome) {
  redouble::testing::Redis redis;
  const auto client = redis.Connect({LoseNthReply("HINCRBY", 1)});
  Cart cart(*client, "alice");
  const absl::Status lost = redis.Await(cart.Add("book")).status();
  EXPECT_EQ(store::ErrorKindOf(lost), store::ErrorKind::kOutcomeUnknown);
  EXPECT_THAT(redis.Await(cart.Add("book")), IsOkAndHolds(2));
}
// [end]

// [readme: both backends]
template <typename Backend>
using CartOnBothBackends = redouble::testing::OnBothBackends<Backend>;
TYPED_TEST_SUITE(CartOnBothBackends, redouble::testing::Backends, redouble::testing::BackendNames);

TYPED_TEST(CartOnBothBackends, IsForgotten) {
  Cart cart(this->store(), "alice");
  EXPECT_THAT(this->Run(cart.Add("book")), IsOkAndHolds(1));
  this->Advance(Cart::kTimeToLive);
  EXPECT_EQ(this->KeyCount(), 1);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->KeyCount(), 0);
}
// [end]
