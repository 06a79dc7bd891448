#include "redouble/backends/memory/server/statistics.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::Reply;

TEST(Statistics, CountsCallsAndThoseThatFailed) {
  Statistics statistics;
  statistics.CountCall(CommandId::kGet, Reply::Nil());
  statistics.CountCall(CommandId::kGet, Reply::Error("WRONGTYPE Operation"));
  EXPECT_EQ(statistics.of(CommandId::kGet).calls, 2);
  EXPECT_EQ(statistics.of(CommandId::kGet).failed, 1);
  EXPECT_EQ(statistics.of(CommandId::kSet).calls, 0);
  EXPECT_EQ(statistics.calls(), 2);
}

TEST(Statistics, CountsARejectionAsNoCall) {
  Statistics statistics;
  statistics.CountRejection(CommandId::kGet, Reply::Error("ERR wrong number"));
  statistics.CountRejection(CommandId::kUnknown, Reply::Error("ERR unknown command"));
  EXPECT_EQ(statistics.of(CommandId::kGet).rejected, 1);
  EXPECT_EQ(statistics.calls(), 0);
  EXPECT_EQ(statistics.error_replies(), 2);
}

TEST(Statistics, CountsErrorsByTheirCode) {
  Statistics statistics;
  statistics.CountCall(CommandId::kGet, Reply::Error("WRONGTYPE Operation"));
  statistics.CountCall(CommandId::kSet, Reply::Error("ERR syntax error"));
  statistics.CountCall(CommandId::kGet, Reply::Error("WRONGTYPE Operation"));
  EXPECT_EQ(statistics.errors().at("WRONGTYPE"), 2);
  EXPECT_EQ(statistics.errors().at("ERR"), 1);
}

TEST(Statistics, TakesTheFirstWordOfAnErrorForItsCodeIfItIsShort) {
  Statistics statistics;
  const std::string word(30, 'A');
  for (const std::string& text :
       {std::string("NOSPACE"), std::string(), word + "A b", word + " b"}) {
    statistics.CountCall(CommandId::kEval, Reply::Error(text));
  }
  EXPECT_EQ(statistics.errors().at("ERR"), 3);
  EXPECT_EQ(statistics.errors().at(word), 1);
}

TEST(Statistics, CountsTheErrorsWithinAReply) {
  Statistics statistics;
  const std::vector<std::string> errors = {"ERR a", "MY b", "ERR c"};
  statistics.CountNestedErrors(CommandId::kEval, errors, /*counted=*/0);
  EXPECT_EQ(statistics.errors().at("ERR"), 2);
  EXPECT_EQ(statistics.errors().at("MY"), 1);
  EXPECT_EQ(statistics.of(CommandId::kEval).failed, 1);
  statistics.CountNestedErrors(CommandId::kEval, {}, /*counted=*/2);
  EXPECT_EQ(statistics.error_replies(), 3);
  EXPECT_EQ(statistics.of(CommandId::kEval).failed, 3);
}

TEST(Statistics, AddsUpDurationsAndKeepsAHistogramWhenAsked) {
  Statistics statistics;
  statistics.CountDuration(CommandId::kGet, 3, /*with_histogram=*/false);
  EXPECT_EQ(statistics.of(CommandId::kGet).durations, nullptr);
  statistics.CountDuration(CommandId::kGet, 5, /*with_histogram=*/true);
  EXPECT_EQ(statistics.of(CommandId::kGet).duration_us, 8);
  EXPECT_EQ(statistics.of(CommandId::kGet).durations->count(), 1);
}

TEST(Statistics, CountsAnewAfterAReset) {
  Statistics statistics;
  statistics.CountCall(CommandId::kGet, Reply::Error("ERR x"));
  statistics.CountLookups(2, 3);
  EXPECT_EQ(statistics.hits(), 2);
  EXPECT_EQ(statistics.misses(), 3);
  statistics.Reset();
  EXPECT_EQ(statistics.calls(), 0);
  EXPECT_EQ(statistics.hits(), 0);
  EXPECT_TRUE(statistics.errors().empty());
}

TEST(DurationHistogram, ComputesPercentilesExactlyForShortDurations) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.Percentile(99), 0);
  for (int64_t us = 1; us <= 20; ++us) histogram.Add(us);
  EXPECT_EQ(histogram.Percentile(50), 10);
  EXPECT_EQ(histogram.Percentile(99), 20);
  EXPECT_EQ(histogram.CountUpTo(5), 5);
}

TEST(DurationHistogram, IsWithinSixPercentForLongOnes) {
  for (int64_t us = 32; us < 50'000'000; us = us * 5 / 4 + 1) {
    DurationHistogram histogram;
    histogram.Add(us);
    const int64_t told = histogram.Percentile(100);
    EXPECT_GE(told, us);
    EXPECT_LE(told, us + us / 16 + 1) << us;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
