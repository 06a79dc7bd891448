#include "redouble/sim/inspect/rule_table.h"

#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/inspect/shop_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::ExpiringKeys;
using store::KeyBinding;
using store::KeyRelation;
using store::KeyRules;
using store::KeyType;
using testing::HasSubstr;

RuleTable Table() { return *RuleTable::Create(std::array{ShopRules()}); }

TEST(RuleTable, ReadsAKeyByItsFamily) {
  const RuleTable table = Table();
  const std::optional<KeyReading> cart = table.Read("s:cart:u1:x", KeyType::kHash);
  ASSERT_TRUE(cart.has_value());
  EXPECT_EQ(cart->family->id, "shop.cart");
  EXPECT_TRUE(cart->has_type);
  EXPECT_TRUE(cart->must_expire);
  EXPECT_FALSE(table.Read("s:cart:u1:x", KeyType::kSet).value().has_type);
  EXPECT_EQ(table.Read("other:cart:u1:x", KeyType::kHash), std::nullopt);
}

TEST(RuleTable, PrefersTheFamilyOfTheKeysType) {
  const RuleTable table = Table();
  EXPECT_EQ(table.Read("s:user:7", KeyType::kString).value().family->id, "shop.user");
  EXPECT_EQ(table.Read("s:user:7", KeyType::kList).value().family->id, "shop.number");
  EXPECT_EQ(table.Read("s:user:7", KeyType::kSet).value().family->id, "shop.user");
}

TEST(RuleTable, AcceptsOtherPrefixes) {
  const auto table =
      RuleTable::Create(std::array{ShopRules()}, std::array{KeyBinding{"prefix", "shop:2"}});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(table->Read("shop:2:user:7", KeyType::kString).has_value());
  EXPECT_FALSE(table->Read("s:user:7", KeyType::kString).has_value());
}

TEST(RuleTable, RequiresATtlAlsoWhereItIsNotConstant) {
  const RuleTable table = Table();
  EXPECT_TRUE(table.Read("s:count:day", KeyType::kString).value().must_expire);
  EXPECT_FALSE(table.Read("s:count:ever", KeyType::kString).value().must_expire);
  EXPECT_TRUE(table.Read("s:receipt:u", KeyType::kString).value().must_expire);
  EXPECT_FALSE(table.Read("s:user:u", KeyType::kString).value().must_expire);
}

TEST(RuleTable, MatchesTheTwoEndsOfARelation) {
  const RuleTable table = Table();
  const KeyReading cart = table.Read("s:cart:u1:x", KeyType::kHash).value();
  const KeyReading user = table.Read("s:user:u1", KeyType::kString).value();
  ASSERT_EQ(cart.needed.size(), 1u);
  ASSERT_EQ(user.provided.size(), 1u);
  EXPECT_EQ(cart.needed[0].relation, user.provided[0].relation);
  EXPECT_EQ(cart.needed[0].common, user.provided[0].common);
  EXPECT_NE(table.Read("s:cart:u2:x", KeyType::kHash).value().needed[0].common,
            user.provided[0].common);
  EXPECT_EQ(table.relation(cart.needed[0].relation).without, "nobody's cart");
}

TEST(RuleTable, NamesTheNeededKeyIfItIsUnique) {
  const RuleTable table = Table();
  EXPECT_EQ(table.NeededKey(table.Read("s:cart:u:1:x", KeyType::kHash).value().needed[0]),
            "s:user:u");
  // The cart of any session satisfies the relation.
  const KeyReading receipt = table.Read("s:receipt:u1", KeyType::kString).value();
  EXPECT_EQ(table.NeededKey(receipt.needed[0]), std::nullopt);
  EXPECT_EQ(receipt.needed[0].common,
            table.Read("s:cart:u1:x", KeyType::kHash).value().provided[0].common);
}

TEST(RuleTable, RefusesAnUnknownPrefix) {
  const auto table =
      RuleTable::Create(std::array{ShopRules()}, std::array{KeyBinding{"suffix", "x"}});
  EXPECT_EQ(table.status(), absl::InvalidArgumentError("no system has a prefix suffix"));
}

TEST(RuleTable, RefusesAnInvalidPrefix) {
  const auto table =
      RuleTable::Create(std::array{ShopRules()}, std::array{KeyBinding{"prefix", ""}});
  EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RuleTable, RefusesRulesAboutUnknownFamilies) {
  constexpr std::array kFromNowhere = {KeyRelation{"shop.none", "shop.user", ""}};
  constexpr std::array kToNowhere = {KeyRelation{"shop.user", "shop.none", ""}};
  constexpr std::array kNoFamily = {ExpiringKeys{"shop.none"}};
  constexpr std::array kNoPlaceholder = {ExpiringKeys{"shop.user", "period", "day"}};
  KeyRules rules = ShopRules();
  rules.expiring = {};
  rules.relations = kFromNowhere;
  EXPECT_THAT(RuleTable::Create(std::array{rules}).status().message(), HasSubstr("shop.none"));
  rules.relations = kToNowhere;
  EXPECT_THAT(RuleTable::Create(std::array{rules}).status().message(), HasSubstr("shop.none"));
  rules.relations = {};
  rules.expiring = kNoFamily;
  EXPECT_THAT(RuleTable::Create(std::array{rules}).status().message(), HasSubstr("shop.none"));
  rules.expiring = kNoPlaceholder;
  EXPECT_EQ(RuleTable::Create(std::array{rules}).status(),
            absl::InvalidArgumentError("shop.user has no placeholder period"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
