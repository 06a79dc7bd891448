#include "redouble/backends/redis/fsm/counters.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace redouble::inline v0_1::redis {
namespace {

TEST(LatencyHistogram, HasNoQuantileWithoutLatencies) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.QuantileMicros(0.99), 0);
}

TEST(LatencyHistogram, IsExactForTheShortestAndTakesTheNegativeForNone) {
  LatencyHistogram histogram;
  histogram.Record(-5);
  EXPECT_EQ(histogram.QuantileMicros(1), 0);
  histogram.Record(3);
  EXPECT_EQ(histogram.QuantileMicros(1), 3);
  EXPECT_EQ(histogram.QuantileMicros(0.5), 0);
  EXPECT_EQ(histogram.count(), 2u);
}

TEST(LatencyHistogram, CountsBelowAPowerOfTwo) {
  LatencyHistogram histogram;
  for (const int64_t latency : {0, 1, 3, 4, 63, 64, 1000}) histogram.Record(latency);
  EXPECT_EQ(histogram.CountBelow(2), 3u);
  EXPECT_EQ(histogram.CountBelow(6), 5u);
  EXPECT_EQ(histogram.CountBelow(7), 6u);
  EXPECT_EQ(histogram.CountBelow(62), 7u);
  EXPECT_EQ(histogram.sum_us(), 1135u);
}

TEST(LatencyHistogram, TakesTheLongestLatencyThereIs) {
  LatencyHistogram histogram;
  histogram.Record(INT64_MAX);
  EXPECT_EQ(histogram.QuantileMicros(0.5), INT64_MAX);
}

TEST(Counters, AddUp) {
  Counters one, other;
  one.requests = 1;
  one.pushes_dropped = 2;
  one.latency.Record(3);
  other.requests = 10;
  other.answered = 20;
  other.latency.Record(1'000'000);
  one.Add(other);
  EXPECT_EQ(one.requests, 11u);
  EXPECT_EQ(one.answered, 20u);
  EXPECT_EQ(one.pushes_dropped, 2u);
  EXPECT_EQ(one.latency.count(), 2u);
  EXPECT_EQ(one.latency.QuantileMicros(0.5), 3);
  EXPECT_GE(one.latency.QuantileMicros(1), 1'000'000);
}

RC_GTEST_PROP(LatencyHistogramProperty, AQuantileIsAtMostAQuarterTooHigh, ()) {
  auto latencies = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 10'000'000)));
  LatencyHistogram histogram;
  for (const int64_t latency : latencies) histogram.Record(latency);
  std::sort(latencies.begin(), latencies.end());
  const size_t index = *rc::gen::inRange<size_t>(0, latencies.size());
  const double quantile =
      (static_cast<double>(index) + 0.5) / static_cast<double>(latencies.size());
  const int64_t bound = histogram.QuantileMicros(quantile);
  RC_ASSERT(bound >= latencies[index]);
  RC_ASSERT(bound <= latencies[index] + latencies[index] / 4);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
