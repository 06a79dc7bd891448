#include "redouble/sim/storm/korvet/korvet_storm.h"

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/groups/consumer.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/sim/storm/korvet/topic_history.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t { kProducer, kConsumer, kAdministrator };
enum PromiseIndex : size_t {
  kDelivered,
  kNotTwice,
  kRising,
  kCommitted,
  kOneOwner,
  kNothingLeft,
  kOnce,
};

constexpr const char* kTopic = "orders";
constexpr const char* kGroup = "my-group";
constexpr int32_t kPartitions = 4;
// One partition in two batches of three.
constexpr double kHot = 0.6;

// A record's value names its topic: "<topic id>/<script or id>/<number>".
constexpr std::string_view kById = "/id/";

std::string IdOf(std::string_view value) { return std::string(value.substr(0, value.find('/'))); }

class KorvetWorkload final : public Storm {
 public:
  KorvetWorkload(World& world, const StormVariant& variant)
      : world_(world),
        store_(world.ConnectToAll()),
        rng_(1),
        keys_(korvet::Keys::Create(korvet::kDefaultKeyspace, variant.key_layout).value()) {
    hardening_.atomic_creation = variant.hardened;
    hardening_.write_batches_once = variant.hardened;
    hardening_.stream_exists = variant.hardened;
    hardening_.atomic_batches = variant.hardened;
    hardening_.guard_topic = variant.hardened;
    hardening_.commit_own_entries = variant.hardened;
    korvet::Topics topics(*store_, rng_, keys_, hardening_);
    topic_ = base::Run(topics.Create(TopicToCreate())).value();
  }

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override {
    if (role == kProducer) return Produce(actor, store, work);
    if (role == kConsumer) return Consume(actor, store, work);
    return Administer(actor, store, work);
  }
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Judge(Verdicts& verdicts) override;

 private:
  static korvet::NewTopic TopicToCreate() {
    korvet::NewTopic topic;
    topic.name = kTopic;
    topic.partitions = kPartitions;
    return topic;
  }
  korvet::ConsumerOptions OptionsOf(const std::string& client_id) const;

  base::Task<void> Produce(Actor& actor, store::Store& store, StormWork& work);
  base::Task<void> Consume(Actor& actor, store::Store& store, StormWork& work);
  base::Task<void> Administer(Actor& actor, store::Store& store, StormWork& work);
  base::Task<void> DeleteTopic(korvet::Topics& topics, bool creates_again);
  void Deliver(std::string_view member, std::span<const korvet::ConsumedRecord> records);
  // No partition has two owners, whatever the members believe.
  void CheckOwners();
  std::string_view SectionOfLeft(const std::string& stream) const;
  void JudgeLogs(Verdicts& verdicts);
  void JudgeHistories(Verdicts& verdicts);
  bool LosesData() const;

  World& world_;
  const std::unique_ptr<store::Store> store_;
  base::Rng rng_;
  const korvet::Keys keys_;
  korvet::Hardening hardening_;
  korvet::Topic topic_;                            // As the last actor that looked found it.
  std::map<std::string, TopicHistory> histories_;  // By topic id.
  std::set<std::string> has_given_ids_;            // Ids of topics with acknowledged given ids.
  // What is there at the end; nullopt if the topic is deleted.
  std::optional<korvet::Topic> last_topic_;
  std::optional<absl::Status> drain_failure_;
  int64_t records_ = 0;
  int64_t owners_checked_ = 0;
  std::string two_owners_;
};

korvet::ConsumerOptions KorvetWorkload::OptionsOf(const std::string& client_id) const {
  korvet::ConsumerOptions options;
  options.client_id = client_id;
  options.session_timeout = absl::Seconds(10);
  options.heartbeat_interval = absl::Seconds(1);
  options.claim_idle = absl::Seconds(12);
  options.group.hardening = hardening_;
  return options;
}

base::Task<void> KorvetWorkload::Produce(Actor& actor, store::Store& store, StormWork& work) {
  while (std::optional<base::Rng> rng = work.Next()) {
    const korvet::Topic topic = topic_;
    const std::string id = topic.id.ToString();
    const bool has_ids = rng->Chance(0.15);
    korvet::ProducerOptions options;
    options.hardening = hardening_;
    if (rng->Chance(0.5)) options.max_records_per_write = 2;
    korvet::Producer producer(store, actor.clock(), keys_, topic, options);
    std::vector<korvet::NewRecord> records(1 + rng->Below(3));
    const auto now_ms = static_cast<uint64_t>(absl::ToUnixMillis(actor.clock().Now()));
    for (size_t i = 0; i < records.size(); ++i) {
      records[i].value = absl::StrCat(id, has_ids ? "/id/" : "/script/", ++records_);
      if (has_ids) records[i].id = store::StreamId{now_ms, i};
    }
    const auto partition = static_cast<int32_t>(rng->Chance(kHot) ? 0 : rng->Below(kPartitions));
    TopicHistory& history = histories_[id];
    const int64_t floor = history.LastAcknowledged(partition);
    const std::string batch = absl::StrCat("batch-", records_);
    auto appended = co_await producer.Append(partition, records, batch);
    // Redis refuses given ids that it has.
    if (!appended.ok() && !has_ids) appended = co_await producer.Append(partition, records, batch);
    if (appended.ok()) history.Acknowledge(partition, floor, appended->offsets);
    if (appended.ok() && has_ids) has_given_ids_.insert(id);
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(400))));
  }
}

base::Task<void> KorvetWorkload::Consume(Actor& actor, store::Store& store, StormWork& work) {
  korvet::ConsumerOptions options = OptionsOf(actor.name());
  options.max_records = 3;
  // A crash destroys it with the coroutine, without informing the group.
  korvet::Consumer consumer(store, actor.clock(), actor.rng(), keys_, kGroup, options);
  bool is_subscribed = false;
  bool leaves = false;
  while (std::optional<base::Rng> rng = work.Next()) {
    if (!is_subscribed) {
      const std::vector<std::string> topics = {kTopic};
      const absl::Status subscribed = co_await consumer.Subscribe(topics);
      is_subscribed = subscribed.ok();
    }
    const auto records = co_await consumer.Poll();
    if (records.ok()) Deliver(consumer.member_id(), *records);
    CheckOwners();
    if (rng->Chance(0.7)) {
      const absl::Status committed = co_await consumer.Commit();
      committed.IgnoreError();
    }
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(1 + rng->Below(400))));
    leaves = rng->Chance(0.5);
  }
  if (!leaves) co_return;
  const absl::Status closed = co_await consumer.Close();
  closed.IgnoreError();
}

base::Task<void> KorvetWorkload::Administer(Actor& actor, store::Store& store, StormWork& work) {
  korvet::Topics topics(store, actor.rng(), keys_, hardening_);
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(1500))));
    if (keys_.in_cluster_layout() && rng->Chance(0.3)) {
      (co_await topics.Repair(kTopic)).IgnoreError();
      continue;
    }
    if (rng->Chance(0.5)) {
      co_await DeleteTopic(topics, /*creates_again=*/rng->Chance(0.5));
      continue;
    }
    const std::vector<korvet::ConfigEntry> config = {{"retentionBytes", "2048"},
                                                     {"retentionTime", "500"}};
    korvet::ConfigChange change;
    change.topic = kTopic;
    change.config = config;
    const absl::Status altered = co_await topics.AlterConfig(change);
    altered.IgnoreError();
  }
}

base::Task<void> KorvetWorkload::DeleteTopic(korvet::Topics& topics, bool creates_again) {
  constexpr int kAttempts = 10;
  for (int i = 0; i < kAttempts; ++i) {
    const absl::Status deleted = co_await topics.Delete(kTopic);
    if (deleted.ok()) break;
    if (korvet::ErrorCodeOf(deleted) == korvet::ErrorCode::kUnknownTopicOrPartition) break;
  }
  if (!creates_again) co_return;
  const auto created = co_await topics.Create(TopicToCreate());
  if (created.ok()) topic_ = *created;
}

void KorvetWorkload::Deliver(std::string_view member,
                             std::span<const korvet::ConsumedRecord> records) {
  std::map<std::string, std::vector<korvet::ConsumedRecord>> by_topic;
  for (const korvet::ConsumedRecord& record : records) {
    by_topic[IdOf(record.record.record.value.value_or(""))].push_back(record);
  }
  for (const auto& [id, own] : by_topic) histories_[id].Deliver(member, own);
}

void KorvetWorkload::CheckOwners() {
  korvet::Coordinator coordinator(*store_, keys_);
  const auto group = base::Run(coordinator.Describe(kGroup));
  if (!group.ok()) return;  // No member has joined yet.
  ++owners_checked_;
  std::set<korvet::AssignedPartition> owned;
  for (const auto& [member, partitions] : group->assignment) {
    for (const korvet::AssignedPartition& one : partitions) {
      if (owned.insert(one).second || !two_owners_.empty()) continue;
      two_owners_ = absl::StrCat("partition ", one.partition, " has two owners");
    }
  }
}

// One member reads everything that is left.
base::Task<void> KorvetWorkload::Drain(Actor& actor, store::Store& store) {
  for (int i = 0; i < 4; ++i) co_await actor.clock().Sleep(absl::Seconds(5));
  korvet::Topics topics(store, actor.rng(), keys_);
  if (keys_.in_cluster_layout()) {
    // What an operation that died has left is brought to an end.
    const absl::StatusOr<bool> repaired = co_await topics.Repair(kTopic);
    if (!repaired.ok()) drain_failure_ = repaired.status();
    if (!repaired.ok()) co_return;
  }
  const auto found = co_await topics.Describe(kTopic);
  if (!found.ok()) co_return;
  last_topic_ = *found;
  korvet::Consumer consumer(store, actor.clock(), actor.rng(), keys_, kGroup, OptionsOf("last"));
  const std::vector<std::string> names = {kTopic};
  drain_failure_ = co_await consumer.Subscribe(names);
  if (!drain_failure_->ok()) co_return;
  for (int empty = 0; empty < 4;) {
    const auto records = co_await consumer.Poll();
    if (!records.ok()) drain_failure_ = records.status();
    if (!records.ok()) co_return;
    Deliver(consumer.member_id(), *records);
    empty = records->empty() ? empty + 1 : 0;
    const absl::Status committed = co_await consumer.Commit();
    if (!committed.ok()) drain_failure_ = committed;
    co_await actor.clock().Sleep(absl::Seconds(5));
  }
}

bool KorvetWorkload::LosesData() const {
  for (const auto& [name, times] : world_.injected_faults()) {
    if (FindFaultSpec(name)->scope == FaultScope::kServer) return true;
  }
  return false;
}

// A group without records is from a consumer; records are from a producer.
std::string_view KorvetWorkload::SectionOfLeft(const std::string& stream) const {
  return base::Run(store::XLen(*store_, stream)).value() > 0 ? "H2" : "H3";
}

void KorvetWorkload::JudgeLogs(Verdicts& verdicts) {
  std::set<std::string> written;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    const std::string stream = keys_.Stream({kTopic, partition}).value();
    if (!last_topic_.has_value()) {
      const bool is_left = base::Run(store::Exists(*store_, stream)).value();
      std::string_view section = LosesData() ? "H9" : is_left ? SectionOfLeft(stream) : "";
      verdicts.Check(kNothingLeft, !is_left, section, absl::StrCat(stream, " has no topic"));
      continue;
    }
    const auto entries = base::Run(store::XRange(*store_, stream));
    for (const store::StreamEntry& entry : *entries) {
      std::string value;
      for (const auto& [name, text] : entry.fields) {
        if (text.find('/') != std::string::npos) value = text;
      }
      const bool is_own = IdOf(value) == last_topic_->id.ToString();
      std::string_view section = kUndocumented;
      // Appends with given ids do not check the topic; without the option they restore the stream.
      if (value.find(kById) != std::string::npos) section = "H7";
      if (LosesData()) section = "H9";
      verdicts.Check(kNothingLeft, is_own, section,
                     absl::StrCat(stream, " has a record of the topic before it: ", value));
      verdicts.Check(kOnce, written.insert(value).second, LosesData() ? "H9" : "H10",
                     absl::StrCat(stream, " has a record again: ", value));
    }
  }
}

void KorvetWorkload::JudgeHistories(Verdicts& verdicts) {
  const std::string_view section = LosesData() ? "H9" : kUndocumented;
  const auto promise_of = [](TopicGuarantee guarantee) -> size_t {
    switch (guarantee) {
      case TopicGuarantee::kOffsetsRise:
        return kRising;
      case TopicGuarantee::kNoneTwice:
        return kNotTwice;
      case TopicGuarantee::kCommittedIsBelow:
        return kCommitted;
      case TopicGuarantee::kNoneLost:
      case TopicGuarantee::kSucceeds:
        return kDelivered;
    }
    return kDelivered;
  };
  if (last_topic_.has_value()) {
    TopicHistory& last = histories_[last_topic_->id.ToString()];
    last.CheckCommitted(*store_, keys_, *last_topic_, kGroup);
    last.CheckLogs(*store_, world_.clock(), keys_, *last_topic_);
    if (!drain_failure_->ok()) {
      last.Violate(TopicGuarantee::kSucceeds, std::string(drain_failure_->message()));
    }
    for (int32_t partition = 0; partition < kPartitions; ++partition) verdicts.Keep(kCommitted);
  }
  for (const auto& [id, history] : histories_) {
    for (size_t i = 0; i < history.acknowledged().size(); ++i) {
      verdicts.Keep(kRising);
      if (last_topic_.has_value() && last_topic_->id.ToString() == id) verdicts.Keep(kDelivered);
    }
    for (int64_t i = 0; i < history.deliveries(); ++i) verdicts.Keep(kNotTwice);
    const bool is_deleted = !last_topic_.has_value() || last_topic_->id.ToString() != id;
    for (const auto& [guarantee, what] : history.violations()) {
      // Explicit ids begin again in a restored stream, and in the stream of the next topic.
      const bool is_about_offsets =
          guarantee == TopicGuarantee::kOffsetsRise || guarantee == TopicGuarantee::kNoneTwice;
      const bool is_restored =
          is_about_offsets && is_deleted && has_given_ids_.contains(id) && !LosesData();
      const std::string_view of_restored = hardening_.stream_exists ? "H7" : "H2";
      verdicts.Break(promise_of(guarantee), is_restored ? of_restored : section, what);
    }
  }
}

void KorvetWorkload::Judge(Verdicts& verdicts) {
  JudgeHistories(verdicts);
  JudgeLogs(verdicts);
  for (int64_t i = 0; i < owners_checked_; ++i) verdicts.Keep(kOneOwner);
  if (!two_owners_.empty()) {
    verdicts.Break(kOneOwner, LosesData() ? "H9" : kUndocumented, two_owners_);
  }
}

std::vector<FaultRule> AllStormFaults() {
  std::vector<FaultRule> faults = ClientFaults();
  // What an empty server or an evicted log promises, no document says.
  for (FaultRule& fault : ServerFaults()) {
    if (fault.fault == Fault::kFailover || fault.fault == Fault::kRestartLosingTail) {
      faults.push_back(std::move(fault));
    }
  }
  return faults;
}

std::vector<Promise> Promises() {
  return {
      {"an acknowledged record is delivered to the group unless retention has removed it",
       {{"H9", ""}}},
      {"a record is not delivered to a second member without a claim",
       {{"H2", "stream_exists"}, {"H7", "atomic_batches"}, {"H9", ""}}},
      {"the offsets of a partition increase and are unique",
       {{"H2", "stream_exists"}, {"H7", "atomic_batches"}, {"H9", ""}}},
      {"the committed position is not past a pending record", {{"H9", ""}}},
      {"a partition has one owner", {{"H9", ""}}},
      {"nothing of a deleted topic stays or is in a new one",
       {{"H2", "stream_exists"}, {"H3", "guard_topic"}, {"H7", "atomic_batches"}, {"H9", ""}}},
      {"a record that is sent again is in the log once",
       {{"H9", ""}, {"H10", "write_batches_once"}}},
  };
}

}  // namespace

StormSystem KorvetStorm() {
  return {.name = "korvet",
          .promises = Promises(),
          .roles = {{.name = "producer", .least = 1, .most = 3, .operations = 6},
                    {.name = "consumer", .least = 2, .most = 5, .operations = 8},
                    {.name = "administrator", .least = 0, .most = 1, .operations = 2}},
          .faults = AllStormFaults(),
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<KorvetWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
