#include "redouble/sim/storm/korvet/korvet_storm.h"

#include <iterator>
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
#include "redouble/core/korvet/groups/consumer_group.h"
#include "redouble/core/korvet/groups/coordinator.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/log/producer.h"
#include "redouble/core/korvet/log/retention_loop.h"
#include "redouble/core/korvet/topics/topic_config.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/sim/storm/korvet/topic_history.h"
#include "redouble/sim/storm/korvet/topic_watch.h"

namespace redouble::inline v0_1::sim {
namespace {

enum Role : size_t {
  kProducer,
  kConsumer,
  kAdministrator,
  kGroupAdministrator,
  kTrimmer,
  kReader,
};
enum PromiseIndex : size_t {
  kDelivered,
  kNotTwice,
  kRising,
  kCommitted,
  kOneOwner,
  kNothingLeft,
  kOnce,
  kNotEarly,
  kReadOrOutOfRange,
  kLostIsCounted,
  kIdleDeleted,
  kGroupLeavesNothing,
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
        keys_(korvet::Keys::Create(korvet::kDefaultKeyspace, variant.key_layout).value()),
        watch_(*store_, keys_, kTopic, kGroup) {
    hardening_.atomic_creation = variant.hardened;
    hardening_.write_batches_once = variant.hardened;
    hardening_.stream_exists = variant.hardened;
    hardening_.atomic_batches = variant.hardened;
    hardening_.guard_topic = variant.hardened;
    hardening_.commit_own_entries = variant.hardened;
    hardening_.trim_by_server_time = variant.hardened;
    hardening_.delete_idle_groups = variant.hardened;
    korvet::Topics topics(*store_, rng_, keys_, hardening_);
    topic_ = base::Run(topics.Create(TopicToCreate())).value();
    watch_.Allow(topic_.config);
  }

  base::Task<void> Act(Actor& actor, store::Store& store, size_t role, StormWork& work) override {
    if (role == kProducer) return Produce(actor, store, work);
    if (role == kConsumer) return Consume(actor, store, work);
    if (role == kGroupAdministrator) return AdministerGroup(actor, store, work);
    if (role == kTrimmer) return Trim(actor, store, work);
    if (role == kReader) return Read(actor, store, work);
    return Administer(actor, store, work);
  }
  base::Task<void> Drain(Actor& actor, store::Store& store) override;
  void Observe() override { watch_.Look(world_.clock().Now(), kPartitions); }
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
  base::Task<void> AlterRetention(korvet::Topics& topics, base::Rng& rng);
  base::Task<void> AdministerGroup(Actor& actor, store::Store& store, StormWork& work);
  base::Task<void> LookAtOffsets(korvet::GroupAdmin& groups);
  base::Task<void> Trim(Actor& actor, store::Store& store, StormWork& work);
  base::Task<void> Read(Actor& actor, store::Store& store, StormWork& work);
  // `resets` are those of the group when the poll began.
  void Deliver(std::string_view member, std::span<const korvet::ConsumedRecord> records,
               const TopicWatch::Counts& resets);
  // How many records are pending in the group and not in the log.
  int64_t CountLost();
  // No partition has two owners, whatever the members believe.
  void CheckOwners();
  std::string_view SectionOfLeft(const std::string& stream) const;
  void JudgeLogs(Verdicts& verdicts);
  void JudgeHistories(Verdicts& verdicts);
  void JudgeRetention(Verdicts& verdicts);
  void JudgeReadings(Verdicts& verdicts);
  void JudgeGroup(Verdicts& verdicts);
  bool LosesData() const;
  // kUndocumented unless the server lost data.
  std::string_view SectionOfLoss() const { return LosesData() ? "H9" : kUndocumented; }

  // What a reader by offset got: the records from one offset to another.
  struct Reading {
    TopicWatch::Place place;
    int64_t first = 0;
    int64_t next = 0;
    std::set<int64_t> offsets;
  };

  World& world_;
  const std::unique_ptr<store::Store> store_;
  base::Rng rng_;
  const korvet::Keys keys_;
  TopicWatch watch_;
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
  std::vector<Reading> readings_;
  std::string past_the_end_;  // A committed position that is past the end of its log.
  int64_t lost_at_rest_ = 0;  // What is lost when the last member joins.
  int64_t counted_as_lost_ = 0;
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
    const TopicWatch::Counts resets = watch_.resets();
    const auto records = co_await consumer.Poll();
    if (records.ok()) Deliver(consumer.member_id(), *records, resets);
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
    co_await AlterRetention(topics, *rng);
  }
}

base::Task<void> KorvetWorkload::AlterRetention(korvet::Topics& topics, base::Rng& rng) {
  const std::vector<korvet::ConfigEntry> configs[] = {
      {{"retentionBytes", "2048"}, {"retentionTime", "500"}},
      {{"retentionBytes", "-1"}, {"retentionTime", "500"}},
      {{"retentionBytes", "4096"}, {"retentionTime", "-1"}},
      {{"retentionBytes", "-1"}, {"retentionTime", "4000"}},
  };
  const std::vector<korvet::ConfigEntry>& config = configs[rng.Below(std::size(configs))];
  watch_.Allow(korvet::ParseTopicConfig(config).value());
  korvet::ConfigChange change;
  change.topic = kTopic;
  change.config = config;
  const absl::Status altered = co_await topics.AlterConfig(change);
  altered.IgnoreError();
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

// Deletes the group, moves it back, and looks at its offsets.
base::Task<void> KorvetWorkload::AdministerGroup(Actor& actor, store::Store& store,
                                                 StormWork& work) {
  korvet::GroupAdmin groups(store, keys_, hardening_);
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(4000))));
    if (rng->Chance(0.3)) {
      co_await LookAtOffsets(groups);
      continue;
    }
    if (rng->Chance(0.3)) {
      korvet::ConsumerGroup group(store, keys_, topic_, kGroup);
      const auto partition = static_cast<int32_t>(rng->Below(kPartitions));
      (co_await group.Seek(partition, korvet::GroupPosition())).IgnoreError();
      continue;
    }
    constexpr int kAttempts = 3;
    for (int i = 0; i < kAttempts; ++i) {
      const absl::Status deleted = co_await groups.Delete(kGroup);
      if (deleted.ok()) break;
      if (korvet::ErrorCodeOf(deleted) == korvet::ErrorCode::kGroupIdNotFound) break;
    }
  }
}

base::Task<void> KorvetWorkload::LookAtOffsets(korvet::GroupAdmin& groups) {
  const auto offsets = co_await groups.Offsets(kGroup);
  if (!offsets.ok()) co_return;
  for (const korvet::GroupOffset& one : *offsets) {
    if (one.progress.committed.value_or(0) <= one.progress.log_end) continue;
    past_the_end_ = absl::StrCat("partition ", one.partition, " is committed to ",
                                 *one.progress.committed, " and ends at ", one.progress.log_end);
  }
}

base::Task<void> KorvetWorkload::Trim(Actor& actor, store::Store& store, StormWork& work) {
  korvet::RetentionLoop loop(store, actor.clock(), keys_);
  korvet::Topics topics(store, actor.rng(), keys_, hardening_);
  while (std::optional<base::Rng> rng = work.Next()) {
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(1000))));
    if (rng->Chance(0.3)) {
      co_await AlterRetention(topics, *rng);
      continue;
    }
    const auto round = co_await loop.RunOnce();
    round.IgnoreError();
  }
}

// Reads one partition by offsets, without the group.
base::Task<void> KorvetWorkload::Read(Actor& actor, store::Store& store, StormWork& work) {
  std::optional<korvet::Topic> topic;
  korvet::FetchPosition position;
  while (std::optional<base::Rng> rng = work.Next()) {
    if (!topic.has_value()) {
      topic = topic_;
      position = {static_cast<int32_t>(rng->Chance(kHot) ? 0 : rng->Below(kPartitions)), 0};
    }
    korvet::Log log(store, actor.clock(), keys_, *topic);
    korvet::FetchRequest request;
    request.positions = std::span(&position, 1);
    request.max_records = static_cast<int64_t>(1 + rng->Below(4));
    const auto fetched = co_await log.Fetch(request);
    const korvet::ErrorCode code = korvet::ErrorCodeOf(fetched.status());
    if (code == korvet::ErrorCode::kInconsistentTopicId ||
        code == korvet::ErrorCode::kUnknownTopicOrPartition) {
      topic.reset();
    } else if (fetched.ok() && fetched->front().status.ok()) {
      const korvet::FetchedPartition& read = fetched->front();
      Reading& reading = readings_.emplace_back();
      reading.place = {topic->id.ToString(), position.partition};
      reading.first = position.offset;
      reading.next = read.next_offset;
      for (const korvet::LogRecord& record : read.records) reading.offsets.insert(record.offset);
      position.offset = read.next_offset;
    } else if (fetched.ok()) {
      const korvet::ErrorCode of_partition = korvet::ErrorCodeOf(fetched->front().status);
      if (of_partition == korvet::ErrorCode::kOffsetOutOfRange) {
        position.offset = fetched->front().bounds.start;
      }
    }
    co_await actor.clock().Sleep(absl::Milliseconds(static_cast<int64_t>(rng->Below(600))));
  }
}

void KorvetWorkload::Deliver(std::string_view member,
                             std::span<const korvet::ConsumedRecord> records,
                             const TopicWatch::Counts& resets) {
  std::map<std::string, std::vector<korvet::ConsumedRecord>> by_topic;
  for (const korvet::ConsumedRecord& record : records) {
    by_topic[IdOf(record.record.record.value.value_or(""))].push_back(record);
  }
  for (const auto& [id, own] : by_topic)
    histories_[id].Deliver(member, own, resets, watch_.resets());
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

int64_t KorvetWorkload::CountLost() {
  int64_t lost = 0;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    const std::string stream = keys_.Stream({kTopic, partition}).value();
    const auto pending = base::Run(store::XPendingRange(*store_, stream, kGroup));
    if (!pending.ok()) continue;  // The partition does not have the group.
    const auto entries = base::Run(store::XRange(*store_, stream));
    std::set<store::StreamId> ids;
    for (const store::StreamEntry& entry : *entries) ids.insert(entry.id);
    for (const store::PendingEntry& one : *pending) lost += ids.contains(one.id) ? 0 : 1;
  }
  return lost;
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
  lost_at_rest_ = CountLost();
  drain_failure_ = co_await consumer.Subscribe(names);
  if (!drain_failure_->ok()) co_return;
  for (int empty = 0; empty < 4;) {
    const TopicWatch::Counts resets = watch_.resets();
    const auto records = co_await consumer.Poll();
    if (!records.ok()) drain_failure_ = records.status();
    if (!records.ok()) co_return;
    Deliver(consumer.member_id(), *records, resets);
    empty = records->empty() ? empty + 1 : 0;
    const absl::Status committed = co_await consumer.Commit();
    if (!committed.ok()) drain_failure_ = committed;
    co_await actor.clock().Sleep(absl::Seconds(5));
  }
  counted_as_lost_ = consumer.lost();
  const absl::Status closed = co_await consumer.Close();
  if (!closed.ok()) drain_failure_ = closed;
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

void KorvetWorkload::JudgeRetention(Verdicts& verdicts) {
  for (int64_t i = 0; i < watch_.removed(); ++i) verdicts.Keep(kNotEarly);
  if (!watch_.early().empty()) {
    // Appends with given ids trim by the clock of their producer.
    const std::string_view section = has_given_ids_.empty() ? kUndocumented : "H13";
    verdicts.Break(kNotEarly, LosesData() ? "H9" : section, watch_.early());
  }
  if (!last_topic_.has_value()) return;
  verdicts.Check(
      kLostIsCounted, counted_as_lost_ == lost_at_rest_, SectionOfLoss(),
      absl::StrCat(counted_as_lost_, " records are reported as lost and not ", lost_at_rest_));
}

void KorvetWorkload::JudgeReadings(Verdicts& verdicts) {
  for (const Reading& reading : readings_) {
    verdicts.Keep(kReadOrOutOfRange);
    for (const int64_t offset : watch_.SeenIn(reading.place)) {
      if (offset < reading.first || offset >= reading.next) continue;
      if (reading.offsets.contains(offset)) continue;
      verdicts.Break(kReadOrOutOfRange, SectionOfLoss(),
                     absl::StrCat("a fetch from ", reading.first, " to ", reading.next,
                                  " is without ", offset));
    }
  }
}

void KorvetWorkload::JudgeGroup(Verdicts& verdicts) {
  for (int64_t i = 0; i < watch_.deleted_groups(); ++i) verdicts.Keep(kIdleDeleted);
  if (!watch_.busy_deleted().empty()) {
    verdicts.Break(kIdleDeleted, LosesData() ? "H9" : "H14", watch_.busy_deleted());
  }
  if (!past_the_end_.empty()) verdicts.Break(kCommitted, SectionOfLoss(), past_the_end_);
  korvet::GroupAdmin groups(*store_, keys_);
  const absl::Status deleted = base::Run(groups.Delete(kGroup));
  const bool is_gone =
      deleted.ok() || korvet::ErrorCodeOf(deleted) == korvet::ErrorCode::kGroupIdNotFound;
  verdicts.Check(kGroupLeavesNothing, is_gone, SectionOfLoss(), std::string(deleted.message()));
  if (!is_gone) return;
  for (const std::string& key : {keys_.Group(kGroup).value(), keys_.GroupMembers(kGroup).value(),
                                 keys_.GroupPartitions(kGroup).value()}) {
    verdicts.Check(kGroupLeavesNothing, !base::Run(store::Exists(*store_, key)).value(),
                   SectionOfLoss(), absl::StrCat(key, " is left"));
  }
  verdicts.Check(kGroupLeavesNothing, base::Run(groups.List()).value().empty(), SectionOfLoss(),
                 "a partition has the group");
}

void KorvetWorkload::Judge(Verdicts& verdicts) {
  JudgeHistories(verdicts);
  JudgeLogs(verdicts);
  JudgeRetention(verdicts);
  JudgeReadings(verdicts);
  JudgeGroup(verdicts);
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
      {"no record is removed before its retention has passed",
       {{"H9", ""}, {"H13", "trim_by_server_time"}}},
      {"a reader by offset gets every record or learns that its offset is out of range",
       {{"H9", ""}}},
      {"records that are lost while they are pending are counted", {{"H9", ""}}},
      {"no group is deleted that has a member or a pending record",
       {{"H9", ""}, {"H14", "delete_idle_groups"}}},
      {"a deleted group leaves nothing", {{"H9", ""}}},
  };
}

}  // namespace

StormSystem KorvetStorm() {
  return {.name = "korvet",
          .promises = Promises(),
          .roles = {{.name = "producer", .least = 1, .most = 3, .operations = 6},
                    {.name = "consumer", .least = 2, .most = 5, .operations = 8},
                    {.name = "administrator", .least = 0, .most = 1, .operations = 2},
                    {.name = "group-administrator", .least = 0, .most = 1, .operations = 5},
                    {.name = "trimmer", .least = 0, .most = 1, .operations = 6},
                    {.name = "reader", .least = 0, .most = 2, .operations = 8}},
          .faults = AllStormFaults(),
          .documented_layout_only = {"delete_idle_groups"},
          .make = [](World& world, const StormVariant& variant) -> std::unique_ptr<Storm> {
            return std::make_unique<KorvetWorkload>(world, variant);
          }};
}

}  // namespace redouble::inline v0_1::sim
