#include "tests/support/words.h"

#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::tests {
namespace {

TEST(Words, AreSeparatedByBlanks) {
  EXPECT_EQ(SplitWords("  SET  key\tvalue ").value(), (Words{"SET", "key", "value"}));
  EXPECT_EQ(SplitWords("").value(), Words());
}

TEST(Words, KeepBlanksAndEveryByteInDoubleQuotes) {
  EXPECT_EQ(SplitWords(R"("a b" "" "\x00\xfF\n\r\t\b\a\\\"")").value(),
            (Words{"a b", "", std::string("\0\xff\n\r\t\b\a\\\"", 9)}));
}

TEST(Words, TakeABackslashBeforeAnyOtherLetterAway) {
  EXPECT_EQ(SplitWords(R"("\q\xg1")").value(), (Words{"qxg1"}));
}

TEST(Words, KeepEverythingButTheQuoteInSingleQuotes) {
  EXPECT_EQ(SplitWords(R"('a "b" \n \' c')").value(), (Words{R"(a "b" \n ' c)"}));
}

TEST(Words, ReportQuotesThatDoNotMatch) {
  for (const char* line : {"\"a", "'a", "\"a\"b", "a 'b'c", "\"a\\\""}) {
    EXPECT_EQ(SplitWords(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
}

TEST(Words, AreQuotedOnlyWhereTheyHaveToBe) {
  EXPECT_EQ(JoinWords({"SET", "key:{1}", "a b", "", "@x", "#x"}),
            R"(SET key:{1} "a b" "" "@x" "#x")");
}

RC_GTEST_PROP(Words, ComeBackFromTheirLine, (const Words& words)) {
  RC_ASSERT(SplitWords(JoinWords(words)).value() == words);
}

}  // namespace
}  // namespace redouble::tests
