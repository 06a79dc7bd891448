#include "redouble/core/base/text/quoted_words.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::base {
namespace {

using std::string_view_literals::operator""sv;
using Words = std::vector<std::string>;

TEST(QuotedWords, SplitsAtSpaces) {
  EXPECT_EQ(SplitQuotedWords("set  k\tv\r"), Words({"set", "k", "v"}));
  EXPECT_EQ(SplitQuotedWords(" \v\f"), Words());
}

TEST(QuotedWords, SkipsRareSpacesBeforeAWordOnly) {
  EXPECT_EQ(SplitQuotedWords("a\vb \v\fc"), Words({"a\vb", "c"}));
}

TEST(QuotedWords, ReadsQuotesAlsoWithinAWord) {
  EXPECT_EQ(SplitQuotedWords("name=\"a\\x62\\n\" n'it\\'s' ''"), Words({"name=ab\n", "nit's", ""}));
}

TEST(QuotedWords, EndsAtAZeroByte) {
  EXPECT_EQ(SplitQuotedWords("a b\0 \"c"sv), Words({"a", "b"}));
}

TEST(QuotedWords, RefusesUnbalancedQuotes) {
  for (const char* line : {"\"a", "'a", "\"a\"b", "a\"", "\"a\\"}) {
    EXPECT_EQ(SplitQuotedWords(line), std::nullopt) << line;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::base
