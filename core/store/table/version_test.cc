#include "redouble/core/store/table/version.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

TEST(Version, IsFoundByItsName) {
  for (const VersionSpec& spec : AllVersions()) {
    EXPECT_EQ(VersionNamed(spec.name), spec.id);
    EXPECT_EQ(&SpecOf(spec.id), &AllVersions()[static_cast<size_t>(spec.id)]);
  }
  EXPECT_EQ(VersionNamed("redis-6.2"), std::nullopt);
  EXPECT_EQ(VersionNamed("Redis-7.0"), std::nullopt);
}

TEST(Version, NumbersAreThoseOfRedis) {
  EXPECT_EQ(VersionNumber("7.0.15"), 0x0007000fu);
  EXPECT_LT(VersionNumber("7.2.4"), VersionNumber("7.4.0"));
}

TEST(Version, WhatRedisHasSinceItBranchedOffValkeyLacks) {
  EXPECT_EQ(Since("6.2.0"), Since("1.0.0"));
  EXPECT_TRUE(Since("1.0.0").Has(Version::kRedis70));
  EXPECT_FALSE(Since("7.2.0").Has(Version::kRedis70));
  EXPECT_TRUE(Since("7.2.0").Has(Version::kValkey80));
  EXPECT_EQ(Since("7.4.0"), VersionSet(Version::kRedis74) | Version::kRedis80);
  EXPECT_EQ(Since("8.0.0"), VersionSet(Version::kRedis80));
}

TEST(Version, WhatValkeyAddsRedisLacks) {
  EXPECT_EQ(Since("valkey 8.0.0"), VersionSet(Version::kValkey80) | Version::kValkey81);
  EXPECT_EQ(Since("valkey 8.1.0"), VersionSet(Version::kValkey81));
}

TEST(Version, UntilIsTheRest) {
  EXPECT_EQ(Until("7.2.0"), VersionSet(Version::kRedis70));
  EXPECT_TRUE(Until("valkey 8.0.0").Has(Version::kRedis80));
  EXPECT_FALSE(Until("valkey 8.0.0").Has(Version::kValkey81));
}

TEST(Version, HasItsProduct) {
  EXPECT_EQ(ProductTitle(Version::kRedis70), "Redis");
  EXPECT_EQ(ProductTitle(Version::kValkey81), "Valkey");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
