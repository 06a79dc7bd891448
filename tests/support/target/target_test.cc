// The properties of both targets that the comparing tests rely on.
#include "redouble/tests/support/target/target.h"

#include <memory>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

constexpr absl::Time kTime = absl::FromUnixMicros(1'778'335'382'000'500);

template <typename T>
class TargetTest : public testing::Test {
 protected:
  T target_;
};
using Targets = testing::Types<MemoryTarget, ServerTarget>;
TYPED_TEST_SUITE(TargetTest, Targets);

TYPED_TEST(TargetTest, HoldsItsClockToTheMicrosecond) {
  this->target_.Reset(kTime);
  this->target_.SetTime(kTime + absl::Microseconds(1));
  EXPECT_EQ(this->target_.now(), kTime + absl::Microseconds(1));
  EXPECT_EQ(this->target_.Run(0, {"TIME"}),
            Reply::Array({Reply::Bulk("1778335382"), Reply::Bulk("501")}));
}

TYPED_TEST(TargetTest, KeepsItsConnectionsApart) {
  this->target_.Reset(kTime);
  EXPECT_EQ(this->target_.Run(0, {"SELECT", "1"}), Reply::Ok());
  EXPECT_EQ(this->target_.Run(1, {"SET", "k", "v"}), Reply::Ok());
  EXPECT_EQ(this->target_.Run(0, {"GET", "k"}), Reply::Nil());
}

TYPED_TEST(TargetTest, BeginsAnewAfterReset) {
  this->target_.Reset(kTime);
  const std::vector<Words> commands = {
      {"SELECT", "1"}, {"SET", "k", "v"}, {"WATCH", "k"}, {"MULTI"}};
  EXPECT_EQ(this->target_.RunAll(0, commands).size(), 4u);
  this->target_.Reset(kTime - absl::Hours(1));
  EXPECT_EQ(this->target_.now(), kTime - absl::Hours(1));
  EXPECT_EQ(this->target_.Run(0, {"SET", "k", "w"}), Reply::Ok());
  EXPECT_EQ(this->target_.Run(0, {"SELECT", "1"}), Reply::Ok());
  EXPECT_EQ(this->target_.Run(0, {"GET", "k"}), Reply::Nil());
}

TYPED_TEST(TargetTest, ExpiresKeysBeforeItHasSettled) {
  this->target_.Reset(kTime);
  EXPECT_EQ(this->target_.Run(0, {"SET", "k", "v", "PX", "1"}), Reply::Ok());
  this->target_.SetTime(kTime + absl::Milliseconds(2));
  this->target_.Settle();
  EXPECT_EQ(this->target_.Run(0, {"DBSIZE"}), Reply::Integer(0));
}

TYPED_TEST(TargetTest, HasNoMoreRepliesThanCommands) {
  this->target_.Reset(kTime);
  EXPECT_EQ(this->target_.Poll(0), std::nullopt);
  EXPECT_EQ(this->target_.Run(0, {"PING"}), Reply::Status("PONG"));
  EXPECT_EQ(this->target_.Poll(0), std::nullopt);
}

TEST(MemoryTarget, KnowsTheNextDeadline) {
  MemoryTarget target;
  target.Reset(kTime);
  EXPECT_EQ(target.NextDeadline(), std::nullopt);
  target.Run(0, {"SET", "a", "v", "PX", "20"});
  target.Run(0, {"SET", "b", "v", "PX", "10"});
  EXPECT_EQ(target.NextDeadline(), absl::FromUnixMillis(1'778'335'382'010));
}

TEST(ServerTarget, HangsUpOnBlockedConnections) {
  ServerTarget target;
  target.Reset(kTime);
  EXPECT_EQ(target.Run(0, {"BLPOP", "list", "0"}), std::nullopt);
  EXPECT_EQ(target.Run(0, {"PING"}), std::nullopt);
  EXPECT_EQ(target.Run(1, {"RPUSH", "list", "x"}), Reply::Integer(1));
  EXPECT_TRUE(target.Poll(0).has_value());
  EXPECT_EQ(target.Poll(0), Reply::Status("PONG"));
  EXPECT_EQ(target.Run(0, {"BLPOP", "list", "0"}), std::nullopt);
  target.Reset(kTime);
  EXPECT_EQ(target.Run(1, {"RPUSH", "list", "x"}), Reply::Integer(1));
  EXPECT_EQ(target.Run(0, {"LLEN", "list"}), Reply::Integer(1));
}

TEST(ServerTarget, RefusesAConfigurationThatRedisRefuses) {
  EXPECT_THROW(ServerTarget({"no-such-directive yes"}), std::runtime_error);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
