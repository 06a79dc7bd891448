// The rows were recorded from redis-server 7.0.15: KEYS PATTERN with the single key TEXT, and
// COMMAND LIST FILTERBY PATTERN for matching without regard to case.

#include "redouble/core/base/text/glob.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::base {
namespace {

using std::string_view_literals::operator""sv;

struct Row {
  std::string_view pattern;
  std::string_view text;
  bool matches;
};

void Check(const std::vector<Row>& rows, GlobCase glob_case = GlobCase::kSensitive) {
  for (const Row& row : rows) {
    EXPECT_EQ(GlobMatch(row.pattern, row.text, glob_case), row.matches)
        << row.pattern << " on " << row.text;
  }
}

TEST(GlobMatch, TakesOrdinaryBytesLiterally) {
  Check({{"a", "a", true},
         {"a", "b", false},
         {"ab", "a", false},
         {"a", "ab", false},
         {"{a,b}", "a", false},
         {"\0*"sv, "\0b"sv, true},
         {"a\0b"sv, "a\0b"sv, true},
         {"a\0b"sv, "a\0c"sv, false},
         {"\xff", "\xff", true}});
}

TEST(GlobMatch, ExpandsStarsAndQuestionMarks) {
  Check({{"*?", "a", true},
         {"?", "a", true},
         {"?*", "a", true},
         {"a**", "a", true},
         {"a*", "a", true},
         {"***", "ab", true},
         {"***b", "ab", true},
         {"ab*", "ab", true},
         {"ab***", "ab", true},
         {"ab**?", "ab", false},
         {"*a*b", "aXbYb", true},
         {"*a*b*", "b", false},
         {"a*a", "a", false},
         {"a*a", "aa", true},
         {"*aab", "aaab", true},
         {"h?llo", "hello", true},
         {"a?c", "a\\c", true},
         {"?", "\xff", true},
         {"*\0"sv, "\0"sv, true}});
}

TEST(GlobMatch, MatchesTheEmptyTextOnlyWithTheEmptyPattern) {
  Check({{"", "", true},
         {"*", "", false},
         {"**", "", false},
         {"?", "", false},
         {"[^", "", false},
         {"", "a", false}});
}

TEST(GlobMatch, KnowsClassesRangesAndNegation) {
  Check({{"[a]", "a", true},           {"[^a]", "a", false},         {"[^a]", "b", true},
         {"[a-c]", "b", true},         {"[c-a]", "b", true},         {"[a-]", "-", false},
         {"[a-]", "a", true},          {"[-a]", "-", true},          {"h[ae]llo", "hallo", true},
         {"h[^e]llo", "hello", false}, {"h[a-b]llo", "hbllo", true}, {"[a-b-c]", "-", true},
         {"[a-b-c]", "c", true},       {"[a-b-c]", "b", true},       {"[!a]", "a", true},
         {"[!a]", "!", true},          {"[a^]", "^", true},          {"[z-a]x", "bx", true},
         {"[a]]", "a]", true},         {"[[]", "[", true},           {"[*]", "*", true},
         {"[*]", "a", false},          {"[?]", "?", true},           {"[a-c-e]", "d", false},
         {"[^a-c-e]", "d", true},      {"[\0]"sv, "\0"sv, true}});
}

TEST(GlobMatch, ClosesAnEmptyClassAtOnce) {
  Check({{"[^]", "a", true},
         {"[]", "a", false},
         {"[]a]", "a", false},
         {"[]a]", "]", false},
         {"[^]]", "]", false},
         {"[^]]]", "a]", false},
         {"[^]]]", "]]", false},
         {"[]-a]", "]", false},
         {"[]-a]", "-a]", false}});
}

TEST(GlobMatch, EndsAnUnterminatedClassWithThePattern) {
  Check({{"[a", "a", true},
         {"[", "a", false},
         {"[^", "a", true},
         {"[a-", "-", true},
         {"[a-", "a", true},
         {"[a-c-", "-", true},
         {"[[a]", "a]", false},
         {"*[", "a[", false},
         {"*[", "a", false}});
}

TEST(GlobMatch, TakesEscapedBytesLiterally) {
  Check({{"\\a", "a", true},
         {"\\*", "*", true},
         {"\\*", "a", false},
         {"\\[a]", "[a]", true},
         {"\\\\", "\\", true},
         {"[\\]]", "]", true},
         {"[\\]a]", "a", true},
         {"[\\a-c]", "b", false},
         {"[a-\\]c]", "b", false}});
}

TEST(GlobMatch, TakesABackslashAtTheEndLiterally) {
  Check({{"\\", "\\", true},
         {"a\\", "a\\", true},
         {"a\\", "a", false},
         {"[\\", "\\", true},
         {"[\\", "a", false},
         {"[a\\", "\\", true},
         {"[^\\", "\\", false},
         {"[^\\", "a", true},
         {"*\\", "a\\", true},
         {"*\\", "aa", false}});
}

TEST(GlobMatch, ComparesBytesInRangesAsSigned) {
  Check({{"[\x01-\xff]", "\x80", false},
         {"[\x01-\xff]", "\xff", true},
         {"[\x01-\xff]", "\0"sv, true},
         {"[\x80-\xff]", "\xa0", true},
         {"[\x80-\x7f]", "A", true},
         {"[a-\xff]", "z", false},
         {"[a-\xff]", "A", true}});
}

TEST(GlobMatch, FoldsAsciiCaseWhenAsked) {
  Check({{"GEOA*", "geoadd", true},
         {"geoA[C-E]d", "geoadd", true},
         {"geoa[E-C]d", "geoadd", true},
         {"geoa[A-z]d", "geoadd", true},
         {"geoa[\\d]d", "geoadd", true},
         {"GEOA[^D]D", "geoadd", false},
         {"geo\\Add", "geoadd", true},
         {"GEO\\ADD", "geoadd", true},
         {"geoa[Dx]d", "geoadd", true}},
        GlobCase::kInsensitive);
}

TEST(GlobMatch, KeepsTheCornersOfFoldingInsideClasses) {
  Check({{"geoa[Z-a]d", "geoadd", false},
         {"geoa[\\D]d", "geoadd", false},
         {"geoa[_-Z]d", "geoadd", false},
         {"geoa[D-_]d", "geoadd", false}},
        GlobCase::kInsensitive);
}

std::string Repeat(std::string_view part, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += part;
  return result;
}

TEST(GlobMatch, GivesUpBeyondAThousandStars) {
  const std::string text(2000, 'a');
  const auto matches = [&text](const std::string& pattern) { return GlobMatch(pattern, text); };
  EXPECT_TRUE(matches(Repeat("*a", 1000)));
  EXPECT_FALSE(matches(Repeat("*a", 1001)));
  EXPECT_TRUE(matches(Repeat("*a", 1000) + "*"));
  EXPECT_TRUE(matches(Repeat("a*", 1001)));
  EXPECT_FALSE(matches(Repeat("a*", 1002)));
  EXPECT_TRUE(matches(Repeat("*", 2000) + "a"));
}

TEST(GlobMatch, AnswersHostilePatternsInPolynomialTime) {
  EXPECT_FALSE(GlobMatch(Repeat("*a", 900) + "b", std::string(2000, 'a')));
  EXPECT_FALSE(GlobMatch(Repeat("*[a-c]?", 300) + "d", std::string(2000, 'b')));
}

// A simple matcher with exponential cost: the oracle for short inputs.
bool SlowMatch(std::string_view pattern, std::string_view text) {
  if (text.empty()) return pattern.find_first_not_of('*') == std::string_view::npos;
  if (pattern.empty()) return false;
  if (pattern.front() == '*')
    return SlowMatch(pattern.substr(1), text) || SlowMatch(pattern, text.substr(1));
  if (pattern.front() == '?') return SlowMatch(pattern.substr(1), text.substr(1));
  if (pattern.front() == '[') {
    const bool in_class =
        pattern.substr(0, 5) == "[a-b]" ? text.front() != 'c' : text.front() == 'c';
    return in_class && SlowMatch(pattern.substr(5), text.substr(1));
  }
  return pattern.front() == text.front() && SlowMatch(pattern.substr(1), text.substr(1));
}

RC_GTEST_PROP(GlobMatch, AgreesWithASlowOracle, ()) {
  const auto parts = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("*", "?", "a", "b", "[a-b]", "[c-c]"));
  const auto text =
      *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c')));
  std::string pattern;
  for (const std::string& part : parts) {
    if (pattern.size() < 24) pattern += part;
  }
  RC_ASSERT(GlobMatch(pattern, text.substr(0, 12)) == SlowMatch(pattern, text.substr(0, 12)));
}

RC_GTEST_PROP(GlobMatch, AcceptsAnyBytesAsPattern,
              (const std::string& pattern, const std::string& text)) {
  std::string escaped;
  for (const char c : text) escaped.append({'\\', c});
  RC_ASSERT(GlobMatch(escaped, text));
  if (GlobMatch(pattern, text)) RC_ASSERT(GlobMatch(pattern + "*", text) || text.empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::base
