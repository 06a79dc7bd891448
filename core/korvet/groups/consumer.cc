#include "redouble/core/korvet/groups/consumer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/topics/topic_id.h"
#include "redouble/core/korvet/topics/topics.h"

namespace redouble::inline v0_1::korvet {

Consumer::Consumer(store::Store& store, const base::Clock& clock, base::Rng& rng, Keys keys,
                   std::string group, ConsumerOptions options)
    : store_(store),
      clock_(clock),
      rng_(rng),
      keys_(std::move(keys)),
      group_(std::move(group)),
      options_(std::move(options)),
      coordinator_(store, keys_,
                   {.session_timeout = options_.session_timeout, .assignor = options_.assignor}),
      last_idle_claim_(clock.Now()),
      last_refresh_(clock.Now()) {}

base::Task<absl::Status> Consumer::Open(const std::string& topic) {
  if (groups_.contains(topic)) co_return absl::OkStatus();
  absl::StatusOr<Topic> described = co_await DescribeTopic(store_, keys_, topic);
  if (!described.ok()) co_return AsGroupError(described.status());
  groups_[topic] =
      std::make_unique<ConsumerGroup>(store_, keys_, *std::move(described), group_, options_.group);
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::Subscribe(std::vector<std::string> topics) {
  if (mode_ == Mode::kAssigned) {
    co_return MakeError(ErrorCode::kInvalidRequest, "the consumer has assigned partitions");
  }
  for (const std::string& topic : topics) REDOUBLE_CO_RETURN_IF_ERROR(co_await Open(topic));
  mode_ = Mode::kSubscribed;
  topics_ = std::set<std::string>(topics.begin(), topics.end());
  next_beat_ = absl::InfinitePast();
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::Assign(std::vector<AssignedPartition> partitions) {
  if (mode_ == Mode::kSubscribed) {
    co_return MakeError(ErrorCode::kInvalidRequest, "the consumer has subscribed to topics");
  }
  for (const AssignedPartition& one : partitions) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Open(one.topic));
    const int32_t count = groups_[one.topic]->topic().partitions;
    if (one.partition < 0 || one.partition >= count) {
      co_return MakeError(
          ErrorCode::kUnknownTopicOrPartition,
          absl::StrCat("the topic ", one.topic, " has no partition ", one.partition));
    }
  }
  mode_ = Mode::kAssigned;
  topics_.clear();
  Partitions assigned;
  for (AssignedPartition& one : partitions) {
    const auto kept = partitions_.find(one);
    topics_.insert(one.topic);
    assigned[std::move(one)] = kept == partitions_.end() ? Partition() : kept->second;
  }
  partitions_ = std::move(assigned);
  if (member_id_.empty()) member_id_ = NewMemberId();
  co_return absl::OkStatus();
}

// Ids of different processes, and of one process before and after a crash, never collide.
std::string Consumer::NewMemberId() {
  return absl::StrCat(options_.client_id, "-", TopicId::Random(rng_).ToUuid());
}

MemberHeartbeat Consumer::NextCall() {
  MemberHeartbeat call;
  call.group = group_;
  call.member = member_id_;
  call.call = ++calls_;
  for (const std::string& topic : topics_) {
    call.subscriptions.push_back({topic, groups_[topic]->topic().partitions});
  }
  call.owned = partitions();
  return call;
}

base::Task<void> Consumer::Drop(std::vector<AssignedPartition> partitions,
                                const PartitionCallback& callback) {
  if (!partitions.empty() && callback) co_await callback(partitions);
  for (const AssignedPartition& one : partitions) partitions_.erase(one);
}

base::Task<absl::StatusOr<GroupMembership>> Consumer::Beat() {
  if (!member_id_.empty()) {
    absl::StatusOr<GroupMembership> kept = co_await coordinator_.Heartbeat(NextCall());
    if (ErrorCodeOf(kept.status()) != ErrorCode::kUnknownMemberId) co_return kept;
    // The session has ended, and the partitions may have had another owner since.
    co_await Drop(partitions(), options_.on_lost);
  }
  member_id_ = NewMemberId();
  absl::StatusOr<GroupMembership> joined = co_await coordinator_.Join(NextCall());
  co_return joined;
}

// A partition that this member keeps, keeps its uncommitted records. A new one starts with a claim.
base::Task<absl::Status> Consumer::Reconcile(GroupMembership membership) {
  for (;;) {
    const std::vector<AssignedPartition> given = std::move(membership.partitions);
    const std::vector<AssignedPartition> before = partitions();
    std::vector<AssignedPartition> gone;
    std::set_difference(before.begin(), before.end(), given.begin(), given.end(),
                        std::back_inserter(gone));
    std::vector<AssignedPartition> come;
    std::set_difference(given.begin(), given.end(), before.begin(), before.end(),
                        std::back_inserter(come));
    const bool gives_up = !gone.empty();
    co_await Drop(std::move(gone), options_.on_revoked);
    for (const AssignedPartition& one : come) partitions_[one];
    if (!come.empty() && options_.on_assigned) co_await options_.on_assigned(come);
    // The group waits for what is given up.
    if (!gives_up) break;
    REDOUBLE_CO_ASSIGN_OR_RETURN(membership, co_await Beat());
  }
  // A member that waits asks at each poll.
  const absl::Duration pause =
      membership.waiting ? absl::ZeroDuration() : options_.heartbeat_interval;
  next_beat_ = clock_.Now() + pause;
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::KeepMembership() {
  if (clock_.Now() < next_beat_) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(GroupMembership membership, co_await Beat());
  co_return co_await Reconcile(std::move(membership));
}

void Consumer::RequestClaims() {
  for (auto& [place, partition] : partitions_) partition.claim = true;
}

base::Task<absl::Status> Consumer::Claim(absl::Duration min_idle,
                                         std::vector<ConsumedRecord>& records) {
  for (auto& [place, partition] : partitions_) {
    if (!partition.claim) continue;
    ClaimRequest request;
    request.member = member_id_;
    request.partition = place.partition;
    request.min_idle = min_idle;
    const size_t known = unreadable_.size();
    request.unreadable = &unreadable_;
    absl::StatusOr<PendingRecords> pending = co_await groups_[place.topic]->Claim(request);
    // Without a group no record was delivered. Read creates the group.
    if (!pending.ok() && ErrorCodeOf(pending.status()) != ErrorCode::kGroupIdNotFound) {
      co_return pending.status();
    }
    partition.claim = false;
    if (!pending.ok()) continue;
    lost_ += pending->lost;
    for (LogRecord& record : pending->records) {
      // Already returned by Poll, and pending only because it is not committed yet.
      if (!partition.uncommitted.insert(record.offset).second) continue;
      records.push_back({std::move(record), true, place.topic});
    }
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Skip(known));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::Read(std::vector<ConsumedRecord>& records) {
  std::vector<TopicPoll> topics;
  for (const auto& [place, partition] : partitions_) {
    ConsumerGroup* const group = groups_[place.topic].get();
    if (topics.empty() || topics.back().group != group) topics.push_back({group, {}});
    topics.back().partitions.push_back(place.partition);
  }
  PollRequest request;
  request.member = member_id_;
  request.max_records = options_.max_records;
  request.max_wait = options_.max_wait;
  const size_t known = unreadable_.size();
  request.unreadable = &unreadable_;
  absl::StatusOr<std::vector<PolledRecord>> delivered =
      co_await ConsumerGroup::PollTopics(topics, request);
  if (!delivered.ok()) {
    // Redis may have executed the read. Its records are then pending for this member.
    RequestClaims();
    co_return delivered.status();
  }
  for (PolledRecord& polled : *delivered) {
    const std::string& topic = polled.group->topic().name;
    partitions_[{topic, polled.record.partition}].uncommitted.insert(polled.record.offset);
    records.push_back({std::move(polled.record), false, topic});
  }
  co_return co_await Skip(known);
}

// Acknowledges the unreadable entries from the index `first` on, if the policy says so. An error
// does not lose records that were found: the entries stay pending and are found again.
base::Task<absl::Status> Consumer::Skip(size_t first) {
  if (options_.unreadable != UnreadablePolicy::kSkip) co_return absl::OkStatus();
  for (size_t i = first; i < unreadable_.size(); ++i) {
    const UnreadableEntry& entry = unreadable_[i];
    const store::StreamId ids[] = {entry.id};
    ConsumerGroup& group = *groups_[entry.topic];
    REDOUBLE_CO_RETURN_IF_ERROR((co_await group.AcknowledgeIds(entry.partition, ids)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::RefreshIfOld() {
  if (clock_.Now() - last_refresh_ < options_.metadata_max_age) co_return absl::OkStatus();
  for (const std::string& topic : topics_) {
    ConsumerGroup& group = *groups_[topic];
    const int32_t before = group.topic().partitions;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await group.Refresh());
    if (group.topic().partitions != before) next_beat_ = absl::InfinitePast();
  }
  last_refresh_ = clock_.Now();
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Consumer::Poll() {
  std::vector<ConsumedRecord> records;
  unreadable_.clear();
  if (mode_ == Mode::kNone) {
    co_return MakeError(ErrorCode::kInvalidRequest, "the consumer has no topics");
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshIfOld());
  if (mode_ == Mode::kSubscribed) REDOUBLE_CO_RETURN_IF_ERROR(co_await KeepMembership());
  if (partitions_.empty()) co_return records;

  absl::Status status = co_await Claim(absl::ZeroDuration(), records);
  if (!records.empty()) co_return records;
  if (status.ok()) status = co_await Read(records);
  if (!records.empty()) co_return records;
  REDOUBLE_CO_RETURN_IF_ERROR(status);

  if (clock_.Now() - last_idle_claim_ < options_.claim_idle) co_return records;
  last_idle_claim_ = clock_.Now();
  RequestClaims();
  status = co_await Claim(options_.claim_idle, records);
  if (!records.empty()) co_return records;
  REDOUBLE_CO_RETURN_IF_ERROR(status);
  co_return records;
}

base::Task<absl::Status> Consumer::Commit() {
  std::vector<OwnedCommit> commits;
  for (const auto& [place, partition] : partitions_) {
    if (partition.uncommitted.empty()) continue;
    const std::vector<int64_t> offsets(partition.uncommitted.begin(), partition.uncommitted.end());
    if (mode_ == Mode::kAssigned) {
      ConsumerGroup& group = *groups_[place.topic];
      REDOUBLE_CO_RETURN_IF_ERROR((co_await group.Acknowledge(place.partition, offsets)).status());
      partitions_[place].uncommitted.clear();
      continue;
    }
    OwnedCommit& commit = commits.emplace_back();
    commit.partition = place;
    const OffsetCodec& codec = groups_[place.topic]->topic().config.offsets;
    for (const int64_t offset : offsets) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const store::StreamId id, codec.Decode(offset));
      commit.ids.push_back(id);
    }
  }
  if (mode_ == Mode::kAssigned) co_return absl::OkStatus();
  if (member_id_.empty()) co_return MakeError(ErrorCode::kUnknownMemberId, "there was no poll");
  const absl::StatusOr<int64_t> done = co_await coordinator_.Commit(group_, member_id_, commits);
  REDOUBLE_CO_RETURN_IF_ERROR(done.status());
  for (const OwnedCommit& commit : commits) {
    const auto partition = partitions_.find(commit.partition);
    if (partition != partitions_.end()) partition->second.uncommitted.clear();
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::Close() {
  if (mode_ != Mode::kSubscribed || member_id_.empty()) {
    partitions_.clear();
    co_return absl::OkStatus();
  }
  co_await Drop(partitions(), options_.on_revoked);
  absl::Status left = co_await coordinator_.Leave(NextCall());
  member_id_.clear();
  next_beat_ = absl::InfinitePast();
  co_return left;
}

std::vector<AssignedPartition> Consumer::partitions() const {
  std::vector<AssignedPartition> places;
  for (const auto& [place, partition] : partitions_) places.push_back(place);
  return places;
}

}  // namespace redouble::inline v0_1::korvet
