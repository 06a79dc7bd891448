#include "redouble/sim/cli/serve/configuration.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/cli/serve/redis_server.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// "LINE: TEXT: MESSAGE" of each error.
std::vector<std::string> Errors(std::string_view text) {
  ServeSettings settings;
  std::vector<std::string> errors;
  for (const ConfigurationError& error : ReadConfiguration(text, settings)) {
    errors.push_back(std::to_string(error.line) + ": " + error.text + ": " + error.message);
  }
  return errors;
}

ServeSettings Read(std::string_view text) {
  ServeSettings settings;
  const std::vector<ConfigurationError> errors = ReadConfiguration(text, settings);
  EXPECT_TRUE(errors.empty()) << errors.front().text << ": " << errors.front().message;
  return settings;
}

TEST(Configuration, SetsTheProcessAndTheEngine) {
  const ServeSettings settings = Read(
      "# a comment\n"
      "\n"
      "PORT 7000\n"
      "  bind 127.0.0.1 -::1\n"
      "unixsocket \"/tmp/a b\"\n"
      "databases 3\n"
      "loglevel verbose\n"
      "logfile log\n"
      "pidfile pid\n"
      "dir /tmp\n"
      "hz 100\n"
      "daemonize no\n"
      "maxmemory 64mb\n"
      "client-output-buffer-limit pubsub 1mb 0 0\n"
      "notify-keyspace-events \"\"\n"
      "requirepass 'a b'\n"
      "user ann on >secret ~* +@all\n"
      "redouble-clock manual\n"
      "redouble-seed 7\n"
      "redouble-start 2026-05-09T14:03:02Z\n"
      "tls-port 0\n");
  const memory::EngineOptions& engine = settings.options.engine;
  EXPECT_EQ(engine.server.port, 7000);
  EXPECT_EQ(engine.server.bind, "127.0.0.1 -::1");
  EXPECT_EQ(engine.server.unixsocket, "/tmp/a b");
  EXPECT_EQ(engine.databases, 3);
  EXPECT_EQ(engine.maxmemory_bytes, 64u << 20);
  EXPECT_EQ(engine.server.client_output_buffer_limits[2].hard_bytes, 1u << 20);
  EXPECT_EQ(engine.requirepass, "a b");
  EXPECT_EQ(engine.seed, 7u);
  EXPECT_EQ(settings.options.clock, ServeOptions::Clock::kManual);
  EXPECT_EQ(absl::ToUnixMillis(settings.options.start), 1'778'335'382'000);
  EXPECT_EQ(settings.options.upkeep_period, absl::Milliseconds(10));
  EXPECT_EQ(settings.log_level, LogLevel::kVerbose);
  EXPECT_EQ(settings.logfile, "log");
  EXPECT_EQ(settings.pidfile, "pid");
  EXPECT_EQ(settings.folder, "/tmp");
  EXPECT_FALSE(settings.daemonize);
  EXPECT_THAT(settings.users, ElementsAre(ElementsAre("ann", "on", ">secret", "~*", "+@all")));
  EXPECT_THAT(settings.warnings, IsEmpty());
}

TEST(Configuration, MakesAClusterNode) {
  const ServeSettings settings = Read(
      "cluster-enabled yes\ncluster-announce-ip 10.0.0.1\ncluster-announce-port 7001\n"
      "cluster-config-file /nowhere/nodes.conf\n");
  ASSERT_TRUE(settings.options.engine.cluster.has_value());
  EXPECT_EQ(settings.options.engine.cluster->shards[0].master.host, "10.0.0.1");
  EXPECT_EQ(settings.options.engine.cluster->shards[0].master.port, 7001);
  EXPECT_FALSE(Read("cluster-enabled no").options.engine.cluster.has_value());
  EXPECT_FALSE(Read("cluster-announce-ip 10.0.0.1\ncluster-announce-port 7001\n"
                    "cluster-config-file /nowhere/nodes.conf\n")
                   .options.engine.cluster.has_value());
  const ServeSettings later = Read("cluster-announce-port 7001\ncluster-enabled yes\n");
  ASSERT_TRUE(later.options.engine.cluster.has_value());
  EXPECT_EQ(later.options.engine.cluster->shards[0].master.port, 7001);
}

TEST(Configuration, SaysWhoMayDoWhatIsProtected) {
  using memory::ProtectedAccess;
  const memory::ServerOptions defaults = Read("").options.engine.server;
  EXPECT_EQ(defaults.enable_debug_command, ProtectedAccess::kNo);
  EXPECT_EQ(defaults.enable_module_command, ProtectedAccess::kNo);
  EXPECT_EQ(defaults.enable_protected_configs, ProtectedAccess::kNo);
  const ServeSettings settings =
      Read("enable-debug-command local\nenable-module-command YES\nenable-protected-configs yes\n");
  const memory::ServerOptions& server = settings.options.engine.server;
  EXPECT_EQ(server.enable_debug_command, ProtectedAccess::kLocal);
  EXPECT_EQ(server.enable_module_command, ProtectedAccess::kYes);
  EXPECT_EQ(server.enable_protected_configs, ProtectedAccess::kYes);
  EXPECT_THAT(settings.warnings, IsEmpty());
}

TEST(Configuration, ListsEveryWrongLineInTheWordsOfRedis) {
  EXPECT_THAT(
      Errors("port 0\nfoo bar\nport x\nport \"x\nport\nport 65536\nloglevel loud\n"
             "maxmemory-policy never\nfoo\n*1\ndaemonize maybe\nredouble-clock wall\n"
             "redouble-seed x\nredouble-start soon\ntls-port 6380\nreplicaof a x\n"
             "loadmodule m.so\ninclude other.conf\ndatabases 0\nhz x\ncluster-enabled x\n"
             "user ann on\nuser ann off\nuser bob on nonsense\nuser\nuser cat (+get\n"
             "enable-debug-command x\nenable-module-command yes no\nactivedefrag yes\n"
             "tls-port x\ntls-port 65536\nmaxmemory-clients 101%\ntimeout\ntimeout 1 2\n"
             "repl-timeout\nnotify-keyspace-events\noom-score-adj-values\nreplicaof a\n"
             "rename-command GET\nsave 60\n"),
      ElementsAre(
          "2: foo bar: Bad directive or wrong number of arguments",
          "3: port x: argument couldn't be parsed into an integer",
          "4: port \"x: Unbalanced quotes in configuration line",
          "5: port: wrong number of arguments",
          "6: port 65536: argument must be between 0 and 65535 inclusive",
          "7: loglevel loud: argument(s) must be one of the following: debug, verbose, notice, "
          "warning",
          "8: maxmemory-policy never: argument(s) must be one of the following: volatile-lru, "
          "volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, "
          "allkeys-random, noeviction",
          "9: foo: Bad directive or wrong number of arguments",
          "10: *1: Bad directive or wrong number of arguments",
          "11: daemonize maybe: argument must be 'yes' or 'no'",
          "12: redouble-clock wall: argument(s) must be one of the following: system, manual",
          "13: redouble-seed x: argument couldn't be parsed into an integer",
          "14: redouble-start soon: soon: neither RFC 3339 nor milliseconds since the epoch",
          "15: tls-port 6380: TLS is not supported by Redouble",
          "16: replicaof a x: Invalid master port",
          "17: loadmodule m.so: Modules are not supported by Redouble",
          "18: include other.conf: include is not supported by Redouble",
          "19: databases 0: argument must be between 1 and 2147483647 inclusive",
          "20: hz x: argument couldn't be parsed into an integer",
          "21: cluster-enabled x: argument must be 'yes' or 'no'",
          "23: user ann off: Error in user declaration 'ann': Duplicate user found. A user can "
          "only be defined once in config files",
          "24: user bob on nonsense: Error in user declaration 'bob': Syntax error",
          "25: user: Bad directive or wrong number of arguments",
          "26: user cat (+get: Error in user declaration 'user': Unknown command or category name "
          "in ACL",
          "27: enable-debug-command x: argument(s) must be one of the following: no, yes, local",
          "28: enable-module-command yes no: wrong number of arguments",
          "29: activedefrag yes: Active defragmentation cannot be enabled: it requires a Redis "
          "server compiled with a modified Jemalloc like the one shipped by default with the Redis "
          "source distribution",
          "30: tls-port x: argument couldn't be parsed into an integer",
          "31: tls-port 65536: argument must be between 0 and 65535 inclusive",
          "32: maxmemory-clients 101%: percentage argument must be less or equal to 100",
          "33: timeout: wrong number of arguments", "34: timeout 1 2: wrong number of arguments",
          "35: repl-timeout: wrong number of arguments",
          "36: notify-keyspace-events: wrong number of arguments",
          "37: oom-score-adj-values: wrong number of arguments",
          "38: replicaof a: wrong number of arguments",
          "39: rename-command GET: Bad directive or wrong number of arguments",
          "40: save 60: Invalid save parameters"));
  EXPECT_THAT(Errors("rename-command get set\nrename-command nosuch x\nrename-command get \"\"\n"
                     "rename-command get x\nrename-command config|get x\n"),
              ElementsAre("1: rename-command get set: Target command name already exists",
                          "2: rename-command nosuch x: No such command in rename-command",
                          "4: rename-command get x: No such command in rename-command",
                          "5: rename-command config|get x: No such command in rename-command"));
}

TEST(Configuration, GivesCommandsNewNames) {
  const ServeSettings settings = Read(
      "rename-command GET Read\nrename-command read fetch\nrename-command set get\n"
      "rename-command config \"\"\nrename-command ping PING\nmaxmemory 1mb\n");
  using testing::Pair;
  EXPECT_THAT(settings.options.engine.renamed_commands,
              ElementsAre(Pair("config", ""), Pair("get", "fetch"), Pair("set", "get")));
  EXPECT_EQ(settings.options.engine.maxmemory_bytes, 1U << 20);
}

TEST(Configuration, ReadsParametersOfAnyNumberOfValues) {
  const ServeSettings none =
      Read("save\nbind\nclient-output-buffer-limit\nlatency-tracking-info-percentiles\n");
  EXPECT_THAT(none.options.engine.server.save_points, IsEmpty());
  EXPECT_EQ(none.options.engine.server.bind, "");
  EXPECT_THAT(none.options.engine.latency_tracking_info_percentiles, IsEmpty());
  const ServeSettings split = Read(
      "save \"60 1\"\nsave\nbind \"127.0.0.1  127.0.0.2\"\nreplicaof \"127.0.0.1 6380\"\n"
      "latency-tracking-info-percentiles \"50 99\"\n");
  EXPECT_EQ(split.options.engine.server.save_points.size(), 1u);
  EXPECT_EQ(split.options.engine.server.bind, "127.0.0.1 127.0.0.2");
  EXPECT_EQ(split.options.engine.kept_parameters.at("replicaof"), "127.0.0.1 6380");
  EXPECT_THAT(split.options.engine.latency_tracking_info_percentiles, ElementsAre(50, 99));
}

TEST(Configuration, KeepsTheValuesOfWrongLines) {
  ServeSettings settings;
  ReadConfiguration("port 7000\nport x\nmaxmemory 1mb\nmaxmemory much\n", settings);
  EXPECT_EQ(settings.options.engine.server.port, 7000);
  EXPECT_EQ(settings.options.engine.maxmemory_bytes, 1u << 20);
}

TEST(Configuration, WarnsOfWhatHasNoEffect) {
  const ServeSettings settings = Read("activerehashing no\nrdbcompression no\nhz 10\n");
  EXPECT_THAT(settings.warnings, ElementsAre("\"activerehashing no\" has no effect in Redouble"));
  EXPECT_EQ(settings.options.engine.kept_parameters.at("activerehashing"), "no");
  EXPECT_FALSE(settings.options.engine.server.rdbcompression);
}

TEST(Configuration, DescribesTheAppendOnlyLog) {
  const ServeSettings settings = Read(
      "appendonly yes\nappendfsync always\nappenddirname logs\nappendfilename a.aof\n"
      "aof-load-truncated no\naof-use-rdb-preamble no\nauto-aof-rewrite-min-size 1mb\n");
  EXPECT_TRUE(settings.loads_keys);
  const memory::ServerOptions& server = settings.options.engine.server;
  EXPECT_TRUE(server.appendonly);
  EXPECT_EQ(server.appendfsync, memory::AppendFsync::kAlways);
  EXPECT_EQ(server.appenddirname, "logs");
  EXPECT_EQ(server.appendfilename, "a.aof");
  EXPECT_FALSE(server.aof_load_truncated);
  EXPECT_FALSE(server.aof_use_rdb_preamble);
  EXPECT_EQ(server.auto_aof_rewrite_min_size_bytes, 1 << 20);
  EXPECT_THAT(settings.warnings, IsEmpty());
  EXPECT_THAT(Errors("appendfilename a/b\nappenddirname \"\"\nappenddirname a/b\n"
                     "appendfsync sometimes\n"),
              ElementsAre("1: appendfilename a/b: appendfilename can't be a path, just a filename",
                          "2: appenddirname \"\": appenddirname can't be empty",
                          "3: appenddirname a/b: appenddirname can't be a path, just a dirname",
                          "4: appendfsync sometimes: argument(s) must be one of the following: "
                          "everysec, always, no"));
}

// Every parameter of a real server, with that server's value, is a configuration.
TEST(Configuration, KnowsEveryParameterOfRedis) {
  ASSERT_OK_AND_ASSIGN(const auto server, redis::SpawnedServer::Start({}));
  ASSERT_OK_AND_ASSIGN(const auto client, redis::SyncClient::Connect(server->uri()));
  const std::string_view arguments[] = {"GET", "*"};
  const store::Command command = store::Command::Named("CONFIG", arguments);
  ASSERT_OK_AND_ASSIGN(const store::Reply reply, base::Run(client->Execute(command)));
  ASSERT_GT(reply.elements().size(), 300u);
  for (size_t i = 0; i + 1 < reply.elements().size(); i += 2) {
    const std::string& name = reply.elements()[i].text();
    const std::string& value = reply.elements()[i + 1].text();
    if (name == "replicaof" || name == "slaveof") continue;
    const bool needs_quotes = value.empty() || name == "proc-title-template";
    EXPECT_THAT(Errors(name + " " + (needs_quotes ? "\"" + value + "\"" : value)), IsEmpty());
  }
}

// A line of the process is a value of CONFIG GET as well.
TEST(Configuration, KeepsValuesForConfigGet) {
  const ServeSettings settings =
      Read("pidfile /run/r.pid\nhz 100\nslave-priority 7\nbgsave_cpulist 1\nmasterauth \"a b\"\n");
  EXPECT_THAT(settings.options.engine.kept_parameters,
              UnorderedElementsAre(Pair("pidfile", "/run/r.pid"), Pair("hz", "100"),
                                   Pair("replica-priority", "7"), Pair("bgsave_cpulist", "1"),
                                   Pair("masterauth", "a b")));
}

TEST(Configuration, RefusesWrongValuesOfParametersWithoutEffect) {
  for (const memory::KeptParameter& parameter : memory::KeptParameters()) {
    if (parameter.kind != memory::KeptParameter::Kind::kSwitch) continue;
    if (!parameter.versions.Has(store::Version::kRedis70)) continue;
    ServeSettings settings;
    const std::vector<ConfigurationError> errors =
        ReadConfiguration(std::string(parameter.name) + " perhaps", settings);
    ASSERT_EQ(errors.size(), 1u) << parameter.name;
    EXPECT_EQ(errors[0].message, "argument must be 'yes' or 'no'");
  }
}

TEST(Configuration, AddsSavePointsAndRemovesThem) {
  const auto points = [](const std::string& text) {
    ServeSettings settings;
    settings.options.engine.server.save_points = {{3600, 1}};
    EXPECT_THAT(ReadConfiguration(text, settings), IsEmpty());
    std::vector<int64_t> seconds;
    for (const memory::SavePoint& point : settings.options.engine.server.save_points) {
      seconds.push_back(point.seconds);
    }
    return seconds;
  };
  EXPECT_THAT(points(""), ElementsAre(3600));
  EXPECT_THAT(points("save 900 1\nsave 300 10 60 100\n"), ElementsAre(900, 300, 60));
  EXPECT_THAT(points("save ''\n"), IsEmpty());
  EXPECT_THAT(points("save 900 1\nsave ''\nsave 60 1\n"), ElementsAre(60));
}

TEST(Configuration, NamesTheFileOfKeys) {
  EXPECT_FALSE(Read("port 1").loads_keys);
  EXPECT_TRUE(Read("dir /tmp").loads_keys);
  const ServeSettings settings = Read("dbfilename keys.rdb\nrdbchecksum no\n");
  EXPECT_TRUE(settings.loads_keys);
  EXPECT_EQ(settings.options.engine.server.dbfilename, "keys.rdb");
  EXPECT_FALSE(settings.options.engine.server.rdbchecksum);
  ServeSettings refused;
  EXPECT_EQ(ReadConfiguration("dbfilename a/b", refused).at(0).message,
            "dbfilename can't be a path, just a filename");
}

TEST(RedisServerArguments, AreLinesOfAConfiguration) {
  EXPECT_EQ(ArgumentsAsConfiguration({}), "");
  EXPECT_EQ(ArgumentsAsConfiguration({"--port", "7000", "--loglevel", "verbose"}),
            "port \"7000\"\nloglevel \"verbose\"\n");
  EXPECT_EQ(ArgumentsAsConfiguration({"--port 7000", "--bind", "127.0.0.1", "::1"}),
            "port 7000\nbind \"127.0.0.1\" \"::1\"\n");
  EXPECT_EQ(ArgumentsAsConfiguration({"--requirepass", "--a \"b"}), "requirepass \"--a \\\"b\"\n");
  EXPECT_EQ(ArgumentsAsConfiguration({"--save", "--port", "7000"}), "save \"\"\nport \"7000\"\n");
  EXPECT_EQ(ArgumentsAsConfiguration({"--save", ""}), "save \"\"\n");
  EXPECT_EQ(ArgumentsAsConfiguration({"--port", "7000", "--save"}), "port \"7000\"\nsave \"\"\n");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
