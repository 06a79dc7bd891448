#include "redouble/sim/scenario/runner.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/json/json_double.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/scenario/memory_backend.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using testing::HasSubstr;

// A small system: counters that lose updates if two clients add at the same time.
base::Task<OperationResult> Read(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto value, co_await store::Get(context.store, key));
  co_return value ? Json(*value) : Json();
}

base::Task<OperationResult> Add(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  const int64_t amount = reader.IntegerOr("amount", 1);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto before, co_await store::Get(context.store, key));
  const int64_t sum = (before ? std::stoll(*before) : 0) + amount;
  const std::string text = std::to_string(sum);
  const auto set = co_await store::Set(context.store, key, text);
  REDOUBLE_CO_RETURN_IF_ERROR(set.status());
  co_return Json{{"sum", sum}};
}

base::Task<OperationResult> Hit(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string key = reader.String("key");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::Incr(context.store, key));
  co_return Json(count);
}

base::Task<OperationResult> Sleep(OperationContext context, const Json&) {
  co_await context.clock.Sleep(absl::Seconds(10));
  co_return JsonDouble(absl::ToDoubleSeconds(context.clock.Now() - absl::UnixEpoch()));
}

base::Task<OperationResult> Draw(OperationContext context, const Json&) {
  co_return Json(context.rng.Below(1'000'000));
}

base::Task<OperationResult> Swap(OperationContext context, const Json&) {
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(store::CommandId::kSet, {"a", "1"});
  batch.Add(store::CommandId::kSet, {"b", "2"});
  const auto replies = co_await store::Execute(context.store, batch);
  REDOUBLE_CO_RETURN_IF_ERROR(replies.status());
  co_return Json("ok");
}

const SystemTable& Systems() {
  static const SystemTable* const systems = [] {
    auto* table = new SystemTable();
    OperationTable& operations = (*table)["counter"];
    operations.Add("read", Read);
    operations.Add("add", Add);
    operations.Add("hit", Hit);
    operations.Add("sleep", Sleep);
    operations.Add("draw", Draw);
    operations.Add("swap", Swap);
    return table;
  }();
  return *systems;
}

Scenario Parse(std::string_view steps, int seed = 1) {
  const std::string text =
      R"({"name": "n", "description": "d", "system": "counter", "start": "1970-01-01T00:00:00Z",
          "seed": )" +
      std::to_string(seed) + R"(, "steps": [)" + std::string(steps) + "]}";
  absl::StatusOr<Scenario> scenario = ParseScenario(text, "x.json", Systems());
  EXPECT_THAT(scenario, IsOk());
  return scenario.ok() ? *std::move(scenario) : Scenario();
}

ScenarioResult RunSteps(std::string_view steps, int seed = 1) {
  MemoryBackend backend;
  return RunScenario(Parse(steps, seed), backend);
}

// Removes the line of a failure with the command or call, which most tests here know.
std::string WithoutSentLine(std::string text) {
  for (const char* begin : {"\n  command:  ", "\n  call:     "}) {
    const size_t at = text.find(begin);
    if (at != std::string::npos) text.erase(at, text.find('\n', at + 1) - at);
  }
  return text;
}

// Returns an empty string if the steps pass, otherwise the failure as text.
std::string Failure(std::string_view steps) {
  const Scenario scenario = Parse(steps);
  MemoryBackend backend;
  const ScenarioResult result = RunScenario(scenario, backend);
  return result.failure ? WithoutSentLine(result.failure->ToString(scenario)) : "";
}

constexpr char kPassed[] = "";

std::string NotAsExpected(std::string_view place, std::string_view expected, std::string_view got) {
  return "x.json: " + std::string(place) +
         ": not as expected\n- expected: " + std::string(expected) +
         "\n+ got:      " + std::string(got) + "\n";
}

TEST(StepFailure, PrintsWhatWasSentAndEveryDifference) {
  const Scenario scenario = Parse(
      R"({"kind": "command", "command": ["RPUSH", "l", "a b", "", "c"]},
         {"kind": "command", "command": ["LRANGE", "l", "0", "-1"], "expect": ["a", "", "d", "e"]})");
  MemoryBackend backend;
  const ScenarioResult result = RunScenario(scenario, backend);
  ASSERT_TRUE(result.failure.has_value());
  EXPECT_EQ(result.failure->ToString(scenario),
            "x.json: step 1 (command): /steps/1/expect/0: not as expected\n"
            "  command:  LRANGE l 0 -1\n"
            "- expected: \"a\"\n+ got:      \"a b\"\n"
            "at /steps/1/expect/2:\n- expected: \"d\"\n+ got:      \"c\"\n"
            "at /steps/1/expect/3:\n- expected: \"e\"\n+ got:      nothing\n");
  const Scenario quoted =
      Parse(R"({"kind": "command", "command": ["SET", "a b", "", "NX"], "expect": 1})");
  EXPECT_THAT(RunScenario(quoted, backend).failure->ToString(quoted),
              HasSubstr("\n  command:  SET \"a b\" \"\" NX\n"));
  const Scenario call = Parse(
      R"({"kind": "call", "operation": "add", "arguments": {"key": "n", "amount": 2},
          "expect": {"sum": 3}})");
  EXPECT_THAT(RunScenario(call, backend).failure->ToString(call),
              HasSubstr("\n  call:     add {\"key\":\"n\",\"amount\":2}\n"));
}

TEST(CallStep, PassesOrFailsByItsResult) {
  EXPECT_EQ(Failure(R"({"kind": "call", "operation": "add", "arguments": {"key": "n", "amount": 2},
                        "expect": {"sum": 2}})"),
            kPassed);
  EXPECT_EQ(Failure(R"({"kind": "call", "operation": "add", "arguments": {"key": "n", "amount": 2},
                        "expect": {"sum": 3}})"),
            NotAsExpected("step 0 (call add): /steps/0/expect/sum", "3", "2"));
  EXPECT_EQ(Failure(R"({"kind": "call", "operation": "read", "arguments": {"key": "n"},
                        "expect": "1"})"),
            NotAsExpected("step 0 (call read): /steps/0/expect", "\"1\"", "null"));
}

constexpr char kHitText[] = R"({"kind": "command", "command": ["SET", "n", "text"]},
                               {"kind": "call", "operation": "hit", "arguments": {"key": "n"})";
constexpr char kHitError[] = "ERR value is not an integer or out of range";

TEST(CallStep, WithoutExpectationStillHasToSucceed) {
  EXPECT_EQ(Failure(R"({"kind": "call", "operation": "hit", "arguments": {"key": "n"}})"), kPassed);
  EXPECT_EQ(Failure(std::string(kHitText) + "}"),
            NotAsExpected("step 1 (call hit): /steps/1/expect", "success",
                          "error INVALID_ARGUMENT: " + std::string(kHitError)));
}

TEST(CallStep, PassesOrFailsByItsError) {
  const auto failure = [](std::string_view error) {
    return Failure(std::string(kHitText) + R"(, "expect_error": {)" + std::string(error) + "}}");
  };
  const std::string place = "step 1 (call hit): /steps/1/expect_error/";
  const std::string text = "\"" + std::string(kHitError) + "\"";
  EXPECT_EQ(failure(R"("code": "INVALID_ARGUMENT", "kind": "server", "contains": "integer")"),
            kPassed);
  EXPECT_EQ(failure(R"("message": )" + text), kPassed);
  EXPECT_EQ(failure(R"("code": "UNAVAILABLE")"),
            NotAsExpected(place + "code", "\"UNAVAILABLE\"", "\"INVALID_ARGUMENT\""));
  EXPECT_EQ(failure(R"("kind": "not sent")"),
            NotAsExpected(place + "kind", "\"not sent\"", "\"server\""));
  EXPECT_EQ(failure(R"("contains": "purple")"),
            NotAsExpected(place + "contains", "\"purple\"", text));
  EXPECT_EQ(failure(R"("message": "purple")"),
            NotAsExpected(place + "message", "\"purple\"", text));
}

TEST(CallStep, FailsWhenAResultIsExpectedAndAnErrorComes) {
  EXPECT_EQ(Failure(std::string(kHitText) + R"(, "expect": 1})"),
            NotAsExpected("step 1 (call hit): /steps/1/expect", "1",
                          "error INVALID_ARGUMENT: " + std::string(kHitError)));
}

TEST(CallStep, FailsWhenAnErrorIsExpectedAndNoneComes) {
  EXPECT_EQ(Failure(R"({"kind": "call", "operation": "read", "arguments": {"key": "n"},
                        "expect_error": {"code": "UNAVAILABLE"}})"),
            NotAsExpected("step 0 (call read): /steps/0/expect_error", R"({"code":"UNAVAILABLE"})",
                          "null"));
}

TEST(CallStep, SaysWhichArgumentIsWrong) {
  EXPECT_EQ(
      Failure(R"({"kind": "call", "operation": "add", "arguments": {"key": "n", "amount": "x"},
                        "expect_error": {"code": "INVALID_ARGUMENT"}})"),
      "x.json: step 0 (call add): /steps/0/arguments/amount: expected an integer, got \"x\"\n");
}

TEST(CallStep, FailsWhenItWaits) {
  EXPECT_TRUE(Failure(R"({"kind": "call", "operation": "sleep"})")
                  .starts_with("x.json: step 0 (call sleep): /steps/0: the call does not end: "));
}

TEST(CallStep, DrawsFromTheSeedOfTheScenario) {
  std::vector<std::string> drawn;
  for (const int seed : {1, 1, 2}) {
    const ScenarioResult result =
        RunSteps(R"({"kind": "call", "operation": "draw", "expect": "?"})", seed);
    drawn.push_back(result.failure->got);
  }
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
}

TEST(CommandStep, PassesOrFailsByItsReply) {
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["SET", "k", "bytes:\\xff"],
                        "expect": {"status": "OK"}},
                       {"kind": "command", "command": ["GET", "k"], "expect": "bytes:\\xff"},
                       {"kind": "command", "command": ["MGET", "k", "x"],
                        "expect": ["bytes:\\xff", null]},
                       {"kind": "command", "command": ["INCR", "k"],
                        "expect": {"error": "ERR value is not an integer or out of range"}},
                       {"kind": "command", "command": ["DEL", "k"], "expect": 1})"),
            kPassed);
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["INCR", "n"], "expect": 2})"),
            NotAsExpected("step 0 (command): /steps/0/expect", "2", "1"));
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["INCR", "n"], "expect": "1"})"),
            NotAsExpected("step 0 (command): /steps/0/expect", "\"1\"", "1"));
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["MGET", "a", "b"], "expect": [null, 1]})"),
            NotAsExpected("step 0 (command): /steps/0/expect/1", "1", "null"));
}

TEST(CommandStep, WithoutExpectationMustNotBeAnError) {
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["SET", "k", "v"]})"), kPassed);
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["GET"]})"),
            NotAsExpected("step 0 (command): /steps/0/expect", "any reply but an error",
                          R"({"error":"ERR wrong number of arguments for 'get' command"})"));
}

TEST(CommandStep, HasAConnectionPerClient) {
  EXPECT_EQ(Failure(R"({"kind": "command", "client": "a", "command": ["MULTI"]},
                       {"kind": "command", "client": "a", "command": ["INCR", "n"],
                        "expect": {"status": "QUEUED"}},
                       {"kind": "command", "client": "b", "command": ["INCR", "n"], "expect": 1},
                       {"kind": "command", "client": "a", "command": ["EXEC"], "expect": [2]})"),
            kPassed);
}

TEST(AdvanceStep, MovesTheClockOfServerAndClients) {
  const ScenarioResult result = RunSteps(
      R"({"kind": "command", "command": ["SET", "k", "v", "PX", "1000"]},
         {"kind": "advance", "by": "1s"},
         {"kind": "command", "command": ["PTTL", "k"], "expect": 0},
         {"kind": "advance", "to": "1970-01-01T00:00:01.001Z"},
         {"kind": "command", "command": ["PTTL", "k"], "expect": -2})");
  EXPECT_FALSE(result.failure) << result.failure->message;
  EXPECT_EQ(result.start, absl::UnixEpoch());
  EXPECT_EQ(result.end, absl::FromUnixMillis(1001));
  EXPECT_EQ(result.commands, 3);
}

TEST(AdvanceStep, FailsWhenItWouldGoBack) {
  EXPECT_EQ(Failure(R"({"kind": "advance", "by": "2s"},
                       {"kind": "advance", "to": "1970-01-01T00:00:01Z"})"),
            "x.json: step 1 (advance): /steps/1/to: time does not go back\n"
            "- expected: 1970-01-01T00:00:01Z\n+ got:      1970-01-01T00:00:02Z\n");
}

TEST(FaultStep, FlushEmptiesTheServerAndKeepsConnections) {
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["SET", "k", "v"]},
                       {"kind": "command", "command": ["SELECT", "1"]},
                       {"kind": "command", "command": ["SET", "l", "v"]},
                       {"kind": "fault", "fault": "flush"},
                       {"kind": "command", "command": ["EXISTS", "l"], "expect": 0},
                       {"kind": "command", "command": ["SET", "one", "v"]},
                       {"kind": "expect_keyspace", "keys": {}})"),
            kPassed);
}

TEST(FaultStep, RestartEmptiesTheServerAndBreaksConnections) {
  EXPECT_EQ(Failure(R"({"kind": "command", "command": ["SET", "k", "v"]},
                       {"kind": "command", "command": ["MULTI"]},
                       {"kind": "fault", "fault": "restart"},
                       {"kind": "command", "command": ["EXEC"],
                        "expect": {"error": "ERR EXEC without MULTI"}},
                       {"kind": "expect_keyspace", "keys": {}})"),
            kPassed);
}

TEST(FaultStep, RestartFailsWhatIsInFlightAsItSays) {
  const auto race = [](std::string_view in_flight, std::string_view kind) {
    return Failure(R"({"kind": "start", "call": "a", "operation": "add", "arguments": {"key": "n"}},
                      {"kind": "step", "call": "a"},
                      {"kind": "fault", "fault": "restart", "in_flight": ")" +
                   std::string(in_flight) + R"("},
                      {"kind": "finish", "call": "a", "expect_error": {"kind": ")" +
                   std::string(kind) + R"("}},
                      {"kind": "expect_keyspace", "keys": {}})");
  };
  EXPECT_EQ(race("outcome unknown", "outcome unknown"), kPassed);
  EXPECT_EQ(race("not sent", "not sent"), kPassed);
  EXPECT_EQ(race("not sent", "outcome unknown"),
            NotAsExpected("step 3 (finish): /steps/3/expect_error/kind", "\"outcome unknown\"",
                          "\"not sent\""));
}

TEST(FaultStep, RestartHasToSayWhatBecomesOfHeldCommands) {
  EXPECT_TRUE(Failure(R"({"kind": "start", "call": "a", "operation": "read",
                          "arguments": {"key": "n"}},
                         {"kind": "fault", "fault": "restart"},
                         {"kind": "finish", "call": "a"})")
                  .starts_with("x.json: step 1 (fault): /steps/1/in_flight: is missing: "));
}

constexpr char kRace[] =
    R"({"kind": "start", "call": "a", "operation": "add", "arguments": {"key": "n"}},
       {"kind": "start", "call": "b", "operation": "add", "arguments": {"key": "n"}},
       {"kind": "step", "call": "a", "sends": [["GET", "n"]]},
       {"kind": "step", "call": "b"},
       {"kind": "finish", "call": "a", "expect": {"sum": 1}},
       {"kind": "finish", "call": "b", "expect": {"sum": 1}},)";

TEST(StartedCalls, InterleaveCommandByCommand) {
  EXPECT_EQ(Failure(std::string(kRace) +
                    R"({"kind": "command", "command": ["GET", "n"], "expect": "1"})"),
            kPassed);
  EXPECT_EQ(Failure(std::string(kRace) +
                    R"({"kind": "command", "command": ["GET", "n"], "expect": "2"})"),
            NotAsExpected("step 6 (command): /steps/6/expect", "\"2\"", "\"1\""));
}

TEST(StartedCalls, SendNothingAtTheStart) {
  EXPECT_EQ(
      Failure(R"({"kind": "start", "call": "a", "operation": "add", "arguments": {"key": "n"}},
                       {"kind": "command", "command": ["DBSIZE"], "expect": 0},
                       {"kind": "finish", "call": "a"},
                       {"kind": "command", "command": ["DBSIZE"], "expect": 1})"),
      kPassed);
}

TEST(StepStep, ChecksWhatIsSent) {
  const std::string start =
      R"({"kind": "start", "call": "a", "operation": "swap"},
         {"kind": "step", "call": "a", "sends": )";
  const std::string finish = R"(}, {"kind": "finish", "call": "a"})";
  EXPECT_EQ(
      Failure(start + R"([["MULTI"], ["SET", "a", "1"], ["SET", "b", "2"], ["EXEC"]])" + finish),
      kPassed);
  EXPECT_EQ(
      Failure(start + R"([["MULTI"], ["SET", "a", "1"], ["SET", "b", "3"], ["EXEC"]])" + finish),
      NotAsExpected("step 1 (step): /steps/1/sends/2/2", "\"3\"", "\"2\""));
}

TEST(StepStep, FailsWhenNothingIsLeftToSend) {
  EXPECT_EQ(Failure(R"({"kind": "start", "call": "a", "operation": "draw"},
                       {"kind": "step", "call": "a"}, {"kind": "finish", "call": "a"})"),
            "x.json: step 1 (step): /steps/1/call: the call sends nothing more: it has ended\n");
  EXPECT_EQ(
      Failure(R"({"kind": "start", "call": "a", "operation": "sleep"},
                       {"kind": "step", "call": "a"}, {"kind": "finish", "call": "a"})"),
      "x.json: step 1 (step): /steps/1/call: the call sends nothing now: it waits for time\n");
}

TEST(FinishStep, PassesOrFailsByTheResult) {
  EXPECT_EQ(Failure(R"({"kind": "start", "call": "a", "operation": "sleep"},
                       {"kind": "advance", "by": "10s"},
                       {"kind": "finish", "call": "a", "expect": 10})"),
            kPassed);
  EXPECT_EQ(Failure(R"({"kind": "start", "call": "a", "operation": "sleep"},
                       {"kind": "advance", "by": "10s"},
                       {"kind": "finish", "call": "a", "expect": 11})"),
            NotAsExpected("step 2 (finish): /steps/2/expect", "11", "10.0"));
}

TEST(FinishStep, FailsWhenTheCallWaits) {
  EXPECT_TRUE(Failure(R"({"kind": "start", "call": "a", "operation": "sleep"},
                         {"kind": "advance", "by": "9s"},
                         {"kind": "finish", "call": "a"})")
                  .starts_with("x.json: step 2 (finish): /steps/2/call: the call does not end: "));
}

constexpr char kTwoKeys[] =
    R"({"kind": "command", "command": ["SET", "k", "v", "PX", "1500"]},
       {"kind": "command", "command": ["SET", "l", "w"]},
       {"kind": "expect_keyspace", )";

TEST(KeyspaceStep, PassesWhenAllIsAsExpected) {
  EXPECT_EQ(Failure(std::string(kTwoKeys) +
                    R"("keys": {"l": {"type": "string", "value": "w"},
                                "k": {"type": "string", "value": "v", "ttl_ms": 1500}}})"),
            kPassed);
  EXPECT_EQ(Failure(std::string(kTwoKeys) +
                    R"("subset": true, "keys": {"k": {"type": "string", "value": "v", "ttl": 2},
                                                "x": null}})"),
            kPassed);
}

TEST(KeyspaceStep, FailsOnAnyDifference) {
  const auto place = [](std::string_view path) {
    return "step 2 (expect_keyspace): /steps/2/keys/" + std::string(path);
  };
  const auto failure = [](std::string_view keys) {
    return Failure(std::string(kTwoKeys) + R"("subset": true, "keys": )" + std::string(keys) + "}");
  };
  EXPECT_EQ(failure(R"({"k": {"type": "string", "value": "u", "ttl_ms": 1500}})"),
            NotAsExpected(place("k/value"), "\"u\"", "\"v\""));
  EXPECT_EQ(failure(R"({"k": {"type": "string", "value": "v", "ttl_ms": 1499}})"),
            NotAsExpected(place("k/ttl_ms"), "1499", "1500"));
  EXPECT_EQ(failure(R"({"k": {"type": "string", "value": "v", "ttl": 1}})"),
            NotAsExpected(place("k/ttl"), "1", "2"));
  EXPECT_EQ(failure(R"({"k": {"type": "string", "value": "v"}})"),
            NotAsExpected(place("k/ttl_ms"), "nothing", "1500"));
  EXPECT_EQ(failure(R"({"l": {"type": "string", "value": "w", "ttl_ms": 5}})"),
            NotAsExpected(place("l/ttl_ms"), "5", "nothing"));
  EXPECT_EQ(failure(R"({"k": {"type": "list", "value": ["v"], "ttl_ms": 1500}})"),
            NotAsExpected(place("k/type"), "\"list\"", "\"string\"") +
                "at /steps/2/keys/k/value:\n- expected: [\"v\"]\n+ got:      \"v\"\n");
  EXPECT_EQ(failure(R"({"x": {"type": "string", "value": "v"}})"),
            NotAsExpected(place("x"), R"({"type":"string","value":"v"})", "nothing"));
  EXPECT_EQ(failure(R"({"l": null})"),
            NotAsExpected(place("l"), "nothing", R"({"type":"string","value":"w"})"));
}

TEST(KeyspaceStep, FailsOnAKeyTooManyUnlessASubsetIsAsked) {
  EXPECT_EQ(Failure(std::string(kTwoKeys) +
                    R"("keys": {"k": {"type": "string", "value": "v", "ttl_ms": 1500}}})"),
            NotAsExpected("step 2 (expect_keyspace): /steps/2/keys/l", "nothing",
                          R"({"type":"string","value":"w"})"));
}

TEST(RunScenario, HasTheVersionThatTheScenarioNeeds) {
  Scenario scenario = Parse(
      R"({"kind": "command", "command": ["HPTTL", "h", "FIELDS", "1", "f"],
          "expect": [-2]})");
  MemoryBackend backend;
  EXPECT_TRUE(RunScenario(scenario, backend).failure.has_value());
  scenario.compatibility = store::Version::kRedis74;
  EXPECT_FALSE(RunScenario(scenario, backend).failure.has_value());
}

// The memory engine with a clock that is not controlled.
class DriftingBackend final : public ScenarioBackend {
 public:
  absl::Status Begin(const ServerNeeds& needs) override { return memory_.Begin(needs); }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override { return memory_.Connect(); }
  base::Clock& clock() override { return memory_.clock(); }
  absl::Status AdvanceTo(absl::Time) override { return absl::UnimplementedError("time is real"); }
  absl::Status Flush() override { return absl::UnavailableError("flush failed"); }
  absl::Status Restart() override { return absl::UnimplementedError("not ours to restart"); }
  absl::Duration Drift() const override { return absl::Milliseconds(10); }

 private:
  MemoryBackend memory_;
};

std::string FailureWithDrift(std::string_view steps) {
  const Scenario scenario = Parse(steps);
  DriftingBackend backend;
  const ScenarioResult result = RunScenario(scenario, backend);
  return result.failure ? result.failure->ToString(scenario) : "";
}

TEST(KeyspaceStep, AllowsForTheDriftOfARealClock) {
  const auto failure = [](std::string_view ttl) {
    return FailureWithDrift(
        R"({"kind": "command", "command": ["SET", "k", "v", "PX", "69990"]},
           {"kind": "expect_keyspace", "keys": {"k": {"type": "string", "value": "v", )" +
        std::string(ttl) + "}}}");
  };
  EXPECT_EQ(failure(R"("ttl_ms": 69990)"), kPassed);
  EXPECT_EQ(failure(R"("ttl_ms": 70000)"), kPassed);
  EXPECT_EQ(failure(R"("ttl": 70)"), kPassed);
  EXPECT_NE(failure(R"("ttl_ms": 70001)"), kPassed);
  EXPECT_NE(failure(R"("ttl_ms": 69989)"), kPassed);
  EXPECT_NE(failure(R"("ttl": 71)"), kPassed);
}

TEST(RunScenario, SaysWhatTheBackendCannotDo) {
  EXPECT_EQ(FailureWithDrift(R"({"kind": "advance", "by": "1s"})"),
            "x.json: step 0 (advance): /steps/0: time is real\n");
  EXPECT_EQ(FailureWithDrift(R"({"kind": "fault", "fault": "restart"})"),
            "x.json: step 0 (fault): /steps/0: not ours to restart\n");
  EXPECT_EQ(FailureWithDrift(R"({"kind": "fault", "fault": "flush"})"),
            "x.json: step 0 (fault): /steps/0: flush failed\n");
}

// A server that must not be emptied, or that becomes unavailable.
class UnwillingBackend final : public ScenarioBackend {
 public:
  explicit UnwillingBackend(bool begins) : begins_(begins) {}

  absl::Status Begin(const ServerNeeds&) override {
    return begins_ ? absl::OkStatus() : absl::FailedPreconditionError("the database holds 7 keys");
  }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override {
    return absl::UnavailableError("connection refused");
  }
  base::Clock& clock() override { return clock_; }
  absl::Status AdvanceTo(absl::Time) override { return absl::OkStatus(); }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Restart() override { return absl::OkStatus(); }

 private:
  const bool begins_;
  base::VirtualClock clock_;
};

TEST(RunScenario, FailsWhenTheBackendDoesNotBegin) {
  const Scenario scenario = Parse(R"({"kind": "advance", "by": "1s"})");
  UnwillingBackend backend(/*begins=*/false);
  const ScenarioResult result = RunScenario(scenario, backend);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->ToString(scenario), "x.json: the database holds 7 keys\n");
  EXPECT_EQ(result.commands, 0);
}

TEST(RunScenario, FailsWhenNobodyAnswers) {
  UnwillingBackend backend(/*begins=*/true);
  const Scenario keyspace = Parse(R"({"kind": "expect_keyspace", "keys": {}})");
  EXPECT_EQ(RunScenario(keyspace, backend).failure->ToString(keyspace),
            "x.json: step 0 (expect_keyspace): /steps/0: connection refused\n");
  const Scenario command = Parse(R"({"kind": "command", "command": ["PING"]})");
  EXPECT_EQ(RunScenario(command, backend).failure->ToString(command),
            "x.json: step 0 (command): /steps/0/expect: not as expected\n"
            "  command:  PING\n"
            "- expected: any reply but an error\n"
            "+ got:      error UNAVAILABLE: connection refused\n");
}

TEST(RunScenario, StopsAtTheFirstFailure) {
  const ScenarioResult result = RunSteps(
      R"({"kind": "command", "command": ["INCR", "n"], "expect": 7},
         {"kind": "command", "command": ["INCR", "n"]})");
  EXPECT_EQ(result.failure->step, 0);
  EXPECT_EQ(result.commands, 1);
}

TEST(RunScenario, HasEqualTracesForEqualScenarios) {
  const std::string steps = std::string(kRace) + R"({"kind": "fault", "fault": "flush"})";
  EXPECT_EQ(RunSteps(steps).trace_hash, RunSteps(steps).trace_hash);
  EXPECT_EQ(RunSteps(steps).trace_hash.size(), 64u);
  EXPECT_NE(RunSteps(steps).trace_hash,
            RunSteps(steps + R"(, {"kind": "advance", "by": "1us"})").trace_hash);
}

TEST(RunScenario, BeginsAnewOnAUsedBackend) {
  MemoryBackend backend;
  const Scenario scenario = Parse(R"({"kind": "command", "command": ["INCR", "n"], "expect": 1},
                                     {"kind": "advance", "by": "1s"})");
  const ScenarioResult first = RunScenario(scenario, backend);
  const ScenarioResult second = RunScenario(scenario, backend);
  EXPECT_FALSE(first.failure);
  EXPECT_FALSE(second.failure);
  EXPECT_EQ(first.trace_hash, second.trace_hash);
}

TEST(RunScenario, TellsEachEventAsItHappens) {
  MemoryBackend backend;
  std::vector<std::string> lines;
  RunOptions options;
  options.trace_listener = [&](std::string_view line) { lines.emplace_back(line); };
  RunScenario(Parse(R"({"kind": "command", "command": ["incr", "n"]},
                       {"kind": "advance", "by": "1us"},
                       {"kind": "fault", "fault": "restart"})"),
              backend, options);
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                R"({"index":0,"us":0,"client":"main","command":["INCR","n"],"reply":1})",
                R"({"index":1,"us":1,"advance":1})", R"({"index":2,"us":1,"fault":"restart"})"}));
}

TEST(RunScenario, TellsWhenAStepIsOverAlsoTheOneThatFails) {
  MemoryBackend backend;
  std::vector<std::pair<int, std::string>> counts;
  RunOptions options;
  options.after_step = [&](int step) {
    const std::unique_ptr<store::Store> store = backend.Connect().value();
    counts.emplace_back(step, base::Run(store::Get(*store, "n")).value().value_or("none"));
  };
  RunScenario(Parse(R"({"kind": "command", "command": ["INCR", "n"]},
                       {"kind": "fault", "fault": "restart"},
                       {"kind": "command", "command": ["INCR", "n"], "expect": 7},
                       {"kind": "command", "command": ["INCR", "n"]})"),
              backend, options);
  EXPECT_EQ(counts, (std::vector<std::pair<int, std::string>>{{0, "1"}, {1, "none"}, {2, "1"}}));
}

// Runs the steps up to the event with that index. Returns the result and the remaining keys.
std::pair<ScenarioResult, std::string> RunUpTo(std::string_view steps, int64_t last_event) {
  MemoryBackend backend;
  RunOptions options;
  options.stop_after = [&, event = int64_t{0}](std::string_view) mutable {
    return event++ == last_event;
  };
  ScenarioResult result = RunScenario(Parse(steps), backend, options);
  const auto connection = backend.Connect().value();
  const std::vector<std::string> left = base::Run(store::ScanAll(*connection)).value();
  std::string keys;
  for (const std::string& key : left) keys += key + " ";
  return {std::move(result), keys};
}

TEST(RunScenario, StopsInsideACall) {
  // The call's first command is its GET; its SET never happens.
  const auto [result, keys] = RunUpTo(
      R"({"kind": "call", "operation": "add", "arguments": {"key": "n"}, "expect": {"sum": 1}},
         {"kind": "command", "command": ["SET", "m", "1"]})",
      0);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_EQ(result.commands, 1);
  EXPECT_EQ(keys, "");
}

TEST(RunScenario, FinishesACallWhoseLastCommandIsTheStop) {
  const auto [result, keys] = RunUpTo(
      R"({"kind": "call", "operation": "add", "arguments": {"key": "n"}, "expect": {"sum": 2}},
         {"kind": "command", "command": ["SET", "m", "1"]})",
      1);
  EXPECT_TRUE(result.stopped);
  EXPECT_TRUE(result.failure.has_value());
  EXPECT_EQ(keys, "n ");
}

TEST(RunScenario, EndsWhileAStartedCallIsUnderWay) {
  const auto [result, keys] = RunUpTo(
      R"({"kind": "start", "call": "one", "operation": "add", "arguments": {"key": "n"}},
         {"kind": "step", "call": "one"}, {"kind": "finish", "call": "one"},
         {"kind": "command", "command": ["SET", "m", "1"]})",
      0);
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_EQ(keys, "");
}

TEST(RunScenario, StopsWithTheClockAtTheStop) {
  const std::string steps =
      R"({"kind": "command", "command": ["SET", "n", "1", "PX", "5000"]},
         {"kind": "advance", "by": "4s"}, {"kind": "advance", "by": "4s"},
         {"kind": "command", "command": ["SET", "m", "1"]})";
  for (const auto& [until_s, dbsize] : {std::pair(0, 1), {4, 1}, {5, 1}, {6, 0}, {8, 1}}) {
    MemoryBackend backend;
    RunOptions options;
    options.until = absl::FromUnixSeconds(until_s);
    const ScenarioResult result = RunScenario(Parse(steps), backend, options);
    EXPECT_EQ(result.stopped, until_s < 8);
    EXPECT_EQ(result.end, options.until);
    EXPECT_THAT(base::Run(store::DbSize(*backend.Connect().value())), IsOkAndHolds(dbsize))
        << until_s;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
