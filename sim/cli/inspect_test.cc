#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/cli/program_for_test.h"
#include "redouble/sim/cli/support/subcommand.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/inspect/rule_table.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class InspectCommandTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    // An event marker whose history expires first, and a counter without a TTL.
    Write("x.json", R"({"name": "a title", "description": "d", "system": "redis",
        "start": "2026-05-09T14:03:02Z", "steps": [
          {"kind": "command", "command": ["SET", "relayna:event:t1:e1", "1", "EX", "100"]},
          {"kind": "command", "command": ["RPUSH", "relayna:history:t1", "e"]},
          {"kind": "command", "command": ["EXPIRE", "relayna:history:t1", "50"]},
          {"kind": "advance", "by": "80s"},
          {"kind": "command", "command": ["SET",
            "rl:req:018f8d31-86a7-7c48-8f36-4d1fa4d99101:202605091403", "1"]}]})");
  }
};

TEST_F(InspectCommandTest, InspectsTheKeysAfterAScenario) {
  EXPECT_EQ(Run({"inspect", "x.json"}), kExitFailed);
  EXPECT_THAT(out(), StartsWith("FAMILY                TYPE    KEYS  SIZE  LARGEST  TTL  NO TTL\n"
                                "gateway.request_rate  string  1     1 B   1 B      -    1\n"
                                "relayna.event         string  1     1 B   1 B      20s  0\n"
                                "2 keys, 2 anomalies\nmissing_ttl (1)\n"));
  EXPECT_THAT(out(), HasSubstr("orphan (1)\n  \"relayna:event:t1:e1\"  relayna.event without "
                               "relayna.history: the event was lost behind its marker\n"));
  EXPECT_THAT(err(), HasSubstr("redouble inspect: 2 of 2 keys\n"));
}

TEST_F(InspectCommandTest, InspectsAScenarioAtAMoment) {
  // The last millisecond of the history, and the one after it.
  EXPECT_EQ(Run({"inspect", "x.json", "--at", "2026-05-09T14:03:52Z"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("relayna.history  list    1     1     1        0    0\n"));
  EXPECT_THAT(out(), EndsWith("2 keys, 0 anomalies\n"));
  EXPECT_EQ(Run({"inspect", "x.json", "--at", "2026-05-09T14:03:52.001Z"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("1 key, 1 anomaly\norphan (1)\n"));
  // After the end of the scenario.
  EXPECT_EQ(Run({"inspect", "x.json", "--at", "2026-05-09T14:05:02Z"}), kExitFailed);
  EXPECT_THAT(out(), Not(HasSubstr("relayna.event")));
}

TEST_F(InspectCommandTest, WritesJson) {
  EXPECT_EQ(Run({"inspect", "x.json", "--format", "json", "--limit", "0"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("\"orphan\": {\n      \"count\": 1,\n      \"listed\": []\n"));
}

TEST_F(InspectCommandTest, InspectsAWorldThatExploreWrote) {
  Write("w.world.json", R"({"name": "two write", "description": "d", "source": "s",
      "system": "gateway", "start": "2026-05-09T14:03:02Z",
      "actors": {"a": [{"kind": "command", "command": ["SET", "n", "a", "PX", "1000"]}],
                 "b": [{"kind": "advance", "by": "5s"},
                       {"kind": "command", "command": ["SET", "m", "b"]}]},
      "invariants": [{"kind": "reply", "command": ["GET", "m"], "expect": null}],
      "violation": {"seed": 1, "decisions": [], "hardened": false, "swarm": false,
                    "broke": "", "trace_hash": ""}})");
  EXPECT_EQ(Run({"inspect", "w.world.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("1 key, 1 anomaly\nunknown_key (1)\n  \"m\""));
  EXPECT_EQ(Run({"inspect", "w.world.json", "--at", "2026-05-09T14:03:03Z"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("1 key, 1 anomaly\nunknown_key (1)\n  \"n\""));
  EXPECT_EQ(Run({"inspect", "w.world.json", "--at", "2026-05-09T14:03:04Z"}), kExitPassed);
  EXPECT_THAT(out(), EndsWith("\n0 keys, 0 anomalies\n"));
}

TEST_F(InspectCommandTest, ReportsAFailedScenario) {
  WriteScenario("bad.json", 2);
  EXPECT_EQ(Run({"inspect", "bad.json"}), kExitFailed);
  EXPECT_THAT(err(), StartsWith("redouble inspect: bad.json: step 0 (command): "));
  EXPECT_THAT(out(), HasSubstr("1 key, 1 anomaly\n"));
}

TEST_F(InspectCommandTest, AcceptsOtherPrefixes) {
  Write("p.json", R"({"name": "a title", "description": "d", "system": "redis",
      "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "command", "command": ["RPUSH", "task:history:{task:t1}", "e"]},
        {"kind": "command", "command": ["EXPIRE", "task:history:{task:t1}", "50"]},
        {"kind": "command", "command": ["SET", "ir:{r1}", "{}", "EX", "50"]}]})");
  EXPECT_EQ(Run({"inspect", "p.json"}), kExitFailed);
  EXPECT_EQ(Run({"inspect", "p.json", "--bind", "status_prefix=task", "--layout", "cluster"}),
            kExitPassed)
      << out();
}

TEST_F(InspectCommandTest, RefusesBadUsage) {
  Write("no.json", "{");
  Write("w.world.json", R"({"name": "n", "description": "d", "source": "s", "system": "gateway",
      "start": "2026-05-09T14:03:02Z", "actors": {"a": [{"kind": "command", "command": ["PING"]}]},
      "invariants": [{"kind": "reply", "command": ["GET", "m"], "expect": null}]})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "redouble inspect: expected a scenario's file, or --redis URI\n"},
      {{"x.json", "--redis", "redis://127.0.0.1"}, "excludes"},
      {{"--redis", "http://x"}, "redouble inspect: "},
      {{"--redis", "redis://127.0.0.1", "--at", "2026-05-09T14:03:02Z"}, "requires"},
      {{"none.json"}, "redouble inspect: none.json: "},
      {{"no.json"}, "redouble inspect: no.json: "},
      {{"w.world.json"}, "w.world.json: a world without a schedule"},
      {{"x.json", "--at", "noon"}, "--at: expected a moment as 2026-05-09T14:03:59Z, got \"noon\""},
      {{"x.json", "--at", "2026-05-09T14:03:01Z"}, "x.json begins at 2026-05-09T14:03:02Z\n"},
      {{"x.json", "--format", "xml"}, "--format: unknown format \"xml\"; known: table, json\n"},
      {{"x.json", "--pattern", "a"}, "--pattern and --family need an RDB file or a log\n"},
      {{"--redis", "redis://127.0.0.1", "--family", "gateway"}, "need an RDB file or a log\n"},
      {{"x.json", "--layout", "x"}, "--layout: expected documented or cluster, got 'x'\n"},
      {{"x.json", "--bind", "a"}, "--bind: expected NAME=VALUE, got \"a\"\n"},
      {{"x.json", "--bind", "a=b"}, "redouble inspect: no system has a prefix a\n"},
  };
  for (const auto& [arguments, message] : cases) {
    std::vector<std::string> words = {"inspect"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(Run(words), kExitBadUsage) << testing::PrintToString(arguments);
    EXPECT_THAT(err(), HasSubstr(message));
    EXPECT_EQ(out(), "");
  }
}

TEST_F(InspectCommandTest, InspectsALiveDatabaseAndChangesNothing) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  const auto client = redis::SyncClient::Connect((*server)->uri());
  ASSERT_TRUE(client.ok()) << client.status();
  const auto send = [&](const std::vector<std::string_view>& words) {
    const auto ask = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await (*client)->Execute(command);
    };
    return *base::Run(ask());
  };
  send({"SET", "relayna:event:t1:e1", "1", "EX", "1000"});
  send({"XADD", "korvet:stream:t:0", "1-1", "f", "v"});
  send({"ZADD", "zset", "1", "m"});
  const std::string written = std::string(send({"INFO", "persistence"}).text());
  const std::string uri((*server)->uri());
  EXPECT_EQ(Run({"inspect", "--redis", uri}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("korvet.stream  stream  1     1     1        -"));
  EXPECT_THAT(out(), HasSubstr("3 keys, 3 anomalies\nunknown_key (1)\n  \"zset\""));
  EXPECT_THAT(out(), HasSubstr("orphan (2)\n  \"korvet:stream:t:0\"  korvet.stream without "));
  const auto changes = [](const std::string& info) {
    const size_t begin = info.find("rdb_changes_since_last_save");
    return info.substr(begin, info.find('\r', begin) - begin);
  };
  EXPECT_EQ(changes(std::string(send({"INFO", "persistence"}).text())), changes(written));
}

TEST_F(InspectCommandTest, JudgesBySystemsOfTheUser) {
  Write("shop.json", R"({"system": "shop", "families": [
      {"id": "shop.user", "pattern": "user:{user}", "type": "string"},
      {"id": "shop.cart", "pattern": "cart:{user}", "type": "hash", "ttl": "30m"}],
      "relations": [{"family": "shop.cart", "needs": "shop.user", "without": "nobody's cart"}]})");
  Write("carts.json", R"({"name": "a title", "description": "d", "system": "redis",
      "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "command", "command": ["SET", "user:ann", "Ann"]},
        {"kind": "command", "command": ["HSET", "cart:ann", "book", "1"]},
        {"kind": "command", "command": ["HSET", "cart:bob", "book", "1"]},
        {"kind": "command", "command": ["EXPIRE", "cart:bob", "1800"]},
        {"kind": "command", "command": ["SET", "relayna:event:t1:e1", "1", "EX", "100"]}]})");
  EXPECT_EQ(Run({"inspect", "carts.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("unknown_key (3)"));
  EXPECT_EQ(Run({"inspect", "carts.json", "--rules", "shop.json"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("4 keys, 3 anomalies\nmissing_ttl (1)\n  \"cart:ann\""));
  EXPECT_THAT(out(), HasSubstr("\"cart:bob\"  shop.cart without shop.user: nobody's cart\n"));
  EXPECT_THAT(out(), HasSubstr("relayna.event"));
}

TEST_F(InspectCommandTest, SaysWhatIsWrongWithAFileOfRules) {
  Write("shop.json", R"({"system": "shop", "families": [{"id": "shop.user"}]})");
  EXPECT_EQ(Run({"inspect", "x.json", "--rules", "shop.json"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble inspect: shop.json: /families/0/pattern: is missing"));
  EXPECT_EQ(Run({"inspect", "x.json", "--rules", "none.json"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble inspect: none.json: "));
}

TEST_F(InspectCommandTest, ShowsABarOnATerminalOnly) {
  Write("two.json", R"({"name": "a title", "description": "d", "system": "redis",
      "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "command", "command": ["MSET", "a", "1", "b", "2"]}]})");
  ASSERT_EQ(Run({"convert", "two.json", "two.rdb"}), kExitPassed) << err();
  ASSERT_EQ(Run({"inspect", "two.rdb"}), kExitPassed) << err();
  EXPECT_THAT(err(), Not(HasSubstr("two.rdb [")));
  const ProgramContext terminal{out_, err_, folder_, {folder_}, BuiltInSystems(), true};
  ASSERT_EQ(RunProgram({"inspect", "two.rdb"}, terminal), kExitPassed) << err();
  EXPECT_THAT(err(), HasSubstr("\rtwo.rdb [####################] 100 %  2 keys\r"));
}

TEST_F(InspectCommandTest, ReportsAnUnreachableServer) {
  EXPECT_EQ(Run({"inspect", "--redis", "redis://127.0.0.1:1"}), kExitFailed);
  EXPECT_THAT(err(), StartsWith("redouble inspect: "));
}

TEST(KeyRules, FitTheFamiliesOfEverySystem) {
  for (const store::KeyLayout layout :
       {store::KeyLayout::kDocumented, store::KeyLayout::kCluster}) {
    const std::vector<store::KeyRules> rules = AllKeyRules(layout);
    const absl::StatusOr<RuleTable> table = RuleTable::Create(rules);
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->families().size(), AllKeyFamilies(layout).size());
    for (const store::KeyRules& system : rules) {
      EXPECT_FALSE(system.relations.empty()) << system.families[0].system;
      for (const store::KeyRelation& relation : system.relations) {
        EXPECT_NE(relation.without, "") << relation.family;
        EXPECT_TRUE(relation.family.starts_with(system.families[0].system)) << relation.family;
      }
    }
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
