#include "redouble/core/store/table/key_type.h"

#include <gtest/gtest.h>

#include <optional>

namespace redouble::inline v0_1::store {
namespace {

TEST(KeyType, NamesReadBack) {
  for (const KeyType type : {KeyType::kNone, KeyType::kString, KeyType::kList, KeyType::kSet,
                             KeyType::kSortedSet, KeyType::kHash, KeyType::kStream}) {
    EXPECT_FALSE(KeyTypeName(type).empty());
    EXPECT_EQ(ParseKeyType(KeyTypeName(type)), type);
  }
  EXPECT_EQ(ParseKeyType("STRING"), std::nullopt);
  EXPECT_EQ(ParseKeyType(""), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
