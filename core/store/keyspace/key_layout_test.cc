#include "redouble/core/store/keyspace/key_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using ::testing::ElementsAre;

constexpr KeyFamily Family(std::string_view id, std::string_view pattern) {
  KeyFamily family{};
  family.id = id;
  family.system = "shop";
  family.pattern = pattern;
  return family;
}

constexpr LayoutRow kRows[] = {
    {Family("shop.cart", "cart:{user}"), "cart:{{{user}}}"},
    {Family("shop.item", "cart:{user}:{item}"), "cart:{{{user}}}:{item}"},
    {Family("shop.all", "all"), {}},
};

struct Settings {
  KeyLayout layout = KeyLayout::kDocumented;
};

TEST(KeyLayout, HasNames) {
  EXPECT_EQ(KeyLayoutName(KeyLayout::kDocumented), "documented");
  EXPECT_EQ(KeyLayoutName(KeyLayout::kCluster), "cluster");
  EXPECT_THAT(ParseKeyLayout("documented"), IsOkAndHolds(KeyLayout::kDocumented));
  EXPECT_THAT(ParseKeyLayout("cluster"), IsOkAndHolds(KeyLayout::kCluster));
  EXPECT_EQ(ParseKeyLayout("tagged").status().message(),
            "expected documented or cluster, got 'tagged'");
}

TEST(KeyLayout, IsReadFromASetting) {
  Settings settings;
  const auto read = ReadKeyLayout<Settings, &Settings::layout>;
  EXPECT_THAT(read("cluster", settings), IsOk());
  EXPECT_EQ(settings.layout, KeyLayout::kCluster);
  EXPECT_THAT(read("", settings), IsOk());
  EXPECT_EQ(settings.layout, KeyLayout::kCluster);
  EXPECT_THAT(read("Cluster", settings), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(LayoutTable, HasEachFamilyInBothLayouts) {
  const LayoutTable table(kRows);
  std::vector<std::string> documented;
  std::vector<std::string> cluster;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    documented.push_back(table.pattern(KeyLayout::kDocumented, i).text());
    cluster.push_back(table.pattern(KeyLayout::kCluster, i).text());
    EXPECT_EQ(table.families(KeyLayout::kCluster)[i].id, kRows[i].family.id);
  }
  EXPECT_THAT(documented, ElementsAre("cart:{user}", "cart:{user}:{item}", "all"));
  EXPECT_THAT(cluster, ElementsAre("cart:{{{user}}}", "cart:{{{user}}}:{item}", "all"));
}

TEST(LayoutTable, KeepsTheKeysOfATagInOneSlot) {
  const LayoutTable table(kRows);
  for (const std::string user : {"u1", "a{b", "a b", "{"}) {
    const auto cart = table.pattern(KeyLayout::kCluster, 0).Build(user);
    const auto item = table.pattern(KeyLayout::kCluster, 1).Build(user, "i");
    ASSERT_THAT(cart, IsOk());
    ASSERT_THAT(item, IsOk());
    EXPECT_EQ(base::KeySlot(*cart), base::KeySlot(user)) << user;
    EXPECT_EQ(base::KeySlot(*item), base::KeySlot(user)) << user;
  }
}

// Redis hashes the text before the first brace, or the whole key if there is none.
TEST(LayoutTable, RefusesATagThatEndsEarly) {
  const LayoutTable table(kRows);
  for (const std::string user : {"}", "}x", "x}y", "x}"}) {
    EXPECT_THAT(table.pattern(KeyLayout::kDocumented, 0).Build(user), IsOk());
    EXPECT_THAT(table.pattern(KeyLayout::kCluster, 0).Build(user),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << user;
  }
}

TEST(LayoutTable, ParsesTheKeysOfOneLayout) {
  const LayoutTable table(kRows);
  const auto match = table.Parse(KeyLayout::kCluster, "cart:{u1}:i");
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->family->id, "shop.item");
  EXPECT_THAT(match->values, ElementsAre("u1", "i"));
  EXPECT_FALSE(table.Parse(KeyLayout::kCluster, "cart:u1:i").has_value());
  EXPECT_EQ(table.Parse(KeyLayout::kDocumented, "all")->family->id, "shop.all");
}

}  // namespace
}  // namespace redouble::inline v0_1::store
