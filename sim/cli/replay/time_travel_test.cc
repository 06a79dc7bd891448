#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class TimeTravelTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    // Two events; then the key expires.
    Write("x.json", R"({"name": "a title", "description": "counts", "system": "redis",
        "start": "2026-05-09T14:03:02Z", "steps": [
          {"kind": "command", "command": ["INCR", "n"], "expect": 1},
          {"kind": "command", "command": ["SET", "m", "v", "PX", "1000"]},
          {"kind": "advance", "by": "1m30s"}]})");
    // The write of the second actor is the last event.
    Write("w.world.json", R"({"name": "two write", "description": "d", "source": "s",
        "system": "gateway", "start": "2026-05-09T14:03:02Z",
        "actors": {"a": [{"kind": "command", "command": ["SET", "n", "a"]}],
                   "b": [{"kind": "command", "command": ["SET", "n", "b"]}]},
        "invariants": [{"kind": "reply", "name": "a is last", "command": ["GET", "n"],
                        "expect": "a"}],
        "violation": {"seed": 1, "decisions": [], "hardened": false, "swarm": false,
                      "broke": "a is last: GET gives \"b\"", "trace_hash": ""}})");
  }

  std::string Read(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
};

TEST_F(TimeTravelTest, WritesTheEventsOfAScenario) {
  EXPECT_EQ(Run({"replay", "x.json", "--trace", "t.jsonl"}), kExitPassed);
  EXPECT_EQ(out(), "PASS x.json  3 events\n");
  EXPECT_THAT(Read("t.jsonl"),
              StartsWith("{\"index\":0,\"us\":1778335382000000,\"client\":\"main\","
                         "\"command\":[\"INCR\",\"n\"],\"reply\":1}\n{\"index\":1,"));
  EXPECT_THAT(Read("t.jsonl"), EndsWith("\"advance\":90000000}\n"));
}

TEST_F(TimeTravelTest, WritesThePageOfAWorldWithItsViolation) {
  EXPECT_EQ(Run({"replay", "w.world.json", "--html", "w.html"}), kExitFailed);
  EXPECT_EQ(out(), "FAIL w.world.json  2 events\n  a is last: GET gives \"b\"\n");
  EXPECT_THAT(Read("w.html"), StartsWith("<!DOCTYPE html>\n"));
  EXPECT_THAT(Read("w.html"), HasSubstr("data-actor=\"b\""));
  EXPECT_THAT(Read("w.html"), HasSubstr("<rect class=\"failing\""));
}

TEST_F(TimeTravelTest, StopsAfterAnEventAndPrintsTheKeys) {
  EXPECT_EQ(Run({"replay", "x.json", "--until", "0", "--trace", "t.jsonl"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("{\"index\":0,"));
  EXPECT_THAT(out(), EndsWith("\n{\n  \"n\": {\n    \"type\": \"string\",\n    \"value\": \"1\"\n"
                              "  }\n}\nPASS x.json  1 events\n"));
  EXPECT_THAT(Read("t.jsonl"), EndsWith("\"reply\":1}\n"));
}

TEST_F(TimeTravelTest, StopsBeforeAWorldFails) {
  EXPECT_EQ(Run({"replay", "w.world.json", "--until", "0"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("\"value\": \"a\""));
  EXPECT_EQ(Run({"replay", "w.world.json", "--until", "1"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("\"value\": \"b\""));
}

TEST_F(TimeTravelTest, StopsAtTheFirstEventWithAText) {
  EXPECT_EQ(Run({"replay", "x.json", "--break-at", "\"m\""}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("{\"index\":1,"));
  EXPECT_THAT(out(), HasSubstr("\"ttl_ms\": 1000"));
  EXPECT_EQ(Run({"replay", "x.json", "--break-at", "\"m\"", "--until", "0"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("{\"index\":0,"));
}

TEST_F(TimeTravelTest, RunsNothingAfterTheStop) {
  // The step after the event would fail, but does not run.
  Write("f.json", R"({"name": "a title", "description": "d", "system": "redis",
      "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "command", "command": ["INCR", "n"]},
        {"kind": "command", "command": ["INCR", "n"], "expect": 7}]})");
  EXPECT_EQ(Run({"replay", "f.json", "--until", "0"}), kExitPassed);
  EXPECT_EQ(Run({"replay", "f.json", "--break-at", "INCR"}), kExitPassed);
  EXPECT_EQ(Run({"replay", "f.json", "--until", "1"}), kExitFailed);
  // The earlier of the two stops counts; the later one need not exist.
  EXPECT_EQ(Run({"replay", "f.json", "--break-at", "INCR", "--until", "9"}), kExitPassed);
}

TEST_F(TimeTravelTest, PrintsWhatChangedBetweenTwoMoments) {
  EXPECT_EQ(Run({"replay", "x.json", "--changes", "0:1"}), kExitPassed);
  EXPECT_EQ(out(),
            "keys changed from 0 to 1: 1\n\"m\"\n"
            "  + {\"type\":\"string\",\"value\":\"v\",\"ttl_ms\":1000}\nPASS x.json  3 events\n");
  EXPECT_EQ(Run({"replay", "x.json", "--changes", "1:2"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("\"m\"\n  - {\"type\""));
  EXPECT_EQ(Run({"replay", "x.json", "--changes", "start:2"}), kExitPassed);
  EXPECT_THAT(out(), StartsWith("keys changed from start to 2: 1\n\"n\"\n  + "));
  EXPECT_EQ(Run({"replay", "w.world.json", "--changes", "0:1"}), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("\"n\"\n  - {\"type\":\"string\",\"value\":\"a\"}\n  + "));
}

TEST_F(TimeTravelTest, RefusesUnknownEvents) {
  EXPECT_EQ(Run({"replay", "x.json", "--until", "3"}), kExitFailed);
  EXPECT_EQ(err(), "redouble replay: x.json: --until 3: the run has 3 events, counted from 0\n");
  EXPECT_EQ(Run({"replay", "x.json", "--changes", "0:3"}), kExitFailed);
  EXPECT_EQ(err(), "redouble replay: x.json: --changes 3: the run has 3 events, counted from 0\n");
  EXPECT_EQ(Run({"replay", "x.json", "--break-at", "FLY"}), kExitFailed);
  EXPECT_EQ(err(), "redouble replay: x.json: --break-at FLY: no event has this text\n");
}

TEST_F(TimeTravelTest, RefusesMalformedChanges) {
  for (const char* changes : {"1", "a:1", "1:b", "1:2:3", ":", "-1:2"}) {
    EXPECT_EQ(Run({"replay", "x.json", std::string("--changes=") + changes}), kExitBadUsage)
        << changes;
    EXPECT_THAT(err(), StartsWith("redouble replay: x.json: --changes: expected A:B, "));
  }
}

TEST_F(TimeTravelTest, ReportsAFileThatCannotBeWritten) {
  EXPECT_EQ(Run({"replay", "x.json", "--trace", "none/t"}), kExitFailed);
  EXPECT_EQ(err(), "redouble replay: x.json: none/t: cannot be written\n");
  EXPECT_EQ(Run({"replay", "x.json", "--html", "none/h"}), kExitFailed);
  EXPECT_EQ(err(), "redouble replay: x.json: none/h: cannot be written\n");
}

TEST_F(TimeTravelTest, AcceptsOneFileOnly) {
  EXPECT_EQ(Run({"replay", "x.json", "w.world.json", "--trace", "t"}), kExitBadUsage);
  EXPECT_THAT(err(), EndsWith("take one file, got 2\n"));
  EXPECT_FALSE(fs::exists(folder_ / "t"));
  EXPECT_EQ(Run({"replay", "x.json", "w.world.json", "--filter", "two", "--trace", "t"}),
            kExitFailed);
  EXPECT_TRUE(fs::exists(folder_ / "t"));
}

TEST_F(TimeTravelTest, RefusesIncompatibleOptions) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"--spawn-redis"}, {"--redis", "redis://127.0.0.1"}, {"--verbose"}, {"--until", "-1"}}) {
    std::vector<std::string> arguments = {"replay", "x.json", "--trace", "t"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), kExitBadUsage) << testing::PrintToString(arguments);
    EXPECT_NE(err(), "");
  }
}

TEST_F(TimeTravelTest, TraceDiffDistinguishesEqualRunsFromDifferentOnes) {
  Run({"replay", "x.json", "--trace", "a"});
  Run({"replay", "x.json", "--trace", "b"});
  EXPECT_EQ(Run({"trace", "diff", "a", "b"}), kExitPassed);
  EXPECT_EQ(out(), "equal, 3 events\n");
  Run({"replay", "x.json", "--until", "1", "--trace", "b"});
  EXPECT_EQ(Run({"trace", "diff", "a", "b"}), kExitFailed);
  EXPECT_THAT(out(), StartsWith("event 2\n  {\"index\":0,"));
  EXPECT_THAT(out(), EndsWith("\"advance\":90000000}\n+ (the end)\n"));
}

TEST_F(TimeTravelTest, TraceDiffRefusesAMalformedTrace) {
  Write("a", "{}\n");
  Write("bad", "{}\nhello\n");
  EXPECT_EQ(Run({"trace", "diff", "a", "bad"}), kExitBadUsage);
  EXPECT_EQ(err(), "redouble trace diff: bad: line 2: expected an event, as JSON\n");
  EXPECT_EQ(Run({"trace", "diff", "none", "a"}), kExitBadUsage);
  EXPECT_THAT(err(), StartsWith("redouble trace diff: none: "));
  EXPECT_EQ(Run({"trace", "diff", "a"}), kExitBadUsage);
  EXPECT_EQ(Run({"trace"}), kExitBadUsage);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
