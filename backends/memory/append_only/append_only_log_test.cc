// Goal: what was flushed is loaded again, and no failure of a file system or of the process loses
// it.
#include "redouble/backends/memory/append_only/append_only_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/append_only/save_commands.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/faulty_file_system_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {
namespace {

namespace fs = std::filesystem;

using base::IsOk;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// An engine with a session.
struct Server {
  std::string Ask(std::vector<std::string_view> words) { return session.Send(std::move(words)); }

  base::VirtualClock clock{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine{clock};
  RecordingSession session{engine};
};

void Fill(Server& server) {
  server.Ask({"FUNCTION", "LOAD",
              "#!lua name=one\nredis.register_function('f', function() return 1 end)"});
  server.Ask({"SET", "a", "1", "PX", "100000"});
  server.Ask({"SET", "binary", std::string_view("\0\r\n\xff", 4)});
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(i);
    server.Ask({"RPUSH", "list", text});
    server.Ask({"SADD", "set", text});
    server.Ask({"HSET", "hash", text, text});
    server.Ask({"ZADD", "sorted", absl::StrCat(i, ".5"), text});
    server.Ask({"XADD", "stream", absl::StrCat(i + 1, "-1"), "f", text, "g", text});
  }
  server.Ask({"XGROUP", "CREATE", "stream", "group", "0"});
  server.Ask({"XREADGROUP", "GROUP", "group", "ann", "COUNT", "70", "STREAMS", "stream", ">"});
  server.Ask({"XGROUP", "CREATECONSUMER", "stream", "group", "bob"});
  server.Ask({"XDEL", "stream", "200-1"});
  server.Ask({"XGROUP", "CREATE", "empty", "group", "$", "MKSTREAM"});
  server.Ask({"XADD", "trimmed", "5-1", "f", "v"});
  server.Ask({"XTRIM", "trimmed", "MAXLEN", "0"});
  server.Ask({"SELECT", "3"});
  server.Ask({"SADD", "other", "1", "2"});
  server.Ask({"SELECT", "0"});
}

class AppendOnlyLogTest : public testing::Test {
 protected:
  ~AppendOnlyLogTest() override { fs::remove_all(folder_); }

  AppendOnlyPlace place() const { return {.folder = folder_.string()}; }
  static std::string Content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::set<std::string> Files() const {
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(folder_)) names.insert(file.path().filename());
    return names;
  }
  std::string Loaded(std::vector<std::string_view> words) {
    Server server;
    EXPECT_THAT(LoadAppendOnly(server.engine, place()).status(), IsOk());
    return server.Ask(std::move(words));
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(AppendOnlyLogTest, IsLoadedAsItWasWritten) {
  for (const bool has_rdb_base : {true, false}) {
    fs::remove_all(folder_);
    Server server;
    Fill(server);
    AppendOnlyLog log(server.engine, place());
    log.set_options({.has_rdb_base = has_rdb_base});
    ASSERT_THAT(log.Start(), IsOk());
    server.Ask({"INCR", "a"});
    server.Ask({"SPOP", "set", "5"});
    server.clock.Advance(absl::Seconds(1));
    ASSERT_THAT(log.Flush(), IsOk());
    ASSERT_THAT(log.Sync(), IsOk());
    Server other;
    ASSERT_THAT(LoadAppendOnly(other.engine, place()).status(), IsOk());
    other.clock.Advance(absl::Seconds(1));
    EXPECT_EQ(other.Ask({"DEBUG", "DIGEST"}), server.Ask({"DEBUG", "DIGEST"}));
    for (const std::string_view key : {"stream", "empty", "trimmed"}) {
      EXPECT_EQ(other.Ask({"XINFO", "STREAM", key}), server.Ask({"XINFO", "STREAM", key}));
      EXPECT_EQ(other.Ask({"XINFO", "GROUPS", key}), server.Ask({"XINFO", "GROUPS", key}));
    }
    EXPECT_EQ(other.Ask({"XPENDING", "stream", "group", "-", "+", "100"}),
              server.Ask({"XPENDING", "stream", "group", "-", "+", "100"}));
    EXPECT_EQ(other.Ask({"FCALL", "f", "0"}), "1");
    EXPECT_EQ(other.Ask({"PTTL", "a"}), "99000");
  }
}

TEST_F(AppendOnlyLogTest, BreaksCollectionsIntoCommandsOf64Elements) {
  Server server;
  Fill(server);
  StringSink sink;
  ASSERT_THAT(SaveCommands(server.engine, sink), IsOk());
  EXPECT_THAT(sink.bytes(), HasSubstr("*66\r\n$5\r\nRPUSH\r\n$4\r\nlist\r\n"));
  EXPECT_THAT(sink.bytes(), HasSubstr("*10\r\n$5\r\nRPUSH\r\n$4\r\nlist\r\n$3\r\n192\r\n"));
  EXPECT_THAT(sink.bytes(), HasSubstr("*130\r\n$5\r\nHMSET\r\n"));
}

TEST_F(AppendOnlyLogTest, GoesOnWithALoadedLog) {
  for (int run = 1; run <= 3; ++run) {
    Server server;
    ASSERT_OK_AND_ASSIGN(const AppendOnlyLoadReport report, LoadAppendOnly(server.engine, place()));
    AppendOnlyLog log(server.engine, place());
    ASSERT_THAT(log.Continue(report), IsOk());
    EXPECT_EQ(server.Ask({"INCR", "runs"}), std::to_string(run));
    ASSERT_THAT(log.Stop(), IsOk());
  }
  EXPECT_THAT(Files(), ElementsAre("appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof",
                                   "appendonly.aof.manifest"));
}

TEST_F(AppendOnlyLogTest, IsRewrittenWhileCommandsRun) {
  Server server;
  AppendOnlyLog log(server.engine, place());
  ASSERT_THAT(log.Start(), IsOk());
  for (int i = 0; i < 100; ++i) server.Ask({"INCR", "n"});
  ASSERT_THAT(log.BeginRewrite(), IsOk());
  EXPECT_TRUE(log.rewriting());
  server.Ask({"INCR", "n"});
  ASSERT_THAT(log.Flush(), IsOk());
  EXPECT_EQ(Loaded({"GET", "n"}), "\"101\"") << "the old files and the new increment";
  ASSERT_THAT(log.FinishRewrite(), IsOk());
  server.Ask({"INCR", "n"});
  ASSERT_THAT(log.Flush(), IsOk());
  EXPECT_EQ(Loaded({"GET", "n"}), "\"102\"");
  EXPECT_EQ(Content(folder_ / "appendonly.aof.manifest"),
            "file appendonly.aof.2.base.rdb seq 2 type b\n"
            "file appendonly.aof.2.incr.aof seq 2 type i\n");
  EXPECT_THAT(Files(), ElementsAre("appendonly.aof.2.base.rdb", "appendonly.aof.2.incr.aof",
                                   "appendonly.aof.manifest"));
  EXPECT_EQ(log.bytes(), fs::file_size(folder_ / "appendonly.aof.2.base.rdb") +
                             fs::file_size(folder_ / "appendonly.aof.2.incr.aof"));
}

TEST_F(AppendOnlyLogTest, BeginsInPartsBetweenWhichCommandsRun) {
  const std::string value(1000, 'v');
  for (const bool has_rdb_base : {true, false}) {
    fs::remove_all(folder_);
    Server server;
    AppendOnlyLog log(server.engine, place());
    log.set_options({.has_rdb_base = has_rdb_base, .rdb = {.compresses = false}});
    ASSERT_THAT(log.Start(), IsOk());
    server.Ask({"SET", "n", "old"});
    ASSERT_THAT(log.Stop(), IsOk());
    server.Ask({"SET", "n", "0"});
    for (int i = 0; i < 300; ++i) server.Ask({"SET", std::to_string(i), value});
    ASSERT_THAT(log.BeginStart(), IsOk());
    EXPECT_TRUE(log.on() && log.starting() && log.rewriting());
    EXPECT_EQ(log.progress().keys, 301u);
    int parts = 0;
    for (; log.ContinueRewrite(); ++parts) {
      server.Ask({"INCR", "n"});
      ASSERT_THAT(log.Flush(), IsOk());
      EXPECT_GT(log.progress().written_keys, 0u);
    }
    EXPECT_GT(parts, 3);
    EXPECT_EQ(log.progress().written_keys, 301u);
    EXPECT_EQ(Loaded({"GET", "n"}), "\"old\"") << "the log of before";
    ASSERT_THAT(log.FinishRewrite(), IsOk());
    EXPECT_TRUE(log.on());
    EXPECT_FALSE(log.starting() || log.rewriting());
    EXPECT_EQ(Loaded({"GET", "n"}), absl::StrCat("\"", parts, "\""));
    EXPECT_EQ(Loaded({"DBSIZE"}), "301");
    const std::string base =
        has_rdb_base ? "appendonly.aof.2.base.rdb" : "appendonly.aof.2.base.aof";
    EXPECT_THAT(Files(), ElementsAre(base, "appendonly.aof.2.incr.aof", "appendonly.aof.manifest"));
    EXPECT_EQ(log.bytes(),
              fs::file_size(folder_ / base) + fs::file_size(folder_ / log.increment()));
  }
}

TEST_F(AppendOnlyLogTest, LeavesTheLogOfBeforeWhenItIsStoppedBeforeItHasBegun) {
  Server server;
  AppendOnlyLog log(server.engine, place());
  ASSERT_THAT(log.Start(), IsOk());
  server.Ask({"SET", "a", "1"});
  ASSERT_THAT(log.Stop(), IsOk());
  const std::set<std::string> before = Files();
  ASSERT_THAT(log.BeginStart(), IsOk());
  server.Ask({"SET", "a", "2"});
  ASSERT_THAT(log.Flush(), IsOk());
  log.ContinueRewrite();
  ASSERT_THAT(log.Stop(), IsOk());
  EXPECT_FALSE(log.on() || log.starting() || log.rewriting());
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Loaded({"GET", "a"}), "\"1\"");
}

// A base file of commands lost them.
TEST_F(AppendOnlyLogTest, KeepsTheDeadlinesOfFields) {
  for (const bool has_rdb_base : {true, false}) {
    fs::remove_all(folder_);
    const EngineOptions options{.compatibility = store::Version::kRedis80};
    base::VirtualClock clock{absl::FromUnixSeconds(1'700'000'000)};
    Engine engine{clock, options};
    RecordingSession session{engine};
    session.Send({"HSET", "h", "f", "1", "g", "2"});
    session.Send({"HPEXPIRE", "h", "5000", "FIELDS", "1", "g"});
    AppendOnlyLog log(engine, place());
    log.set_options({.has_rdb_base = has_rdb_base});
    ASSERT_THAT(log.Start(), IsOk());
    Engine other{clock, options};
    ASSERT_THAT(LoadAppendOnly(other, place()).status(), IsOk());
    RecordingSession loaded{other};
    EXPECT_EQ(loaded.Send({"HPTTL", "h", "FIELDS", "2", "f", "g"}), "[-1, 5000]");
    EXPECT_EQ(loaded.Send({"HMGET", "h", "f", "g"}), "[\"1\", \"2\"]");
  }
}

TEST_F(AppendOnlyLogTest, IsReplacedWhenItBeginsAgain) {
  Server server;
  AppendOnlyLog log(server.engine, place());
  ASSERT_THAT(log.Start(), IsOk());
  server.Ask({"SET", "a", "1"});
  ASSERT_THAT(log.Stop(), IsOk());
  server.Ask({"SET", "a", "2"});
  EXPECT_EQ(Loaded({"GET", "a"}), "\"1\"");
  ASSERT_THAT(log.BeginRewrite(), IsOk()) << "BGREWRITEAOF without appendonly";
  ASSERT_THAT(log.FinishRewrite(), IsOk());
  EXPECT_EQ(Loaded({"GET", "a"}), "\"2\"");
  server.Ask({"SET", "a", "3"});
  ASSERT_THAT(log.Start(), IsOk());
  EXPECT_EQ(Loaded({"GET", "a"}), "\"3\"");
  EXPECT_THAT(Files(), ElementsAre("appendonly.aof.2.incr.aof", "appendonly.aof.3.base.rdb",
                                   "appendonly.aof.manifest"));
}

TEST_F(AppendOnlyLogTest, BeginsWithinATransactionAfterItsEarlierCommands) {
  Server server;
  AppendOnlyLog log(server.engine, place());
  class Starter final : public EffectSink {
    void OnEffects(std::span<const Effect>, bool) override {}
  } other;
  server.engine.AddEffectSink(other, EffectTargets::kLog);
  Propagation& propagation = server.engine.core().propagation();
  propagation.BeginCall();
  server.Ask({"INCR", "n"});
  ASSERT_THAT(log.Start(), IsOk());
  server.Ask({"INCR", "n"});
  propagation.EndCall();
  ASSERT_THAT(log.Flush(), IsOk());
  EXPECT_EQ(Loaded({"GET", "n"}), "\"2\"");
  server.engine.RemoveEffectSink(other);
}

TEST_F(AppendOnlyLogTest, WritesTheTimeOfCommands) {
  Server server;
  AppendOnlyLog log(server.engine, place());
  log.set_options({.has_rdb_base = false, .writes_times = true});
  ASSERT_THAT(log.Start(), IsOk());
  server.Ask({"SET", "a", "1"});
  server.Ask({"SET", "b", "1"});
  server.clock.Advance(absl::Seconds(1));
  server.Ask({"DEL", "b"});
  ASSERT_THAT(log.Flush(), IsOk());
  EXPECT_EQ(Content(folder_ / "appendonly.aof.1.base.aof"), "#TS:1700000000\r\n");
  const std::string increment = Content(folder_ / "appendonly.aof.1.incr.aof");
  EXPECT_THAT(increment, StartsWith("#TS:1700000000\r\n*2\r\n$6\r\nSELECT\r\n"));
  EXPECT_THAT(increment, HasSubstr("1\r\n#TS:1700000001\r\n*2\r\n$3\r\nDEL\r\n"));
  EXPECT_EQ(Loaded({"KEYS", "*"}), "[\"a\"]");
}

// Counts with a fault at each call in its turn, and compares what is loaded afterwards with what
// was acknowledged.
class AppendOnlyLogFault : public AppendOnlyLogTest {
 protected:
  struct Counts {
    int64_t acknowledged = 0;  // Flushed.
    int64_t issued = 0;
  };

  // Increments n, and acknowledges it if the log is on and can be flushed.
  static void Count(Server& server, AppendOnlyLog& log, Counts& counts) {
    ++counts.issued;
    server.Ask({"INCR", "n"});
    absl::Status status = log.on() ? log.Flush() : absl::UnavailableError("off");
    if (log.starting()) status = absl::UnavailableError("starting");
    if (status.ok()) status = log.Sync();
    if (status.ok()) counts.acknowledged = counts.issued;
  }

  static Counts Work(AppendOnlyPlace place, FaultyFileSystem& files) {
    Server server;
    Counts counts;
    const absl::StatusOr<AppendOnlyLoadReport> loaded =
        LoadAppendOnly(server.engine, place, {}, files);
    if (!loaded.ok()) return counts;
    AppendOnlyLog log(server.engine, place, files);
    if (!log.Continue(*loaded).ok() && !log.on()) log.Start().IgnoreError();
    for (int i = 0; i < 3; ++i) Count(server, log, counts);
    if (log.BeginRewrite().ok()) {
      Count(server, log, counts);
      log.FinishRewrite().IgnoreError();
    }
    Count(server, log, counts);
    if (log.on()) log.Stop().IgnoreError();
    if (log.Start().ok()) Count(server, log, counts);
    if (log.on()) log.Stop().IgnoreError();
    // As a server does: in parts, and again after a failure.
    absl::Status status = log.BeginStart();
    for (int tries = 0; tries < 2 && log.on(); ++tries) {
      Count(server, log, counts);
      if (log.rewriting()) status = log.FinishRewrite();
      Count(server, log, counts);
      if (status.ok()) break;
      status = log.BeginRewrite();
    }
    return counts;
  }

  int64_t LoadedCount() {
    Server server;
    EXPECT_THAT(LoadAppendOnly(server.engine, place()).status(), IsOk());
    int64_t count = 0;
    const std::string text = server.Ask({"INCRBY", "n", "0"});
    EXPECT_TRUE(absl::SimpleAtoi(text, &count)) << text;
    return count;
  }

  void TryEachCall(FaultyFileSystem::Fault fault) {
    int tried = 0;
    for (int nth = 1;; ++nth) {
      fs::remove_all(folder_);
      FaultyFileSystem files(nth, fault);
      const Counts counts = Work(place(), files);
      const int64_t loaded = LoadedCount();
      EXPECT_GE(loaded, counts.acknowledged) << "call " << nth;
      EXPECT_LE(loaded, counts.issued) << "call " << nth;
      if (!files.reached()) break;
      ++tried;
    }
    EXPECT_GT(tried, 100);
  }
};

TEST_F(AppendOnlyLogFault, AtAnyCallLosesNothingThatWasAcknowledged) {
  TryEachCall(FaultyFileSystem::Fault::kError);
}

TEST_F(AppendOnlyLogFault, OfTheProcessAtAnyCallLosesNothingThatWasAcknowledged) {
  TryEachCall(FaultyFileSystem::Fault::kEnd);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
