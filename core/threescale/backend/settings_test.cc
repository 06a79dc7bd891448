#include "redouble/core/threescale/backend/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::threescale {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

BackendSettings Read(const Pairs& variables) { return ReadBackendSettings(variables).value(); }

TEST(BackendSettings, HaveTheDocumentedDefaults) {
  const BackendSettings settings = Read({});
  EXPECT_EQ(settings.storage.connect_timeout, absl::Seconds(5));
  EXPECT_EQ(settings.storage.read_timeout, absl::Seconds(3));
  EXPECT_EQ(settings.storage.write_timeout, absl::Seconds(3));
  EXPECT_EQ(settings.queues, settings.storage);
  EXPECT_EQ(settings.master_service_id, std::nullopt);
  EXPECT_EQ(settings.transactions_metric, "transactions");
  EXPECT_EQ(settings.authorizations_metric, "transactions/authorize");
  EXPECT_EQ(settings.notification_batch, 10000);
  EXPECT_FALSE(settings.legacy_referrer_filters);
  EXPECT_EQ(settings.events_hook, "");
  EXPECT_EQ(settings.stamp_format, StampFormat::kFixedWidth);
  EXPECT_FALSE(settings.read_cache);
}

TEST(BackendSettings, AreReadFromVariables) {
  const BackendSettings settings = Read({{"CONFIG_REDIS_PROXY", " redis://s:1/2 "},
                                         {"CONFIG_REDIS_USERNAME", "u"},
                                         {"CONFIG_REDIS_PASSWORD", "p"},
                                         {"CONFIG_REDIS_SSL", "True"},
                                         {"CONFIG_REDIS_CA_FILE", "ca"},
                                         {"CONFIG_REDIS_CERT", "cert"},
                                         {"CONFIG_REDIS_PRIVATE_KEY", "key"},
                                         {"CONFIG_REDIS_SENTINEL_HOSTS", "a:1, ,b:2,"},
                                         {"CONFIG_REDIS_SENTINEL_USERNAME", "su"},
                                         {"CONFIG_REDIS_SENTINEL_PASSWORD", "sp"},
                                         {"CONFIG_REDIS_SENTINEL_ROLE", "slave"},
                                         {"CONFIG_REDIS_CONNECT_TIMEOUT", "1"},
                                         {"CONFIG_REDIS_READ_TIMEOUT", "0.5"},
                                         {"CONFIG_REDIS_WRITE_TIMEOUT", "2"},
                                         {"CONFIG_REDIS_MAX_CONNECTIONS", "7"},
                                         {"CONFIG_QUEUES_MASTER_NAME", "q"},
                                         {"CONFIG_MASTER_SERVICE_ID", "1"},
                                         {"CONFIG_MASTER_METRICS_TRANSACTIONS", "t"},
                                         {"CONFIG_MASTER_METRICS_TRANSACTIONS_AUTHORIZE", "a"},
                                         {"CONFIG_NOTIFICATION_BATCH", "5"},
                                         {"CONFIG_LEGACY_REFERRER_FILTERS", "1"},
                                         {"CONFIG_EVENTS_HOOK", "http://h"},
                                         {"CONFIG_EVENTS_HOOK_SHARED_SECRET", "s"},
                                         {"CONFIG_KEY_LAYOUT", "cluster"},
                                         {"CONFIG_UNKNOWN", "x"},
                                         {"REDIS_PROXY", "x"}});
  EXPECT_EQ(settings.storage.server, "redis://s:1/2");
  EXPECT_EQ(settings.storage.username, "u");
  EXPECT_EQ(settings.storage.password, "p");
  EXPECT_TRUE(settings.storage.ssl);
  EXPECT_EQ(settings.storage.ca_file, "ca");
  EXPECT_EQ(settings.storage.certificate, "cert");
  EXPECT_EQ(settings.storage.private_key, "key");
  EXPECT_THAT(settings.storage.sentinels, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(settings.storage.sentinel_username, "su");
  EXPECT_EQ(settings.storage.sentinel_password, "sp");
  EXPECT_EQ(settings.storage.role, "slave");
  EXPECT_EQ(settings.storage.connect_timeout, absl::Seconds(1));
  EXPECT_EQ(settings.storage.read_timeout, absl::Milliseconds(500));
  EXPECT_EQ(settings.storage.write_timeout, absl::Seconds(2));
  EXPECT_EQ(settings.storage.max_connections, 7);
  EXPECT_EQ(settings.queues.server, "q");
  EXPECT_EQ(settings.queues.username, "") << "each Redis has its own";
  EXPECT_EQ(settings.master_service_id, "1");
  EXPECT_EQ(settings.transactions_metric, "t");
  EXPECT_EQ(settings.authorizations_metric, "a");
  EXPECT_EQ(settings.notification_batch, 5);
  EXPECT_TRUE(settings.legacy_referrer_filters);
  EXPECT_EQ(settings.events_hook, "http://h");
  EXPECT_EQ(settings.events_hook_shared_secret, "s");
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kCluster);
}

TEST(BackendSettings, AreOffOrTheDefaultForABlankValue) {
  const BackendSettings settings = Read({{"CONFIG_MASTER_SERVICE_ID", " "},
                                         {"CONFIG_EVENTS_HOOK", ""},
                                         {"CONFIG_NOTIFICATION_BATCH", ""},
                                         {"CONFIG_REDIS_SENTINEL_HOSTS", " "},
                                         {"CONFIG_REDIS_SSL", "false"},
                                         {"CONFIG_QUEUES_READ_TIMEOUT", ""},
                                         {"CONFIG_LEGACY_REFERRER_FILTERS", "no"}});
  EXPECT_EQ(settings.master_service_id, std::nullopt);
  EXPECT_EQ(settings.events_hook, "");
  EXPECT_EQ(settings.notification_batch, 10000);
  EXPECT_THAT(settings.storage.sentinels, IsEmpty());
  EXPECT_FALSE(settings.storage.ssl);
  EXPECT_EQ(settings.queues.read_timeout, absl::Seconds(3));
  EXPECT_FALSE(settings.legacy_referrer_filters);
}

TEST(BackendSettings, RefuseWhatIsNotAPositiveNumber) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"CONFIG_NOTIFICATION_BATCH", "many"},  {"CONFIG_NOTIFICATION_BATCH", "0"},
      {"CONFIG_REDIS_READ_TIMEOUT", "soon"},  {"CONFIG_REDIS_WRITE_TIMEOUT", "inf"},
      {"CONFIG_QUEUES_CONNECT_TIMEOUT", "0"}, {"CONFIG_REDIS_MAX_CONNECTIONS", "1.5"},
  };
  for (const auto& row : rows) {
    const Pairs variables = {row};
    const absl::Status status = ReadBackendSettings(variables).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << row.first;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(row.first) + ": "));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
