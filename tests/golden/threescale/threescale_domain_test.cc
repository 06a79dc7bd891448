#include "redouble/tests/golden/threescale/threescale_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domain_replay.h"
#include "redouble/tests/golden/golden_for_test.h"

namespace redouble::inline v0_1::golden {
namespace {

constexpr char kSequencesFolder[] = "tests/data/golden/threescale_sequences";
constexpr int kLeastSequences = 40;

Json ReadGolden(std::string_view name) { return golden::ReadGolden("threescale", name); }

Outcome Replay(const Json& json) {
  sim::MemoryBackend backend;
  return ReplayDomain(MustParse(json, System::kThreescale), ThreescaleDomain(), backend);
}

// Returns the path of the first difference; empty if the replay passes.
std::string PathOf(const Json& json) {
  const Outcome outcome = Replay(json);
  return outcome.difference ? outcome.difference->path : "";
}

class ThreescaleGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ThreescaleGolden, IsReplayedWithoutADifferenceInBothFormatsOfStamps) {
  const Outcome outcome = Replay(ReadGolden(GetParam()));
  EXPECT_FALSE(outcome.difference) << outcome.difference->ToString();
}

INSTANTIATE_TEST_SUITE_P(
    All, ThreescaleGolden,
    ::testing::Values(
        "alert_limits_crud", "alerts_cross_80_100", "alerts_max_over_limits",
        "alerts_no_allowed_set", "alerts_only_zero_limits", "applications_crud", "authorize_limits",
        "authorize_rejections", "batch_slices_of_400", "compact_timestamps",
        "daily_traffic_memoized", "delete_application_leftovers", "events_ping",
        "first_traffic_events", "hierarchy_3_levels", "key_encoding", "metric_save_rename",
        "notify_batch_to_master", "race_alert_duplicated", "race_authrep_over_limit",
        "race_daily_traffic_no_ttl", "race_event_lost_by_delete_range", "race_first_traffic_lost",
        "race_minute_incr_expire", "race_notify_batch_lost_and_duplicated", "race_ping_swallowed",
        "same_app_id_two_services_one_process_call", "service_tokens", "services_lifecycle",
        "set_in_batch_order", "set_usage", "set_usage_zero_deletes", "single_report_200",
        "stats_cleanup", "stats_cleanup_colon_in_app_id", "usage_limits_crud",
        "usage_overflow_partial", "user_key_mode"),
    [](const auto& info) { return std::string(info.param); });

// Random sequences; tests/originals/threescale records them.
TEST(ThreescaleDomain, ReplaysEachRandomSequenceOfTheOriginal) {
  int replayed = 0;
  for (const auto& file : std::filesystem::directory_iterator(kSequencesFolder)) {
    const std::string name = file.path().stem().string();
    if (file.path().extension() != ".json") continue;
    const Outcome outcome = Replay(golden::ReadGolden("threescale_sequences", name));
    EXPECT_FALSE(outcome.difference) << name << ": " << outcome.difference->ToString();
    ++replayed;
  }
  EXPECT_GE(replayed, kLeastSequences);
}

TEST(ThreescaleDomain, FailsADoctoredGoldenAtTheChangedPlace) {
  struct Doctoring {
    std::string place;
    Json value;
    std::string path;
  };
  const Doctoring doctorings[] = {
      {"/ops/0/result/state", "suspended", "/ops/0/result/state"},
      {"/ops/3/error/http", 404, "/ops/3/error/http"},
      {"/ops/0/round_trips/1/0/2", "7002", "/ops/0/commands/1/2"},
      {"/keyspace/provider_keys_set/value", {"pk2"}, "/keyspace/provider_keys_set/value"},
      {"/ops/0/args/id", "7009", "/ops/0/commands/1/2"},
      {"/ops/0/args/name", "x", "/ops/0"},
  };
  for (const Doctoring& doctoring : doctorings) {
    Json json = ReadGolden("services_lifecycle");
    json[Json::json_pointer(doctoring.place)] = doctoring.value;
    EXPECT_THAT(PathOf(json), ::testing::StartsWith(doctoring.path)) << doctoring.place;
  }
}

TEST(ThreescaleDomain, ComparesTheKeyspaceOfEachFormat) {
  Json json = ReadGolden("usage_limits_crud");
  json["keyspace_seed_format"] = Json::object();
  const Outcome outcome = Replay(json);
  ASSERT_TRUE(outcome.difference);
  EXPECT_THAT(outcome.difference->message, ::testing::HasSubstr("with fixed-width stamps"));
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
