#include "redouble/backends/memory/keyspace/field_deadlines.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(FieldDeadlines, AreSetReplacedAndCleared) {
  FieldDeadlines deadlines;
  EXPECT_EQ(deadlines.Of("h", "f"), std::nullopt);
  EXPECT_FALSE(deadlines.Tracks("h"));
  deadlines.Set("h", "f", 100);
  deadlines.Set("h", "f", 200);
  EXPECT_EQ(deadlines.Of("h", "f"), 200);
  EXPECT_EQ(deadlines.Of("h", "g"), std::nullopt);
  EXPECT_EQ(deadlines.Of("other", "f"), std::nullopt);
  EXPECT_EQ(deadlines.size(), 1u);
  EXPECT_EQ(deadlines.hash_count(), 1u);
  EXPECT_TRUE(deadlines.Clear("h", "f"));
  EXPECT_FALSE(deadlines.Clear("h", "f"));
  EXPECT_EQ(deadlines.hash_count(), 0u);
  EXPECT_TRUE(deadlines.Tracks("h"));
  deadlines.ForgetKey("h");
  EXPECT_FALSE(deadlines.Tracks("h"));
}

TEST(FieldDeadlines, ExpireAfterTheirDeadlineHashByHash) {
  FieldDeadlines deadlines;
  deadlines.Set("a", "late", 30);
  deadlines.Set("a", "second", 20);
  deadlines.Set("a", "first", 10);
  deadlines.Set("b", "f", 20);
  EXPECT_EQ(deadlines.NextCheck(), 11);
  EXPECT_FALSE(deadlines.TakeDue(10).has_value());
  auto due = deadlines.TakeDue(21);
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->key, "a");
  EXPECT_THAT(due->fields, ElementsAre("first", "second"));
  due = deadlines.TakeDue(21);
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->key, "b");
  EXPECT_FALSE(deadlines.TakeDue(21).has_value());
  EXPECT_EQ(deadlines.Next(), 31);
  EXPECT_EQ(deadlines.size(), 1u);
}

TEST(FieldDeadlines, OfARemovedKeyAreForgotten) {
  FieldDeadlines deadlines;
  deadlines.Set("a", "f", 10);
  deadlines.Set("b", "f", 10);
  deadlines.ForgetKey("a");
  deadlines.ForgetKey("a");
  const auto due = deadlines.TakeDue(100);
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(due->key, "b");
  EXPECT_FALSE(deadlines.TakeDue(100).has_value());
  deadlines.Set("c", "f", 200);
  deadlines.ForgetAll();
  EXPECT_EQ(deadlines.size(), 0u);
  EXPECT_EQ(deadlines.NextCheck(), std::nullopt);
}

TEST(FieldDeadlines, AreCopiedAsAList) {
  FieldDeadlines deadlines;
  EXPECT_FALSE(deadlines.ListOf("h").has_value());
  deadlines.Set("h", "b", 2);
  deadlines.Set("h", "a", 1);
  const auto list = deadlines.ListOf("h");
  ASSERT_TRUE(list.has_value());
  EXPECT_THAT(*list, ElementsAre(Pair("a", 1), Pair("b", 2)));
  deadlines.Put("copy", *list);
  EXPECT_EQ(deadlines.Of("copy", "b"), 2);
  deadlines.Put("empty", {});
  EXPECT_TRUE(deadlines.Tracks("empty"));
  EXPECT_EQ(deadlines.hash_count(), 2u);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
