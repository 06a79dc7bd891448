#include "redouble/sim/inspect/rules_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/inspect/rule_table.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kShop = R"({"system": "shop",
    "families": [
      {"id": "shop.user", "pattern": "{prefix}:user:{user}", "type": "string"},
      {"id": "shop.cart", "pattern": "{prefix}:cart:{user}", "type": "hash", "ttl": "30m",
       "purpose": "what a user wants to buy"},
      {"id": "shop.stock", "pattern": "{prefix}:stock:{day}", "type": "zset"},
      {"id": "shop.news", "pattern": "{prefix}:news", "type": "channel"}],
    "defaults": {"prefix": "s"},
    "relations": [{"family": "shop.cart", "needs": "shop.user", "without": "nobody's cart"}],
    "expiring": [{"family": "shop.stock", "placeholder": "day", "value": "today"}]})";

TEST(RulesFile, HasTheRulesOfTheFile) {
  absl::StatusOr<RulesFile> parsed = RulesFile::Parse(kShop);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const RulesFile moved = *std::move(parsed);
  const absl::StatusOr<RuleTable> table = RuleTable::Create({{moved.rules()}});
  ASSERT_TRUE(table.ok()) << table.status();
  const auto cart = table->Read("s:cart:ann", store::KeyType::kHash);
  ASSERT_TRUE(cart);
  EXPECT_EQ(cart->family->id, "shop.cart");
  EXPECT_EQ(cart->family->system, "shop");
  EXPECT_EQ(cart->family->purpose, "what a user wants to buy");
  EXPECT_EQ(cart->family->ttl, absl::Minutes(30));
  EXPECT_TRUE(cart->must_expire);
  ASSERT_EQ(cart->needed.size(), 1u);
  EXPECT_EQ(table->NeededKey(cart->needed[0]), "s:user:ann");
  EXPECT_EQ(table->relation(cart->needed[0].relation).without, "nobody's cart");
  EXPECT_TRUE(table->Read("s:stock:today", store::KeyType::kSortedSet)->must_expire);
  EXPECT_FALSE(table->Read("s:stock:ever", store::KeyType::kSortedSet)->must_expire);
  EXPECT_FALSE(table->Read("x:cart:ann", store::KeyType::kHash));
}

TEST(RulesFile, NamesEveryMistake) {
  EXPECT_THAT(RulesFile::Parse(R"({"families": [
                  {"id": "a", "pattern": "a", "type": "text", "ttl": "soon", "tll": 1}, 3],
                  "defaults": [], "relations": {}, "expiring": [{}]})")
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("/system: is missing"),
                             HasSubstr("/families/0/type: unknown type \"text\"; known: string"),
                             HasSubstr("/families/0/ttl: expected a duration"),
                             HasSubstr("/families/0/tll:"),
                             HasSubstr("/families: expected an array of objects"),
                             HasSubstr("/defaults: expected an object"),
                             HasSubstr("/relations: expected an array of objects"),
                             HasSubstr("/expiring/0/family: is missing"))));
}

TEST(RulesFile, RefusesWhatIsNoObjectAndRulesThatDoNotFit) {
  EXPECT_THAT(RulesFile::Parse("[1]").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected an object")));
  EXPECT_THAT(RulesFile::Parse("{").status(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(RulesFile::Parse(R"({"system": "shop", "families": [],
                  "relations": [{"family": "shop.x", "needs": "shop.y", "without": "z"}]})")
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shop.x")));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
