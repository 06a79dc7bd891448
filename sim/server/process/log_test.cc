#include "redouble/sim/server/process/log.h"

#include <unistd.h>

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

const absl::Time kTime = absl::FromUnixMillis(1'778'335'382'005);

TEST(Log, WritesTheFormatOfRedis) {
  std::ostringstream out;
  Log(&out, LogLevel::kDebug).Write(LogLevel::kNotice, kTime, "Ready to accept connections");
  EXPECT_EQ(out.str(), std::to_string(getpid()) +
                           ":M 09 May 2026 14:03:02.005 * Ready to accept connections\n");
}

TEST(Log, WritesItsLevelAndAbove) {
  std::ostringstream out;
  const Log log(&out, LogLevel::kNotice);
  log.Write(LogLevel::kDebug, kTime, "debug");
  log.Write(LogLevel::kVerbose, kTime, "verbose");
  EXPECT_EQ(out.str(), "");
  log.Write(LogLevel::kWarning, kTime, "warning");
  EXPECT_NE(out.str().find(" # warning\n"), std::string::npos);
  EXPECT_FALSE(log.writes(LogLevel::kVerbose));
}

TEST(Log, WritesNothingWithoutAStream) {
  EXPECT_FALSE(Log().writes(LogLevel::kWarning));
  Log().Write(LogLevel::kWarning, kTime, "nowhere");
}

TEST(Log, KnowsTheLevelsOfRedis) {
  EXPECT_EQ(FindLogLevel("verbose"), LogLevel::kVerbose);
  EXPECT_EQ(FindLogLevel("WARNING"), LogLevel::kWarning);
  EXPECT_EQ(FindLogLevel("loud"), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
