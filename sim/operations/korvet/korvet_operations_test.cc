#include "redouble/sim/operations/korvet/korvet_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/sim/operations/arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using korvet::ErrorCode;
using korvet::ErrorCodeOf;
using sim::Json;
using sim::OperationResult;
using ::testing::HasSubstr;

constexpr const char* kId = "AY-NMYanfEiPNk0fpNmRAQ";

class KorvetOperationsTest : public tests::BackendTest<tests::MemoryBackend> {
 protected:
  OperationResult Call(std::string_view operation, const Json& arguments) {
    base::VirtualClock clock(now());
    const sim::OperationContext context(store(), clock, rng_);
    const sim::Operation* found = operations_.Find(operation);
    if (found == nullptr) return absl::NotFoundError(std::string(operation));
    return Run((*found)(context, arguments));
  }
  ErrorCode CodeOf(std::string_view operation, const Json& arguments) {
    return ErrorCodeOf(Call(operation, arguments).status());
  }
  std::string ArgumentError(std::string_view operation, const Json& arguments) {
    const absl::Status status = Call(operation, arguments).status();
    EXPECT_TRUE(sim::IsArgumentError(status)) << status;
    return std::string(status.message());
  }

  const sim::OperationTable operations_ = KorvetOperations();
  const Json orders_ = {{"name", "orders"}, {"partitions", 3}, {"id", kId}};
  const Json topic_ = Json::parse(R"({
      "id": "AY-NMYanfEiPNk0fpNmRAQ", "name": "orders", "partitions": 3,
      "config": {"retentionTime": "604800000", "retentionBytes": "-1", "compression": "none",
                 "offsetSequenceBits": "10", "messageBytes": "1024"}})");
  base::Rng rng_{1};
};

TEST_F(KorvetOperationsTest, CreateAndDescribeATopic) {
  EXPECT_EQ(Call("create_topic", orders_).value(), topic_);
  EXPECT_EQ(Call("describe_topic", {{"name", "orders"}}).value(), topic_);
  EXPECT_EQ(Call("describe_topic_by_id", {{"id", kId}}).value(), topic_);
  EXPECT_EQ(Call("describe_topic_by_id", {{"id", "018f8d31-86a7-7c48-8f36-4d1fa4d99101"}}).value(),
            topic_);
}

TEST_F(KorvetOperationsTest, DrawAnIdAndUseDefaultsForAbsentArguments) {
  const Json topic = Call("create_topic", {{"name", "t"}}).value();
  EXPECT_EQ(topic["partitions"], 1);
  EXPECT_EQ(topic["id"].get<std::string>().size(), 22u);
  EXPECT_EQ(Call("describe_topic_by_id", {{"id", topic["id"]}}).value(), topic);
}

TEST_F(KorvetOperationsTest, ChangeListAndDeleteTopics) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  ASSERT_TRUE(Call("create_topic", {{"name", "a"}, {"config", {{"valueType", "JSON"}}}}).ok());
  EXPECT_EQ(Call("list_topics", Json::object()).value(), Json::parse(R"(["a", "orders"])"));
  EXPECT_EQ(Call("add_partitions", {{"name", "orders"}, {"total", 4}}).value(), "ok");
  EXPECT_EQ(
      Call("alter_topic_config", {{"name", "a"}, {"config", {{"retention.ms", "5"}}}}).value(),
      "ok");
  EXPECT_EQ(Call("describe_topic", {{"name", "orders"}}).value()["partitions"], 4);
  const Json config = Call("describe_topic", {{"name", "a"}}).value()["config"];
  EXPECT_EQ(config["retentionTime"], "5");
  EXPECT_EQ(config["valueType"], "JSON");
  EXPECT_EQ(Call("delete_topic", {{"name", "a"}}).value(), "ok");
  EXPECT_EQ(Call("delete_topic", {{"name", "orders"}}).value(), "ok");
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(KorvetOperationsTest, OnlyValidateIfValidateOnlyIsSet) {
  const Json only = {{"validate_only", true}};
  Json create = orders_;
  create.update(only);
  EXPECT_EQ(Call("create_topic", create).value(), topic_);
  EXPECT_EQ(KeyCount(), 0);
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  EXPECT_EQ(
      Call("add_partitions", {{"name", "orders"}, {"total", 4}, {"validate_only", true}}).value(),
      "ok");
  EXPECT_EQ(Call("alter_topic_config",
                 {{"name", "orders"}, {"config", {{"messageBytes", "9"}}}, {"validate_only", true}})
                .value(),
            "ok");
  EXPECT_EQ(Call("describe_topic", {{"name", "orders"}}).value(), topic_);
}

TEST_F(KorvetOperationsTest, KeepKeyspacesApart) {
  ASSERT_TRUE(Call("create_topic", {{"name", "orders"}, {"keyspace", "a:b"}}).ok());
  EXPECT_EQ(Ask({"EXISTS", "a:b:topic:orders", "a:b:topics", "a:b:topic-ids"}).integer(), 3);
  EXPECT_EQ(Call("list_topics", Json::object()).value(), Json::array());
  for (const std::string_view operation :
       {"create_topic", "describe_topic", "delete_topic", "alter_topic_config"}) {
    EXPECT_EQ(CodeOf(operation, {{"name", "t"}, {"keyspace", ""}}), ErrorCode::kInvalidConfig)
        << operation;
  }
}

TEST_F(KorvetOperationsTest, FailWithKafkasCodes) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  EXPECT_EQ(CodeOf("create_topic", orders_), ErrorCode::kTopicAlreadyExists);
  EXPECT_EQ(CodeOf("create_topic", {{"name", "a:b"}}), ErrorCode::kInvalidTopic);
  EXPECT_EQ(CodeOf("create_topic", {{"name", "t"}, {"partitions", 0}}),
            ErrorCode::kInvalidPartitions);
  EXPECT_EQ(CodeOf("create_topic", {{"name", "t"}, {"config", {{"compression", "x"}}}}),
            ErrorCode::kInvalidConfig);
  for (const std::string_view operation :
       {"describe_topic", "delete_topic", "alter_topic_config"}) {
    EXPECT_EQ(CodeOf(operation, {{"name", "nope"}}), ErrorCode::kUnknownTopicOrPartition)
        << operation;
  }
  EXPECT_EQ(CodeOf("add_partitions", {{"name", "orders"}, {"total", 3}}),
            ErrorCode::kInvalidPartitions);
  EXPECT_EQ(CodeOf("describe_topic_by_id", {{"id", "_____________________w"}}),
            ErrorCode::kUnknownTopicId);
  Ask({"DEL", "korvet:topics"});
  Ask({"SET", "korvet:topics", "x"});
  EXPECT_EQ(CodeOf("list_topics", Json::object()), ErrorCode::kUnknownServerError);
}

TEST_F(KorvetOperationsTest, RefuseMalformedArguments) {
  EXPECT_THAT(ArgumentError("create_topic", {{"name", "t"}, {"partitions", 2147483648}}),
              HasSubstr("/partitions: does not fit 32 bits"));
  EXPECT_THAT(ArgumentError("add_partitions", {{"name", "t"}, {"total", -2147483649}}),
              HasSubstr("/total: does not fit 32 bits"));
  EXPECT_THAT(ArgumentError("create_topic", {{"name", "t"}, {"id", "short"}}),
              HasSubstr("/id: expected a topic id of 22 or 36 characters"));
  EXPECT_THAT(ArgumentError("describe_topic_by_id", Json::object()), HasSubstr("/id: "));
  EXPECT_THAT(ArgumentError("create_topic", {{"name", "t"}, {"config", "x"}}),
              HasSubstr("/config: expected an object of texts"));
  EXPECT_THAT(ArgumentError("alter_topic_config", {{"name", "t"}, {"config", {{"a", 1}}}}),
              HasSubstr("/config: expected an object of texts"));
  for (const std::string& operation : operations_.Names()) {
    EXPECT_THAT(ArgumentError(operation, {{"unheard_of", 1}}), HasSubstr("/")) << operation;
  }
}

TEST_F(KorvetOperationsTest, ProduceAndFetchRecords) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  const Json records = Json::parse(R"([{"key": "order-123", "value": "v", "timestamp": 7,
      "headers": [["h", "1"], ["n", null]], "id": "1234567890123-5"}])");
  const Json where = {{"topic", "orders"}, {"partition", 0}};
  Json produce = where;
  produce.update({{"records", records}, {"trimming", "none"}});
  EXPECT_EQ(Call("produce", produce).value(),
            Json::parse(R"({"base_offset": 1264197519485957, "offsets": [1264197519485957],
                            "log_append_time": 1234567890123})"));
  Json fetch = where;
  fetch["offset"] = 0;
  EXPECT_EQ(Call("fetch", fetch).value(),
            Json::parse(R"({"records": [{"offset": 1264197519485957, "key": "order-123",
                "value": "v", "timestamp": 7, "headers": [["h", "1"], ["n", ""]]}],
                "next": 1264197519485958, "log_start": 0, "high_watermark": 1264197519485958})"));
  EXPECT_EQ(Call("list_offsets", {{"topic", "orders"}, {"timestamp", -1}}).value(),
            Json::parse(R"({"offset": 1264197519485958, "timestamp": -1})"));
  EXPECT_EQ(Call("log_bounds", {{"topic", "orders"}}).value(),
            Json::parse(R"({"log_start": 0, "high_watermark": 1264197519485958})"));
  EXPECT_EQ(Call("sweep_logs", {{"topic", "orders"}, {"partitions", {0, 1}}}).value(),
            Json::parse(R"({"removed": 1})"));
  fetch["offset"] = 1264197519485957;
  EXPECT_EQ(CodeOf("fetch", fetch), ErrorCode::kOffsetOutOfRange);
}

TEST_F(KorvetOperationsTest, SendRecordsToThePartitionersChoice) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  const Json records = Json::parse(R"([{"value": "a"}, {"value": "b", "key": "order-123"}])");
  const Json sent = Call("produce", {{"topic", "orders"}, {"records", records}}).value();
  EXPECT_EQ(sent[0]["partition"], 0);
  EXPECT_EQ(sent[1]["partition"], 1);
}

TEST_F(KorvetOperationsTest, ReadAndCommitInAGroup) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  const Json records = Json::parse(R"([{"value": "a", "timestamp": 1, "id": "1-0"},
                                       {"value": "b", "timestamp": 1, "id": "1-1"}])");
  ASSERT_TRUE(
      Call("produce",
           {{"topic", "orders"}, {"partition", 0}, {"trimming", "none"}, {"records", records}})
          .ok());
  const auto with = [](Json more) {
    Json arguments = {{"topic", "orders"}, {"group", "g"}};
    arguments.update(more);
    return arguments;
  };
  EXPECT_EQ(Call("create_group", with({{"partition", 0}, {"at", 1024}})).value(), "ok");
  const Json a = Json::parse(R"({"partition": 0, "offset": 1024, "value": "a", "timestamp": 1})");
  EXPECT_EQ(Call("poll", with({{"partitions", {0}}, {"member", "m"}, {"max_records", 1}})).value(),
            Json::array({a}));
  EXPECT_EQ(Call("backlog", with({{"member", "m"}})).value()["records"], Json::array({a}));
  EXPECT_EQ(Call("committed", with(Json::object())).value()["committed_offset"], 1024);
  EXPECT_EQ(Call("lag", with(Json::object())).value()["lag"], 2);
  EXPECT_EQ(Call("claim", with({{"member", "n"}, {"min_idle_ms", 0}})).value()["records"],
            Json::array({a}));
  EXPECT_EQ(Call("describe_group", {{"group", "g"}}).value()["partitions"][0]["members"]["n"], 1);
  EXPECT_EQ(Call("commit", with({{"offset", 1025}})).value()["acknowledged"], 1);
  EXPECT_EQ(Call("acknowledge", with({{"offsets", {1024}}})).value()["acknowledged"], 0);
  EXPECT_EQ(Call("seek", with({{"at", "latest"}})).value(), "ok");
  EXPECT_EQ(Call("remove_member", with({{"member", "m"}})).value()["lost"], 0);
  EXPECT_EQ(Call("list_groups", Json::object()).value()["groups"], Json::array({"g"}));
  EXPECT_EQ(Call("delete_group", {{"group", "g"}}).value(), "ok");
  EXPECT_EQ(CodeOf("describe_group", {{"group", "g"}}), ErrorCode::kGroupIdNotFound);
}

TEST_F(KorvetOperationsTest, NameTheWrongArgumentOfALogOrAGroup) {
  const Json topic = {{"topic", "orders"}};
  const auto error = [&](std::string_view operation, Json more) {
    Json arguments = topic;
    arguments.update(more);
    return ArgumentError(operation, arguments);
  };
  EXPECT_THAT(error("produce", {{"records", 7}}), HasSubstr("/records: expected an array"));
  EXPECT_THAT(error("produce", {{"records", {{{"id", "x"}}}}}), HasSubstr("/records/0/id"));
  EXPECT_THAT(error("produce", {{"records", {{{"headers", {{"a"}}}}}}}),
              HasSubstr("/records/0/headers"));
  EXPECT_THAT(error("produce", {{"records", Json::array()}, {"trimming", "some"}}),
              HasSubstr("/trimming"));
  EXPECT_THAT(error("fetch", Json::object()), HasSubstr("/offset"));
  EXPECT_THAT(error("create_group", {{"group", "g"}, {"at", "never"}}), HasSubstr("/at"));
  EXPECT_THAT(error("poll", {{"group", "g"}, {"member", "m"}, {"partitions", 7}}),
              HasSubstr("/partitions"));
  EXPECT_THAT(error("acknowledge", {{"group", "g"}, {"offsets", {"x"}}}), HasSubstr("/offsets"));
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
