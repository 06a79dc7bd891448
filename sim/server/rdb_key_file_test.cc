// Goal: keys are saved when a client or a save point says so; a failure is reported and loses
// nothing.
#include "redouble/sim/server/rdb_key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/faulty_file_system_for_test.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RdbKeyFileTest : public testing::Test {
 protected:
  RdbKeyFileTest() {
    fs::create_directories(folder_);
    memory::EngineOptions options = engine_.options();
    options.server.dbfilename = path();  // The tests do not move the working folder.
    engine_.Configure(options);
  }
  ~RdbKeyFileTest() override { fs::remove_all(folder_); }

  std::string path() const { return (folder_ / "dump.rdb").string(); }
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }
  void SetSavePoints(std::vector<memory::SavePoint> points) {
    memory::EngineOptions options = engine_.options();
    options.server.save_points = std::move(points);
    engine_.Configure(options);
  }
  void RunLater() {
    for (const auto& task : std::exchange(later_, {})) task();
  }
  static std::string NameOf(int number) { return absl::StrCat("key:", number); }
  // More than one part of a file.
  void Fill() {
    Ask({"CONFIG", "SET", "rdbcompression", "no"});
    for (int i = 0; i < kManyKeys; ++i) Ask({"SET", NameOf(i), std::string(100, 'v')});
  }
  // The reply of an engine that has loaded the file.
  std::string Saved(std::vector<std::string_view> words = {"GET", "k"}) {
    base::VirtualClock clock{clock_.Now()};
    memory::Engine engine(clock);
    EXPECT_THAT(memory::LoadRdbFile(engine, path()), IsOk());
    memory::RecordingSession session{engine};
    return session.Send(std::move(words));
  }

  static constexpr int kManyKeys = 4000;
  const fs::path folder_ = fs::path(testing::TempDir()) / "rdb_key_file_test";
  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  memory::Engine engine_{clock_};
  memory::RecordingSession session_{engine_};
  std::ostringstream lines_;
  Log log_{&lines_, LogLevel::kNotice};
  std::vector<std::function<void()>> later_;
  RdbKeyFile file_{engine_, [this](std::function<void()> task) { later_.push_back(task); }, log_};
};

TEST_F(RdbKeyFileTest, LoadsWhatItSaved) {
  ASSERT_THAT(file_.Load(), IsOkAndHolds(IsEmpty())) << "there is no file yet";
  Ask({"SET", "k", "1"});
  Ask({"SET", "gone", "1", "EX", "5"});
  ASSERT_THAT(file_.Save(), IsOk());
  EXPECT_EQ(file_.figures().changes_at_save, engine_.changes());
  Ask({"FLUSHALL"});
  clock_.Advance(absl::Seconds(6));
  ASSERT_OK_AND_ASSIGN(const std::vector<std::string> lines, file_.Load());
  EXPECT_THAT(lines, ElementsAre("Done loading RDB, keys loaded: 1, keys expired: 1."));
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
  EXPECT_EQ(file_.figures().loaded_keys, 1);
  EXPECT_EQ(file_.figures().expired_keys, 1);
  EXPECT_THAT(lines_.str(), HasSubstr("DB saved on disk"));
}

TEST_F(RdbKeyFileTest, SavesInTheBackgroundWhatTheKeysWere) {
  Ask({"SET", "k", "1"});
  file_.SaveInBackground();
  Ask({"SET", "k", "2"});
  EXPECT_TRUE(file_.figures().saving);
  EXPECT_FALSE(fs::exists(path()));
  clock_.Advance(absl::Seconds(3));
  RunLater();
  EXPECT_EQ(Saved(), "\"1\"");
  const memory::KeyFileFigures& figures = file_.figures();
  EXPECT_FALSE(figures.saving);
  EXPECT_EQ(figures.saved_at_s, 1'700'000'003);
  EXPECT_EQ(figures.last_duration_s, 3);
  EXPECT_EQ(figures.saves, 1);
  EXPECT_EQ(engine_.changes() - figures.changes_at_save, 1) << "the second SET";
  EXPECT_FALSE(fs::exists(path() + ".background"));
}

TEST_F(RdbKeyFileTest, SavesInPartsBetweenWhichCommandsRun) {
  Fill();
  Ask({"SET", "k", "1"});
  file_.SaveInBackground();
  EXPECT_EQ(file_.figures().progress.keys, kManyKeys + 1u);
  int parts = 0;
  for (uint64_t written = 0; !later_.empty(); ++parts) {
    EXPECT_GE(file_.figures().progress.written_keys, written);
    written = file_.figures().progress.written_keys;
    EXPECT_LT(written, kManyKeys + 1u);
    EXPECT_TRUE(file_.figures().saving);
    Ask({"SET", "k", std::to_string(parts)});
    Ask({"SET", NameOf(kManyKeys - parts), "changed"});
    Ask({"SET", absl::StrCat("new:", parts), "1"});
    RunLater();
  }
  EXPECT_GT(parts, 4);
  EXPECT_FALSE(file_.figures().saving);
  EXPECT_EQ(file_.figures().progress.keys, 0u);
  EXPECT_GT(file_.figures().last_kept_bytes, 0u);
  EXPECT_EQ(engine_.changes() - file_.figures().changes_at_save, 3 * parts);
  EXPECT_EQ(Saved(), "\"1\"");
  EXPECT_EQ(Saved({"GET", NameOf(kManyKeys - 1)}), absl::StrCat("\"", std::string(100, 'v'), "\""));
  EXPECT_EQ(Saved({"DBSIZE"}), std::to_string(kManyKeys + 1));
}

// FLUSHALL, SHUTDOWN and a master's file.
TEST_F(RdbKeyFileTest, ASaveThatIsStoppedKeepsTheOldFile) {
  Ask({"SET", "k", "1"});
  ASSERT_THAT(file_.Save(), IsOk());
  Fill();
  Ask({"SET", "k", "2"});
  file_.SaveInBackground();
  RunLater();
  EXPECT_TRUE(fs::exists(path() + ".background"));
  file_.StopSaving();
  file_.StopSaving();
  EXPECT_FALSE(file_.figures().saving);
  EXPECT_TRUE(file_.figures().last_ok) << "as in Redis, it has not failed";
  EXPECT_FALSE(fs::exists(path() + ".background"));
  EXPECT_EQ(Saved(), "\"1\"");
  EXPECT_THAT(lines_.str(), HasSubstr("Background saving terminated by the server"));
  // What is left of the first one does not continue the second one.
  file_.SaveInBackground();
  RunLater();
  EXPECT_EQ(later_.size(), 1u);
  while (!later_.empty()) RunLater();
  EXPECT_EQ(Saved(), "\"2\"");
}

TEST_F(RdbKeyFileTest, AFailureInThePartsKeepsTheOldFile) {
  Ask({"SET", "k", "1"});
  ASSERT_THAT(file_.Save(), IsOk());
  Fill();
  SetSavePoints({{60, 1}});
  for (int nth = 1;; ++nth) {
    memory::FaultyFileSystem files(nth, memory::FaultyFileSystem::Fault::kError);
    RdbKeyFile file(
        engine_, [this](std::function<void()> task) { later_.push_back(task); }, log_, files);
    file.SaveInBackground();
    while (!later_.empty()) RunLater();
    EXPECT_FALSE(file.figures().saving);
    EXPECT_FALSE(file.figures().last_ok);
    EXPECT_FALSE(fs::exists(path() + ".background"));
    EXPECT_THAT(Ask({"SET", "k", "2"}), HasSubstr("MISCONF"));
    // The folder is opened to be synced, after the file has been replaced.
    if (files.failed_call() == "open") break;
    EXPECT_EQ(Saved(), "\"1\"") << files.failed_call();
    EXPECT_EQ(Saved({"DBSIZE"}), "1") << files.failed_call();
  }
  EXPECT_THAT(lines_.str(), HasSubstr("Background saving error: No space left on device"));
}

// SAVE is refused meanwhile, but not by the object.
TEST_F(RdbKeyFileTest, SavesWhileASaveInTheBackgroundHasNotEnded) {
  Ask({"SET", "k", "1"});
  file_.SaveInBackground();
  Ask({"SET", "k", "2"});
  EXPECT_THAT(file_.Save(), IsOk());
  EXPECT_EQ(Saved(), "\"2\"");
  file_.StopSaving();
  EXPECT_FALSE(fs::exists(path() + ".background"));
  EXPECT_EQ(Saved(), "\"2\"");
}

TEST_F(RdbKeyFileTest, SavesWhenEnoughHasChangedForLongEnough) {
  SetSavePoints({{60, 2}});
  Ask({"SET", "k", "1"});
  clock_.Advance(absl::Seconds(61));
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_FALSE(file_.figures().saving) << "one change is not enough";
  Ask({"SET", "k", "2"});
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_TRUE(file_.figures().saving);
  file_.SaveIfDue(/*may_save=*/true);
  RunLater();
  EXPECT_EQ(file_.figures().saves, 1);
  EXPECT_THAT(lines_.str(), HasSubstr("2 changes in 60 seconds. Saving..."));
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_FALSE(file_.figures().saving) << "nothing has changed since";
}

TEST_F(RdbKeyFileTest, AScheduledSaveBeginsWhenNothingElseIsWritten) {
  Ask({"SET", "k", "1"});
  file_.ScheduleSave();
  EXPECT_TRUE(file_.figures().scheduled);
  EXPECT_FALSE(file_.figures().saving);
  file_.SaveIfDue(/*may_save=*/false);
  EXPECT_FALSE(file_.figures().saving);
  Ask({"SET", "k", "2"});
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_TRUE(file_.figures().saving);
  EXPECT_FALSE(file_.figures().scheduled);
  RunLater();
  EXPECT_EQ(Saved(), "\"2\"");
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_FALSE(file_.figures().saving) << "it was scheduled once";
}

TEST_F(RdbKeyFileTest, AScheduledSaveWaitsAfterAFailure) {
  fs::create_directory(path() + ".background");
  file_.SaveInBackground();
  RunLater();
  fs::remove(path() + ".background");
  file_.ScheduleSave();
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_FALSE(file_.figures().saving);
  clock_.Advance(absl::Seconds(6));
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_TRUE(file_.figures().saving);
  RunLater();
  EXPECT_TRUE(file_.figures().last_ok);
}

TEST_F(RdbKeyFileTest, AFailureKeepsTheOldFileAndRefusesWrites) {
  Ask({"SET", "k", "1"});
  ASSERT_THAT(file_.Save(), IsOk());
  SetSavePoints({{60, 1}});
  // So that the new file cannot be made.
  for (const char* suffix : {".partial", ".background"}) fs::create_directory(path() + suffix);
  Ask({"SET", "k", "2"});
  EXPECT_THAT(file_.Save(), Not(IsOk()));
  EXPECT_TRUE(file_.figures().last_ok) << "as in Redis, SAVE does not count";
  clock_.Advance(absl::Seconds(61));
  file_.SaveIfDue(/*may_save=*/true);
  RunLater();
  EXPECT_FALSE(file_.figures().last_ok);
  EXPECT_EQ(Saved(), "\"1\"");
  EXPECT_THAT(Ask({"SET", "k", "3"}), HasSubstr("MISCONF"));
  EXPECT_EQ(Ask({"GET", "k"}), "\"2\"");
  file_.SaveIfDue(/*may_save=*/true);
  EXPECT_FALSE(file_.figures().saving) << "it waits before it tries again";
  fs::remove(path() + ".background");
  clock_.Advance(absl::Seconds(6));
  file_.SaveIfDue(/*may_save=*/true);
  RunLater();
  EXPECT_TRUE(file_.figures().last_ok);
  EXPECT_EQ(Ask({"SET", "k", "3"}), "OK");
  EXPECT_EQ(Saved(), "\"2\"");
}

TEST_F(RdbKeyFileTest, RefusesADamagedFile) {
  std::ofstream(path()) << "REDIS0010 and nothing else";
  Ask({"SET", "k", "1"});
  const absl::Status status = file_.Load().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(std::string(status.message()), HasSubstr(path()));
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
}

TEST_F(RdbKeyFileTest, ReloadsWhatTheFileHas) {
  Ask({"SET", "k", "1", "PX", "1000"});
  Ask({"SET", "kept", "1"});
  ASSERT_THAT(file_.Reload({}), IsOk());
  EXPECT_EQ(Ask({"PTTL", "k"}), "1000");
  EXPECT_EQ(file_.figures().loaded_keys, 2);
  EXPECT_EQ(file_.figures().changes_at_save, engine_.changes());
  Ask({"SET", "new", "1"});
  ASSERT_THAT(file_.Reload({.saves = false}), IsOk());
  EXPECT_EQ(Ask({"EXISTS", "new", "kept"}), "1");
  clock_.Advance(absl::Milliseconds(1001));
  EXPECT_EQ(Ask({"DBSIZE"}), "1");
  EXPECT_THAT(lines_.str(), HasSubstr("DB reloaded by DEBUG RELOAD"));
}

TEST_F(RdbKeyFileTest, ReloadingAddsToTheKeysThatStay) {
  Ask({"SET", "k", "1"});
  Ask({"FUNCTION", "LOAD",
       "#!lua name=lib\nredis.register_function('f', function() return 1 end)"});
  ASSERT_THAT(file_.Save(), IsOk());
  Ask({"SET", "k", "2", "PX", "1000"});
  Ask({"SET", "new", "1"});
  const memory::ReloadOptions keeps = {.saves = false, .flushes = false};
  EXPECT_THAT(file_.Reload(keeps), StatusIs(absl::StatusCode::kAlreadyExists,
                                            HasSubstr("the key \"k\" exists in database 0")));
  EXPECT_EQ(Ask({"GET", "k"}), "\"2\"");
  ASSERT_THAT(file_.Reload({.saves = false, .flushes = false, .merges = true}), IsOk());
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
  EXPECT_EQ(Ask({"TTL", "k"}), "-1");
  EXPECT_EQ(Ask({"EXISTS", "new"}), "1");
  Ask({"FLUSHALL"});
  EXPECT_THAT(file_.Reload(keeps), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("lib")));
  Ask({"FUNCTION", "FLUSH"});
  ASSERT_THAT(file_.Reload(keeps), IsOk());
  EXPECT_EQ(Ask({"FCALL", "f", "0"}), "1");
}

TEST_F(RdbKeyFileTest, ReloadingFailsWithoutAFileAndKeepsTheKeys) {
  Ask({"SET", "k", "1"});
  EXPECT_THAT(file_.Reload({.saves = false}), StatusIs(absl::StatusCode::kNotFound));
  fs::create_directory(path() + ".partial");  // So that the file cannot be made.
  EXPECT_THAT(file_.Reload({}), StatusIs(absl::StatusCode::kAborted));
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
