// Goal: a real server restores every value that the memory engine dumps, and the reverse, for
// values made by random programs. Payloads are equal byte for byte except for the order of hash
// tables.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Reply;

constexpr int kCarrier = 98;
constexpr int kProgramsPerGroup = 200;

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kCarrier, std::span(&command, 1))[0];
}

bool HasOneOrder(std::string_view encoding) { return encoding != "hashtable"; }

// Replaces each target's value of a key by that of the other target.
void Exchange(Target& memory, Target& server, const std::string& key) {
  const std::string of_memory = Ask(memory, {"DUMP", key}).text();
  const std::string of_server = Ask(server, {"DUMP", key}).text();
  if (HasOneOrder(Ask(memory, {"OBJECT", "ENCODING", key}).text())) {
    EXPECT_EQ(Reply::Bulk(of_memory), Reply::Bulk(of_server)) << key;
  }
  EXPECT_EQ(Ask(memory, {"RESTORE", key, "0", of_server, "REPLACE"}), Reply::Ok()) << key;
  EXPECT_EQ(Ask(server, {"RESTORE", key, "0", of_memory, "REPLACE"}), Reply::Ok()) << key;
}

class DumpProperty : public testing::TestWithParam<std::string> {
 protected:
  MemoryTarget memory_;
  ServerTarget server_;
};

TEST_P(DumpProperty, RestoresOnTheOtherServerInBothDirections) {
  for (int number = 0; number < kProgramsPerGroup && !HasFailure(); ++number) {
    SCOPED_TRACE("program " + std::to_string(number));
    Program program = MakeProgram({.group = GetParam(), .seed = static_cast<uint64_t>(number)});
    RunProgram(memory_, program);
    RunProgram(server_, program);
    for (int db = 0; db < 16; ++db) {
      const Words select = {"SELECT", std::to_string(db)};
      Ask(memory_, select);
      Ask(server_, select);
      for (const Reply& key : Ask(memory_, {"KEYS", "*"}).elements()) {
        Exchange(memory_, server_, key.text());
      }
    }
    EXPECT_EQ(CompareKeyspaces(server_, memory_), std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, DumpProperty,
                         testing::Values("strings", "lists", "hashes", "sets", "sorted_sets",
                                         "streams", "hyperloglog", "geo"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
