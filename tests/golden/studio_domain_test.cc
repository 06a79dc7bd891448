#include "tests/golden/studio_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "sim/scenario/memory_backend.h"
#include "tests/golden/domain_replay.h"
#include "tests/golden/golden_for_test.h"
#include "tests/golden/raw_replay.h"
#include "tests/golden/relayna_domain.h"

namespace redouble::golden {
namespace {

using ::testing::StartsWith;

Json ReadGolden(const std::string& name) {
  std::ifstream file("tests/data/golden/relayna/" + name + ".json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

Outcome Replay(const Json& json) {
  sim::MemoryBackend backend;
  return ReplayDomain(MustParse(json, System::kRelayna), RelaynaDomain(), backend);
}

// Where the replay differs; empty when it passes.
std::string PathOf(const Json& json) {
  const Outcome outcome = Replay(json);
  return outcome.difference ? outcome.difference->path : "";
}

class StudioGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(StudioGolden, ComesOutAgain) {
  const Json json = ReadGolden(GetParam());
  EXPECT_TRUE(IsStudioGolden(MustParse(json, System::kRelayna)));
  const Outcome outcome = Replay(json);
  EXPECT_FALSE(outcome.difference) << outcome.difference->ToString();
}

INSTANTIATE_TEST_SUITE_P(
    All, StudioGolden,
    ::testing::Values("health_refresh_cycle", "race_events_latest_timestamp_regression",
                      "race_events_same_event_concurrent", "race_registry_create_rollback_visible",
                      "race_registry_double_update_same_url",
                      "race_registry_update_resurrects_deleted", "race_search_stale_filter_index",
                      "race_search_upsert_after_service_delete", "registry_create_list",
                      "registry_normalize_base_url", "search_cursor_table", "search_service_docs",
                      "search_task_docs", "studio_events_ingest_service", "studio_events_insert",
                      "studio_events_missing_corrupt_docs", "studio_events_trim_ttl_none",
                      "studio_pull_sync", "studio_pull_sync_trim_drops_newest"),
    [](const auto& info) { return std::string(info.param); });

TEST(StudioDomain, ComparesResultsCommandsAndKeys) {
  Json json = ReadGolden("health_refresh_cycle");
  json["ops"][4]["result"]["overall_status"] = "healthy";
  EXPECT_EQ(PathOf(json), "/ops/4/result/overall_status");
  json = ReadGolden("studio_events_insert");
  json["ops"][0]["commands"][8][3] = "1";
  EXPECT_EQ(PathOf(json), "/ops/0/commands/8/3");
  json = ReadGolden("search_service_docs");
  json["keyspace"].erase("studio:search:service:all");
  EXPECT_THAT(PathOf(json), StartsWith("/keyspace"));
}

TEST(StudioDomain, ComparesRacesByTheirTurnsAndResults) {
  Json json = ReadGolden("race_events_latest_timestamp_regression");
  json["ops"][1]["result"]["results"]["A"] = false;
  EXPECT_EQ(PathOf(json), "/ops/1/result/results/A");
  json = ReadGolden("race_registry_double_update_same_url");
  json["ops"][2]["result"]["trace"][0][1] = "GET other";
  EXPECT_EQ(PathOf(json), "/ops/2/result/trace/0/1");
  json = ReadGolden("race_search_upsert_after_service_delete");
  json["ops"][1]["result"]["delete_after_A_steps"] = 7;
  EXPECT_THAT(PathOf(json), StartsWith("/ops/1"));
  json["ops"][1]["result"] = {{"winner", "A"}};
  EXPECT_EQ(PathOf(json), "/ops/1") << "a race of another shape";
}

TEST(StudioDomain, TakesTokensInAnyOrderAndNothingElse) {
  const Json token_b = {"SADD", "studio:search:service:token:b", "x"};
  const Json token_a = {"SADD", "studio:search:service:token:a", "x"};
  const Json get = {"GET", "k"};
  EXPECT_EQ(WithSortedTokens(Json::array({token_b, token_a, get, token_b})),
            Json::array({token_a, token_b, get, token_b}));
}

TEST(StudioDomain, LeavesRawModeOutWhereTheRecorderWorkedOffTheRecord) {
  sim::MemoryBackend backend;
  const Golden golden = MustParse(ReadGolden("health_refresh_cycle"), System::kRelayna);
  const Outcome outcome = ReplayRaw(golden, backend);
  EXPECT_EQ(outcome.verdict, Outcome::Verdict::kSkipped);
  EXPECT_EQ(outcome.note, "published off the record");
}

}  // namespace
}  // namespace redouble::golden
