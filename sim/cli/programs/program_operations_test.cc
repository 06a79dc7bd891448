#include "redouble/sim/cli/programs/program_operations.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using testing::HasSubstr;

// `ask WORDS` sends a command and prints the first line of the reply. bash says more of a
// connection that was closed, depending on when it looks.
constexpr char kAsk[] = R"(
    connect() { exec 3<>/dev/tcp/$REDIS_HOST/$REDIS_PORT; }
    ask() {
      echo "$*" 2>/dev/null >&3
      read -r line 2>/dev/null <&3 || line=closed
      echo "${line%$'\r'}"
    }
    connect
    )";

class ProgramOperationsTest : public testing::Test {
 protected:
  // Adds an actor that runs the script in bash; its result comes last in `results_`.
  void Spawn(const std::string& script, Json arguments = Json::object()) {
    arguments["command"] = {"bash", "-c", kAsk + script};
    SpawnWith(std::move(arguments));
  }

  void SpawnWith(Json arguments) {
    world_.Spawn("program", [this, arguments = std::move(arguments)](Actor& actor) {
      return RunIn(actor, arguments);
    });
  }

  base::Task<void> RunIn(Actor& actor, const Json& arguments) {
    const OperationContext context(actor.store(), actor.clock(), actor.rng(),
                                   [&actor] { return actor.Connect(); });
    results_.push_back(co_await (*table_.Find(kRunProgram))(context, arguments));
  }

  // The result of the only program.
  OperationResult Run(const std::string& script, Json arguments = Json::object()) {
    Spawn(script, std::move(arguments));
    world_.Run();
    return results_.at(0);
  }

  std::string Output(const std::string& script) {
    const OperationResult result = Run(script);
    return result.ok() ? (*result)["output"].get<std::string>() : result.status().ToString();
  }

  absl::StatusOr<std::optional<std::string>> Get(std::string_view key) {
    const auto session = world_.Connect();
    return base::Run(store::Get(*session, key));
  }

  const OperationTable table_ = ProgramOperations();
  std::vector<OperationResult> results_;
  World world_;
};

TEST_F(ProgramOperationsTest, TheCommandsRunInTheWorld) {
  EXPECT_EQ(Output("ask SET n 5; ask INCR n"), "+OK\n:6\n");
  EXPECT_THAT(Get("n"), IsOkAndHolds("6"));
}

TEST_F(ProgramOperationsTest, ATransactionIsTheProgramsOwn) {
  EXPECT_EQ(Output("ask WATCH n; ask MULTI; ask SET n 1; ask EXEC"), "+OK\n+OK\n+QUEUED\n*1\n");
}

TEST_F(ProgramOperationsTest, HelloChangesTheProtocol) {
  EXPECT_EQ(
      Output("ask HELLO 3; read -d '' -t 0.1 -r <&3; ask HGETALL h; ask RESET; ask HGETALL h"),
      "%7\n%0\n+RESET\n*0\n");
}

TEST_F(ProgramOperationsTest, QuitClosesTheConnection) {
  EXPECT_EQ(Output("ask QUIT; ask PING; connect; ask PING"), "+OK\nclosed\n+PONG\n");
}

TEST_F(ProgramOperationsTest, ABlockedCommandWaitsInVirtualTime) {
  Spawn("ask BLPOP q 0");
  world_.Spawn("other", [](Actor& actor) -> base::Task<void> {
    co_await actor.clock().SleepUntil(actor.clock().Now() + absl::Hours(24));
    (void)co_await store::RPush(actor.store(), "q", "job");
  });
  EXPECT_EQ(world_.Run().end, RunEnd::kDone);
  ASSERT_THAT(results_.at(0), IsOk());
  EXPECT_EQ((*results_[0])["output"], "*2\n");
}

TEST_F(ProgramOperationsTest, AFaultClosesTheConnection) {
  WorldOptions options;
  options.faults = {{.fault = Fault::kDropReply, .command = "INCR", .nth = 1}};
  World world(options);
  OperationResult result = Json();
  world.Spawn("program", [&](Actor& actor) -> base::Task<void> {
    const OperationContext context(actor.store(), actor.clock(), actor.rng(),
                                   [&actor] { return actor.Connect(); });
    const Json arguments{
        {"command", {"bash", "-c", std::string(kAsk) + "ask INCR n; connect; ask GET n"}}};
    result = co_await (*table_.Find(kRunProgram))(context, arguments);
  });
  world.Run();
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ((*result)["output"], "closed\n$1\n");
}

TEST_F(ProgramOperationsTest, ACrashKillsTheProgram) {
  Spawn("ask GET n; ask SET n 1; echo alive");
  world_.Step();
  world_.Crash(*world_.actors()[0]);
  EXPECT_EQ(world_.Run().end, RunEnd::kDone);
  EXPECT_TRUE(results_.empty());
  EXPECT_THAT(Get("n"), IsOkAndHolds(std::nullopt));
}

TEST_F(ProgramOperationsTest, AStatusOtherThanZeroIsAnError) {
  const OperationResult result = Run("echo first; echo last; exit 3");
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInternal));
  EXPECT_FALSE(IsArgumentError(result.status()));
  EXPECT_THAT(result.status().message(), HasSubstr(" exited with status 3: last"));
}

TEST_F(ProgramOperationsTest, AStatusMayBeTheResult) {
  const OperationResult result = Run("echo last; exit 3", {{"may_fail", true}});
  EXPECT_THAT(result, IsOkAndHolds(Json{{"exit_status", 3}, {"output", "last\n"}}));
}

TEST_F(ProgramOperationsTest, ASignalIsAnErrorAlways) {
  EXPECT_THAT(Run("kill -9 $$", {{"may_fail", true}}), StatusIs(absl::StatusCode::kInternal));
}

TEST_F(ProgramOperationsTest, VariablesAreAdded) {
  const OperationResult result = Run("echo $MODE", {{"environment", {{"MODE", "safe"}}}});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ((*result)["output"], "safe\n");
}

TEST_F(ProgramOperationsTest, OutputThatIsNoTextIsEncoded) {
  const OperationResult result = Run(R"(printf '\377')");
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ((*result)["output"], "bytes:\\xff");
}

// Runs an actor with these arguments and expects an argument error.
TEST_F(ProgramOperationsTest, MistakesOfTheFileAreArgumentErrors) {
  const auto bash = [](const std::string& script) { return Json{"bash", "-c", kAsk + script}; };
  const std::vector<std::pair<Json, std::string>> cases = {
      {{{"command", Json::array()}}, "/command: expected a program and its arguments"},
      {{{"command", {"no-such-program"}}}, "no-such-program is in no folder of PATH"},
      {{{"command", {"true"}}, {"environment", "x"}}, "/environment: expected an object of texts"},
      {{{"command", {"true"}}, {"environment", {{"A", 1}}}},
       "/environment: the value of A is not a text"},
      {{{"command", {"true"}}, {"patience_s", 0}}, "/patience_s: expected at least 1"},
      {{{"command", {"sleep", "1000"}}, {"patience_s", 1}},
       "sleep 1000: the program has neither sent a command nor ended for 1s"},
      {{{"command", bash(R"(printf '*1\r\nx\r\n' >&3; cat <&3)")}},
       "the program does not speak the Redis protocol"},
      {{{"command", bash("ask subscribe c")}},
       "the program sends subscribe, which programs that are explored may not"},
      {{{"command", bash("ask CLIENT tracking on")}}, "the program sends CLIENT tracking, "}};
  for (const auto& [arguments, message] : cases) {
    results_.clear();
    SpawnWith(arguments);
    world_.Run();
    ASSERT_EQ(results_.size(), 1u);
    EXPECT_TRUE(IsArgumentError(results_[0].status())) << message;
    EXPECT_THAT(results_[0].status().message(), HasSubstr(message));
  }
}

TEST_F(ProgramOperationsTest, OutsideOfAWorldThereAreNoPrograms) {
  const auto session = world_.Connect();
  base::Rng rng(1);
  const OperationContext context(*session, world_.clock(), rng);
  const Json arguments{{"command", {"true"}}};
  const OperationResult result = base::Run((*table_.Find(kRunProgram))(context, arguments));
  EXPECT_TRUE(IsArgumentError(result.status()));
  EXPECT_EQ(result.status().message(), "/command: programs are run by actors of world files only");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
