// Korvet in a cluster (docs/systems/korvet.md H11): the keys of a topic hash to different slots,
// while creating and deleting are transactions, and an append is a script over two keys. A keyspace
// with a hash tag keeps the keys in one slot.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/backends/testing/backends.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/tests/property/korvet/ask.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;

const absl::Time kStart = absl::FromUnixSeconds(1'778'335'382);

// A node that serves all slots.
class MemoryNode {
 public:
  static constexpr std::string_view kName = "Memory";

  bool Start() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    engine_ = std::make_unique<memory::Engine>(clock_, options);
    session_ = engine_->Connect();
    return true;
  }
  store::Store& store() { return *session_; }

 private:
  base::VirtualClock clock_{kStart};
  std::unique_ptr<memory::Engine> engine_;
  std::unique_ptr<memory::Session> session_;
};

class LiveNode {
 public:
  static constexpr std::string_view kName = "Live";

  bool Start() {
    redis::SpawnedServerOptions options;
    options.held_time = kStart;
    options.listen_on_loopback = true;
    options.config = {"cluster-enabled yes"};
    auto server = redis::SpawnedServer::Start(options);
    if (!server.ok()) return false;
    server_ = *std::move(server);
    client_ = redis::SyncClient::Connect(server_->uri()).value();
    Ask(store(), {"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    // A master starts to serve some time after its start, by its own clock.
    while (Ask(store(), {"CLUSTER", "INFO"}).text().find("cluster_state:ok") == std::string::npos) {
      if (!server_->AdvanceTime(absl::Seconds(1)).ok() || !server_->Settle().ok()) return false;
    }
    return true;
  }
  store::Store& store() { return *client_; }

 private:
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<redis::SyncClient> client_;
};

template <typename Node>
class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!node_.Start()) GTEST_SKIP() << "no redis-server of a cluster can be had here";
  }
  store::Store& store() { return node_.store(); }

  base::Rng rng_{1};
  base::VirtualClock clock_{kStart};

 private:
  Node node_;
};
using Nodes = ::testing::Types<MemoryNode, LiveNode>;
TYPED_TEST_SUITE(ClusterTest, Nodes, tests::BackendNames);

TYPED_TEST(ClusterTest, LeavesATopicHalfMadeWhoseKeysAreApart) {
  Topics topics(this->store(), this->rng_, Keys::Create().value());
  const auto made = base::Run(topics.Create({.name = "orders"}));
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("CROSSSLOT"), std::string::npos) << made.status();
  // The guard is a command on one key and succeeded: the name is taken, but there is no topic.
  EXPECT_EQ(Ask(this->store(), {"HLEN", "korvet:topic:orders"}), store::Reply::Integer(1));
  EXPECT_EQ(ErrorCodeOf(base::Run(topics.Create({.name = "orders"})).status()),
            ErrorCode::kTopicAlreadyExists);
  EXPECT_EQ(ErrorCodeOf(base::Run(topics.Describe("orders")).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(ClusterTest, WritesAndDeletesNothingOfATopicWhoseKeysAreApart) {
  // As created before the keys were in different slots.
  Ask(this->store(), {"HSET", "korvet:topic:orders", "id", "AY-NMYanfEiPNk0fpNmRAQ", "name",
                      "orders", "partitions", "2"});
  const Keys keys = Keys::Create().value();
  Topics topics(this->store(), this->rng_, keys);
  const Topic topic = base::Run(topics.Describe("orders")).value();
  Producer producer(this->store(), this->clock_, keys, topic);
  NewRecord record;
  record.value = "v";
  const auto written = base::Run(producer.Append(0, std::span(&record, 1)));
  EXPECT_NE(written.status().message().find("CROSSSLOT"), std::string::npos) << written.status();
  const absl::Status deleted = base::Run(topics.Delete("orders"));
  EXPECT_EQ(deleted.message(), "EXECABORT Transaction discarded because of previous errors.")
      << "its first DEL, of both streams, was refused";
  EXPECT_EQ(Ask(this->store(), {"HLEN", "korvet:topic:orders"}), store::Reply::Integer(3));
  EXPECT_EQ(Ask(this->store(), {"EXISTS", "korvet:stream:orders:0"}), store::Reply::Integer(0));
}

TYPED_TEST(ClusterTest, ServesATopicWhoseKeyspaceIsAHashTag) {
  const Keys keys = Keys::Create("{korvet}").value();
  Topics topics(this->store(), this->rng_, keys);
  const Topic topic = base::Run(topics.Create({.name = "orders", .partitions = 2})).value();
  Producer producer(this->store(), this->clock_, keys, topic);
  std::vector<NewRecord> records(3);
  for (size_t i = 0; i < records.size(); ++i) records[i].partition = static_cast<int32_t>(i % 2);
  const auto sent = base::Run(producer.Send(records)).value();
  for (const auto& metadata : sent) EXPECT_THAT(metadata, IsOk());

  const std::vector<FetchPosition> positions = {{0, 0}, {1, 0}};
  FetchRequest request;
  request.positions = positions;
  Log log(this->store(), this->clock_, keys, topic);
  const auto fetched = base::Run(log.Fetch(request)).value();
  EXPECT_EQ(fetched[0].records.size(), 2u);
  EXPECT_EQ(fetched[1].records.size(), 1u);

  ConsumerGroup group(this->store(), keys, topic, "my-group");
  const std::vector<int32_t> partitions = {0, 1};
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = partitions;
  const auto polled = base::Run(group.Poll(poll)).value();
  EXPECT_EQ(polled.size(), 3u);
  for (const LogRecord& record : polled) {
    EXPECT_EQ(base::Run(group.Acknowledge(record.partition, std::span(&record.offset, 1))).value(),
              1);
  }
  EXPECT_EQ(base::Run(group.Lag(0)).value().pending, 0);
  EXPECT_THAT(base::Run(topics.Delete("orders")), IsOk());
  EXPECT_EQ(Ask(this->store(), {"DBSIZE"}), store::Reply::Integer(0));
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
