#include "redouble/core/korvet/broker/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

BrokerSettings Read(const Pairs& variables) { return ReadBrokerSettings(variables).value(); }

TEST(BrokerSettings, HaveTheDocumentedDefaults) {
  const BrokerSettings settings = Read({});
  EXPECT_EQ(settings.redis_url, "");
  EXPECT_EQ(settings.keyspace, "korvet");
  EXPECT_EQ(settings.num_partitions, 1);
  EXPECT_EQ(settings.producer.acks, -1);
  EXPECT_EQ(settings.producer.max_record_bytes, 1048588);
  EXPECT_EQ(settings.consumer.client_id, "consumer");
  EXPECT_EQ(settings.consumer.max_records, 100);
  EXPECT_EQ(settings.consumer.max_wait, std::nullopt);
  EXPECT_EQ(settings.consumer.session_timeout, absl::Seconds(45));
  EXPECT_EQ(settings.consumer.heartbeat_interval, absl::Seconds(3));
  EXPECT_EQ(settings.consumer.claim_idle, absl::Seconds(45));
  EXPECT_EQ(settings.consumer.metadata_max_age, absl::Minutes(5));
  EXPECT_EQ(settings.consumer.assignor, Assignor::kCooperativeSticky);
  EXPECT_EQ(settings.consumer.group.start.kind, GroupPosition::Kind::kEarliest);
  EXPECT_EQ(settings.retention_interval, absl::Minutes(5));
}

TEST(BrokerSettings, AreReadFromVariables) {
  const BrokerSettings settings = Read({{"KORVET_REDIS_URL", " redis://h "},
                                        {"KORVET_KEYSPACE", "{k}"},
                                        {"KORVET_NUM_PARTITIONS", "3"},
                                        {"KORVET_ACKS", "1"},
                                        {"KORVET_MESSAGE_MAX_BYTES", "100"},
                                        {"KORVET_CLIENT_ID", "c"},
                                        {"KORVET_MAX_POLL_RECORDS", "7"},
                                        {"KORVET_FETCH_MAX_WAIT_MS", "500"},
                                        {"KORVET_SESSION_TIMEOUT_MS", "10000"},
                                        {"KORVET_HEARTBEAT_INTERVAL_MS", "0"},
                                        {"KORVET_CLAIM_IDLE_MS", "1000"},
                                        {"KORVET_METADATA_MAX_AGE_MS", "2000"},
                                        {"KORVET_PARTITION_ASSIGNMENT_STRATEGY", "range"},
                                        {"KORVET_AUTO_OFFSET_RESET", "latest"},
                                        {"KORVET_LOG_RETENTION_CHECK_INTERVAL_MS", "60000"},
                                        {"KORVET_UNKNOWN", "x"},
                                        {"OTHER_KEYSPACE", "x"}});
  EXPECT_EQ(settings.redis_url, "redis://h");
  EXPECT_EQ(settings.keyspace, "{k}");
  EXPECT_EQ(settings.num_partitions, 3);
  EXPECT_EQ(settings.producer.acks, 1);
  EXPECT_EQ(settings.producer.max_record_bytes, 100);
  EXPECT_EQ(settings.consumer.client_id, "c");
  EXPECT_EQ(settings.consumer.max_records, 7);
  EXPECT_EQ(settings.consumer.max_wait, absl::Milliseconds(500));
  EXPECT_EQ(settings.consumer.session_timeout, absl::Seconds(10));
  EXPECT_EQ(settings.consumer.heartbeat_interval, absl::ZeroDuration());
  EXPECT_EQ(settings.consumer.claim_idle, absl::Seconds(1));
  EXPECT_EQ(settings.consumer.metadata_max_age, absl::Seconds(2));
  EXPECT_EQ(settings.consumer.assignor, Assignor::kRange);
  EXPECT_EQ(settings.consumer.group.start.kind, GroupPosition::Kind::kLatest);
  EXPECT_EQ(settings.retention_interval, absl::Minutes(1));
}

TEST(BrokerSettings, UseTheDefaultForABlankValueAndTheLastOfTwo) {
  EXPECT_EQ(Read({{"KORVET_KEYSPACE", " "}}).keyspace, "korvet");
  EXPECT_EQ(Read({{"KORVET_ACKS", "0"}, {"KORVET_ACKS", "all"}}).producer.acks, -1);
  EXPECT_EQ(Read({{"KORVET_KEYSPACE", "a"}, {"KORVET_KEYSPACE", ""}}).keyspace, "a");
}

TEST(BrokerSettings, TurnTheRetentionLoopOff) {
  for (const std::string_view off : {"", " ", "none", "NULL", " Off ", "-1"}) {
    const Pairs variables = {{"KORVET_LOG_RETENTION_CHECK_INTERVAL_MS", off}};
    EXPECT_EQ(Read(variables).retention_interval, std::nullopt) << off;
  }
}

TEST(BrokerSettings, RefuseWhatIsNotAllowed) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"KORVET_NUM_PARTITIONS", "0"},
      {"KORVET_NUM_PARTITIONS", "2147483648"},
      {"KORVET_ACKS", "2"},
      {"KORVET_MESSAGE_MAX_BYTES", "-1"},
      {"KORVET_MAX_POLL_RECORDS", "many"},
      {"KORVET_FETCH_MAX_WAIT_MS", "0"},
      {"KORVET_SESSION_TIMEOUT_MS", "1.5"},
      {"KORVET_HEARTBEAT_INTERVAL_MS", "45000"},
      {"KORVET_PARTITION_ASSIGNMENT_STRATEGY", "sticky"},
      {"KORVET_AUTO_OFFSET_RESET", "none"},
      {"KORVET_LOG_RETENTION_CHECK_INTERVAL_MS", "0"},
  };
  for (const auto& row : rows) {
    const Pairs variables = {row};
    const absl::Status status = ReadBrokerSettings(variables).status();
    EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kInvalidConfig) << row.first;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(std::string(row.first)));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
