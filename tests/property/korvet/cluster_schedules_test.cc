// Administrators and producers of one topic in the cluster layout, under random schedules and
// faults: their operations are steps that meet in every order (docs/systems/korvet.md 1.2).
//
// At each moment a topic that readers find is whole. When all faults have ended, one repair leaves
// a whole topic or nothing, and a topic has no record of another one.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/sim/fault/fault.h"
#include "redouble/sim/storm/storm.h"
#include "redouble/sim/world/world.h"
#include "redouble/tests/property/korvet/ask.h"
#include "redouble/tests/property/korvet/topic_keys.h"

namespace redouble::inline v0_1::korvet {
namespace {

constexpr const char* kName = "orders";
constexpr uint64_t kSeeds = 400;

sim::WorldOptions OptionsOf(uint64_t seed) {
  sim::WorldOptions options;
  options.seed = seed;
  options.engine.cluster = memory::ClusterOptions();
  base::Rng rng(seed);
  const bool is_split = rng.Chance(0.5);
  options.events = is_split ? sim::Events::kSplit : sim::Events::kAtomic;
  std::vector<sim::FaultRule> rules;
  for (const sim::FaultRule& rule : sim::ClientFaults()) {
    if (is_split || !sim::SpecOf(rule.fault).needs_split_events) rules.push_back(rule);
  }
  options.faults = sim::DrawSwarm(rules, rng);
  options.traced = false;
  return options;
}

class ManyHands {
 public:
  explicit ManyHands(uint64_t seed) : world_(OptionsOf(seed)), session_(world_.Connect()) {
    for (int i = 0; i < 3; ++i) {
      world_.Spawn(absl::StrCat("administrator-", i),
                   [this](sim::Actor& actor) { return Administer(actor); });
    }
    for (int i = 0; i < 2; ++i) {
      world_.Spawn(absl::StrCat("producer-", i),
                   [this](sim::Actor& actor) { return Produce(actor); });
    }
    world_.AddInvariant("whole", [this] { return CheckWhole(); });
  }

  // Returns what is wrong; empty if nothing is.
  std::string Run() {
    const sim::RunReport report = world_.Run({.max_steps = 200'000});
    if (!report.violation.ok()) return std::string(report.violation.message());
    if (report.end != sim::RunEnd::kDone) return "the run did not come to its end";
    world_.Heal();
    // Requests that were delayed arrive.
    world_.clock().Advance(absl::Minutes(1));
    world_.Run({.max_steps = 200'000});
    base::Rng rng(1);
    Topics topics(*session_, rng, ClusterKeys());
    const auto repaired = base::Run(topics.Repair(kName));
    if (!repaired.ok()) return std::string(repaired.status().message());
    const std::string mistake = FindMistake(*session_, kName);
    if (!mistake.empty()) return mistake;
    if (*base::Run(topics.Repair(kName))) return "a second repair changed something";
    return FindForeignRecord();
  }

  int64_t made() const { return made_; }
  int64_t deleted() const { return deleted_; }
  int64_t written() const { return written_; }

 private:
  base::Task<void> Administer(sim::Actor& actor) {
    Topics topics(actor.store(), actor.rng(), ClusterKeys());
    for (int i = 0; i < 5; ++i) {
      co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(actor.rng().Below(50))));
      const uint64_t kind = actor.rng().Below(6);
      if (kind < 2) {
        NewTopic request;
        request.name = kName;
        request.partitions = static_cast<int32_t>(1 + actor.rng().Below(4));
        const auto created = co_await topics.Create(request);
        made_ += created.ok() ? 1 : 0;
      } else if (kind == 2) {
        const absl::Status deleted = co_await topics.Delete(kName);
        deleted_ += deleted.ok() ? 1 : 0;
      } else if (kind == 3) {
        const auto total = static_cast<int32_t>(1 + actor.rng().Below(8));
        (co_await topics.AddPartitions({.topic = kName, .total = total})).IgnoreError();
      } else if (kind == 4) {
        const std::string value = absl::StrCat(1'000'000 + actor.rng().Below(1000));
        const std::vector<ConfigEntry> config = {{"retentionTime", value}};
        ConfigChange change;
        change.topic = kName;
        change.config = config;
        (co_await topics.AlterConfig(change)).IgnoreError();
      } else {
        (co_await topics.Repair(kName)).IgnoreError();
      }
    }
  }

  base::Task<void> Produce(sim::Actor& actor) {
    for (int i = 0; i < 6; ++i) {
      co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(actor.rng().Below(50))));
      const auto topic = co_await DescribeTopic(actor.store(), ClusterKeys(), kName);
      if (!topic.ok()) continue;
      Producer producer(actor.store(), actor.clock(), ClusterKeys(), *topic);
      for (int batch = 0; batch < 3; ++batch) {
        std::vector<NewRecord> records(1);
        records[0].value = topic->id.ToString();
        const auto partition =
            static_cast<int32_t>(actor.rng().Below(static_cast<uint64_t>(topic->partitions)));
        const auto appended = co_await producer.Append(partition, records);
        written_ += appended.ok() ? 1 : 0;
      }
    }
  }

  // A topic that has a number of partitions has all copies.
  absl::Status CheckWhole() {
    const Keys keys = ClusterKeys();
    std::map<std::string, std::string> hash = HashAt(*session_, keys.Topic(kName).value());
    if (!hash.contains("partitions")) return absl::OkStatus();
    for (int32_t partition = 0; partition < std::stoi(hash["partitions"]); ++partition) {
      const std::string copy = keys.Metadata({kName, partition}).value();
      if (HashAt(*session_, copy)["id"] == hash["id"]) continue;
      return absl::InternalError(absl::StrCat("partition ", partition, " has no copy"));
    }
    return absl::OkStatus();
  }

  std::string FindForeignRecord() {
    const Keys keys = ClusterKeys();
    std::map<std::string, std::string> hash = HashAt(*session_, keys.Topic(kName).value());
    if (hash.empty()) return "";
    for (int32_t partition = 0; partition < std::stoi(hash["partitions"]); ++partition) {
      const std::string stream = keys.Stream({kName, partition}).value();
      for (const store::Reply& entry : Ask(*session_, {"XRANGE", stream, "-", "+"}).elements()) {
        if (entry.elements()[1].elements()[1].text() != hash["id"]) return "a foreign record";
      }
    }
    return "";
  }

  sim::World world_;
  const std::unique_ptr<memory::Session> session_;
  int64_t made_ = 0;
  int64_t deleted_ = 0;
  int64_t written_ = 0;
};

TEST(ClusterSchedules, LeaveAWholeTopicOrNothing) {
  int64_t made = 0;
  int64_t deleted = 0;
  int64_t written = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    ManyHands hands(seed);
    EXPECT_EQ(hands.Run(), "") << "seed " << seed;
    if (HasFailure()) return;
    made += hands.made();
    deleted += hands.deleted();
    written += hands.written();
  }
  EXPECT_GT(made, 200);
  EXPECT_GT(deleted, 100);
  EXPECT_GT(written, 500);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
