#include "redouble/core/relayna/sdk/settings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/python/error.h"

namespace redouble::inline v0_1::relayna {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

SdkSettings Read(const Pairs& variables) { return ReadSdkSettings(variables).value(); }

TEST(SdkSettings, HaveTheDefaultsOfTheLifespan) {
  const SdkSettings settings = Read({});
  EXPECT_EQ(settings.store_prefix, "relayna");
  EXPECT_EQ(settings.store_ttl_seconds, 86400);
  EXPECT_EQ(settings.store_history_maxlen, 50);
  EXPECT_EQ(settings.observation_store_prefix, "relayna-observations");
  EXPECT_EQ(settings.observation_history_maxlen, 500);
  EXPECT_EQ(settings.service_event_store_prefix, "relayna-service-events");
  EXPECT_EQ(settings.service_event_feed_maxlen, 5000);
  EXPECT_EQ(settings.dlq_store_prefix, std::nullopt);
  EXPECT_EQ(settings.dlq_store_ttl_seconds, std::nullopt);
  EXPECT_EQ(settings.workflow_prefix, "relayna");
  EXPECT_EQ(settings.workflow_ttl_seconds, 86400);
}

TEST(SdkSettings, InheritTheTtlOfTheStatusStore) {
  const SdkSettings shorter = Read({{"RELAYNA_STORE_TTL_SECONDS", "60"}});
  EXPECT_EQ(shorter.observation_ttl(), 60);
  EXPECT_EQ(shorter.feed_ttl(), 60);
  EXPECT_EQ(shorter.dlq_store_ttl_seconds, std::nullopt);
  const SdkSettings own = Read({{"RELAYNA_STORE_TTL_SECONDS", "60"},
                                {"RELAYNA_OBSERVATION_STORE_TTL_SECONDS", "70"},
                                {"RELAYNA_SERVICE_EVENT_STORE_TTL_SECONDS", "80"}});
  EXPECT_EQ(own.observation_ttl(), 70);
  EXPECT_EQ(own.feed_ttl(), 80);
  const SdkSettings none = Read({{"RELAYNA_OBSERVATION_STORE_TTL_SECONDS", "none"}});
  EXPECT_EQ(none.observation_ttl(), 86400) << "it cannot be turned off alone";
  EXPECT_EQ(Read({{"RELAYNA_STORE_TTL_SECONDS", "off"}}).feed_ttl(), std::nullopt);
}

TEST(SdkSettings, AreReadFromVariables) {
  const SdkSettings settings = Read({{"RELAYNA_REDIS_URL", " redis://h "},
                                     {"RELAYNA_STORE_PREFIX", "s"},
                                     {"RELAYNA_STORE_HISTORY_MAXLEN", "1"},
                                     {"RELAYNA_OBSERVATION_STORE_PREFIX", "o"},
                                     {"RELAYNA_OBSERVATION_HISTORY_MAXLEN", "2"},
                                     {"RELAYNA_SERVICE_EVENT_STORE_PREFIX", "f"},
                                     {"RELAYNA_SERVICE_EVENT_FEED_MAXLEN", "3"},
                                     {"RELAYNA_DLQ_STORE_PREFIX", "d"},
                                     {"RELAYNA_DLQ_STORE_TTL_SECONDS", "4"},
                                     {"RELAYNA_WORKFLOW_PREFIX", "w"},
                                     {"RELAYNA_WORKFLOW_TTL_SECONDS", "null"},
                                     {"RELAYNA_KEY_LAYOUT", "cluster"},
                                     {"RELAYNA_CHANNELS", "sharded"},
                                     {"RELAYNA_STUDIO_STORE_PREFIX", "x"},
                                     {"STORE_PREFIX", "x"}});
  EXPECT_EQ(settings.redis_url, "redis://h");
  EXPECT_EQ(settings.store_prefix, "s");
  EXPECT_EQ(settings.store_history_maxlen, 1);
  EXPECT_EQ(settings.observation_store_prefix, "o");
  EXPECT_EQ(settings.observation_history_maxlen, 2);
  EXPECT_EQ(settings.service_event_store_prefix, "f");
  EXPECT_EQ(settings.service_event_feed_maxlen, 3);
  EXPECT_EQ(settings.dlq_store_prefix, "d");
  EXPECT_EQ(settings.dlq_store_ttl_seconds, 4);
  EXPECT_EQ(settings.workflow_prefix, "w");
  EXPECT_EQ(settings.workflow_ttl_seconds, std::nullopt);
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kCluster);
  EXPECT_EQ(settings.channels, store::ChannelKind::kSharded);
}

TEST(SdkSettings, TurnStoresOff) {
  for (const std::string_view off : {"", " ", "None", "null", "OFF"}) {
    const SdkSettings settings = Read({{"RELAYNA_OBSERVATION_STORE_PREFIX", off},
                                       {"RELAYNA_SERVICE_EVENT_STORE_PREFIX", off},
                                       {"RELAYNA_DLQ_STORE_PREFIX", off}});
    EXPECT_EQ(settings.observation_store_prefix, std::nullopt) << off;
    EXPECT_EQ(settings.service_event_store_prefix, std::nullopt) << off;
    EXPECT_EQ(settings.dlq_store_prefix, std::nullopt) << off;
  }
  EXPECT_EQ(Read({{"RELAYNA_STORE_PREFIX", " "}}).store_prefix, "relayna");
  EXPECT_EQ(Read({{"RELAYNA_STORE_HISTORY_MAXLEN", ""}}).store_history_maxlen, 50);
}

TEST(SdkSettings, RefuseWhatIsNoNumber) {
  for (const std::string_view name : {"RELAYNA_STORE_TTL_SECONDS", "RELAYNA_STORE_HISTORY_MAXLEN",
                                      "RELAYNA_DLQ_STORE_TTL_SECONDS"}) {
    const Pairs variables = {{name, "soon"}};
    const absl::Status status = ReadSdkSettings(variables).status();
    EXPECT_EQ(python::ErrorType(status), "ValueError") << name;
    EXPECT_EQ(std::string(status.message()),
              std::string(name) + ": expected an integer, got 'soon'");
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
