#include "core/korvet/consumer.h"

#include "core/korvet/error_code.h"

namespace redouble::korvet {

absl::Status Consumer::Join() {
  JoinRequest request;
  request.group = group_.group();
  request.client_id = options_.client_id;
  request.subscriptions = {{group_.topic().name, group_.topic().partitions}};
  request.member_id = member_id_;
  absl::StatusOr<std::string> id = coordinator_.Join(request);
  if (ErrorCodeOf(id.status()) == ErrorCode::kUnknownMemberId) {
    // Given up: its partitions may have had another reader since.
    partitions_.clear();
    request.member_id = {};
    id = coordinator_.Join(request);
  }
  if (!id.ok()) return id.status();
  member_id_ = *std::move(id);
  return absl::OkStatus();
}

// A partition that stays keeps its place; one that comes begins with what is pending there.
void Consumer::Adopt(const Membership& membership) {
  generation_ = membership.generation;
  std::map<int32_t, Partition> partitions;
  for (const AssignedPartition& assigned : membership.partitions) {
    const auto kept = partitions_.find(assigned.partition);
    partitions[assigned.partition] = kept == partitions_.end() ? Partition() : kept->second;
  }
  partitions_ = std::move(partitions);
}

absl::StatusOr<bool> Consumer::TakePlace() {
  if (!member_id_.empty() && coordinator_.Heartbeat(group_.group(), member_id_, generation_).ok()) {
    return true;
  }
  if (absl::Status joined = Join(); !joined.ok()) return joined;
  const absl::StatusOr<Membership> membership = coordinator_.Sync(group_.group(), member_id_);
  if (ErrorCodeOf(membership.status()) == ErrorCode::kRebalanceInProgress) return false;
  if (!membership.ok()) return membership.status();
  Adopt(*membership);
  return true;
}

void Consumer::SetClaim() {
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
    absl::StatusOr<PendingRecords> pending = co_await group_.Claim(request);
    // No group: nothing was delivered yet. The poll creates it.
    if (!pending.ok() && ErrorCodeOf(pending.status()) != ErrorCode::kGroupIdNotFound) {
      co_return pending.status();
    }
    partition.claim = false;
    if (!pending.ok()) continue;
    for (LogRecord& record : pending->records) {
      // What was given here already is pending only because it is not committed yet.
      if (!partition.uncommitted.insert(record.offset).second) continue;
      records.push_back({std::move(record), true});
    }
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
  absl::StatusOr<std::vector<LogRecord>> delivered = co_await group_.Poll(request);
  if (!delivered.ok()) {
    // It may have been carried out: what it delivered is pending here, unheard.
    SetClaim();
    co_return delivered.status();
  }
  for (LogRecord& record : *delivered) {
    partitions_[record.partition].uncommitted.insert(record.offset);
    records.push_back({std::move(record), false});
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<ConsumedRecord>>> Consumer::Poll() {
  std::vector<ConsumedRecord> records;
  const absl::StatusOr<bool> placed = TakePlace();
  if (!placed.ok()) co_return placed.status();
  if (!*placed || partitions_.empty()) co_return records;

  absl::Status status = co_await Claim(absl::ZeroDuration(), records);
  if (!records.empty()) co_return records;
  if (status.ok()) status = co_await Read(records);
  if (!records.empty()) co_return records;
  if (!status.ok()) co_return status;

  if (clock_.Now() - looked_for_idle_ < options_.claim_idle) co_return records;
  looked_for_idle_ = clock_.Now();
  SetClaim();
  status = co_await Claim(options_.claim_idle, records);
  if (!records.empty()) co_return records;
  if (!status.ok()) co_return status;
  co_return records;
}

base::Task<absl::Status> Consumer::Commit() {
  absl::Status placed = coordinator_.Heartbeat(group_.group(), member_id_, generation_);
  if (!placed.ok()) co_return placed;
  for (auto& [number, partition] : partitions_) {
    const std::vector<int64_t> offsets(partition.uncommitted.begin(), partition.uncommitted.end());
    const absl::StatusOr<int64_t> count = co_await group_.Acknowledge(number, offsets);
    if (!count.ok()) co_return count.status();
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
