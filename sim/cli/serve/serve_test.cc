// Bad options of `redouble serve`; what it serves is tested in tests/serve.
#include "redouble/sim/cli/program_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using ServeTest = ProgramTest;

TEST_F(ServeTest, RefusesOptionsThatContradictEachOther) {
  EXPECT_EQ(Run({"serve", "--start", "0"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: --start needs --clock manual\n");
  EXPECT_EQ(Run({"serve", "--load", "x.json"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: --load needs --clock manual: a scenario has its own time\n");
  EXPECT_EQ(Run({"serve", "--port", "none"}), kExitBadUsage);
  EXPECT_EQ(
      err(),
      "redouble serve: nowhere to listen: neither a port with an address nor a Unix socket\n");
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
    EXPECT_EQ(err(), "redouble serve: --port " + std::string(port) +
                         ": expected 1 to 65535, 0 for a free port, or none\n");
  }
  EXPECT_EQ(Run({"serve", "--bind", " "}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: no address to listen on: bind \" \"\n");
  EXPECT_EQ(Run({"serve", "--loglevel", "loud"}), kExitBadUsage);
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
  EXPECT_EQ(Run({"serve", "--port", "none", "--unixsocket", "s", "--clock", "manual", "--load",
                 "x.json"}),
            kExitFailed);
  EXPECT_EQ(out(), "");
}

TEST_F(ServeTest, FailsWithADumpThatItCannotLoad) {
  Write("dump.rdb", "REDIS0003\xfe");
  EXPECT_EQ(Run({"serve", "--port", "none", "--unixsocket", "s", "--load", "dump.rdb"}),
            kExitFailed);
  EXPECT_NE(err().find("dump.rdb: byte 10: expected 1 more byte"), std::string::npos) << err();
}

TEST_F(ServeTest, NamesEveryWrongLineOfTheConfiguration) {
  Write("r.conf", "port 7000\nprot 7000\nmaxmemory much\n");
  EXPECT_EQ(Run({"serve", "--config", "r.conf"}), kExitBadUsage);
  EXPECT_EQ(err(),
            "redouble serve: r.conf:2: 'prot 7000': Bad directive or wrong number of arguments\n"
            "redouble serve: r.conf:3: 'maxmemory much': argument must be a memory value\n");
  EXPECT_EQ(Run({"serve", "--config", "none.conf"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble serve: none.conf: cannot be read\n");
}

TEST_F(ServeTest, FailsWithFilesThatCannotBeWritten) {
  EXPECT_EQ(Run({"serve", "--port", "none", "--unixsocket", "s", "--ready-file", "no/r.json"}),
            kExitFailed);
  EXPECT_NE(err().find("redouble serve: cannot write "), std::string::npos) << err();
  Write("pid.conf", "port 0\nunixsocket s\npidfile no/pid\n");
  EXPECT_EQ(Run({"serve", "--config", "pid.conf"}), kExitFailed);
  EXPECT_EQ(err(), "redouble serve: cannot write no/pid\n");
  Write("log.conf", "port 0\nunixsocket s\nlogfile no/log\n");
  EXPECT_EQ(Run({"serve", "--config", "log.conf"}), kExitFailed);
  EXPECT_EQ(err(), "redouble serve: Can't open the log file: no/log\n");
  Write("dir.conf", "port 0\nunixsocket s\ndir no/dir\n");
  EXPECT_EQ(Run({"serve", "--config", "dir.conf"}), kExitFailed);
  EXPECT_EQ(err(), "redouble serve: no/dir: No such file or directory\n");
}

TEST_F(ServeTest, RefusesAUserThatCannotBe) {
  Write("r.conf", "port 0\nunixsocket s\nuser ann +nosuch\n");
  EXPECT_EQ(Run({"serve", "--config", "r.conf"}), kExitBadUsage);
  EXPECT_EQ(err(),
            "redouble serve: Error loading ACL rule '+nosuch' for the user named 'ann': Unknown "
            "command or category name in ACL\nCritical error while loading ACLs. Exiting.\n");
  Write("blank.conf", "port 0\nunixsocket s\nuser \"a b\" on\n");
  EXPECT_EQ(Run({"serve", "--config", "blank.conf"}), kExitBadUsage);
  EXPECT_EQ(err(),
            "redouble serve: Spaces not allowed in ACL usernames\nCritical error while loading "
            "ACLs. Exiting.\n");
}

TEST_F(ServeTest, FailsInTheWordsOfRedisServer) {
  Write("r.conf", "port 0\nfoo bar\n");
  EXPECT_EQ(Run({"redis-server", "r.conf", "--port", "7000"}), kExitFailed);
  EXPECT_EQ(err(),
            "\n*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\n"
            "Reading the configuration file, at line 2\n>>> 'foo bar'\n"
            "Bad directive or wrong number of arguments\n");
  EXPECT_EQ(Run({"redis-server", "none.conf"}), kExitFailed);
  EXPECT_EQ(err(), "Fatal error, can't open config file 'none.conf'\n");
  EXPECT_EQ(Run({"redis-server", "--port", "0"}), kExitFailed);
  EXPECT_EQ(err(),
            "redis-server: nowhere to listen: neither a port with an address nor a Unix socket\n");
  EXPECT_EQ(Run({"redis-server", "--version"}), kExitPassed);
  EXPECT_TRUE(out().starts_with("Redis server v=7.0.15 sha=")) << out();
}

TEST_F(ServeTest, FailsWhereItCannotListen) {
  EXPECT_EQ(Run({"serve", "--port", "none", "--unixsocket", "none/s"}), kExitFailed);
  EXPECT_NE(err().find("cannot listen on unix:"), std::string::npos);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
