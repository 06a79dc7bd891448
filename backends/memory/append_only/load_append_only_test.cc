// Goal: a log is loaded up to its last whole command, and whatever else is wrong with it is an
// error in Redis's words.
#include "redouble/backends/memory/append_only/load_append_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {
namespace {

namespace fs = std::filesystem;

using base::IsOk;
using base::StatusIs;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kSetA = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
constexpr std::string_view kIncrA = "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n";
constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";

class LoadAppendOnlyTest : public testing::Test {
 protected:
  LoadAppendOnlyTest() { fs::create_directories(folder_ / "appendonlydir"); }
  ~LoadAppendOnlyTest() override { fs::remove_all(folder_); }

  AppendOnlyPlace place() const { return {.folder = (folder_ / "appendonlydir").string()}; }
  std::string PathOf(const std::string& name) const { return place().PathOf(name); }
  void Write(const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A log of one base and one increment.
  void WriteLog(std::string_view base, std::string_view increment) {
    Write(PathOf("b"), base);
    Write(PathOf("i"), increment);
    Write(place().manifest_path(), "file b seq 1 type b\nfile i seq 1 type i\n");
  }
  absl::StatusOr<AppendOnlyLoadReport> Load(bool loads_truncated = true) {
    lines_.clear();
    const auto note = [this](bool, std::string_view line) { lines_.emplace_back(line); };
    return LoadAppendOnly(engine_, place(), {.loads_truncated = loads_truncated, .on_line = note});
  }
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "load_append_only_test";
  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  RecordingSession session_{engine_};
  std::vector<std::string> lines_;
};

TEST_F(LoadAppendOnlyTest, LeavesTheKeysIfThereIsNoLog) {
  Ask({"SET", "k", "1"});
  ASSERT_OK_AND_ASSIGN(const AppendOnlyLoadReport report, Load());
  EXPECT_TRUE(report.manifest.empty());
  EXPECT_EQ(Ask({"GET", "k"}), "\"1\"");
}

TEST_F(LoadAppendOnlyTest, RunsTheCommandsOfAllFiles) {
  Ask({"SET", "old", "1"});
  WriteLog(absl::StrCat(std::string(kSetA), "*2\r\n$6\r\nSELECT\r\n$1\r\n1\r\n"),
           absl::StrCat("#TS:1700000000\r\n", std::string(kIncrA)));
  ASSERT_OK_AND_ASSIGN(const AppendOnlyLoadReport report, Load());
  EXPECT_EQ(report.commands, 3u);
  EXPECT_EQ(report.base_bytes, Content(PathOf("b")).size());
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"a\"]") << "each file begins in database 0";
  EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
  EXPECT_THAT(lines_, ElementsAre("DB loaded from base file b", "DB loaded from incr file i"));
}

TEST_F(LoadAppendOnlyTest, ReadsAnRdbFileWithCommandsBehindIt) {
  Ask({"SET", "a", "1"});
  Ask({"SET", "expired", "1", "PX", "10"});
  StringSink rdb;
  ASSERT_THAT(SaveRdb(engine_, rdb), IsOk());
  clock_.Advance(absl::Seconds(1));
  WriteLog(absl::StrCat(rdb.bytes(), std::string(kIncrA)),
           "*2\r\n$7\r\nPERSIST\r\n$7\r\nexpired\r\n");
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
  EXPECT_EQ(Ask({"GET", "expired"}), "\"1\"") << "no key expires while a log is loaded";
}

TEST_F(LoadAppendOnlyTest, CutsOffWhatWasNotWrittenWhole) {
  const std::string whole(kIncrA);
  for (size_t size = 1; size < whole.size(); ++size) {
    WriteLog(kSetA, absl::StrCat(whole, whole.substr(0, size)));
    ASSERT_OK_AND_ASSIGN(const AppendOnlyLoadReport report, Load());
    EXPECT_TRUE(report.is_truncated) << size;
    EXPECT_EQ(Ask({"GET", "a"}), "\"2\"") << size;
    EXPECT_EQ(Content(PathOf("i")), whole) << size;
  }
  EXPECT_THAT(lines_, ElementsAre("DB loaded from base file b",
                                  "!!! Warning: short read while loading the AOF file i!!!",
                                  "!!! Truncating the AOF i at offset 21 !!!",
                                  "AOF i loaded anyway because aof-load-truncated is enabled",
                                  "DB loaded from incr file i"));
}

TEST_F(LoadAppendOnlyTest, CutsOffATransactionWithoutItsEnd) {
  for (const std::string_view tail : {"", "*2\r\n$4\r\nIN"}) {
    WriteLog(kSetA, absl::StrCat(std::string(kIncrA), std::string(kMulti), std::string(kIncrA),
                                 std::string(tail)));
    ASSERT_THAT(Load().status(), IsOk());
    EXPECT_EQ(lines_[1], "Revert incomplete MULTI/EXEC transaction in AOF file i");
    EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
    EXPECT_EQ(Content(PathOf("i")), kIncrA);
  }
}

TEST_F(LoadAppendOnlyTest, RefusesATruncatedFileIfToldTo) {
  WriteLog(kSetA, "*2\r\n");
  EXPECT_THAT(
      Load(/*loads_truncated=*/false).status(),
      StatusIs(absl::StatusCode::kDataLoss,
               AllOf(HasSubstr("Unexpected end of file reading the append only file i. You can"),
                     EndsWith(" (byte 0)"))));
  EXPECT_EQ(Content(PathOf("i")), "*2\r\n");
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
}

TEST_F(LoadAppendOnlyTest, RefusesATruncatedFileBeforeTheLastOne) {
  WriteLog("*2\r\n", kIncrA);
  EXPECT_THAT(Load().status(), StatusIs(absl::StatusCode::kDataLoss,
                                        "Fatal error: the truncated file is not the last file "
                                        "(b, byte 0)"));
}

TEST_F(LoadAppendOnlyTest, RefusesWhatIsNoLog) {
  const std::pair<std::string, std::string> cases[] = {
      {"SET a 1\r\n", "Bad file format reading the append only file i"},
      {"*0\r\n", "Bad file format reading the append only file i"},
      {"*2\r\n*3\r\n", "Bad file format reading the append only file i"},
      {"*x\r\n", "Bad file format reading the append only file i"},
      {"*1\r\n$4\r\nMAKE\r\n", "Unknown command 'MAKE' reading the append only file i"},
  };
  for (const auto& [content, reason] : cases) {
    WriteLog(kSetA, absl::StrCat(std::string(kIncrA), content));
    EXPECT_THAT(Load().status(), StatusIs(absl::StatusCode::kDataLoss,
                                          AllOf(HasSubstr(reason), EndsWith(" (byte 21)"))))
        << content;
    EXPECT_EQ(Ask({"DBSIZE"}), "0") << "nothing of a damaged log stays";
  }
  const std::pair<std::string, std::string> rdb_cases[] = {
      {"REDIS0010", "Error reading the RDB base file i, AOF loading aborted: byte 9: "},
      {"REDISOO10", "Error reading the RDB base file i, AOF loading aborted: byte 5: "},
  };
  for (const auto& [content, reason] : rdb_cases) {
    WriteLog(kSetA, content);
    EXPECT_THAT(Load().status(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr(reason)))
        << content;
    EXPECT_EQ(Ask({"DBSIZE"}), "0") << "nothing of a damaged log stays";
  }
  fs::remove(PathOf("i"));
  EXPECT_THAT(Load().status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       "Unable to obtain the AOF file i length. stat: No such file or directory"));
  Write(place().manifest_path(), "no manifest\n");
  EXPECT_THAT(Load().status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("Invalid AOF manifest file format")));
}

TEST_F(LoadAppendOnlyTest, ReportsACommandThatFailsAndGoesOn) {
  WriteLog(kSetA, absl::StrCat("*2\r\n$5\r\nLPUSH\r\n$1\r\na\r\n", std::string(kIncrA)));
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_THAT(lines_[1], HasSubstr("after processing the command 'LPUSH'"));
  EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
}

TEST_F(LoadAppendOnlyTest, MovesTheFileOfEarlierVersionsIntoTheFolder) {
  fs::remove(place().folder);
  Write(place().old_path(), kSetA);
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_EQ(Ask({"GET", "a"}), "\"1\"");
  EXPECT_FALSE(fs::exists(place().old_path()));
  EXPECT_EQ(Content(PathOf("appendonly.aof")), kSetA);
  EXPECT_EQ(Content(place().manifest_path()), "file appendonly.aof seq 1 type b\n");
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_THAT(lines_, ElementsAre("DB loaded from base file appendonly.aof"));
  // A process that ended before the file was moved.
  fs::rename(PathOf("appendonly.aof"), place().old_path());
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_FALSE(fs::exists(place().old_path()));
}

TEST_F(LoadAppendOnlyTest, LoadsALargeCommand) {
  const std::string value(3'000'000, 'x');
  WriteLog(kSetA, absl::StrCat("*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$", value.size(), "\r\n", value,
                               "\r\n", std::string(kIncrA)));
  ASSERT_THAT(Load().status(), IsOk());
  EXPECT_EQ(Ask({"STRLEN", "b"}), "3000000");
  EXPECT_EQ(Ask({"GET", "a"}), "\"2\"");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
