#include "redouble/tests/golden/replay/raw_replay.h"

#include <filesystem>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/golden_for_test.h"
#include "redouble/tests/golden/replay/off_record.h"

namespace redouble::inline v0_1::golden {
namespace {

using Verdict = Outcome::Verdict;
using Pointer = Json::json_pointer;

Outcome Replay(const Golden& golden) {
  sim::MemoryBackend backend;
  return ReplayRaw(golden, backend);
}

Outcome Replay(const Json& json, System system = System::kGateway) {
  return Replay(MustParse(json, system));
}

// Returns the path of the first difference, or "passed".
std::string FailurePath(const Json& json, System system = System::kGateway) {
  const Outcome outcome = Replay(json, system);
  return outcome.difference ? outcome.difference->path : "passed";
}

constexpr char kKey[] = "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403";

TEST(ReplayRaw, PassesARecordingOfRedis) {
  const Outcome outcome = Replay(ReadGatewayGolden("rate_limit_basic"));
  EXPECT_EQ(outcome.verdict, Verdict::kPassed);
  EXPECT_EQ(outcome.note, "");
}

// Returns how many goldens of a folder of tests/data/golden pass; none may fail.
int ReplayFolder(std::string_view folder, System system) {
  const std::filesystem::path path = std::filesystem::path("tests/data/golden") / folder;
  Scripts scripts;
  if (exists(path / kScriptsFile))
    scripts = ParseScripts(memory::ReadFile(path / kScriptsFile).value()).value();
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || name == kScriptsFile) continue;
    const absl::StatusOr<Golden> golden =
        ParseGolden(memory::ReadFile(entry.path()).value(), name, system, scripts);
    EXPECT_TRUE(golden.ok()) << golden.status().message();
    if (!golden.ok()) continue;
    const Outcome outcome = Replay(*golden);
    EXPECT_FALSE(outcome.difference) << name << ": " << outcome.difference->ToString();
    if (outcome.verdict == Verdict::kPassed) ++passed;
  }
  return passed;
}

// Also where the systems themselves are not built: on an emulated processor.
TEST(ReplayRaw, PassesTheRecordingsOfEverySystem) {
  EXPECT_GT(ReplayFolder("gateway", System::kGateway), 0);
  EXPECT_GT(ReplayFolder("korvet", System::kKorvet), 0);
  EXPECT_GT(ReplayFolder("orchestrator", System::kOrchestrator), 0);
  EXPECT_GT(ReplayFolder("relayna", System::kRelayna), 0);
  EXPECT_GT(ReplayFolder("threescale", System::kThreescale), 0);
}

// Each change to a good golden is one that a wrong engine could make.
TEST(ReplayRaw, FailsADoctoredGoldenAtTheChangedPlace) {
  const std::string key = std::string("/keyspace/") + kKey;
  struct Doctoring {
    std::string place;
    Json value;
    std::string path;
  };
  const Doctoring doctorings[] = {
      {"/ops/1/commands/1/reply", "QUEUE", "/ops/1/commands/1/reply"},
      {"/ops/1/commands/3/reply/0", 3, "/ops/1/commands/3/reply/0"},
      {"/ops/2/commands/4/reply", 72, "/ops/2/commands/4/reply"},
      {"/ops/0/commands/0/reply", {{"error", "ERR"}}, "/ops/0/commands/0/reply"},
      {key + "/value", "4", key + "/value"},
      {key + "/type", "list", key + "/type"},
      {key + "/ttl", 72, key + "/ttl"},
      {key + "/ttl", 68, key + "/ttl"},
      {key + "/ttl", -1, key + "/ttl"},
      {"/keyspace/missing", {{"type", "string"}, {"value", "v"}, {"ttl", -1}}, "/keyspace/missing"},
      {"/keyspace", Json::object(), key},
  };
  for (const Doctoring& doctoring : doctorings) {
    Json json = ReadGatewayGolden("rate_limit_basic");
    json[Pointer(doctoring.place)] = doctoring.value;
    EXPECT_EQ(FailurePath(json), doctoring.path) << doctoring.place;
  }
}

TEST(ReplayRaw, SkipsAGoldenWithoutCommandsAndKeys) {
  const Outcome outcome = Replay(ReadGatewayGolden("check_budget_unlimited"));
  EXPECT_EQ(outcome.verdict, Verdict::kSkipped);
  EXPECT_EQ(outcome.note, "no commands recorded");
  Json json = ReadGatewayGolden("check_budget_unlimited");
  json["keyspace"]["k"] = {{"type", "string"}, {"value", "v"}, {"ttl", -1}};
  EXPECT_EQ(FailurePath(json), "/keyspace/k");
}

TEST(ReplayRaw, RunsNamedClientsOnConnectionsOfTheirOwn) {
  const auto race = [](const Json& reply) {
    return Json::parse(R"({"name":"n","keyspace":{},"steps":[
        {"client":"A","command":["MULTI"],"reply":"OK"},
        {"client":"B","command":["DEL","k"],"reply":0},
        {"client":"A","command":["DEL","k"],"reply":"QUEUED"},
        {"client":"A","command":["EXEC"],"reply":)" +
                       reply.dump() + "}]}");
  };
  EXPECT_EQ(FailurePath(race(Json::array({0})), System::kThreescale), "passed");
  EXPECT_EQ(FailurePath(race(Json::array({1})), System::kThreescale), "/steps/3/reply/0");
}

TEST(ReplayRaw, FailsACommandThatTheServerDoesNotHaveEvenWhenNoReplyWasRecorded) {
  const auto golden = [](const std::string& command) {
    return Json::parse(R"({"name":"n","keyspace":{},"published":[],"ops":[{"op":"o","args":{},
        "now":"2026-01-01T12:00:00Z","commands":[)" +
                       command + "]}]}");
  };
  EXPECT_EQ(FailurePath(golden(R"(["GET"])"), System::kRelayna), "passed");
  EXPECT_EQ(FailurePath(golden(R"(["NOSUCHCOMMAND","k"])"), System::kRelayna), "/ops/0/commands/0");
}

// Time of the orchestrator's goldens.

Json Timeline(const std::string& steps) {
  return Json::parse(R"({"name":"n","steps":)" + steps + "}");
}

TEST(ReplayRaw, AdvancesTheClockBetweenStepsOfATimeline) {
  const auto golden = [](const std::string& ttl) {
    return Timeline(R"([{"at_ms":0,"commands":[["SET","k","v","EX","10"]],"replies":["OK"],
        "keyspace":{"k":{"type":"string","value":"v","ttl":10}}},
        {"at_ms":4000,"commands":[["GET","k"]],"replies":["v"],
        "keyspace":{"k":{"type":"string","value":"v","ttl":)" +
                    ttl + "}}}]");
  };
  EXPECT_EQ(FailurePath(golden("6"), System::kOrchestrator), "passed");
  EXPECT_EQ(FailurePath(golden("10"), System::kOrchestrator), "/steps/1/keyspace/k/ttl");
}

TEST(ReplayRaw, RemovesAKeyWhoseTtlComesToZeroBetweenSteps) {
  EXPECT_EQ(FailurePath(Timeline(R"([{"at_ms":0,"commands":[["SET","k","v","EX","10"]],
      "replies":["OK"],"keyspace":{"k":{"type":"string","value":"v","ttl":10}}},
      {"at_ms":10000,"commands":[["GET","k"]],"replies":[null],"keyspace":{}}])"),
                        System::kOrchestrator),
            "passed");
}

TEST(ReplayRaw, ExpiresAKeyOfOneMillisecondBeforeTheRecorderReadsTheKeyspace) {
  EXPECT_EQ(FailurePath(Timeline(R"([{"at_ms":0,"commands":[["SET","k","v","PX","1"]],
      "replies":["OK"],"keyspace":{}}])"),
                        System::kOrchestrator),
            "passed");
}

TEST(ReplayRaw, KeepsABlockedCommandWaitingForLaterCommandsOrItsTimeout) {
  EXPECT_EQ(FailurePath(Timeline(R"([{"at_ms":0,"commands":[["@w","BLPOP","l","0"],
      ["RPUSH","l","a"],["@w","BLPOP","l","0.1"]],"replies":[["l","a"],1,null],"keyspace":{}}])"),
                        System::kOrchestrator),
            "passed");
  const Outcome outcome =
      Replay(Timeline(R"([{"at_ms":0,"commands":[["@w","BLPOP","l","0"]],"replies":[["l","a"]],
          "keyspace":{}}])"),
             System::kOrchestrator);
  ASSERT_TRUE(outcome.difference);
  EXPECT_EQ(outcome.difference->message, "the command still waits");
}

TEST(ReplayRaw, FailsWhenRecordedMessagesDoNotArrive) {
  EXPECT_EQ(FailurePath(Timeline(R"([{"at_ms":0,"commands":[],"replies":[],"keyspace":{
      "k":{"type":"string","value":"v","ttl":-1}},
      "deliveries":[{"conn":"@ui","message":["message","c","m"]}]}])"),
                        System::kOrchestrator),
            "/steps/0/deliveries/0");
}

// Set-up off the record.

TEST(ReplayRaw, CreatesKeysThatNoCommandCreated) {
  const Json json = Timeline(R"([{"at_ms":0,"commands":[["GET","s"],["DEL","gone"]],
      "replies":["v",0],"keyspace":{
      "s":{"type":"string","value":"v","ttl":60},"l":{"type":"list","value":["b","a"],"ttl":-1},
      "e":{"type":"set","value":["a"],"ttl":-1},"h":{"type":"hash","value":{"f":"1"},"ttl":-1}}},
      {"at_ms":1,"commands":[["DEL","l"]],"replies":[1],"keyspace":{
      "s":{"type":"string","value":"v","ttl":60},"e":{"type":"set","value":["a"],"ttl":-1},
      "h":{"type":"hash","value":{"f":"1"},"ttl":-1}}}])");
  const Outcome outcome = Replay(json, System::kOrchestrator);
  EXPECT_EQ(outcome.verdict, Verdict::kPassed) << outcome.difference->ToString();
  EXPECT_EQ(outcome.note, "4 keys set up off the record");
}

TEST(ReplayRaw, ReportsKeysThatCannotBeCreated) {
  const Outcome outcome = Replay(Timeline(R"([{"at_ms":0,"commands":[],"replies":[],"keyspace":{
      "x":{"type":"stream","value":{"entries":[],"groups":[]},"ttl":-1}}}])"),
                                 System::kOrchestrator);
  ASSERT_TRUE(outcome.difference);
  EXPECT_EQ(outcome.difference->message,
            "no recorded command made x, and a stream cannot be set up from its recorded value");
}

RecordedKeyspace OffRecord(const std::string& commands, const std::string& replies) {
  return KeysOffRecord(
      MustParse(Timeline(R"([{"at_ms":0,"commands":)" + commands + R"(,"replies":)" + replies +
                         R"(,"keyspace":{"k":{"type":"string","value":"v","ttl":-1}}}])"),
                System::kOrchestrator));
}

TEST(KeysOffRecord, AreThoseThatNoCommandCouldChange) {
  EXPECT_EQ(OffRecord(R"([["GET","k"]])", R"(["v"])").size(), 1u);
  EXPECT_EQ(OffRecord(R"([["SET","other","k2"]])", R"(["OK"])").size(), 1u);
  EXPECT_TRUE(OffRecord(R"([["SET","k","v"]])", R"(["OK"])").empty());
  EXPECT_TRUE(OffRecord(R"([["EVAL","return 1","1","k"]])", "[1]").empty());
  EXPECT_TRUE(OffRecord(R"([["FLUSHALL"]])", R"(["OK"])").empty());
  EXPECT_TRUE(OffRecord(R"([["NOSUCHCOMMAND"]])", R"([{"error":"ERR"}])").empty());
}

TEST(KeysOffRecord, AreEmptyForSystemsThatRecordEverything) {
  Json json = ReadGatewayGolden("check_budget_unlimited");
  json["keyspace"]["k"] = {{"type", "string"}, {"value", "v"}, {"ttl", -1}};
  EXPECT_TRUE(KeysOffRecord(MustParse(json, System::kGateway)).empty());
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
