#include "redouble/core/threescale/authorize/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"

namespace redouble::inline v0_1::threescale {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CountedTransaction At(std::string_view time, Usage usage, std::string code = "") {
  return {"2", "37ba04ec", base::ParseRfc3339(time).value(), std::move(usage), std::move(code)};
}

// One line per command.
std::vector<std::string> Commands(const CountedTransaction& transaction,
                                  StampFormat format = StampFormat::kFixedWidth) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  AddCounterCommands(transaction, Keys(), format, batch);
  std::vector<std::string> lines;
  for (const store::Command& command : batch.commands()) {
    std::string line = absl::AsciiStrToUpper(base::ToAbsl(command.name()));
    for (const std::string_view argument : command.arguments()) {
      line += " " + std::string(argument);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(Counters, AreThirteenCommandsForAMetric) {
  EXPECT_THAT(Commands(At("2025-04-23T17:42:39Z", {{"6", "4"}})),
              ElementsAre("INCRBY stats/{service:2}/metric:6/eternity 4",
                          "INCRBY stats/{service:2}/metric:6/month:20250401 4",
                          "INCRBY stats/{service:2}/metric:6/week:20250421 4",
                          "INCRBY stats/{service:2}/metric:6/day:20250423 4",
                          "INCRBY stats/{service:2}/metric:6/hour:2025042317 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/eternity 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/month:20250401 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/week:20250421 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/day:20250423 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/hour:2025042317 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/year:20250101 4",
                          "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/"
                          "minute:202504231742 4",
                          "EXPIRE stats/{service:2}/cinstance:37ba04ec/metric:6/"
                          "minute:202504231742 180"));
}

TEST(Counters, SetAndDeleteByAMark) {
  const auto set = Commands(At("2025-04-23T17:42:39Z", {{"6", "#05"}}));
  EXPECT_EQ(set.size(), 13u);
  EXPECT_EQ(set.front(), "SET stats/{service:2}/metric:6/eternity 5");
  const auto deleted = Commands(At("2025-04-23T17:42:39Z", {{"6", "#0"}}));
  EXPECT_EQ(deleted.size(), 12u) << "nothing is left to expire";
  EXPECT_EQ(deleted.back(),
            "DEL stats/{service:2}/cinstance:37ba04ec/metric:6/minute:202504231742");
}

TEST(Counters, CountsTheClassThenTheCodeThenMetrics) {
  const auto commands = Commands(At("2025-04-23T17:42:39Z", {{"6", "1"}}, "200"));
  ASSERT_EQ(commands.size(), 39u);
  EXPECT_EQ(commands[0], "INCRBY stats/{service:2}/response_code:2XX/eternity 1");
  EXPECT_EQ(commands[13], "INCRBY stats/{service:2}/response_code:200/eternity 1");
  EXPECT_EQ(commands[26], "INCRBY stats/{service:2}/metric:6/eternity 1");
}

TEST(Counters, AreStampedInEitherFormat) {
  const CountedTransaction transaction = At("2025-04-23T10:40:00Z", {{"6", "1"}});
  EXPECT_EQ(Commands(transaction)[11],
            "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/minute:202504231040 1");
  EXPECT_EQ(Commands(transaction, StampFormat::kTrimmed)[11],
            "INCRBY stats/{service:2}/cinstance:37ba04ec/metric:6/minute:20250423104 1");
}

TEST(ResponseCodes, AreCountedByClassAndByTheCodesThatMatter) {
  EXPECT_THAT(CountedResponseCodes("200"), ElementsAre("2XX", "200"));
  EXPECT_THAT(CountedResponseCodes("209"), ElementsAre("2XX"));
  for (const char* code : {"403", "404"}) {
    EXPECT_THAT(CountedResponseCodes(code), ElementsAre("4XX", code));
  }
  for (const char* code : {"500", "503"}) {
    EXPECT_THAT(CountedResponseCodes(code), ElementsAre("5XX", code));
  }
  for (const char* code : {"100", "301", "600", "999", "099", "", "20", "2000", "2x0", " 20"}) {
    EXPECT_THAT(CountedResponseCodes(code), IsEmpty()) << code;
  }
}

RC_GTEST_PROP(CountersProperty, WritesEachKeyOfATransactionOnce, (uint32_t seconds)) {
  CountedTransaction transaction = At("2025-04-23T17:42:39Z", {{"6", "1"}, {"7", "#2"}}, "404");
  transaction.time = absl::FromUnixSeconds(seconds);
  std::vector<std::string> keys;
  for (const std::string& line : Commands(transaction)) {
    if (!line.starts_with("EXPIRE")) keys.push_back(line.substr(line.find(' ')));
  }
  std::sort(keys.begin(), keys.end());
  RC_ASSERT(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
  RC_ASSERT(keys.size() == 48u);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
