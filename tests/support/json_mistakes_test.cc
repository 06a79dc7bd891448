#include "redouble/tests/support/json_mistakes.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::tests {
namespace {

TEST(JsonMistakes, AreMadeAtEveryPlaceOneAtATime) {
  const sim::Json good = {{"a", {1, 2}}, {"b", "text"}};
  std::set<std::string> seen;
  int calls = 0;
  ForEachMistake(good, [&](const sim::Json& bad) {
    seen.insert(bad.dump());
    ++calls;
  });
  EXPECT_EQ(calls, 5 * 10) << "the whole, a, its two elements, and b";
  for (const char* bad : {"null", R"({"a":{},"b":"text"})", R"({"a":[-1,2],"b":"text"})",
                          R"({"a":[1,[]],"b":"text"})", R"({"a":[1,2],"b":true})"}) {
    EXPECT_TRUE(seen.contains(bad)) << bad;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
