#include "redouble/backends/redis/net/pool/pool_ledger.h"

#include <algorithm>

namespace redouble::inline v0_1::redis {

PoolGrant PoolLedger::Borrow(int64_t now_us) {
  if (!idle_.empty()) {
    const Idle idle = idle_.back();
    idle_.pop_back();
    borrowed_.emplace(idle.id, Borrowed{idle.opened_us, /*opening=*/false});
    const bool check = now_us - idle.since_us >= limits_.check_after_us;
    return {check ? PoolGrant::Kind::kCheck : PoolGrant::Kind::kReuse, idle.id};
  }
  if (borrowed_.size() >= limits_.size) return {};
  if (backoff_.failures() > 0) {
    if (now_us < retry_at_us_) return {.kind = PoolGrant::Kind::kPause, .until_us = retry_at_us_};
    if (IsOpening()) return {.kind = PoolGrant::Kind::kPause, .until_us = kNeverUs};
  }
  borrowed_.emplace(++last_id_, Borrowed{now_us, /*opening=*/true});
  return {PoolGrant::Kind::kOpen, last_id_};
}

bool PoolLedger::Return(uint64_t id, int64_t now_us) {
  const auto entry = borrowed_.extract(id);
  if (entry.empty()) return false;
  backoff_.Reset();
  const int64_t opened_us = entry.mapped().opened_us;
  if (IsOld(opened_us, now_us)) return false;
  idle_.push_back({id, opened_us, now_us});
  return true;
}

void PoolLedger::NoteOpened(uint64_t id) {
  const auto entry = borrowed_.find(id);
  if (entry != borrowed_.end()) entry->second.opening = false;
}

void PoolLedger::NoteFailure(uint64_t id, int64_t now_us) {
  const auto entry = borrowed_.extract(id);
  if (entry.empty()) return;
  if (backoff_.failures() > 0 && entry.mapped().opened_us <= failed_us_) return;
  failed_us_ = now_us;
  retry_at_us_ = LaterMicros(now_us, backoff_.AddFailure());
}

std::vector<uint64_t> PoolLedger::TakeExpired(int64_t now_us) {
  std::vector<uint64_t> expired;
  std::erase_if(idle_, [&](const Idle& idle) {
    const bool gone =
        now_us - idle.since_us >= limits_.max_idle_us || IsOld(idle.opened_us, now_us);
    if (gone) expired.push_back(idle.id);
    return gone;
  });
  return expired;
}

std::vector<uint64_t> PoolLedger::TakeIdle() {
  std::vector<uint64_t> taken;
  for (const Idle& idle : idle_) taken.push_back(idle.id);
  idle_.clear();
  return taken;
}

bool PoolLedger::IsOpening() const {
  return std::any_of(borrowed_.begin(), borrowed_.end(),
                     [](const auto& entry) { return entry.second.opening; });
}

bool PoolLedger::IsOld(int64_t opened_us, int64_t now_us) const {
  return now_us - opened_us >= limits_.max_lifetime_us;
}

}  // namespace redouble::inline v0_1::redis
