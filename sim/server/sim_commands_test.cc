#include "redouble/sim/server/sim_commands.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/fault/fault.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

constexpr int64_t kStartMs = 1'700'000'000'000;

class SimCommandsTest : public testing::Test {
 protected:
  Reply Sim(const std::vector<std::string_view>& words) { return sim_.Run(words); }
  std::string Ask(const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    return base::Run(Execute(command)).DebugString();
  }

  base::VirtualClock clock_{absl::FromUnixMillis(kStartMs)};
  memory::Engine engine_{clock_};
  SimCommands sim_{engine_, clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();

 private:
  base::Task<Reply> Execute(const store::Command& command) {
    absl::StatusOr<Reply> reply = co_await session_->Execute(command);
    co_return std::move(reply).value();
  }
};

TEST_F(SimCommandsTest, TellsAndMovesTheTime) {
  EXPECT_EQ(Sim({"CLOCK", "GET"}), Reply::Integer(kStartMs));
  EXPECT_EQ(Sim({"clock", "advance", "1500"}), Reply::Integer(kStartMs + 1500));
  EXPECT_EQ(Sim({"CLOCK", "ADVANCE", "2s"}), Reply::Integer(kStartMs + 3500));
  EXPECT_EQ(Sim({"CLOCK", "SET", "1700000060000"}), Reply::Integer(kStartMs + 60'000));
  EXPECT_EQ(Sim({"CLOCK", "SET", "2023-11-14T22:14:21Z"}), Reply::Integer(kStartMs + 61'000));
}

TEST_F(SimCommandsTest, NeverMovesTimeBackByTheClock) {
  const Reply error = Reply::Error("ERR the clock only goes forward");
  EXPECT_EQ(Sim({"CLOCK", "SET", "1"}), error);
  EXPECT_EQ(Sim({"CLOCK", "ADVANCE", "-1"}), error);
  EXPECT_EQ(Sim({"CLOCK", "GET"}), Reply::Integer(kStartMs));
}

TEST_F(SimCommandsTest, RefusesTimesThatAreNone) {
  EXPECT_EQ(Sim({"CLOCK", "SET", "soon"}),
            Reply::Error("ERR time is neither milliseconds nor RFC 3339"));
  EXPECT_EQ(Sim({"CLOCK", "ADVANCE", "a bit"}),
            Reply::Error("ERR duration is neither milliseconds nor like 1500ms"));
  EXPECT_EQ(Sim({"CLOCK", "ADVANCE", "9223372036854775807"}),
            Reply::Error("ERR time is out of range"));
}

TEST_F(SimCommandsTest, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string_view>> wrong = {{},
                                                            {"NOSUCH"},
                                                            {"CLOCK"},
                                                            {"CLOCK", "GET", "x"},
                                                            {"SEED"},
                                                            {"HASH", "x"},
                                                            {"SNAPSHOT"},
                                                            {"RESTORE"},
                                                            {"DUMP", "0", "1"},
                                                            {"FAULT"},
                                                            {"FAULT", "NOSUCH"},
                                                            {"FAULT", "DROP"},
                                                            {"FAULT", "ERROR", "GET"}};
  for (const auto& words : wrong) {
    EXPECT_EQ(Sim(words),
              Reply::Error("ERR unknown subcommand or wrong number of arguments. Try SIM HELP."));
  }
  EXPECT_GT(Sim({"HELP"}).elements().size(), 10u);
}

TEST_F(SimCommandsTest, GoesToTheNextExpiryExactly) {
  EXPECT_TRUE(Sim({"CLOCK", "NEXT"}).is_nil());
  Ask({"SET", "k", "v", "PX", "1500"});
  EXPECT_EQ(Sim({"CLOCK", "NEXT"}), Reply::Integer(kStartMs + 1501));
  EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
  EXPECT_TRUE(Sim({"CLOCK", "NEXT"}).is_nil());
}

TEST_F(SimCommandsTest, DrawsFromTheSeed) {
  for (const char* member : {"a", "b", "c", "d", "e", "f", "g"}) Ask({"SADD", "s", member});
  const auto draw = [&] {
    Sim({"SEED", "42"});
    std::string drawn;
    for (int i = 0; i < 8; ++i) drawn += Ask({"SRANDMEMBER", "s"});
    return drawn;
  };
  EXPECT_EQ(draw(), draw());
  EXPECT_TRUE(Sim({"SEED", "x"}).is_error());
}

TEST_F(SimCommandsTest, HashesTimeKeysValuesAndExpiries) {
  const std::string empty = Sim({"HASH"}).text();
  Ask({"SET", "k", "v"});
  const std::string with_key = Sim({"HASH"}).text();
  EXPECT_NE(with_key, empty);
  Ask({"PEXPIRE", "k", "100"});
  EXPECT_NE(Sim({"HASH"}).text(), with_key);
  Ask({"PERSIST", "k"});
  EXPECT_EQ(Sim({"HASH"}).text(), with_key);
  Sim({"CLOCK", "ADVANCE", "1"});
  EXPECT_NE(Sim({"HASH"}).text(), with_key);
}

TEST_F(SimCommandsTest, BringsBackWhatItKept) {
  Ask({"SET", "k", "v", "PX", "1500"});
  Ask({"RPUSH", "l", "a", "b"});
  EXPECT_EQ(Sim({"SNAPSHOT", "before"}), Reply::Ok());
  const std::string hash = Sim({"HASH"}).text();
  Ask({"LPOP", "l"});
  Ask({"SET", "other", "x"});
  Sim({"CLOCK", "ADVANCE", "10s"});
  EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Sim({"RESTORE", "before"}), Reply::Ok());
    EXPECT_EQ(Sim({"HASH"}).text(), hash);
    EXPECT_EQ(Ask({"PTTL", "k"}), "1500");
    EXPECT_EQ(Sim({"CLOCK", "NEXT"}), Reply::Integer(kStartMs + 1501));
    EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
  }
  EXPECT_EQ(Sim({"RESTORE", "never"}), Reply::Error("ERR no such snapshot"));
}

TEST_F(SimCommandsTest, AccountsForRestoredKeys) {
  ASSERT_EQ(Ask({"CONFIG", "SET", "maxmemory", "100mb"}), "OK");
  Ask({"SET", "big", std::string(5'000'000, 'x')});
  ASSERT_EQ(Sim({"SNAPSHOT", "full"}), Reply::Ok());
  Ask({"FLUSHALL"});
  // The change is measured later, when the snapshot has replaced the database.
  Ask({"SET", "small", "x"});
  ASSERT_EQ(Sim({"RESTORE", "full"}), Reply::Ok());
  EXPECT_EQ(Ask({"EXISTS", "big"}), "1");
  EXPECT_GT(engine_.core().memory_limit().UsedBytes(), 5'000'000u);
  ASSERT_EQ(Ask({"CONFIG", "SET", "maxmemory", "2mb"}), "OK");
  EXPECT_EQ(Ask({"SET", "more", "x"}),
            "(error) OOM command not allowed when used memory > 'maxmemory'.");
}

TEST_F(SimCommandsTest, DumpsWhileClientsArePaused) {
  Ask({"SET", "k", "v"});
  ASSERT_EQ(Ask({"CLIENT", "PAUSE", "100000"}), "OK");
  EXPECT_EQ(Sim({"DUMP"}), Reply::Bulk(R"({"k":{"type":"string","value":"v"}})"));
}

TEST_F(SimCommandsTest, RestoringEndsAPause) {
  Sim({"SNAPSHOT", "before"});
  Sim({"CLOCK", "ADVANCE", "60000"});
  const std::unique_ptr<memory::Session> waiting = engine_.Connect();
  ASSERT_EQ(Ask({"CLIENT", "PAUSE", "20", "WRITE"}), "OK");
  bool done = false;
  const auto write = [&]() -> base::Task<void> {
    const store::Command set(store::CommandId::kSet, {"k", "v"});
    done = (co_await waiting->Execute(set)).ok();
  };
  base::Task<void> task = write();
  task.Start();
  EXPECT_FALSE(done);
  ASSERT_EQ(Sim({"RESTORE", "before"}), Reply::Ok());
  EXPECT_TRUE(done);
  EXPECT_EQ(Ask({"SET", "other", "v"}), "OK");
  EXPECT_EQ(Ask({"GET", "k"}), "\"v\"");
}

TEST_F(SimCommandsTest, KeysKeepTheirDeadlinesWhenTheClockIsSetBack) {
  Ask({"SET", "k", "v", "PX", "1000"});
  Snapshot::Take(engine_).RestoreAt((kStartMs - 60'000) * 1000, engine_);
  EXPECT_EQ(Sim({"CLOCK", "GET"}), Reply::Integer(kStartMs - 60'000));
  EXPECT_EQ(Ask({"PTTL", "k"}), "61000");
  Sim({"CLOCK", "ADVANCE", "61000"});
  EXPECT_EQ(Ask({"GET", "k"}), "\"v\"");
  Sim({"CLOCK", "ADVANCE", "1"});
  EXPECT_EQ(Ask({"GET", "k"}), "nil");
}

TEST_F(SimCommandsTest, ServesBlockedCallsFromWhatItBringsBack) {
  Ask({"RPUSH", "l", "a"});
  Sim({"SNAPSHOT", "full"});
  Ask({"DEL", "l"});
  const std::unique_ptr<memory::Session> waiting = engine_.Connect();
  bool served = false;
  const auto wait = [&]() -> base::Task<void> {
    const store::Command pop(store::CommandId::kBLPop, {"l", "0"});
    const absl::StatusOr<Reply> reply = co_await waiting->Execute(pop);
    served = reply.ok() && reply->is_array();
  };
  base::Task<void> task = wait();
  task.Start();
  EXPECT_FALSE(served);
  Sim({"RESTORE", "full"});
  EXPECT_TRUE(served);
}

TEST_F(SimCommandsTest, DumpsKeysAsJson) {
  Ask({"SET", "k", "v", "PX", "1500"});
  EXPECT_EQ(Sim({"DUMP"}).text(), R"({"k":{"type":"string","value":"v","ttl_ms":1500}})");
  EXPECT_EQ(Sim({"DUMP", "3"}).text(), "{}");
  EXPECT_EQ(Sim({"DUMP", "16"}), Reply::Error("ERR DB index is out of range"));
}

TEST_F(SimCommandsTest, UsesFaultsUp) {
  EXPECT_EQ(Sim({"FAULT", "ERROR", "set", "OOM no"}), Reply::Ok());
  EXPECT_EQ(Sim({"FAULT", "DROP", "*", "COUNT", "2"}), Reply::Ok());
  EXPECT_EQ(Sim({"FAULT", "LIST"}).DebugString(),
            R"([["error_reply", "set", "OOM no", 1], ["drop_request", "*", "", 2]])");
  EXPECT_EQ(sim_.faults().Next("SET")->error, "OOM no");
  EXPECT_EQ(sim_.faults().Next("GET")->fault, Fault::kDropRequest);
  EXPECT_EQ(sim_.faults().Next("SET")->fault, Fault::kDropRequest);
  EXPECT_FALSE(sim_.faults().Next("SET").has_value());
  EXPECT_TRUE(sim_.faults().empty());
}

// Programs that use the earlier names keep working.
TEST_F(SimCommandsTest, AcceptsEachFaultByItsNameAndByItsAliasInAnyCase) {
  for (const FaultSpec* spec : FaultsOf(FaultSite::kServer)) {
    const std::string upper = absl::AsciiStrToUpper(base::ToAbsl(spec->name));
    for (const std::string_view word : {spec->name, std::string_view(upper), spec->alias}) {
      std::vector<std::string_view> words = {"FAULT", word, "GET"};
      if (spec->parameter == FaultParameter::kError) words.push_back("BUSY no");
      EXPECT_EQ(Sim(words), Reply::Ok()) << word;
      const std::optional<FaultRule> rule = sim_.faults().Next("get");
      ASSERT_TRUE(rule.has_value()) << word;
      EXPECT_EQ(rule->fault, spec->fault) << word;
    }
  }
}

TEST_F(SimCommandsTest, RefusesFaultsThatAServerCannotInject) {
  const Reply error =
      Reply::Error("ERR unknown subcommand or wrong number of arguments. Try SIM HELP.");
  for (const FaultSpec& spec : AllFaults()) {
    if (spec.AppliesTo(FaultSite::kServer)) continue;
    EXPECT_EQ(Sim({"FAULT", spec.name, "GET"}), error) << spec.name;
  }
  EXPECT_EQ(Sim({"FAULT", "", "GET"}), error);
  EXPECT_EQ(Sim({"FAULT"}), error);
  EXPECT_TRUE(sim_.faults().empty());
}

TEST_F(SimCommandsTest, HelpNamesEachFault) {
  const std::string help = Sim({"HELP"}).DebugString();
  for (const FaultSpec* spec : FaultsOf(FaultSite::kServer)) {
    EXPECT_NE(help.find(std::string(spec->name)), std::string::npos) << spec->name;
  }
}

TEST_F(SimCommandsTest, ForgetsFaults) {
  Sim({"FAULT", "LOSE", "INCR"});
  EXPECT_EQ(Sim({"FAULT", "CLEAR"}), Reply::Ok());
  EXPECT_FALSE(sim_.faults().Next("INCR").has_value());
  EXPECT_EQ(Sim({"FAULT", "DROP", "GET", "COUNT", "0"}),
            Reply::Error("ERR COUNT must be followed by a positive number"));
}

TEST(ReplyWithoutManualClock, SaysHowToGetOne) {
  const std::vector<std::string_view> help = {"help"};
  const Reply lines = ReplyWithoutManualClock(help);
  ASSERT_TRUE(lines.is_array());
  ASSERT_EQ(lines.elements().size(), 3u);
  EXPECT_NE(lines.elements()[1].text().find("redouble serve --clock manual"), std::string::npos);
  for (const std::vector<std::string_view>& words :
       std::vector<std::vector<std::string_view>>{{}, {"CLOCK", "GET"}, {"HELP", "x"}}) {
    const Reply reply = ReplyWithoutManualClock(words);
    ASSERT_TRUE(reply.is_error());
    EXPECT_EQ(reply.text(),
              "ERR SIM needs a manual clock: start with redouble serve --clock manual");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
