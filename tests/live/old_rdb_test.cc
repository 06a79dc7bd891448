// Goal: RDB files of every version, with encodings that no server writes today, mean to the engine
// what they mean to a real server.
#include <fstream>
#include <span>
#include <string>

#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/rdb_value_cases_for_test.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using memory::RdbBytes;
using store::Reply;

constexpr int kLastVersionOfTheServer = 10;

class OldRdb : public testing::Test {
 protected:
  OldRdb() : path_(Ask(server_, {"CONFIG", "GET", "dir"}).elements()[1].text() + "/dump.rdb") {
    for (Target* target : {static_cast<Target*>(&memory_), static_cast<Target*>(&server_)}) {
      target->Reset(absl::FromUnixSeconds(memory::kMomentS));
    }
  }

  static Reply Ask(Target& target, const Words& command) {
    return target.RunAll(0, std::span(&command, 1))[0];
  }

  // Both load the file, and have the same afterwards.
  void LoadIntoBoth(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    ASSERT_THAT(memory::LoadRdbFile(memory_.engine(), path_), IsOk());
    ASSERT_EQ(Ask(server_, {"DEBUG", "RELOAD", "NOSAVE"}), Reply::Ok());
    ExpectEqual({"DEBUG", "DIGEST"});
  }

  void ExpectEqual(const Words& command) {
    EXPECT_EQ(Ask(memory_, command), Ask(server_, command)) << JoinWords(command);
  }

  MemoryTarget memory_;
  ServerTarget server_{{"enable-debug-command yes"}};
  const std::string path_;
};

TEST_F(OldRdb, IsReadAsAServerReadsIt) {
  for (const memory::RdbValueCase& one : memory::RdbValueCases()) {
    if (one.version > kLastVersionOfTheServer) continue;
    SCOPED_TRACE(one.name);
    LoadIntoBoth(RdbBytes(one.version).Select(0).Key(one.type, "k", one.value).End());
    ExpectEqual(one.show);
    ExpectEqual({"OBJECT", "ENCODING", "k"});
    if (one.show[0] != "XRANGE") continue;
    ExpectEqual({"XINFO", "STREAM", "k", "FULL"});
    ExpectEqual({"XPENDING", "k", "group", "-", "+", "10"});
  }
}

TEST_F(OldRdb, DropsTheKeysThatAServerDrops) {
  RdbBytes file(9);
  file.Select(2);
  for (const int64_t step_ms : {-1000, -1, 0, 1, 1000}) {
    const int64_t deadline_ms = memory::kMomentS * 1000 + step_ms;
    file.ExpiryMs(static_cast<uint64_t>(deadline_ms));
    file.Key(0, "ms " + std::to_string(step_ms), memory::Text("v"));
    file.ExpirySeconds(static_cast<uint64_t>(memory::kMomentS + step_ms));
    file.Key(0, "s " + std::to_string(step_ms), memory::Text("v"));
  }
  file.ExpiryMs(static_cast<uint64_t>(-1)).Key(0, "never", memory::Text("v"));
  file.Key(2, "empty", memory::Length(0));
  LoadIntoBoth(file.End());
  ExpectEqual({"DBSIZE"});
  for (Target* target : {static_cast<Target*>(&memory_), static_cast<Target*>(&server_)}) {
    Ask(*target, {"SELECT", "2"});
  }
  ExpectEqual({"DBSIZE"});
  ExpectEqual({"PTTL", "ms 0"});
  ExpectEqual({"PTTL", "s 1000"});
  ExpectEqual({"PTTL", "never"});
}

// A server writes the greatest id as the first one of a stream without entries of version 5.0.
TEST_F(OldRdb, PassesThroughAServer) {
  const std::string empty = memory::Length(0) + memory::Length(0) + memory::Length(7) +
                            memory::Length(1) + memory::Length(0);
  LoadIntoBoth(RdbBytes(9).Select(0).Key(15, "k", empty).End());
  ASSERT_EQ(Ask(server_, {"SAVE"}), Reply::Ok());
  ASSERT_THAT(memory::LoadRdbFile(memory_.engine(), path_), IsOk());
  ExpectEqual({"XADD", "k", "7-2", "a", "b"});
}

// What eviction uses, and functions.
TEST_F(OldRdb, KeepsIdleTimesFrequenciesAndFunctions) {
  Ask(server_, {"FUNCTION", "LOAD",
                "#!lua name=one\nredis.register_function('f', function() return 7 end)"});
  Ask(server_, {"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"});
  Ask(server_, {"SET", "frequent", "v"});
  for (int i = 0; i < 50; ++i) Ask(server_, {"GET", "frequent"});
  ASSERT_EQ(Ask(server_, {"SAVE"}), Reply::Ok());
  ASSERT_THAT(memory::LoadRdbFile(memory_.engine(), path_), IsOk());
  Ask(memory_, {"CONFIG", "SET", "maxmemory-policy", "allkeys-lfu"});
  ExpectEqual({"OBJECT", "FREQ", "frequent"});
  ExpectEqual({"FCALL", "f", "0"});
  // Back, with an idle time.
  Ask(memory_, {"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  memory_.SetTime(memory_.now() + absl::Seconds(70));
  server_.SetTime(memory_.now());
  server_.Settle();  // The server's timer sets the clock of idle times.
  Ask(memory_, {"SET", "fresh", "v"});
  ASSERT_THAT(memory::SaveRdbFile(memory_.engine(), path_), IsOk());
  Ask(server_, {"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  Ask(server_, {"FUNCTION", "FLUSH"});
  ASSERT_EQ(Ask(server_, {"DEBUG", "RELOAD", "NOSAVE"}), Reply::Ok());
  ExpectEqual({"DEBUG", "DIGEST"});
  ExpectEqual({"OBJECT", "IDLETIME", "frequent"});
  ExpectEqual({"OBJECT", "IDLETIME", "fresh"});
  ExpectEqual({"FCALL", "f", "0"});
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
