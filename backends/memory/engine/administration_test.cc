// Goal: what an operator can see and control in a program without a server.
#include "redouble/backends/memory/engine/administration.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/scripting/script_cache.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Command;
using store::CommandId;
using Words = std::vector<std::string_view>;

// A submitted command; its reply when it has completed.
class Call final : public store::Request {
 public:
  Call(Session& session, const Words& words)
      : Call(session, Command::Named(words[0], std::span(words).subspan(1))) {}

  std::optional<absl::StatusOr<Reply>> result;

 private:
  Call(Session& session, Command command)
      : Request(Kind::kCommand, std::span<const Command>(&command_, 1)),
        command_(std::move(command)) {
    session.Submit(*this);
  }

  void OnComplete(absl::StatusOr<Reply>&& reply) override { result = std::move(reply); }

  Command command_;
};

class AdministrationTest : public testing::Test {
 protected:
  std::string Ask(Session& session, const Words& words) {
    const Call call(session, words);
    if (!call.result) return "(blocked)";
    return call.result->ok() ? (*call.result)->DebugString() : call.result->status().ToString();
  }
  std::string Ask(const Words& words) { return Ask(*session_, words); }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  std::unique_ptr<Session> session_ = engine_.Connect();
};

TEST_F(AdministrationTest, KnowsWhoIsConnected) {
  EXPECT_EQ(engine_.core().administration().sessions().size(), 1u);
  {
    const std::unique_ptr<Session> other = engine_.Connect();
    EXPECT_EQ(engine_.core().administration().sessions().at(other->id()), other.get());
  }
  EXPECT_EQ(engine_.core().administration().sessions().size(), 1u);
}

TEST_F(AdministrationTest, LogsABlockedCallWhenItGetsItsReply) {
  Ask({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  const std::unique_ptr<Session> other = engine_.Connect();
  Call blocked(*other, {"BLPOP", "l", "0"});
  EXPECT_EQ(engine_.core().administration().slow_log().entries().front().words[0], "CONFIG");
  Ask({"RPUSH", "l", "a"});
  EXPECT_EQ(engine_.core().administration().slow_log().entries().front().words,
            (std::vector<std::string>{"BLPOP", "l", "0"}));
}

TEST_F(AdministrationTest, CountsTheFailureOfABlockedCall) {
  const CommandStatistics& calls =
      engine_.core().administration().statistics().of(CommandId::kXReadGroup);
  Ask({"XGROUP", "CREATE", "s", "g", "$", "MKSTREAM"});
  const std::unique_ptr<Session> other = engine_.Connect();
  Call blocked(*other, {"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"});
  EXPECT_EQ(calls.failed, 0);
  Ask({"XGROUP", "DESTROY", "s", "g"});
  EXPECT_EQ(calls.calls, 1);
  EXPECT_EQ(calls.failed, 1);
  EXPECT_EQ(engine_.core().administration().statistics().errors().count("NOGROUP"), 1u);
}

TEST_F(AdministrationTest, ShowsNoPasswords) {
  Ask({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  Ask({"AUTH", "default", "secret"});
  const auto& entries = engine_.core().administration().slow_log().entries();
  EXPECT_EQ(entries.front().words, (std::vector<std::string>{"AUTH", "(redacted)", "(redacted)"}));
  Ask({"ACL", "SETUSER", "bob", ">secret"});
  EXPECT_EQ(entries.front().words,
            (std::vector<std::string>{"ACL", "SETUSER", "(redacted)", "(redacted)"}));
}

TEST_F(AdministrationTest, MeasuresNothingWithoutAHost) {
  Ask({"SET", "k", "v"});
  const CommandStatistics& set = engine_.core().administration().statistics().of(CommandId::kSet);
  EXPECT_EQ(set.calls, 1);
  EXPECT_EQ(set.duration_us, 0);
  EXPECT_EQ(set.durations, nullptr);
  EXPECT_EQ(Ask({"SLOWLOG", "LEN"}), "0");
}

TEST_F(AdministrationTest, LogsEveryCommandWhenNoneIsFastEnough) {
  Ask({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
  Ask({"CLIENT", "SETNAME", "me"});
  Ask({"get", "k"});
  EXPECT_EQ(Ask({"SLOWLOG", "GET", "1"}), R"([[2, 1700000000, 0, ["get", "k"], "?:0", "me"]])");
}

// The figures are those of redis-server 7.0.15.
TEST_F(AdministrationTest, CountsWhatScriptsMayNotCallAsRejected) {
  const Statistics& statistics = engine_.core().administration().statistics();
  for (const std::string_view body :
       {"return redis.call('get')", "return redis.pcall('multi')", "return redis.pcall('config')",
        "return redis.pcall('nosuch')", "return redis.pcall('object', 'nosuch')"}) {
    Ask({"EVAL", body, "0"});
  }
  Ask({"EVAL_RO", "return redis.pcall('set', 'k', 'v')", "0"});
  for (const CommandId id :
       {CommandId::kGet, CommandId::kMulti, CommandId::kConfig, CommandId::kSet}) {
    EXPECT_EQ(statistics.of(id).rejected, 1) << store::SpecOf(id).name;
    EXPECT_EQ(statistics.of(id).calls, 0) << store::SpecOf(id).name;
  }
  EXPECT_EQ(statistics.of(CommandId::kObject).rejected, 0);
  EXPECT_EQ(statistics.of(CommandId::kEval).failed, 5);
  EXPECT_EQ(statistics.of(CommandId::kEvalRo).failed, 1);
  EXPECT_EQ(statistics.error_replies(), 6);
}

TEST_F(AdministrationTest, CountsAScriptWithoutMemoryAsRejected) {
  const Statistics& statistics = engine_.core().administration().statistics();
  Ask({"CONFIG", "SET", "maxmemory", "1"});
  Ask({"EVAL", "return redis.call('set', 'k', 'v')", "0"});
  EXPECT_EQ(statistics.of(CommandId::kSet).rejected, 1);
  EXPECT_EQ(statistics.of(CommandId::kEval).failed, 1);
  EXPECT_EQ(statistics.of(CommandId::kEval).rejected, 0);
  Ask({"EVAL", "#!lua\nreturn 1", "0"});
  EXPECT_EQ(statistics.of(CommandId::kEval).calls, 1);
  EXPECT_EQ(statistics.of(CommandId::kEval).rejected, 1);
}

TEST_F(AdministrationTest, CountsNoContainerForAnUnknownSubcommand) {
  const Statistics& statistics = engine_.core().administration().statistics();
  Ask({"CONFIG", "NOSUCH"});
  EXPECT_EQ(statistics.of(CommandId::kConfig).rejected, 0);
  Ask({"CONFIG"});
  EXPECT_EQ(statistics.of(CommandId::kConfig).rejected, 1);
  EXPECT_EQ(statistics.error_replies(), 2);
}

// As redis-server 7.0.15 shows them.
TEST_F(AdministrationTest, ShowsScriptsToMonitorsBeforeTheyRun) {
  RecordingSession monitor(engine_);
  monitor.Send({"MONITOR"});
  const std::string start = "1700000000.000000 [0 ";
  const auto lines = [&](const Words& words) {
    Ask(words);
    std::vector<std::string> shown;
    for (const std::string& line : monitor.TakePushes()) {
      shown.push_back(line.starts_with(start) ? line.substr(start.size()) : line);
    }
    return shown;
  };
  using Lines = std::vector<std::string>;
  const std::string_view body = "return redis.call('get', 'k')";
  const std::string eval = "?:0] \"eval\" \"return redis.call('get', 'k')\" \"0\"";
  EXPECT_EQ(lines({"eval", body, "0"}), Lines({eval, "lua] \"get\" \"k\""}));
  EXPECT_EQ(lines({"evalsha", "abc", "0"}), Lines({"?:0] \"evalsha\" \"abc\" \"0\""}));
  EXPECT_EQ(lines({"evalsha_ro", "abc", "x"}), Lines({"?:0] \"evalsha_ro\" \"abc\" \"x\""}));
  EXPECT_EQ(lines({"eval_ro", "x x", "0"}), Lines({"?:0] \"eval_ro\" \"x x\" \"0\""}));
  EXPECT_EQ(lines({"fcall", "f", "0"}), Lines({"?:0] \"fcall\" \"f\" \"0\""}));
  EXPECT_EQ(lines({"fcall_ro", "f", "0"}), Lines({"?:0] \"fcall_ro\" \"f\" \"0\""}));
  EXPECT_EQ(lines({"eval", body}), Lines());
  EXPECT_EQ(lines({"MULTI"}), Lines({"?:0] \"MULTI\""}));
  EXPECT_EQ(lines({"eval", body, "0"}), Lines());
  EXPECT_EQ(lines({"exec"}), Lines({eval, "lua] \"get\" \"k\"", "?:0] \"exec\""}));
  EXPECT_EQ(lines({"exec", "x"}), Lines({"?:0] \"exec\" \"x\""})) << "a refused EXEC is shown, too";
  EXPECT_EQ(lines({"get"}), Lines());
  monitor.session().Reset();
  EXPECT_EQ(lines({"eval", body, "0"}), Lines());
}

TEST_F(AdministrationTest, LetsScriptsCallAllWhenToldSo) {
  const std::string_view body = "return redis.pcall('blpop', 'l', '0')";
  const std::string refusal = "(error) ERR This Redis command is not allowed from script";
  EXPECT_EQ(Ask({"EVAL", body, "0"}), refusal);
  engine_.core().scripts().set_allows_denied_commands(true);
  EXPECT_EQ(Ask({"EVAL", body, "0"}), "nil");
  EXPECT_EQ(Ask({"EVAL", "return redis.pcall('eval', 'return 1', 0)", "0"}), refusal);
  engine_.core().scripts().set_allows_denied_commands(false);
  EXPECT_EQ(Ask({"EVAL", body, "0"}), refusal);
}

TEST_F(AdministrationTest, CountsLookupsOfCommandsThatOnlyRead) {
  Ask({"SET", "k", "v"});
  Ask({"MGET", "k", "none", "k"});
  EXPECT_EQ(engine_.core().administration().statistics().hits(), 2);
  EXPECT_EQ(engine_.core().administration().statistics().misses(), 1);
}

TEST_F(AdministrationTest, EndsAConnectionForItsOwner) {
  const std::unique_ptr<Session> victim = engine_.Connect();
  const Call blocked(*victim, {"BLPOP", "l", "0"});
  EXPECT_EQ(Ask({"CLIENT", "KILL", "ID", std::to_string(victim->id())}), "1");
  ASSERT_TRUE(blocked.result.has_value());
  EXPECT_FALSE(blocked.result->ok());
  EXPECT_NE(Ask(*victim, {"PING"}).find("the connection was closed"), std::string::npos);
  EXPECT_EQ(engine_.core().administration().sessions().size(), 1u);
}

TEST_F(AdministrationTest, ClosesAfterTheReplyOfQuit) {
  EXPECT_EQ(Ask({"QUIT"}), "OK");
  EXPECT_NE(Ask({"PING"}).find("the connection was closed"), std::string::npos);
}

TEST_F(AdministrationTest, DelaysATransactionAsAWhole) {
  const std::unique_ptr<Session> other = engine_.Connect();
  Ask({"CLIENT", "PAUSE", "100", "WRITE"});
  std::optional<absl::StatusOr<Reply>> result;
  const auto run = [&]() -> base::Task<void> {
    store::Batch batch(store::Batch::Atomicity::kTransaction);
    batch.Add(Command(CommandId::kGet, {"n"}));
    batch.Add(Command(CommandId::kIncr, {"n"}));
    result = co_await other->ExecuteRaw(batch);
  };
  base::Task<void> task = run();
  task.Start();
  EXPECT_FALSE(result.has_value());
  clock_.Advance(absl::Milliseconds(101));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ((**result).DebugString(), "[nil, 1]");
}

TEST_F(AdministrationTest, DropsADelayedCallWhenItsCallerIsDestroyed) {
  const std::unique_ptr<Session> other = engine_.Connect();
  Ask({"CLIENT", "PAUSE", "100", "WRITE"});
  { const Call abandoned(*other, {"SET", "k", "v"}); }
  clock_.Advance(absl::Milliseconds(101));
  EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
}

TEST_F(AdministrationTest, CannotStopAProgramThatIsNoServer) {
  EXPECT_EQ(Ask({"SHUTDOWN"}), "(error) ERR Errors trying to SHUTDOWN. Check logs.");
}

TEST_F(AdministrationTest, SavesNothingWithoutAHostAndSaysSo) {
  const char* const refusal =
      "(error) ERR nothing is saved: this server keeps its keys in memory only";
  EXPECT_EQ(Ask({"SAVE"}), refusal);
  EXPECT_EQ(Ask({"BGSAVE"}), refusal);
  EXPECT_EQ(Ask({"BGSAVE", "SCHEDULE"}), refusal);
  EXPECT_EQ(Ask({"BGREWRITEAOF"}), refusal);
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(Ask({"LASTSAVE"}), "1700000000");
}

TEST_F(AdministrationTest, ReplicatesNothingAndSaysSo) {
  const char* const refusal =
      "(error) ERR nothing is replicated: this server follows no other and has no replicas";
  EXPECT_EQ(Ask({"REPLICAOF", "127.0.0.1", "6379"}), refusal);
  EXPECT_EQ(Ask({"SLAVEOF", "127.0.0.1", "0"}), refusal);
  EXPECT_EQ(Ask({"SYNC"}), refusal);
  EXPECT_EQ(Ask({"PSYNC", "?", "-1"}), refusal);
}

TEST_F(AdministrationTest, ReachesNoServerToMigrateTo) {
  const char* const refusal = "(error) IOERR error or timeout writing to target instance";
  Ask({"SET", "k", "v"});
  EXPECT_EQ(Ask({"MIGRATE", "127.0.0.1", "6380", "k", "0", "100"}), refusal);
  EXPECT_EQ(Ask({"MIGRATE", "127.0.0.1", "6380", "", "0", "100", "KEYS", "none", "k"}), refusal);
  EXPECT_EQ(Ask({"GET", "k"}), "\"v\"");
}

TEST_F(AdministrationTest, DescribesAClientWithoutASocket) {
  clock_.Advance(absl::Seconds(3));
  Ask({"SELECT", "2"});
  const std::string line = Ask({"CLIENT", "INFO"});
  EXPECT_TRUE(line.starts_with("\"id=1 addr=?:0 laddr=?:0 fd=-1 name= age=3 idle=0 flags=N db=2"))
      << line;
  EXPECT_NE(line.find(" multi=-1 "), std::string::npos);
  EXPECT_NE(line.find(" cmd=client|info user=default redir=-1 resp=2"), std::string::npos);
}

TEST_F(AdministrationTest, DescribesAnEmptyKeyspace) {
  Ask({"SET", "k", "v", "PX", "1500"});
  const std::unique_ptr<Session> watching = engine_.Connect();
  Ask(*watching, {"WATCH", "k"});
  std::vector<std::unique_ptr<Database>> databases;
  for (int i = 0; i < engine_.core().database_count(); ++i) {
    databases.push_back(std::make_unique<Database>());
  }
  databases[0]->Add("new", Value::String("x"));
  engine_.core().ReplaceDatabases(std::move(databases));
  EXPECT_EQ(Ask({"KEYS", "*"}), R"(["new"])");
  Ask(*watching, {"MULTI"});
  EXPECT_EQ(Ask(*watching, {"EXEC"}), "nil");
}

TEST_F(AdministrationTest, DebugObjectHidesTheAddress) {
  Ask({"SET", "k", "v"});
  const std::string line = Ask({"DEBUG", "OBJECT", "k"});
  EXPECT_TRUE(line.starts_with("Value at:0x0 refcount:1 encoding:embstr serializedlength:2 lru:"))
      << line;
}

int64_t NumberBehind(const std::string& text, const std::string& name) {
  return std::stoll(text.substr(text.find(name) + name.size()));
}

TEST_F(AdministrationTest, DebugObjectDescribesTheNodesOfAList) {
  Ask({"RPUSH", "l", "a", "b", "c"});
  const std::string text = Ask({"DEBUG", "OBJECT", "l"});
  EXPECT_TRUE(
      text.ends_with(" ql_nodes:1 ql_avg_node:3.00 ql_listpack_max:-2 ql_compressed:0 "
                     "ql_uncompressed_size:16"))
      << text;
}

// Redis's own test takes seconds, so that it is not a conformance case.
TEST_F(AdministrationTest, MatchesPatternsByChance) {
  EXPECT_EQ(Ask({"DEBUG", "STRINGMATCH-TEST"}), "Apparently Redis did not crash: test passed");
}

// INFO stays fast with many keys of equal size.
TEST_F(AdministrationTest, EstimatesTheMemoryOfManyKeysFromASample) {
  const int64_t empty = NumberBehind(Ask({"INFO", "memory"}), "used_memory:");
  constexpr int64_t kKeys = 50'000;
  for (int64_t i = 0; i < kKeys; ++i) {
    const std::string key = "key:" + std::to_string(100'000 + i);
    ASSERT_EQ(Ask({"SET", key, "value"}), "OK");
  }
  const int64_t of_one = std::stoll(Ask({"MEMORY", "USAGE", "key:100000"}));
  EXPECT_EQ(NumberBehind(Ask({"INFO", "memory"}), "used_memory:"), empty + kKeys * of_one);
}

// As redis-server counts them when it never saves, for commands that change a key or an element.
TEST_F(AdministrationTest, CountsTheChanges) {
  const auto changes = [&] {
    return NumberBehind(Ask({"INFO", "persistence"}), "rdb_changes_since_last_save:");
  };
  EXPECT_EQ(changes(), 0);
  Ask({"SET", "a", "1"});
  Ask({"SET", "a", "1"});
  Ask({"INCR", "a"});
  Ask({"RPUSH", "l", "x"});
  Ask({"SADD", "s", "x"});
  Ask({"EXPIRE", "a", "100"});
  EXPECT_EQ(changes(), 6);
  for (const Words& words : {Words{"DEL", "none"}, Words{"GET", "a"}, Words{"SADD", "s", "x"},
                             Words{"LPUSHX", "none", "x"}, Words{"SETNX", "a", "1"}}) {
    Ask(words);
  }
  EXPECT_EQ(changes(), 6) << "nothing was changed";
  Ask({"DEL", "a"});
  EXPECT_EQ(changes(), 7);
  Ask({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(changes(), 7);
  Ask({"FLUSHALL"});
  EXPECT_EQ(changes(), 9);
}

TEST_F(AdministrationTest, ScriptsAndFunctionsHaveMemoryOfTheirOwn) {
  const auto figure = [&](std::string_view name) {
    return NumberBehind(Ask({"INFO", "memory"}), std::string(name) + ":");
  };
  const int64_t keys = figure("used_memory");
  const int64_t lua = figure("used_memory_vm_eval");
  EXPECT_GT(lua, 0);
  EXPECT_EQ(figure("used_memory_scripts"), 0);
  Ask({"EVAL", "return string.rep('x', 100000)", "0"});
  EXPECT_EQ(figure("used_memory_scripts_eval"), 30 + 40) << "the text and its digest";
  EXPECT_GT(figure("used_memory_lua"), lua);
  const int64_t functions_lua = figure("used_memory_vm_functions");
  const std::string code = "#!lua name=one\nredis.register_function('f', function() end)";
  Ask({"FUNCTION", "LOAD", code});
  EXPECT_EQ(figure("used_memory_functions"), static_cast<int64_t>(code.size()) + 3 + 1);
  EXPECT_GT(figure("used_memory_vm_functions"), functions_lua);
  EXPECT_EQ(figure("used_memory_vm_total"),
            figure("used_memory_vm_eval") + figure("used_memory_vm_functions"));
  EXPECT_EQ(figure("used_memory"), keys) << "which keys alone decide";
  Ask({"SCRIPT", "FLUSH"});
  Ask({"FUNCTION", "FLUSH"});
  EXPECT_EQ(figure("used_memory_scripts"), 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
