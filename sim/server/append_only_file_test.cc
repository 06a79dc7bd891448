// Goal: the log is synced and rewritten when its parameters say so, and a log that cannot be
// written is reported and loses nothing.
#include "redouble/sim/server/append_only_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/append_only/load_append_only.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

using base::IsOk;
using testing::HasSubstr;
using testing::Not;

// The machine's file system with a disk that may be full, and the number of syncs.
class CountingFileSystem final : public memory::FileSystem {
 public:
  absl::StatusOr<int> Open(const std::string& path) override { return real_.Open(path); }
  absl::StatusOr<int> Create(const std::string& path) override { return real_.Create(path); }
  absl::StatusOr<int> Append(const std::string& path) override {
    if (has_no_descriptors) return absl::ResourceExhaustedError("Too many open files");
    return real_.Append(path);
  }
  absl::Status MakeFolder(const std::string& path) override { return real_.MakeFolder(path); }
  absl::StatusOr<uint64_t> SizeOf(const std::string& path) override { return real_.SizeOf(path); }
  absl::Status Truncate(const std::string& path, uint64_t bytes) override {
    return real_.Truncate(path, bytes);
  }
  absl::StatusOr<size_t> Read(int file, std::span<char> to) override {
    return real_.Read(file, to);
  }
  absl::StatusOr<size_t> Write(int file, std::string_view bytes) override {
    if (is_full) return absl::ResourceExhaustedError("No space left on device");
    return real_.Write(file, bytes);
  }
  absl::Status Sync(int file) override {
    ++syncs;
    return real_.Sync(file);
  }
  absl::Status Close(int file) override { return real_.Close(file); }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    return real_.Rename(from, to);
  }
  absl::Status Remove(const std::string& path) override { return real_.Remove(path); }

  bool is_full = false;
  bool has_no_descriptors = false;
  int syncs = 0;

 private:
  memory::FileSystem& real_ = memory::RealFileSystem();
};

class AppendOnlyFileTest : public testing::Test {
 protected:
  ~AppendOnlyFileTest() override { fs::remove_all(folder_); }

  static memory::EngineOptions Options(const fs::path& folder) {
    memory::EngineOptions options;
    options.server.appenddirname = folder.string();
    return options;
  }
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }
  // k is 1, and other keys make a file of several parts.
  void Fill() {
    Ask({"CONFIG", "SET", "rdbcompression", "no"});
    Ask({"SET", "k", "1"});
    const std::string value(1000, 'v');
    for (int i = 0; i < 500; ++i) Ask({"SET", std::to_string(i), value});
  }
  void RunLater() {
    for (const auto& task : std::exchange(later_, {})) task();
  }
  // The value of k in the log.
  std::string Logged() {
    base::VirtualClock clock{clock_.Now()};
    memory::Engine engine(clock);
    EXPECT_THAT(memory::LoadAppendOnly(engine, {.folder = folder_.string()}).status(), IsOk());
    memory::RecordingSession session{engine};
    return session.Send({"GET", "k"});
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "append_only_file_test";
  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_, Options(folder_)};
  memory::RecordingSession session_{engine_};
  std::ostringstream lines_;
  Log log_{&lines_, LogLevel::kNotice};
  std::vector<std::function<void()>> later_;
  int lost_ = 0;
  CountingFileSystem files_;
  AppendOnlyFile file_{engine_, [this](std::function<void()> task) { later_.push_back(task); },
                       log_, [this] { ++lost_; }, files_};
};

TEST_F(AppendOnlyFileTest, WritesBeforeReplies) {
  ASSERT_THAT(file_.Load(), IsOk());
  EXPECT_THAT(lines_.str(),
              HasSubstr("Creating AOF incr file appendonly.aof.1.incr.aof on server start"));
  Ask({"SET", "k", "1"});
  EXPECT_EQ(Logged(), "nil");
  EXPECT_GT(file_.figures().buffered_bytes, 0u);
  file_.BeforeReplies();
  EXPECT_EQ(Logged(), "\"1\"");
  file_.Close();
  EXPECT_FALSE(file_.on());
}

// DEBUG LOADAOF.
TEST_F(AppendOnlyFileTest, IsLoadedAgainWhileItIsWritten) {
  EXPECT_TRUE(absl::IsNotFound(file_.Reload()));
  ASSERT_THAT(file_.Load(), IsOk());
  Ask({"SET", "k", "1"});
  Ask({"FUNCTION", "LOAD", "#!lua name=f\nredis.register_function('f', function() return 7 end)"});
  Ask({"DEBUG", "POPULATE", "3"});  // Is not logged.
  EXPECT_THAT(file_.Reload(), IsOk());
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"k\"]");
  EXPECT_EQ(Ask({"FCALL", "f", "0"}), "7");
  Ask({"SET", "k", "2"});
  file_.BeforeReplies();
  EXPECT_EQ(Logged(), "\"2\"");
}

TEST_F(AppendOnlyFileTest, KeepsTheKeysIfItCannotBeLoadedAgain) {
  ASSERT_THAT(file_.Load(), IsOk());
  Ask({"SET", "k", "1"});
  file_.BeforeReplies();
  std::ofstream(folder_ / "appendonly.aof.1.incr.aof", std::ios::app) << "garbage";
  EXPECT_TRUE(absl::IsDataLoss(file_.Reload()));
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
}

TEST_F(AppendOnlyFileTest, IsSyncedAsAppendfsyncSays) {
  const std::pair<std::string_view, int> cases[] = {{"always", 4}, {"everysec", 2}, {"no", 0}};
  for (const auto& [when, expected] : cases) {
    Ask({"CONFIG", "SET", "appendfsync", when});
    ASSERT_THAT(file_.Load(), IsOk());
    const int before = files_.syncs;
    for (int i = 0; i < 4; ++i) {
      Ask({"SET", "k", "1"});
      file_.BeforeReplies();
      clock_.Advance(absl::Milliseconds(500));
      file_.Upkeep(/*may_rewrite=*/true);
    }
    EXPECT_EQ(files_.syncs - before, expected) << when;
    file_.Close();
  }
}

TEST_F(AppendOnlyFileTest, RefusesWritesWhileTheDiskIsFull) {
  ASSERT_THAT(file_.Load(), IsOk());
  files_.is_full = true;
  EXPECT_EQ(Ask({"SET", "k", "1"}), "OK");
  file_.BeforeReplies();
  EXPECT_FALSE(file_.figures().last_write_ok);
  EXPECT_THAT(Ask({"SET", "k", "2"}),
              HasSubstr("MISCONF Errors writing to the AOF file: No space left on device"));
  EXPECT_THAT(Ask({"PING"}), HasSubstr("MISCONF"));
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
  files_.is_full = false;
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_TRUE(file_.figures().last_write_ok);
  EXPECT_EQ(Ask({"SET", "k", "2"}), "OK");
  file_.BeforeReplies();
  EXPECT_EQ(Logged(), "\"2\"");
  EXPECT_EQ(lost_, 0);
}

TEST_F(AppendOnlyFileTest, SendsNoRepliesIfItMustSyncAndCannotWrite) {
  Ask({"CONFIG", "SET", "appendfsync", "always"});
  ASSERT_THAT(file_.Load(), IsOk());
  files_.is_full = true;
  Ask({"SET", "k", "1"});
  file_.BeforeReplies();
  EXPECT_EQ(lost_, 1);
  EXPECT_THAT(lines_.str(), HasSubstr("Can't recover from AOF write error"));
}

TEST_F(AppendOnlyFileTest, IsRewrittenWhenItHasGrown) {
  ASSERT_THAT(file_.Load(), IsOk());
  Ask({"CONFIG", "SET", "auto-aof-rewrite-min-size", "5000"});
  for (int i = 0; i < 500; ++i) Ask({"SET", "k", std::to_string(i)});
  file_.Upkeep(/*may_rewrite=*/false);
  EXPECT_FALSE(file_.figures().rewriting) << "a file of keys is being written";
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_TRUE(file_.figures().rewriting);
  const uint64_t before = file_.figures().bytes;
  RunLater();
  EXPECT_FALSE(file_.figures().rewriting);
  EXPECT_LT(file_.figures().bytes, before);
  EXPECT_EQ(file_.figures().rewrites, 1);
  EXPECT_EQ(Logged(), "\"499\"");
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_EQ(file_.figures().rewrites, 1);
}

TEST_F(AppendOnlyFileTest, TriesAFailedRewriteAgainAfterAMinute) {
  ASSERT_THAT(file_.Load(), IsOk());
  Ask({"SET", "k", "1"});
  file_.ScheduleRewrite();
  file_.Upkeep(/*may_rewrite=*/true);
  files_.is_full = true;
  RunLater();
  EXPECT_EQ(file_.figures().failed_rewrites, 1);
  EXPECT_FALSE(file_.figures().last_rewrite_ok);
  files_.is_full = false;
  Ask({"CONFIG", "SET", "auto-aof-rewrite-min-size", "1"});
  for (int i = 0; i < 100; ++i) Ask({"SET", "k", "2"});
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_FALSE(file_.figures().rewriting);
  clock_.Advance(absl::Minutes(1));
  file_.Upkeep(/*may_rewrite=*/true);
  RunLater();
  EXPECT_EQ(file_.figures().failed_rewrites, 0);
  EXPECT_EQ(Logged(), "\"2\"");
}

TEST_F(AppendOnlyFileTest, IsRewrittenInPartsBetweenWhichCommandsRun) {
  ASSERT_THAT(file_.Load(), IsOk());
  Fill();
  ASSERT_THAT(file_.Rewrite(), IsOk());
  EXPECT_EQ(file_.figures().progress.keys, 501u);
  int parts = 0;
  for (; !later_.empty(); ++parts) {
    EXPECT_TRUE(file_.figures().rewriting);
    EXPECT_LT(file_.figures().progress.written_keys, 501u);
    Ask({"INCR", "k"});
    file_.BeforeReplies();
    RunLater();
  }
  EXPECT_GT(parts, 4);
  EXPECT_FALSE(file_.figures().rewriting);
  EXPECT_EQ(file_.figures().progress.keys, 0u);
  EXPECT_EQ(Logged(), absl::StrCat("\"", 1 + parts, "\"")) << "each INCR once";
}

TEST_F(AppendOnlyFileTest, GivesARewriteUpWhenItIsSwitchedOff) {
  ASSERT_THAT(file_.Switch(true), IsOk());
  RunLater();
  ASSERT_THAT(file_.Rewrite(), IsOk());
  ASSERT_THAT(file_.Switch(false), IsOk());
  RunLater();
  EXPECT_FALSE(file_.figures().rewriting);
  EXPECT_FALSE(file_.on());
}

TEST_F(AppendOnlyFileTest, IsSwitchedOnInPartsBetweenWhichCommandsRun) {
  Fill();
  ASSERT_THAT(file_.Switch(true), IsOk());
  EXPECT_TRUE(file_.figures().on);
  EXPECT_TRUE(file_.figures().starting);
  EXPECT_TRUE(file_.figures().rewriting);
  EXPECT_EQ(file_.figures().rewrites, 1);
  EXPECT_THAT(Ask({"SHUTDOWN"}), HasSubstr("Errors trying to SHUTDOWN"));
  int parts = 0;
  for (; !later_.empty(); ++parts) {
    EXPECT_TRUE(file_.figures().starting);
    Ask({"INCR", "k"});
    file_.BeforeReplies();
    RunLater();
  }
  EXPECT_GT(parts, 4);
  EXPECT_FALSE(file_.figures().starting || file_.figures().rewriting);
  EXPECT_TRUE(file_.figures().last_rewrite_ok);
  EXPECT_GT(file_.figures().last_kept_bytes, 0u);
  EXPECT_EQ(Logged(), absl::StrCat("\"", 1 + parts, "\""));
  EXPECT_THAT(lines_.str(), HasSubstr("Creating AOF incr file appendonly.aof.1.incr.aof on "
                                      "background rewrite"));
}

TEST_F(AppendOnlyFileTest, IsWrittenToItsEndWhenTheServerStopsBeforeItHasBegun) {
  Fill();
  ASSERT_THAT(file_.Switch(true), IsOk());
  RunLater();
  Ask({"INCR", "k"});
  file_.Close();
  EXPECT_FALSE(file_.on());
  EXPECT_EQ(Logged(), "\"2\"");
}

TEST_F(AppendOnlyFileTest, TriesToBeginAgainAfterAMinute) {
  Ask({"SET", "k", "1"});
  ASSERT_THAT(file_.Switch(true), IsOk());
  files_.is_full = true;
  RunLater();
  EXPECT_TRUE(file_.figures().on);
  EXPECT_TRUE(file_.figures().starting);
  EXPECT_FALSE(file_.figures().rewriting);
  EXPECT_TRUE(file_.figures().rewrite_scheduled);
  EXPECT_FALSE(file_.figures().last_rewrite_ok);
  EXPECT_EQ(file_.figures().failed_rewrites, 1);
  files_.is_full = false;
  Ask({"SET", "k", "2"});
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_FALSE(file_.figures().rewriting);
  clock_.Advance(absl::Minutes(1));
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_TRUE(file_.figures().rewriting);
  EXPECT_FALSE(file_.figures().rewrite_scheduled);
  Ask({"SET", "k", "3"});
  file_.BeforeReplies();
  RunLater();
  EXPECT_FALSE(file_.figures().starting);
  EXPECT_EQ(file_.figures().failed_rewrites, 0);
  EXPECT_EQ(Logged(), "\"3\"");
}

// The second attempt fails earlier than the first one.
TEST_F(AppendOnlyFileTest, StaysOnIfItCannotBeginAgain) {
  Ask({"SET", "k", "1"});
  ASSERT_THAT(file_.Switch(true), IsOk());
  files_.is_full = true;
  RunLater();
  files_.is_full = false;
  files_.has_no_descriptors = true;
  clock_.Advance(absl::Minutes(1));
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_TRUE(file_.figures().on);
  EXPECT_TRUE(file_.figures().rewrite_scheduled);
  EXPECT_EQ(file_.figures().failed_rewrites, 2);
  files_.has_no_descriptors = false;
  clock_.Advance(absl::Minutes(1));
  file_.Upkeep(/*may_rewrite=*/true);
  RunLater();
  EXPECT_FALSE(file_.figures().starting);
  EXPECT_EQ(Logged(), "\"1\"");
}

// While a file of keys is written, or in a transaction.
TEST_F(AppendOnlyFileTest, BeginsLaterIfThatIsScheduled) {
  Ask({"SET", "k", "1"});
  file_.ScheduleStart();
  EXPECT_TRUE(file_.figures().on);
  EXPECT_TRUE(file_.figures().rewrite_scheduled);
  EXPECT_THAT(file_.Switch(true), IsOk()) << "it is on";
  EXPECT_FALSE(file_.figures().rewriting);
  Ask({"SET", "k", "2"});
  file_.Upkeep(/*may_rewrite=*/false);
  EXPECT_FALSE(file_.figures().rewriting);
  file_.Upkeep(/*may_rewrite=*/true);
  RunLater();
  EXPECT_EQ(Logged(), "\"2\"");
  EXPECT_THAT(lines_.str(), HasSubstr("AOF was enabled but there is already another background "
                                      "operation."));
}

TEST_F(AppendOnlyFileTest, DoesNotBeginIfThatWasScheduledAndTakenBack) {
  file_.ScheduleStart();
  ASSERT_THAT(file_.Switch(false), IsOk());
  EXPECT_FALSE(file_.figures().on);
  file_.Upkeep(/*may_rewrite=*/true);
  EXPECT_FALSE(file_.figures().rewriting);
  EXPECT_TRUE(later_.empty());
}

TEST_F(AppendOnlyFileTest, StaysOffIfItCannotBegin) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "appendonly.aof.manifest") << "garbage";
  EXPECT_THAT(file_.Switch(true), Not(IsOk()));
  EXPECT_FALSE(file_.on());
  EXPECT_FALSE(file_.figures().rewrite_scheduled);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
