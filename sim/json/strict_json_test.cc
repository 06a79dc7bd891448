#include "redouble/sim/json/strict_json.h"

#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

std::string ErrorOf(const std::string& text) {
  return std::string(ParseStrictJson(text).status().message());
}

TEST(ParseStrictJson, ReadsJsonAndKeepsTheOrderOfMembers) {
  const absl::StatusOr<Json> json = ParseStrictJson(R"({"b": [1, {"x": null}], "a": "\u00e9"})");
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(json->dump(), "{\"b\":[1,{\"x\":null}],\"a\":\"\xc3\xa9\"}");
}

TEST(ParseStrictJson, SaysWhereTheTextIsNotJson) {
  const std::string error = ErrorOf("{\n  \"a\": 1,\n}");
  EXPECT_TRUE(error.starts_with("not JSON: parse error at line 3, column 1")) << error;
  EXPECT_TRUE(ErrorOf("").starts_with("not JSON: "));
  EXPECT_TRUE(ErrorOf("1 2").starts_with("not JSON: "));
  EXPECT_TRUE(ErrorOf("// no\n1").starts_with("not JSON: "));
}

TEST(ParseStrictJson, RefusesBytesThatAreNotUtf8) {
  EXPECT_TRUE(ErrorOf("\"\xff\"").starts_with("not JSON: "));
}

TEST(ParseStrictJson, RefusesANameGivenTwice) {
  EXPECT_EQ(ErrorOf(R"({"a": 1, "b": {"a": 1}, "a": 2})"),
            "the name \"a\" is given twice in one object");
  EXPECT_TRUE(ParseStrictJson(R"([{"a": 1}, {"a": 2}])").ok());
}

TEST(ParseStrictJson, RefusesDeepNesting) {
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseStrictJson(nested(kMaxJsonDepth)).ok());
  EXPECT_EQ(ErrorOf(nested(kMaxJsonDepth + 1)), "nested deeper than 64");
  EXPECT_EQ(ErrorOf(nested(100'000)), "nested deeper than 64");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
