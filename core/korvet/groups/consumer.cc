#include "redouble/core/korvet/groups/consumer.h"

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::korvet {

absl::Status Consumer::Join() {
  JoinRequest request;
  request.group = group_.group();
  request.client_id = options_.client_id;
  request.subscriptions = {{group_.topic().name, group_.topic().partitions}};
  request.member_id = member_id_;
  absl::StatusOr<std::string> id = coordinator_.Join(request);
  if (ErrorCodeOf(id.status()) == ErrorCode::kUnknownMemberId) {
    // This member was removed, and its partitions may have had another member since.
    partitions_.clear();
    request.member_id = {};
    id = coordinator_.Join(request);
  }
  REDOUBLE_RETURN_IF_ERROR(id.status());
  member_id_ = *std::move(id);
  subscribed_ = group_.topic().partitions;
  return absl::OkStatus();
}

// A partition that this member keeps, keeps its uncommitted records. A new one starts with a claim.
void Consumer::Adopt(const Membership& membership) {
  generation_ = membership.generation;
  std::map<int32_t, Partition> partitions;
  for (const AssignedPartition& assigned : membership.partitions) {
    const auto kept = partitions_.find(assigned.partition);
    partitions[assigned.partition] = kept == partitions_.end() ? Partition() : kept->second;
  }
  partitions_ = std::move(partitions);
}

absl::StatusOr<bool> Consumer::EnsureAssigned() {
  if (!member_id_.empty() && subscribed_ == group_.topic().partitions &&
      coordinator_.Heartbeat(group_.group(), member_id_, generation_).ok()) {
    return true;
  }
  REDOUBLE_RETURN_IF_ERROR(Join());
  const absl::StatusOr<Membership> membership = coordinator_.Sync(group_.group(), member_id_);
  if (ErrorCodeOf(membership.status()) == ErrorCode::kRebalanceInProgress) return false;
  REDOUBLE_RETURN_IF_ERROR(membership.status());
  Adopt(*membership);
  return true;
}

void Consumer::RequestClaims() {
  for (auto& [number, partition] : partitions_) partition.claim = true;
}

base::Task<absl::Status> Consumer::Claim(absl::Duration min_idle,
                                         std::vector<ConsumedRecord>& records) {
  for (auto& [number, partition] : partitions_) {
    if (!partition.claim) continue;
    ClaimRequest request;
    request.member = member_id_;
    request.partition = number;
    request.min_idle = min_idle;
    const size_t known = unreadable_.size();
    request.unreadable = &unreadable_;
    absl::StatusOr<PendingRecords> pending = co_await group_.Claim(request);
    // Without a group no record was delivered. Read creates the group.
    if (!pending.ok() && ErrorCodeOf(pending.status()) != ErrorCode::kGroupIdNotFound) {
      co_return pending.status();
    }
    partition.claim = false;
    if (!pending.ok()) continue;
    for (LogRecord& record : pending->records) {
      // Already returned by Poll, and pending only because it is not committed yet.
      if (!partition.uncommitted.insert(record.offset).second) continue;
      records.push_back({std::move(record), true});
    }
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Skip(known));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::Read(std::vector<ConsumedRecord>& records) {
  const std::vector<int32_t> numbers = partitions();
  PollRequest request;
  request.member = member_id_;
  request.partitions = numbers;
  request.max_records = options_.max_records;
  request.max_wait = options_.max_wait;
  const size_t known = unreadable_.size();
  request.unreadable = &unreadable_;
  absl::StatusOr<std::vector<LogRecord>> delivered = co_await group_.Poll(request);
  if (!delivered.ok()) {
    // Redis may have executed the read. Its records are then pending for this member.
    RequestClaims();
    co_return delivered.status();
  }
  for (LogRecord& record : *delivered) {
    partitions_[record.partition].uncommitted.insert(record.offset);
    records.push_back({std::move(record), false});
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
    REDOUBLE_CO_RETURN_IF_ERROR((co_await group_.AcknowledgeIds(entry.partition, ids)).status());
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Consumer::RefreshIfOld() {
  if (clock_.Now() - last_refresh_ < options_.metadata_max_age) co_return absl::OkStatus();
  REDOUBLE_CO_RETURN_IF_ERROR(co_await group_.Refresh());
  last_refresh_ = clock_.Now();
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Consumer::Poll() {
  std::vector<ConsumedRecord> records;
  unreadable_.clear();
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RefreshIfOld());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool assigned, EnsureAssigned());
  if (!assigned || partitions_.empty()) co_return records;

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
  REDOUBLE_CO_RETURN_IF_ERROR(coordinator_.CheckCommit(group_.group(), member_id_, generation_));
  for (auto& [number, partition] : partitions_) {
    const std::vector<int64_t> offsets(partition.uncommitted.begin(), partition.uncommitted.end());
    REDOUBLE_CO_RETURN_IF_ERROR((co_await group_.Acknowledge(number, offsets)).status());
    partition.uncommitted.clear();
  }
  co_return absl::OkStatus();
}

absl::Status Consumer::Close() {
  if (member_id_.empty()) return absl::OkStatus();
  absl::Status left = coordinator_.Leave(group_.group(), member_id_);
  member_id_.clear();
  partitions_.clear();
  generation_ = -1;
  return left;
}

std::vector<int32_t> Consumer::partitions() const {
  std::vector<int32_t> numbers;
  for (const auto& [number, partition] : partitions_) numbers.push_back(number);
  return numbers;
}

}  // namespace redouble::korvet
