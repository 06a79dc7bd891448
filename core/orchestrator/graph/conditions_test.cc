#include "redouble/core/orchestrator/graph/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/orchestrator/errors.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::IsOk;
using base::StatusIs;

constexpr std::string_view kOutput =
    R"({"status":"retry","score":0.5,"n":3,"ok":true,"none":null,"list":[1,2],)"
    R"("other":{"b":1,"a":2},"same":{"a":2.0,"b":1},"é":1,"nested":{"deep":{"x":"y"}}})";

absl::StatusOr<bool> Evaluate(std::string_view expression, std::string_view output = kOutput) {
  static const std::vector<NodeOutput>& nodes =
      *new std::vector<NodeOutput>{{"fetch", R"({"code":200})"}, {"broken", "{"}, {"bare", "7"}};
  return EvaluateCondition({"cel", std::string(expression)}, {output, nodes});
}

// Returns "true", "false", or the error message.
std::string Answer(std::string_view expression, std::string_view output = kOutput) {
  const absl::StatusOr<bool> answer = Evaluate(expression, output);
  if (!answer.ok()) return std::string(answer.status().message());
  return *answer ? "true" : "false";
}

void ExpectAll(std::string_view answer, std::initializer_list<std::string_view> expressions) {
  for (const std::string_view expression : expressions) {
    EXPECT_EQ(Answer(expression), answer) << expression;
  }
}

TEST(Condition, ReadsTheOutput) {
  ExpectAll("true", {"output.ok", "output.status == 'retry'", "output.status != 'success'",
                     "output.nested.deep.x == \"y\"", "output . nested\n.\tdeep . x == 'y'",
                     "output.none == null", "output.list == output.list"});
  EXPECT_EQ(Answer("output == 7", "7"), "true");
  EXPECT_EQ(Answer("output", "false"), "false");
}

TEST(Condition, ReadsTheOutputsOfOtherNodes) {
  ExpectAll("true", {"ctx.fetch.output.code == 200", "ctx.bare.output == 7"});
  ExpectAll("condition: there is no ctx.gone", {"ctx.gone.output.x == 1"});
  ExpectAll("condition: there is no ctx.fetch.output.body", {"ctx.fetch.output.body == 1"});
  ExpectAll("condition: ctx is read as ctx.<node>.output",
            {"ctx == 1", "ctx.fetch == 1", "ctx.fetch.code == 200"});
  ExpectAll("condition: ctx.broken.output is not JSON", {"ctx.broken.output == 1"});
}

TEST(Condition, KnowsTheOtherSpellingOfOutput) {
  ExpectAll("true", {"$.ok", "$.n == 3", "'$.x' == 'output.x'"});
}

TEST(Condition, ComparesNumbersByValue) {
  ExpectAll("true", {"output.n == 3", "output.n == 3.0", "3 == 3.0", "output.score < 1",
                     "output.score >= 0.5", "2 < 10", "-1 < 0", "1e3 == 1000", "2.5e-1 == 0.25",
                     "9223372036854775806 < 9223372036854775807", "output.n != 4"});
  ExpectAll("false", {"output.n == 4", "output.n > 3", "1 > 1", "2 <= 1.5"});
}

TEST(Condition, ComparesTextsByteByByte) {
  ExpectAll("true",
            {"'a' < 'b'", "'B' < 'a'", "'a' < 'aa'", "'z' < 'é'", "'10' < '9'", "'a' >= 'a'"});
  ExpectAll("true", {R"('a\n\t\r\\\'\"' == "a\n\t\r\\'\"")", R"("it's" == 'it\'s')"});
}

TEST(Condition, OrdersBooleans) {
  ExpectAll("true", {"false < true", "true >= output.ok"});
  ExpectAll("false", {"true < true"});
}

TEST(Condition, TakesValuesOfDifferentKindsForDifferent) {
  ExpectAll("false", {"output.n == '3'", "output.none == false", "output.none == 0",
                      "output.list == output.other", "1 == true"});
  ExpectAll("true", {"output.n != '3'", "output.status != null"});
}

TEST(Condition, ComparesObjectsAsTheirMembers) {
  ExpectAll("true", {"output.other == output.same"});
}

TEST(Condition, OrdersOnlyWhatHasAnOrder) {
  ExpectAll("condition: < does not take a text and a decimal", {"output.status < output.n"});
  ExpectAll("condition: > does not take null and an integer", {"output.none > 1"});
  ExpectAll("condition: <= does not take an array and an array", {"output.list <= output.list"});
  ExpectAll("condition: >= does not take an object and a boolean", {"output.other >= true"});
}

TEST(Condition, BindsTighterFromOrToNot) {
  ExpectAll("true", {"true || false && false", "!false && true", "!(true && false)",
                     "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "10 - 4 - 3 == 3", "8 / 4 / 2 == 1",
                     "1 + 1 < 3 && 2 > 1 == true", "!!true", "- -1 == 1", "2 - -1 == 3"});
}

TEST(Condition, LetsOneSideDecideOverAnErrorOfTheOther) {
  ExpectAll("true", {"true || output.gone", "output.gone || true", "1 || true"});
  ExpectAll("false", {"false && output.gone", "output.gone && false", "false && 'x'"});
  ExpectAll("condition: there is no output.gone",
            {"output.gone", "false || output.gone", "output.gone || false", "true && output.gone",
             "output.gone && true", "output.gone && output.lost", "!output.gone",
             "output.gone == 1", "1 == output.gone", "-output.gone == 1"});
}

TEST(Condition, CombinesBooleansOnly) {
  ExpectAll("condition: && does not take an integer", {"true && 1", "1 && true"});
  ExpectAll("condition: || does not take null", {"false || null"});
  ExpectAll("condition: ! does not take a text", {"!'x'"});
  ExpectAll("condition: - does not take a boolean", {"-true == 1"});
}

TEST(Condition, CalculatesWithTwoOfAKind) {
  ExpectAll("true", {"output.n + 1.0 == 4", "output.n * 2.0 > 5.9", "7 / 2 == 3", "-7 / 2 == -3",
                     "7.0 / 2.0 == 3.5", "1.5 - 1.0 == 0.5", "-output.n == -3.0"});
  ExpectAll("condition: + does not take a decimal and an integer", {"output.n + 1 == 4"});
  ExpectAll("condition: + does not take a text and a text", {"'a' + 'b' == 'ab'"});
  ExpectAll("condition: / does not take an integer and a decimal", {"1 / 2.0 == 0.5"});
}

TEST(Condition, RefusesIntegersThatDoNotFit) {
  ExpectAll("condition: an integer is divided by 0", {"1 / 0 == 0"});
  ExpectAll("condition: an integer overflows",
            {"9223372036854775807 + 1 == 0", "-9223372036854775807 - 2 == 0",
             "9223372036854775807 * 2 == 0", "(-9223372036854775807 - 1) / -1 == 0",
             "-(-9223372036854775807 - 1) == 0"});
}

TEST(Condition, ComparesNothingWithWhatIsNoNumber) {
  ExpectAll("false", {"0.0 / 0.0 == 0.0 / 0.0", "0.0 / 0.0 <= 1.0", "1.0 >= 0.0 / 0.0"});
  ExpectAll("true", {"1.0 / 0.0 > 1e308"});
}

TEST(Condition, MustBeTrueOrFalse) {
  ExpectAll("condition: the result is a decimal, not true or false", {"output.n"});
  ExpectAll("condition: the result is an integer, not true or false", {"1 + 1"});
  ExpectAll("condition: the result is null, not true or false", {"null"});
  ExpectAll("condition: the result is an object, not true or false", {"output"});
  EXPECT_THAT(Evaluate("1"), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(Condition, NeedsAnOutputThatIsJson) {
  EXPECT_EQ(Answer("output.ok", ""), "condition: there is no output");
  EXPECT_EQ(Answer("output.ok", "{"), "condition: output is not JSON");
  EXPECT_THAT(Evaluate("output.ok", "{"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Answer("true", "{"), "true");
  EXPECT_EQ(Answer("output.x == 1", "[1]"), "condition: there is no output.x");
}

TEST(Condition, TakesNoOutputThatIsNestedWithoutEnd) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(Answer("output == 1", deep), "condition: output is nested deeper than 500");
  const std::string legal = std::string(400, '[') + std::string(400, ']');
  EXPECT_EQ(Answer("output == output", legal), "true");
}

TEST(Condition, KnowsOneLanguage) {
  const Condition condition = {"jmespath", "true"};
  EXPECT_EQ(CheckCondition(condition), MakeError(ErrorCode::kInvalidCondition,
                                                 "expected the type \"cel\", got "
                                                 "\"jmespath\""));
  EXPECT_EQ(EvaluateCondition(condition, {}).status(), CheckCondition(condition));
}

TEST(Condition, SaysWhereItCannotBeRead) {
  for (const auto& [expression, error] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"", "position 0: expected a value, got the end"},
           {"  ", "position 2: expected a value, got the end"},
           {"price < 500", "position 0: expected output, ctx or a value, got \"p\""},
           {"output.n = 1", "position 9: expected an operator or the end, got \"=\""},
           {"output.n ==", "position 11: expected a value, got the end"},
           {"(true", "position 5: expected ')', got the end"},
           {"true)", "position 4: expected an operator or the end, got \")\""},
           {"true false", "position 5: expected an operator or the end, got \"f\""},
           {"output.", "position 7: expected a name behind the dot, got the end"},
           {"output.1", "position 7: expected a name behind the dot, got \"1\""},
           {"output.list[0] == 1", "position 11: expected an operator or the end, got \"[\""},
           {"output.n % 2 == 1", "position 9: expected an operator or the end, got \"%\""},
           {"true ? 1 : 2", "position 5: expected an operator or the end, got \"?\""},
           {"'x' in output.list", "position 4: expected an operator or the end, got \"i\""},
           {"'open", "position 5: expected the closing quote, got the end"},
           {"'a\\q'", "position 3: expected one of n t r \\ ' \" behind the backslash, got \"q\""},
           {"'a\\", "position 3: expected one of n t r \\ ' \" behind the backslash, got the end"},
           {"1x == 1", "position 1: expected an operator or the end, got \"x\""},
           {"1. == 1", "position 1: expected an operator or the end, got \".\""},
           {"1e == 1", "position 2: expected an exponent, got \" \""},
           {"9223372036854775808 == 1", "position 0: expected an integer of 64 bits, got \"9\""},
           {"true && ", "position 8: expected a value, got the end"},
           {"!", "position 1: expected a value, got the end"},
           {"\xff", "position 0: expected a value, got \"\\xff\""}}) {
    EXPECT_EQ(Answer(expression), "condition: " + std::string(error)) << expression;
    EXPECT_THAT(CheckCondition({"cel", std::string(expression)}),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST(Condition, IsCheckedWithoutData) {
  EXPECT_THAT(CheckCondition({"cel", "output.gone == ctx.gone.output"}), IsOk());
}

TEST(Condition, NeitherNestsNorRunsOnWithoutEnd) {
  EXPECT_EQ(Answer(std::string(90, '(') + "true" + std::string(90, ')')), "true");
  EXPECT_EQ(Answer(std::string(100'000, '(')),
            "condition: position 100: expected less nesting, got \"(\"");
  EXPECT_EQ(Answer(std::string(100'000, '!') + "true"),
            "condition: position 100: expected less nesting, got \"!\"");
  std::string chain = "true";
  for (int i = 0; i < 200; ++i) chain += "&&true";
  EXPECT_EQ(Answer(chain), "true");
  EXPECT_EQ(Answer(chain + "&&true"),
            "condition: position 1206: expected fewer operators, got \"t\"");
}

RC_GTEST_PROP(Condition, NeverFailsButByAStatus, (const std::string& noise)) {
  const auto pieces =
      *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::vector<std::string>{
          "output", ".n", "ctx", "true", "null", "1", "2.5", "'a'", "&&", "||",
          "!",      "==", "<",   "(",    ")",    "+", "/",   "-",   " ",  "$."}));
  std::string expression;
  for (const std::string& piece : pieces) expression += piece;
  for (const std::string& text : {expression, expression + noise, noise}) {
    const absl::StatusOr<bool> answer = Evaluate(text);
    RC_ASSERT(answer.ok() || absl::IsInvalidArgument(answer.status()) ||
              absl::IsFailedPrecondition(answer.status()));
  }
}

RC_GTEST_PROP(Condition, OrdersIntegersAsIntegers, (int64_t a, int64_t b)) {
  RC_PRE(a != INT64_MIN && b != INT64_MIN);
  const std::string left = std::to_string(a);
  const std::string right = std::to_string(b);
  RC_ASSERT(Evaluate(left + "<" + right).value() == (a < b));
  RC_ASSERT(Evaluate(left + ">=" + right).value() == (a >= b));
  RC_ASSERT(Evaluate(left + "==" + right).value() == (a == b));
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
