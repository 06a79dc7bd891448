#include "redouble/core/orchestrator/app/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::StatusIs;
using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

TEST(EngineSettings, HaveTheDocumentedDefaults) {
  const EngineSettings settings = ReadEngineSettings({}).value();
  EXPECT_EQ(settings.redis_url, "");
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kDocumented);
  EXPECT_EQ(settings.token_ids, TokenIdForm::kHashed);
  EXPECT_EQ(settings.run_ttl, absl::Hours(24));
  EXPECT_EQ(settings.instance, "engine-1");
  EXPECT_EQ(settings.block, std::nullopt);
  EXPECT_EQ(settings.stream_max_length, std::nullopt);
  EXPECT_EQ(settings.worker_group, "workers");
  EXPECT_EQ(settings.worker_min_idle, absl::Seconds(60));
  EXPECT_EQ(settings.worker_max_deliveries, 5);
  EXPECT_EQ(settings.worker_reclaim_count, 10);
  EXPECT_TRUE(settings.worker_keep_claims);
  EXPECT_FALSE(settings.worker_delete_acknowledged);
  EXPECT_EQ(settings.service_interval, absl::Seconds(30));
  EXPECT_EQ(settings.service_lease, absl::Seconds(90));
  EXPECT_EQ(settings.recover_after, absl::Seconds(60));
  EXPECT_EQ(settings.stuck_after, absl::Minutes(5));
  EXPECT_FALSE(settings.fail_stuck_runs);
  EXPECT_TRUE(settings.store_outputs);
  EXPECT_TRUE(settings.hardening.reliable_pop);
  EXPECT_FALSE(settings.hardening.extend_on_commit);
  EXPECT_FALSE(settings.hardening.atomic_hops);
  EXPECT_FALSE(settings.hardening.keep_decision_details);
}

TEST(EngineSettings, AreReadFromVariables) {
  const Pairs variables = {{"ORCHESTRATOR_REDIS_URL", " redis://h "},
                           {"ORCHESTRATOR_KEY_LAYOUT", "cluster"},
                           {"ORCHESTRATOR_CHANNELS", "sharded"},
                           {"ORCHESTRATOR_QUEUE_SHARDS", "8"},
                           {"ORCHESTRATOR_TOKEN_IDS", "path"},
                           {"ORCHESTRATOR_RUN_TTL_SECONDS", "3600"},
                           {"ORCHESTRATOR_INSTANCE", "blue-7"},
                           {"ORCHESTRATOR_BLOCK_SECONDS", "5"},
                           {"ORCHESTRATOR_STREAM_MAX_LENGTH", "100000"},
                           {"ORCHESTRATOR_WORKER_GROUP", "g"},
                           {"ORCHESTRATOR_WORKER_MIN_IDLE_SECONDS", "30"},
                           {"ORCHESTRATOR_WORKER_MAX_DELIVERIES", "3"},
                           {"ORCHESTRATOR_WORKER_RECLAIM_COUNT", "20"},
                           {"ORCHESTRATOR_WORKER_KEEP_CLAIMS", "off"},
                           {"ORCHESTRATOR_WORKER_DELETE_ACKNOWLEDGED", "yes"},
                           {"ORCHESTRATOR_SERVICE_INTERVAL_SECONDS", "10"},
                           {"ORCHESTRATOR_SERVICE_LEASE_SECONDS", "40"},
                           {"ORCHESTRATOR_RECOVER_AFTER_SECONDS", "15"},
                           {"ORCHESTRATOR_STUCK_AFTER_SECONDS", "600"},
                           {"ORCHESTRATOR_FAIL_STUCK_RUNS", "1"},
                           {"ORCHESTRATOR_STORE_OUTPUTS", "0"},
                           {"ORCHESTRATOR_RELIABLE_POP", "no"},
                           {"ORCHESTRATOR_EXTEND_ON_COMMIT", "TRUE"},
                           {"ORCHESTRATOR_ATOMIC_HOPS", "1"},
                           {"ORCHESTRATOR_KEEP_DECISION_DETAILS", "on"},
                           {"ORCHESTRATOR_UNKNOWN", "x"},
                           {"PATH", "/bin"}};
  const EngineSettings settings = ReadEngineSettings(variables).value();
  EXPECT_EQ(settings.redis_url, "redis://h");
  EXPECT_EQ(settings.key_layout, store::KeyLayout::kCluster);
  EXPECT_EQ(settings.channels, store::ChannelKind::kSharded);
  EXPECT_EQ(settings.token_ids, TokenIdForm::kPath);
  EXPECT_EQ(settings.run_ttl, absl::Hours(1));
  EXPECT_EQ(settings.instance, "blue-7");
  EXPECT_EQ(settings.block, absl::Seconds(5));
  EXPECT_EQ(settings.stream_max_length, 100000);
  EXPECT_EQ(settings.worker_group, "g");
  EXPECT_EQ(settings.worker_min_idle, absl::Seconds(30));
  EXPECT_EQ(settings.worker_max_deliveries, 3);
  EXPECT_EQ(settings.worker_reclaim_count, 20);
  EXPECT_FALSE(settings.worker_keep_claims);
  EXPECT_TRUE(settings.worker_delete_acknowledged);
  EXPECT_EQ(settings.service_interval, absl::Seconds(10));
  EXPECT_EQ(settings.service_lease, absl::Seconds(40));
  EXPECT_EQ(settings.recover_after, absl::Seconds(15));
  EXPECT_EQ(settings.stuck_after, absl::Minutes(10));
  EXPECT_TRUE(settings.fail_stuck_runs);
  EXPECT_FALSE(settings.store_outputs);
  EXPECT_FALSE(settings.hardening.reliable_pop);
  EXPECT_TRUE(settings.hardening.extend_on_commit);
  EXPECT_TRUE(settings.hardening.atomic_hops);
  EXPECT_TRUE(settings.hardening.keep_decision_details);
}

TEST(EngineSettings, TurnOptionalMembersOff) {
  for (const std::string_view off : {"", "none", "null", "OFF"}) {
    const Pairs variables = {{"ORCHESTRATOR_STUCK_AFTER_SECONDS", off},
                             {"ORCHESTRATOR_BLOCK_SECONDS", off},
                             {"ORCHESTRATOR_STREAM_MAX_LENGTH", off}};
    const EngineSettings settings = ReadEngineSettings(variables).value();
    EXPECT_EQ(settings.stuck_after, std::nullopt) << off;
    EXPECT_EQ(settings.block, std::nullopt) << off;
    EXPECT_EQ(settings.stream_max_length, std::nullopt) << off;
  }
}

TEST(EngineSettings, SayWhichValueIsWrong) {
  const std::pair<Pairs, const char*> rows[] = {
      {{{"ORCHESTRATOR_KEY_LAYOUT", "tagged"}},
       "ORCHESTRATOR_KEY_LAYOUT: expected documented or cluster, got 'tagged'"},
      {{{"ORCHESTRATOR_QUEUE_SHARDS", "65"}},
       "ORCHESTRATOR_QUEUE_SHARDS: expected at most 64, got '65'"},
      {{{"ORCHESTRATOR_TOKEN_IDS", "x"}},
       "ORCHESTRATOR_TOKEN_IDS: expected hashed or path, got 'x'"},
      {{{"ORCHESTRATOR_INSTANCE", "a:b"}},
       "ORCHESTRATOR_INSTANCE: expected an id of letters, digits, _ and -, got 'a:b'"},
      {{{"ORCHESTRATOR_WORKER_MAX_DELIVERIES", "0"}},
       "ORCHESTRATOR_WORKER_MAX_DELIVERIES: expected an integer of at least 1, got '0'"},
      {{{"ORCHESTRATOR_RUN_TTL_SECONDS", "-1"}},
       "ORCHESTRATOR_RUN_TTL_SECONDS: expected a positive number of seconds, got '-1'"},
  };
  for (const auto& [variables, message] : rows) {
    EXPECT_THAT(ReadEngineSettings(variables).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, message));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
