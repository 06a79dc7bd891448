// A group of eight consumers shares the sixteen partitions of a topic, under 10,000 schedules:
// producers write, members die and come back, Redis drops requests and answers, delays and repeats
// them, clocks step, retention cuts logs, the topic is deleted. Whatever happens:
//
// * offsets of a partition rise strictly, and no two records have the same;
// * no record is given to two members unless it was claimed in between;
// * the committed position never passes a pending record;
// * every record that was acknowledged to its producer is given to somebody, once the faults have
//   healed (unless retention took it): at least once;
// * nothing of a deleted topic comes back.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/base/run.h"
#include "core/korvet/consumer.h"
#include "core/korvet/consumer_group.h"
#include "core/korvet/coordinator.h"
#include "core/korvet/error_code.h"
#include "core/korvet/keys.h"
#include "core/korvet/log.h"
#include "core/korvet/producer.h"
#include "core/korvet/topics.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/streams.h"
#include "sim/world/world.h"

namespace redouble::korvet {
namespace {

constexpr int32_t kPartitions = 16;
constexpr int kConsumers = 8;
constexpr int kProducers = 3;
constexpr const char* kGroup = "my-group";

// A record by where it stands.
using Place = std::pair<int32_t, int64_t>;

std::string NameOf(const Place& place) { return absl::StrCat(place.first, ":", place.second); }

// What a run has seen.
struct History {
  std::set<Place> acknowledged;
  std::map<Place, std::string> given;  // To whom first.
  std::map<int32_t, int64_t> last_acknowledged;
  int64_t claims = 0;
  int64_t deaths = 0;
  std::string violation;

  void Violate(std::string what) {
    if (violation.empty()) violation = std::move(what);
  }
  void Acknowledge(int32_t partition, int64_t offset) {
    if (!acknowledged.insert({partition, offset}).second) {
      Violate(absl::StrCat("the offset ", offset, " was given twice"));
    }
  }
  void Give(const std::string& member, const ConsumedRecord& record) {
    const Place place = {record.record.partition, record.record.offset};
    const bool first = given.try_emplace(place, member).second;
    claims += record.claimed ? 1 : 0;
    if (!first && !record.claimed) {
      Violate(absl::StrCat(NameOf(place), " was given to ", given[place], " and to ", member,
                           " without a claim"));
    }
  }
};

// One world, with everything that its actors share.
class SharedTopic {
 public:
  SharedTopic(uint64_t seed, std::vector<sim::FaultRule> faults, std::vector<ConfigEntry> config)
      : world_({.seed = seed, .faults = std::move(faults), .traced = false}),
        coordinator_(world_.clock(),
                     {.session_timeout = absl::Seconds(10), .rebalance_timeout = absl::Seconds(6)}),
        session_(world_.Connect()) {
    base::Rng rng(seed);
    Topics topics(*session_, rng, keys_);
    NewTopic request;
    request.name = "orders";
    request.partitions = kPartitions;
    request.config = config;
    topic_ = base::Run(topics.Create(request)).value();
  }

  // Spawns the producers, each of which writes `batches` batches and says what was acknowledged.
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

  // Spawns somebody who deletes the topic in the midst of it.
  void Delete() {
    world_.Spawn("admin", [this](sim::Actor& actor) { return DeleteTopic(actor); });
  }

  void Run() {
    const sim::RunReport report = world_.Run({.max_steps = 200'000});
    if (report.end != sim::RunEnd::kDone) history_.Violate("the run did not come to its end");
    CheckCommitted();
  }
  // From here nothing goes wrong, and one member reads to the end what the others left.
  void ReadToTheEnd() {
    world_.Heal();
    world_.clock().Advance(absl::Seconds(20));
    world_.Spawn("last", [this](sim::Actor& actor) { return Drain(actor); });
    const sim::RunReport report = world_.Run({.max_steps = 200'000});
    if (report.end != sim::RunEnd::kDone) history_.Violate("the last reader did not end");
    CheckCommitted();
    CheckNothingIsLost();
  }

  // Nobody brought anything of a deleted topic back.
  void ExpectNothingLeft() {
    const store::Command count(store::CommandId::kDbSize);
    const auto keys = base::Run(Ask(*session_, count));
    if (!keys.ok() || *keys != store::Reply::Integer(0)) {
      history_.Violate("the deleted topic left keys behind");
    }
  }

  const History& history() const { return history_; }

 private:
  static base::Task<absl::StatusOr<store::Reply>> Ask(store::Store& store,
                                                      const store::Command& command) {
    co_return co_await store.Execute(command);
  }

  base::Task<void> DeleteTopic(sim::Actor& actor) {
    co_await actor.clock().Sleep(absl::Milliseconds(actor.rng().Below(400)));
    Topics topics(actor.store(), actor.rng(), keys_);
    for (;;) {
      const absl::Status deleted = co_await topics.Delete("orders");
      if (deleted.ok()) co_return;
      if (ErrorCodeOf(deleted) == ErrorCode::kUnknownTopicOrPartition) co_return;
    }
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
      const absl::StatusOr<Appended> appended = co_await producer.Append(partition, records);
      if (appended.ok()) CheckAppended(partition, *appended);
      co_await actor.clock().Sleep(absl::Milliseconds(actor.rng().Below(40)));
    }
  }

  void CheckAppended(int32_t partition, const Appended& appended) {
    int64_t before = -1;
    for (const int64_t offset : appended.offsets) {
      if (offset <= before) history_.Violate("offsets of a batch do not rise");
      before = offset;
      history_.Acknowledge(partition, offset);
    }
  }

  base::Task<void> ConsumeRounds(sim::Actor& actor, int rounds) {
    GroupOptions group_options;
    group_options.guard_topic = true;
    ConsumerGroup group(actor.store(), keys_, topic_, kGroup, group_options);
    ConsumerOptions options;
    options.client_id = actor.name();
    options.max_records = 3;
    options.claim_idle = absl::Seconds(12);
    // Owned here: a crash destroys it with the coroutine, and the coordinator is not told.
    Consumer consumer(group, coordinator_, world_.clock(), options);
    if (actor.incarnation() > 0) ++history_.deaths;
    for (int i = 0; i < rounds; ++i) {
      const auto records = co_await consumer.Poll();
      if (records.ok()) Take(consumer, *records);
      if (actor.rng().Chance(0.7)) {
        const absl::Status committed = co_await consumer.Commit();
        committed.IgnoreError();
      }
      co_await actor.clock().Sleep(absl::Milliseconds(1 + actor.rng().Below(400)));
    }
    if (actor.rng().Chance(0.5)) consumer.Close().IgnoreError();
  }

  void Take(const Consumer& consumer, const std::vector<ConsumedRecord>& records) {
    std::map<int32_t, int64_t> last;
    for (const ConsumedRecord& record : records) {
      history_.Give(consumer.member_id(), record);
      const auto [before, first] = last.try_emplace(record.record.partition, record.record.offset);
      if (!first && record.record.offset <= before->second) {
        history_.Violate("offsets of a poll do not rise");
      }
      before->second = record.record.offset;
    }
  }

  base::Task<void> Drain(sim::Actor& actor) {
    ConsumerGroup group(actor.store(), keys_, topic_, kGroup);
    ConsumerOptions options;
    options.client_id = "last";
    Consumer consumer(group, coordinator_, world_.clock(), options);
    for (int empty = 0; empty < 3;) {
      const auto records = co_await consumer.Poll();
      if (!records.ok()) history_.Violate(std::string(records.status().message()));
      if (!records.ok()) co_return;
      Take(consumer, *records);
      empty = records->empty() ? empty + 1 : 0;
      const absl::Status committed = co_await consumer.Commit();
      if (!committed.ok()) history_.Violate(std::string(committed.message()));
      co_await actor.clock().Sleep(absl::Seconds(5));
    }
    if (consumer.partitions().size() != kPartitions) {
      history_.Violate("the last member does not have all partitions");
    }
  }

  // Never past a pending record, nor past what was delivered.
  void CheckCommitted() {
    ConsumerGroup group(*session_, keys_, topic_, kGroup);
    for (int32_t partition = 0; partition < kPartitions; ++partition) {
      const auto committed = base::Run(group.Committed(partition));
      if (!committed.ok()) {
        history_.Violate(std::string(committed.status().message()));
        continue;
      }
      const std::string key = keys_.Stream({topic_.name, partition}).value();
      const auto pending = base::Run(store::XPending(*session_, key, kGroup));
      if (!pending.ok() || !pending->first) continue;
      const int64_t first = topic_.config.offsets.Encode(*pending->first).value();
      if (*committed > first) history_.Violate("the committed position is past a pending record");
    }
  }

  void CheckNothingIsLost() {
    Log log(*session_, world_.clock(), keys_, topic_);
    for (const Place& place : history_.acknowledged) {
      if (history_.given.contains(place)) continue;
      // What retention took was in nobody's hands.
      const LogBounds bounds = base::Run(log.Bounds(place.first)).value();
      if (place.second < bounds.start) continue;
      history_.Violate(absl::StrCat(NameOf(place), " was acknowledged and given to nobody"));
    }
  }

  sim::World world_;
  Coordinator coordinator_;
  std::unique_ptr<memory::Session> session_;
  const Keys keys_ = Keys::Create().value();
  Topic topic_;
  History history_;
};

// Faults of a run: what may happen to any request, and deaths of consumers.
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

// Runs a range of seeds; stops at the first that breaks a rule.
void RunSeeds(uint64_t first, uint64_t count, const std::vector<ConfigEntry>& config,
              History& total) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    base::Rng rng(seed);
    const std::vector<sim::FaultRule> rules = AllFaults();
    SharedTopic shared(seed, sim::DrawSwarm(rules, rng), config);
    shared.Produce(4);
    shared.Consume(6);
    shared.Run();
    shared.ReadToTheEnd();
    const History& history = shared.history();
    ASSERT_EQ(history.violation, "") << "seed " << seed;
    total.claims += history.claims;
    total.deaths += history.deaths;
    total.acknowledged.insert(history.acknowledged.begin(), history.acknowledged.end());
  }
}

TEST(SharedTopic, LosesNothingAndGivesNothingTwiceWithoutAClaimUnderTenThousandSchedules) {
  History total;
  RunSeeds(1, 9'000, {}, total);
  EXPECT_GT(total.claims, 1'000) << "members died with records in hand";
  EXPECT_GT(total.deaths, 1'000);
  EXPECT_GT(total.acknowledged.size(), 1'000u);
}

TEST(SharedTopic, IsNotBroughtBackByThoseWhoHaveNotHeardThatItWasDeleted) {
  for (uint64_t seed = 200'000; seed < 201'000; ++seed) {
    base::Rng rng(seed);
    const std::vector<sim::FaultRule> rules = AllFaults();
    SharedTopic shared(seed, sim::DrawSwarm(rules, rng), {});
    shared.Produce(4);
    shared.Consume(3);
    shared.Delete();
    shared.Run();
    shared.ExpectNothingLeft();
    ASSERT_EQ(shared.history().violation, "") << "seed " << seed;
  }
}

TEST(SharedTopic, KeepsItsPromisesWhileRetentionCutsTheLogs) {
  History total;
  RunSeeds(100'000, 1'000, {{"retentionBytes", "2048"}, {"retentionTime", "500"}}, total);
  EXPECT_GT(total.claims, 100);
}

}  // namespace
}  // namespace redouble::korvet
