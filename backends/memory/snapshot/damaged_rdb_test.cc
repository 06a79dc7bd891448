// Goal: whatever happens to the bytes of a file, loading it is a valid load or a clear error, and
// takes no more memory than the bytes justify.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/persistence/rdb_codec.h"
#include "redouble/backends/memory/snapshot/load_rdb.h"
#include "redouble/backends/memory/snapshot/rdb_opcode.h"
#include "redouble/backends/memory/snapshot/save_rdb.h"
#include "redouble/core/base/hash/crc.h"

namespace {

// The largest block that was asked for since it was last set to 0.
size_t largest_block = 0;

}  // namespace

void* operator new(size_t size) {
  largest_block = std::max(largest_block, size);
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMaxBlock = size_t{1} << 20;

class DamagedRdb : public testing::Test {
 protected:
  // A small file with values of every type.
  std::string File() {
    Engine engine(clock_);
    RecordingSession session(engine);
    const std::string text(30, 't');
    session.Send({"SET", "text", text, "PX", "1500"});
    session.Send({"SET", "integer", "300"});
    session.Send({"RPUSH", "list", "a", "12", text});
    session.Send({"SADD", "intset", "1", "70000"});
    session.Send({"SADD", "set", "a", "1"});
    session.Send({"HSET", "hash", "f", "1", "g", "2"});
    session.Send({"HSET", "large hash", "f", std::string(70, 'h')});
    session.Send({"ZADD", "zset", "-0.25", "m", "inf", "n"});
    session.Send({"ZADD", "large zset", "1.5", std::string(70, 'z')});
    session.Send({"XADD", "stream", "5-1", "field", "value"});
    session.Send({"XADD", "stream", "6-1", "field", "value"});
    session.Send({"XGROUP", "CREATE", "stream", "group", "0"});
    session.Send({"XREADGROUP", "GROUP", "group", "ann", "STREAMS", "stream", ">"});
    StringSink sink;
    EXPECT_TRUE(SaveRdb(engine, sink).ok());
    return sink.bytes();
  }

  // Loads the bytes into an engine with a key, and checks that the result is whole.
  void Load(std::string_view bytes) {
    Engine engine(clock_);
    RecordingSession session(engine);
    session.Send({"SET", "old", "1"});
    StringSource source(bytes);
    largest_block = 0;
    const absl::StatusOr<RdbLoadReport> report = LoadRdb(engine, source);
    EXPECT_LT(largest_block, kMaxBlock);
    if (!report.ok()) {
      ++refused_;
      EXPECT_EQ(report.status().message().substr(0, 5), "byte ") << report.status();
      EXPECT_EQ(session.Send({"KEYS", "*"}), "[\"old\"]");
      return;
    }
    ++loaded_;
    // Visits every value.
    StringSink sink;
    EXPECT_TRUE(SaveRdb(engine, sink).ok());
    session.Send({"DEBUG", "DIGEST"});
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  int loaded_ = 0;
  int refused_ = 0;
};

TEST_F(DamagedRdb, IsRefusedWhereverItIsCut) {
  const std::string file = File();
  for (size_t size = 0; size < file.size(); ++size) Load(std::string_view(file).substr(0, size));
  EXPECT_EQ(loaded_, 0);
  Load(file);
  EXPECT_EQ(loaded_, 1);
}

TEST_F(DamagedRdb, IsRefusedByItsChecksumWhicheverBitIsWrong) {
  const std::string file = File();
  // A wrong bit in the version or in a checksum of zeros would not be found.
  for (size_t at = 9; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    Load(damaged);
  }
  EXPECT_EQ(loaded_, 0);
}

TEST_F(DamagedRdb, IsReadWithCareIfTheChecksumIsCorrect) {
  std::string file = File();
  file.resize(file.size() - kRdbChecksumBytes);
  for (size_t at = 0; at < file.size(); ++at) {
    for (const int bits : {0x01, 0x04, 0x10, 0x40, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      AppendLittleEndian(bits == 0xff ? 0 : base::Crc64(damaged), kRdbChecksumBytes, damaged);
      Load(damaged);
    }
  }
  EXPECT_GT(loaded_, 100);
  EXPECT_GT(refused_, 1000);
}

// Lengths of up to 2^62 in front of every value.
TEST_F(DamagedRdb, ClaimsLengthsThatItDoesNotHave) {
  for (int type = 0; type <= 25; ++type) {
    for (const uint64_t length : {uint64_t{1} << 20, uint64_t{1} << 31, uint64_t{1} << 62}) {
      std::string file = "REDIS0012";
      file.push_back(static_cast<char>(type));
      AppendRdbString("k", file);
      AppendRdbLength(length, file);
      Load(file);
      AppendRdbLength(length, file);
      Load(file + std::string(1000, '\1'));
    }
  }
  EXPECT_EQ(loaded_, 0);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
