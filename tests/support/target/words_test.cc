#include "redouble/tests/support/target/words.h"

#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOkAndHolds;

TEST(Words, AreSeparatedByBlanks) {
  EXPECT_THAT(SplitWords("  SET  key\tvalue "), IsOkAndHolds(Words{"SET", "key", "value"}));
  EXPECT_THAT(SplitWords(""), IsOkAndHolds(Words()));
}

TEST(Words, KeepBlanksAndEveryByteInDoubleQuotes) {
  EXPECT_THAT(SplitWords(R"("a b" "" "\x00\xfF\n\r\t\b\a\\\"")"),
              IsOkAndHolds(Words{"a b", "", std::string("\0\xff\n\r\t\b\a\\\"", 9)}));
}

TEST(Words, RemoveABackslashBeforeAnyOtherLetter) {
  EXPECT_THAT(SplitWords(R"("\q\xg1")"), IsOkAndHolds(Words{"qxg1"}));
}

TEST(Words, KeepEverythingButTheQuoteInSingleQuotes) {
  EXPECT_THAT(SplitWords(R"('a "b" \n \' c')"), IsOkAndHolds(Words{R"(a "b" \n ' c)"}));
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
}  // namespace redouble::inline v0_1::tests
