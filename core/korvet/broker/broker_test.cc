#include "redouble/core/korvet/broker/broker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Backend>
class BrokerTest : public KorvetTest<Backend> {
 protected:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

  void SetUp() override {
    KorvetTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    clock_.emplace(this->now());
  }
  std::unique_ptr<Broker> Make(store::Store& store, Pairs variables = {}) {
    variables.emplace_back("KORVET_KEY_LAYOUT", store::KeyLayoutName(this->layout()));
    return Broker::Create(store, *clock_, rng_, ReadBrokerSettings(variables).value()).value();
  }

  std::optional<base::VirtualClock> clock_;
  base::Rng rng_{1};
};
TYPED_TEST_SUITE(BrokerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(BrokerTest, TakesItsSettingsFromVariables) {
  const auto broker =
      this->Make(this->store(), {{"KORVET_KEYSPACE", "k"},
                                 {"KORVET_NUM_PARTITIONS", "2"},
                                 {"KORVET_MESSAGE_MAX_BYTES", "3"},
                                 {"KORVET_CLIENT_ID", "me"},
                                 {"KORVET_PARTITION_ASSIGNMENT_STRATEGY", "range"},
                                 {"KORVET_LOG_RETENTION_CHECK_INTERVAL_MS", "off"}});
  ASSERT_OK_AND_ASSIGN(const Topic topic, this->Run(broker->EnsureTopic("orders")));
  EXPECT_EQ(topic.partitions, 2);
  const Keys keys = Keys::Create("k", this->layout()).value();
  EXPECT_EQ(this->Ask({"EXISTS", keys.Topic("orders").value()}), Reply::Integer(1));
  ASSERT_OK_AND_ASSIGN(Producer producer, this->Run(broker->OpenProducer("orders")));
  const NewRecord large = {.value = "four"};
  EXPECT_EQ(ErrorCodeOf(this->Run(producer.Append(0, std::span(&large, 1))).status()),
            ErrorCode::kMessageTooLarge);
  const auto consumer = broker->MakeConsumer("g");
  ASSERT_THAT(this->Run(consumer->Subscribe({"orders"})), IsOk());
  ASSERT_THAT(this->Run(consumer->Poll()), IsOk());
  EXPECT_TRUE(consumer->member_id().starts_with("me-"));
  EXPECT_EQ(this->Ask({"HGET", keys.Group("g").value(), "assignor"}), Reply::Bulk("range"));
  EXPECT_THAT(this->Run(broker->retention_loop().Run()), IsOk()) << "it is off";
  ASSERT_OK_AND_ASSIGN(Log log, this->Run(broker->OpenLog("orders")));
  EXPECT_EQ(this->Run(log.Bounds(0)).value().end, 0);
}

TYPED_TEST(BrokerTest, CreatesATopicOnce) {
  tests::InterceptedStore store(this->store());
  const auto broker = this->Make(store);
  const auto other = this->Make(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1) {
      EXPECT_THAT(this->Run(other->EnsureTopic("orders")), IsOk());
    }
    return std::nullopt;
  };
  ASSERT_OK_AND_ASSIGN(const Topic topic, this->Run(broker->EnsureTopic("orders")));
  ASSERT_OK_AND_ASSIGN(const Topic again, this->Run(other->EnsureTopic("orders")));
  EXPECT_EQ(topic, again);
  this->Ask({"HSETNX", "korvet:topic:half", "id", topic.id.ToString()});
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->EnsureTopic("half")).status()),
            ErrorCode::kTopicAlreadyExists);
}

TYPED_TEST(BrokerTest, TellsHowFarAGroupIs) {
  const auto broker = this->Make(this->store());
  ASSERT_THAT(this->Run(broker->EnsureTopic("orders")), IsOk());
  ASSERT_OK_AND_ASSIGN(Producer producer, this->Run(broker->OpenProducer("orders")));
  const std::vector<NewRecord> records(3, NewRecord{.value = "v"});
  ASSERT_OK_AND_ASSIGN(const Appended appended, this->Run(producer.Append(0, records)));
  ConsumerOptions options;
  options.max_records = 2;
  const auto consumer = broker->MakeConsumer("g", options);
  ASSERT_THAT(this->Run(consumer->Subscribe({"orders"})), IsOk());
  ASSERT_THAT(this->Run(consumer->Poll()), IsOk());
  const GroupProgress read = {appended.offsets[0], {1, 2}, appended.offsets[2] + 1};
  EXPECT_THAT(this->Run(broker->groups().Offsets("g")).value(),
              ElementsAre(GroupOffset{"orders", 0, read}));
  ASSERT_THAT(this->Run(consumer->Commit()), IsOk());
  const GroupProgress committed = {appended.offsets[1] + 1, {1, 0}, appended.offsets[2] + 1};
  EXPECT_THAT(this->Run(broker->groups().Offsets("g")).value(),
              ElementsAre(GroupOffset{"orders", 0, committed}));
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->groups().Offsets("h")).status()),
            ErrorCode::kGroupIdNotFound);

  ASSERT_OK_AND_ASSIGN(const GroupDescription group, this->Run(broker->groups().Describe("g")));
  EXPECT_EQ(group.state, GroupDescription::State::kStable);
  EXPECT_EQ(group.assignment.at(consumer->member_id()),
            (std::vector<AssignedPartition>{{"orders", 0}}));
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->groups().Delete("g"))), ErrorCode::kNonEmptyGroup);
  ASSERT_THAT(this->Run(consumer->Close()), IsOk());
  ASSERT_THAT(this->Run(broker->groups().Delete("g")), IsOk());
  EXPECT_EQ(this->Ask({"EXISTS", "korvet:group:g"}), Reply::Integer(0));
}

TYPED_TEST(BrokerTest, PassesErrorsOn) {
  BrokerSettings settings;
  settings.keyspace = "";
  EXPECT_EQ(
      ErrorCodeOf(Broker::Create(this->store(), *this->clock_, this->rng_, settings).status()),
      ErrorCode::kInvalidConfig);
  const auto broker = this->Make(this->store());
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->EnsureTopic("a b")).status()), ErrorCode::kInvalidTopic);
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->OpenProducer("orders")).status()),
            ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(ErrorCodeOf(this->Run(broker->OpenLog("orders")).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

// The requests of a transactional producer, in the order in which it sends them. Kafka answers them
// so if the version of its brokers is older than transactions.
TEST(Broker, RefusesEachRequestOfATransaction) {
  for (const std::string_view request : {"FindCoordinator", "InitProducerId", "AddPartitionsToTxn",
                                         "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"}) {
    const absl::Status refused = Broker::RefuseTransaction(request);
    EXPECT_EQ(static_cast<int>(ErrorCodeOf(refused)), 35) << request;
    EXPECT_FALSE(SpecOf(ErrorCodeOf(refused)).retriable) << request;
    EXPECT_THAT(refused.message(), HasSubstr(std::string(request)));
  }
}

// Kafka answers them so if the format of a log is older than transactions.
TEST(Broker, RefusesABatchThatTheLogCannotHold) {
  EXPECT_THAT(Broker::CheckBatch({}), IsOk());
  for (const BatchAttributes& batch :
       {BatchAttributes{.transactional = true}, BatchAttributes{.producer_id = 0},
        BatchAttributes{.transactional = true, .producer_id = 7}}) {
    const absl::Status refused = Broker::CheckBatch(batch);
    EXPECT_EQ(static_cast<int>(ErrorCodeOf(refused)), 43);
    EXPECT_EQ(ErrorName(ErrorCodeOf(refused)), "UNSUPPORTED_FOR_MESSAGE_FORMAT");
    EXPECT_FALSE(SpecOf(ErrorCodeOf(refused)).retriable);
  }
}

// A broker with transactions refuses them too: only a coordinator writes control records.
TEST(Broker, RefusesAControlBatch) {
  const BatchAttributes marker = {.transactional = true, .control = true, .producer_id = 7};
  EXPECT_EQ(ErrorCodeOf(Broker::CheckBatch(marker)), ErrorCode::kInvalidRecord);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
