#include "redouble/backends/redis/spawn/held_clock.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "gtest/gtest.h"
#include "redouble/backends/redis/spawn/child_process.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;

constexpr absl::Duration kPatience = absl::Seconds(20);
const absl::Time kNow = absl::FromUnixMicros(1'700'000'000'123'456);

using Environment = std::vector<std::pair<std::string, std::string>>;

class HeldClockTest : public ::testing::Test {
 protected:
  std::unique_ptr<ChildProcess> StartShell(const std::string& script,
                                           const Environment& environment) {
    ChildProcessOptions options;
    options.executable = "/bin/sh";
    options.arguments = {"-c", script};
    options.environment = environment;
    options.output_path = folder_.PathOf("output");
    std::filesystem::remove(options.output_path);
    return ChildProcess::Start(options).value();
  }

  // The output of a script with these variables added to the environment.
  std::string OutputOf(const std::string& script, const Environment& environment) {
    auto child = StartShell(script, environment);
    EXPECT_TRUE(child->WaitForExit(kPatience));
    return ReadFile(folder_.PathOf("output")).value();
  }

  std::unique_ptr<HeldClock> CreateClock() {
    return HeldClock::Create(folder_.path(), kNow).value();
  }

  const PrivateFolder folder_ = PrivateFolder::Create("clock-").value();
};

TEST_F(HeldClockTest, ShowsItsTimeToAnotherProcessToTheMicrosecond) {
  const auto clock = CreateClock();
  EXPECT_EQ(OutputOf("date -u +%s.%N", clock->Environment()), "1700000000.123456000\n");
}

TEST_F(HeldClockTest, ShowsEachTimeThatIsSet) {
  const auto clock = CreateClock();
  ASSERT_THAT(clock->SetTime(absl::FromUnixMicros(1)), IsOk());
  EXPECT_EQ(OutputOf("date -u +%s.%N", clock->Environment()), "0.000001000\n");
  ASSERT_THAT(clock->AdvanceTime(absl::Hours(24) + absl::Nanoseconds(1999)), IsOk());
  EXPECT_EQ(clock->Now(), absl::FromUnixMicros(86'400'000'002));
  EXPECT_EQ(OutputOf("date -u +%s.%N", clock->Environment()), "86400.000002000\n");
  ASSERT_THAT(clock->AdvanceTime(-absl::Hours(24)), IsOk());
  EXPECT_EQ(OutputOf("date -u +%s.%N", clock->Environment()), "0.000002000\n");
}

// A real program calls each of the three functions: perl with time and gettimeofday, and with
// clock_gettime for the clocks that stay real.
TEST_F(HeldClockTest, AnswersEveryFunctionThatReadsTheWallClock) {
  const auto clock = CreateClock();
  const std::string script =
      "perl -MTime::HiRes=gettimeofday,clock_gettime,CLOCK_REALTIME,CLOCK_REALTIME_COARSE -e '"
      "printf(\"%d %s %.6f %.6f\\n\", CORE::time, join(\".\", gettimeofday),"
      " clock_gettime(CLOCK_REALTIME), clock_gettime(CLOCK_REALTIME_COARSE))'";
  EXPECT_EQ(OutputOf(script, clock->Environment()),
            "1700000000 1700000000.123456 1700000000.123456 1700000000.123456\n");
}

TEST_F(HeldClockTest, LeavesTheMonotonicClockAlone) {
  const auto clock = CreateClock();
  const std::string script =
      "perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'print clock_gettime(CLOCK_MONOTONIC)'";
  using std::chrono::steady_clock;
  const std::chrono::duration<double> before = steady_clock::now().time_since_epoch();
  const double shown = std::stod(OutputOf(script, clock->Environment()));
  const std::chrono::duration<double> after = steady_clock::now().time_since_epoch();
  // Perl prints 15 digits, which may round by less than a microsecond.
  EXPECT_GE(shown, before.count() - 1e-6);
  EXPECT_LE(shown, after.count() + 1e-6);
}

// Without a usable page, a program sees real time and works normally.
TEST_F(HeldClockTest, ShowsRealTimeWithoutAUsablePage) {
  const auto clock = CreateClock();
  const std::string library = clock->Environment()[0].second;
  ASSERT_THAT(WriteFile(folder_.PathOf("short"), "1234"), IsOk());
  for (const std::string& page :
       {std::string(), std::string("/no/such/page"), folder_.PathOf("short"), folder_.path()}) {
    const std::string output =
        OutputOf("date +%s", {{"LD_PRELOAD", library}, {REDOUBLE_HELD_CLOCK_PAGE_VARIABLE, page}});
    EXPECT_GT(std::stoll(output), 1'750'000'000) << "page: " << page;
  }
}

// A process follows the clock once its library is loaded; a word through a pipe proves that.
TEST_F(HeldClockTest, ReportsWhichProcessesFollowIt) {
  const auto clock = CreateClock();
  const std::string pipe = folder_.PathOf("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string script = "echo loaded > " + pipe + "; sleep 1000; exit";
  const auto follower = StartShell(script, clock->Environment());
  ASSERT_EQ(ReadFile(pipe).value(), "loaded\n");
  EXPECT_TRUE(clock->IsFollowedBy(follower->pid()));
  const auto stranger = StartShell(script, {});
  ASSERT_EQ(ReadFile(pipe).value(), "loaded\n");
  EXPECT_FALSE(clock->IsFollowedBy(stranger->pid()));
  EXPECT_FALSE(clock->IsFollowedBy(0));
}

TEST_F(HeldClockTest, KeepsTheLibrariesThatWerePreloadedAlready) {
  const auto clock = CreateClock();
  const std::string library = folder_.PathOf("held_clock.so");
  const char* inherited = getenv("LD_PRELOAD");
  const std::string before = inherited == nullptr ? "" : inherited;
  setenv("LD_PRELOAD", "/other.so", 1);
  const Environment with_other = clock->Environment();
  unsetenv("LD_PRELOAD");
  const Environment alone = clock->Environment();
  if (!before.empty()) setenv("LD_PRELOAD", before.c_str(), 1);
  const std::pair<std::string, std::string> page(REDOUBLE_HELD_CLOCK_PAGE_VARIABLE,
                                                 folder_.PathOf("held_clock.page"));
  EXPECT_EQ(with_other, (Environment{{"LD_PRELOAD", library + ":/other.so"}, page}));
  EXPECT_EQ(alone, (Environment{{"LD_PRELOAD", library}, page}));
}

TEST_F(HeldClockTest, RefusesATimeItCannotShow) {
  const auto clock = CreateClock();
  for (const absl::Time time : {absl::FromUnixMicros(-1), absl::InfiniteFuture(),
                                absl::InfinitePast(), absl::FromUnixSeconds(9'300'000'000'000)}) {
    EXPECT_THAT(clock->SetTime(time), StatusIs(absl::StatusCode::kInvalidArgument)) << time;
    EXPECT_THAT(HeldClock::Create(folder_.path(), time),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  EXPECT_THAT(clock->AdvanceTime(absl::InfiniteDuration()),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(clock->Now(), kNow);
}

TEST_F(HeldClockTest, ReachesTheEndOfItsRange) {
  const auto clock = CreateClock();
  const absl::Time last = absl::FromUnixMicros(INT64_MAX);
  EXPECT_THAT(clock->SetTime(last), IsOk());
  EXPECT_EQ(clock->Now(), last);
}

TEST_F(HeldClockTest, ReportsThePathThatCannotBeWritten) {
  const absl::Status status = HeldClock::Create("/no/such/folder", kNow).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound));
  EXPECT_NE(status.message().find("/no/such/folder"), std::string::npos);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
