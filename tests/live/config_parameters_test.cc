// Goal: CONFIG SET and CONFIG GET of every parameter reply as those of redis-server.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using memory::KeptParameter;
using memory::KeptParameters;

// Values that are valid for some kinds, and limits of the ranges of others.
constexpr std::string_view kValues[] = {
    "yes",       "NO",       "0",           "1",         "-1",         "17",
    "101",       "65536",    "99999999999", "64mb",      "-5mb",       "1.5",
    "10%",       "0%",       "101%",        "x%",        "",           "text",
    "some text", "everysec", "ALWAYS",      "save now",  "now nosave", "save nosave",
    "1 2 3",     "1 2 4000", "{title}",     "{nothing}", "a_b",        "host-1.example",
    "local",     "verbose",
};

// Numbers, sizes and percentages that are wrong, or have to be read as Redis reads them.
constexpr std::string_view kNumbers[] = {
    "",
    " 1",
    "1 ",
    "1x",
    "-1",
    "-0",
    "+1",
    "007",
    "0x10",
    "1e3",
    "1k",
    "1kb",
    "1KB",
    "1b",
    "1 kb",
    "1gbb",
    "kb",
    "-1kb",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
    "18446744073709551615b",
    "20000000000g",
    "99999999999gb",
    "-9223372036854775808",
    "-9223372036854775809",
    "%",
    "0%",
    "-0%",
    "+50%",
    "050%",
    "50%",
    " 50%",
    "50%%",
    "-50%",
    "100%",
    "101%",
    "9223372036854775807%",
    "9223372036854775808%",
    "-9223372036854775808%",
    std::string_view("1\0", 2),
    std::string_view("1kb\0x", 5),
    std::string_view("no\0", 3),
    "invalid",
};

// The test's own server decides these: where it runs, what it listens on and how it was built. A
// real server acts on these values, and fails for reasons of the machine.
bool DependsOnTheServer(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "active-expire-effort",
      "bind-source-addr",
      "dir",
      "dynamic-hz",
      "enable-protected-configs",
      "hz",
      "ignore-warnings",
      "logfile",
      "loglevel",
      "oom-score-adj",
      "oom-score-adj-values",
      "pidfile",
      "set-proc-title",
      "unixsocketperm",
      "watchdog-period",  // At least two periods of hz, which the test's server has changed.
  };
  for (const std::string_view other : kNames) {
    if (name == other) return true;
  }
  return false;
}

// A real server acts on them at once: it listens elsewhere, asks for a password, or looks for
// descriptors.
bool ActsAtOnce(std::string_view name) {
  return name == "bind" || name == "maxclients" || name == "port" || name == "requirepass" ||
         name == "unixsocket";
}

std::string TextOf(const std::optional<store::Reply>& reply) {
  return reply ? reply->DebugString() : "no reply";
}

class ConfigParameters : public testing::Test {
 protected:
  void ExpectSame(const Words& words) {
    EXPECT_EQ(TextOf(memory_.Run(0, words)), TextOf(server_.Run(0, words))) << JoinWords(words);
  }

  void ExpectAllSame(const std::vector<Words>& commands) {
    const std::vector<store::Reply> ours = memory_.RunAll(0, commands);
    const std::vector<store::Reply> theirs = server_.RunAll(0, commands);
    for (size_t i = 0; i < commands.size(); ++i) {
      EXPECT_EQ(ours[i].DebugString(), theirs[i].DebugString()) << JoinWords(commands[i]);
    }
  }

  MemoryTarget memory_;
  ServerTarget server_{{"enable-debug-command yes"}};
};

TEST_F(ConfigParameters, WithoutEffectAreCheckedAndKeptAsInRedis) {
  for (const KeptParameter& parameter : KeptParameters()) {
    if (DependsOnTheServer(parameter.name)) continue;
    for (const std::string_view name : {parameter.name, parameter.former_name}) {
      if (name.empty()) continue;
      ExpectSame({"CONFIG", "GET", std::string(name)});
      for (const std::string_view value : kValues) {
        ExpectSame({"CONFIG", "SET", std::string(name), std::string(value)});
        ExpectSame({"CONFIG", "GET", std::string(parameter.name)});
      }
    }
  }
}

TEST_F(ConfigParameters, ReadNumbersAsRedisDoes) {
  const std::optional<store::Reply> all = server_.Run(0, {"CONFIG", "GET", "*"});
  ASSERT_TRUE(all && !all->is_error());
  for (size_t i = 0; i < all->elements().size(); i += 2) {
    const std::string& name = all->elements()[i].text();
    if (DependsOnTheServer(name) || ActsAtOnce(name)) continue;
    const std::string& initial = all->elements()[i + 1].text();
    std::vector<Words> commands;
    for (const std::string_view value : kNumbers) {
      commands.push_back({"CONFIG", "SET", name, std::string(value)});
      commands.push_back({"CONFIG", "GET", name});
      commands.push_back({"CONFIG", "SET", name, initial});
    }
    ExpectAllSame(commands);
  }
}

TEST_F(ConfigParameters, WithAValueOfTheirOwnFormAreCheckedAsInRedis) {
  for (const std::string_view value :
       {"3600 1", "3600 1 300 100", "", "x", "0 1", "60 -1", "60", "60  1", " 60 1"}) {
    ExpectSame({"CONFIG", "SET", "save", std::string(value)});
    ExpectSame({"CONFIG", "GET", "save"});
  }
  for (const std::string_view value : {"50", "", "200", "50 50.5 99.999", "0 100", "a", "50  60",
                                       "-1", "99.12345678901", "33.3333333333", "1e1", "nan"}) {
    ExpectSame({"CONFIG", "SET", "latency-tracking-info-percentiles", std::string(value)});
    ExpectSame({"CONFIG", "GET", "latency-tracking-info-percentiles"});
  }
  for (const std::string_view value : {"18446744073709551615", "1gb", "-1", "0"}) {
    ExpectSame({"CONFIG", "SET", "maxmemory", std::string(value)});
    ExpectSame({"CONFIG", "GET", "maxmemory"});
  }
}

TEST_F(ConfigParameters, AreRefusedWhenProtectedOrRepeated) {
  ExpectSame({"CONFIG", "SET", "dir", "/tmp"});
  ExpectSame({"CONFIG", "SET", "dbfilename", "other.rdb"});
  ExpectSame({"CONFIG", "SET", "repl-timeout", "10", "REPL-TIMEOUT", "20"});
  ExpectSame({"CONFIG", "SET", "repl-timeout", "10", "nothing", "20"});
  ExpectSame({"CONFIG", "SET", "repl-timeout", "20", "appendfsync", "sometimes"});
  ExpectSame({"CONFIG", "GET", "repl-timeout"});
}

TEST_F(ConfigParameters, WritesNeedReplicas) {
  ExpectSame({"CONFIG", "SET", "min-slaves-to-write", "1"});
  ExpectSame({"CONFIG", "GET", "min-replicas-to-write"});
  ExpectSame({"SET", "k", "v"});
  ExpectSame({"GET", "k"});
  ExpectSame({"MULTI"});
  ExpectSame({"GET", "k"});
  ExpectSame({"SET", "k", "v"});
  ExpectSame({"EXEC"});
  const std::string set = "return redis.call('SET', 'k', 'v')";
  const std::string get = "return redis.call('GET', 'k')";
  ExpectSame({"EVAL", set, "1", "k"});
  ExpectSame({"EVAL", "#!lua\n" + set, "1", "k"});
  ExpectSame({"EVAL", "#!lua\n" + get, "1", "k"});
  ExpectSame({"EVAL", "#!lua flags=no-writes\n" + get, "1", "k"});
  ExpectSame({"PUBLISH", "channel", "message"});
  ExpectSame({"CONFIG", "SET", "min-replicas-max-lag", "0"});
  ExpectSame({"SET", "k", "v"});
  ExpectSame({"CONFIG", "SET", "min-replicas-max-lag", "10", "min-replicas-to-write", "0"});
  ExpectSame({"SET", "k", "w"});
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
