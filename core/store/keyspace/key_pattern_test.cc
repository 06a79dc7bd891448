#include "redouble/core/store/keyspace/key_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace redouble::inline v0_1::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr std::string_view kUuid = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

KeyPattern Pattern(std::string_view text) { return KeyPattern::MustCompile(text, "some.family"); }

template <typename... Values>
std::string Built(std::string_view pattern, const Values&... values) {
  const absl::StatusOr<std::string> key = Pattern(pattern).Build(values...);
  return key.ok() ? *key : key.status().ToString();
}

template <typename... Values>
std::string Refusal(std::string_view pattern, const Values&... values) {
  const absl::StatusOr<std::string> key = Pattern(pattern).Build(values...);
  EXPECT_TRUE(absl::IsInvalidArgument(key.status())) << key.status();
  return std::string(key.status().message());
}

std::string Malformation(std::string_view pattern) {
  const absl::StatusOr<KeyPattern> compiled = KeyPattern::Compile(pattern);
  EXPECT_TRUE(absl::IsInvalidArgument(compiled.status())) << compiled.status();
  return std::string(compiled.status().message());
}

std::optional<std::vector<std::string>> Parsed(std::string_view pattern, std::string_view key) {
  const std::optional<KeyValues> values = Pattern(pattern).Parse(key);
  if (!values) return std::nullopt;
  return std::vector<std::string>(values->begin(), values->end());
}

TEST(KeyPattern, BuildsWhatTheSystemsWrite) {
  EXPECT_EQ(Built("rl:req:{key_id:uuid}:{minute:d12}", kUuid, "202605091403"),
            "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403");
  EXPECT_EQ(Built("{prefix}:history:{task_id}", "relayna", "task-7"), "relayna:history:task-7");
  EXPECT_EQ(Built("{keyspace}:stream:{topic}:{partition:int}", "korvet", "orders", 0),
            "korvet:stream:orders:0");
  EXPECT_EQ(Built("ir:{{{run_id}}}", "run_123"), "ir:{run_123}");
  EXPECT_EQ(
      Built("stats/{{service:{service}}}/metric:{metric}/day:{day:d8}", "1", "hits", "20250423"),
      "stats/{service:1}/metric:hits/day:20250423");
  EXPECT_EQ(Built("completion_signals"), "completion_signals");
}

TEST(KeyPattern, ParsesWhatItBuilt) {
  EXPECT_THAT(Parsed("rl:req:{key_id:uuid}:{minute:d12}",
                     "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403"),
              Optional(ElementsAre(std::string(kUuid), "202605091403")));
  EXPECT_THAT(Parsed("ir:{{{run_id}}}", "ir:{run_123}"), Optional(ElementsAre("run_123")));
  EXPECT_THAT(Parsed("completion_signals", "completion_signals"), Optional(ElementsAre()));
}

TEST(KeyPattern, ParsesNothingElse) {
  EXPECT_EQ(Parsed("completion_signals", "completion_signals:processing:c1"), std::nullopt);
  EXPECT_EQ(Parsed("ir:{{{run_id}}}", "ir:run_123"), std::nullopt);
  EXPECT_EQ(Parsed("ir:{{{run_id}}}", "ir:{run_123"), std::nullopt);
  EXPECT_EQ(Parsed("ir:{{{run_id}}}", "ir:{run_123}:more"), std::nullopt);
  EXPECT_EQ(Parsed("ir:{run_id}", "ir:"), std::nullopt);
  EXPECT_EQ(Parsed("ir:{run_id}", "i"), std::nullopt);
  EXPECT_EQ(Parsed("rl:{minute:d12}", "rl:20260509140"), std::nullopt);
  EXPECT_EQ(Parsed("rl:{minute:d12}", "rl:2026050914035"), std::nullopt);
  EXPECT_EQ(Parsed("s:{topic}:{partition:int}", "s:orders:01"), std::nullopt);
}

TEST(KeyPattern, GivesTheLastTextTheRestOfTheKey) {
  EXPECT_EQ(Built("pending:{run}:{node}", "r", "a:b|c d"), "pending:r:a:b|c d");
  EXPECT_THAT(Parsed("pending:{run}:{node}", "pending:r:a:b|c d"),
              Optional(ElementsAre("r", "a:b|c d")));
}

TEST(KeyPattern, RefusesTextThatContainsWhatEndsIt) {
  EXPECT_EQ(Refusal("pending:{run}:{node}", "a:b", "n"),
            "key family some.family: run of \"pending:{run}:{node}\" must not contain or run into "
            "\":\", which ends it, got \"a:b\"");
  EXPECT_THAT(Refusal("ir:{{{run_id}}}", "a}b"), HasSubstr("must not contain or run into \"}\""));
}

TEST(KeyPattern, RefusesTextThatRunsIntoWhatEndsIt) {
  EXPECT_THAT(Refusal("{a}::{b}", "x:", "y"), HasSubstr("run into \"::\""));
  EXPECT_THAT(Refusal("{p}:history:{t}", "x:history", "y"), HasSubstr("run into \":history:\""));
  EXPECT_EQ(Built("{p}:history:{t}", "x:hist", "y"), "x:hist:history:y");
}

TEST(KeyPattern, RefusesEmptyText) {
  EXPECT_THAT(Refusal("ir:{run_id}", ""), HasSubstr("run_id of \"ir:{run_id}\" must not be empty"));
}

TEST(KeyPattern, TakesAnythingWhereTheSystemDoes) {
  EXPECT_EQ(Built("{p:any}:event:{task:any}:{token:any}", "", "a:b", ""), ":event:a:b:");
  EXPECT_EQ(Built("r:{request:any}", std::string_view("\0\xff", 2)), std::string("r:\0\xff", 4));
}

TEST(KeyPattern, CutsAnythingAsShortAsTheRestAllows) {
  EXPECT_THAT(Parsed("e:{task:any}:{token:any}", "e:a:b:c"), Optional(ElementsAre("a", "b:c")));
  EXPECT_THAT(Parsed("e:{task:any}:{day:d8}", "e:a:b:20260509"),
              Optional(ElementsAre("a:b", "20260509")));
  EXPECT_THAT(Parsed("e:{task:any}:end", "e:a:end:end"), Optional(ElementsAre("a:end")));
  EXPECT_EQ(Parsed("e:{task:any}:{day:d8}", "e:a:b:c"), std::nullopt);
}

TEST(KeyPattern, AcceptsOnlyIdsOfPlainCharacters) {
  EXPECT_EQ(Built("ir:{{{run:id}}}", "Run_7-a"), "ir:{Run_7-a}");
  for (const char* text : {"", "a:b", "a b", "{a}", "a*", "a.b", "\xc3\xa9"}) {
    EXPECT_THAT(Refusal("ir:{run:id}", text), HasSubstr("must be of letters, digits, _ and -"))
        << text;
  }
  EXPECT_EQ(Parsed("ir:{run:id}", "ir:a:b"), std::nullopt);
}

TEST(KeyPattern, AcceptsOnlyLowerCaseHyphenatedUuids) {
  const std::string pattern = "k:{id:uuid}";
  EXPECT_THAT(Refusal(pattern, "018F8D31-86a7-7c48-8f36-4d1fa4d99101"),
              HasSubstr("must be a lower-case hyphenated UUID, got \"018F8D31-86a7"));
  EXPECT_THAT(Refusal(pattern, "018f8d3186a77c488f364d1fa4d99101"), HasSubstr("UUID"));
  EXPECT_THAT(Refusal(pattern, "018f8d31-86a7-7c48-8f36-4d1fa4d9910g"), HasSubstr("UUID"));
  EXPECT_THAT(Refusal(pattern, "018f8d310-6a7-7c48-8f36-4d1fa4d99101"), HasSubstr("UUID"));
  EXPECT_THAT(Refusal(pattern, ""), HasSubstr("UUID"));
}

TEST(KeyPattern, AcceptsOnlyCanonicalIntegers) {
  EXPECT_EQ(Built("p:{n:int}", -7), "p:-7");
  EXPECT_EQ(Built("p:{n:int}", std::numeric_limits<int64_t>::min()), "p:-9223372036854775808");
  EXPECT_EQ(Built("p:{n:int}", "42"), "p:42");
  for (const char* text : {"", "+1", "01", "1.0", "9223372036854775808"}) {
    EXPECT_THAT(Refusal("p:{n:int}", text), HasSubstr("must be a decimal 64-bit integer")) << text;
  }
}

TEST(KeyPattern, AcceptsOnlyAsManyDigits) {
  EXPECT_EQ(Built("p:{stamp:d8-12}", "20250423"), "p:20250423");
  EXPECT_EQ(Built("p:{stamp:d8-12}", "202504231742"), "p:202504231742");
  EXPECT_THAT(Refusal("p:{stamp:d8-12}", "2025042"), HasSubstr("must be 8 to 12 digits"));
  EXPECT_THAT(Refusal("p:{stamp:d8-12}", "2025042317420"), HasSubstr("must be 8 to 12 digits"));
  EXPECT_THAT(Refusal("p:{day:d8}", "2026-5-9"), HasSubstr("must be exactly 8 digits"));
}

TEST(KeyPattern, AcceptsOnlyTheWordsListed) {
  EXPECT_EQ(Built("l/{period:eternity|month}", "month"), "l/month");
  EXPECT_THAT(Refusal("l/{period:eternity|month}", "week"),
              HasSubstr("must be one of eternity, month, got \"week\""));
}

TEST(KeyPattern, RefusesTheWrongCountOfValues) {
  EXPECT_EQ(Refusal("a:{x}", "1", "2"), "key family some.family: \"a:{x}\" takes 1 values, got 2");
}

TEST(KeyPattern, ShowsTheBeginningOfALongValue) {
  EXPECT_THAT(Refusal("k:{id:uuid}", std::string(1000, 'x')),
              HasSubstr("xxx\" (first 80 of 1000 bytes)"));
}

TEST(KeyPattern, RefusesMalformedPatterns) {
  EXPECT_EQ(Malformation(""), "key pattern \"\" is malformed: it is empty");
  EXPECT_THAT(Malformation("a:{x"), HasSubstr("a single brace"));
  EXPECT_THAT(Malformation("a:x}"), HasSubstr("a single brace"));
  EXPECT_THAT(Malformation("a:{}"), HasSubstr("\"\" is no name"));
  EXPECT_THAT(Malformation("a:{X}"), HasSubstr("\"X\" is no name"));
  EXPECT_THAT(Malformation("{x}:{x}"), HasSubstr("two placeholders x"));
  EXPECT_THAT(Malformation("{x}{y}"), HasSubstr("nothing stands between x and y"));
  for (const char* kind : {"", "guid", "d", "d0", "d65", "d9-8", "dx", "d8-", "a||b", "|"}) {
    EXPECT_THAT(Malformation("a:{x:" + std::string(kind) + "}"), HasSubstr("there is no kind"));
  }
}

TEST(KeyPatternDeathTest, EndsTheProgramOnItsOwnMalformedPattern) {
  EXPECT_DEATH(KeyPattern::MustCompile("a:{x"), "single brace");
}

TEST(KeyPattern, BindsAPlaceholderToAConstant) {
  const KeyPattern bound = *Pattern("{prefix}:{service}").Bind("prefix", "studio:health");
  EXPECT_EQ(bound.text(), "studio:health:{service}");
  EXPECT_EQ(*bound.Build("s1"), "studio:health:s1");
  EXPECT_THAT(bound.Parse("studio:health:s1"), Optional(ElementsAre("s1")));
  EXPECT_EQ(bound.Parse("studio:other:s1"), std::nullopt);
}

TEST(KeyPattern, BindsConstantsWithBraces) {
  const KeyPattern bound = *Pattern("{prefix}:{n:d8-12}:{{{w:a|b}}}").Bind("prefix", "{t}");
  EXPECT_EQ(bound.text(), "{{t}}:{n:d8-12}:{{{w:a|b}}}");
  EXPECT_EQ(*bound.Build("12345678", "b"), "{t}:12345678:{b}");
}

TEST(KeyPattern, RefusesToBindWhatItCannot) {
  const KeyPattern pattern = Pattern("{prefix}:{day:d8}");
  EXPECT_THAT(std::string(pattern.Bind("name", "x").status().message()),
              HasSubstr("has no placeholder name"));
  EXPECT_THAT(std::string(pattern.Bind("prefix", "").status().message()),
              HasSubstr("must not be empty"));
  EXPECT_THAT(std::string(pattern.Bind("day", "1").status().message()),
              HasSubstr("must be exactly 8 digits"));
}

TEST(KeyPattern, DescribesItself) {
  const KeyPattern pattern = Pattern("{prefix}:x:{day:d8}");
  EXPECT_EQ(pattern.family(), "some.family");
  EXPECT_EQ(pattern.IndexOf("day"), 1u);
  EXPECT_EQ(pattern.IndexOf("x"), std::nullopt);
  EXPECT_EQ(pattern.prefix(), "");
  EXPECT_EQ(pattern.LiteralAfter(0), ":x:");
  EXPECT_TRUE(pattern.Check(1, "20260509").ok());
  EXPECT_FALSE(pattern.Check(1, "today").ok());
}

// Any key that parses is built again from its values, even if an `any` value was parsed differently
// from the value it was built from.
RC_GTEST_PROP(KeyPattern, BuildsAgainEveryKeyThatItParses, ()) {
  const std::string text = *rc::gen::element<std::string>(
      "{a}:{b}", "{a:any}:{b:any}:{c:any}", "{a}::{b}", "{a:any}:a:{b}", "{{{a}}}", "{a:int}-{b}",
      "{a:a|b|a:}:{b:d1-3}", "a{x}a");
  const std::string key =
      *rc::gen::container<std::string>(rc::gen::element('a', 'b', ':', '-', '1', '{', '}'));
  const KeyPattern pattern = KeyPattern::MustCompile(text);
  const std::optional<KeyValues> values = pattern.Parse(key);
  RC_CLASSIFY(values.has_value());
  if (values) RC_ASSERT(pattern.BuildFrom(*values).value() == key);
}

// Any key that can be built parses, to the same values unless one is of the kind `any`.
RC_GTEST_PROP(KeyPattern, ParsesEveryKeyThatItBuilds, ()) {
  const std::string text = *rc::gen::element<std::string>(
      "{a}:{b}", "{a:any}:{b:any}", "{a}::{b}", "{a}:a:{b}", "{{{a}}}:{b}", "{a:int}-{b}",
      "{a:a|b|a:}:{b}", "{a:any}a{b:any}a", "{a}aa{b}bb");
  const KeyPattern pattern = KeyPattern::MustCompile(text);
  std::vector<std::string> values;
  for (size_t i = 0; i < pattern.placeholders().size(); ++i) {
    values.push_back(
        *rc::gen::container<std::string>(rc::gen::element('a', 'b', ':', '-', '1', '}')));
  }
  const std::vector<std::string_view> views(values.begin(), values.end());
  const absl::StatusOr<std::string> key = pattern.BuildFrom(views);
  RC_CLASSIFY(key.ok());
  if (!key.ok()) return;
  const std::optional<KeyValues> parsed = pattern.Parse(*key);
  RC_ASSERT(parsed.has_value());
  if (text.find("any") == text.npos) {
    RC_ASSERT(std::vector<std::string>(parsed->begin(), parsed->end()) == values);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
