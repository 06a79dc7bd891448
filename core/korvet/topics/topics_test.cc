#include "redouble/core/korvet/topics/topics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::InterceptedStore;

// The topic ids in the goldens.
constexpr std::string_view kOrdersId = "AY-NMYanfEiPNk0fpNmRAQ";
constexpr std::string_view kPaymentsId = "VQ6EAOKbQdSnFkRmVUQAAA";

TopicId IdOf(std::string_view text) { return TopicId::Parse(text).value(); }

NewTopic Orders() { return {.name = "orders", .partitions = 3, .id = IdOf(kOrdersId)}; }

template <typename Backend>
class TopicsTest : public KorvetTest<Backend> {
 protected:
  Topics Atomic(store::Store& store) {
    return Topics(store, rng_, this->keys_, {.atomic_creation = true});
  }
  Topics On(store::Store& store) { return Topics(store, rng_, this->keys_); }

  absl::StatusOr<Topic> Create(NewTopic topic) {
    Topics topics = On(this->store());
    return this->Run(topics.Create(topic));
  }
  absl::StatusOr<Topic> Describe(std::string_view name) {
    Topics topics = On(this->store());
    return this->Run(topics.Describe(name));
  }
  absl::StatusOr<Topic> DescribeById(std::string_view id) {
    Topics topics = On(this->store());
    return this->Run(topics.DescribeById(IdOf(id)));
  }
  std::vector<std::string> List() {
    Topics topics = On(this->store());
    return this->Run(topics.List()).value();
  }
  absl::Status Delete(std::string_view name) {
    Topics topics = On(this->store());
    return this->Run(topics.Delete(name));
  }
  absl::Status AddPartitions(PartitionIncrease increase) {
    Topics topics = On(this->store());
    return this->Run(topics.AddPartitions(increase));
  }
  absl::Status AlterConfig(ConfigChange change) {
    Topics topics = On(this->store());
    return this->Run(topics.AlterConfig(change));
  }
  // Calls `act` when the second request arrives at `store`, before it is sent.
  static void BeforeSecondRequest(InterceptedStore& store, const std::function<void()>& act) {
    store.on_request = [act](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == 1) act();
      return std::nullopt;
    };
  }
  // Whether a creator has taken the name "orders".
  bool IsClaimed() { return this->Ask({"EXISTS", "korvet:topic:orders"}) == Reply::Integer(1); }
  Reply Field(std::string_view field) { return this->Ask({"HGET", "korvet:topic:orders", field}); }

  base::Rng rng_{1};
};
TYPED_TEST_SUITE(TopicsTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(TopicsTest, CreatesTheSameTopicInOneScriptWhenHardened) {
  if (this->in_cluster_layout()) return;  // There the option has no effect.
  const std::vector<ConfigEntry> config = {{"retention.ms", "60000"}};
  NewTopic request = Orders();
  request.config = config;
  const auto dump = [this] {
    std::string text;
    for (const char* command : {"HGETALL", "SMEMBERS"}) {
      const bool is_hash = std::string_view(command) == "HGETALL";
      text += this->Ask({command, is_hash ? "korvet:topic:orders" : "korvet:topics"}).DebugString();
    }
    return text + this->Ask({"HGETALL", "korvet:topic-ids"}).DebugString();
  };
  ASSERT_THAT(this->Create(request), IsOk());
  const std::string documented = dump();
  this->Ask({"FLUSHALL"});
  InterceptedStore store(this->store());
  Topics topics = this->Atomic(store);
  const absl::StatusOr<Topic> created = this->Run(topics.Create(request));
  ASSERT_THAT(created, IsOk());
  EXPECT_EQ(*created, this->Describe("orders").value());
  EXPECT_EQ(dump(), documented);
  EXPECT_LE(store.requests(), 2u) << "EVALSHA, and EVAL if Redis does not know the script";
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Create(request)).status()),
            ErrorCode::kTopicAlreadyExists);
  EXPECT_EQ(ErrorCodeOf(this->Create(request).status()), ErrorCode::kTopicAlreadyExists);
}

TYPED_TEST(TopicsTest, LeavesNoHalfMadeTopicWhenHardened) {
  if (this->in_cluster_layout()) return;
  for (size_t steps = 0; steps < 3; ++steps) {
    this->Ask({"FLUSHALL"});
    InterceptedStore store(this->store());
    store.on_request = [steps](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index >= steps) return absl::UnavailableError("the process has ended");
      return std::nullopt;
    };
    Topics topics = this->Atomic(store);
    this->Run(topics.Create(Orders())).status().IgnoreError();
    const bool exists = this->Describe("orders").ok();
    EXPECT_EQ(this->Ask({"EXISTS", "korvet:topic:orders"}), Reply::Integer(exists ? 1 : 0))
        << steps;
  }
}

TYPED_TEST(TopicsTest, CreatesATopicWithTheRecordedCommands) {
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  const absl::StatusOr<Topic> topic = this->Run(topics.Create(Orders()));
  ASSERT_THAT(topic, IsOk());
  EXPECT_EQ(*topic, (Topic{IdOf(kOrdersId), "orders", 3, TopicConfig(), topic->epoch}));
  EXPECT_EQ(this->KeyCount(), this->KeysOfTopic(3)) << "a new topic has no streams";
  if (this->in_cluster_layout()) return;  // tests/property/korvet:cluster_steps_test has its steps.
  EXPECT_EQ(topic->epoch, 0);
  EXPECT_THAT(store.log(),
              ElementsAre("HSETNX korvet:topic:orders id AY-NMYanfEiPNk0fpNmRAQ", "MULTI",
                          "HSET korvet:topic:orders id AY-NMYanfEiPNk0fpNmRAQ name orders "
                          "partitions 3 retentionTime 604800000 retentionBytes -1 compression none "
                          "offsetSequenceBits 10 messageBytes 1024",
                          "SADD korvet:topics orders",
                          "HSET korvet:topic-ids AY-NMYanfEiPNk0fpNmRAQ orders", "EXEC"));
  EXPECT_EQ(store.requests(), 2u);
}

TYPED_TEST(TopicsTest, GivesATopicOnePartitionAndADrawnIdUnlessTold) {
  const Topic topic = this->Create({.name = "t"}).value();
  EXPECT_EQ(topic.partitions, 1);
  EXPECT_EQ(topic.id.ToUuid()[14], '4');
  EXPECT_EQ(this->Describe("t").value(), topic);
  EXPECT_NE(this->Create({.name = "u"}).value().id, topic.id);
}

TYPED_TEST(TopicsTest, KeepsTheOptionsOfATopic) {
  const ConfigEntry entries[] = {
      {"retention.ms", "1500"}, {"valueType", "JSON"}, {"offsetSequenceBits", "12"}};
  NewTopic request = Orders();
  request.config = entries;
  const Topic topic = this->Create(request).value();
  EXPECT_EQ(topic.config.retention_time_ms, 1500);
  EXPECT_EQ(topic.config.value_type, ValueType::kJson);
  EXPECT_EQ(topic.config.offsets.sequence_bits(), 12);
  EXPECT_EQ(this->Describe("orders").value(), topic);
  EXPECT_EQ(this->Field("valueType"), Reply::Bulk("JSON"));
}

TYPED_TEST(TopicsTest, CreatesANameOnceOnly) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const absl::Status status =
      this->Create({.name = "orders", .partitions = 9, .id = IdOf(kPaymentsId)}).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kTopicAlreadyExists);
  EXPECT_EQ(this->Describe("orders").value().partitions, 3);
  EXPECT_EQ(ErrorCodeOf(this->DescribeById(kPaymentsId).status()), ErrorCode::kUnknownTopicId);
}

TYPED_TEST(TopicsTest, ChecksATopicInTheDocumentedOrderBeforeAnythingIsSent) {
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  const ConfigEntry unknown[] = {{"cleanup.policy", "compact"}};
  NewTopic request = {.name = "a:b", .partitions = 0, .config = unknown, .id = TopicId()};
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Create(request)).status()), ErrorCode::kInvalidTopic);
  request.name = "orders";
  for (const int32_t partitions : {0, -2}) {
    request.partitions = partitions;
    EXPECT_EQ(ErrorCodeOf(this->Run(topics.Create(request)).status()),
              ErrorCode::kInvalidPartitions);
  }
  request.partitions = -1;
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Create(request)).status()), ErrorCode::kInvalidConfig);
  request.config = {};
  const absl::Status reserved = this->Run(topics.Create(request)).status();
  EXPECT_EQ(ErrorCodeOf(reserved), ErrorCode::kInvalidConfig);
  EXPECT_THAT(std::string(reserved.message()), HasSubstr("is reserved"));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(TopicsTest, ValidatesWithoutWriting) {
  NewTopic request = Orders();
  request.validate_only = true;
  EXPECT_EQ(this->Create(request).value().partitions, 3);
  request.partitions = 0;
  EXPECT_EQ(ErrorCodeOf(this->Create(request).status()), ErrorCode::kInvalidPartitions);
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(TopicsTest, ListsNamesSortedByByte) {
  EXPECT_THAT(this->List(), IsEmpty());
  for (const std::string_view name : {"payments", "Orders", "a", "orders", "_"}) {
    ASSERT_THAT(this->Create({.name = name}), IsOk());
  }
  EXPECT_THAT(this->List(), ElementsAre("Orders", "_", "a", "orders", "payments"));
}

TYPED_TEST(TopicsTest, FindsATopicByItsId) {
  const Topic orders = this->Create(Orders()).value();
  const Topic payments = this->Create({.name = "payments", .id = IdOf(kPaymentsId)}).value();
  EXPECT_EQ(this->DescribeById(kOrdersId).value(), orders);
  EXPECT_EQ(this->DescribeById(kPaymentsId).value(), payments);
  EXPECT_EQ(ErrorCodeOf(this->DescribeById("_____________________w").status()),
            ErrorCode::kUnknownTopicId);
}

TYPED_TEST(TopicsTest, TellsATopicFromOneThatTookItsName) {
  ASSERT_THAT(this->Create({.name = "orders", .id = IdOf(kPaymentsId)}), IsOk());
  this->Ask({"HSET", "korvet:topic-ids", kOrdersId, "orders"});
  EXPECT_EQ(ErrorCodeOf(this->DescribeById(kOrdersId).status()), ErrorCode::kInconsistentTopicId);
  this->Ask({"DEL", "korvet:topic:orders"});
  EXPECT_EQ(ErrorCodeOf(this->DescribeById(kPaymentsId).status()), ErrorCode::kInconsistentTopicId);
}

TYPED_TEST(TopicsTest, KnowsNoTopicOfAnotherName) {
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Describe("nope")).status()),
            ErrorCode::kUnknownTopicOrPartition);
  EXPECT_THAT(this->Documented(store.log()), ElementsAre("HGETALL korvet:topic:nope"));
  EXPECT_EQ(ErrorCodeOf(this->Describe("a:b").status()), ErrorCode::kInvalidTopic);
}

TYPED_TEST(TopicsTest, TakesNoHalfMadeHashForATopic) {
  this->Ask({"HSET", "korvet:topic:orders", "id", kOrdersId});
  EXPECT_EQ(ErrorCodeOf(this->Describe("orders").status()), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(ErrorCodeOf(this->Create(Orders()).status()), ErrorCode::kTopicAlreadyExists);
}

TYPED_TEST(TopicsTest, TakesNoRestOfADeletedTopicForATopic) {
  this->Ask({"HSET", "korvet:topic:orders", "partitions", "5"});
  EXPECT_EQ(ErrorCodeOf(this->Describe("orders").status()), ErrorCode::kUnknownTopicOrPartition);
  ASSERT_THAT(this->Create(Orders()), IsOk());
  EXPECT_EQ(this->Describe("orders").value().partitions, 3);
}

TYPED_TEST(TopicsTest, ReadsAnIdInEitherForm) {
  this->Ask({"HSET", "korvet:topic:orders", "id", "018f8d31-86a7-7c48-8f36-4d1fa4d99101",
             "partitions", "2", "unheard-of", "x"});
  EXPECT_EQ(this->Describe("orders").value(), (Topic{IdOf(kOrdersId), "orders", 2, TopicConfig()}));
}

TYPED_TEST(TopicsTest, NamesTheFieldThatItCannotRead) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const std::vector<std::array<std::string_view, 3>> broken = {
      {"retentionTime", "soon", "604800000"},
      {"partitions", "0", "3"},
      {"partitions", "2147483648", "3"},
      {"partitions", "", "3"},
      {"id", "orders", kOrdersId}};
  for (const auto& [field, bad, good] : broken) {
    this->Ask({"HSET", "korvet:topic:orders", field, bad});
    const absl::Status status = this->Describe("orders").status();
    EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the hash of topic orders: "));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(std::string(field) + " is \"" + std::string(bad) + "\""));
    this->Ask({"HSET", "korvet:topic:orders", field, good});
  }
  EXPECT_THAT(this->Describe("orders"), IsOk());
}

TYPED_TEST(TopicsTest, DeletesATopicWithTheRecordedCommands) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  this->Ask({"XADD", "korvet:stream:orders:0", "1-0", "value", "v"});
  this->Ask({"XGROUP", "CREATE", "korvet:stream:orders:2", "my-group", "0", "MKSTREAM"});
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  EXPECT_THAT(this->Run(topics.Delete("orders")), IsOk());
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3));
  if (this->in_cluster_layout()) return;
  EXPECT_THAT(store.log(), ElementsAre("HGETALL korvet:topic:orders", "MULTI",
                                       "DEL korvet:stream:orders:0 korvet:stream:orders:1 "
                                       "korvet:stream:orders:2",
                                       "DEL korvet:topic:orders", "SREM korvet:topics orders",
                                       "HDEL korvet:topic-ids AY-NMYanfEiPNk0fpNmRAQ", "EXEC"));
}

TYPED_TEST(TopicsTest, DeletesOneTopicAndNoOther) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  ASSERT_THAT(this->Create({.name = "order"}), IsOk());
  ASSERT_THAT(this->Delete("order"), IsOk());
  EXPECT_THAT(this->List(), ElementsAre("orders"));
  EXPECT_THAT(this->DescribeById(kOrdersId), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Delete("order")), ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(TopicsTest, DeletesTheIndexRowOfAnIdInTheOtherForm) {
  constexpr std::string_view kUuid = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";
  this->Ask({"HSET", "korvet:topic:orders", "id", kUuid, "partitions", "1"});
  this->Ask({"HSET", "korvet:topic-ids", kUuid, "orders"});
  ASSERT_THAT(this->Delete("orders"), IsOk());
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(1));
}

TYPED_TEST(TopicsTest, GivesATopicOfAnOldNameANewId) {
  const TopicId first = this->Create({.name = "orders"}).value().id;
  ASSERT_THAT(this->Delete("orders"), IsOk());
  const TopicId second = this->Create({.name = "orders"}).value().id;
  EXPECT_NE(first, second);
  EXPECT_EQ(ErrorCodeOf(this->DescribeById(first.ToString()).status()), ErrorCode::kUnknownTopicId);
}

TYPED_TEST(TopicsTest, AddsPartitionsWithoutMakingStreams) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  EXPECT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 5})), IsOk());
  EXPECT_EQ(this->Describe("orders").value().partitions, 5);
  EXPECT_EQ(this->KeyCount(), this->KeysOfTopic(5));
  if (this->in_cluster_layout()) return;
  ASSERT_GE(store.log().size(), 2u);
  EXPECT_EQ(store.log()[0], "HGETALL korvet:topic:orders");
  EXPECT_THAT(store.log()[1], ::testing::EndsWith(" 1 korvet:topic:orders 5"));
}

TYPED_TEST(TopicsTest, NeverTakesPartitionsAway) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  for (const int32_t total : {3, 2, 0, -1}) {
    EXPECT_EQ(ErrorCodeOf(this->AddPartitions({.topic = "orders", .total = total})),
              ErrorCode::kInvalidPartitions)
        << total;
  }
  EXPECT_THAT(this->AddPartitions({.topic = "orders", .total = 4, .validate_only = true}), IsOk());
  EXPECT_EQ(this->Describe("orders").value().partitions, 3);
  EXPECT_EQ(ErrorCodeOf(this->AddPartitions({.topic = "nope", .total = 4})),
            ErrorCode::kUnknownTopicOrPartition);
}

// Two administrators add partitions. Each reads the number before the other writes it.
TYPED_TEST(TopicsTest, KeepsTheGreatestNumberOfConcurrentAdditions) {
  for (const int32_t mine : {4, 8}) {
    const int32_t others = mine == 4 ? 8 : 4;
    this->Delete("orders").IgnoreError();
    ASSERT_THAT(this->Create(Orders()), IsOk());
    const auto other = this->Connect();
    InterceptedStore store(this->store());
    this->BeforeSecondRequest(store, [&] {
      Topics rival = this->On(*other);
      EXPECT_THAT(this->Run(rival.AddPartitions({.topic = "orders", .total = others})), IsOk());
    });
    Topics topics = this->On(store);
    const absl::Status status = this->Run(topics.AddPartitions({.topic = "orders", .total = mine}));
    EXPECT_EQ(ErrorCodeOf(status), mine == 8 ? ErrorCode::kNone : ErrorCode::kInvalidPartitions);
    EXPECT_EQ(this->Describe("orders").value().partitions, 8);
  }
}

TYPED_TEST(TopicsTest, AddsNoPartitionsWhereTheNumberBecameUnreadable) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  InterceptedStore store(this->store());
  this->BeforeSecondRequest(store, [&] {
    this->Ask({"HSET", "korvet:topic:orders", "partitions", "many"});
  });
  Topics topics = this->On(store);
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.AddPartitions({.topic = "orders", .total = 5}))),
            ErrorCode::kUnknownServerError);
  this->Ask({"HSET", "korvet:topic:orders", "partitions", "3"});
  InterceptedStore odd_store(this->store());
  odd_store.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 0) return std::nullopt;
    return Reply::Array({});
  };
  Topics odd = this->On(odd_store);
  EXPECT_EQ(ErrorCodeOf(this->Run(odd.AddPartitions({.topic = "orders", .total = 5}))),
            ErrorCode::kUnknownServerError);
}

TYPED_TEST(TopicsTest, RepairsWhatACrashedCreatorLeft) {
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (this->IsClaimed()) return store::NotSentError("crashed");
    return std::nullopt;
  };
  Topics crashing = this->On(store);
  EXPECT_FALSE(this->Run(crashing.Create(Orders())).ok());
  EXPECT_EQ(ErrorCodeOf(this->Create(Orders()).status()), ErrorCode::kTopicAlreadyExists);
  Topics topics = this->On(this->store());
  EXPECT_THAT(this->Run(topics.Repair("orders")), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(topics.Repair("orders")), IsOkAndHolds(false));
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3));
  EXPECT_THAT(this->Create(Orders()), IsOk());
  EXPECT_THAT(this->Run(topics.Repair("orders")), IsOkAndHolds(false)) << "it is complete";
  EXPECT_THAT(this->Describe("orders"), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Repair("..")).status()), ErrorCode::kInvalidTopic);
}

TYPED_TEST(TopicsTest, RepairsWhatAChangeDuringADeletionLeft) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  this->Ask({"HDEL", "korvet:topic:orders", "partitions"});
  Topics topics = this->On(this->store());
  EXPECT_THAT(this->Run(topics.Repair("orders")), IsOkAndHolds(true));
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3))
      << "neither the hash nor its places in the indexes";
}

TYPED_TEST(TopicsTest, IsReadAgain) {
  const Keys keys = this->keys_;
  Topic topic = this->Create(Orders()).value();
  const ConfigEntry entries[] = {{"retention.ms", "-1"}};
  ASSERT_THAT(this->AlterConfig({.topic = "orders", .config = entries}), IsOk());
  ASSERT_THAT(this->AddPartitions({.topic = "orders", .total = 5}), IsOk());
  ASSERT_THAT(this->Run(RefreshTopic(this->store(), keys, topic)), IsOk());
  EXPECT_EQ(topic, this->Describe("orders").value());
  ASSERT_THAT(this->Delete("orders"), IsOk());
  const Topic before = topic;
  EXPECT_EQ(ErrorCodeOf(this->Run(RefreshTopic(this->store(), keys, topic))),
            ErrorCode::kUnknownTopicOrPartition);
  ASSERT_THAT(this->Create({.name = "orders"}), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(RefreshTopic(this->store(), keys, topic))),
            ErrorCode::kInconsistentTopicId);
  EXPECT_EQ(topic, before);
}

TYPED_TEST(TopicsTest, ChangesTheOptionsThatAreNamed) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const ConfigEntry entries[] = {{"compression.type", "gzip"}, {"retention.ms", "5"}};
  InterceptedStore store(this->store());
  Topics topics = this->On(store);
  EXPECT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = entries})), IsOk());
  if (!this->in_cluster_layout()) {
    EXPECT_THAT(store.log(), ElementsAre("HGETALL korvet:topic:orders",
                                         "HSET korvet:topic:orders compression gzip "
                                         "retentionTime 5"));
  }
  TopicConfig expected;
  expected.compression = Compression::kGzip;
  expected.retention_time_ms = 5;
  EXPECT_EQ(this->Describe("orders").value().config, expected);
}

TYPED_TEST(TopicsTest, ChangesNothingWhenAnyOptionIsRefused) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const ConfigEntry fixed[] = {{"retention.ms", "5"}, {"offsetSequenceBits", "11"}};
  EXPECT_EQ(ErrorCodeOf(this->AlterConfig({.topic = "orders", .config = fixed})),
            ErrorCode::kInvalidConfig);
  const ConfigEntry good[] = {{"retention.ms", "5"}};
  EXPECT_THAT(this->AlterConfig({.topic = "orders", .config = good, .validate_only = true}),
              IsOk());
  EXPECT_THAT(this->AlterConfig({.topic = "orders"}), IsOk());
  EXPECT_EQ(this->Describe("orders").value().config, TopicConfig());
  EXPECT_EQ(ErrorCodeOf(this->AlterConfig({.topic = "nope", .config = good})),
            ErrorCode::kUnknownTopicOrPartition);
}

// Another client deletes the topic between the two steps of a change.
TYPED_TEST(TopicsTest, LeavesNoTopicBehindWhenAChangeMeetsADelete) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const auto other = this->Connect();
  InterceptedStore store(this->store());
  this->BeforeSecondRequest(store, [&] {
    Topics rival = this->On(*other);
    EXPECT_THAT(this->Run(rival.Delete("orders")), IsOk());
  });
  Topics topics = this->On(store);
  const ConfigEntry entries[] = {{"retention.ms", "5"}};
  const ErrorCode code =
      ErrorCodeOf(this->Run(topics.AlterConfig({.topic = "orders", .config = entries})));
  // In the cluster layout a script looks for the topic.
  EXPECT_EQ(code,
            this->in_cluster_layout() ? ErrorCode::kUnknownTopicOrPartition : ErrorCode::kNone);
  EXPECT_EQ(ErrorCodeOf(this->Describe("orders").status()), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_THAT(this->Create(Orders()), IsOk());
}

TYPED_TEST(TopicsTest, AddsNoPartitionsToATopicThatWasDeletedMeanwhile) {
  ASSERT_THAT(this->Create(Orders()), IsOk());
  const auto other = this->Connect();
  InterceptedStore store(this->store());
  this->BeforeSecondRequest(store, [&] {
    Topics rival = this->On(*other);
    EXPECT_THAT(this->Run(rival.Delete("orders")), IsOk());
  });
  Topics topics = this->On(store);
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.AddPartitions({.topic = "orders", .total = 5}))),
            ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3));
}

// The second creator runs between the two steps of the first.
TYPED_TEST(TopicsTest, LetsOneOfTwoCreatorsWin) {
  const auto other = this->Connect();
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (!this->IsClaimed()) return std::nullopt;
    Topics rival = this->On(*other);
    EXPECT_EQ(ErrorCodeOf(this->Run(rival.Create({.name = "orders"})).status()),
              ErrorCode::kTopicAlreadyExists);
    return std::nullopt;
  };
  Topics topics = this->On(store);
  EXPECT_THAT(this->Run(topics.Create(Orders())), IsOk());
  EXPECT_EQ(this->Describe("orders").value().id, IdOf(kOrdersId));
}

TYPED_TEST(TopicsTest, PassesRedisErrorsOn) {
  this->Ask({"SET", "korvet:topics", "x"});
  Topics topics = this->On(this->store());
  EXPECT_EQ(store::ServerErrorCode(this->Run(topics.List()).status()), "WRONGTYPE");
  EXPECT_EQ(ErrorCodeOf(this->Create(Orders()).status()), ErrorCode::kUnknownServerError);
  this->Ask({"SET", "korvet:topic-ids", "x"});
  this->Ask({"SET", "korvet:topic:t", "x"});
  EXPECT_EQ(ErrorCodeOf(this->DescribeById(kOrdersId).status()), ErrorCode::kUnknownServerError);
  EXPECT_EQ(ErrorCodeOf(this->Describe("t").status()), ErrorCode::kUnknownServerError);
  EXPECT_EQ(ErrorCodeOf(this->Create({.name = "t"}).status()), ErrorCode::kUnknownServerError);
}

TYPED_TEST(TopicsTest, SaysWhatBecameOfAWriteWhenRedisIsLost) {
  for (const size_t lost : {0u, 1u}) {
    this->Ask({"FLUSHALL"});
    InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index == lost) return store::OutcomeUnknownError("the connection broke");
      return std::nullopt;
    };
    Topics topics = this->On(store);
    EXPECT_EQ(ErrorCodeOf(this->Run(topics.Create(Orders())).status()),
              ErrorCode::kRequestTimedOut);
  }
  InterceptedStore down(this->store());
  down.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return store::NotSentError("refused");
  };
  Topics topics = this->On(down);
  EXPECT_EQ(ErrorCodeOf(this->Run(topics.Delete("orders"))), ErrorCode::kKafkaStorageError);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
