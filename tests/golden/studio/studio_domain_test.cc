#include "redouble/tests/golden/studio/studio_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domain_replay.h"
#include "redouble/tests/golden/golden_for_test.h"
#include "redouble/tests/golden/relayna/relayna_domain.h"
#include "redouble/tests/golden/replay/raw_replay.h"

namespace redouble::inline v0_1::golden {
namespace {

using ::testing::StartsWith;

Json ReadGolden(std::string_view name) { return golden::ReadGolden("relayna", name); }

Outcome Replay(const Json& json) {
  sim::MemoryBackend backend;
  return ReplayDomain(MustParse(json, System::kRelayna), RelaynaDomain(), backend);
}

// Returns the path of the first difference; empty if the replay passes.
std::string PathOf(const Json& json) {
  const Outcome outcome = Replay(json);
  return outcome.difference ? outcome.difference->path : "";
}

class StudioGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(StudioGolden, IsReplayedWithoutADifference) {
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

// An actor without a result was killed after its last turn; so was the only actor of `executed`.
TEST(StudioDomain, KillsAnInsertAfterItsDocument) {
  const Json golden = ReadGolden("race_events_same_event_concurrent");
  const Json race = golden["ops"][0];
  const Json commands = race["commands"];
  const Json first_four = Json::array({commands[0], commands[1], commands[2], commands[6]});
  Json crash = race;
  crash["commands"] = first_four;
  crash["result"] = {{"executed", Json::array()}, {"then", "process killed before EXEC"}};
  for (size_t i = 0; i < 4; ++i) {
    const std::string name = first_four[i][0], key = first_four[i][1];
    crash["result"]["executed"].push_back(name + " " + key + (name == "SET" ? " NX" : ""));
  }
  Json json = golden;
  json["ops"] = Json::array({crash});
  EXPECT_EQ(PathOf(json), "");
  json["ops"][0]["result"]["executed"][3] = "SET other NX";
  EXPECT_EQ(PathOf(json), "/ops/0/result/executed/3");

  Json trace = Json::array();
  for (const Json& trip : crash["result"]["executed"]) {
    trace.push_back(Json::array({"A", trip}));
  }
  json["ops"][0]["result"] = {{"trace", trace}, {"results", Json::object()}};
  EXPECT_EQ(PathOf(json), "");
  json["ops"][0]["result"] = {{"trace", trace}};
  EXPECT_EQ(PathOf(json), "");
}

// The operation of a preparing step is found in its commands.
TEST(StudioDomain, FindsTheOperationOfAStepInItsCommands) {
  Json json = ReadGolden("race_registry_double_update_same_url");
  json["ops"][0]["op"] = "seed.create_a_service";
  json["ops"][3]["op"] = "A.delete";
  EXPECT_EQ(PathOf(json), "");
  json["ops"][3]["op"] = "A.unknown";
  json["ops"][3]["commands"] = Json::array({{"TIME"}});
  EXPECT_EQ(PathOf(json), "/ops/3");
}

// The changes of an update, in each form that the recorder used.
TEST(StudioDomain, ReadsChangesInAnyForm) {
  Json json = ReadGolden("search_service_docs");
  for (Json& step : json["ops"]) {
    if (step["op"] != "registry.update_service") continue;
    const Json id = step["args"]["service_id"];
    const Json changes = step["args"]["changes"];
    step["args"] = {{"service_id", id}, {"patch", changes}};
    EXPECT_EQ(PathOf(json), "");
    step["args"] = {{"service_id", id}};
    step["args"].update(changes);
    EXPECT_EQ(PathOf(json), "");
    step["args"] = {{"service_id", id}, {"name", "Another"}};
    EXPECT_NE(PathOf(json), "");
    step["args"] = {{"service_id", id}, {"changes", changes}};
  }
}

// An update whose pair was taken wrote nothing; the pair that it looked up shows the requested
// changes.
TEST(StudioDomain, RefusesAnUpdateToATakenPair) {
  Json json = ReadGolden("race_registry_double_update_same_url");
  const Json seed_a = json["ops"][0], seed_b = json["ops"][1];
  const std::string taken = "http://a.example.test";
  json["ops"] = Json::array(
      {seed_a,
       seed_b,
       {{"op", "registry.update(svc-b)"},
        {"args", {{"service_id", "svc-b"}}},
        {"now", seed_a["now"]},
        {"error",
         {{"type", "DuplicateServiceError"},
          {"message", "A service is already registered for environment 'prod' and base_url '" +
                          taken + "'."}}},
        {"commands", Json::array({{"GET", "studio:services:by-id:svc-b"},
                                  {"GET", "studio:services:by-env-url:prod:" + taken}})}}});
  EXPECT_THAT(PathOf(json), StartsWith("/keyspace"));
}

TEST(StudioDomain, AcceptsTokensInAnyOrder) {
  const Json token_b = {"SADD", "studio:search:service:token:b", "x"};
  const Json token_a = {"SADD", "studio:search:service:token:a", "x"};
  const Json get = {"GET", "k"};
  EXPECT_EQ(WithSortedTokens(Json::array({token_b, token_a, get, token_b})),
            Json::array({token_a, token_b, get, token_b}));
}

TEST(StudioDomain, SkipsTheRawReplayOfAGoldenWithUnrecordedCommands) {
  sim::MemoryBackend backend;
  const Golden golden = MustParse(ReadGolden("health_refresh_cycle"), System::kRelayna);
  const Outcome outcome = ReplayRaw(golden, backend);
  EXPECT_EQ(outcome.verdict, Outcome::Verdict::kSkipped);
  EXPECT_EQ(outcome.note, "published off the record");
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
