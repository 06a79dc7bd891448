// A small system for the tests of the inspector: users, carts and receipts.
#ifndef REDOUBLE_SIM_INSPECT_SHOP_FOR_TEST_H_
#define REDOUBLE_SIM_INSPECT_SHOP_FOR_TEST_H_

#include <array>
#include <optional>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_rules.h"

namespace redouble::inline v0_1::sim {

constexpr store::KeyFamily ShopFamily(std::string_view id, std::string_view pattern,
                                      store::KeyType type, std::string_view ttl_rule,
                                      std::optional<absl::Duration> ttl = std::nullopt,
                                      std::string_view overlaps = {}) {
  store::KeyFamily family;
  family.id = id;
  family.system = "shop";
  family.pattern = pattern;
  family.type = type;
  family.ttl_rule = ttl_rule;
  family.ttl = ttl;
  family.overlaps = overlaps;
  return family;
}

inline constexpr std::array kShopFamilies = {
    ShopFamily("shop.cart", "{prefix}:cart:{user}:{session}", store::KeyType::kHash, "an hour",
               absl::Hours(1)),
    ShopFamily("shop.user", "{prefix}:user:{user}", store::KeyType::kString, "none"),
    ShopFamily("shop.receipt", "{prefix}:receipt:{user}", store::KeyType::kString, "its law's"),
    ShopFamily("shop.count", "{prefix}:count:{period:day|ever}", store::KeyType::kString,
               "days: two of them"),
    ShopFamily("shop.number", "{prefix}:user:{number:int}", store::KeyType::kList, "none",
               std::nullopt, "shop.user"),
    ShopFamily("shop.news", "{prefix}:news", store::KeyType::kNone, "none: a channel"),
};
inline constexpr std::array kShopDefaults = {store::KeyBinding{"prefix", "s"}};
inline constexpr std::array kShopRelations = {
    store::KeyRelation{"shop.cart", "shop.user", "nobody's cart"},
    store::KeyRelation{"shop.receipt", "shop.cart", "bought without a cart"},
};
inline constexpr std::array kShopExpiring = {store::ExpiringKeys{"shop.count", "period", "day"},
                                             store::ExpiringKeys{"shop.receipt"}};

inline store::KeyRules ShopRules() {
  return {.families = kShopFamilies,
          .defaults = kShopDefaults,
          .relations = kShopRelations,
          .expiring = kShopExpiring};
}

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_SHOP_FOR_TEST_H_
