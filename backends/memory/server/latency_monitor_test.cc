#include "redouble/backends/memory/server/latency_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redouble::inline v0_1::memory {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(LatencyMonitor, KeepsTheWorstOfEachSecond) {
  LatencyMonitor monitor;
  monitor.Add("command", 100, 5);
  monitor.Add("command", 100, 9);
  monitor.Add("command", 100, 7);
  monitor.Add("command", 101, 3);
  const LatencyMonitor::Event* event = monitor.Find("command");
  ASSERT_EQ(event->samples.size(), 2u);
  EXPECT_EQ(event->samples[0].latency_ms, 9);
  EXPECT_EQ(event->worst_ms, 9);
  EXPECT_EQ(monitor.Find("fork"), nullptr);
}

TEST(LatencyMonitor, KeepsTheLast160) {
  LatencyMonitor monitor;
  for (int64_t second = 0; second < 200; ++second) monitor.Add("command", second, 500 - second);
  const LatencyMonitor::Event* event = monitor.Find("command");
  EXPECT_EQ(event->samples.size(), 160u);
  EXPECT_EQ(event->samples.front().at_s, 40);
  EXPECT_EQ(event->worst_ms, 500);
}

TEST(LatencyMonitor, Forgets) {
  LatencyMonitor monitor;
  monitor.Add("a", 1, 1);
  monitor.Add("b", 1, 1);
  monitor.Add("c", 1, 1);
  EXPECT_TRUE(monitor.Reset("a"));
  EXPECT_FALSE(monitor.Reset("a"));
  EXPECT_EQ(monitor.ResetAll(), 2u);
  EXPECT_TRUE(monitor.events().empty());
}

// As redis-server 7.0.15 drew the same samples.
TEST(DrawLatencies, DrawsAColumnForEachSample) {
  LatencyMonitor monitor;
  monitor.Add("command", 10, 30);
  monitor.Add("command", 12, 50);
  monitor.Add("command", 13, 5);
  monitor.Add("command", 14, 39);
  EXPECT_EQ(DrawLatencies("command", *monitor.Find("command"), 14),
            "command - high 50 ms, low 5 ms (all time high 50 ms)\n" + std::string(80, '-') +
                "\n # _\n_| |\n|| |\n||_|\n    \n4210\nssss\n");
}

TEST(DrawLatencies, OneSampleStandsAtTheBottom) {
  LatencyMonitor monitor;
  monitor.Add("command", 10, 4);
  EXPECT_THAT(DrawLatencies("command", *monitor.Find("command"), 10),
              HasSubstr("-\n \n \n \n_\n \n0\ns\n"));
}

TEST(DrawLatencies, AgesGrowToDays) {
  LatencyMonitor monitor;
  constexpr int64_t kNow = 1'000'000;
  for (const int64_t age : {200'000, 7'200, 61, 59}) monitor.Add("e", kNow - age, 1);
  EXPECT_THAT(DrawLatencies("e", *monitor.Find("e"), kNow), HasSubstr("2215\ndhm9\n   s\n"));
}

TEST(DrawLatencies, WrapsAfter80Columns) {
  LatencyMonitor monitor;
  for (int64_t second = 0; second < 90; ++second) monitor.Add("e", second, second);
  const std::string drawn = DrawLatencies("e", *monitor.Find("e"), 90);
  EXPECT_THAT(drawn, HasSubstr("\n" + std::string(80, ' ') + "\n"));
  EXPECT_THAT(drawn, HasSubstr("\n" + std::string(10, ' ') + "\n"));
}

TEST(DiagnoseLatencies, ReportsThatItIsOffOrThatThereAreNoSpikes) {
  LatencyMonitor monitor;
  EXPECT_THAT(DiagnoseLatencies(monitor, {}, 0), HasSubstr("I'm sorry, Dave"));
  EXPECT_THAT(DiagnoseLatencies(monitor, {.threshold_ms = 1}, 0), HasSubstr("no latency spike"));
}

TEST(DiagnoseLatencies, StillReportsSpikesAfterItIsSwitchedOff) {
  LatencyMonitor monitor;
  monitor.Add("command", 10, 30);
  EXPECT_THAT(DiagnoseLatencies(monitor, {}, 14), HasSubstr("1. command: 1 latency spikes"));
}

TEST(DiagnoseLatencies, SpeaksAsTheVersion) {
  constexpr DoctorSettings kValkey = {
      .threshold_ms = 1, .slowlog_log_slower_than_us = -1, .version = store::Version::kValkey80};
  LatencyMonitor monitor;
  EXPECT_EQ(DiagnoseLatencies(monitor, kValkey, 14),
            "No latency spike was observed during the lifetime of this Valkey instance, not in the "
            "slightest bit.\n");
  monitor.Add("command", 10, 30);
  EXPECT_THAT(
      DiagnoseLatencies(monitor, kValkey, 14),
      testing::AllOf(StartsWith("Latency spikes are observed in this Valkey instance.\n\n1. "),
                     HasSubstr("\nHere is some advice for you:\n\n"),
                     HasSubstr("Try to enable the Slow Log Valkey feature"),
                     HasSubstr("https://valkey.io/commands/slowlog")));
  EXPECT_THAT(DiagnoseLatencies({}, {.version = store::Version::kRedis80}, 14),
              HasSubstr("https://redis.io/docs/latest/"));
}

TEST(DiagnoseLatencies, SumsUpEachEvent) {
  LatencyMonitor monitor;
  monitor.Add("command", 10, 30);
  monitor.Add("command", 12, 50);
  monitor.Add("command", 13, 5);
  monitor.Add("command", 14, 39);
  EXPECT_THAT(
      DiagnoseLatencies(monitor, {.threshold_ms = 1, .slowlog_log_slower_than_us = 10'000}, 14),
      testing::AllOf(HasSubstr("1. command: 4 latency spikes (average 31ms, mean deviation "
                               "13ms, period 1.00 sec). Worst all time event 50ms.\n"),
                     HasSubstr("'CONFIG SET slowlog-log-slower-than 1000'.")));
}

TEST(DiagnoseLatencies, AdvisesToTurnTheSlowLogOn) {
  LatencyMonitor monitor;
  monitor.Add("command", 10, 30);
  EXPECT_THAT(DiagnoseLatencies(monitor, {.threshold_ms = 2, .slowlog_log_slower_than_us = -1}, 14),
              HasSubstr("Try to enable the Slow Log Redis feature using the command 'CONFIG SET "
                        "slowlog-log-slower-than 2000'"));
  EXPECT_THAT(
      DiagnoseLatencies(monitor, {.threshold_ms = 2, .slowlog_log_slower_than_us = 2'000}, 14),
      testing::Not(HasSubstr("CONFIG SET")));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
