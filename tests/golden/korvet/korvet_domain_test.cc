#include "redouble/tests/golden/korvet/korvet_domain.h"

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/tests/golden/domain_replay.h"
#include "redouble/tests/golden/golden_for_test.h"
#include "redouble/tests/golden/korvet/korvet_steps.h"
#include "redouble/tests/support/json_mistakes.h"

namespace redouble::inline v0_1::golden {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Pointer = Json::json_pointer;

constexpr const char* kStream = "korvet:stream:orders:0";

Json ReadGolden(std::string_view name) { return golden::ReadGolden("korvet", name); }

std::vector<std::string> OperationsOf(const Json& json) {
  std::vector<std::string> operations;
  for (const RecordedStep& step : KorvetSteps(MustParse(json, System::kKorvet))) {
    operations.push_back(step.op);
  }
  return operations;
}

std::string FailurePath(const Json& json) {
  sim::MemoryBackend backend;
  const Outcome outcome = ReplayDomain(MustParse(json, System::kKorvet), KorvetDomain(), backend);
  return outcome.difference ? outcome.difference->path : "passed";
}

// A recording of the topic "orders" with one more step.
Json With(Json step) {
  Json json = ReadGolden("topic_create");
  json["ops"].erase(2);
  json["ops"].push_back(std::move(step));
  return json;
}

Json Step(std::string op, Json arguments, Json commands, Json result = Json()) {
  if (arguments.is_null()) arguments = Json::object();
  Json step = {{"op", op}, {"args", arguments}, {"commands", Json::array()}};
  for (const Json& command : commands) {
    step["commands"].push_back({{"cmd", command[0]}, {"reply", command[1]}});
  }
  if (!result.is_null()) step["result"] = result;
  return step;
}

TEST(KorvetSteps, RecognisesOperationsByTheirCommands) {
  EXPECT_THAT(OperationsOf(ReadGolden("group_basic")),
              ElementsAre("create_topic", "produce", "produce", "produce", "produce", "produce",
                          "create_group", "poll", "commit", "lag", "committed"));
  EXPECT_THAT(OperationsOf(ReadGolden("topic_list_describe")),
              ElementsAre("create_topic", "create_topic", "list_topics", "describe_topic",
                          "describe_topic_by_id", "describe_topic", "describe_topic_by_id"));
  EXPECT_THAT(OperationsOf(ReadGolden("retention_at_write")),
              ElementsAre("create_topic", "raw", "raw", "raw", "produce"))
      << "Korvet writes no record without a timestamp";
  EXPECT_THAT(OperationsOf(ReadGolden("group_dead_consumer")),
              ElementsAre("create_topic", "produce", "produce", "produce", "raw", "poll", "claim",
                          "remove_member", "raw"))
      << "nor does it create a group without MKSTREAM";
  EXPECT_THAT(
      OperationsOf(ReadGolden("fetch_by_offset")),
      ElementsAre("create_topic", "produce", "produce", "produce", "produce", "produce", "produce",
                  "fetch", "fetch", "fetch", "fetch", "fetch", "raw", "raw", "raw"));
  EXPECT_THAT(OperationsOf(ReadGolden("topic_delete")),
              ElementsAre("create_topic", "produce", "produce", "raw", "delete_topic"));
  EXPECT_THAT(OperationsOf(ReadGolden("list_groups")),
              ElementsAre("create_topic", "produce", "raw", "create_group", "list_groups"));
}

TEST(KorvetSteps, RecognisesChangesOfTopics) {
  const Json partitions =
      With(Step("g", {}, {{{"HSET", "korvet:topic:orders", "partitions", "6"}, 0}}));
  EXPECT_THAT(OperationsOf(partitions), ElementsAre("create_topic", "add_partitions"));
  const Json config =
      With(Step("g", {}, {{{"HSET", "korvet:topic:orders", "retentionTime", "5"}, 0}}));
  EXPECT_THAT(OperationsOf(config), ElementsAre("create_topic", "alter_topic_config"));
  const Json fixed =
      With(Step("g", {}, {{{"HSET", "korvet:topic:orders", "offsetSequenceBits", "12"}, 0}}));
  EXPECT_THAT(OperationsOf(fixed), ElementsAre("create_topic", "raw"));
}

TEST(KorvetSteps, RecognisesRetentionAsTheTopicHasIt) {
  const auto trim = [](const char* bound, const char* value) {
    return With(Step("retention", {}, {{{"XTRIM", kStream, bound, "=", value}, 0}}));
  };
  EXPECT_THAT(OperationsOf(trim("MINID", "1234567890500")),
              ElementsAre("create_topic", "sweep_logs"));
  EXPECT_THAT(OperationsOf(trim("MAXLEN", "3")), ElementsAre("create_topic", "raw"))
      << "the topic has no bound by size";
}

TEST(KorvetSteps, RecognisesOffsetsByTimestampAndSeeks) {
  const Json info = Json::array({{{"XINFO", "STREAM", kStream}, Json::array()}});
  const Json first = Json::array({{{"XRANGE", kStream, "-", "+", "COUNT", "1"}, Json::array()}});
  const Json last = Json::array({{{"XREVRANGE", kStream, "+", "-", "COUNT", "1"}, Json::array()}});
  const Json result = {{"offset", 0}};
  for (const Json& step :
       {Step("list", {{"timestamp", -1}}, info, result), Step("latest", {}, info, result),
        Step("list", {{"timestamp", -2}}, first, result), Step("earliest", {}, first, result),
        Step("list", {{"timestamp", -3}}, last, result), Step("max", {}, last, result)}) {
    EXPECT_THAT(OperationsOf(With(step)), ElementsAre("create_topic", "list_offsets")) << step;
  }
  EXPECT_THAT(OperationsOf(With(Step("list", {{"timestamp", -1}}, first, result))),
              ElementsAre("create_topic", "raw"));
  const Json set = {{{"XGROUP", "SETID", kStream, "g", "5-0"}, "OK"}};
  EXPECT_THAT(OperationsOf(With(Step("reset", {}, set))), ElementsAre("create_topic", "seek"));
}

TEST(KorvetSteps, RecogniseRequestsThatWereRefusedBeforeSending) {
  const Json error = {{"error", "INVALID_PARTITIONS"}, {"code", 37}};
  const Json less = {{"name", "orders"}, {"total", 2}};
  EXPECT_EQ(FailurePath(With(Step("create_partitions", less, Json::array(), error))), "passed");
  const Json zero = {{"name", "t"}, {"partitions", 0}};
  EXPECT_EQ(FailurePath(With(Step("create_topic", zero, Json::array(), error))), "passed");
  const Json more = {{"name", "orders"}, {"total", 4}};
  EXPECT_EQ(FailurePath(With(Step("create_partitions", more, Json::array(), error))),
            "/ops/2/result");
  EXPECT_THAT(OperationsOf(With(Step("think", {}, Json::array()))), ElementsAre("create_topic"));
}

TEST(KorvetDomain, FailsADoctoredGoldenAtTheChangedPlace) {
  struct Doctoring {
    const char* golden;
    std::string place;
    Json value;
    std::string path;
  };
  const Doctoring doctorings[] = {
      {"fetch_by_offset", "/ops/8/result/offsets/1", 7, "/ops/8/result/offsets/1"},
      {"fetch_by_offset", "/ops/8/result/next", 7, "/ops/8/result/next"},
      {"fetch_by_offset", "/ops/11/result/code", 2, "/ops/11/result/code"},
      {"group_basic", "/ops/10/result/lag", 4, "/ops/10/result/lag"},
      {"group_basic", "/ops/10/result/committed_offset", 4, "/ops/10/result/committed_offset"},
      {"group_basic", "/ops/9/commands/1/reply", 1, "/ops/9/result/acknowledged"},
      {"group_basic", "/ops/9/commands/1/cmd/3", "9-9", "/ops/9/commands/0/3"},
      {"list_groups", "/ops/4/result/groups/0", "g", "/ops/4/result/groups/0"},
      {"list_groups", "/ops/4/commands/4/cmd/2", "korvet:stream:orders:7", "/ops/4/commands"},
      {"topic_create_duplicate", "/ops/2/result/code", 35, "/ops/2/result/code"},
      {"retention_bytes", "/ops/7/commands/0/reply", 1, "/ops/7/result/removed"},
      {"topic_id_uuid", "/rows/2/wire_hex", "00", "/rows/2/wire_hex"},
      {"murmur2_partitioner", "/rows/2/murmur2_signed", 7, "/rows/2/murmur2_signed"},
      {"murmur2_partitioner", "/rows/2/partition/3", 7, "/rows/2/partition/3"},
      {"offset_encoding", "/encode/5/10", 7, "/encode/5/10"},
      {"offset_encoding", "/decode/5/12", "7-7", "/decode/5/12"},
      {"offset_encoding", "/seed_example/correct", 1264197008485893, "/seed_example/correct"},
      {"offset_encoding", "/max_seq/10", 1024, "/max_seq/10"},
      {"offset_encoding", "/max_ms/16", 7, "/max_ms/16"},
  };
  for (const Doctoring& doctoring : doctorings) {
    Json json = ReadGolden(doctoring.golden);
    ASSERT_TRUE(json.contains(Pointer(doctoring.place))) << doctoring.golden << doctoring.place;
    json[Pointer(doctoring.place)] = doctoring.value;
    EXPECT_EQ(FailurePath(json), doctoring.path) << doctoring.golden << doctoring.place;
  }
}

// With a wrong value anywhere, the replay passes or ends with the place of the error.
TEST(KorvetDomain, ReportsAWrongValueAnywhere) {
  int failed = 0;
  tests::ForEachMistake(ReadGolden("group_destroy"), [&](const Json& bad) {
    const auto golden = ParseGolden(bad.dump(), "x.json", System::kKorvet);
    if (!golden.ok()) return;
    sim::MemoryBackend backend;
    failed += ReplayDomain(*golden, KorvetDomain(), backend).difference.has_value() ? 1 : 0;
  });
  EXPECT_GT(failed, 50);
}

TEST(KorvetDomain, RefusesUnknownTables) {
  const auto path = [](const char* text) {
    return FailurePath(
        Json::parse(std::string(R"({"name":"n","ops":[],"keyspace":{},)") + text + "}"));
  };
  EXPECT_EQ(path(R"("other":[])"), "/other");
  EXPECT_EQ(path(R"("rows":7)"), "/rows");
  EXPECT_EQ(path(R"("rows":[{"key":"k"}])"), "/rows/0");
  EXPECT_EQ(path(R"("encode":[{"id":"x","10":0}])"), "/encode/0");
  EXPECT_EQ(path(R"("encode":[{"id":"1-0","9":0}])"), "/encode/0");
  EXPECT_EQ(path(R"("decode":[{"offset":"x","10":0}])"), "/decode/0");
  EXPECT_EQ(path(R"("seed_example":{"id":"1-0"})"), "/seed_example");
  EXPECT_EQ(path(R"("max_ms":{"7":0})"), "/max_ms");
}

}  // namespace
}  // namespace redouble::inline v0_1::golden
