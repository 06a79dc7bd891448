#include "redouble/sim/world_file/world_step.h"

#include <string>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;

absl::StatusOr<std::vector<WorldStep>> Parse(const char* text) {
  return ParseWorldSteps(ParseStrictJson(text).value(), "/actors/a", CounterSystem().at("counter"),
                         /*in_actor=*/true);
}

TEST(WorldStep, ParsesEachKind) {
  ASSERT_OK_AND_ASSIGN(const std::vector<WorldStep> steps, Parse(R"([
    {"kind": "command", "command": ["RPOP", "jobs"], "as": "job"},
    {"kind": "call", "operation": "add", "arguments": {"key": "${job}"},
     "if": {"name": "job", "is_not": null}},
    {"kind": "advance", "by": "1s"},
    {"kind": "pipeline", "commands": [["SET", "p", "1"]]},
    {"kind": "transaction", "commands": [["SET", "p", "1"]], "may_fail": true},
    {"kind": "repeat", "times": 3, "until": {"name": "n", "at_least": 2},
     "steps": [{"kind": "command", "command": ["INCR", "n"], "as": "n"}]},
    {"kind": "listen", "as": "news"}])"));
  ASSERT_EQ(steps.size(), 7u);
  EXPECT_EQ(steps[0].as, "job");
  EXPECT_EQ(steps[1].condition->comparison, StepCondition::Comparison::kIsNot);
  EXPECT_TRUE(std::holds_alternative<AdvanceStep>(steps[2].action));
  EXPECT_FALSE(std::get<BatchStep>(steps[3].action).is_transaction);
  EXPECT_TRUE(std::get<BatchStep>(steps[4].action).is_transaction);
  EXPECT_TRUE(std::get<BatchStep>(steps[4].action).may_fail);
  const auto& repeat = std::get<RepeatStep>(steps[5].action);
  EXPECT_EQ(repeat.times, 3);
  EXPECT_EQ(repeat.steps.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<ListenStep>(steps[6].action));
  std::vector<std::string> names;
  CollectNames(steps, names);
  EXPECT_EQ(names, (std::vector<std::string>{"job", "n", "news"}));
  int calls = 0;
  VisitCalls(steps, [&](const CallStep&) { ++calls; });
  EXPECT_EQ(calls, 1);
}

struct Mistake {
  const char* step;
  const char* message;
};

constexpr Mistake kMistakes[] = {
    {R"({"kind": "pipelin", "commands": []})",
     R"(/actors/a/1/kind: unknown kind "pipelin"; did you mean "pipeline"?)"},
    {R"({"kind": "pipeline", "commands": []})", "/actors/a/1/commands: expected commands"},
    {R"({"kind": "pipeline", "commands": [["GET", 1]]})",
     "/actors/a/1/commands: number 0 is no array of strings"},
    {R"({"kind": "pipeline", "commands": [["GET", "k"]], "tims": 1})", "tims"},
    {R"({"kind": "command", "command": ["GET", "${jbo}"]})",
     R"(/actors/a/1/command: no earlier step binds "jbo"; did you mean "job"?)"},
    {R"({"kind": "command", "command": ["GET", "${jbo[0]}"]})",
     R"(/actors/a/1/command: no earlier step binds "jbo"; did you mean "job"?)"},
    {R"({"kind": "command", "command": ["GET", "${job[x]}"]})",
     R"(/actors/a/1/command: no earlier step binds "job[x]")"},
    {R"({"kind": "call", "operation": "add", "arguments": {"key": "${jbo}"}})",
     R"(/actors/a/1/arguments: no earlier step binds "jbo"; did you mean "job"?)"},
    {R"({"kind": "command", "command": ["GET", "k"], "if": {"name": "jo", "is": 1}})",
     R"(/actors/a/1/if/name: no earlier step binds "jo"; did you mean "job"?)"},
    {R"({"kind": "command", "command": ["GET", "k"], "if": {"name": "job"}})",
     "/actors/a/1/if: expected one of is, is_not, at_least, at_most"},
    {R"({"kind": "command", "command": ["GET", "k"], "if": {"name": "job", "at_most": "x"}})",
     "at_least and at_most expect a number"},
    {R"({"kind": "command", "command": ["GET", "k"], "as": 7})", "/actors/a/1/as: expected a name"},
    {R"({"kind": "advance", "by": "1s", "as": "x"})",
     "/actors/a/1/as: this kind has no value that could be bound"},
    {R"({"kind": "listen"})", "/actors/a/1/as: expected the name that pushes are bound to"},
    {R"({"kind": "listen", "as": "news", "channel": "c"})", "channel"},
    {R"({"kind": "repeat", "times": 0, "steps": []})", "/actors/a/1/times: expected 1 at least"},
    {R"({"kind": "repeat", "times": 2, "steps": [{"kind": "luck"}]})",
     R"(/actors/a/1/steps/0/kind: unknown kind "luck")"},
};

TEST(WorldStep, SaysWhatIsWrongAndWhere) {
  for (const Mistake& mistake : kMistakes) {
    const std::string text =
        std::string(R"([{"kind": "command", "command": ["RPOP", "jobs"], "as": "job"}, )") +
        mistake.step + "]";
    const absl::Status status = Parse(text.c_str()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.step;
    EXPECT_NE(std::string(status.message()).find(mistake.message), std::string::npos)
        << status << "\n  expected: " << mistake.message;
  }
}

TEST(WorldStep, SubstitutesBoundValues) {
  const BoundValues bound = {{"id", Json("j1")}, {"n", Json(7)}, {"none", Json()}};
  EXPECT_EQ(SubstituteText("job:${id}:${n}:${none}.", bound), "job:j1:7:.");
  EXPECT_EQ(SubstituteText("$id ${id", bound), "$id ${id");
  EXPECT_EQ(Substitute(Json{{"a", {"${n}", "n=${n}"}}, {"b", "${none}"}}, bound),
            (Json{{"a", {7, "n=7"}}, {"b", nullptr}}));
}

TEST(WorldStep, SubstitutesElementsOfBoundArrays) {
  const BoundValues bound = {{"page", Json::array({"a", "1", {{"b", 2}}})}, {"text", Json("a")}};
  EXPECT_EQ(SubstituteText("${page[0]}-${page[1]}", bound), "a-1");
  EXPECT_EQ(SubstituteText("${page[3]}${page[-4]}${text[0]}${other[0]}", bound), "");
  EXPECT_EQ(Substitute(Json{"${page[-1]}", "${page[-3]}"}, bound), (Json{{{"b", 2}}, "a"}));
}

TEST(WorldStep, ComparesNumbersAsNumbers) {
  const BoundValues bound = {{"n", Json("10")}, {"text", Json("ten")}};
  const auto holds = [&](const char* name, StepCondition::Comparison comparison, Json value) {
    return StepCondition{name, comparison, std::move(value)}.Holds(bound);
  };
  using enum StepCondition::Comparison;
  EXPECT_TRUE(holds("n", kAtLeast, 9));
  EXPECT_FALSE(holds("n", kAtMost, 9));
  EXPECT_FALSE(holds("text", kAtLeast, 9));
  EXPECT_TRUE(holds("n", kIs, "10"));
  EXPECT_TRUE(holds("other", kIs, nullptr));
  EXPECT_TRUE(holds("text", kIsNot, "11"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
