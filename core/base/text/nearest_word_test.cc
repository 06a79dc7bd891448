#include "redouble/core/base/text/nearest_word.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

const std::vector<std::string> kWords = {"command", "advance", "expect", "fault", "finish"};

TEST(NearestWord, FindsOneEdit) {
  EXPECT_EQ(NearestWord("comand", kWords), "command");    // Removed.
  EXPECT_EQ(NearestWord("comm4nd", kWords), "command");   // Replaced.
  EXPECT_EQ(NearestWord("ccommand", kWords), "command");  // Inserted.
  EXPECT_EQ(NearestWord("comamnd", kWords), "command");   // Exchanged.
  EXPECT_EQ(NearestWord("EXPECTS", kWords), "expect");    // In another case.
}

TEST(NearestWord, AllowsMoreEditsInLongerWords) {
  EXPECT_EQ(NearestWord("comands", kWords), "command");
  EXPECT_EQ(NearestWord("fin", kWords), std::nullopt);
}

TEST(NearestWord, PrefersTheFewestEditsAndThenTheFirst) {
  EXPECT_EQ(NearestWord("cart", {"card", "cart", "care"}), "cart");
  EXPECT_EQ(NearestWord("carx", {"card", "cart"}), "card");
}

TEST(NearestWord, FindsNothingAmongNoneOrStrangers) {
  EXPECT_EQ(NearestWord("expect", {}), std::nullopt);
  EXPECT_EQ(NearestWord("zebra", kWords), std::nullopt);
  EXPECT_EQ(NearestWord("", kWords), std::nullopt);
  EXPECT_EQ(NearestWord("x", {"a", "b"}), std::nullopt);
}

TEST(DidYouMean, EndsAMessage) {
  EXPECT_EQ(DidYouMean("expct", kWords), "; did you mean \"expect\"?");
  EXPECT_EQ(DidYouMean("zebra", kWords), "");
}

}  // namespace
}  // namespace redouble::inline v0_1::base
