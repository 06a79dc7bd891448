#include "redouble/core/threescale/model/referrer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace redouble::inline v0_1::threescale {
namespace {

TEST(MatchesReferrer, TakesTheWholeReferrerLiterally) {
  EXPECT_TRUE(MatchesReferrer("test.org", "test.org"));
  EXPECT_FALSE(MatchesReferrer("test.org", "testXorg"));
  EXPECT_FALSE(MatchesReferrer("test.org", "www.test.org"));
  EXPECT_FALSE(MatchesReferrer("test.org", ""));
  EXPECT_TRUE(MatchesReferrer("", ""));
}

TEST(MatchesReferrer, LetsAStarStandForAnyRunOfCharacters) {
  EXPECT_TRUE(MatchesReferrer("*.example.org", "www.example.org"));
  EXPECT_TRUE(MatchesReferrer("*.example.org", ".example.org"));
  EXPECT_FALSE(MatchesReferrer("*.example.org", "example.org"));
  EXPECT_TRUE(MatchesReferrer("a*b*c", "a1b2b3c"));
  EXPECT_FALSE(MatchesReferrer("a*b*c", "a1c"));
  EXPECT_FALSE(MatchesReferrer("a*b", "a\nb"));
}

TEST(MatchesReferrer, TakesAStarForEveryFilter) {
  EXPECT_TRUE(MatchesReferrer("test.org", "*"));
  EXPECT_FALSE(MatchesReferrer("test.org", "**"));
}

TEST(MatchesReferrer, FindsAnyPartTheLegacyWay) {
  EXPECT_TRUE(MatchesReferrer("test.org", "http://test.org/x", ReferrerMatch::kAnyPart));
  EXPECT_TRUE(MatchesReferrer("a*c", "xxabbcxx", ReferrerMatch::kAnyPart));
  EXPECT_FALSE(MatchesReferrer("test.org", "http://testXorg/x", ReferrerMatch::kAnyPart));
}

RC_GTEST_PROP(MatchesReferrer, MatchesWhatItsPartsAreMadeInto, ()) {
  const auto text = rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab.")));
  const std::string first = *text;
  const std::string second = *text;
  const std::string between = *text;
  RC_ASSERT(MatchesReferrer(first + "*" + second, first + between + second));
  RC_ASSERT(MatchesReferrer(first, between + first + second, ReferrerMatch::kAnyPart));
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
