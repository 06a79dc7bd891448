#include "redouble/backends/memory/snapshot/load_rdb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/snapshot/rdb_bytes_for_test.h"
#include "redouble/backends/memory/snapshot/rdb_value_cases_for_test.h"
#include "redouble/backends/memory/values/encodings/stream_node.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::memory {
namespace {

using namespace std::string_literals;

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class LoadRdbTest : public testing::Test {
 protected:
  absl::StatusOr<RdbLoadReport> Load(std::string_view bytes, const RdbLoadOptions& options = {}) {
    StringSource source(bytes);
    return LoadRdb(engine_, source, options);
  }
  // Loads a file with one key in database 0, and returns the reply to a command.
  std::string Loaded(int type, std::string_view value, std::vector<std::string_view> words,
                     int version = 10) {
    const auto report = Load(RdbBytes(version).Select(0).Key(type, "k", value).End());
    return report.ok() ? Ask(std::move(words)) : std::string(report.status().message());
  }
  // The error of a file with one key in database 0.
  absl::Status Refused(int type, std::string_view value) {
    return Load(RdbBytes().Select(0).Key(type, "k", value).End()).status();
  }
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }

  base::VirtualClock clock_{absl::FromUnixSeconds(kMomentS)};
  Engine engine_{clock_};
  RecordingSession session_{engine_};
};

TEST_F(LoadRdbTest, ReadsStringsInEveryEncoding) {
  EXPECT_EQ(Loaded(0, Text("hello"), {"GET", "k"}), "\"hello\"");
  EXPECT_EQ(Loaded(0, "\xc0\xff", {"GET", "k"}), "\"-1\"");
  EXPECT_EQ(Loaded(0, "\xc1\x00\x80"s, {"GET", "k"}), "\"-32768\"");
  EXPECT_EQ(Loaded(0, "\xc2\x00\x00\x00\x80"s, {"GET", "k"}), "\"-2147483648\"");
  const std::string repeated(5000, 'r');
  ASSERT_EQ(Text(repeated)[0], '\xc3') << "it is compressed";
  EXPECT_EQ(Loaded(0, Text(repeated), {"STRLEN", "k"}), "5000");
  EXPECT_EQ(Loaded(0, "\x80\x00\x00\x00\x02no"s, {"GET", "k"}), "\"no\"") << "a length of 32 bits";
  EXPECT_EQ(Loaded(0, "\x81\x00\x00\x00\x00\x00\x00\x00\x02no"s, {"GET", "k"}), "\"no\"");
}

TEST_F(LoadRdbTest, ReadsTheTypesOfEveryVersion) {
  for (const RdbValueCase& one : RdbValueCases()) {
    SCOPED_TRACE(one.name);
    const std::vector<std::string_view> show(one.show.begin(), one.show.end());
    EXPECT_EQ(Loaded(one.type, one.value, show, one.version), one.expected);
    EXPECT_EQ(Ask({"DBSIZE"}), "1");
  }
}

TEST_F(LoadRdbTest, ReadsTheTimesOfStreamsOfEveryVersion) {
  for (const auto& [type, version] : {std::pair(15, 9), std::pair(19, 10), std::pair(21, 11)}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(Loaded(type, StreamBytes(type), {"XPENDING", "k", "group", "-", "+", "1"}, version),
              "[[\"5-1\", \"ann\", 7000, 3]]");
    EXPECT_THAT(Ask({"XINFO", "GROUPS", "k"}), HasSubstr("\"entries-read\", 1, \"lag\", 0"));
    EXPECT_THAT(Ask({"XINFO", "CONSUMERS", "k", "group"}), HasSubstr("\"idle\", 6000"));
  }
}

// A Redis 7.0 that loaded such a stream from an earlier version writes the greatest id as the
// first.
TEST_F(LoadRdbTest, ReadsAnEmptyStreamWhoseFirstIdIsTheGreatest) {
  const std::string greatest = Length(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Loaded(19,
                   Length(0) + Length(0) + Length(7) + Length(1) + greatest + greatest + Length(7) +
                       Length(1) + Length(4) + Length(0),
                   {"XADD", "k", "7-2", "a", "b"}),
            "\"7-2\"");
}

TEST_F(LoadRdbTest, ReadsFieldsDatabasesAndSizes) {
  const auto report = Load(RdbBytes(12)
                               .Field("redis-ver", "7.2.4")
                               .Field("ctime", "1700000000")
                               .Select(0)
                               .Opcode(RdbOpcode::kResize, Length(1) + Length(0))
                               .Opcode(RdbOpcode::kSlotInfo, Length(3) + Length(1) + Length(0))
                               .Key(0, "a", Text("1"))
                               .Select(15)
                               .Key(0, "b", Text("2"))
                               .End());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->version, 12);
  EXPECT_EQ(report->keys, 2u);
  EXPECT_TRUE(report->has_checksum);
  EXPECT_THAT(report->fields, ElementsAre(Pair("redis-ver", "7.2.4"), Pair("ctime", "1700000000")));
  EXPECT_EQ(report->Field("ctime"), "1700000000");
  EXPECT_EQ(report->Field("none"), std::nullopt);
  EXPECT_EQ(Ask({"GET", "a"}), "\"1\"");
  Ask({"SELECT", "15"});
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"b\"]");
}

TEST_F(LoadRdbTest, ReplacesWhatTheEngineHad) {
  Ask({"SET", "old", "1"});
  Ask({"FUNCTION", "LOAD", "#!lua name=old\nredis.register_function('f', function() end)"});
  ASSERT_THAT(Load(RdbBytes().Select(0).Key(0, "new", Text("2")).End()), IsOk());
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"new\"]");
  EXPECT_EQ(Ask({"FUNCTION", "LIST"}), "[]");
}

TEST_F(LoadRdbTest, ServesAClientThatWaitsForALoadedKey) {
  RecordingSession waiting(engine_);
  const std::string_view arguments[] = {"k", "0"};
  const auto command = store::Command::Named("BLPOP", arguments);
  const auto wait = [&]() -> base::Task<std::string> {
    const absl::StatusOr<store::Reply> reply = co_await waiting.session().Execute(command);
    co_return reply.ok() ? reply->DebugString() : std::string(reply.status().message());
  };
  base::Task<std::string> blocked = wait();
  blocked.Start();
  EXPECT_FALSE(blocked.done());
  ASSERT_THAT(Load(RdbBytes().Select(0).Key(1, "k", Length(1) + Text("x")).End()), IsOk());
  ASSERT_TRUE(blocked.done());
  EXPECT_EQ(blocked.TakeResult(), "[\"k\", \"x\"]");
}

TEST_F(LoadRdbTest, DropsKeysWhoseDeadlineHasPassed) {
  const auto report = Load(RdbBytes()
                               .Select(0)
                               .ExpirySeconds(kMomentS - 1)
                               .Key(0, "late", Text("1"))
                               .ExpiryMs(kMomentS * 1000 - 1)
                               .Key(0, "late too", Text("1"))
                               .ExpiryMs(kMomentS * 1000)
                               .Key(0, "now", Text("1"))
                               .ExpirySeconds(kMomentS + 2)
                               .Key(0, "soon", Text("1"))
                               .ExpiryMs(static_cast<uint64_t>(-1))
                               .Key(0, "never", Text("1"))
                               .End());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->keys, 3u);
  EXPECT_EQ(report->expired_keys, 2u);
  EXPECT_EQ(Ask({"PTTL", "now"}), "0");
  EXPECT_EQ(Ask({"PTTL", "soon"}), "2000");
  EXPECT_EQ(Ask({"PTTL", "never"}), "-1");
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Ask({"DBSIZE"}), "2") << "the clock removes what expires";
}

TEST_F(LoadRdbTest, ShiftsTimesToTheMomentOfTheFile) {
  constexpr int64_t kDayMs = 86'400'000;
  clock_.Advance(absl::Milliseconds(kDayMs));
  const RdbLoadOptions options{.time_policy = RdbLoadOptions::TimePolicy::kShiftToNow};
  RdbBytes file;
  file.Field("ctime", absl::StrCat(kMomentS)).Select(0);
  file.ExpiryMs(kMomentS * 1000 + 1500).Key(0, "soon", Text("1"));
  file.ExpiryMs(kMomentS * 1000 - 1).Key(0, "late", Text("1"));
  file.ExpiryMs(std::numeric_limits<int64_t>::max()).Key(0, "far", Text("1"));
  file.Key(19, "stream", StreamBytes(19));
  const auto report = Load(file.End(), options);
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->expired_keys, 1u);
  EXPECT_EQ(Ask({"PTTL", "soon"}), "1500");
  EXPECT_EQ(Ask({"PEXPIRETIME", "far"}), "9223372036854775807");
  EXPECT_EQ(Ask({"XPENDING", "stream", "group", "-", "+", "1"}), "[[\"5-1\", \"ann\", 7000, 3]]");
  EXPECT_THAT(Ask({"XINFO", "CONSUMERS", "stream", "group"}), HasSubstr("\"idle\", 6000"));
}

TEST_F(LoadRdbTest, ShiftsNoTimesWithoutAMoment) {
  const RdbLoadOptions options{.time_policy = RdbLoadOptions::TimePolicy::kShiftToNow};
  EXPECT_THAT(Load(RdbBytes(6).Select(0).Key(0, "k", Text("1")).End(), options), IsOk())
      << "nothing has to be shifted";
  for (const char* ctime : {"", "soon"}) {
    RdbBytes file;
    if (*ctime != '\0') file.Field("ctime", ctime);
    EXPECT_THAT(Load(file.Select(0).ExpiryMs(1).Key(0, "k", Text("1")).End(), options).status(),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("the times of the key \"k\" cannot be shifted")));
  }
}

TEST_F(LoadRdbTest, LoadsOnlyKeysThatTheFilterKeeps) {
  const std::string file =
      RdbBytes().Select(0).Key(0, "user:1", Text("a")).Key(0, "job:1", Text("b")).End();
  const auto report = Load(file, {.keeps = KeysLike({"user:*"})});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->keys, 1u);
  EXPECT_EQ(report->filtered_keys, 1u);
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"user:1\"]");
}

TEST_F(LoadRdbTest, KeepsIdleTimesAndFrequencies) {
  const std::string file = RdbBytes()
                               .Select(0)
                               .Opcode(RdbOpcode::kIdle, Length(90))
                               .Key(0, "idle", Text("1"))
                               .Opcode(RdbOpcode::kFrequency, "\x2a")
                               .Key(0, "frequent", Text("1"))
                               .Opcode(RdbOpcode::kIdle, Length(uint64_t{1} << 40))
                               .Key(0, "absurd", Text("1"))
                               .End();
  ASSERT_THAT(Load(file), IsOk());
  EXPECT_EQ(Ask({"OBJECT", "IDLETIME", "idle"}), "90");
  EXPECT_EQ(Ask({"OBJECT", "IDLETIME", "absurd"}), "0");
  Ask({"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"});
  EXPECT_EQ(Ask({"OBJECT", "FREQ", "frequent"}), "42");
}

TEST_F(LoadRdbTest, LoadsFunctions) {
  const std::string code = "#!lua name=one\nredis.register_function('f', function() return 7 end)";
  const auto report = Load(RdbBytes().Opcode(RdbOpcode::kFunction, Text(code)).Select(0).End());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->libraries, 1u);
  EXPECT_EQ(Ask({"FCALL", "f", "0"}), "7");
  EXPECT_THAT(Load(RdbBytes()
                       .Opcode(RdbOpcode::kFunction, Text(code))
                       .Opcode(RdbOpcode::kFunction, Text(code))
                       .End())
                  .status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("Library 'one' already exists")));
  EXPECT_THAT(Load(RdbBytes().Opcode(RdbOpcode::kPreReleaseFunction, Text(code)).End()).status(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("byte 9: a function of a")));
}

// ReJSON-RL with the version 3 of its encoding.
constexpr uint64_t kJsonModule = 0x450a8dd3c3e22c03 & ~uint64_t{0x3ff};

TEST_F(LoadRdbTest, SkipsValuesOfModules) {
  const std::string items = Length(2) + Length(9) + Length(1) + Length(8) + Length(3) + "1234" +
                            Length(4) + "12345678" + Length(5) + Text("text") + Length(0);
  const auto report = Load(RdbBytes()
                               .Opcode(RdbOpcode::kModuleAux, Length(kJsonModule) + items)
                               .Select(3)
                               .Key(7, "doc", Length(kJsonModule) + items)
                               .Key(0, "k", Text("v"))
                               .End());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->keys, 1u);
  ASSERT_EQ(report->module_keys.size(), 1u);
  EXPECT_EQ(report->module_keys[0].db, 3);
  EXPECT_EQ(report->module_keys[0].key, "doc");
  EXPECT_EQ(report->module_keys[0].module.size(), 9u);
  EXPECT_THAT(report->module_data, ElementsAre(report->module_keys[0].module));
}

TEST_F(LoadRdbTest, RefusesDamagedValuesOfModules) {
  EXPECT_THAT(Refused(7, Length(kJsonModule) + Length(6)),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("expected the tag of a module's item, 0 to 5"),
                             HasSubstr("in the key \"k\" of database 0, a module value"))));
  EXPECT_THAT(Load(RdbBytes().Opcode(RdbOpcode::kModuleAux, Length(1) + Length(77)).End()).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(", the data of a module")));
  EXPECT_THAT(Refused(6, ""), StatusIs(absl::StatusCode::kUnimplemented,
                                       HasSubstr("type 6, module value of a Redis before 4.0")));
}

TEST_F(LoadRdbTest, CountsCollectionsWithoutElements) {
  const auto report = Load(RdbBytes()
                               .Select(0)
                               .Key(1, "list", Length(0))
                               .Key(2, "set", Length(0))
                               .Key(13, "hash", Text(Ziplist({})))
                               .Key(17, "sorted set", Packed({}))
                               .Key(18, "list too", Length(1) + Length(2) + Packed({}))
                               .Key(0, "text", Text(""))
                               .End());
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->empty_keys, 5u);
  EXPECT_EQ(report->keys, 1u);
}

TEST_F(LoadRdbTest, ReportsProgress) {
  RdbBytes file;
  file.Select(0);
  std::string text(3000, ' ');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * i % 251 + i / 7);
  for (int i = 0; i < 2000; ++i) file.Key(0, absl::StrCat("key ", i), Text(text + absl::StrCat(i)));
  const std::string bytes = file.End();
  std::vector<uint64_t> offsets;
  uint64_t keys = 0;
  const auto report = Load(bytes, {.on_progress = [&](const RdbProgress& progress) {
                             offsets.push_back(progress.bytes);
                             keys = progress.keys;
                           }});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->bytes, bytes.size());
  EXPECT_EQ(offsets.size(), bytes.size() / (2 << 20) + 1);
  EXPECT_EQ(offsets.back(), bytes.size());
  EXPECT_EQ(keys, 2000u);
}

// A source that yields one byte at a time and then fails or ends.
class SlowSource final : public ByteSource {
 public:
  SlowSource(std::string_view bytes, absl::Status end) : bytes_(bytes), end_(std::move(end)) {}
  absl::StatusOr<size_t> Read(std::span<char> to) override {
    if (bytes_.empty()) {
      REDOUBLE_RETURN_IF_ERROR(end_);
      return 0;
    }
    to[0] = bytes_[0];
    bytes_.remove_prefix(1);
    return 1;
  }

 private:
  std::string_view bytes_;
  const absl::Status end_;
};

TEST_F(LoadRdbTest, KeepsTheFormerKeysUntilTheLastPart) {
  EXPECT_EQ(Ask({"SET", "former", "1"}), "OK");
  RdbBytes bytes;
  bytes.Select(0);
  for (const std::string key : {"a", "b", "c"}) bytes.Key(0, key, Text("value"));
  const std::string file = bytes.End();
  StringSource source(file);
  const std::unique_ptr<RdbLoad> load = BeginLoadingRdb(engine_, source);
  for (uint64_t keys = 1; keys <= 3; ++keys) {
    ASSERT_THAT(load->Continue(1), IsOkAndHolds(true));
    EXPECT_EQ(load->progress().keys, keys);
    EXPECT_EQ(Ask({"KEYS", "*"}), "[\"former\"]");
  }
  ASSERT_THAT(load->Continue(1), IsOkAndHolds(false));
  EXPECT_EQ(load->progress().bytes, file.size());
  EXPECT_EQ(Ask({"DBSIZE"}), "3");
  EXPECT_EQ(Ask({"EXISTS", "former"}), "0");
}

TEST_F(LoadRdbTest, ReadsASourceInParts) {
  const std::string file = RdbBytes().Select(0).Key(0, "k", Text(std::string(100, 'x'))).End();
  SlowSource whole(file, absl::OkStatus());
  ASSERT_THAT(LoadRdb(engine_, whole), IsOk());
  EXPECT_EQ(Ask({"STRLEN", "k"}), "100");
  SlowSource broken(std::string_view(file).substr(0, 14), absl::UnavailableError("disk"));
  EXPECT_EQ(LoadRdb(engine_, broken).status(), absl::UnavailableError("disk"));
  EXPECT_EQ(Ask({"STRLEN", "k"}), "100") << "the engine is as it was";
}

TEST_F(LoadRdbTest, ChecksTheChecksum) {
  const std::string good = RdbBytes().Select(0).Key(0, "k", Text("v")).End();
  std::string unchecked = good;
  unchecked.replace(unchecked.size() - 8, 8, 8, '\0');
  const auto report = Load(unchecked);
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->has_checksum);
  std::string wrong = good;
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  EXPECT_THAT(
      Load(wrong).status(),
      StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(absl::StrCat("byte ", good.size() - 8)),
                                                  HasSubstr("expected the checksum "))));
  EXPECT_THAT(Load(good.substr(0, good.size() - 1)).status(),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(", the checksum")));
  EXPECT_THAT(Load(RdbBytes(4).Select(0).Key(0, "k", Text("v")).End()), IsOk())
      << "version 4 has none";
  EXPECT_THAT(Load(good + "more"), IsOk()) << "what follows the end is not read";
}

TEST_F(LoadRdbTest, RefusesWhatIsNoRdbFile) {
  EXPECT_THAT(Load("").status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       "byte 0: expected 9 more bytes at byte 0, found 0, the beginning of an RDB "
                       "file"));
  EXPECT_THAT(
      Load("REDIX0010...").status(),
      StatusIs(absl::StatusCode::kDataLoss, "byte 0: expected the word REDIS of an RDB file"));
  for (const char* version : {"00x1", "0000", "-001", "    "}) {
    EXPECT_THAT(
        Load(absl::StrCat("REDIS", version)).status(),
        StatusIs(absl::StatusCode::kDataLoss, "byte 5: expected four digits of an RDB version"));
  }
  EXPECT_THAT(Load("REDIS0013\xff").status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "byte 5: RDB version 13; versions 1 to 12 can be read"));
}

TEST_F(LoadRdbTest, NamesTheKeyThatItCannotRead) {
  for (const int type : {22, 23}) {
    const std::string message(Refused(type, "").message());
    EXPECT_THAT(message,
                HasSubstr(absl::StrCat("byte 11: the key \"k\" in database 0 has the type ", type,
                                       ", hash ")));
  }
  EXPECT_EQ(Refused(22, ""),
            absl::UnimplementedError("byte 11: the key \"k\" in database 0 has the type 22, hash "
                                     "with field expiries before Redis 7.4, which cannot be read"));
}

TEST_F(LoadRdbTest, SaysWhatItExpectedWhere) {
  EXPECT_EQ(Refused(16, Text("no listpack")),
            absl::DataLossError("byte 14: expected a listpack in the key \"k\" of database 0, type "
                                "16, hash in a listpack"));
  const struct {
    int type;
    std::string value;
    std::string expected;
  } kCases[] = {
      {0, "\xc4", "a known encoding of a string"},
      {0, "\x82", "the first byte of a length"},
      {0, "\xc3\x01\x81\x40\0\0\0\0\0\0\0\0"s, "a string compressed by LZF"},
      {1, "\xc0\x01", "a length, found an encoded string"},
      {2, Length(2) + Text("a") + Text("a"), "a member that the set does not have yet"},
      {3, Length(1) + Text("m") + "\xfd", "a score that is a number"},
      {3, Length(1) + Text("m") + "\x01x", "the text of a score"},
      {4, Length(2) + Text("f") + Text("1") + Text("f") + Text("2"),
       "a field that the hash does not have yet"},
      {5, Length(2) + Text("m") + LittleEndian(0, 8) + Text("m") + LittleEndian(0, 8),
       "a member that the sorted set does not have yet"},
      {9, Text("\x01"), "a zipmap"},
      {10, Text("short"), "a ziplist"},
      {11, Text("12345678"), "an intset with members"},
      {13, Text(Ziplist({"\xf1"})), "a value for each field of the hash"},
      {14, Length(1) + Text("short"), "a ziplist"},
      {17, Packed({"m"}), "a score for each member of the sorted set"},
      {17, Packed({"m", "high"}), "the text of a score"},
      {18, Length(1) + Length(3), "the format of a list's node, 1 or 2"},
      {18, Length(1) + Length(2) + Text("short"), "a listpack"},
      {20, Packed({"a", "a"}), "a member that the set does not have yet"},
  };
  for (const auto& [type, value, expected] : kCases) {
    EXPECT_THAT(Refused(type, value),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("expected " + expected)))
        << type;
  }
}

TEST_F(LoadRdbTest, RefusesDamagedStreams) {
  const std::string good = StreamBytes(19);
  ASSERT_THAT(Refused(19, good), IsOk());
  const auto changed = [&](std::string_view from, std::string_view to, size_t times = 1) {
    std::string bytes = good;
    size_t at = 0;
    for (size_t i = 0; i < times; ++i) at = bytes.find(from, at + (i == 0 ? 0 : 1));
    return bytes.replace(at, from.size(), to);
  };
  const std::string id = StreamKey(5, 1);
  EXPECT_THAT(Refused(19, Length(1) + Text("short")).message(),
              HasSubstr("the 16 bytes of a stream id"));
  EXPECT_THAT(Refused(19, Length(1) + Text(id) + Text("no")).message(), HasSubstr("a listpack"));
  EXPECT_THAT(Refused(19, Length(1) + Text(id) + Packed({"1"})).message(),
              HasSubstr("the entries of a stream"));
  EXPECT_THAT(Refused(19, "\x02" + good.substr(1, good.find('\x01', 20) - 1)).message(),
              HasSubstr("expected"));
  const std::string_view fields[] = {"f", "v"};
  StreamNode node({5, 1}, fields);
  node.Append({5, 1}, fields);
  const std::string part = Text(id) + Text(node.listpack().bytes());
  EXPECT_THAT(Refused(19, Length(2) + part + part).message(),
              HasSubstr("entries above the earlier ones"));
  EXPECT_THAT(Refused(19, Length(1) + part + Length(2)).message(),
              HasSubstr("the number of the stream's entries"));
  // The tail: the group's pending entries, and the consumer's.
  const std::string pending = id + LittleEndian(kMomentS * 1000 - 7000, 8) + Length(3);
  EXPECT_THAT(Refused(19, changed(Length(1) + pending, Length(2) + pending + pending)).message(),
              HasSubstr("a pending entry that the group does not have yet"));
  EXPECT_THAT(Refused(19, good.substr(0, good.size() - 16) + StreamKey(9, 9)).message(),
              HasSubstr("a pending entry of the group"));
  EXPECT_THAT(Refused(19, good.substr(0, good.size() - 17) + Length(0)).message(),
              HasSubstr("a consumer for each pending entry"));
  const std::string ann = Text("ann") + LittleEndian(kMomentS * 1000 - 6000, 8);
  EXPECT_THAT(Refused(19, changed(Length(1) + ann, Length(2) + ann + Length(0) + ann)).message(),
              HasSubstr("the name of another consumer"));
  const std::string group = Length(1) + Text("group");
  EXPECT_THAT(Refused(19, changed(group, Length(2) + Text("group") + Length(5) + Length(1) +
                                             Length(1) + Length(0) + Length(0) + Text("group")))
                  .message(),
              HasSubstr("the name of another group"));
}

TEST_F(LoadRdbTest, RefusesRecordsThatCannotBe) {
  EXPECT_THAT(Load(RdbBytes().Raw("\x1a").Open()).status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       "byte 9: expected a record of Redis 1.0 to 8.0, found 26"));
  EXPECT_THAT(Load(RdbBytes().Raw("\xf3").Open()).status().message(), HasSubstr("found 243"));
  EXPECT_THAT(Load(RdbBytes().Open()).status().message(), HasSubstr(", the beginning of a record"));
  EXPECT_EQ(Load(RdbBytes().Select(16).End()).status(),
            absl::FailedPreconditionError("byte 9: database 16, but the engine has 16 "
                                          "(EngineOptions::databases)"));
  EXPECT_THAT(
      Load(RdbBytes().Select(0).Key(0, "k", Text("1")).Key(0, "k", Text("2")).End()).status(),
      StatusIs(absl::StatusCode::kDataLoss,
               "byte 16: expected a key that database 0 does not have yet, found \"k\""));
  const std::string kOpen[] = {
      RdbBytes().Opcode(RdbOpcode::kSelectDb).Open(),
      RdbBytes().Opcode(RdbOpcode::kResize, Length(1)).Open(),
      RdbBytes().Opcode(RdbOpcode::kAux, Text("name")).Open(),
      RdbBytes().Opcode(RdbOpcode::kIdle).Open(),
      RdbBytes().Opcode(RdbOpcode::kFrequency).Open(),
      RdbBytes().Opcode(RdbOpcode::kExpiryMs, "1234").Open(),
      RdbBytes().Opcode(RdbOpcode::kExpirySeconds, "123").Open(),
      RdbBytes().Opcode(RdbOpcode::kFunction).Open(),
      RdbBytes().Raw("\x00"s).Open(),
  };
  for (const std::string& bytes : kOpen) {
    EXPECT_THAT(Load(bytes).status(),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("more byte")));
  }
}

// The names of keys are compared a few keys later, and nothing of that may be seen.
TEST_F(LoadRdbTest, NamesTheFirstKeyThatExistsTwice) {
  for (const int distance : {1, 8, 31, 32, 33, 500}) {
    SCOPED_TRACE(distance);
    RdbBytes bytes;
    bytes.Select(3);
    for (int i = 0; i < distance; ++i) bytes.Key(0, absl::StrCat("key:", i), Text("1"));
    const std::string error =
        absl::StrCat("byte ", bytes.size(), ": expected a key that database 3 ",
                     "does not have yet, found \"key:0\"");
    bytes.Key(0, "key:0", Text("2"));
    RdbBytes unknown(bytes);
    unknown.Raw("\x1a");
    RdbBytes another(bytes);
    another.Key(0, "key:0", Text("3")).Select(4).Key(0, "key:0", Text("4"));
    for (const std::string& file : {bytes.End(), bytes.Open(), unknown.Open(), another.End()}) {
      EXPECT_THAT(Load(file).status(), StatusIs(absl::StatusCode::kDataLoss, error));
    }
  }
}

TEST_F(LoadRdbTest, DoesNotBelieveTheNumberOfKeys) {
  for (const uint64_t keys : {uint64_t{0}, uint64_t{1} << 60, ~uint64_t{0}}) {
    RdbBytes bytes;
    bytes.Select(0).Opcode(RdbOpcode::kResize, Length(keys) + Length(keys));
    for (int i = 0; i < 1000; ++i) bytes.Key(0, absl::StrCat("key:", i), Text("1"));
    ASSERT_THAT(Load(bytes.End()), IsOk());
    EXPECT_EQ(Ask({"DBSIZE"}), "1000");
    EXPECT_EQ(Ask({"EXISTS", "key:0", "key:8", "key:999", "key:1000"}), "3");
  }
}

TEST_F(LoadRdbTest, LeavesTheEngineAsItWasAfterAnError) {
  Ask({"SET", "old", "1", "PX", "5000"});
  Ask({"FUNCTION", "LOAD", "#!lua name=old\nredis.register_function('f', function() end)"});
  const std::string before = Ask({"DEBUG", "DIGEST"});
  const std::string code = "#!lua name=new\nredis.register_function('g', function() end)";
  const std::string file =
      RdbBytes().Opcode(RdbOpcode::kFunction, Text(code)).Select(0).Key(0, "new", Text("2")).End();
  for (size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(Load(std::string_view(file).substr(0, size)).ok()) << size;
  }
  EXPECT_EQ(Ask({"DEBUG", "DIGEST"}), before);
  EXPECT_EQ(Ask({"PTTL", "old"}), "5000");
  EXPECT_THAT(Ask({"FUNCTION", "LIST"}), HasSubstr("\"old\""));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
