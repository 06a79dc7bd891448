// The goal: a value that the memory engine dumps, a real server restores, and the other way round,
// whatever programs made of it. Payloads are equal byte for byte but for the order of hash tables
// and the cuts of lists.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/differential/make_program.h"
#include "tests/differential/run_program.h"
#include "tests/support/memory_target.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

using store::Reply;

constexpr int kCarrier = 98;
constexpr int kProgramsPerGroup = 200;

Reply Ask(Target& target, const Words& command) {
  return target.RunAll(kCarrier, std::span(&command, 1))[0];
}

bool HasOneOrder(std::string_view encoding) {
  return encoding != "hashtable" && encoding != "quicklist";
}

// Each target's value of a key goes to the other one, in place of its own.
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

TEST_P(DumpProperty, CarriesWhatProgramsMadeBothWays) {
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
    const std::vector<Words> questions = KeyspaceQuestions(memory_);
    const std::vector<Reply> got = AskKeyspace(memory_, questions);
    const std::vector<Reply> wanted = AskKeyspace(server_, questions);
    for (size_t i = 0; i < questions.size(); ++i) {
      EXPECT_EQ(got[i], wanted[i]) << JoinWords(questions[i]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, DumpProperty,
                         testing::Values("strings", "lists", "hashes", "sets", "sorted_sets",
                                         "streams", "hyperloglog", "geo"),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace redouble::tests
