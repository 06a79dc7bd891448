#include "redouble/core/store/cluster/info_field.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr char kInfo[] =
    "# Replication\r\nrole:master\r\nmaster_replid:ab:cd\r\nrole_before:none\r\n\r\nempty:\r\n";

TEST(InfoField, IsTheTextAfterTheName) {
  EXPECT_EQ(InfoField(kInfo, "role"), "master");
  EXPECT_EQ(InfoField(kInfo, "master_replid"), "ab:cd");
  EXPECT_EQ(InfoField(kInfo, "role_before"), "none");
}

TEST(InfoField, IsEmptyWithoutAValue) {
  EXPECT_EQ(InfoField(kInfo, "empty"), "");
  EXPECT_EQ(InfoField(kInfo, "rol"), "");
  EXPECT_EQ(InfoField(kInfo, "# Replication"), "");
  EXPECT_EQ(InfoField("", "role"), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
