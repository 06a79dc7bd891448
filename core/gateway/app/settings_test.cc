#include "redouble/core/gateway/app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::StatusIs;
using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

TEST(AdmissionSettings, HaveTheDocumentedDefaults) {
  const AdmissionSettings settings = ReadAdmissionSettings({}).value();
  EXPECT_EQ(settings.redis_url, "");
  EXPECT_FALSE(settings.hardening.heal_counter_ttl);
  EXPECT_FALSE(settings.hardening.idempotent_settlement);
  EXPECT_FALSE(settings.hardening.atomic_check_and_reserve);
  EXPECT_FALSE(settings.hardening.atomic_spend);
  EXPECT_FALSE(settings.hardening.hash_request_ids);
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kDocumented);
  EXPECT_EQ(settings.sweep_interval, std::nullopt);
  EXPECT_EQ(settings.abandoned_after, absl::Minutes(50));
}

TEST(AdmissionSettings, AreReadFromVariables) {
  const Pairs variables = {{"REDIS_URL", "redis://h"},
                           {"GATEWAY_HEAL_COUNTER_TTL", "true"},
                           {"GATEWAY_IDEMPOTENT_SETTLEMENT", "1"},
                           {"GATEWAY_ATOMIC_CHECK_AND_RESERVE", "yes"},
                           {"GATEWAY_ATOMIC_SPEND", "on"},
                           {"GATEWAY_HASH_REQUEST_IDS", "on"},
                           {"GATEWAY_KEY_LAYOUT", "cluster"},
                           {"GATEWAY_SWEEP_INTERVAL_SECONDS", "30"},
                           {"GATEWAY_ABANDONED_AFTER_SECONDS", "600"},
                           {"GATEWAY_UNKNOWN", "x"}};
  const AdmissionSettings settings = ReadAdmissionSettings(variables).value();
  EXPECT_EQ(settings.redis_url, "redis://h");
  EXPECT_TRUE(settings.hardening.heal_counter_ttl);
  EXPECT_TRUE(settings.hardening.idempotent_settlement);
  EXPECT_TRUE(settings.hardening.atomic_check_and_reserve);
  EXPECT_TRUE(settings.hardening.atomic_spend);
  EXPECT_TRUE(settings.hardening.hash_request_ids);
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kCluster);
  EXPECT_EQ(settings.sweep_interval, absl::Seconds(30));
  EXPECT_EQ(settings.abandoned_after, absl::Minutes(10));
}

TEST(AdmissionSettings, TurnTheSweepOff) {
  for (const std::string_view off : {"", "none", "null", "off"}) {
    const Pairs variables = {{"GATEWAY_SWEEP_INTERVAL_SECONDS", "30"},
                             {"GATEWAY_SWEEP_INTERVAL_SECONDS", off}};
    EXPECT_EQ(ReadAdmissionSettings(variables)->sweep_interval, std::nullopt) << off;
  }
}

TEST(AdmissionSettings, SayWhichValueIsWrong) {
  const Pairs variables = {{"GATEWAY_HASH_REQUEST_IDS", "sha256"}};
  EXPECT_THAT(ReadAdmissionSettings(variables).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "GATEWAY_HASH_REQUEST_IDS: expected true or false, got 'sha256'"));
}

}  // namespace
}  // namespace redouble::inline v0_1::gateway
