// A group of eight consumers shares the sixteen partitions of a topic while all processes are
// killed, twice, and Redis restarts with another clock each time: members crash, requests and
// replies are lost, delayed and duplicated, and retention trims logs. The guarantees of
// topic_history.h always hold. A world has one life; the storm of Korvet (sim/storm/korvet) has the
// schedules within one.
//
// Set KORVET_SCHEDULES=10000 for the full run.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/storm/korvet/topic_history.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/korvet/ask.h"

namespace redouble::inline v0_1::korvet {
namespace {

using sim::TopicGuarantee;
using sim::TopicHistory;

constexpr int32_t kPartitions = 16;
constexpr int kConsumers = 8;
constexpr int kProducers = 3;
constexpr const char* kGroup = "my-group";

// The faults of a run: those of requests, and crashes of consumers.
std::vector<sim::FaultRule> AllFaults() {
  using sim::Fault;
  std::vector<sim::FaultRule> rules;
  const auto add = [&](Fault fault, double probability) -> sim::FaultRule& {
    sim::FaultRule& rule = rules.emplace_back();
    rule.fault = fault;
    rule.probability = probability;
    return rule;
  };
  for (int i = 0; i < kConsumers; ++i) {
    sim::FaultRule& crash = add(Fault::kCrash, 0.05);
    crash.actor = absl::StrCat("consumer-", i);
    crash.duration = absl::Seconds(3);
    crash.limit = 2;
  }
  for (const char* producer : {"producer-0", "producer-1"}) {
    sim::FaultRule& step = add(Fault::kStepClock, 0.1);
    step.actor = producer;
    step.duration = producer[9] == '0' ? absl::Hours(-1) : absl::Hours(1);
  }
  add(Fault::kDuplicate, 0.05);
  add(Fault::kDisconnect, 0.05);
  add(Fault::kDropRequest, 0.05);
  add(Fault::kDropReply, 0.05);
  add(Fault::kDelay, 0.05).duration = absl::Milliseconds(700);
  add(Fault::kErrorReply, 0.05).error = "OOM command not allowed when used memory > 'maxmemory'.";
  return rules;
}

// A world and the state that its actors share.
class SharedTopic {
 public:
  // Starts with a new topic.
  SharedTopic(uint64_t seed, const std::vector<ConfigEntry>& config, TopicHistory& history)
      : SharedTopic({.seed = seed, .faults = DrawFaults(seed), .traced = false}, history) {
    base::Rng rng(seed);
    Topics topics(*session_, rng, keys_);
    NewTopic request;
    request.name = "orders";
    request.partitions = kPartitions;
    request.config = config;
    topic_ = base::Run(topics.Create(request)).value();
  }
  // Continues with the same topic after all processes were killed, including Redis, which kept its
  // data and whose clock has stepped.
  SharedTopic(SharedTopic& before, uint64_t seed, absl::Duration step)
      : SharedTopic({.seed = seed,
                     .start = before.world_.clock().Now() + step,
                     .faults = DrawFaults(seed),
                     .traced = false},
                    before.history_) {
    topic_ = before.topic_;
    for (const store::Reply& key : Ask(*before.session_, {"KEYS", "*"}).elements()) {
      const store::Reply dump = Ask(*before.session_, {"DUMP", key.text()});
      Ask(*session_, {"RESTORE", key.text(), "0", dump.text()});
    }
  }

  // Spawns the producers. Each writes `batches` batches and records what was acknowledged.
  void Produce(int batches) {
    for (int i = 0; i < kProducers; ++i) {
      world_.Spawn(absl::StrCat("producer-", i),
                   [this, batches](sim::Actor& actor) { return ProduceBatches(actor, batches); });
    }
  }
  void Consume(int rounds) {
    for (int i = 0; i < kConsumers; ++i) {
      world_.Spawn(absl::StrCat("consumer-", i),
                   [this, rounds](sim::Actor& actor) { return ConsumeRounds(actor, rounds); });
    }
  }

  void Run() {
    const sim::RunReport report = world_.Run({.max_steps = 200'000});
    if (report.end != sim::RunEnd::kDone)
      history_.Violate(TopicGuarantee::kNoneLost, "the run did not come to its end");
    CheckCommitted();
  }
  // Stops all actors after that time.
  void RunFor(absl::Duration time) {
    world_.Run({.max_steps = 200'000, .until = world_.clock().Now() + time});
    CheckCommitted();
  }
  // Advances the clocks of Redis and of all clients.
  void StepForward(absl::Duration step) { world_.clock().Advance(step); }

  // Injects no further faults, and lets one member read everything that is left.
  void ReadToTheEnd() {
    world_.Heal();
    world_.clock().Advance(absl::Seconds(20));
    world_.Spawn("last", [this](sim::Actor& actor) { return Drain(actor); });
    const sim::RunReport report = world_.Run({.max_steps = 200'000});
    if (report.end != sim::RunEnd::kDone)
      history_.Violate(TopicGuarantee::kNoneLost, "the last reader did not end");
    CheckCommitted();
    history_.CheckLogs(*session_, world_.clock(), keys_, topic_);
  }

 private:
  SharedTopic(sim::WorldOptions options, TopicHistory& history)
      : world_(std::move(options)), session_(world_.Connect()), history_(history) {}

  static std::vector<sim::FaultRule> DrawFaults(uint64_t seed) {
    base::Rng rng(seed);
    return sim::DrawSwarm(AllFaults(), rng);
  }

  base::Task<void> ProduceBatches(sim::Actor& actor, int batches) {
    ProducerOptions options;
    options.max_records_per_write =
        actor.rng().Chance(0.5) ? std::optional<size_t>(2) : std::nullopt;
    Producer producer(actor.store(), actor.clock(), keys_, topic_, options);
    for (int i = 0; i < batches; ++i) {
      std::vector<NewRecord> records(1 + actor.rng().Below(3));
      for (NewRecord& record : records) record.value = "v";
      const auto partition = static_cast<int32_t>(actor.rng().Below(kPartitions));
      const int64_t floor = history_.LastAcknowledged(partition);
      const absl::StatusOr<Appended> appended = co_await producer.Append(partition, records);
      if (appended.ok()) history_.Acknowledge(partition, floor, appended->offsets);
      co_await actor.clock().Sleep(absl::Milliseconds(actor.rng().Below(40)));
    }
  }

  static ConsumerOptions Options(const std::string& client_id) {
    ConsumerOptions options;
    options.client_id = client_id;
    options.session_timeout = absl::Seconds(10);
    options.heartbeat_interval = absl::Seconds(1);
    return options;
  }

  base::Task<void> ConsumeRounds(sim::Actor& actor, int rounds) {
    ConsumerOptions options = Options(actor.name());
    options.max_records = 3;
    options.claim_idle = absl::Seconds(12);
    options.group.hardening.guard_topic = true;
    // A local: a crash destroys it with the coroutine, without informing the group.
    Consumer consumer(actor.store(), world_.clock(), actor.rng(), keys_, kGroup, options);
    const std::vector<std::string> topics = {topic_.name};
    for (int i = 0; i < rounds; ++i) {
      const absl::Status subscribed = co_await consumer.Subscribe(topics);
      if (subscribed.ok()) break;
    }
    for (int i = 0; i < rounds; ++i) {
      const auto records = co_await consumer.Poll();
      if (records.ok()) history_.Deliver(consumer.member_id(), *records);
      CheckOwners();
      if (actor.rng().Chance(0.7)) {
        const absl::Status committed = co_await consumer.Commit();
        committed.IgnoreError();
      }
      co_await actor.clock().Sleep(absl::Milliseconds(1 + actor.rng().Below(400)));
    }
    if (actor.rng().Chance(0.5)) {
      const absl::Status closed = co_await consumer.Close();
      closed.IgnoreError();
    }
  }

  base::Task<void> Drain(sim::Actor& actor) {
    Consumer consumer(actor.store(), world_.clock(), actor.rng(), keys_, kGroup, Options("last"));
    const std::vector<std::string> topics = {topic_.name};
    const absl::Status subscribed = co_await consumer.Subscribe(topics);
    if (!subscribed.ok())
      history_.Violate(TopicGuarantee::kSucceeds, std::string(subscribed.message()));
    for (int empty = 0; empty < 3;) {
      const auto records = co_await consumer.Poll();
      if (!records.ok())
        history_.Violate(TopicGuarantee::kSucceeds, std::string(records.status().message()));
      if (!records.ok()) co_return;
      history_.Deliver(consumer.member_id(), *records);
      empty = records->empty() ? empty + 1 : 0;
      const absl::Status committed = co_await consumer.Commit();
      if (!committed.ok())
        history_.Violate(TopicGuarantee::kSucceeds, std::string(committed.message()));
      co_await actor.clock().Sleep(absl::Seconds(5));
    }
    if (consumer.partitions().size() != kPartitions) {
      history_.Violate(TopicGuarantee::kNoneLost, "the last member does not have all partitions");
    }
  }

  // No partition has two owners, whatever the members believe.
  void CheckOwners() {
    Coordinator coordinator(*session_, keys_);
    const auto group = base::Run(coordinator.Describe(kGroup));
    if (!group.ok()) return;  // No member has joined yet.
    std::set<AssignedPartition> owned;
    for (const auto& [member, partitions] : group->assignment) {
      for (const AssignedPartition& one : partitions) {
        if (!owned.insert(one).second)
          history_.Violate(TopicGuarantee::kNoneTwice, "a partition has two owners");
      }
    }
  }

  void CheckCommitted() { history_.CheckCommitted(*session_, keys_, topic_, kGroup); }

  sim::World world_;
  std::unique_ptr<memory::Session> session_;
  const Keys keys_ = Keys::Create().value();
  Topic topic_;
  TopicHistory& history_;
};

int Schedules(int otherwise) {
  const char* const schedules = std::getenv("KORVET_SCHEDULES");
  return schedules == nullptr ? otherwise : std::atoi(schedules);
}

struct Totals {
  int64_t acknowledged = 0;
  int64_t claims = 0;

  void Add(const TopicHistory& history) {
    acknowledged += static_cast<int64_t>(history.acknowledged().size());
    claims += history.claims();
  }
};

const std::vector<ConfigEntry> kShortRetention = {{"retentionBytes", "2048"},
                                                  {"retentionTime", "500"}};

// All processes are killed during the run, twice, and Redis restarts with another clock each time;
// or all clocks jump an hour ahead.
TEST(SharedTopic, KeepsItsGuaranteesWhenTheClockOfRedisSteps) {
  const std::array<absl::Duration, 6> steps = {absl::Hours(-1),        absl::Seconds(-5),
                                               absl::Milliseconds(-1), absl::ZeroDuration(),
                                               absl::Seconds(5),       absl::Hours(1)};
  const int schedules = Schedules(200);
  Totals totals;
  for (int seed = 300'000; seed < 300'000 + schedules; ++seed) {
    base::Rng rng(seed);
    TopicHistory history;
    const bool cuts = rng.Chance(0.3);
    auto shared = std::make_unique<SharedTopic>(
        seed, cuts ? kShortRetention : std::vector<ConfigEntry>(), history);
    for (int life = 1; life <= 3; ++life) {
      shared->Produce(3);
      shared->Consume(3);
      shared->RunFor(absl::Milliseconds(rng.Below(3000)));
      if (rng.Chance(0.3)) shared->StepForward(absl::Hours(1));
      if (life == 3) break;
      shared = std::make_unique<SharedTopic>(*shared, seed * 3 + life, steps[rng.Below(6)]);
    }
    shared->Run();
    shared->ReadToTheEnd();
    ASSERT_EQ(history.violation(), "") << "seed " << seed;
    totals.Add(history);
  }
  EXPECT_GT(totals.claims, schedules);
  EXPECT_GT(totals.acknowledged, schedules);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
