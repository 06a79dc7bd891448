// Goal: RDB files pass between the memory engine and a real server in both directions, for
// keyspaces made by random programs: the digests of DEBUG DIGEST are equal, and so are the values,
// deadlines and encodings that commands show.
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using base::IsOk;
using store::Reply;

constexpr int kCarrier = 98;
constexpr int kDatabases = 16;
constexpr int kProgramsPerGroup = REDOUBLE_RDB_PROGRAMS;

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kCarrier, std::span(&command, 1))[0];
}

// The output of redis-check-rdb for a file.
std::string Checked(const std::string& path) {
  std::string output;
  FILE* pipe = popen(("redis-check-rdb '" + path + "' 2>&1").c_str(), "r");
  std::array<char, 4096> block;
  while (const size_t count = std::fread(block.data(), 1, block.size(), pipe)) {
    output.append(block.data(), count);
  }
  pclose(pipe);
  return output;
}

class RdbProperty : public testing::TestWithParam<std::string> {
 protected:
  RdbProperty()
      : path_(Ask(server_, {"CONFIG", "GET", "dir"}).elements()[1].text() + "/dump.rdb") {}

  // Brings both to the state after the same program.
  void RunBoth(uint64_t seed) {
    Program program = MakeProgram({.group = GetParam(), .seed = seed});
    RunProgram(memory_, program);
    RunProgram(server_, program);
    // Redis keeps an expired key until it is accessed, and saves and digests it until then. SCAN
    // removes such keys; KEYS only leaves them out.
    for (int db = 0; db < kDatabases; ++db) {
      Ask(server_, {"SELECT", std::to_string(db)});
      Ask(server_, {"SCAN", "0", "COUNT", "1000000"});
    }
  }

  static std::string DigestOf(Target& target) { return Ask(target, {"DEBUG", "DIGEST"}).text(); }

  // The server and another engine load the file; both then have what `digest` is of.
  void LoadIntoBoth(const std::string& digest) {
    MemoryTarget copy;
    copy.Reset(memory_.now());
    ASSERT_OK_AND_ASSIGN(const memory::RdbLoadReport report,
                         memory::LoadRdbFile(copy.engine(), path_));
    EXPECT_TRUE(report.has_checksum);
    EXPECT_EQ(DigestOf(copy), digest);
    ASSERT_EQ(Ask(server_, {"DEBUG", "RELOAD", "NOSAVE"}), Reply::Ok());
    EXPECT_EQ(DigestOf(server_), digest);
    EXPECT_EQ(CompareKeyspaces(server_, copy), std::nullopt);
  }

  MemoryTarget memory_;
  ServerTarget server_{{"enable-debug-command yes"}};
  const std::string path_;
};

TEST_P(RdbProperty, CarriesKeyspacesInBothDirections) {
  for (int number = 0; number < kProgramsPerGroup && !HasFailure(); ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    RunBoth(static_cast<uint64_t>(number));
    ASSERT_EQ(Ask(server_, {"SAVE"}), Reply::Ok());
    LoadIntoBoth(DigestOf(server_));
    ASSERT_THAT(memory::SaveRdbFile(memory_.engine(), path_), IsOk());
    LoadIntoBoth(DigestOf(memory_));
  }
  const std::string output = Checked(path_);
  EXPECT_NE(output.find("\\o/ RDB looks OK! \\o/"), std::string::npos) << output;
}

INSTANTIATE_TEST_SUITE_P(Groups, RdbProperty,
                         testing::Values("strings", "lists", "hashes", "sets", "sorted_sets",
                                         "streams", "hyperloglog", "geo", "all"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
