#include "redouble/core/studio/app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"

namespace redouble::inline v0_1::studio {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

StudioSettings Read(const Pairs& variables) { return ReadStudioSettings(variables).value(); }

TEST(StudioSettings, HaveTheDocumentedDefaults) {
  const StudioSettings settings = Read({});
  EXPECT_EQ(settings.redis_url, "");
  EXPECT_EQ(settings.registry_prefix, "studio:services");
  EXPECT_EQ(settings.outbound.allowed_hosts, std::nullopt);
  EXPECT_THAT(settings.outbound.allowed_networks, IsEmpty());
  EXPECT_EQ(settings.federation_timeout, absl::Seconds(5));
  EXPECT_EQ(settings.event_store_prefix, "studio:events");
  EXPECT_EQ(settings.event_store_ttl_seconds, 86400);
  EXPECT_EQ(settings.event_history_maxlen, 5000);
  EXPECT_FALSE(settings.push_ingest_enabled);
  EXPECT_EQ(settings.pull_sync_interval, absl::Seconds(5));
  EXPECT_EQ(settings.health_store_prefix, "studio:health");
  EXPECT_EQ(settings.health_refresh_interval, absl::Seconds(60));
  EXPECT_EQ(settings.capability_stale_after, absl::Seconds(180));
  EXPECT_EQ(settings.observation_stale_after, absl::Seconds(300));
  EXPECT_EQ(settings.worker_heartbeat_stale_after, absl::Seconds(90));
  EXPECT_EQ(settings.task_search_index_prefix, "studio:search");
  EXPECT_EQ(settings.task_index_ttl_seconds, 86400);
  EXPECT_EQ(settings.retention_prune_interval, absl::Seconds(60));
}

TEST(StudioSettings, AreReadFromVariables) {
  const StudioSettings settings =
      Read({{"RELAYNA_STUDIO_REDIS_URL", " redis://h "},
            {"RELAYNA_STUDIO_KEY_LAYOUT", "cluster"},
            {"RELAYNA_STUDIO_CHANNELS", "both"},
            {"RELAYNA_STUDIO_REGISTRY_PREFIX", "r"},
            {"RELAYNA_STUDIO_CAPABILITY_REFRESH_ALLOWED_HOSTS", " .a.test, ,b.test,"},
            {"RELAYNA_STUDIO_CAPABILITY_REFRESH_ALLOWED_NETWORKS", "10.0.0.0/8"},
            {"RELAYNA_STUDIO_FEDERATION_TIMEOUT_SECONDS", "2.5"},
            {"RELAYNA_STUDIO_EVENT_STORE_PREFIX", "e"},
            {"RELAYNA_STUDIO_EVENT_STORE_TTL_SECONDS", " 60 "},
            {"RELAYNA_STUDIO_EVENT_HISTORY_MAXLEN", "7"},
            {"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", "YES"},
            {"RELAYNA_STUDIO_PULL_SYNC_INTERVAL_SECONDS", "0.5"},
            {"RELAYNA_STUDIO_HEALTH_STORE_PREFIX", "h"},
            {"RELAYNA_STUDIO_HEALTH_REFRESH_INTERVAL_SECONDS", "30"},
            {"RELAYNA_STUDIO_CAPABILITY_STALE_AFTER_SECONDS", "1"},
            {"RELAYNA_STUDIO_OBSERVATION_STALE_AFTER_SECONDS", "2"},
            {"RELAYNA_STUDIO_WORKER_HEARTBEAT_STALE_AFTER_SECONDS", "3"},
            {"RELAYNA_STUDIO_TASK_SEARCH_INDEX_PREFIX", "s"},
            {"RELAYNA_STUDIO_TASK_INDEX_TTL_SECONDS", "120"},
            {"RELAYNA_STUDIO_RETENTION_PRUNE_INTERVAL_SECONDS", "90"},
            {"RELAYNA_STUDIO_UNKNOWN", "x"},
            {"OTHER_REGISTRY_PREFIX", "x"}});
  EXPECT_EQ(settings.redis_url, "redis://h");
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kCluster);
  EXPECT_EQ(settings.channels, store::ChannelKind::kBoth);
  EXPECT_EQ(settings.registry_prefix, "r");
  ASSERT_TRUE(settings.outbound.allowed_hosts);
  EXPECT_THAT(*settings.outbound.allowed_hosts, ElementsAre(".a.test", "b.test"));
  EXPECT_THAT(settings.outbound.allowed_networks, ElementsAre("10.0.0.0/8"));
  EXPECT_EQ(settings.federation_timeout, absl::Milliseconds(2500));
  EXPECT_EQ(settings.event_store_prefix, "e");
  EXPECT_EQ(settings.event_store_ttl_seconds, 60);
  EXPECT_EQ(settings.event_history_maxlen, 7);
  EXPECT_TRUE(settings.push_ingest_enabled);
  EXPECT_EQ(settings.pull_sync_interval, absl::Milliseconds(500));
  EXPECT_EQ(settings.health_store_prefix, "h");
  EXPECT_EQ(settings.health_refresh_interval, absl::Seconds(30));
  EXPECT_EQ(settings.capability_stale_after, absl::Seconds(1));
  EXPECT_EQ(settings.observation_stale_after, absl::Seconds(2));
  EXPECT_EQ(settings.worker_heartbeat_stale_after, absl::Seconds(3));
  EXPECT_EQ(settings.task_search_index_prefix, "s");
  EXPECT_EQ(settings.task_index_ttl_seconds, 120);
  EXPECT_EQ(settings.retention_prune_interval, absl::Seconds(90));
}

TEST(StudioSettings, TurnTtlAndLoopsOff) {
  for (const std::string_view off : {"", " ", "none", "NULL", " Off "}) {
    const StudioSettings settings =
        Read({{"RELAYNA_STUDIO_EVENT_STORE_TTL_SECONDS", off},
              {"RELAYNA_STUDIO_PULL_SYNC_INTERVAL_SECONDS", off},
              {"RELAYNA_STUDIO_HEALTH_REFRESH_INTERVAL_SECONDS", off},
              {"RELAYNA_STUDIO_RETENTION_PRUNE_INTERVAL_SECONDS", off}});
    EXPECT_EQ(settings.event_store_ttl_seconds, std::nullopt) << off;
    EXPECT_EQ(settings.pull_sync_interval, std::nullopt) << off;
    EXPECT_EQ(settings.health_refresh_interval, std::nullopt) << off;
    EXPECT_EQ(settings.retention_prune_interval, std::nullopt) << off;
  }
}

TEST(StudioSettings, UseTheDefaultForABlankValue) {
  const StudioSettings settings = Read({{"RELAYNA_STUDIO_REGISTRY_PREFIX", " "},
                                        {"RELAYNA_STUDIO_EVENT_HISTORY_MAXLEN", ""},
                                        {"RELAYNA_STUDIO_FEDERATION_TIMEOUT_SECONDS", ""},
                                        {"RELAYNA_STUDIO_CAPABILITY_STALE_AFTER_SECONDS", " "},
                                        {"RELAYNA_STUDIO_CAPABILITY_REFRESH_ALLOWED_HOSTS", " , "},
                                        {"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", "on"},
                                        {"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", ""}});
  EXPECT_EQ(settings.registry_prefix, "studio:services");
  EXPECT_EQ(settings.event_history_maxlen, 5000);
  EXPECT_EQ(settings.federation_timeout, absl::Seconds(5));
  EXPECT_EQ(settings.capability_stale_after, absl::Seconds(180));
  EXPECT_EQ(settings.outbound.allowed_hosts, std::nullopt);
  EXPECT_TRUE(settings.push_ingest_enabled);
  EXPECT_FALSE(Read({{"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", "maybe"}}).push_ingest_enabled);
}

TEST(StudioSettings, RefuseWhatIsNoNumber) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"EVENT_STORE_TTL_SECONDS", "soon"},      {"EVENT_HISTORY_MAXLEN", "1.5"},
      {"CAPABILITY_STALE_AFTER_SECONDS", "x"},  {"PULL_SYNC_INTERVAL_SECONDS", "x"},
      {"HEALTH_REFRESH_INTERVAL_SECONDS", "0"}, {"RETENTION_PRUNE_INTERVAL_SECONDS", "-1"},
      {"FEDERATION_TIMEOUT_SECONDS", "inf"},    {"TASK_INDEX_TTL_SECONDS", "none"},
      {"PULL_SYNC_INTERVAL_SECONDS", "nan"},
  };
  for (const auto& [name, value] : rows) {
    const std::string variable = "RELAYNA_STUDIO_" + std::string(name);
    const Pairs variables = {{variable, value}};
    const absl::Status status = ReadStudioSettings(variables).status();
    EXPECT_EQ(python::ErrorType(status), "ValueError") << variable;
    EXPECT_EQ(status.message().substr(0, variable.size() + 2), variable + ": ") << status;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
