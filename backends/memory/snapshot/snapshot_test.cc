// Goal: what is saved is loaded as it was, and no failure of a file system loses the old file.
#include "redouble/backends/memory/snapshot/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/faulty_file_system_for_test.h"
#include "redouble/backends/memory/snapshot/file_stream.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::memory {
namespace {

namespace fs = std::filesystem;

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr int64_t kNowS = 1'700'000'000;

// An engine with a session.
struct Server {
  explicit Server(EngineOptions options = {}) : engine(clock, std::move(options)) {}

  std::string Ask(std::vector<std::string_view> words) { return session.Send(std::move(words)); }
  std::string Saved(const RdbSaveOptions& options = {}) {
    StringSink sink;
    EXPECT_THAT(SaveRdb(engine, sink, options), IsOk());
    return sink.bytes();
  }
  absl::StatusOr<RdbLoadReport> Load(std::string_view bytes) {
    StringSource source(bytes);
    return LoadRdb(engine, source);
  }

  base::VirtualClock clock{absl::FromUnixSeconds(kNowS)};
  Engine engine;
  RecordingSession session{engine};
};

// Keys of every type and encoding, in two databases.
void Fill(Server& server) {
  const std::string text(100, 't');
  server.Ask({"SET", "integer", "-70000"});
  server.Ask({"SET", "text", text, "PX", "1500"});
  server.Ask({"RPUSH", "list", "a", "12", text});
  server.Ask({"SADD", "intset", "1", "70000"});
  server.Ask({"SADD", "set", "a", "1"});
  server.Ask({"HSET", "hash", "f", "1"});
  server.Ask({"HSET", "large hash", "f", text});
  server.Ask({"ZADD", "sorted set", "-0.25", "m", "inf", "n"});
  server.Ask({"ZADD", "large sorted set", "1.5", text});
  server.Ask({"XADD", "stream", "5-1", "field", "value"});
  server.Ask({"XGROUP", "CREATE", "stream", "group", "0"});
  server.Ask({"XREADGROUP", "GROUP", "group", "ann", "STREAMS", "stream", ">"});
  server.Ask({"SELECT", "9"});
  server.Ask({"SET", "elsewhere", "1", "EX", "100"});
  server.Ask({"SELECT", "0"});
  server.Ask({"FUNCTION", "LOAD",
              "#!lua name=one\nredis.register_function('f', function() return 7 end)"});
}

TEST(SaveRdb, KeepsEverything) {
  Server from;
  Fill(from);
  const std::string bytes = from.Saved();
  Server to;
  ASSERT_OK_AND_ASSIGN(const RdbLoadReport report, to.Load(bytes));
  EXPECT_EQ(report.keys, 11u);
  EXPECT_EQ(report.bytes, bytes.size());
  EXPECT_EQ(to.Ask({"DEBUG", "DIGEST"}), from.Ask({"DEBUG", "DIGEST"}));
  EXPECT_EQ(to.Ask({"PTTL", "text"}), "1500");
  EXPECT_EQ(to.Ask({"XINFO", "STREAM", "stream", "FULL"}),
            from.Ask({"XINFO", "STREAM", "stream", "FULL"}));
  EXPECT_EQ(to.Ask({"FCALL", "f", "0"}), "7");
  EXPECT_EQ(to.Saved(), bytes) << "equal data are equal bytes";
}

TEST(SaveRdb, WritesTheFieldsOfRedis) {
  Server server;
  Server other;
  ASSERT_OK_AND_ASSIGN(const RdbLoadReport report, other.Load(server.Saved()));
  EXPECT_EQ(report.version, 10);
  EXPECT_EQ(report.Field("redis-ver"), "7.0.15");
  EXPECT_EQ(report.Field("redis-bits"), "64");
  EXPECT_EQ(report.Field("ctime"), "1700000000");
  EXPECT_EQ(report.Field("aof-base"), "0");
  EXPECT_THAT(report.fields, SizeIs(5));
  EXPECT_EQ(report.fields[3].first, "used-mem");
}

TEST(SaveRdb, SavesExpiredKeysThatAreStored) {
  Server server;
  server.engine.set_active_expire(false);
  server.Ask({"SET", "k", "1", "PX", "10"});
  server.clock.Advance(absl::Milliseconds(11));
  Server other;
  ASSERT_OK_AND_ASSIGN(const RdbLoadReport report, other.Load(server.Saved()));
  EXPECT_EQ(report.keys + report.expired_keys, 1u);
}

// A sink that has room for some bytes.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(size_t room) : room_(room) {}
  absl::Status Write(std::string_view bytes) override {
    if (bytes.size() > room_) return absl::ResourceExhaustedError("full");
    room_ -= bytes.size();
    return absl::OkStatus();
  }

 private:
  size_t room_;
};

TEST(KeysSave, HasTheKeysFromItsBeginning) {
  Server server;
  Fill(server);
  const std::string before = server.Saved();
  const std::unique_ptr<KeysSave> save = BeginSavingRdb(server.engine);
  EXPECT_EQ(save->progress().keys, 11u);
  StringSink sink;
  uint64_t parts = 0;
  for (bool continues = true; continues; ++parts) {
    EXPECT_LE(save->progress().written_keys, parts);
    ASSERT_OK_AND_ASSIGN(continues, save->Continue(sink, /*part_bytes=*/1));
    if (parts == 2) server.Ask({"FUNCTION", "FLUSH"});
    if (parts == 3) server.Ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    if (parts == 4) server.Ask({"FLUSHALL"});
    server.Ask({"SET", "text", "changed"});
    EXPECT_GE(save->progress().peak_kept_bytes, save->progress().kept_bytes);
  }
  EXPECT_EQ(save->progress().written_keys, 11u);
  EXPECT_EQ(save->progress().kept_bytes, 0u);
  EXPECT_GT(save->progress().peak_kept_bytes, 0u);
  EXPECT_EQ(sink.bytes(), before);
  EXPECT_EQ(server.Ask({"KEYS", "*"}), "[\"text\"]");
}

TEST(KeysSave, HasPartsOfOneKeyIfEachIsDelayed) {
  Server server;
  server.Ask({"CONFIG", "SET", "rdb-key-save-delay", "1000"});
  StringSink empty;
  EXPECT_THAT(BeginSavingRdb(server.engine)->Continue(empty), IsOkAndHolds(false));
  Fill(server);
  const std::unique_ptr<KeysSave> save = BeginSavingRdb(server.engine);
  StringSink sink;
  for (uint64_t keys = 1; keys <= 11; ++keys) {
    EXPECT_THAT(save->Continue(sink), IsOkAndHolds(true));
    EXPECT_EQ(save->progress().written_keys, keys);
  }
  EXPECT_THAT(save->Continue(sink), IsOkAndHolds(false));
  EXPECT_EQ(sink.bytes(), server.Saved());
}

TEST(KeysSave, PassesAnErrorOfTheSinkOn) {
  Server server;
  Fill(server);
  const std::unique_ptr<KeysSave> save = BeginSavingRdb(server.engine);
  FullSink sink(250);
  EXPECT_THAT(save->Continue(sink, /*part_bytes=*/1), IsOkAndHolds(true));
  EXPECT_THAT(save->Continue(sink).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, "full"));
}

// So that clients do not wait for the whole file at its end.
TEST(FileReplacement, SyncsWhatIsWrittenInParts) {
  const std::string path = (fs::path(testing::TempDir()) / "synced_file").string();
  const std::string part((size_t{4} << 20) - 1, 'x');
  const auto write = [&](ByteSink& sink) { return sink.Write(part); };
  std::string_view failed;
  for (int nth = 1; failed != "sync"; ++nth) {
    FaultyFileSystem files(nth, FaultyFileSystem::Fault::kError);
    FileReplacement file(path, ".part", files);
    absl::Status status = file.Write(write);
    if (status.ok()) {
      ASSERT_THAT(file.SyncIfDue(), IsOk()) << "it is not due yet";
      status = file.Write(write);
    }
    if (status.ok()) status = file.SyncIfDue();
    ASSERT_THAT(status, Not(IsOk())) << "the call that fails comes before Finish";
    failed = files.failed_call();
    EXPECT_FALSE(fs::exists(path + ".part"));
    EXPECT_EQ(file.SyncIfDue(), status);
    EXPECT_EQ(file.Finish(), status);
  }
}

TEST(SaveRdb, CompressesAndSumsAsAsked) {
  Server from;
  from.Ask({"SET", "k", std::string(1000, 'x')});
  const std::string small = from.Saved();
  const std::string large = from.Saved({.compresses = false});
  EXPECT_LT(small.size(), 200u);
  EXPECT_GT(large.size(), 1000u);
  Server to;
  EXPECT_THAT(to.Load(large), IsOk());
  EXPECT_EQ(to.Ask({"STRLEN", "k"}), "1000");
  ASSERT_OK_AND_ASSIGN(const RdbLoadReport report, to.Load(from.Saved({.has_checksum = false})));
  EXPECT_FALSE(report.has_checksum);
}

TEST(SaveRdb, KeepsWhatEvictionNeeds) {
  for (const auto& [policy, object] : {std::pair(MaxmemoryPolicy::kAllKeysLru, "IDLETIME"),
                                       std::pair(MaxmemoryPolicy::kVolatileLfu, "FREQ")}) {
    const EngineOptions options{.maxmemory_policy = policy};
    Server from(options);
    from.Ask({"SET", "k", "1"});
    for (int i = 0; i < 50; ++i) from.Ask({"GET", "k"});
    from.clock.Advance(absl::Seconds(30));
    Server to(options);
    to.clock.Advance(absl::Seconds(30));
    ASSERT_THAT(to.Load(from.Saved()), IsOk());
    EXPECT_EQ(to.Ask({"OBJECT", object, "k"}), from.Ask({"OBJECT", object, "k"}));
    EXPECT_NE(to.Ask({"OBJECT", object, "k"}), "0");
  }
}

TEST(SaveRdb, PassesOnTheErrorOfItsSink) {
  Server server;
  const std::string text(70'000, 'x');
  server.Ask(
      {"FUNCTION", "LOAD",
       absl::StrCat("#!lua name=one\nredis.register_function('f', function() end)--", text)});
  for (const char* key : {"a", "b", "c"}) server.Ask({"SET", key, text});
  const size_t size = server.Saved({.compresses = false}).size();
  for (size_t room : {size_t{0}, size_t{80'000}, size_t{200'000}, size - 9, size - 1}) {
    FullSink sink(room);
    EXPECT_EQ(SaveRdb(server.engine, sink, {.compresses = false}),
              absl::ResourceExhaustedError("full"))
        << room;
  }
  FullSink sink(size);
  EXPECT_THAT(SaveRdb(server.engine, sink, {.compresses = false}), IsOk());
}

class SnapshotFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string PathOf(const std::string& name) const { return (folder_ / name).string(); }
  static std::string Content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SnapshotFile, IsLoadedAsItWasSaved) {
  Server from;
  Fill(from);
  ASSERT_THAT(SaveRdbFile(from.engine, PathOf("dump.rdb")), IsOk());
  EXPECT_EQ(Content(PathOf("dump.rdb")), from.Saved());
  EXPECT_FALSE(fs::exists(PathOf("dump.rdb.partial")));
  Server to;
  ASSERT_THAT(LoadRdbFile(to.engine, PathOf("dump.rdb")), IsOk());
  EXPECT_EQ(to.Saved(), from.Saved());
}

TEST_F(SnapshotFile, IsNamedInErrors) {
  Server server;
  EXPECT_THAT(LoadRdbFile(server.engine, PathOf("none.rdb")).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.rdb")));
  std::ofstream(PathOf("text.rdb")) << "no snapshot";
  EXPECT_THAT(LoadRdbFile(server.engine, PathOf("text.rdb")).status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       absl::StrCat(PathOf("text.rdb"),
                                    ": byte 0: expected the word REDIS of an RDB file")));
  EXPECT_THAT(LoadRdbFile(server.engine, folder_.string()).status(), Not(IsOk()))
      << "a folder can be opened but not read";
  EXPECT_THAT(SaveRdbFile(server.engine, PathOf("none/dump.rdb")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none/dump.rdb")));
  EXPECT_THAT(SaveRdbFile(server.engine, "/"), Not(IsOk()));
  EXPECT_THAT(SaveRdbFile(server.engine, "/nobody may write here/dump.rdb"), Not(IsOk()));
}

// Saves with a fault at each call in its turn, and counts how often the old and the new file are
// there afterwards.
struct Outcomes {
  int old_files = 0;
  int new_files = 0;
  int partial_files = 0;
};

class SnapshotFault : public SnapshotFile {
 protected:
  Outcomes SaveWith(FaultyFileSystem::Fault fault) {
    Server server;
    Fill(server);
    const std::string path = PathOf("dump.rdb");
    EXPECT_THAT(SaveRdbFile(server.engine, path), IsOk());
    const std::string old_content = Content(path);
    server.Ask({"SET", "more", "1"});
    const std::string new_content = server.Saved();
    Outcomes outcomes;
    for (int nth = 1;; ++nth) {
      EXPECT_THAT(ReplaceFile(path, [&](ByteSink& sink) { return sink.Write(old_content); }),
                  IsOk());
      FaultyFileSystem files(nth, fault);
      const absl::Status saved = SaveRdbFile(server.engine, path, {}, files);
      if (!files.reached()) {
        EXPECT_THAT(saved, IsOk());
        return outcomes;
      }
      EXPECT_THAT(saved, StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(path))) << nth;
      const std::string content = Content(path);
      EXPECT_TRUE(content == old_content || content == new_content) << nth;
      ++(content == old_content ? outcomes.old_files : outcomes.new_files);
      if (fs::exists(path + ".partial")) ++outcomes.partial_files;
    }
  }
};

TEST_F(SnapshotFault, AtAnyCallLeavesAWholeFile) {
  const Outcomes outcomes = SaveWith(FaultyFileSystem::Fault::kError);
  EXPECT_GT(outcomes.old_files, 5);
  EXPECT_EQ(outcomes.new_files, 3) << "opening, syncing and closing the folder";
  EXPECT_EQ(outcomes.partial_files, 0);
}

TEST_F(SnapshotFault, OfTheProcessAtAnyCallLeavesAWholeFile) {
  const Outcomes outcomes = SaveWith(FaultyFileSystem::Fault::kEnd);
  EXPECT_GT(outcomes.old_files, 5);
  EXPECT_EQ(outcomes.new_files, 3);
  EXPECT_GT(outcomes.partial_files, 0) << "which the next save replaces";
}

TEST_F(SnapshotFault, OfReadingLeavesTheEngineAsItWas) {
  Server from;
  Fill(from);
  const std::string path = PathOf("dump.rdb");
  ASSERT_THAT(SaveRdbFile(from.engine, path), IsOk());
  Server server;
  server.Ask({"SET", "old", "1"});
  for (const int nth : {1, 2}) {
    FaultyFileSystem files(nth, FaultyFileSystem::Fault::kError);
    EXPECT_THAT(LoadRdbFile(server.engine, path, {}, files).status(),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr(path)));
    EXPECT_EQ(server.Ask({"KEYS", "*"}), "[\"old\"]");
  }
}

TEST_F(SnapshotFile, MayBeInTheCurrentFolderAndInTheRoot) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  Server server;
  EXPECT_THAT(SaveRdbFile(server.engine, "dump.rdb"), IsOk());
  EXPECT_THAT(LoadRdbFile(server.engine, "dump.rdb"), IsOk());
  fs::current_path(before);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
