#include "scenarios/operations/korvet_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/rng.h"
#include "core/korvet/error_code.h"
#include "sim/scenario/arguments.h"
#include "tests/support/backends.h"

namespace redouble::scenarios {
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
  EXPECT_EQ(*Call("create_topic", orders_), topic_);
  EXPECT_EQ(*Call("describe_topic", {{"name", "orders"}}), topic_);
  EXPECT_EQ(*Call("describe_topic_by_id", {{"id", kId}}), topic_);
  EXPECT_EQ(*Call("describe_topic_by_id", {{"id", "018f8d31-86a7-7c48-8f36-4d1fa4d99101"}}),
            topic_);
}

TEST_F(KorvetOperationsTest, DrawAnIdAndTakeTheDefaultsUnlessTold) {
  const Json topic = *Call("create_topic", {{"name", "t"}});
  EXPECT_EQ(topic["partitions"], 1);
  EXPECT_EQ(topic["id"].get<std::string>().size(), 22u);
  EXPECT_EQ(*Call("describe_topic_by_id", {{"id", topic["id"]}}), topic);
}

TEST_F(KorvetOperationsTest, ChangeListAndDeleteTopics) {
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  ASSERT_TRUE(Call("create_topic", {{"name", "a"}, {"config", {{"valueType", "JSON"}}}}).ok());
  EXPECT_EQ(*Call("list_topics", Json::object()), Json::parse(R"(["a", "orders"])"));
  EXPECT_EQ(*Call("add_partitions", {{"name", "orders"}, {"total", 4}}), "ok");
  EXPECT_EQ(*Call("alter_topic_config", {{"name", "a"}, {"config", {{"retention.ms", "5"}}}}),
            "ok");
  EXPECT_EQ((*Call("describe_topic", {{"name", "orders"}}))["partitions"], 4);
  const Json config = (*Call("describe_topic", {{"name", "a"}}))["config"];
  EXPECT_EQ(config["retentionTime"], "5");
  EXPECT_EQ(config["valueType"], "JSON");
  EXPECT_EQ(*Call("delete_topic", {{"name", "a"}}), "ok");
  EXPECT_EQ(*Call("delete_topic", {{"name", "orders"}}), "ok");
  EXPECT_EQ(KeyCount(), 0);
}

TEST_F(KorvetOperationsTest, OnlyValidateWhenTold) {
  const Json only = {{"validate_only", true}};
  Json create = orders_;
  create.update(only);
  EXPECT_EQ(*Call("create_topic", create), topic_);
  EXPECT_EQ(KeyCount(), 0);
  ASSERT_TRUE(Call("create_topic", orders_).ok());
  EXPECT_EQ(*Call("add_partitions", {{"name", "orders"}, {"total", 4}, {"validate_only", true}}),
            "ok");
  EXPECT_EQ(
      *Call("alter_topic_config",
            {{"name", "orders"}, {"config", {{"messageBytes", "9"}}}, {"validate_only", true}}),
      "ok");
  EXPECT_EQ(*Call("describe_topic", {{"name", "orders"}}), topic_);
}

TEST_F(KorvetOperationsTest, KeepKeyspacesApart) {
  ASSERT_TRUE(Call("create_topic", {{"name", "orders"}, {"keyspace", "a:b"}}).ok());
  EXPECT_EQ(Ask({"EXISTS", "a:b:topic:orders", "a:b:topics", "a:b:topic-ids"}).integer(), 3);
  EXPECT_EQ(*Call("list_topics", Json::object()), Json::array());
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

TEST_F(KorvetOperationsTest, RefuseArgumentsThatTheyCannotRead) {
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

}  // namespace
}  // namespace redouble::scenarios
