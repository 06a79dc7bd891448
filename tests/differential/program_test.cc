// Tests of the differential harness itself: programs, their runs and shrinking, on in-memory
// targets.
#include "redouble/tests/differential/program.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/differential/campaign.h"
#include "redouble/tests/differential/groups.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/differential/shrink.h"
#include "redouble/tests/support/target/memory_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using Kind = ProgramStep::Kind;
using store::Reply;

constexpr absl::Time kTime = absl::FromUnixMillis(1'778'335'382'500);

ProgramStep Command(Words words, int connection = 0) {
  ProgramStep step;
  step.connection = connection;
  step.words = std::move(words);
  return step;
}

ProgramStep ToDeadline(int64_t amount_us) {
  ProgramStep step;
  step.kind = Kind::kAdvanceToDeadline;
  step.amount_us = amount_us;
  return step;
}

TEST(Program, IsPrintedAsAConformanceCase) {
  ProgramStep clock;
  clock.kind = Kind::kAdvance;
  clock.amount_us = 1500;
  const Program program{kTime, {Command({"SET", "k", "a b"}), clock, Command({"GET", "k"}, 1)}};
  EXPECT_EQ(ProgramText(program, "Title"),
            "@case Title\n> SET k \"a b\"\n@advance 1500us\n@client b\n> GET k\n");
}

TEST(MakeProgram, GivesTheSameProgramForTheSameSeed) {
  const ProgramOptions options{.group = "strings", .seed = 7, .max_commands = 60};
  EXPECT_EQ(MakeProgram(options).steps, MakeProgram(options).steps);
  EXPECT_NE(MakeProgram(options).steps,
            MakeProgram({.group = "strings", .seed = 8, .max_commands = 60}).steps);
}

TEST(Groups, GenerateEveryCommandThatTheEngineHas) {
  for (const store::VersionSpec& version : store::AllVersions()) {
    std::vector<bool> generated(store::kCommandCount);
    for (const CommandGenerator& row : GeneratorsOf("all", version.id)) {
      generated[static_cast<size_t>(row.id)] = true;
    }
    for (const store::CommandSpec& spec : store::AllCommands()) {
      if (!spec.versions.Has(version.id) || store::IsContainer(spec.id)) continue;
      EXPECT_NE(generated[static_cast<size_t>(spec.id)],
                !ExclusionReason(spec.id, version.id).empty())
          << spec.name << " of " << version.name
          << ": neither generated nor left out for a reason, or both";
    }
  }
}

TEST(RunProgram, MovesTheClockToDeadlines) {
  MemoryTarget target;
  Program program{kTime,
                  {Command({"SET", "k", "v", "PX", "10"}), ToDeadline(0), Command({"PTTL", "k"}),
                   ToDeadline(1000), Command({"PTTL", "k"}), ToDeadline(0)}};
  const std::vector<StepResult> results = RunProgram(target, program);
  EXPECT_EQ(results[2].reply, Reply::Integer(0));
  EXPECT_EQ(results[4].reply, Reply::Integer(-2));
  EXPECT_EQ(program.steps[1].kind, Kind::kAdvance);
  EXPECT_EQ(program.steps[1].amount_us, 10'000);
  EXPECT_EQ(program.steps[5].amount_us, 1000) << "nothing pending: a millisecond";
}

TEST(RunProgram, CollectsTheRepliesOfBlockedCommands) {
  MemoryTarget target;
  Program program{
      kTime,
      {Command({"BLPOP", "list", "1"}), Command({"PING"}), Command({"PING"}, 1),
       Command({"RPUSH", "list", "x"}, 1), Command({"BLPOP", "list", "1"}, 1), ToDeadline(1000)}};
  const std::vector<StepResult> results = RunProgram(target, program);
  EXPECT_FALSE(results[0].reply.has_value());
  EXPECT_FALSE(results[1].reply.has_value());
  EXPECT_EQ(results[2].reply, Reply::Status("PONG"));
  const std::vector<LateReply> served = {{0, Reply::Array({Reply::Bulk("list"), Reply::Bulk("x")})},
                                         {0, Reply::Status("PONG")}};
  EXPECT_EQ(results[3].late, served);
  EXPECT_EQ(results[5].late, (std::vector<LateReply>{{1, Reply::Nil()}}));
}

TEST(Compare, AgreesWithItself) {
  MemoryTarget one;
  MemoryTarget other;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Program program = MakeProgram({.group = "all", .seed = seed, .max_commands = 60});
    const std::optional<Difference> difference = Compare(one, other, program);
    EXPECT_FALSE(difference.has_value()) << seed << ": " << difference->where;
  }
}

// Behaves like the engine that it wraps, except for one command.
class WrongTarget final : public Target {
 public:
  std::string name() const override { return "wrong"; }
  void Reset(absl::Time now) override { right_.Reset(now); }
  absl::Time now() const override { return right_.now(); }
  void SetTime(absl::Time now) override { right_.SetTime(now); }
  void Settle() override {}
  std::optional<absl::Time> NextDeadline() override { return right_.NextDeadline(); }
  std::vector<Reply> RunAll(int connection, std::span<const Words> commands) override {
    std::vector<Reply> replies;
    for (const Words& command : commands) replies.push_back(Run(connection, command).value());
    return replies;
  }
  std::optional<Reply> Run(int connection, const Words& command) override {
    // Silently ignores expiries that are longer than a second.
    if (command.size() == 3 && command[0] == "PEXPIRE" && command[2].size() > 3) {
      return right_.Run(connection, {"EXISTS", command[1]});
    }
    if (command[0] == "STRLEN") return Reply::Integer(42);
    return right_.Run(connection, command);
  }
  std::optional<Reply> Poll(int connection) override { return right_.Poll(connection); }

 private:
  MemoryTarget right_;
};

TEST(Compare, ReportsTheStepWhoseReplyDiffers) {
  MemoryTarget right;
  WrongTarget wrong;
  Program program{kTime, {Command({"SET", "k", "v"}), Command({"STRLEN", "k"}, 1)}};
  const std::optional<Difference> difference = Compare(right, wrong, program);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->where, "step 2, connection 1: STRLEN k");
  EXPECT_EQ(difference->expected, "(integer) 1");
  EXPECT_EQ(difference->actual, "(integer) 42");
}

TEST(Compare, ComparesTheKeyspaceAtTheEnd) {
  MemoryTarget right;
  WrongTarget wrong;
  Program program{
      kTime,
      {Command({"SELECT", "2"}), Command({"SET", "k", "v"}), Command({"PEXPIRE", "k", "1234"})}};
  const std::optional<Difference> difference = Compare(right, wrong, program);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->where, "at the end, in database 2: PTTL k");
  EXPECT_EQ(difference->expected, "(integer) 1234");
  EXPECT_EQ(difference->actual, "(integer) -1");
}

TEST(Shrink, ReturnsTheShortestFailingProgram) {
  MemoryTarget right;
  WrongTarget wrong;
  const auto fails = [&](const Program& candidate) {
    Program copy = candidate;
    return Compare(right, wrong, copy).has_value();
  };
  Program program = MakeProgram({.group = "expiry", .seed = 3, .max_commands = 60});
  program.steps.push_back(Command({"SET", "other", "a long value"}, 2));
  program.steps.push_back(Command({"PEXPIRE", "other", "1500"}, 2));
  const Program shrunk = Shrink(program, fails);
  ASSERT_EQ(shrunk.steps.size(), 2u) << ProgramText(shrunk, "shrunk");
  EXPECT_EQ(shrunk.steps[1].words[0], "PEXPIRE");
  EXPECT_EQ(shrunk.steps[1].connection, 0);
}

TEST(Shrink, KeepsHowKeysExpire) {
  Program program = MakeProgram({.group = "expiry", .seed = 3, .max_commands = 60});
  program.active_expiry = false;
  const Program shrunk =
      Shrink(program, [](const Program& candidate) { return !candidate.active_expiry; });
  EXPECT_TRUE(shrunk.steps.empty());
  EXPECT_FALSE(shrunk.active_expiry);
  EXPECT_EQ(ProgramText(shrunk, "shrunk"), "@case shrunk\n> DEBUG SET-ACTIVE-EXPIRE 0\n");
}

TEST(RunCampaign, ReportsADifferenceAsACaseAndHowToRepeatIt) {
  MemoryTarget right;
  WrongTarget wrong;
  CampaignOptions options;
  options.group = "strings";
  options.programs = 100;
  const CampaignResult result = RunCampaign(options, right, wrong);
  EXPECT_EQ(result.differences, 1);
  EXPECT_NE(result.report.find("@case A difference found by chance\n> STRLEN"), std::string::npos)
      << result.report;
  EXPECT_NE(result.report.find("--group strings --seed 1 --first "), std::string::npos);
}

TEST(RunCampaign, EndsAfterTheRequestedNumberOfCommands) {
  MemoryTarget one;
  MemoryTarget other;
  CampaignOptions options;
  options.programs = 1000;
  options.max_total_commands = 100;
  const CampaignResult result = RunCampaign(options, one, other);
  EXPECT_GE(result.commands, 100);
  EXPECT_LT(result.commands, 200);
  EXPECT_EQ(result.differences, 0) << result.report;
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
