// Goal: the deadlines of hash fields in files of Redis 7.4 and later reach an engine whose version
// has them, and are an error for the others, which would write files that no server reads.
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/persistence/rdb_value.h"
#include "redouble/backends/memory/snapshot/key_filter.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/rdb_bytes_for_test.h"
#include "redouble/backends/memory/snapshot/rdb_value_cases_for_test.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {
namespace {

using base::IsOk;
using base::StatusIs;

constexpr int64_t kMomentMs = kMomentS * 1000;
constexpr int kVersion = 12;
constexpr int kTable = 24;
constexpr int kListpack = 25;

struct Field {
  std::string name;
  std::string value;
  int64_t deadline_ms = 0;  // 0: none.
};

std::string Table(const std::vector<Field>& fields, int64_t first_ms) {
  std::string bytes = LittleEndian(static_cast<uint64_t>(first_ms), 8) + Length(fields.size());
  for (const Field& field : fields) {
    const int64_t after = field.deadline_ms == 0 ? 0 : field.deadline_ms - first_ms + 1;
    bytes += Length(static_cast<uint64_t>(after)) + Text(field.name) + Text(field.value);
  }
  return bytes;
}

std::string Listpacked(const std::vector<Field>& fields, int64_t first_ms) {
  std::vector<std::string> parts;
  for (const Field& field : fields) {
    parts.insert(parts.end(), {field.name, field.value, absl::StrCat(field.deadline_ms)});
  }
  return LittleEndian(static_cast<uint64_t>(first_ms), 8) + Packed(parts);
}

class EngineOf {
 public:
  explicit EngineOf(store::Version version) : engine_(clock_, OptionsOf(version)) {}

  absl::StatusOr<RdbLoadReport> Load(std::string_view bytes, const RdbLoadOptions& options = {}) {
    StringSource source(bytes);
    return LoadRdb(engine_, source, options);
  }
  std::string Saved() {
    StringSink sink;
    EXPECT_THAT(SaveRdb(engine_, sink), IsOk());
    return std::string(sink.bytes());
  }
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }
  // Of the fields a and b of the hash k.
  std::string Times() { return Ask({"HPEXPIRETIME", "k", "FIELDS", "2", "a", "b"}); }

 private:
  static EngineOptions OptionsOf(store::Version version) {
    EngineOptions options;
    options.compatibility = version;
    return options;
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(kMomentS)};
  Engine engine_;
  RecordingSession session_{engine_};
};

class HashTimes : public testing::TestWithParam<int> {
 protected:
  static std::string Value(const std::vector<Field>& fields, int64_t first_ms) {
    return GetParam() == kTable ? Table(fields, first_ms) : Listpacked(fields, first_ms);
  }
  static std::string File(int64_t after_ms = 5000) {
    const int64_t deadline_ms = kMomentMs + after_ms;
    return RdbBytes(kVersion)
        .Field("ctime", absl::StrCat(kMomentS - 100))
        .Select(0)
        .Key(0, "other", Text("v"))
        .Key(GetParam(), "k", Value({{"a", "1", deadline_ms}, {"b", "2"}}, deadline_ms))
        .End();
  }
};

TEST_P(HashTimes, AreLoadedAndSavedByAVersionThatHasThem) {
  EngineOf engine(store::Version::kRedis80);
  ASSERT_THAT(engine.Load(File()), IsOk());
  EXPECT_EQ(engine.Times(), absl::StrCat("[", kMomentMs + 5000, ", -1]"));
  EngineOf copy(store::Version::kRedis74);
  ASSERT_THAT(copy.Load(engine.Saved()), IsOk());
  EXPECT_EQ(copy.Times(), engine.Times());
  EXPECT_EQ(copy.Ask({"DEBUG", "DIGEST"}), engine.Ask({"DEBUG", "DIGEST"}));
}

TEST_P(HashTimes, AreShiftedWithAllTimes) {
  EngineOf engine(store::Version::kRedis80);
  ASSERT_THAT(engine.Load(File(), {.time_policy = RdbLoadOptions::TimePolicy::kShiftToNow}),
              IsOk());
  EXPECT_EQ(engine.Times(), absl::StrCat("[", kMomentMs + 105'000, ", -1]"));
}

TEST_P(HashTimes, AreKeptBesideKeysThatAreThere) {
  for (const auto present : {RdbLoadOptions::Present::kKept, RdbLoadOptions::Present::kReplaced}) {
    EngineOf engine(store::Version::kRedis80);
    engine.Ask({"SET", "present", "1"});
    ASSERT_THAT(engine.Load(File(), {.present = present}), IsOk());
    EXPECT_EQ(engine.Times(), absl::StrCat("[", kMomentMs + 5000, ", -1]"));
  }
}

TEST_P(HashTimes, AreRefusedByVersionsWithoutThem) {
  using store::Version;
  const std::string file = File();
  const size_t begin = file.find('\x01' + std::string("k"), 9) - 1;
  for (const Version version :
       {Version::kRedis70, Version::kRedis72, Version::kValkey80, Version::kValkey81}) {
    EngineOf engine(version);
    engine.Ask({"SET", "old", "1"});
    EXPECT_THAT(
        engine.Load(file).status(),
        StatusIs(
            absl::StatusCode::kUnimplemented,
            absl::StrCat("byte ", begin, ": the key \"k\" in database 0 has the type ", GetParam(),
                         ", ", std::string(NameOfRdbType(static_cast<RdbType>(GetParam()))),
                         ", which ", std::string(store::SpecOf(version).name),
                         " does not have (EngineOptions::compatibility or --compatibility can "
                         "name a later version)")));
    EXPECT_EQ(engine.Ask({"KEYS", "*"}), "[\"old\"]") << "the engine is as it was";
  }
}

TEST_P(HashTimes, DoNotMatterInKeysThatAreNotLoaded) {
  EngineOf engine(store::Version::kRedis70);
  const auto filtered = engine.Load(File(), {.keeps = KeysLike({"other"})});
  ASSERT_THAT(filtered, IsOk());
  EXPECT_EQ(filtered->keys, 1u);
  const std::string expired =
      RdbBytes(kVersion)
          .Select(0)
          .ExpiryMs(static_cast<uint64_t>(kMomentMs - 1))
          .Key(GetParam(), "k", Value({{"a", "1", kMomentMs + 1}}, kMomentMs + 1))
          .End();
  EXPECT_THAT(engine.Load(expired), IsOk());
}

// Redis writes such a hash after its last deadline was removed.
TEST_P(HashTimes, OfAHashWithoutAnyMakeAPlainHash) {
  const std::string file =
      RdbBytes(kVersion).Select(0).Key(GetParam(), "k", Value({{"a", "1"}, {"b", "2"}}, 0)).End();
  EngineOf engine(store::Version::kRedis70);
  ASSERT_THAT(engine.Load(file), IsOk());
  EXPECT_EQ(engine.Ask({"HMGET", "k", "a", "b"}), "[\"1\", \"2\"]");
  const std::string saved = engine.Saved();
  EXPECT_TRUE(saved.starts_with("REDIS0010"));
  EXPECT_NE(saved.find('\x10' + Text("k")), std::string::npos) << "a hash in a listpack";
  EngineOf later(store::Version::kRedis80);
  ASSERT_THAT(later.Load(file), IsOk());
  EXPECT_EQ(later.Times(), "[-1, -1]");
}

INSTANTIATE_TEST_SUITE_P(Types, HashTimes, testing::Values(kTable, kListpack),
                         [](const auto& info) {
                           return info.param == kTable ? "Table" : "Listpack";
                         });

}  // namespace
}  // namespace redouble::inline v0_1::memory
