#include "redouble/core/store/table/command_details.h"

#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

using Names = std::vector<std::string_view>;

TEST(CommandDetails, AreThereForEveryCommand) {
  for (const CommandSpec& spec : AllCommands()) {
    EXPECT_FALSE(DetailsOf(spec.id).summary.empty()) << spec.name;
  }
}

TEST(CommandDetails, AreRedissOwn) {
  EXPECT_EQ(DetailsOf(CommandId::kGet).summary, "Get the value of a key");
  EXPECT_EQ(DetailsOf(CommandId::kGet).complexity, "O(1)");
  EXPECT_EQ(DetailsOf(CommandId::kKeys).tips,
            "request_policy:all_shards nondeterministic_output_order");
}

TEST(CategoriesOf, FollowFromTheRow) {
  EXPECT_EQ(CategoriesOf(CommandId::kGet), (Names{"read", "string", "fast"}));
  EXPECT_EQ(CategoriesOf(CommandId::kBLPop), (Names{"write", "list", "slow", "blocking"}));
  EXPECT_EQ(CategoriesOf(CommandId::kEvalRo), (Names{"slow", "scripting"}));
}

TEST(CategoriesOf, HaveTheirExceptions) {
  EXPECT_EQ(CategoriesOf(CommandId::kKeys), (Names{"keyspace", "read", "slow", "dangerous"}));
  EXPECT_EQ(CategoriesOf(CommandId::kXGroup), (Names{"slow"}));
  EXPECT_EQ(CategoriesOf(CommandId::kSortRo),
            (Names{"read", "set", "sortedset", "list", "slow", "dangerous"}));
}

TEST(IsCategory, KnowsTheNamesInAnyCase) {
  EXPECT_TRUE(IsCategory("SortedSet"));
  EXPECT_FALSE(IsCategory("sorted"));
  EXPECT_FALSE(IsCategory(""));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
