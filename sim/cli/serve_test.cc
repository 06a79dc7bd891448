// Bad options of `redouble serve`; what it serves is tested in tests/serve.
#include "sim/cli/program_for_test.h"

namespace redouble::sim {
namespace {

using ServeTest = ProgramTest;

TEST_F(ServeTest, RefusesOptionsThatContradictEachOther) {
  EXPECT_EQ(Run({"serve", "--start", "0"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: --start needs --clock manual\n");
  EXPECT_EQ(Run({"serve", "--load", "x.json"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: --load needs --clock manual: a scenario has its own time\n");
  EXPECT_EQ(Run({"serve", "--port", "0"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: nowhere to listen: neither a port nor a Unix socket\n");
}

TEST_F(ServeTest, RefusesValuesThatAreNone) {
  EXPECT_EQ(Run({"serve", "--clock", "manual", "--start", "soon"}), kExitBadUsage);
  EXPECT_EQ(err(),
            "redouble serve: --start soon: neither RFC 3339 nor milliseconds since the epoch\n");
  EXPECT_EQ(Run({"serve", "--maxmemory", "much"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: --maxmemory much: no number of bytes, like 64mb\n");
  EXPECT_EQ(Run({"serve", "--bind", "nowhere"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: no IP address: nowhere\n");
  EXPECT_EQ(Run({"serve", "--unixsocket", std::string(108, 'x')}), kExitBadUsage);
  for (const char* port : {"-1", "65536", "x"}) {
    EXPECT_EQ(Run({"serve", "--port", port}), kExitBadUsage) << port;
  }
  EXPECT_EQ(Run({"serve", "--clock", "wall"}), kExitBadUsage);
  EXPECT_EQ(Run({"serve", "--seed", "x"}), kExitBadUsage);
}

TEST_F(ServeTest, RefusesAScenarioThatIsNotThere) {
  EXPECT_EQ(Run({"serve", "--clock", "manual", "--load", "x.json"}), kExitBadUsage);
  EXPECT_NE(err().find("x.json"), std::string::npos);
}

TEST_F(ServeTest, FailsWithTheScenarioThatItLoads) {
  WriteScenario("x.json", /*reply=*/2);
  // A relative path: those of Bazel's folders are too long for a socket.
  EXPECT_EQ(
      Run({"serve", "--port", "0", "--unixsocket", "s", "--clock", "manual", "--load", "x.json"}),
      kExitFailed);
  EXPECT_EQ(out(), "");
}

TEST_F(ServeTest, FailsWhereItCannotListen) {
  EXPECT_EQ(Run({"serve", "--port", "0", "--unixsocket", "none/s"}), kExitFailed);
  EXPECT_NE(err().find("cannot listen on unix:"), std::string::npos);
}

}  // namespace
}  // namespace redouble::sim
