#include "redouble/sim/cli/record/scenario_writer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/scenario/scenario.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kStartUs = 1'778'335'382'000'000;

class ScenarioWriterTest : public testing::Test {
 protected:
  void Add(int64_t after_us, std::vector<std::string> words, const std::string& client = "a:1",
           int db = 0) {
    writer_.Add(MonitorLine{kStartUs + after_us, db, client, std::move(words)});
  }

  // The commands, each as one line of JSON.
  std::vector<std::string> Commands() {
    std::vector<std::string> commands;
    const Json scenario = Json::parse(writer_.Text());
    for (const Json& step : scenario.at("steps")) {
      commands.push_back(step.contains("command") ? step["command"].dump()
                                                  : "by " + step["by"].get<std::string>());
    }
    return commands;
  }

  // Replays the text, which must pass.
  void ExpectReplays() {
    ASSERT_OK_AND_ASSIGN(const Scenario scenario, ParseScenario(writer_.Text(), "recorded", {}));
    MemoryBackend backend;
    const ScenarioResult result = RunScenario(scenario, backend);
    EXPECT_FALSE(result.failure.has_value()) << result.failure->ToString(scenario);
  }

  ScenarioWriter writer_{{.name = "case"}};
};

TEST_F(ScenarioWriterTest, KeepsTheDistancesInTime) {
  Add(0, {"SET", "k", "v", "PX", "1500"});
  Add(0, {"GET", "k"});
  Add(1'500'001, {"PTTL", "k"});
  Add(1'400'000, {"PTTL", "k"});  // The clock was set back.
  EXPECT_THAT(Commands(), ElementsAre(R"(["SET","k","v","PX","1500"])", R"(["GET","k"])",
                                      "by 1.500001s", R"(["PTTL","k"])", R"(["PTTL","k"])"));
  const Json scenario = Json::parse(writer_.Text());
  EXPECT_EQ(scenario.at("name"), "case");
  EXPECT_EQ(scenario.at("start"), "2026-05-09T14:03:02Z");
  EXPECT_EQ(scenario.at("steps")[1].at("expect"), "v");
  ExpectReplays();
}

TEST_F(ScenarioWriterTest, NamesClientsAndSelectsTheirDatabases) {
  Add(0, {"SET", "k", "1"}, "10.0.0.1:5", 0);
  Add(0, {"SET", "k", "2"}, "10.0.0.2:5", 3);
  Add(0, {"SELECT", "4"}, "10.0.0.1:5", 0);
  Add(0, {"GET", "k"}, "10.0.0.1:5", 4);
  EXPECT_THAT(Commands(), ElementsAre(R"(["SET","k","1"])", R"(["SELECT","3"])",
                                      R"(["SET","k","2"])", R"(["SELECT","4"])", R"(["GET","k"])"));
  const Json steps = Json::parse(writer_.Text()).at("steps");
  EXPECT_EQ(steps[0].at("client"), "client-1");
  EXPECT_EQ(steps[1].at("client"), "client-2");
  EXPECT_EQ(steps[4].at("client"), "client-1");
  EXPECT_TRUE(steps[4].at("expect").is_null());
  ExpectReplays();
}

TEST_F(ScenarioWriterTest, NamesGeneratedIdsTheSameEverywhere) {
  const std::string uuid = "0b8f5c3e-9a1d-4c0a-8a5e-1f2e3d4c5b6a";
  Add(0, {"SET", "session:" + uuid, "{\"id\":\"" + uuid + "\"}"});
  Add(0, {"SET", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "9f86d081884c7d65:x"});
  Add(0, {"SET", "1778335382000", "cafe deadbeef"});
  EXPECT_THAT(Commands(), ElementsAre(R"(["SET","session:id-1","{\"id\":\"id-1\"}"])",
                                      R"(["SET","id-2","id-3:x"])",
                                      R"(["SET","1778335382000","cafe deadbeef"])"));
  EXPECT_THAT(writer_.Notes(), ElementsAre("3 generated ids have names now"));
}

TEST_F(ScenarioWriterTest, LeavesScriptsAndTheirDigestsAlone) {
  const std::string sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";
  Add(0, {"SCRIPT", "LOAD", "return 'e0e1f9fabfc9d4800c877a70'"});
  Add(0, {"EVALSHA", sha, "1", sha});
  EXPECT_THAT(Commands(), ElementsAre(HasSubstr("'e0e1f9fabfc9d4800c877a70'"),
                                      R"(["EVALSHA",")" + sha + R"(","1","id-1"])"));
}

TEST_F(ScenarioWriterTest, KeepsIdsWhenToldTo) {
  ScenarioWriter writer({.keep_ids = true});
  writer.Add(MonitorLine{kStartUs, 0, "a", {"GET", "9f86d081884c7d65"}});
  EXPECT_THAT(writer.Text(), HasSubstr("9f86d081884c7d65"));
}

TEST_F(ScenarioWriterTest, WritesABlockedCommandAfterTheOneThatServesIt) {
  Add(0, {"BLPOP", "queue", "0"}, "worker");
  Add(1'000'000, {"RPUSH", "queue", "job"}, "producer");
  Add(1'000'000, {"BLPOP", "queue", "1"}, "worker");
  Add(3'000'000, {"PING"}, "worker");
  Add(4'000'000, {"BLPOP", "queue", "0"}, "worker");
  EXPECT_THAT(Commands(), ElementsAre("by 1s", R"(["RPUSH","queue","job"])",
                                      R"(["BLPOP","queue","0"])", "by 2s", R"(["PING"])", "by 1s"));
  EXPECT_THAT(writer_.Notes(), ElementsAre("1 commands still waited at the end: left out"));
  ExpectReplays();
}

TEST_F(ScenarioWriterTest, KeepsTransactionsAndLeavesOutTheirScriptsInside) {
  Add(0, {"MULTI"});
  Add(0, {"EVAL", "return redis.call('incr', KEYS[1])", "1", "n"});
  Add(0, {"incr", "n"}, "lua");
  Add(0, {"EXEC"});
  EXPECT_EQ(writer_.commands(), 3u);
  ExpectReplays();
}

TEST_F(ScenarioWriterTest, LeavesOutWhatIsAboutConnections) {
  Add(0, {"HELLO", "3", "AUTH", "ann", "secret"});
  Add(0, {"AUTH", "secret"});
  Add(0, {"CLIENT", "SETNAME", "x"});
  EXPECT_EQ(writer_.commands(), 0u);
  EXPECT_THAT(writer_.Notes(), IsEmpty());
}

TEST_F(ScenarioWriterTest, CountsCommandsThatFail) {
  Add(0, {"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "0"});
  EXPECT_THAT(writer_.Notes(), ElementsAre(HasSubstr("1 commands fail when they are replayed")));
  ExpectReplays();
}

TEST(WithoutSecrets, MasksEverySecret) {
  const auto mask = [](std::vector<std::string> words) { return WithoutSecrets(std::move(words)); };
  EXPECT_THAT(mask({"AUTH", "ann", "pw"}), ElementsAre("AUTH", "(redacted)", "(redacted)"));
  EXPECT_THAT(mask({"hello", "3", "auth", "ann", "pw", "SETNAME", "x"}),
              ElementsAre("hello", "3", "auth", "(redacted)", "(redacted)", "SETNAME", "x"));
  EXPECT_THAT(mask({"ACL", "SETUSER", "ann", "on", ">pw", "#9f86", "<old", "!9f86", "~*"}),
              ElementsAre("ACL", "SETUSER", "ann", "on", ">(redacted)", ">(redacted)",
                          "<(redacted)", "<(redacted)", "~*"));
  EXPECT_THAT(mask({"CONFIG", "SET", "maxmemory", "1mb", "requirepass", "pw"}),
              ElementsAre("CONFIG", "SET", "maxmemory", "1mb", "requirepass", "(redacted)"));
  EXPECT_THAT(mask({"MIGRATE", "h", "1", "k", "0", "9", "AUTH", "pw"}),
              ElementsAre("MIGRATE", "h", "1", "k", "0", "9", "AUTH", "(redacted)"));
  EXPECT_THAT(
      mask({"MIGRATE", "h", "1", "k", "0", "9", "AUTH2", "ann", "pw", "KEYS"}),
      ElementsAre("MIGRATE", "h", "1", "k", "0", "9", "AUTH2", "(redacted)", "(redacted)", "KEYS"));
  EXPECT_THAT(mask({"SET", "k", "pw"}), ElementsAre("SET", "k", "pw"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
