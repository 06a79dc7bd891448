#include "redouble/tests/golden/replay/golden.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/golden/golden_for_test.h"

namespace redouble::inline v0_1::golden {
namespace {

std::string ErrorOf(const std::string& text, System system, const Scripts& scripts = {}) {
  const absl::StatusOr<Golden> golden = ParseGolden(text, "x.json", system, scripts);
  EXPECT_FALSE(golden.ok()) << text;
  return std::string(golden.status().message());
}

// A gateway golden with these operations.
std::string Gateway(const std::string& ops, const std::string& keyspace = "{}") {
  return R"({"name":"n","description":"d","ops":)" + ops + R"(,"keyspace":)" + keyspace + "}";
}

std::string Timeline(const std::string& steps) { return R"({"name":"n","steps":)" + steps + "}"; }

TEST(System, IsFoundByItsName) {
  EXPECT_EQ(FindSystem("korvet"), System::kKorvet);
  EXPECT_EQ(SystemName(System::kKorvet), "korvet");
  EXPECT_EQ(FindSystem("Korvet"), std::nullopt);
  EXPECT_EQ(SystemNames(), "gateway|orchestrator|relayna|korvet|threescale");
}

TEST(ParseGolden, ReadsOperationsWithTheirRepliesAndTheFirstTimeNamed) {
  const Golden golden = MustParse(ReadGatewayGolden("rate_limit_basic"), System::kGateway);
  EXPECT_EQ(golden.name, "rate_limit_basic");
  EXPECT_EQ(golden.start, absl::FromUnixSeconds(1778335382));  // 2026-05-09T14:03:02Z
  ASSERT_EQ(golden.steps.size(), 3u);
  const RecordedStep& step = golden.steps[2];
  EXPECT_EQ(step.op, "check_request_rate_limit");
  EXPECT_EQ(step.arguments["limit"], 2);
  EXPECT_EQ((*step.result)["count"], 3);
  ASSERT_EQ(step.commands.size(), 5u);
  EXPECT_EQ(step.commands[4].path, "/ops/2/commands/4");
  EXPECT_EQ(step.commands[4].reply_path, "/ops/2/commands/4/reply");
  EXPECT_EQ(step.commands[4].words[0], "TTL");
  EXPECT_EQ(*step.commands[4].reply, 70);
  ASSERT_EQ(golden.keyspace->size(), 1u);
  EXPECT_EQ(golden.keyspace->begin()->second.ttl, 70);
}

TEST(ParseGolden, KeepsTheTablesOfAFileWithoutOperations) {
  const Golden golden = MustParse(ReadGatewayGolden("float_format_client"), System::kGateway);
  EXPECT_EQ(golden.tables.at("rows").size(), 20u);
  const Json table = {{"name", "n"},
                      {"ops", Json::array()},
                      {"keyspace", Json::object()},
                      {"encode", Json::array({1})}};
  EXPECT_TRUE(MustParse(table, System::kKorvet).tables.contains("encode"));
}

TEST(ParseGolden, ReadsAMonitorTraceWithoutRepliesAndItsMessages) {
  const Golden golden = MustParse(
      Json::parse(R"({"name":"n","ops":[{"op":"status.get","args":{},"now":"2026-01-01T12:00:00Z",
          "error":{"type":"ResponseError","message":"m"},"http":1,"commands":[["GET","k"]]}],
          "keyspace":{},"published":[{"channel":"c","message":"m"}]})"),
      System::kRelayna);
  EXPECT_EQ(golden.steps[0].commands[0].reply, std::nullopt);
  EXPECT_EQ((*golden.steps[0].error)["type"], "ResponseError");
  EXPECT_EQ(golden.published->size(), 1u);
}

TEST(ParseGolden, ReadsRoundTripsAndExpandsAnAbbreviatedOne) {
  const Golden golden =
      MustParse(Json::parse(R"({"name":"n","ops":[{"op":"o","now":"2025-04-23T17:42:39Z","args":{},
          "round_trips":[[["INCR","a"],["... 5 more"]],[["INCR","a"],["INCR","b"]]]}],
          "keyspace":{}})"),
                System::kThreescale);
  ASSERT_EQ(golden.steps[0].commands.size(), 8u);
  EXPECT_EQ(golden.steps[0].commands[5].words[1], "b");
  EXPECT_EQ(golden.steps[0].commands[5].path, "/ops/0/round_trips/0/5");
}

TEST(ParseGolden, ReadsRacesOfNamedClients) {
  const Golden golden = MustParse(
      Json::parse(R"({"name":"n","steps":[{"client":"A","command":["GET","k"],"reply":null}],
          "keyspace":{}})"),
      System::kThreescale);
  EXPECT_EQ(golden.steps[0].commands[0].connection, "A");
  EXPECT_TRUE(golden.steps[0].commands[0].reply->is_null());
}

TEST(ParseGolden, ReadsATimelineOfNamedConnectionsAndScripts) {
  const Golden golden = MustParse(
      Json::parse(Timeline(R"([{"at_ms":0,"commands":[["@ui","EVAL","@f","0"]],"replies":[1],
          "keyspace":{}},{"at_ms":5,"commands":[],"replies":[],"keyspace":{},
          "deliveries":[{"conn":"@ui","message":["message","c","m"]}]}])")),
      System::kOrchestrator, "x.json", {{"f", "return 1"}});
  const RecordedCommand& command = golden.steps[0].commands[0];
  EXPECT_EQ(command.connection, "@ui");
  EXPECT_EQ(command.words, (std::vector<std::string>{"EVAL", "return 1", "0"}));
  EXPECT_EQ(*command.reply, 1);
  EXPECT_EQ(command.reply_path, "/steps/0/replies/0");
  EXPECT_EQ(golden.steps[1].at, absl::Milliseconds(5));
  EXPECT_EQ(golden.steps[1].messages.size(), 1u);
  EXPECT_EQ(golden.keyspace, std::nullopt);
}

struct Refusal {
  System system;
  std::string text;
  std::string error;
};

// Checks that every error names the place and what was expected there.
void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const std::string error = ErrorOf(refusal.text, refusal.system);
    EXPECT_NE(error.find(refusal.error), std::string::npos) << refusal.text << "\n" << error;
  }
}

TEST(ParseGolden, RefusesMalformedGoldensOfTheGateway) {
  ExpectRefused({
      {System::kGateway, "{", "line 1"},
      {System::kGateway, "[]", "the file: expected an object of \"name\", \"ops\", \"keyspace\""},
      {System::kGateway, R"({"name":"n","ops":[]})", "expected the member \"keyspace\""},
      {System::kGateway, R"({"name":7,"ops":[],"keyspace":{}})", "/name: expected a text"},
      {System::kGateway, R"({"name":"n","steps":[],"ops":[1],"keyspace":{}})",
       "expected no member \"steps\""},
      {System::kGateway, Gateway("{}"), "/ops: expected an array, got {}"},
      {System::kGateway, Gateway("[7]"), "/ops/0: expected an object of \"op\", \"commands\""},
      {System::kGateway, Gateway(R"([{"op":"raw"}])"), "/ops/0: expected the member \"commands\""},
      {System::kGateway, Gateway(R"([{"op":7,"commands":[]}])"), "/ops/0/op: expected a text"},
      {System::kGateway, Gateway(R"([{"op":"raw","commands":{}}])"), "/ops/0/commands: expected"},
      {System::kGateway, Gateway(R"([{"op":"a","args":[],"commands":[]}])"), "/ops/0/args"},
      {System::kGateway, Gateway(R"([{"op":"a","args":{"now":"noon"},"commands":[]}])"),
       "expected an RFC 3339 time"},
      {System::kGateway, Gateway(R"([{"op":"raw","commands":[{"cmd":["PING"]}]}])"),
       "/ops/0/commands/0: expected the member \"reply\""},
      {System::kGateway, Gateway(R"([{"op":"raw","commands":[{"cmd":[],"reply":1}]}])"),
       "/ops/0/commands/0/cmd: expected a command"},
      {System::kGateway, Gateway(R"([{"op":"raw","commands":[{"cmd":["GET",7],"reply":1}]}])"),
       "/ops/0/commands/0/cmd: expected a command"},
      {System::kGateway, Gateway("[]", "[]"), "/keyspace: expected an object of keys"},
      {System::kGateway, Gateway("[]", R"({"k":{"type":"string","value":"v"}})"),
       "/keyspace/k: expected the member \"ttl\""},
      {System::kGateway, Gateway("[]", R"({"k":{"type":"string","value":"v","ttl":-2}})"),
       "/keyspace/k/ttl: expected whole seconds"},
      {System::kGateway, Gateway("[]", R"({"k":{"type":1,"value":"v","ttl":1}})"),
       "/keyspace/k/type: expected a text"},
  });
}

TEST(ParseGolden, RefusesMalformedGoldensOfTheOtherSystems) {
  ExpectRefused({
      {System::kRelayna, R"({"name":"n","ops":[],"keyspace":{},"published":{}})",
       "/published: expected an array"},
      {System::kRelayna, R"({"name":"n","ops":[{"op":"o","args":{},"now":"2026-01-01T12:00:00Z",
          "commands":7}],"keyspace":{},"published":[]})",
       "/ops/0/commands: expected an array of commands"},
      {System::kThreescale, R"({"name":"n","ops":[{"op":"o","now":"2026-01-01T12:00:00Z","args":{},
          "round_trips":7}],"keyspace":{}})",
       "/ops/0/round_trips: expected an array"},
      {System::kThreescale, R"({"name":"n","ops":[{"op":"o","now":"2026-01-01T12:00:00Z","args":{},
          "round_trips":[[["INCR","a"],["... 4 more"]],[["INCR","a"],["INCR","b"]]]}],
          "keyspace":{}})",
       "/ops/0/round_trips/0: expected another round trip"},
      {System::kThreescale, R"({"name":"n","steps":[{"client":1,"command":["PING"],"reply":1}],
          "keyspace":{}})",
       "/steps/0/client: expected a text"},
      {System::kOrchestrator, Timeline(R"([{"at_ms":0,"commands":[],"keyspace":{}}])"),
       "/steps/0: expected the member \"replies\""},
      {System::kOrchestrator,
       Timeline(R"([{"at_ms":0,"commands":[["PING"]],"replies":[],"keyspace":{}}])"),
       "/steps/0/replies: expected an array with one reply per command"},
      {System::kOrchestrator, Timeline(R"([{"at_ms":5,"commands":[],"replies":[],"keyspace":{}},
                    {"at_ms":4,"commands":[],"replies":[],"keyspace":{}}])"),
       "/steps/1/at_ms: expected milliseconds, not before the step before"},
      {System::kOrchestrator,
       Timeline(R"([{"at_ms":0,"commands":[["@ui"]],"replies":[1],"keyspace":{}}])"),
       "/steps/0/commands/0: expected a command behind the connection"},
      {System::kOrchestrator,
       Timeline(R"([{"at_ms":0,"commands":[["EVAL","@g","0"]],"replies":[1],"keyspace":{}}])"),
       "/steps/0/commands/0: expected a script of scripts.json beside the file, got \"@g\""},
  });
}

TEST(ParseScripts, AcceptsOnlyTexts) {
  EXPECT_EQ(ParseScripts(R"({"f":"return 1"})")->at("f"), "return 1");
  EXPECT_FALSE(ParseScripts("[]").ok());
  EXPECT_FALSE(ParseScripts("{").ok());
  EXPECT_EQ(ParseScripts(R"({"f":1})").status().message(),
            "/f: expected the text of a script, got 1");
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
