#include "redouble/tests/golden/relayna/relayna_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domain_replay.h"
#include "redouble/tests/golden/golden_for_test.h"

namespace redouble::inline v0_1::golden {
namespace {

using ::testing::HasSubstr;

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

class RelaynaGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(RelaynaGolden, IsReplayedWithoutADifference) {
  const Outcome outcome = Replay(ReadGolden(GetParam()));
  EXPECT_FALSE(outcome.difference) << outcome.difference->ToString();
}

INSTANTIATE_TEST_SUITE_P(
    All, RelaynaGolden,
    ::testing::Values("dlq_add_list", "dlq_duplicate_add_and_expired",
                      "dlq_lock_expiry_double_replay", "dlq_replay_flow", "feed_corrupt",
                      "feed_pagination", "observation_basic", "observation_with_feed",
                      "race_status_out_of_order_latest", "race_workflow_mark_vs_clear",
                      "status_basic_event_id", "status_corrupt_history",
                      "status_event_id_generation", "status_hash_token",
                      "status_marker_expired_duplicate", "status_orphan_marker_event_loss",
                      "status_ttl_none_maxlen2", "status_with_feed", "timestamp_parse_table",
                      "workflow_contract_basic", "workflow_contract_crash",
                      "workflow_contract_lock_theft", "workflow_contract_release"),
    [](const auto& info) { return std::string(info.param); });

// The options of the stores come from the file, not from the commands.
TEST(RelaynaDomain, TakesTheOptionsOfAConfig) {
  Json json = ReadGolden("status_marker_expired_duplicate");
  json["config"] = {{"status", {{"prefix", "relayna"}, {"ttl_seconds", 86400}}}};
  EXPECT_EQ(PathOf(json), "");
  json["config"]["status"]["ttl_seconds"] = 60;
  EXPECT_EQ(PathOf(json), "/ops/0/commands/0/5");
}

TEST(RelaynaDomain, SeparatesMethodsFromActorsAndRemarks) {
  EXPECT_EQ(MethodOf("dlq.claim_replay(missing)"), "claim_replay");
  EXPECT_EQ(MethodOf("A.release_replay_claim (frees B's lock)"), "release_replay_claim");
  EXPECT_EQ(MethodOf("parse"), "parse");
}

TEST(RelaynaDomain, ComparesResultsErrorsCommandsAndKeys) {
  Json json = ReadGolden("dlq_replay_flow");
  json["ops"][3]["result"]["replay_count"] = 2;
  EXPECT_EQ(PathOf(json), "/ops/3/result/replay_count");
  json = ReadGolden("dlq_replay_flow");
  json["ops"][2]["error"]["message"] = "other";
  EXPECT_EQ(PathOf(json), "/ops/2/error/message");
  json = ReadGolden("feed_corrupt");
  json["ops"][3]["error"]["type"] = "TypeError";
  EXPECT_EQ(PathOf(json), "/ops/3/error/type");
  json = ReadGolden("workflow_contract_crash");
  json["ops"][0]["commands"][0][2] = "2";
  EXPECT_EQ(PathOf(json), "/ops/0/commands/0/2");
  json = ReadGolden("workflow_contract_crash");
  json["keyspace"].begin().value()["ttl"] = 600;
  EXPECT_THAT(PathOf(json), HasSubstr("/keyspace"));
}

// The recorder wrote the message of a pydantic error itself.
TEST(RelaynaDomain, ComparesOnlyTheTypeOfAValidationError) {
  Json json = ReadGolden("feed_corrupt");
  json["ops"][3]["error"]["message"] = "other";
  EXPECT_EQ(PathOf(json), "");
}

TEST(RelaynaDomain, ReadsTheOrderOfARaceFromItsTrace) {
  Json json = ReadGolden("race_status_out_of_order_latest");
  std::swap(json["ops"][0]["result"]["trace"][2], json["ops"][0]["result"]["trace"][3]);
  EXPECT_THAT(PathOf(json), HasSubstr("/ops/0/"));
  json = ReadGolden("race_status_out_of_order_latest");
  json["ops"][0]["result"]["results"]["A"] = true;
  EXPECT_EQ(PathOf(json), "/ops/0/result/results/A");
  json = ReadGolden("race_status_out_of_order_latest");
  json["ops"][0]["result"]["trace"].push_back(Json::array({"A", "GET x"}));
  EXPECT_EQ(PathOf(json), "/ops/0");
}

TEST(RelaynaDomain, RacesTwoReplaysOfOneMessage) {
  Json json = ReadGolden("dlq_replay_flow");
  const Json add = json["ops"][0], mark = json["ops"][3];
  const Json commands = mark["commands"];
  const std::string key = commands[0][1];
  Json race = {{"op", "race"}, {"args", {{"A", "mark"}, {"B", "mark"}}}, {"now", mark["now"]}};
  race["result"] = {
      {"trace",
       Json::array(
           {{"A", "GET " + key}, {"B", "GET " + key}, {"A", "SET " + key}, {"B", "SET " + key}})},
      {"results", {{"A", mark["result"]}, {"B", mark["result"]}}}};
  race["commands"] = Json::array({commands[0], commands[0], commands[1], commands[1]});
  json["ops"] = Json::array({add, race});
  const Outcome outcome = Replay(json);
  // Only the keys that other steps of the file left are missing: the count is 1 for both.
  EXPECT_EQ(PathOf(json).rfind("/keyspace", 0), 0u)
      << (outcome.difference ? outcome.difference->ToString() : "passed");
}

// The replay service of the DLQ, under each name that the recorder used; a failing broker has the
// recorded error.
TEST(RelaynaDomain, ReplaysMessagesThroughTheService) {
  Json json = ReadGolden("dlq_replay_flow");
  const Json add = json["ops"][0], mark = json["ops"][3];
  const Json now = "2026-01-01T11:05:00+00:00";
  const std::string id = mark["args"]["dlq_id"];
  const Json lock = {"SET", "relayna:dlq:replay-lock:" + id, "1", "NX", "EX", "30"};
  const Json get = mark["commands"][0], set = mark["commands"][1];
  const Json del = {"DEL", "relayna:dlq:replay-lock:" + id};
  const Json args = {{"dlq_id", id}};
  const Json forced = {{"dlq_id", id}, {"force", true}};
  json["ops"] = Json::array(
      {add,
       {{"op", "service.replay_message(broker down)"},
        {"args", args},
        {"now", now},
        {"error", {{"type", "RuntimeError"}, {"message", "no broker"}}},
        {"commands", Json::array({lock, get, del})}},
       {{"op", "dlq_service.replay_message"},
        {"args", args},
        {"now", now},
        {"result",
         {{"dlq_id", id},
          {"target_queue_name", "q.retry"},
          {"state", "replayed"},
          {"replayed_at", "2026-01-01T11:05:00Z"},
          {"replay_count", 1},
          {"forced", false}}},
        {"commands", Json::array({lock, get, get, set, del})}},
       {{"op", "replay_dlq_message"},
        {"args", args},
        {"now", now},
        {"error",
         {{"type", "DLQReplayConflict"},
          {"message", "DLQ message '" + id + "' has already been replayed."}}},
        {"commands", Json::array({lock, get, del})}},
       {{"op", "dlq_service.replay_message(missing)"},
        {"args", {{"dlq_id", "nope"}}},
        {"now", now},
        {"result", nullptr},
        {"commands", Json::array({{"SET", "relayna:dlq:replay-lock:nope", "1", "NX", "EX", "30"},
                                  {"GET", "relayna:dlq:record:nope"},
                                  {"DEL", "relayna:dlq:replay-lock:nope"}})}}});
  // Only the keys that other steps of the file left are missing.
  EXPECT_EQ(PathOf(json).rfind("/keyspace", 0), 0u) << PathOf(json);
  json["ops"][2]["result"]["replay_count"] = 2;
  EXPECT_EQ(PathOf(json), "/ops/2/result/replay_count");
  json["ops"][1]["error"]["message"] = "other";
  EXPECT_EQ(PathOf(json), "/ops/2/result/replay_count") << "the broker says what was recorded";
}

TEST(RelaynaDomain, AddsTheUnnamedRecordOfAPreparingStep) {
  Json json = ReadGolden("dlq_replay_flow");
  const std::string id = json["ops"][0]["args"]["record"]["dlq_id"];
  json["ops"][0]["op"] = "seed.add";
  json["ops"][0]["args"] = {{"dlq_id", id}};
  EXPECT_EQ(PathOf(json), "");
}

// Two claims, the second of which finds the lock, a release, and a client that sends other
// commands.
TEST(RelaynaDomain, RacesClaimsAndOtherClients) {
  Json json = ReadGolden("dlq_replay_flow");
  const Json add = json["ops"][0], claim = json["ops"][1], conflict = json["ops"][2];
  const Json lock = claim["commands"][0], get = claim["commands"][1];
  const std::string lock_key = lock[1], record_key = get[1];
  const Json del = {"DEL", lock_key};
  const std::string error = "DLQReplayConflict: " + conflict["error"]["message"].get<std::string>();
  json["ops"] = Json::array(
      {add,
       {{"op", "race"},
        {"args", {{"A", "claim"}, {"B", "claim"}, {"C", "release"}, {"D", "looks"}}},
        {"now", claim["now"]},
        {"result",
         {{"trace", Json::array({{"A", "SET " + lock_key + " NX"},
                                 {"B", "SET " + lock_key + " NX"},
                                 {"A", "GET " + record_key},
                                 {"C", "DELETE " + lock_key},
                                 {"D", "EXISTS other"}})},
          {"results",
           {{"A", claim["result"]}, {"B", {{"error", error}}}, {"C", nullptr}, {"D", 7}}}}},
        {"commands", Json::array({lock, lock, get, del, {"EXISTS", "other"}})}}});
  json["keyspace"].erase(lock_key);
  EXPECT_EQ(PathOf(json).rfind("/keyspace", 0), 0u) << PathOf(json);
  json["ops"][1]["result"]["results"]["B"]["error"] = "other";
  EXPECT_EQ(PathOf(json), "/ops/1/result/results/B/error");
}

TEST(RelaynaDomain, ReadsAnErrorOfRedisAsTheOriginalsClientShowsIt) {
  Json json = ReadGolden("workflow_contract_crash");
  Json& step = json["ops"][0];
  step["commands"][0][5] = "0";
  step.erase("result");
  step["error"] = {{"type", "ResponseError"}, {"message", "invalid expire time in 'set' command"}};
  json["ops"].erase(1);
  json["keyspace"] = Json::object();
  EXPECT_EQ(PathOf(json), "");
  json["ops"][0]["error"]["message"] = "something else";
  EXPECT_EQ(PathOf(json), "/ops/0/error/message");
}

TEST(RelaynaDomain, FindsTheChildrenOfATaskByEitherName) {
  Json json = ReadGolden("status_orphan_marker_event_loss");
  for (const char* name : {"parent_task_id", "parent", "task_id"}) {
    json["ops"][4] = {
        {"op", "status.get_child_task_ids"},
        {"args", {{name, "p1"}, {"limit", 5}}},
        {"now", json["ops"][0]["now"]},
        {"result", Json::array({"t1"})},
        {"commands", Json::array({Json::array({"SMEMBERS", "relayna:children:p1"})})}};
    EXPECT_EQ(PathOf(json), "") << name;
  }
}

TEST(RelaynaDomain, AcceptsEveryNameOfTheSignature) {
  Json json = ReadGolden("workflow_contract_crash");
  Json step = json["ops"][0];
  step["op"] = "workflow.dedup_signature";
  step["commands"] = Json::array();
  step["result"] = "67b816dca4e41aa515eece93fd78e301630a78bf24f97f6d94251622f6d98f8c";
  json["ops"] = Json::array({step});
  json["keyspace"] = Json::object();
  EXPECT_EQ(PathOf(json), "");
}

TEST(RelaynaDomain, SkipsTheFeedOfLaterReleases) {
  Json json = ReadGolden("feed_pagination");
  json["name"] = "feed_pagination_head_feedv2";
  EXPECT_EQ(Replay(json).verdict, Outcome::Verdict::kSkipped);
}

TEST(RelaynaDomain, ReportsUnknownOperations) {
  Json json = ReadGolden("workflow_contract_crash");
  json["ops"][0]["op"] = "workflow.no_such";
  EXPECT_EQ(PathOf(json), "/ops/0");
  json["ops"][0]["op"] = "race";
  EXPECT_EQ(PathOf(json), "/ops/0");
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
