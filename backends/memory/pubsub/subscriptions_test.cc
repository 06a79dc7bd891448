#include "redouble/backends/memory/pubsub/subscriptions.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Kind = SubscriptionKind;

// Sessions that serve as identities only.
class SubscriptionsTest : public testing::Test {
 protected:
  std::vector<std::string> Names(Kind kind) const {
    std::vector<std::string> names;
    for (const auto& [name, sessions] : subscriptions_.table(kind)) names.push_back(name);
    return names;
  }

  base::VirtualClock clock_;
  Engine engine_{clock_};
  std::unique_ptr<SessionCore> first_ = engine_.core().Connect();
  std::unique_ptr<SessionCore> second_ = engine_.core().Connect();
  Subscriptions subscriptions_;
};

TEST_F(SubscriptionsTest, KeepsTheOrderOfSubscribing) {
  subscriptions_.Add(*second_, Kind::kChannel, "news");
  subscriptions_.Add(*first_, Kind::kChannel, "news");
  EXPECT_THAT(subscriptions_.Of(Kind::kChannel, "news"), ElementsAre(second_.get(), first_.get()));
  subscriptions_.Remove(*second_, Kind::kChannel, "news");
  EXPECT_THAT(subscriptions_.Of(Kind::kChannel, "news"), ElementsAre(first_.get()));
}

TEST_F(SubscriptionsTest, KeepsChannelsPatternsAndShardChannelsApart) {
  subscriptions_.Add(*first_, Kind::kPattern, "n*");
  EXPECT_THAT(subscriptions_.Of(Kind::kChannel, "n*"), IsEmpty());
  EXPECT_THAT(subscriptions_.Of(Kind::kShard, "n*"), IsEmpty());
  subscriptions_.Remove(*first_, Kind::kShard, "n*");
  EXPECT_THAT(subscriptions_.Of(Kind::kPattern, "n*"), ElementsAre(first_.get()));
}

TEST_F(SubscriptionsTest, ListsTheNamesThatHaveSubscribersInOrder) {
  for (const char* name : {"b", "c", "a"}) subscriptions_.Add(*first_, Kind::kShard, name);
  subscriptions_.Remove(*first_, Kind::kShard, "b");
  EXPECT_THAT(Names(Kind::kShard), ElementsAre("a", "c"));
}

TEST_F(SubscriptionsTest, IsEmptyWithoutASubscriptionOfAnyKind) {
  EXPECT_TRUE(subscriptions_.empty());
  for (const Kind kind : {Kind::kChannel, Kind::kPattern, Kind::kShard}) {
    subscriptions_.Add(*first_, kind, "name");
    EXPECT_FALSE(subscriptions_.empty());
    subscriptions_.Remove(*first_, kind, "name");
    EXPECT_TRUE(subscriptions_.empty());
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
