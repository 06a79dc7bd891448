#include "redouble/backends/redis/spawn/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "gtest/gtest.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;

constexpr absl::Duration kPatience = absl::Seconds(20);

class ChildProcessTest : public ::testing::Test {
 protected:
  ChildProcessOptions Shell(const std::string& script) const {
    ChildProcessOptions options;
    options.executable = "/bin/sh";
    options.arguments = {"-c", script};
    options.output_path = folder_.PathOf("output");
    return options;
  }

  ChildProcessOptions Sleeper() const { return Shell("exec sleep 1000"); }

  std::string Output() const { return ReadFile(folder_.PathOf("output")).value(); }

  // The output of a script, once it has ended.
  std::string OutputOf(const ChildProcessOptions& options) const {
    const auto child = ChildProcess::Start(options).value();
    EXPECT_TRUE(child->WaitForExit(kPatience));
    return Output();
  }

  const PrivateFolder folder_ = PrivateFolder::Create("child-").value();
};

TEST_F(ChildProcessTest, CollectsBothOutputs) {
  EXPECT_EQ(OutputOf(Shell("echo out; echo error >&2")), "out\nerror\n");
}

TEST_F(ChildProcessTest, AppendsToWhatAnEarlierOneWrote) {
  OutputOf(Shell("echo first"));
  EXPECT_EQ(OutputOf(Shell("echo second")), "first\nsecond\n");
}

TEST_F(ChildProcessTest, ReadsNothingFromItsInput) { EXPECT_EQ(OutputOf(Shell("cat")), ""); }

TEST_F(ChildProcessTest, AddsAndReplacesVariables) {
  setenv("CHILD_PROCESS_TEST", "parent", 1);
  ChildProcessOptions options = Shell("echo $CHILD_PROCESS_TEST $CHILD_PROCESS_OTHER; env");
  options.environment = {{"CHILD_PROCESS_TEST", "child"}, {"CHILD_PROCESS_OTHER", "new"}};
  const std::string output = OutputOf(options);
  EXPECT_TRUE(output.starts_with("child new\n")) << output;
  EXPECT_EQ(output.find("CHILD_PROCESS_TEST=parent"), std::string::npos);
}

TEST_F(ChildProcessTest, InheritsTheOtherVariables) {
  setenv("CHILD_PROCESS_KEPT", "kept", 1);
  EXPECT_EQ(OutputOf(Shell("echo $CHILD_PROCESS_KEPT")), "kept\n");
}

TEST_F(ChildProcessTest, InheritsNoOpenFileOfTheParent) {
  const int leaked = fcntl(STDERR_FILENO, F_DUPFD, 50);
  const std::string output = OutputOf(Shell("cd /proc/self/fd && echo *"));
  close(leaked);
  EXPECT_EQ(output.find(" " + std::to_string(leaked)), std::string::npos) << output;
}

TEST_F(ChildProcessTest, DescribesHowTheChildEnded) {
  auto child = ChildProcess::Start(Shell("exit 3"));
  ASSERT_THAT(child, IsOk());
  ASSERT_TRUE((*child)->WaitForExit(kPatience));
  EXPECT_EQ((*child)->DescribeExit(), "exited with status 3");
  EXPECT_EQ((*child)->ExitStatus(), 3);
}

TEST_F(ChildProcessTest, SignalsTheChildOnlyWhileItRuns) {
  auto child = ChildProcess::Start(Sleeper());
  ASSERT_THAT(child, IsOk());
  EXPECT_EQ((*child)->DescribeExit(), "still runs");
  EXPECT_EQ((*child)->ExitStatus(), std::nullopt);
  EXPECT_FALSE((*child)->WaitForExit(absl::ZeroDuration()));
  EXPECT_TRUE((*child)->Signal(SIGTERM));
  ASSERT_TRUE((*child)->WaitForExit(kPatience));
  EXPECT_EQ((*child)->DescribeExit(), "was killed by signal 15");
  EXPECT_EQ((*child)->ExitStatus(), std::nullopt);
  EXPECT_FALSE((*child)->Signal(SIGTERM));
}

TEST_F(ChildProcessTest, LeavesNoProcessNotEvenAZombie) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::Start(Sleeper());
    ASSERT_THAT(child, IsOk());
    pid = (*child)->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

// The grandchild holds the write end of a pipe, which is at its end once the grandchild is dead.
TEST_F(ChildProcessTest, TheGroupDiesWithItsLeader) {
  for (const char* script :
       {"sleep 1000 & echo started; exit 0", "sleep 1000 & echo started; wait"}) {
    const std::string fifo = folder_.PathOf("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(reader, 0);
    ChildProcessOptions options = Shell(script);
    options.output_path = fifo;
    options.leads_group = true;
    {
      const auto child = ChildProcess::Start(options).value();
      pollfd started{reader, POLLIN, 0};
      ASSERT_EQ(poll(&started, 1, 20'000), 1);
    }
    fcntl(reader, F_SETFL, 0);
    std::string output(100, 0);
    EXPECT_EQ(read(reader, output.data(), output.size()), 8);
    EXPECT_EQ(read(reader, output.data(), output.size()), 0) << script;
    close(reader);
    unlink(fifo.c_str());
  }
}

TEST_F(ChildProcessTest, OutlivesTheThreadThatStartedIt) {
  std::unique_ptr<ChildProcess> child;
  std::thread starter([&] { child = ChildProcess::Start(Sleeper()).value(); });
  starter.join();
  // The kernel sends its signal when the thread ends, so it would have arrived by now.
  EXPECT_TRUE(child->Signal(0));
  EXPECT_FALSE(child->WaitForExit(absl::Milliseconds(20)));
}

// The parent is killed without cleanup; this test adopts the orphan to observe its death.
TEST_F(ChildProcessTest, DiesWithAParentThatIsKilled) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    auto child = ChildProcess::Start(Sleeper());
    const pid_t pid = child.ok() ? (*child)->pid() : 0;
    if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    raise(SIGKILL);
  }
  pid_t orphan = 0;
  ASSERT_EQ(read(ends[0], &orphan, sizeof(orphan)), static_cast<ssize_t>(sizeof(orphan)));
  ASSERT_GT(orphan, 0);
  ASSERT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  EXPECT_EQ(waitpid(orphan, &status, 0), orphan);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ChildProcessTest, ReportsTheProgramThatCannotBeExecuted) {
  ChildProcessOptions options = Sleeper();
  options.executable = "/no/such/program";
  const auto missing = ChildProcess::Start(options);
  EXPECT_THAT(missing, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(missing.status().message().find("/no/such/program"), std::string::npos);
  options.executable = "/etc/passwd";
  EXPECT_THAT(ChildProcess::Start(options), StatusIs(absl::StatusCode::kPermissionDenied));
}

TEST_F(ChildProcessTest, ReportsTheOutputPathThatCannotBeWritten) {
  ChildProcessOptions options = Sleeper();
  options.output_path = "/no/such/folder/output";
  const auto child = ChildProcess::Start(options);
  EXPECT_THAT(child, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(child.status().message().find("/no/such/folder/output"), std::string::npos);
}

TEST(FindExecutable, FindsAProgramOnThePath) {
  const auto found = FindExecutable("sh");
  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(found->ends_with("/sh"));
}

TEST(FindExecutable, TakesAPathAsItIs) {
  EXPECT_TRUE(FindExecutable("/bin/sh").value().starts_with("/"));
}

TEST(FindExecutable, ReportsTheSearchedPlaces) {
  const absl::Status by_name = FindExecutable("no-such-program").status();
  EXPECT_THAT(by_name, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_TRUE(
      std::string(by_name.message()).starts_with("no-such-program is in no folder of PATH"));
  const absl::Status by_path = FindExecutable("/etc/passwd").status();
  EXPECT_THAT(by_path, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_EQ(by_path.message(), "/etc/passwd is no program that can be executed");
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
