#include "redouble/sim/recording/diff.h"

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

using Lines = std::vector<std::string>;

Lines Numbered(int count) {
  Lines lines;
  for (int i = 0; i < count; ++i) lines.push_back("{\"index\":" + std::to_string(i) + "}");
  return lines;
}

TEST(SplitTrace, TakesALinePerEventWithOrWithoutTheLastBreak) {
  EXPECT_EQ(SplitTrace("{\"index\":0}\n{\"index\":1}\n", "a").value(), Numbered(2));
  EXPECT_EQ(SplitTrace("{\"index\":0}\n{\"index\":1}", "a").value(), Numbered(2));
  EXPECT_EQ(SplitTrace("", "a").value(), Lines());
}

TEST(SplitTrace, NamesTheLineThatIsNoEvent) {
  for (const char* line : {"[1]", "{", "", "7", "{} {}"}) {
    EXPECT_EQ(SplitTrace(std::string("{}\n") + line + "\n", "a.jsonl").status(),
              absl::InvalidArgumentError("a.jsonl: line 2: expected an event, as JSON"));
  }
}

TEST(FindDivergence, FindsNoneInEqualTraces) {
  EXPECT_FALSE(FindDivergence({}, {}).has_value());
  EXPECT_FALSE(FindDivergence(Numbered(3), Numbered(3)).has_value());
}

TEST(FindDivergence, FindsTheFirstOfSeveral) {
  Lines other = Numbered(9);
  other[5] = R"({"index":5,"reply":1})";
  other[7] = R"({"index":7,"reply":1})";
  const auto divergence = FindDivergence(Numbered(9), other);
  ASSERT_TRUE(divergence.has_value());
  EXPECT_EQ(divergence->index, 5u);
  EXPECT_EQ(divergence->first, R"({"index":5})");
  EXPECT_EQ(divergence->second, R"({"index":5,"reply":1})");
  EXPECT_EQ(divergence->before, Lines({R"({"index":2})", R"({"index":3})", R"({"index":4})"}));
}

TEST(FindDivergence, FindsThatOneTraceEndsBefore) {
  const auto shorter = FindDivergence(Numbered(1), Numbered(2));
  ASSERT_TRUE(shorter.has_value());
  EXPECT_EQ(shorter->index, 1u);
  EXPECT_EQ(shorter->first, std::nullopt);
  EXPECT_EQ(shorter->ToString(), "event 1\n  {\"index\":0}\n- (the end)\n+ {\"index\":1}\n");
  const auto longer = FindDivergence(Numbered(1), {});
  ASSERT_TRUE(longer.has_value());
  EXPECT_EQ(longer->ToString(), "event 0\n- {\"index\":0}\n+ (the end)\n");
}

TEST(TraceDivergence, SaysWhereInTheEventItIs) {
  const auto divergence = FindDivergence({R"({"reply":["a","b"]})"}, {R"({"reply":["a","c"]})"});
  ASSERT_TRUE(divergence.has_value());
  EXPECT_EQ(divergence->ToString(),
            "event 0: /reply/1: \"b\" / \"c\"\n"
            "- {\"reply\":[\"a\",\"b\"]}\n+ {\"reply\":[\"a\",\"c\"]}\n");
}

TEST(TraceDivergence, ShowsTextsThatMeanTheSame) {
  const auto divergence = FindDivergence({R"({"reply":1})"}, {R"({"reply":1.0})"});
  ASSERT_TRUE(divergence.has_value());
  EXPECT_EQ(divergence->ToString(), "event 0\n- {\"reply\":1}\n+ {\"reply\":1.0}\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
