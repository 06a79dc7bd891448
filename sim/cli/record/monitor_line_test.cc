#include "redouble/sim/cli/record/monitor_line.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ElementsAre;

TEST(MonitorLine, HasTimeDatabaseClientAndWords) {
  ASSERT_OK_AND_ASSIGN(
      const MonitorLine line,
      ParseMonitorLine(R"(1778335382.005000 [3 127.0.0.1:50312] "SET" "a b" "\x00\xff\"\n")"));
  EXPECT_EQ(line.us, 1'778'335'382'005'000);
  EXPECT_EQ(line.db, 3);
  EXPECT_EQ(line.client, "127.0.0.1:50312");
  EXPECT_THAT(line.words, ElementsAre("SET", "a b", std::string("\0\xff\"\n", 4)));
  EXPECT_FALSE(line.is_from_script());
}

TEST(MonitorLine, KnowsUnixSocketsIpv6AndScripts) {
  ASSERT_OK_AND_ASSIGN(const MonitorLine unix_line,
                       ParseMonitorLine(R"(+1.000001 [0 unix:/tmp/s] "GET" "k")"));
  EXPECT_EQ(unix_line.client, "unix:/tmp/s");
  EXPECT_EQ(unix_line.us, 1'000'001);
  ASSERT_OK_AND_ASSIGN(const MonitorLine ipv6,
                       ParseMonitorLine(R"(1.000001 [0 [::1]:5] "GET" "k")"));
  EXPECT_EQ(ipv6.client, "[::1]:5");
  ASSERT_OK_AND_ASSIGN(const MonitorLine script, ParseMonitorLine(R"(1.000001 [0 lua] "get" "k")"));
  EXPECT_TRUE(script.is_from_script());
}

TEST(MonitorLine, RefusesEverythingElse) {
  for (const char* text :
       {"", "OK", "1.5 [0 a] \"GET\"", "x.000001 [0 a] \"GET\"", "1.000001 [x a] \"GET\"",
        "1.000001 [0 a] \"GET", "1.000001 [0 a] ", "1.000001 [0 a"}) {
    EXPECT_EQ(ParseMonitorLine(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
