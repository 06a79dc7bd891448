// Goal: what loading and saving need beside the keys does not grow with the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/persistence/byte_stream.h"
#include "redouble/backends/memory/snapshot/allocated_bytes_for_test.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/rdb_bytes_for_test.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kValueBytes = 1000;

// Keeps no bytes.
class MeasuringSink final : public ByteSink {
 public:
  absl::Status Write(std::string_view bytes) override {
    peak.Note();
    written += bytes.size();
    return absl::OkStatus();
  }

  Peak peak;
  size_t written = 0;
};

// A value that LZF cannot compress to nothing.
std::string ValueOf(int number) {
  std::string value;
  for (int i = 0; value.size() < kValueBytes; ++i) absl::StrAppend(&value, number * 7919 + i * i);
  return value;
}

void Fill(Engine& engine, int keys) {
  RecordingSession session(engine);
  for (int i = 0; i < keys; ++i) {
    session.Send({"SET", absl::StrCat("key:", i), ValueOf(i), "PX", "100000"});
  }
}

constexpr size_t kMostBytes = size_t{1} << 20;

class SnapshotMemory : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (AllocatedBytes() == 0) GTEST_SKIP() << "the allocator does not count";
  }
  static size_t ValuesBytes() { return static_cast<size_t>(GetParam()) * kValueBytes; }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
};

TEST_P(SnapshotMemory, OfSavingDoesNotGrow) {
  Engine engine(clock_);
  Fill(engine, GetParam());
  MeasuringSink sink;
  const size_t before = AllocatedBytes();
  ASSERT_TRUE(SaveRdb(engine, sink).ok());
  EXPECT_GT(sink.written, ValuesBytes() / 3);
  EXPECT_LT(sink.peak.bytes, before + kMostBytes);
}

TEST_P(SnapshotMemory, OfLoadingDoesNotGrowBesideTheKeys) {
  StringSink sink;
  {
    Engine engine(clock_);
    Fill(engine, GetParam());
    ASSERT_TRUE(SaveRdb(engine, sink).ok());
  }
  Engine engine(clock_);
  MeasuringSource source(sink.bytes());
  const size_t before = AllocatedBytes();
  ASSERT_TRUE(LoadRdb(engine, source).ok());
  const size_t after = AllocatedBytes();
  EXPECT_GT(after - before, ValuesBytes());
  EXPECT_LT(source.peak.bytes, after + kMostBytes);
}

// A file that announces more keys than there is memory needs hardly more than another.
TEST_P(SnapshotMemory, OfAnnouncedKeysIsNotReserved) {
  const std::string value = Text(ValueOf(1));
  const auto loaded_bytes = [&](uint64_t announced) {
    RdbBytes bytes;
    bytes.Select(0).Opcode(RdbOpcode::kResize, Length(announced) + Length(announced));
    for (int i = 0; i < GetParam(); ++i) bytes.Key(0, absl::StrCat("key:", i), value);
    const std::string file = bytes.End();
    Engine engine(clock_);
    MeasuringSource source(file);
    const size_t before = AllocatedBytes();
    EXPECT_TRUE(LoadRdb(engine, source).ok());
    return std::max(source.peak.bytes, AllocatedBytes()) - before;
  };
  EXPECT_LT(loaded_bytes(uint64_t{1} << 60), loaded_bytes(0) + kMostBytes);
}

INSTANTIATE_TEST_SUITE_P(Keys, SnapshotMemory, testing::Values(1'000, 16'000));

}  // namespace
}  // namespace redouble::inline v0_1::memory
