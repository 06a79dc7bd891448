#include "redouble/sim/json/json_diff.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

// "path: expected/got", or "equal".
std::string Compare(const char* expected, const char* got) {
  const std::optional<JsonDifference> difference =
      FindDifference(Json::parse(expected), Json::parse(got), "/x");
  if (!difference) return "equal";
  return difference->path + ": " + difference->expected + " / " + difference->got;
}

TEST(FindDifference, FindsNoneInEqualValues) {
  EXPECT_EQ(Compare("null", "null"), "equal");
  EXPECT_EQ(Compare(R"([1, "a", {"b": [true]}])", R"([1, "a", {"b": [true]}])"), "equal");
}

TEST(FindDifference, DoesNotLookAtTheOrderOfMembers) {
  EXPECT_EQ(Compare(R"({"a": 1, "b": 2})", R"({"b": 2, "a": 1})"), "equal");
}

TEST(FindDifference, ComparesNumbersByValue) {
  EXPECT_EQ(Compare("10", "10.0"), "equal");
  EXPECT_EQ(Compare("10", "10.5"), "/x: 10 / 10.5");
}

TEST(FindDifference, TellsTypesApart) {
  EXPECT_EQ(Compare("\"1\"", "1"), "/x: \"1\" / 1");
  EXPECT_EQ(Compare("[]", "{}"), "/x: [] / {}");
  EXPECT_EQ(Compare("null", "0"), "/x: null / 0");
}

TEST(FindDifference, NamesTheMember) {
  EXPECT_EQ(Compare(R"({"a": {"b/c": 1}})", R"({"a": {"b/c": 2}})"), "/x/a/b~1c: 1 / 2");
}

TEST(FindDifference, SaysWhichMemberIsMissingOrTooMuch) {
  EXPECT_EQ(Compare(R"({"a": 1})", "{}"), "/x/a: 1 / nothing");
  EXPECT_EQ(Compare("{}", R"({"a": 1})"), "/x/a: nothing / 1");
}

TEST(FindDifference, NamesTheElement) {
  EXPECT_EQ(Compare("[1, 2]", "[1, 3]"), "/x/1: 2 / 3");
  EXPECT_EQ(Compare("[1, 2]", "[1]"), "/x/1: 2 / nothing");
  EXPECT_EQ(Compare("[1]", "[1, 2]"), "/x/1: nothing / 2");
}

TEST(FindDifferences, ListsThemUpToALimit) {
  const Json expected = Json::parse(R"({"a": 1, "b": [1, 2, 3], "c": 1})");
  const Json got = Json::parse(R"({"a": 2, "b": [1, 3], "d": 1})");
  std::vector<std::string> paths;
  for (const JsonDifference& one : FindDifferences(expected, got, "/x", 10)) {
    paths.push_back(one.path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"/x/a", "/x/b/1", "/x/b/2", "/x/c", "/x/d"}));
  EXPECT_EQ(FindDifferences(expected, got, "/x", 2).size(), 2u);
  EXPECT_TRUE(FindDifferences(got, got, "/x", 2).empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
