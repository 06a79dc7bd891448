#include "redouble/backends/memory/compatibility/compatibility.h"

#include <set>

#include "gtest/gtest.h"
#include "redouble/backends/memory/compatibility/feature.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::Version;

TEST(Compatibility, HasNoFeatureOfLaterVersionsByDefault) {
  const Compatibility compatibility(Version::kRedis70);
  for (const FeatureSpec& feature : AllFeatures()) {
    EXPECT_FALSE(compatibility.Has(feature.id)) << feature.name;
  }
}

TEST(Compatibility, HasTheFeaturesOfTheTable) {
  for (const store::VersionSpec& version : store::AllVersions()) {
    const Compatibility compatibility(version.id);
    for (const FeatureSpec& feature : AllFeatures()) {
      EXPECT_EQ(compatibility.Has(feature.id), feature.versions.Has(version.id)) << feature.name;
    }
  }
}

TEST(Compatibility, DescribesEachFeatureOnce) {
  std::set<std::string_view> texts;
  for (const FeatureSpec& feature : AllFeatures()) {
    EXPECT_FALSE(feature.what.empty()) << feature.name;
    EXPECT_TRUE(texts.insert(feature.what).second) << feature.name;
    EXPECT_NE(feature.versions, store::VersionSet()) << feature.name << " is in no version";
  }
}

TEST(Compatibility, HasTheCommandsOfTheVersion) {
  const Compatibility first(Version::kRedis70);
  EXPECT_EQ(first.FindCommand("waitaof"), CommandId::kUnknown);
  EXPECT_EQ(first.FindCommand("nosuch"), CommandId::kUnknown);
  EXPECT_EQ(first.SpecOf(CommandId::kZRank).arity, 3);
  const Compatibility later(Version::kRedis72);
  EXPECT_EQ(later.FindCommand("WAITAOF"), CommandId::kWaitAof);
  EXPECT_EQ(later.FindCommand("script|show"), CommandId::kUnknown);
  EXPECT_EQ(later.SpecOf(CommandId::kZRank).arity, -3);
  EXPECT_TRUE(Compatibility(Version::kValkey80).HasCommand(CommandId::kScriptShow));
}

TEST(Compatibility, FindsCommandsByTheirNewNames) {
  const Compatibility plain(Version::kRedis70);
  EXPECT_FALSE(plain.renames_commands());
  const Compatibility renamed(Version::kRedis70, {{"get", ""},
                                                  {"set", "put"},
                                                  {"append", "get"},
                                                  {"del", "set"},
                                                  {"nosuch", ""},
                                                  {"nosuch2", "x"}});
  EXPECT_TRUE(renamed.renames_commands());
  EXPECT_EQ(renamed.FindCommand("PUT"), CommandId::kSet);
  EXPECT_EQ(renamed.FindCommand("Get"), CommandId::kAppend);
  EXPECT_EQ(renamed.FindCommand("set"), CommandId::kDel);
  EXPECT_EQ(renamed.FindCommand("append"), CommandId::kUnknown);
  EXPECT_EQ(renamed.FindCommand("x"), CommandId::kUnknown);
  EXPECT_EQ(renamed.FindCommand("config|get"), CommandId::kConfigGet);
  EXPECT_FALSE(renamed.HasCommand(CommandId::kGet));
  EXPECT_TRUE(renamed.HasCommand(CommandId::kSet));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
