#include "redouble/sim/cli/programs/program_process.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;

// Opens a connection as descriptor 3.
constexpr char kConnect[] = "exec 3<>/dev/tcp/$REDIS_HOST/$REDIS_PORT; ";

ProgramOptions Bash(const std::string& script) {
  return ProgramOptions{.command = {"bash", "-c", script}};
}

class ProgramProcessTest : public testing::Test {
 protected:
  void Start(const ProgramOptions& options) {
    auto program = ProgramProcess::Start(options);
    ASSERT_THAT(program, IsOk());
    program_ = *std::move(program);
  }
  void Start(const std::string& script) { Start(Bash(script)); }

  void ExpectCommand(int connection, const std::vector<std::string>& words) {
    const absl::StatusOr<ProgramEvent> event = program_->Next();
    ASSERT_THAT(event, IsOk());
    EXPECT_EQ(event->kind, ProgramEvent::kCommand);
    EXPECT_EQ(event->connection, connection);
    EXPECT_EQ(event->words, words);
  }

  void ExpectClosed(int connection) {
    const absl::StatusOr<ProgramEvent> event = program_->Next();
    ASSERT_THAT(event, IsOk());
    EXPECT_EQ(event->kind, ProgramEvent::kClosed);
    EXPECT_EQ(event->connection, connection);
  }

  void ExpectExit(int status) {
    const absl::StatusOr<ProgramEvent> event = program_->Next();
    ASSERT_THAT(event, IsOk());
    EXPECT_EQ(event->kind, ProgramEvent::kExited);
    EXPECT_EQ(program_->ExitStatus(), status);
  }

  std::unique_ptr<ProgramProcess> program_;
};

TEST_F(ProgramProcessTest, TheProgramWaitsForTheReply) {
  Start(std::string(kConnect) + R"(echo "GET n" >&3; read -r line <&3; echo "got $line"; exit 7)");
  ExpectCommand(0, {"GET", "n"});
  EXPECT_EQ(program_->Output(), "");
  program_->Send(0, "+value\n");
  ExpectClosed(0);
  ExpectExit(7);
  EXPECT_EQ(program_->Output(), "got +value\n");
  EXPECT_EQ(program_->DescribeExit(), "exited with status 7");
}

TEST_F(ProgramProcessTest, TheProgramFindsItsServerInTheEnvironment) {
  ProgramOptions options = Bash(R"(
      [ "$REDIS_URL" = "redis://$REDIS_HOST:$REDIS_PORT" ] && [ "$REDIS_HOST" = 127.0.0.1 ] && [ "$MODE" = fast ])");
  options.environment = {{"MODE", "fast"}};
  Start(options);
  ExpectExit(0);
}

TEST_F(ProgramProcessTest, APipelineIsReportedCommandByCommand) {
  Start(std::string(kConnect) +
        R"(printf 'SET a 1\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n' >&3; cat <&3)");
  ExpectCommand(0, {"SET", "a", "1"});
  ExpectCommand(0, {"GET", "a"});
  program_->Close(0);
  ExpectExit(0);
}

TEST_F(ProgramProcessTest, ConnectionsHaveNumbers) {
  Start(std::string(kConnect) + R"(
      echo "PING one" >&3; read -r line <&3
      exec 4<>/dev/tcp/$REDIS_HOST/$REDIS_PORT; echo "PING two" >&4; read -r line <&4
      exec 3>&-; read -r line <&4)");
  ExpectCommand(0, {"PING", "one"});
  program_->Send(0, "\n");
  ExpectCommand(1, {"PING", "two"});
  program_->Send(1, "\n");
  ExpectClosed(0);
  program_->Send(0, "nobody reads this");
  program_->Close(0);
  program_->Send(1, "\n");
  ExpectClosed(1);
  ExpectExit(0);
}

TEST_F(ProgramProcessTest, WhatTheProgramSentBeforeItEndedIsNotLost) {
  Start(std::string(kConnect) + R"(for i in 1 2 3; do echo "INCR n" >&3; done)");
  for (int i = 0; i < 3; ++i) ExpectCommand(0, {"INCR", "n"});
  ExpectClosed(0);
  ExpectExit(0);
}

TEST_F(ProgramProcessTest, AReplyThatIsLargerThanTheSocketsBufferArrives) {
  constexpr size_t kBytes = 20'000'000;
  Start(std::string(kConnect) + R"(echo "GET big" >&3; head -c 20000000 <&3 | wc -c)");
  ExpectCommand(0, {"GET", "big"});
  program_->Send(0, std::string(kBytes, 'x'));
  ExpectClosed(0);
  ExpectExit(0);
  EXPECT_THAT(program_->Output(), HasSubstr("20000000"));
}

TEST_F(ProgramProcessTest, BytesThatAreNoCommandAreAnError) {
  Start(std::string(kConnect) + R"(printf '*1\r\nx' >&3; printf '\r\n' >&3; cat <&3)");
  const absl::StatusOr<ProgramEvent> event = program_->Next();
  EXPECT_THAT(event, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(event.status().message(),
            "the program does not speak the Redis protocol: Protocol error: expected '$', got 'x'");
}

TEST_F(ProgramProcessTest, AProgramThatDoesNothingIsAnError) {
  ProgramOptions options = Bash("exec sleep 1000");
  options.patience = absl::Milliseconds(50);
  Start(options);
  const absl::StatusOr<ProgramEvent> event = program_->Next();
  EXPECT_THAT(event, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(event.status().message(), "the program has neither sent a command nor ended for 50ms");
}

TEST_F(ProgramProcessTest, AProgramThatASignalEndedHasNoStatus) {
  Start("kill -9 $$");
  const absl::StatusOr<ProgramEvent> event = program_->Next();
  ASSERT_THAT(event, IsOk());
  EXPECT_EQ(event->kind, ProgramEvent::kExited);
  EXPECT_EQ(program_->ExitStatus(), std::nullopt);
  EXPECT_EQ(program_->DescribeExit(), "was killed by signal 9");
}

TEST_F(ProgramProcessTest, AProgramThatIsNotThereIsAnError) {
  const auto program = ProgramProcess::Start({.command = {"no-such-program"}});
  EXPECT_THAT(program, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(program.status().message(), HasSubstr("no-such-program is in no folder of PATH"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
