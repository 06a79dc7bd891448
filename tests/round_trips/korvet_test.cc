// Counts the round trips of Korvet's operations (docs/systems/korvet.md 4.21).
#include "redouble/korvet.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/tests/round_trips/round_trips_for_test.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr int32_t kPartitions = 3;

class KorvetRoundTrips : public RoundTrips {
 protected:
  // A new process on a server with the topic orders of three partitions.
  korvet::Broker& Begin() {
    Prepare(store::FlushAll(store_));
    korvet::BrokerSettings settings;
    settings.num_partitions = kPartitions;
    broker_ = korvet::Broker::Create(store_, clock_, rng_, settings).value();
    topic_ = base::Run(broker_->EnsureTopic("orders")).value();
    return *broker_;
  }
  korvet::Producer OpenProducer() { return base::Run(broker_->OpenProducer("orders")).value(); }

  void CountTopics();
  void CountLogs();
  void CountConsumers();
  void CountGroups();
  void CountMembers();
  void CountAdministration();

  std::unique_ptr<korvet::Broker> broker_;
  korvet::Topic topic_;
  const korvet::Keys keys_ = korvet::Keys::Create().value();
  const std::vector<korvet::NewRecord> records_{3, korvet::NewRecord{.value = "v"}};
};

void KorvetRoundTrips::CountTopics() {
  Begin();
  korvet::Topics& topics = broker_->topics();
  Count("create a topic", [&] { return base::Run(topics.Create({.name = "single"})); });
  korvet::Topics atomic(store_, rng_, keys_, {.atomic_creation = true});
  Count("create a topic, `atomic_creation`",
        [&] { return base::Run(atomic.Create({.name = "atomic"})); });
  Count("create a topic if it is missing",
        [&] { return base::Run(broker_->EnsureTopic("second")); });
  const std::string describe = "describe a topic, or open a producer or a log";
  Count(describe, [&] { return base::Run(broker_->EnsureTopic("orders")); });
  Count(describe, [&] { return base::Run(topics.Describe("orders")); });
  Count(describe, [&] { return base::Run(broker_->OpenProducer("orders")); });
  Count(describe, [&] { return base::Run(broker_->OpenLog("orders")); });
  Count("describe a topic by its id", [&] { return base::Run(topics.DescribeById(topic_.id)); });
  Count("list the topics", [&] { return base::Run(topics.List()); });
  Count("add partitions",
        [&] { return base::Run(topics.AddPartitions({.topic = "single", .total = 2})); });
  const korvet::ConfigEntry entries[] = {{"retention.ms", "1000"}};
  Count("change the options of a topic",
        [&] { return base::Run(topics.AlterConfig({.topic = "single", .config = entries})); });
  Count("repair a topic", [&] { return base::Run(topics.Repair("single")); });
  Count("delete a topic", [&] { return base::Run(topics.Delete("single")); });
}

void KorvetRoundTrips::CountLogs() {
  Begin();
  korvet::Producer producer = OpenProducer();
  Count("append a batch to a partition", [&] { return base::Run(producer.Append(0, records_)); });
  korvet::Producer once(store_, clock_, keys_, topic_, {.hardening = {.write_batches_once = true}});
  Count("append a batch with an id, `write_batches_once`",
        [&] { return base::Run(once.Append(0, records_, "b1")); });
  Count("send records to three partitions", [&] { return base::Run(producer.Send(records_)); });
  korvet::Log log = base::Run(broker_->OpenLog("orders")).value();
  const korvet::FetchPosition positions[] = {{.partition = 0, .offset = 0},
                                             {.partition = 1, .offset = 0}};
  Count("fetch two partitions", [&] { return base::Run(log.Fetch({.positions = positions})); });
  Count("read the bounds of a partition", [&] { return base::Run(log.Bounds(0)); });
  for (const int64_t timestamp :
       {korvet::kLatestTimestamp, korvet::kEarliestTimestamp, korvet::kMaxTimestamp, int64_t{1}}) {
    Count("find the offset of a time", [&] { return base::Run(log.ListOffset(0, timestamp)); });
  }
  Count("measure the size of the records", [&] { return base::Run(log.MeasureMessageBytes()); });
  Count("trim the log of a topic", [&] { return base::Run(log.Sweep()); });
  Count("sweep all topics, of which there is one",
        [&] { return base::Run(broker_->retention_loop().RunOnce()); });
}

void KorvetRoundTrips::CountConsumers() {
  Begin();
  korvet::Producer producer = OpenProducer();
  Prepare(producer.Send(records_));
  const auto consumer = broker_->MakeConsumer("g");
  Count("subscribe to a topic", [&] { return base::Run(consumer->Subscribe({"orders"})); });
  Count("first poll of a new group", [&] { return base::Run(consumer->Poll()); });
  Count("commit what was polled", [&] { return base::Run(consumer->Commit()); });
  Prepare(producer.Send(records_));
  Count("poll three partitions", [&] { return base::Run(consumer->Poll()); });
  Count("commit what was polled", [&] { return base::Run(consumer->Commit()); });
  Prepare(producer.Send(records_));
  clock_.Advance(absl::Seconds(3));
  Count("poll with a heartbeat", [&] { return base::Run(consumer->Poll()); });
  Count("close a consumer", [&] { return base::Run(consumer->Close()); });

  const auto reader = broker_->MakeConsumer("h");
  std::vector<korvet::AssignedPartition> partitions;
  for (int32_t i = 0; i < kPartitions; ++i) partitions.push_back({"orders", i});
  Count("assign three partitions of a topic",
        [&] { return base::Run(reader->Assign(partitions)); });
  Prepare(reader->Poll());
  Count("commit three assigned partitions", [&] { return base::Run(reader->Commit()); });
}

void KorvetRoundTrips::CountGroups() {
  Begin();
  korvet::Producer producer = OpenProducer();
  Prepare(producer.Send(records_));
  korvet::ConsumerGroup group(store_, keys_, topic_, "g");
  const int32_t partitions[] = {0, 1, 2};
  const korvet::PollRequest request = {.member = "m", .partitions = partitions};
  Count("create a group on three partitions",
        [&] { return base::Run(group.Create(partitions, {})); });
  Count("read three partitions in a group", [&] { return base::Run(group.Poll(request)); });
  korvet::TopicPoll polls[] = {{.group = &group, .partitions = {0, 1, 2}}};
  Count("read three partitions in a group",
        [&] { return base::Run(korvet::ConsumerGroup::PollTopics(polls, request)); });
  Count("read the backlog of a member",
        [&] { return base::Run(group.Backlog({.member = "m", .partition = 0})); });
  Count("read the progress of a group", [&] { return base::Run(group.Committed(0)); });
  Count("read the progress of a group", [&] { return base::Run(group.Progress(0)); });
  Count("read the progress of a group", [&] { return base::Run(group.Lag(0)); });
  const int64_t first =
      base::Run(group.Backlog({.member = "m", .partition = 0})).value().records.front().offset;
  Count("claim the records of a member", [&] {
    return base::Run(
        group.Claim({.member = "n", .partition = 0, .min_idle = absl::ZeroDuration()}));
  });
  Count("commit an offset of a group",
        [&] { return base::Run(group.Commit({.partition = 0, .offset = first + 1})); });
  const int64_t offsets[] = {first};
  const store::StreamId ids[] = {{.ms = 1, .seq = 1}};
  Count("acknowledge records of a group", [&] { return base::Run(group.Acknowledge(0, offsets)); });
  Count("acknowledge records of a group", [&] { return base::Run(group.AcknowledgeIds(0, ids)); });
  Count("move a group to the end",
        [&] { return base::Run(group.Seek(0, {.kind = korvet::GroupPosition::Kind::kLatest})); });
  Count("move a group to an offset", [&] {
    return base::Run(
        group.Seek(0, {.kind = korvet::GroupPosition::Kind::kOffset, .offset = first}));
  });
  Count("remove a member from a partition", [&] { return base::Run(group.RemoveMember(0, "n")); });
  Count("read the topic of a group again", [&] { return base::Run(group.Refresh()); });
}

void KorvetRoundTrips::CountMembers() {
  Begin();
  korvet::Coordinator& coordinator = broker_->coordinator();
  korvet::MemberHeartbeat beat = {
      .group = "g", .member = "m", .subscriptions = {{"orders", kPartitions}}};
  const std::string call = "join, keep or leave a group";
  Count(call, [&] { return base::Run(coordinator.Join(beat)); });
  beat.call = 2;
  for (int32_t i = 0; i < kPartitions; ++i) beat.owned.push_back({"orders", i});
  Count(call, [&] { return base::Run(coordinator.Heartbeat(beat)); });
  korvet::ConsumerGroup group(store_, keys_, topic_, "g");
  const int32_t partitions[] = {0, 1, 2};
  Prepare(group.Create(partitions, {}));
  std::vector<korvet::OwnedCommit> commits;
  for (int32_t i = 0; i < kPartitions; ++i) {
    commits.push_back({.partition = {"orders", i}, .ids = {{.ms = 1, .seq = 1}}});
  }
  Count("commit three partitions of a member",
        [&] { return base::Run(coordinator.Commit("g", "m", commits)); });
  Count("describe a membership", [&] { return base::Run(coordinator.Describe("g")); });
  beat.call = 3;
  Count(call, [&] { return base::Run(coordinator.Leave(beat)); });
  Count("delete an empty membership", [&] { return base::Run(coordinator.Delete("g")); });
}

void KorvetRoundTrips::CountAdministration() {
  Begin();
  korvet::Producer producer = OpenProducer();
  Prepare(producer.Send(records_));
  const auto consumer = broker_->MakeConsumer("g");
  Prepare(consumer->Subscribe({"orders"}));
  Prepare(consumer->Poll());
  Prepare(consumer->Commit());
  Prepare(consumer->Close());
  korvet::GroupAdmin& groups = broker_->groups();
  Count("list the groups", [&] { return base::Run(groups.List()); });
  Count("describe a group of three partitions", [&] { return base::Run(groups.Describe("g")); });
  Count("offsets of a group of three partitions", [&] { return base::Run(groups.Offsets("g")); });
  Count("delete a group of three partitions", [&] { return base::Run(groups.Delete("g")); });
}

TEST_F(KorvetRoundTrips, AreThoseOfThePage) {
  Measure("korvet", [this] {
    CountTopics();
    CountLogs();
    CountConsumers();
    CountGroups();
    CountMembers();
    CountAdministration();
  });
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
