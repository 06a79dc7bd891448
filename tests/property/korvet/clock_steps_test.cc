// The clock of a running Redis steps forward and backward, under random programs of producers,
// members that crash and restart, retention and deletes. Ids and offsets keep increasing, and the
// guarantees of topic_history.h hold.
//
// On a real redis-server the clock of its process is set. The engine's clock only advances; it
// steps back by moving the data to an engine that starts at the earlier time.
//
// Set KORVET_PROGRAMS=10000 to run more programs.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/sim/storm/korvet/topic_history.h"
#include "redouble/tests/property/korvet/ask.h"

namespace redouble::inline v0_1::korvet {
namespace {

using sim::TopicGuarantee;
using sim::TopicHistory;

using base::IsOk;

constexpr int32_t kPartitions = 3;
constexpr size_t kMembers = 3;
constexpr const char* kGroup = "my-group";

// A server whose clock can be set to any time.
class MemoryServer {
 public:
  static constexpr std::string_view kName = "Memory";
  static constexpr int kPrograms = 400;

  bool Start(absl::Time start) {
    host_ = std::make_unique<Host>(start);
    return true;
  }
  store::Store& store() { return *host_->session; }
  absl::Time Now() const { return host_->clock.Now(); }
  void SetTime(absl::Time time) {
    if (time >= Now()) return host_->clock.AdvanceTo(time);
    auto earlier = std::make_unique<Host>(time);
    for (const store::Reply& key : Ask(store(), {"KEYS", "*"}).elements()) {
      const store::Reply dump = Ask(store(), {"DUMP", key.text()});
      Ask(*earlier->session, {"RESTORE", key.text(), "0", dump.text()});
    }
    host_ = std::move(earlier);
  }

 private:
  struct Host {
    explicit Host(absl::Time start) : clock(start) {}

    base::VirtualClock clock;
    memory::Engine engine{clock};
    std::unique_ptr<memory::Session> session = engine.Connect();
  };

  std::unique_ptr<Host> host_;
};

class LiveServer {
 public:
  static constexpr std::string_view kName = "Live";
  static constexpr int kPrograms = 20;

  bool Start(absl::Time start) {
    redis::SpawnedServerOptions options;
    options.held_time = start;
    auto server = redis::SpawnedServer::Start(options);
    if (!server.ok()) return false;
    server_ = *std::move(server);
    client_ = redis::SyncClient::Connect(server_->uri()).value();
    return true;
  }
  store::Store& store() { return *client_; }
  absl::Time Now() const { return *server_->held_time(); }
  void SetTime(absl::Time time) { ASSERT_THAT(server_->SetTime(time), IsOk()); }

 private:
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<redis::SyncClient> client_;
};

// Forwards to the store of the current server.
template <typename Server>
class CurrentStore final : public store::Store {
 public:
  explicit CurrentStore(Server& server) : server_(server) {}
  void Submit(store::Request& request) override { server_.store().Submit(request); }

 private:
  Server& server_;
};

// A program: a sequence of random steps.
template <typename Server>
class SteppedTopic {
 public:
  SteppedTopic(Server& server, uint64_t seed) : server_(server), rng_(seed) {
    Ask(store_, {"FLUSHALL"});
    clock_.AdvanceTo(server_.Now());
    if (rng_.Chance(0.4)) config_ = {{"retentionTime", "20000"}, {"retentionBytes", "20480"}};
    MakeTopic();
  }

  void Run(int steps) {
    for (int i = 0; i < steps && history_->violation().empty(); ++i) {
      TakeStep();
      CheckCommitted();
    }
    Finish();
  }
  const TopicHistory& history() const { return *history_; }
  int steps_back() const { return steps_back_; }

 private:
  // Adds a member, as of a new process.
  void Start(std::optional<Consumer>& member, std::string client_id) {
    ConsumerOptions options;
    options.client_id = std::move(client_id);
    options.max_records = 3;
    options.session_timeout = absl::Seconds(10);
    options.heartbeat_interval = absl::ZeroDuration();
    options.claim_idle = absl::Seconds(12);
    member.emplace(store_, clock_, rng_, keys_, kGroup, options);
    const absl::Status subscribed = base::Run(member->Subscribe({"orders"}));
    if (!subscribed.ok())
      history_->Violate(TopicGuarantee::kSucceeds, std::string(subscribed.message()));
  }

  void MakeTopic() {
    Topics topics(store_, rng_, keys_);
    NewTopic request;
    request.name = "orders";
    request.partitions = kPartitions;
    request.config = config_;
    topic_ = base::Run(topics.Create(request)).value();
    for (std::optional<Consumer>& member : members_) member.reset();
    for (std::optional<Producer>& producer : producers_) {
      producer.emplace(store_, clock_, keys_, topic_);
    }
    history_.emplace();
  }

  void TakeStep() {
    switch (rng_.Below(12)) {
      case 0:
      case 1:
        return StepClock();
      case 2:
        return KillOrBringBack(rng_.Below(kMembers));
      case 3:
        return Sweep();
      case 4:
        clock_.Advance(absl::Milliseconds(rng_.Below(9000)));
        return;
      case 5:
        if (rng_.Chance(0.1)) Recreate();
        return;
      case 6:
      case 7:
      case 8:
        return Poll(rng_.Below(kMembers));
      default:
        return Produce();
    }
  }

  void StepClock() {
    constexpr std::array kSteps = {absl::Hours(-1),       absl::Seconds(-3), absl::Milliseconds(-1),
                                   absl::Milliseconds(1), absl::Seconds(3),  absl::Hours(1)};
    const absl::Duration step = kSteps[rng_.Below(kSteps.size())];
    if (step < absl::ZeroDuration()) ++steps_back_;
    server_.SetTime(server_.Now() + step);
  }

  void Produce() {
    std::vector<NewRecord> records(1 + rng_.Below(4));
    for (NewRecord& record : records) record.value = "v";
    const auto partition = static_cast<int32_t>(rng_.Below(kPartitions));
    const int64_t floor = history_->LastAcknowledged(partition);
    const auto appended = base::Run(producers_[rng_.Below(2)]->Append(partition, records));
    if (!appended.ok())
      return history_->Violate(TopicGuarantee::kSucceeds, std::string(appended.status().message()));
    history_->Acknowledge(partition, floor, appended->offsets);
  }

  void KillOrBringBack(size_t index) {
    if (members_[index]) return members_[index].reset();
    Start(members_[index], absl::StrCat("c", index));
  }

  void Poll(size_t index) {
    if (!members_[index]) return KillOrBringBack(index);
    Consumer& consumer = *members_[index];
    const auto records = base::Run(consumer.Poll());
    if (!records.ok())
      return history_->Violate(TopicGuarantee::kSucceeds, std::string(records.status().message()));
    history_->Deliver(consumer.member_id(), *records);
    // A member that lost its partitions meanwhile may fail to commit.
    if (rng_.Chance(0.6)) base::Run(consumer.Commit()).IgnoreError();
  }

  void Sweep() {
    Log log(store_, clock_, keys_, topic_);
    const auto removed = base::Run(log.Sweep());
    if (!removed.ok())
      history_->Violate(TopicGuarantee::kSucceeds, std::string(removed.status().message()));
  }

  // Clients with the old topic must not write to the new one or read from it.
  void Recreate() {
    Producer late(store_, clock_, keys_, topic_);
    Topics topics(store_, rng_, keys_);
    if (!base::Run(topics.Delete("orders")).ok())
      history_->Violate(TopicGuarantee::kSucceeds, "the topic was not deleted");
    if (!history_->violation().empty()) return;
    MakeTopic();
    NewRecord record;
    record.value = "late";
    const auto written = base::Run(late.Append(0, std::span(&record, 1)));
    if (ErrorCodeOf(written.status()) != ErrorCode::kInconsistentTopicId) {
      history_->Violate(TopicGuarantee::kSucceeds,
                        "a record of the old topic went into the new one");
    }
  }

  // All members crash, and a new member reads everything that is left.
  void Finish() {
    for (std::optional<Consumer>& member : members_) member.reset();
    clock_.Advance(absl::Minutes(1));
    server_.SetTime(server_.Now() + absl::Minutes(1));
    std::optional<Consumer> last;
    Start(last, "last");
    // Longer than a session: the deadlines of the dead follow a clock that was set back.
    for (int empty = 0; empty < 5 && history_->violation().empty();) {
      const auto records = base::Run(last->Poll());
      if (!records.ok())
        return history_->Violate(TopicGuarantee::kSucceeds,
                                 std::string(records.status().message()));
      history_->Deliver(last->member_id(), *records);
      const absl::Status committed = base::Run(last->Commit());
      if (!committed.ok())
        history_->Violate(TopicGuarantee::kSucceeds, std::string(committed.message()));
      empty = records->empty() ? empty + 1 : 0;
      clock_.Advance(absl::Seconds(4));
      server_.SetTime(server_.Now() + absl::Seconds(4));
    }
    CheckCommitted();
    history_->CheckLogs(store_, clock_, keys_, topic_);
  }

  void CheckCommitted() { history_->CheckCommitted(store_, keys_, topic_, kGroup); }

  Server& server_;
  CurrentStore<Server> store_{server_};
  base::Rng rng_;
  base::VirtualClock clock_;  // The clients' clock, which is independent of the server's.
  const Keys keys_ = Keys::Create().value();
  std::vector<ConfigEntry> config_;
  Topic topic_;
  std::array<std::optional<Producer>, 2> producers_;
  std::array<std::optional<Consumer>, kMembers> members_;
  std::optional<TopicHistory> history_;
  int steps_back_ = 0;
};

template <typename Server>
class ClockSteps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!server_.Start(tests::DefaultStart())) GTEST_SKIP() << "there is no redis-server";
  }
  Server server_;
};
using Servers = ::testing::Types<MemoryServer, LiveServer>;
TYPED_TEST_SUITE(ClockSteps, Servers, tests::BackendNames);

TYPED_TEST(ClockSteps, OfRedisBreakNoGuarantee) {
  const char* const asked = std::getenv("KORVET_PROGRAMS");
  const int programs = asked == nullptr ? TypeParam::kPrograms : std::atoi(asked);
  int64_t claims = 0;
  int64_t steps_back = 0;
  for (int seed = 1; seed <= programs; ++seed) {
    SteppedTopic<TypeParam> topic(this->server_, static_cast<uint64_t>(seed));
    topic.Run(/*steps=*/80);
    ASSERT_EQ(topic.history().violation(), "") << "seed " << seed;
    claims += topic.history().claims();
    steps_back += topic.steps_back();
  }
  EXPECT_GT(claims, programs);
  EXPECT_GT(steps_back, 3 * programs);
}

// The ids of XADD stay in the last millisecond and run out of sequence numbers; the producer's ids
// do not.
TYPED_TEST(ClockSteps, BackLetTheProducersIdsCarryOverToTheNextMillisecond) {
  base::Rng rng(1);
  base::VirtualClock clock;
  const Keys keys = Keys::Create().value();
  Topics topics(this->server_.store(), rng, keys);
  const Topic topic = base::Run(topics.Create({.name = "orders"})).value();
  const std::vector<NewRecord> records(700, NewRecord{.value = "v"});
  const absl::Time before = this->server_.Now();
  TopicHistory history;
  for (int i = 0; i < 3; ++i) {
    CurrentStore<TypeParam> store(this->server_);
    Producer producer(store, clock, keys, topic);
    const auto appended = base::Run(producer.Append(0, records)).value();
    history.Acknowledge(0, history.LastAcknowledged(0), appended.offsets);
    this->server_.SetTime(before - absl::Hours(i + 1));
  }
  EXPECT_EQ(history.violation(), "");
  const store::Reply own =
      Ask(this->server_.store(), {"XADD", "korvet:stream:orders:0", "*", "value", "x"});
  // Of 2,100 records, the first 1,024 are in the millisecond before the steps, the others in the
  // following ones.
  EXPECT_EQ(own.text(), absl::StrCat(absl::ToUnixMillis(before) + 2, "-52"));
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
