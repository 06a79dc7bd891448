#include "redouble/backends/redis/net/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/pool_counters.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"

namespace redouble::inline v0_1::redis {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(MetricsText, IsEmptyAtFirst) { EXPECT_EQ(MetricsText().Text(), ""); }

TEST(MetricsText, GroupsClientsByMetric) {
  Counters orders, sessions;
  orders.requests = 812;
  orders.in_flight = 3;
  sessions.requests = 30;
  MetricsText metrics;
  metrics.Add({{"client", "orders"}}, orders);
  metrics.Add({{"client", "sessions"}}, sessions);
  const std::string text = metrics.Text();
  EXPECT_THAT(text, StartsWith("# TYPE redouble_redis_requests_total counter\n"
                               "redouble_redis_requests_total{client=\"orders\"} 812\n"
                               "redouble_redis_requests_total{client=\"sessions\"} 30\n"
                               "# TYPE redouble_redis_commands_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE redouble_redis_in_flight gauge\n"
                              "redouble_redis_in_flight{client=\"orders\"} 3\n"));
}

TEST(MetricsText, HasAHistogramOfLatencies) {
  Counters counters;
  for (const int64_t latency_us : {10, 64, 1'500'000}) counters.latency.Record(latency_us);
  MetricsText metrics;
  metrics.Add({}, counters);
  const std::string text = metrics.Text();
  EXPECT_THAT(text,
              HasSubstr("# TYPE redouble_redis_request_duration_seconds histogram\n"
                        "redouble_redis_request_duration_seconds_bucket{le=\"0.000064\"} 1\n"
                        "redouble_redis_request_duration_seconds_bucket{le=\"0.000128\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"67.108864\"} 3\n"
                              "redouble_redis_request_duration_seconds_bucket{le=\"+Inf\"} 3\n"
                              "redouble_redis_request_duration_seconds_sum 1.500074\n"
                              "redouble_redis_request_duration_seconds_count 3\n"));
}

TEST(MetricsText, EscapesTheValuesOfLabels) {
  MetricsText metrics;
  metrics.Add({{"client", "a\\b\"c\nd"}, {"zone", "1"}}, Counters());
  EXPECT_THAT(metrics.Text(),
              HasSubstr("requests_total{client=\"a\\\\b\\\"c\\nd\",zone=\"1\"} 0\n"));
}

TEST(MetricsText, HasTheFiguresOfEachCommand) {
  std::map<std::string, CommandFigures> commands;
  commands["GET"].latency.Record(100);
  commands["GET"].errors["WRONGTYPE"] = 2;
  commands["SET"].redirects = 3;
  MetricsText metrics;
  metrics.Add({{"client", "a"}}, commands);
  EXPECT_THAT(
      metrics.Text(),
      StartsWith("# TYPE redouble_redis_command_duration_seconds histogram\n"
                 "redouble_redis_command_duration_seconds_bucket{client=\"a\",command=\"GET\","
                 "le=\"0.000064\"} 0\n"));
  EXPECT_THAT(metrics.Text(),
              HasSubstr("redouble_redis_command_duration_seconds_count{client=\"a\","
                        "command=\"GET\"} 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE redouble_redis_command_errors_total counter\n"
                                        "redouble_redis_command_errors_total{client=\"a\","
                                        "command=\"GET\",error=\"WRONGTYPE\"} 2\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("redouble_redis_command_redirects_total{client=\"a\","
                                        "command=\"SET\"} 3\n"));
}

TEST(MetricsText, KnowsPools) {
  MetricsText metrics;
  metrics.Add({{"client", "a"}}, PoolCounters{.timeouts = 4, .idle = 3});
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE redouble_redis_pool_timeouts_total counter\n"
                                        "redouble_redis_pool_timeouts_total{client=\"a\"} 4\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE redouble_redis_pool_idle gauge\n"
                                        "redouble_redis_pool_idle{client=\"a\"} 3\n"));
}

TEST(MetricsText, KnowsClustersAndSentinels) {
  MetricsText metrics;
  metrics.Add({}, ClusterCounters{.moved = 5});
  metrics.Add({}, SentinelCounters{.rounds = 2});
  EXPECT_THAT(metrics.Text(), HasSubstr("redouble_redis_cluster_moved_total 5\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("redouble_redis_sentinel_rounds_total 2\n"));
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("redouble_redis_requests_total")));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
