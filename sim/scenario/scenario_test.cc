#include "redouble/sim/scenario/scenario.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;

base::Task<OperationResult> Nothing(OperationContext, const Json&) { co_return Json("ok"); }

const SystemTable& Systems() {
  static const SystemTable* const systems = [] {
    auto* table = new SystemTable();
    (*table)["counter"].Add("hit", Nothing);
    (*table)["counter"].Add("read", Nothing);
    return table;
  }();
  return *systems;
}

// Returns a scenario with these steps.
std::string WithSteps(std::string_view steps) {
  return R"({"name": "n", "description": "d", "system": "counter", "start": "2026-05-09T14:03:02Z",
             "steps": )" +
         std::string(steps) + "}";
}

absl::StatusOr<Scenario> ParseSteps(std::string_view steps) {
  return ParseScenario(WithSteps(steps), "x.json", Systems());
}

// Returns the only step of a scenario.
template <typename Action>
Action ParseOne(std::string_view step) {
  absl::StatusOr<Scenario> scenario = ParseSteps("[" + std::string(step) + "]");
  EXPECT_THAT(scenario, IsOk());
  if (!scenario.ok()) return Action{};
  return std::get<Action>(scenario->steps.at(0).action);
}

std::string ErrorOf(std::string_view text) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json", Systems());
  EXPECT_EQ(scenario.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(scenario.status().message());
}

// Returns the error of a step that follows a valid one, without the prefix that all such errors
// share.
std::string StepError(std::string_view step) {
  constexpr std::string_view kPlace = "x.json: step 1: /steps/1";
  const std::string error =
      ErrorOf(WithSteps(R"([{"kind": "advance", "by": "1s"}, )" + std::string(step) + "]"));
  EXPECT_TRUE(error.starts_with(kPlace)) << error;
  return error.substr(std::min(error.size(), kPlace.size()));
}

TEST(ParseScenario, ReadsTheHead) {
  const absl::StatusOr<Scenario> scenario = ParseScenario(
      R"({"name": "n", "description": "d", "system": "redis", "start": "1970-01-01T00:00:05Z",
          "seed": 7, "steps": [{"kind": "advance", "by": "1s", "note": "why"}]})",
      "dir/x.json", Systems());
  ASSERT_THAT(scenario, IsOk());
  EXPECT_EQ(scenario->file, "dir/x.json");
  EXPECT_EQ(scenario->name, "n");
  EXPECT_EQ(scenario->description, "d");
  EXPECT_EQ(scenario->system, "redis");
  EXPECT_EQ(scenario->start, absl::FromUnixSeconds(5));
  EXPECT_EQ(scenario->seed, 7u);
  EXPECT_EQ(scenario->steps.size(), 1u);
  EXPECT_EQ(scenario->steps[0].kind, "advance");
}

TEST(ParseScenario, ReadsACall) {
  const auto step = ParseOne<CallStep>(
      R"({"kind": "call", "operation": "hit", "arguments": {"n": 1}, "client": "a",
          "expect": null})");
  EXPECT_EQ(step.call.name, "hit");
  EXPECT_EQ(step.call.client, "a");
  EXPECT_EQ(step.call.operation, Systems().at("counter").Find("hit"));
  EXPECT_EQ(step.call.arguments, Json({{"n", 1}}));
  EXPECT_EQ(step.expectation.result, Json(nullptr));
  EXPECT_FALSE(step.expectation.error);
}

TEST(ParseScenario, GivesACallItsDefaults) {
  const auto step = ParseOne<CallStep>(R"({"kind": "call", "operation": "hit"})");
  EXPECT_EQ(step.call.client, "main");
  EXPECT_EQ(step.call.arguments, Json::object());
  EXPECT_FALSE(step.expectation.result);
}

TEST(ParseScenario, ReadsAnExpectedError) {
  const auto step = ParseOne<CallStep>(
      R"({"kind": "call", "operation": "hit", "expect_error":
          {"code": "UNAVAILABLE", "kind": "outcome unknown", "contains": "gone"}})");
  EXPECT_EQ(step.expectation.error->at("code"), "UNAVAILABLE");
}

TEST(ParseScenario, ReadsACommand) {
  const auto step = ParseOne<CommandStep>(
      R"({"kind": "command", "client": "b", "command": ["SET", "bytes:\\xff", "v"],
          "expect": {"status": "OK"}})");
  EXPECT_EQ(step.client, "b");
  EXPECT_EQ(step.words, (std::vector<std::string>{"SET", "\xff", "v"}));
  EXPECT_EQ(step.reply, Json({{"status", "OK"}}));
  const auto unchecked = ParseOne<CommandStep>(R"({"kind": "command", "command": ["PING"]})");
  EXPECT_EQ(unchecked.client, "main");
  EXPECT_FALSE(unchecked.reply);
}

TEST(ParseScenario, ReadsAdvances) {
  EXPECT_EQ(ParseOne<AdvanceStep>(R"({"kind": "advance", "by": "1m30.5s"})").by,
            absl::Milliseconds(90500));
  EXPECT_EQ(ParseOne<AdvanceStep>(R"({"kind": "advance", "to": "2026-05-10T00:00:00Z"})").to,
            absl::FromUnixSeconds(1778371200));
}

TEST(ParseScenario, ReadsFaults) {
  EXPECT_EQ(ParseOne<FaultStep>(R"({"kind": "fault", "fault": "flush"})").fault->name, "flush");
  EXPECT_EQ(ParseOne<FaultStep>(
                R"({"kind": "fault", "fault": "restart", "in_flight": "outcome unknown"})")
                .in_flight,
            store::ErrorKind::kOutcomeUnknown);
  EXPECT_EQ(ParseOne<FaultStep>(R"({"kind": "fault", "fault": "restart", "in_flight": "not sent"})")
                .in_flight,
            store::ErrorKind::kNotSent);
}

TEST(ParseScenario, ReadsAStartedCall) {
  const absl::StatusOr<Scenario> scenario = ParseSteps(
      R"([{"kind": "start", "call": "a", "operation": "hit"},
          {"kind": "start", "call": "b", "operation": "hit", "client": "c"},
          {"kind": "step", "call": "a", "sends": [["GET", "bytes:k"]]},
          {"kind": "step", "call": "b"},
          {"kind": "finish", "call": "b", "expect": 1},
          {"kind": "finish", "call": "a", "expect_error": {"message": "m"}}])");
  ASSERT_THAT(scenario, IsOk());
  EXPECT_EQ(std::get<StartStep>(scenario->steps[0].action).operation.client, "a");
  EXPECT_EQ(std::get<StartStep>(scenario->steps[1].action).operation.client, "c");
  EXPECT_EQ(std::get<ReleaseStep>(scenario->steps[2].action).sends->dump(), R"([["GET","k"]])");
  EXPECT_FALSE(std::get<ReleaseStep>(scenario->steps[3].action).sends);
  EXPECT_EQ(std::get<FinishStep>(scenario->steps[4].action).expectation.result, Json(1));
}

TEST(ParseScenario, ReadsAKeyspace) {
  const auto step = ParseOne<KeyspaceStep>(
      R"({"kind": "expect_keyspace", "subset": true, "keys": {
            "bytes:\\xff": {"type": "string", "value": "v", "ttl_ms": 5},
            "s": {"type": "set", "value": ["b", "a"], "ttl": 7},
            "gone": null}})");
  EXPECT_TRUE(step.subset);
  EXPECT_EQ(step.keys.at("\xff")->ttl_ms, 5);
  EXPECT_EQ(step.keys.at("s")->value, Json({"a", "b"}));
  EXPECT_EQ(step.keys.at("s")->ttl, 7);
  EXPECT_FALSE(step.keys.at("gone").has_value());
}

TEST(ParseScenario, RefusesWhatIsNoScenario) {
  EXPECT_TRUE(ErrorOf("{").starts_with("x.json: not JSON: "));
  EXPECT_EQ(ErrorOf("[]"), "x.json: : expected an object, got []");
  EXPECT_EQ(ErrorOf("{}"),
            "x.json: /name: is missing\nx.json: /description: is missing\n"
            "x.json: /start: is missing\nx.json: /steps: is missing\n"
            "x.json: /system: is missing; known: redis, counter");
}

TEST(ParseScenario, ListsEveryErrorOfAFile) {
  EXPECT_EQ(ErrorOf(R"({"name": 7, "description": "d", "system": "counter",
                        "start": "1970-01-01T00:00:00", "steps": [
                          {"kind": "comand", "command": ["PING"]},
                          {"kind": "advance", "by": "1s"},
                          {"kind": "call", "operation": "hitt", "argumens": {}},
                          {"kind": "command", "command": "PING"}]})"),
            "x.json: /name: expected a string, got 7\n"
            "x.json: /start: not an RFC 3339 time: \"1970-01-01T00:00:00\"; write "
            "\"1970-01-01T00:00:00Z\" for UTC\n"
            "x.json: step 0: /steps/0/kind: unknown kind \"comand\"; did you mean \"command\"?; "
            "known: call, command, advance, fault, start, step, finish, expect_keyspace\n"
            "x.json: step 2: /steps/2/operation: unknown operation \"hitt\"; did you mean "
            "\"hit\"?; known: hit, read\n"
            "x.json: step 2: /steps/2/argumens: unknown; did you mean \"arguments\"?; known here: "
            "arguments, client, expect, expect_error, kind, note, operation\n"
            "x.json: step 3: /steps/3/command: expected an array of strings, got \"PING\"");
}

TEST(ParseScenario, ListsEveryErrorOfAKeyspace) {
  EXPECT_EQ(ErrorOf(WithSteps(R"([{"kind": "expect_keyspace", "subste": true, "keys": {
                "a": {"type": "string", "value": 7}, "b": {"type": "string", "value": "v"},
                "bytes:b": null, "c": {"value": "v"}}}])")),
            "x.json: step 0: /steps/0/keys/a/value: expected a string, got 7\n"
            "x.json: step 0: /steps/0/keys/bytes:b: the same key under two names\n"
            "x.json: step 0: /steps/0/keys/c/type: is missing\n"
            "x.json: step 0: /steps/0/subste: unknown; did you mean \"subset\"?; known here: keys, "
            "kind, note, subset");
}

TEST(ParseScenario, RefusesAWrongHead) {
  const auto head = [](std::string_view fields) {
    return ErrorOf(
        R"({"name": "n", "description": "d", "steps": [{"kind": "advance", "by": "1s"}], )" +
        std::string(fields) + "}");
  };
  constexpr std::string_view kStart = R"("start": "1970-01-01T00:00:00Z")";
  const std::string start(kStart);
  EXPECT_EQ(head(R"("system": "counter")"), "x.json: /start: is missing");
  EXPECT_EQ(head(R"("system": "counter", "start": 5)"),
            "x.json: /start: expected a time such as \"2026-05-09T14:03:02Z\", got 5");
  EXPECT_EQ(head(R"("system": "counter", "start": "1969-12-31T23:59:59Z")"),
            "x.json: /start: is before 1970");
  EXPECT_EQ(head(start + R"(, "system": "abacus")"),
            "x.json: /system: unknown system \"abacus\"; known: redis, counter");
  EXPECT_EQ(head(start + R"(, "system": "counter", "seed": -1)"), "x.json: /seed: is negative");
  EXPECT_EQ(head(start + R"(, "system": "counter", "seed": "7")"),
            "x.json: /seed: expected an integer, got \"7\"");
  EXPECT_EQ(
      head(start + R"(, "system": "counter", "compatibility": "redis-8")"),
      "x.json: /compatibility: unknown version \"redis-8\"; did you mean \"redis-8.0\"?; known: "
      "redis-7.0, redis-7.2, redis-7.4, redis-8.0, valkey-8.0, valkey-8.1");
  EXPECT_EQ(
      head(start + R"(, "system": "counter", "sede": 1)"),
      "x.json: /sede: unknown; did you mean \"seed\"?; known here: compatibility, description, "
      "name, seed, start, steps, system");
}

TEST(ParseScenario, RefusesNoSteps) {
  EXPECT_EQ(ErrorOf(WithSteps("[]")), "x.json: /steps: expected at least one step");
  EXPECT_EQ(ErrorOf(WithSteps("{}")), "x.json: /steps: expected at least one step");
}

TEST(ParseScenario, RefusesAStepWithoutAKnownKind) {
  EXPECT_EQ(StepError("7"), ": expected an object, got 7");
  EXPECT_EQ(StepError("{}"),
            "/kind: is missing; known: call, command, advance, fault, start, step, finish, "
            "expect_keyspace");
  EXPECT_EQ(StepError(R"({"kind": 7})"), "/kind: expected a string, got 7");
  EXPECT_EQ(StepError(R"({"kind": "expect_messages"})"),
            "/kind: unknown kind \"expect_messages\"; did you mean \"expect_keyspace\"?; known: "
            "call, command, advance, fault, start, "
            "step, finish, expect_keyspace");
}

TEST(ParseScenario, RefusesUnknownFieldsOfEachKind) {
  for (const std::string_view step :
       {R"({"kind": "call", "operation": "hit", "x": 1})",
        R"({"kind": "command", "command": ["PING"], "x": 1})",
        R"({"kind": "advance", "by": "1s", "x": 1})",
        R"({"kind": "fault", "fault": "flush", "x": 1})",
        R"({"kind": "start", "call": "a", "operation": "hit", "x": 1})",
        R"({"kind": "expect_keyspace", "keys": {}, "x": 1})"}) {
    EXPECT_TRUE(StepError(step).starts_with("/x: unknown; known here: ")) << step;
  }
  EXPECT_TRUE(ErrorOf(WithSteps(R"([{"kind": "start", "call": "a", "operation": "hit"},
                                    {"kind": "step", "call": "a", "x": 1}])"))
                  .starts_with("x.json: step 1: /steps/1/x: unknown; known here: call, kind"));
  EXPECT_TRUE(ErrorOf(WithSteps(R"([{"kind": "start", "call": "a", "operation": "hit"},
                                    {"kind": "finish", "call": "a", "x": 1}])"))
                  .starts_with("x.json: step 1: /steps/1/x: unknown"));
}

TEST(ParseScenario, RefusesAWrongCall) {
  EXPECT_EQ(StepError(R"({"kind": "call"})"), "/operation: is missing");
  EXPECT_EQ(StepError(R"({"kind": "call", "operation": "hot"})"),
            "/operation: unknown operation \"hot\"; did you mean \"hit\"?; known: hit, read");
  EXPECT_EQ(StepError(R"({"kind": "call", "operation": ""})"),
            "/operation: unknown operation \"\"; known: hit, read");
  EXPECT_EQ(StepError(R"({"kind": "call", "operation": "hit", "arguments": [1]})"),
            "/arguments: expected an object, got [1]");
  EXPECT_EQ(StepError(R"({"kind": "call", "operation": "hit", "client": 1})"),
            "/client: expected a string, got 1");
  EXPECT_EQ(StepError(R"({"kind": "call", "operation": "hit", "expect": 1,
                          "expect_error": {"code": "UNAVAILABLE"}})"),
            "/expect_error: a call has a result or an error, not both");
}

TEST(ParseScenario, SaysThatASystemHasNoOperations) {
  EXPECT_EQ(ErrorOf(R"({"name": "n", "description": "d", "system": "redis",
                        "start": "1970-01-01T00:00:00Z",
                        "steps": [{"kind": "call", "operation": "hit"}]})"),
            "x.json: step 0: /steps/0/operation: unknown operation \"hit\"; known: none");
}

TEST(ParseScenario, RefusesAWrongExpectedError) {
  const auto error = [](std::string_view json) {
    return StepError(R"({"kind": "call", "operation": "hit", "expect_error": )" +
                     std::string(json) + "}");
  };
  EXPECT_EQ(error("{}"), "/expect_error: says nothing; expected code, kind, message or contains");
  EXPECT_EQ(error("7"), "/expect_error: expected an object, got 7");
  EXPECT_EQ(error(R"({"code": "OOPS"})"),
            "/expect_error/code: no status code: OOPS; one is UNAVAILABLE");
  EXPECT_EQ(error(R"({"kind": "oops"})"),
            "/expect_error/kind: expected \"server\", \"not sent\", \"outcome unknown\" or "
            "\"protocol\"");
  EXPECT_EQ(error(R"({"message": 5})"), "/expect_error/message: expected a string, got 5");
  EXPECT_EQ(error(R"({"text": "a", "code": "UNAVAILABLE"})"),
            "/expect_error/text: unknown; known here: code, contains, kind, message");
}

TEST(ParseScenario, RefusesAWrongCommand) {
  EXPECT_EQ(StepError(R"({"kind": "command"})"), "/command: is missing");
  EXPECT_EQ(StepError(R"({"kind": "command", "command": []})"),
            "/command: a command has at least a name");
  EXPECT_EQ(StepError(R"({"kind": "command", "command": "PING"})"),
            "/command: expected an array of strings, got \"PING\"");
  EXPECT_EQ(StepError(R"({"kind": "command", "command": ["INCRBY", "n", 1]})"),
            "/command: expected a string, got 1");
  EXPECT_TRUE(StepError(R"({"kind": "command", "command": ["GET", "k"], "expect": [true]})")
                  .starts_with("/expect/0: expected a reply"));
}

TEST(ParseScenario, RefusesAWrongAdvance) {
  EXPECT_EQ(StepError(R"({"kind": "advance"})"), ": expected either \"by\" or \"to\"");
  EXPECT_EQ(StepError(R"({"kind": "advance", "by": "1s", "to": "2026-05-10T00:00:00Z"})"),
            ": expected either \"by\" or \"to\"");
  for (const std::string_view by : {"soon", "-1s", "0s", "inf", "1ns", "1d", ""}) {
    EXPECT_EQ(
        StepError(R"({"kind": "advance", "by": ")" + std::string(by) + "\"}"),
        "/by: expected a duration such as \"1m30s\" or \"1ms\", in whole microseconds, got \"" +
            std::string(by) + "\"");
  }
  EXPECT_TRUE(StepError(R"({"kind": "advance", "to": "noon"})").starts_with("/to: "));
}

TEST(ParseScenario, RefusesAWrongFault) {
  EXPECT_EQ(StepError(R"({"kind": "fault"})"), "/fault: is missing");
  EXPECT_EQ(StepError(R"({"kind": "fault", "fault": "earthquake"})"),
            "/fault: unknown fault \"earthquake\"; known: flush, restart");
  EXPECT_EQ(StepError(R"({"kind": "fault", "fault": "flush", "in_flight": "not sent"})"),
            "/in_flight: this fault leaves connections alone");
  for (const std::string_view kind : {"server", "lost"}) {
    EXPECT_EQ(StepError(R"({"kind": "fault", "fault": "restart", "in_flight": ")" +
                        std::string(kind) + "\"}"),
              "/in_flight: expected \"not sent\" or \"outcome unknown\"");
  }
}

TEST(ParseScenario, RefusesCallsThatDoNotFit) {
  EXPECT_EQ(StepError(R"({"kind": "start", "operation": "hit"})"), "/call: is missing");
  EXPECT_EQ(StepError(R"({"kind": "step", "call": "a"})"),
            "/call: \"a\" is not under way: no start step names it");
  EXPECT_EQ(StepError(R"({"kind": "step", "call": ""})"),
            "/call: \"\" is not under way: no start step names it");
  EXPECT_EQ(StepError(R"({"kind": "finish", "call": "a"})"),
            "/call: \"a\" is not under way: no start step names it");
  constexpr std::string_view kStart = R"([{"kind": "start", "call": "a", "operation": "hit"})";
  const std::string start(kStart);
  EXPECT_EQ(ErrorOf(WithSteps(start + "]")),
            "x.json: /steps: the call \"a\" is started and never finished");
  EXPECT_EQ(ErrorOf(WithSteps(start + R"(, {"kind": "start", "call": "a", "operation": "hit"}])")),
            "x.json: step 1: /steps/1/call: \"a\" was started before");
  EXPECT_EQ(ErrorOf(WithSteps(start + R"(, {"kind": "finish", "call": "a"},
                                          {"kind": "step", "call": "a"}])")),
            "x.json: step 2: /steps/2/call: \"a\" is not under way: it was finished before");
  EXPECT_EQ(ErrorOf(WithSteps(start + R"(, {"kind": "step", "call": "a", "sends": "GET"}])")),
            "x.json: step 1: /steps/1/sends: expected commands such as [[\"GET\", \"k\"]]");
  EXPECT_EQ(ErrorOf(WithSteps(start + R"(, {"kind": "step", "call": "a", "sends": ["GET"]}])")),
            "x.json: step 1: /steps/1/sends/0: expected an array of strings, got \"GET\"");
}

TEST(ParseScenario, RefusesAWrongKeyspace) {
  const auto error = [](std::string_view keys) {
    return StepError(R"({"kind": "expect_keyspace", "keys": )" + std::string(keys) + "}");
  };
  EXPECT_EQ(StepError(R"({"kind": "expect_keyspace"})"), "/keys: is missing");
  EXPECT_EQ(error("[]"), "/keys: expected an object, got []");
  EXPECT_EQ(error(R"({"a/b": 7})"), "/keys/a~1b: expected an object, got 7");
  EXPECT_EQ(error(R"({"k": {"type": "string"}})"), "/keys/k/value: is missing");
  EXPECT_EQ(error(R"({"k": {"value": "v"}})"), "/keys/k/type: is missing");
  EXPECT_EQ(error(R"({"k": {"type": "string", "value": "v", "ttl_ms": "70"}})"),
            "/keys/k/ttl_ms: expected an integer, got \"70\"");
  EXPECT_EQ(error(R"({"k": {"type": "string", "value": "v", "ttl_ms": -1}})"),
            "/keys/k/ttl_ms: leave it out when the key never expires");
  EXPECT_EQ(error(R"({"k": {"type": "string", "value": "v", "ttl": -1}})"),
            "/keys/k/ttl: leave it out when the key never expires");
  EXPECT_EQ(error(R"({"k": {"type": "string", "value": "v", "ttl": 1, "ttl_ms": 1000}})"),
            "/keys/k/ttl: given beside ttl_ms; one says it all");
  EXPECT_EQ(error(R"({"k": {"type": "strung", "value": "v"}})"),
            "/keys/k/value: no value is known for type \"strung\"");
  EXPECT_EQ(error(R"({"k": {"type": "string", "value": 1}})"),
            "/keys/k/value: expected a string, got 1");
  EXPECT_TRUE(error(R"({"bytes:\\q": null})").starts_with("/keys/bytes:\\q: "));
  EXPECT_EQ(error(R"({"a": null, "bytes:a": null})"),
            "/keys/bytes:a: the same key under two names");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
